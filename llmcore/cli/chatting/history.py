"""A conversation with one model: its turns, and the commands on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.orchestrator import Orchestrator
from llmcore.run import Approve, Deny, RunResult
from llmcore.types import Event, LLMCoreError, ToolCall

__all__ = ["ChatHistory"]

Confirm = Callable[[ToolCall], bool]
"""Asks the user whether a call may run. Raises `EOFError` or `KeyboardInterrupt` if nobody answers."""


class ChatHistory:
    """The turns of a conversation. `show` gets each event; `confirm` is asked about calls that need approval."""

    def __init__(self, orchestrator: Orchestrator, alias: str, show: Callable[[Event], object], confirm: Confirm) -> None:
        self._orchestrator = orchestrator
        self._alias = alias
        self._show = show
        self._confirm = confirm
        self._turns: list[RunResult[Any]] = []

    def ask(self, runner: asyncio.Runner, prompt: str) -> RunResult[Any] | None:
        """Ask, and show what comes. The result is in the history.

        Returns None if Ctrl-C stopped the reply or the question about a call. If the run fails, raises its `LLMCoreError`. In
        both cases, what had come is in the history if the model wrote or called something.
        """
        options = {"message_history": self._turns[-1].messages} if self._turns else {}
        given: tuple[Any, dict[str, Any]] = (prompt, options)
        while True:
            try:
                result = runner.run(self._run(*given))
                answers = {call.id: Approve() if self._confirm(call) else Deny() for call in result.pending}
            except (_Stopped, KeyboardInterrupt, EOFError) as stopped:
                self._keep(getattr(stopped, "partial", None))
                return None
            except LLMCoreError as error:
                self._keep(error.partial)
                raise
            if not answers:
                self._turns.append(result)
                return result
            given = (result, {"answers": answers})

    def undo(self) -> bool:
        """Remove the last turn from the history. False if there is none."""
        return bool(self._turns and self._turns.pop())

    def save(self, path: Path) -> int:
        """Write the messages as JSON in OpenAI's form, without secrets, and return how many there are.

        Raises `FileExistsError` for a file that exists, and other `OSError`s.
        """
        messages = self._turns[-1].messages_as_openai() if self._turns else []
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(process_scrubber().value(messages), ensure_ascii=False, indent=2) + "\n")
        return len(messages)

    def _keep(self, partial: RunResult[Any] | None) -> None:
        if partial is not None and (partial.tool_results or partial.content):
            self._turns.append(partial)

    async def _run(self, request: Any, options: dict[str, Any]) -> RunResult[Any]:
        stream = self._orchestrator.stream(request, model=self._alias, **options)
        try:
            async with stream as events:
                async for event in events:
                    self._show(event)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None:
                task.uncancel()  # asyncio.Runner would raise KeyboardInterrupt, which has no result
            raise _Stopped(stream.result) from None
        return stream.result


class _Stopped(Exception):
    """Ctrl-C stopped the reply. `partial`: the result so far, if there is one."""

    def __init__(self, partial: RunResult[Any] | None) -> None:
        super().__init__()
        self.partial = partial
