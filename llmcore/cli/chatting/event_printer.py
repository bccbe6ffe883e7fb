"""Shows the events of a run as they come."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from llmcore.cli.explaining.envelopes import repair_line
from llmcore.cli.output import inline, shortened_line, write
from llmcore.types import (
    AttemptFailed,
    AttemptStarted,
    Event,
    Finished,
    ReasoningDelta,
    Reclassified,
    Repair,
    Repaired,
    TextDelta,
    ToolCallFinished,
    ToolProgress,
    ToolResult,
    Usage,
    Waiting,
)

__all__ = ["EventPrinter", "cost_line"]

_EXPECTED = frozenset({"first", "turn"})
"""The reasons of requests that are no repetition."""


class EventPrinter:
    """Prints text and reasoning as they arrive, and everything else as a line of its own."""

    def __init__(self) -> None:
        self._flowing = ""  # the style of the line that goes on; "" if none does

    def show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._flow(event.text, "default")
            case ReasoningDelta():
                self._flow(event.text, "dim italic")
            case Reclassified() if event.kind != "content":
                self.line(f"(a part of the text above is {event.kind})", "dim")
            case ToolCallFinished():
                self.line(f"call     {event.call.name} {shortened_line(event.call.raw_arguments)}", "cyan")
                self._repairs(event.call.repairs)
            case Repaired():
                self._repairs([event.repair])
            case ToolProgress():
                self.line(f"progress {event.name}: {shortened_line(event.value)}", "dim")
            case ToolResult():
                took = f" ({event.duration:.2f} s)" if event.ran else " (not run)"
                self.line(
                    f"result   {event.name}: {shortened_line(event.error or event.content)}{took}",
                    "red" if event.error else "green",
                )
            case AttemptFailed():
                self.line(f"failed   {event.model}: {event.kind}: {shortened_line(event.message)}", "red")
            case Waiting():
                self.line(f"waiting  {event.seconds:.1f} s", "magenta")
            case AttemptStarted() if event.reason not in _EXPECTED:
                why = f": {shortened_line(event.detail)}" if event.reason == "reask" else ""  # `failed` said the others
                asked = f"{event.model}{f' at {event.deployment}' if event.deployment else ''}, mode {event.mode}"
                self.line(f"asking   {asked} ({event.reason}{why})", "magenta")
            case Finished():
                self._repairs(record.repair for record in event.result.repairs if record.of == "reply" and not record.call_id)
                self.end()
            case _:
                pass

    def line(self, text: str, style: str) -> None:
        """One line, after the end of the line that goes on."""
        self.end()
        write(Text(inline(text), style=style), wrap=False)

    def end(self) -> None:
        """End the line that goes on."""
        if self._flowing:
            write("")
            self._flowing = ""

    def _repairs(self, repairs: Iterable[Repair]) -> None:
        for repair in repairs:
            self.line(f"repair   {repair_line(repair)}", "yellow")

    def _flow(self, text: str, style: str) -> None:
        if self._flowing != style:
            self.end()
            text = text.lstrip("\n")
        if text:
            self._flowing = style
            write(Text(text, style=style, end=""), wrap=False, end="")


def cost_line(requests: int, usage: Usage) -> str:
    """What a run took, in one line."""
    cost = "" if usage.cost is None else f", ${usage.cost:.6f}"
    return f"{requests} request{'s' if requests != 1 else ''}, {usage.input_tokens} + {usage.output_tokens} tokens{cost}"
