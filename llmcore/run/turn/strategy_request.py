"""A turn's request as fallback strategies see it, and the check of a request that a strategy puts in its place."""

from __future__ import annotations

from pydantic import ValidationError

from llmcore.run.hooks.hook_results import invalid_change, revalidated
from llmcore.run.setup.settings import resolve_request
from llmcore.run.turn.attempt import TurnAttempt
from llmcore.run.turn.state import RunState
from llmcore.support.values.copies import copied, updated
from llmcore.types import CallerError, ConfigError, Request

__all__ = ["TurnRequest"]


class TurnRequest:
    """The request of one turn, as `FallbackContext.asked`."""

    def __init__(self, state: RunState, turn: TurnAttempt) -> None:
        self._state = state
        self._turn = turn

    def request(self) -> Request:
        return copied(self._state.request())

    def optional(self, *, last: bool) -> frozenset[str]:
        return self._turn.optional(last=last)

    def checked(self, request: Request) -> Request:
        """A copy, validated at every depth. Raises `ConfigError` if the request changes the tools or a field that is fixed when
        the run starts, or has a history that no provider takes."""
        now = self._state.request()
        if request.tools != now.tools:
            raise ConfigError("`tools` cannot be changed by a strategy; the hook `before_request` can")
        try:
            given = request.model_copy(update={"messages": revalidated(list(request.messages))})
            changed = resolve_request(given, {})
        except (CallerError, ValidationError) as error:
            raise ConfigError(str(error)) from None
        results = {result.tool_use_id for message in changed.messages for result in message.tool_results}
        unanswered = [use.id for message in changed.messages for use in message.tool_uses if use.id not in results]
        if unanswered:
            raise ConfigError(f"the call {unanswered[0]!r} has no result; leave both in its messages, or neither")
        if wrong := invalid_change(now, changed, self._turn.tool_names):
            raise ConfigError(wrong)
        return updated(changed, {"tools": now.tools})
