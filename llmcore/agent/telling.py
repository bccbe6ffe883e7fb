"""What an agent tells of its chats while they go on: events as JSON to a callback, lines to a log.

Who listens never breaks a chat, holds its event loop or takes all its time until the deadline: what it raises is logged, a
sync one runs in a thread, and one that does not end is left behind and told nothing more in this chat.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.agent.options import Emit
from llmcore.run import RunResult, event_json
from llmcore.support.values.json_data import json_data
from llmcore.tools.execution.abandonment import Abandoned, await_foreign
from llmcore.tools.execution.threads import ThreadCall
from llmcore.types import AttemptStarted, Finished, ToolResult, Waiting
from llmcore.types.input.argument_errors import is_async
from llmcore.types.logs import failure_name, logger

__all__ = ["ChatEmitter"]

_log = logger("agent")
_SECONDS = 10.0
"""For a callback to take one event."""
_SHARE = 0.25
"""Of what is left until the deadline, for one event: a callback that hangs must leave time for the chat itself."""
_LEAST, _LEAST_AT_THE_END = 0.1, 0.5
"""Where that is nearly nothing, or the deadline has passed: for an event, and for the last one of a chat."""


class ChatEmitter:
    """Tells of one chat. `emit` and `log` may be None. `seconds_left` gives the seconds until its deadline, None without one."""

    def __init__(self, name: str, emit: Emit | None, log: Callable[[str], object] | None) -> None:
        self._name = name
        self._emit = emit
        self._line = log
        self.seconds_left: Callable[[], float | None] = lambda: None

    @property
    def listens(self) -> bool:
        """Does anybody take events?"""
        return self._emit is not None or self._line is not None

    async def event(self, event: Any) -> None:
        """An event of the run; its end is told by `answer`."""
        if isinstance(event, Finished):
            return
        if self._line is not None and (words := _words(event)):  # `llmcore.run` tells these in the library's own log
            self._say(words)
        if self._emit is not None:
            left = self.seconds_left()
            await self._deliver(event_json(event), None if left is None else max(left * _SHARE, _LEAST))

    async def answer(self, result: RunResult[Any]) -> None:
        """A chat has ended: with an answer, or with calls that somebody else is to answer."""
        if result.pending:
            self._say(f"waits for {', '.join(call.name for call in result.pending)}")
            calls = [_shown({"id": one.id, "name": one.name, "arguments": one.arguments}) for one in result.pending]
            await self._emit_last({"type": "pending", "calls": calls})
            return
        requests = f"{len(result.attempts)} request{'' if len(result.attempts) == 1 else 's'}"
        self._say(f"answered after {requests}, {result.duration:.1f} s")
        await self._emit_last({"type": "ai_response", "message": _shown(result.value if result.has_output else result.content)})

    async def failure(self, error: BaseException) -> None:
        """A chat has failed. Only the words of this library's errors are told, without secrets."""
        self._say(f"failed: {failure_name(error)}")
        await self._emit_last(event_json(error))

    def _say(self, words: str) -> None:
        if self._line is None:
            _log.debug("%s: %s", self._name, words)
            return
        try:
            self._line(f"{self._name}: {words}")
        except Exception as error:
            _log.warning("the log function of agent %s failed: %s", self._name, _where(error))

    async def _emit_last(self, data: dict[str, Any]) -> None:
        left = self.seconds_left()
        await self._deliver(data, None if left is None else max(left, _LEAST_AT_THE_END))

    async def _deliver(self, data: dict[str, Any], most: float | None) -> None:
        """`most`: so many seconds it may take."""
        if self._emit is None:
            return
        seconds = _SECONDS if most is None else min(_SECONDS, most)
        try:
            await await_foreign(self._given(self._emit, data), seconds, "socket_emit")
        except Abandoned:
            self._emit = None
            _log.warning("socket_emit of agent %s did not end within %.3g s and was left behind", self._name, seconds)
        except Exception as error:
            _log.warning("socket_emit of agent %s failed: %s", self._name, _where(error))

    async def _given(self, emit: Emit, data: dict[str, Any]) -> None:
        given = emit(data) if is_async(emit) else await ThreadCall(partial(emit, data)).result()
        if inspect.isawaitable(given):
            await given


def _where(error: BaseException) -> str:
    """An error's class and where it was raised. Its message may hold what anybody wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{failure_name(error)} at {frames[-1].filename}:{frames[-1].lineno}" if frames else failure_name(error)


def _shown(data: Any) -> Any:
    """As JSON data, without the keys that the process knows of, as `event_json` tells all else."""
    return process_scrubber().value(json_data(data))


def _words(event: Any) -> str:
    """What happened, in a line that holds nothing that anybody wrote."""
    match event:
        case AttemptStarted():
            return f"request {event.n} to {event.model} ({event.mode}, {event.reason})"
        case Waiting():
            return f"waits {event.seconds:.1f} s before request {event.n}"
        case ToolResult():
            became = "failed" if event.error is not None else "ran"
            return f"{event.name} {became} in {event.duration:.1f} s"
        case _:
            return ""
