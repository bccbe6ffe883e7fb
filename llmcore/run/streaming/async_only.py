"""A base class for objects that are read by `async for` alone. Other uses raise an error that names the right one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmcore.types import CallerError

__all__ = ["AsyncOnly"]


class AsyncOnly:
    """`_what_is`: the beginning of each error message, such as `a RunStream is`."""

    _what_is = ""

    if not TYPE_CHECKING:  # type checkers reject these uses anyway

        def __iter__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`; without an event loop call stream_sync")

        def __enter__(self) -> Any:
            raise CallerError(f"{self._what_is} entered by `async with`; without an event loop call stream_sync")

        def __exit__(self, *_: object) -> None:
            """Only asked for beside `__enter__`."""

        def __await__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`, and not awaited; `await run(...)` gives the result at once")
