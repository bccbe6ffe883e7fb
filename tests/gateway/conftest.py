"""Without the extra `gateway`, no test of this folder is collected."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["collect_ignore_glob"]

_NEEDED = ("httpx", "prometheus_client", "starlette", "uvicorn")
collect_ignore_glob = [] if all(map(find_spec, _NEEDED)) else ["test_*.py"]
