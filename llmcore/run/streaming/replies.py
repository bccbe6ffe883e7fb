"""A run as one reply of a model, for callers that run the calls themselves and cannot take text back.

The gateway and the models for frameworks answer each request by one run, whose tools have no functions.
"""

from __future__ import annotations

from typing import Any

from llmcore.run.results.result import RunResult
from llmcore.support.values.copies import updated
from llmcore.support.values.json_data import as_json, json_data
from llmcore.types import AttemptStarted, Envelope, FinishReason, ReasoningDelta, Refused, TextDelta, ToolCall

__all__ = ["LiveText", "answer_text", "refusal_reply", "reply_envelope", "reply_finish_reason"]


def answer_text(result: RunResult[Any]) -> str:
    """The text of the answer. A typed one is its JSON."""
    return as_json(json_data(result.output)) if result.has_output else result.content


def reply_envelope(result: RunResult[Any]) -> Envelope:
    """The answer and the pending calls of a run, as the envelope of one reply."""
    calls = [_as_validated(call) for call in result.pending]
    reasoning, reason = result.envelope.reasoning, reply_finish_reason(result)
    return Envelope(toolCalls=calls, content=answer_text(result), reasoning=reasoning, finish_reason=reason)


def reply_finish_reason(result: RunResult[Any]) -> FinishReason | None:
    """Why the reply ended: for its calls, if the caller is to run some."""
    return "tool_calls" if result.pending else result.envelope.finish_reason


def _as_validated(call: ToolCall) -> ToolCall:
    """The call as the run accepted it: its arguments are those that fit the schema, so no repair is left to judge."""
    text = as_json(json_data(call.arguments or {}))
    return updated(call, {"repairs": [], "raw_arguments": text, "span": None, "complete": True, "known": True})


def refusal_reply(error: Refused) -> RunResult[Any]:
    """A refusal with words is a reply. Raises the error if there are none."""
    partial: RunResult[Any] | None = error.partial
    if partial is not None and partial.content:
        return partial
    raise error


class LiveText:
    """Which text of a run is sent while it goes on, and which at its end.

    A wire cannot take text back. If an attempt replaces one whose text was sent, its text follows behind an empty line.
    `only_at_end`: all text is sent at the end of the run.
    """

    def __init__(self, *, only_at_end: bool) -> None:
        self._only_at_end = only_at_end
        self._sent = ""
        """The text of the present attempt that was sent."""
        self._was_replaced = False
        self._has_reasoning = False

    def shown(self, event: object) -> list[TextDelta | ReasoningDelta]:
        """The events to send for this one."""
        if self._only_at_end:
            return []
        if isinstance(event, AttemptStarted):
            self._was_replaced = self._was_replaced or bool(self._sent)
            self._sent = ""
        elif isinstance(event, ReasoningDelta):
            self._has_reasoning = True
            return [event]
        elif isinstance(event, TextDelta) and event.text:
            return self._text(event.text)
        return []

    def _text(self, text: str) -> list[TextDelta | ReasoningDelta]:
        before: list[TextDelta | ReasoningDelta] = []
        if self._was_replaced and not self._sent:
            before.append(TextDelta("\n\n"))
        self._sent += text
        return [*before, TextDelta(text)]

    def rest(self, result: RunResult[Any]) -> list[TextDelta | ReasoningDelta]:
        """What is still to be sent of the answer."""
        answer = answer_text(result)
        reasoning = result.envelope.reasoning
        first: list[TextDelta | ReasoningDelta] = [ReasoningDelta(reasoning)] if reasoning and not self._has_reasoning else []
        if answer.startswith(self._sent):
            rest = answer[len(self._sent) :]
            return [*first, *(self._text(rest) if rest else [])]
        return first
