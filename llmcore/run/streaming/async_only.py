"""What is read by `async for` alone: who reads it in another way is told the right one, not Python's words of missing methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmcore.types import CallerError

__all__ = ["AsyncOnly"]


class AsyncOnly:
    """`_what_is`: the beginning of each sentence, as `a RunStream is`."""

    _what_is = ""

    if not TYPE_CHECKING:  # a checker refuses what these tell

        def __iter__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`; without an event loop call stream_sync")

        def __enter__(self) -> Any:
            raise CallerError(f"{self._what_is} entered by `async with`; without an event loop call stream_sync")

        def __exit__(self, *_: object) -> None:
            """Only asked for beside `__enter__`."""

        def __await__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`, and not awaited; `await run(...)` gives the result at once")
