"""Reports an agent's chats while they run: events as JSON to a callback, and lines to a log.

A listener never breaks a chat, blocks its event loop or uses all its time. What it raises is logged. A sync listener runs in a
thread. If one does not end, it is abandoned and gets nothing more in this chat.
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
from llmcore.support.code.threads import ThreadCall
from llmcore.support.values.json_data import json_data
from llmcore.tools.execution.abandonment import Abandoned, await_foreign
from llmcore.types import AttemptStarted, Finished, ToolResult, Waiting
from llmcore.types.input.argument_errors import is_async
from llmcore.types.logs import failure_name, logger

__all__ = ["ChatEmitter"]

_log = logger("agent")
_MAX_SECONDS = 10.0
"""The most seconds that a callback may take for one event."""
_SHARE_OF_DEADLINE = 0.25
"""The share of the remaining time that one event may take. A callback that hangs must leave time for the chat."""
_MIN_SECONDS, _MIN_LAST_SECONDS = 0.1, 0.5
"""The least seconds for an event, and for the last one of a chat, even after the deadline."""


class ChatEmitter:
    """Reports one chat. `emit` and `log` may be None. `seconds_left` returns the seconds until its deadline, or None."""

    def __init__(self, name: str, emit: Emit | None, log: Callable[[str], object] | None) -> None:
        self._name = name
        self._emit = emit
        self._line = log
        self.seconds_left: Callable[[], float | None] = lambda: None

    @property
    def listens(self) -> bool:
        """Whether anybody listens to events."""
        return self._emit is not None or self._line is not None

    async def emit_event(self, event: Any) -> None:
        """Emit an event of the run, except its end, which `emit_answer` reports."""
        if isinstance(event, Finished):
            return
        if self._line is not None and (words := _line_of(event)):  # `llmcore.run` logs these itself
            self._log_line(words)
        if self._emit is not None:
            left = self.seconds_left()
            await self._deliver(event_json(event), None if left is None else max(left * _SHARE_OF_DEADLINE, _MIN_SECONDS))

    async def emit_answer(self, result: RunResult[Any]) -> None:
        """Report that a chat ended with an answer, or with calls that wait for the caller."""
        if result.pending:
            self._log_line(f"waits for {', '.join(call.name for call in result.pending)}")
            calls = [_shown({"id": one.id, "name": one.name, "arguments": one.arguments}) for one in result.pending]
            await self._emit_last({"type": "pending", "calls": calls})
            return
        requests = f"{len(result.attempts)} request{'' if len(result.attempts) == 1 else 's'}"
        self._log_line(f"answered after {requests}, {result.duration:.1f} s")
        await self._emit_last({"type": "ai_response", "message": _shown(result.value if result.has_output else result.content)})

    async def emit_failure(self, error: BaseException) -> None:
        """Report that a chat failed. Only messages of llmcore's own errors are emitted, without secrets."""
        self._log_line(f"failed: {failure_name(error)}")
        await self._emit_last(event_json(error))

    def _log_line(self, words: str) -> None:
        if self._line is None:
            _log.debug("%s: %s", self._name, words)
            return
        try:
            self._line(f"{self._name}: {words}")
        except Exception as error:
            _log.warning("the log function of agent %s failed: %s", self._name, _where(error))

    async def _emit_last(self, data: dict[str, Any]) -> None:
        left = self.seconds_left()
        await self._deliver(data, None if left is None else max(left, _MIN_LAST_SECONDS))

    async def _deliver(self, data: dict[str, Any], most: float | None) -> None:
        """Call the listener, for at most this many seconds."""
        if self._emit is None:
            return
        seconds = _MAX_SECONDS if most is None else min(_MAX_SECONDS, most)
        try:
            await await_foreign(self._call(self._emit, data), seconds, "socket_emit")
        except Abandoned:
            self._emit = None
            _log.warning("socket_emit of agent %s did not end within %.3g s and was left behind", self._name, seconds)
        except Exception as error:
            _log.warning("socket_emit of agent %s failed: %s", self._name, _where(error))

    async def _call(self, emit: Emit, data: dict[str, Any]) -> None:
        given = emit(data) if is_async(emit) else await ThreadCall(partial(emit, data)).result()
        if inspect.isawaitable(given):
            await given


def _where(error: BaseException) -> str:
    """An error's class and where it was raised. Its message may hold content."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{failure_name(error)} at {frames[-1].filename}:{frames[-1].lineno}" if frames else failure_name(error)


def _shown(data: Any) -> Any:
    """The data as JSON, without the keys that the process knows of."""
    return process_scrubber().value(json_data(data))


def _line_of(event: Any) -> str:
    """The event as a log line without content."""
    match event:
        case AttemptStarted():
            return f"request {event.n} to {event.model} ({event.mode}, {event.reason})"
        case Waiting():
            return f"waits {event.seconds:.1f} s before request {event.n}"
        case ToolResult():
            outcome = "failed" if event.error is not None else "ran"
            return f"{event.name} {outcome} in {event.duration:.1f} s"
        case _:
            return ""
