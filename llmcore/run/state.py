"""A run while it goes on: the growing history, what was spent, and the result as far as it has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmcore.fallback import Ledger
from llmcore.run.history import assistant_message, ids_in, open_calls, results_message, with_unique_ids
from llmcore.run.result import RunResult
from llmcore.run.settings import RunSettings
from llmcore.tools.execution import Outcome
from llmcore.tools.results import as_text
from llmcore.types import Budget, Envelope, Message, Request, TerminateLoop, TextBlock, ToolCall, ToolResultBlock

__all__ = ["RunState"]


class RunState:
    """Mutable, of one run and one task. `messages` grows; a request gets a copy, so that nothing recorded changes
    later."""

    def __init__(self, settings: RunSettings, budget: Budget) -> None:
        self.settings = settings
        self.ledger = Ledger(budget)
        self.messages: list[Message] = list(settings.request.messages)
        self.envelope = Envelope()
        self.output: Any = None
        self.degraded = False
        self.pending: list[ToolCall] = []
        self.tool_turns = 0
        self._ids = ids_in(self.messages)
        self._given = len(self.messages)
        self._best_text = ""

    def request(self) -> Request:
        """The next request: the run's with the history so far. A forced tool choice holds until tools have run."""
        changes: dict[str, Any] = {"messages": list(self.messages)}
        if self.tool_turns and self.settings.request.tool_choice != "none":
            changes["tool_choice"] = "auto"
        return self.settings.request.model_copy(update=changes)

    def note(self, envelope: Envelope, *, whole: bool = True) -> None:
        """A reply came: it is the last one, and its text, if it is whole, may have to stand in for an answer."""
        self.envelope = envelope
        if whole:
            self._best_text = envelope.content.strip() or self._best_text

    def add_reply(self, envelope: Envelope, calls: Sequence[ToolCall], final: ToolCall | None) -> list[ToolCall]:
        """Enter an accepted reply. Returns its calls as they stand in the history, the one of the output tool (closed
        at once) left out."""
        before = [*calls, *([final] if final else [])]
        unique = with_unique_ids(before, self._ids)
        message = assistant_message(envelope, before, unique)
        if message is not None:
            self.messages.append(message)
        runnable = unique[: len(calls)]
        self.envelope = envelope.model_copy(update={"tool_calls": runnable}).attach(
            envelope.source, envelope.segments, message.content if message else []
        )
        if final is not None and not calls:
            self.add_results([_taken(unique[-1])])
        return runnable

    def add_results(self, blocks: Sequence[ToolResultBlock]) -> Message:
        message = results_message(blocks)
        self.messages.append(message)
        return message

    def add_user(self, text: str) -> None:
        self.messages.append(Message(role="user", content=[TextBlock(text=text)]))

    def close_open_calls(self, reason: str) -> None:
        """Give each open call the one result it lacks, so that the history stays valid."""
        waiting = {call.id for call in self.pending}
        left = [use for use in open_calls(self.messages) if use.id not in waiting]
        if not left:
            return
        blocks = [
            ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=reason)], is_error=True) for use in left
        ]
        last = self.messages[-1]
        if last.role == "tool":
            self.messages[-1] = Message(role="tool", content=[*last.content, *blocks])
        else:
            self.add_results(blocks)

    def end(self, ended: TerminateLoop) -> None:
        """A tool or hook ended the run: its value is the final content."""
        if ended.value is None:
            return
        self.output = ended.value
        text = as_text(ended.value)
        self.envelope = Envelope(content=text).attach(text, (), [TextBlock(text=text)])
        self.messages.append(Message(role="assistant", content=[TextBlock(text=text)]))

    def degrade(self) -> bool:
        """Every strategy failed: let the best text stand in for an answer. False when no attempt gave any."""
        if not self._best_text:
            return False
        self.degraded = True
        text = self._best_text
        self.envelope = Envelope(content=text, finishReason=self.envelope.finish_reason).attach(text, (), [TextBlock(text=text)])
        self.messages.append(Message(role="assistant", content=[TextBlock(text=text)]))
        return True

    def result(self) -> RunResult:
        return RunResult(
            envelope=self.envelope,
            messages=self.messages,
            usage=self.ledger.usage,
            attempts=self.ledger.attempts,
            degraded=self.degraded,
            pending=self.pending,
            output=self.output,
        ).given(self._given)


def _taken(call: ToolCall) -> ToolResultBlock:
    outcome = Outcome(call, [TextBlock(text="The final result was taken.")])
    return outcome.block()
