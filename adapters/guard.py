"""The switch that forbids real requests in this process, for test suites: whoever is about to reach a provider asks it
first."""

from __future__ import annotations

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import ConfigError

__all__ = ["RequestBlock", "check_requests_allowed"]

_holding: list[RequestBlock] = []
_lock = ForkSafeLock()


class RequestBlock:
    """Holds from its making until `release()` or the end of its `with` block, also when nobody keeps it. Blocks
    nest."""

    def __init__(self) -> None:
        with _lock:
            _holding.append(self)

    def release(self) -> None:
        """Allow what this block forbade; asking twice does no harm."""
        with _lock:
            _holding[:] = [block for block in _holding if block is not self]

    def __enter__(self) -> RequestBlock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def check_requests_allowed(target: str) -> None:
    """Raises `ConfigError` while a `RequestBlock` holds. `target` names the model for the message."""
    if _holding:
        raise ConfigError(
            f"a real request to {target} while block_model_requests() holds; give the orchestrator a FakeModel or a ReplayAdapter"
        )
