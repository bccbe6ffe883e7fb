"""Forbids real requests in this process, for test suites. Whatever reaches a provider calls `check_requests_allowed` first."""

from __future__ import annotations

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import ConfigError

__all__ = ["RequestBlock", "check_requests_allowed"]

_active_blocks: list[RequestBlock] = []
_lock = ForkSafeLock()


class RequestBlock:
    """Forbids real requests from its creation until `release()` or the end of its `with` block, even without a reference.
    Blocks nest."""

    def __init__(self) -> None:
        with _lock:
            _active_blocks.append(self)

    def release(self) -> None:
        """Allow what this block forbade. A second call has no effect."""
        with _lock:
            _active_blocks[:] = [block for block in _active_blocks if block is not self]

    def __enter__(self) -> RequestBlock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def check_requests_allowed(target: str) -> None:
    """Raises `ConfigError` while a `RequestBlock` is active. `target` names the model in the message."""
    if _active_blocks:
        raise ConfigError(
            f"a real request to {target} while block_model_requests() holds; give the orchestrator a FakeModel or a ReplayAdapter"
        )
