"""The loop of a chat: reads lines, and runs commands and turns."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from llmcore.cli.chatting.event_printer import EventPrinter, cost_line
from llmcore.cli.chatting.history import ChatHistory
from llmcore.cli.output import as_json_text, inline, note, printable, shortened_line, write
from llmcore.orchestrator import Orchestrator
from llmcore.run import event_json
from llmcore.support.code.suggestions import hint
from llmcore.types import Event, LLMCoreError, ToolCall

__all__ = ["ChatSession"]

_PROMPT = "you> "
_COMMANDS = {
    "/help": "show these commands",
    "/undo": "remove the last turn from the history",
    "/save": "/save FILE writes the messages as JSON in OpenAI's form",
    "/quit": "end the chat, as Ctrl-D does",
}


class ChatSession:
    """`run` until the user quits. Ctrl-C stops a reply. With `as_json`, standard output gets one JSON line for each event."""

    def __init__(self, orchestrator: Orchestrator, alias: str, *, as_json: bool) -> None:
        self._printer = EventPrinter()
        self._as_json = as_json
        self._asks = not as_json and sys.stdin.isatty()
        self._orchestrator = orchestrator
        self._history = ChatHistory(orchestrator, alias, self._show, self._confirm)
        self._commands: dict[str, Callable[[str], None]] = {"/help": self._help, "/undo": self._undo, "/save": self._save}

    def run(self) -> None:
        if self._asks:
            with suppress(ImportError):
                import_module("readline")  # gives `input` its line editing; Windows has none
            note("/help shows the commands; Ctrl-C stops a reply")
        with asyncio.Runner() as runner:
            for line in self._lines():
                if line == "/quit":
                    break
                if line.startswith("/"):
                    self._command(line)
                elif line:
                    self._ask(runner, line)
            runner.run(self._orchestrator.aclose())

    def _lines(self) -> Iterator[str]:
        """The lines that the user writes, until the end of the input."""
        while True:
            try:
                yield input(_PROMPT if self._asks else "").strip()
            except EOFError:
                return
            except KeyboardInterrupt:
                write("")
                note("/quit or Ctrl-D ends the chat")

    def _ask(self, runner: asyncio.Runner, prompt: str) -> None:
        try:
            result = self._history.ask(runner, prompt)
        except LLMCoreError as error:
            self._printer.end()
            if self._as_json:
                write(as_json_text(event_json(error)))
            note(f"{type(error).__name__}: {error}")
            return
        self._printer.end()
        if result is None:
            note("stopped")
        elif not self._as_json:
            self._printer.line(cost_line(len(result.attempts), result.usage), "dim")

    def _show(self, event: Event) -> None:
        if self._as_json:
            write(as_json_text(event_json(event)))
        else:
            self._printer.show(event)

    def _confirm(self, call: ToolCall) -> bool:
        """Ask whether a call may run. Without a terminal, the next line of the input answers."""
        self._printer.end()
        question = f"run {printable(inline(call.name))} {shortened_line(call.raw_arguments)}? [y/N] "
        if not self._asks:
            note(question)
        return input(question if self._asks else "").strip().lower() in ("y", "yes")

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name not in self._commands:
            note(f"there is no command {shortened_line(name)}; {hint(name, _COMMANDS)}")
            return
        self._commands[name](rest.strip())

    def _help(self, rest: str) -> None:
        for name, words in _COMMANDS.items():
            note(f"{name:6} {words}")

    def _undo(self, rest: str) -> None:
        note("removed the last turn" if self._history.undo() else "there is no turn to remove")

    def _save(self, rest: str) -> None:
        if not rest:
            note("/save needs a file: /save chat.json")
            return
        try:
            count = self._history.save(Path(rest))
        except FileExistsError:
            note(f"{rest} exists; give another name")
        except OSError as error:
            note(f"{rest}: {error.strerror or error}")
        else:
            note(f"saved {count} messages in {rest}")
