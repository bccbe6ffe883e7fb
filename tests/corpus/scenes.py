"""The rows from what each dialect's writer writes: the same calls in every dialect, in every place, with damage.

What a place means is the table of docs/trust.md. A call there has the verdict `y`, a guess has `i`, content has `n`.

- `written`: the call is meant, whatever stands around it and whatever it holds.
- `shown`: the call is quoted, shown, forbidden or thought.
- `cut`: the text ends within the first call, so nothing may run.
- `damaged`: a small fault with one reading. If other suites expect no call, the verdict is `i`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from llmcore import ToolSet
from llmcore.normalizer import DIALECTS
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.trust.judging import form_of
from tests.normalizer.helpers import tool

from .row import Calls, Row, Verdict

__all__ = ["SOURCES"]

Form = Literal["token", "tag", "bare"]

TOOLS = ToolSet([tool("get_weather", ["city"], city="string", days="integer"), tool("read_file", ["path"], path="string")])
_WEATHER: tuple[str, dict[str, Any]] = ("get_weather", {"city": "Oslo", "days": 3})
_FILE: tuple[str, dict[str, Any]] = ("read_file", {"path": "notes/plan.md"})


@dataclass(frozen=True)
class Place:
    """Text around a call, whose place is `{}`. `verdict`: one for all forms, or one for each."""

    around: str
    verdict: Verdict | Mapping[Form, Verdict] = "y"
    content: str | None = None
    reasoning: str | None = None


_MEANT = {
    "alone": Place("{}", content="", reasoning=""),
    "sentence_before": Place("I will look that up.\n{}", content="I will look that up."),
    "announced": Place("I will look that up:\n\n{}", content="I will look that up:"),
    "sentence_behind": Place("{}\n\nI will tell you when it is done.", content="I will tell you when it is done."),
    "reasoning_before": Place("<think>\nA tool can tell.\n</think>\n\n{}", content="", reasoning="A tool can tell."),
    "reasoning_not_opened": Place("A tool can tell.\n</think>\n\n{}", content="", reasoning="A tool can tell."),
    "end_of_turn": Place("{}<|im_end|>", content=""),
    "in_a_fence": Place("```\n{}\n```"),
    "byte_order_mark": Place("\ufeff{}"),
}
_SHOWN = {
    "back_ticks": Place("You can write `{}` for that.", "n"),
    "block_quote": Place("The manual says this.\n\n> {}\n\nIt needs a city.", "n"),
    "element_of_code": Place("The manual says this.\n\n<pre>\n{}\n</pre>\n\nIt needs a city.", "n"),
    "invented_result": Place("<tool_response>\n{}\n</tool_response>", "n"),
    "fence_within_text": Place("The manual has this.\n\n```\n{}\n```\n\nIt is short.", {"token": "n", "tag": "n", "bare": "i"}),
    "forbidden": Place("Do not run this:\n\n{}", "i"),
    "forbidden_in_a_fence": Place("Do not run this:\n\n```\n{}\n```\n\nIt is slow.", "n"),
    "example": Place("For example:\n\n{}", {"token": "y", "tag": "i", "bare": "i"}),
    "closed_reasoning": Place(
        "<think>\nI could write this:\n{}\n</think>\n\nNo tool is needed.", "n", content="No tool is needed."
    ),
    "no_tools": Place("{}", "n"),
}
_VALUES: dict[str, Calls] = {
    "two_calls": [_WEATHER, _FILE],
    "same_tool_twice": [_WEATHER, ("get_weather", {"city": "Lima", "days": 1})],
    "no_optional_argument": [("get_weather", {"city": "Oslo"})],
    "other_alphabet": [("get_weather", {"city": "東京", "days": 2})],
    "signs": [("read_file", {"path": 'a "b" {c} [d], e=1: f'})],
    "a_number_as_text": [("read_file", {"path": "007"})],
    "two_lines": [("read_file", {"path": "first line\n  second line"})],
    "negative_number": [("get_weather", {"city": "São Paulo", "days": -1})],
    "a_tag_in_a_text": [("read_file", {"path": "a</tool_call>b"})],
    "a_closer_in_a_text": [("read_file", {"path": "say </parameter> and </arg_value> and stop"})],
    "a_call_in_a_text": [
        ("read_file", {"path": '<tool_call>{"name": "get_weather", "arguments": {"city": "Lima"}}</tool_call>'})
    ],
    "a_fence_in_a_text": [("read_file", {"path": "```json\n{}\n```"})],
}
_WRITES_WORDS = frozenset({"react"})
"""Its writer writes a thought as well, which is content."""
_ALWAYS_A_GUESS = frozenset({"labelled_lines"})
"""Labels without a fence around them: they may be prose."""


def _form(row: Dialect) -> Form:
    return "bare" if row.trust == "bare" else form_of(row.write([_WEATHER]).lstrip())


def _placed(places: Mapping[str, Place], file: str) -> Iterator[Row]:
    for name, row in DIALECTS.items():
        text = row.write([_WEATHER])
        for title, place in places.items():
            if ("```" in place.around and "```" in text) or (title == "back_ticks" and re.search(r"[\n`]", text)):
                continue  # the call's own fence or line would end the one around it
            stripped = text.strip() if place.around != "{}" else text
            written = stripped.replace("\n", "\n> ") if title == "block_quote" else stripped
            verdict = place.verdict if isinstance(place.verdict, str) else place.verdict[_form(row)]
            if verdict == "y":
                verdict = _meant(name)
            yield Row(
                f"{file}/{name}/{title}",
                place.around.replace("{}", written),
                ToolSet() if title == "no_tools" else TOOLS,
                [] if verdict == "n" else [_WEATHER],
                verdict,
                None if name in _WRITES_WORDS else place.content,
                place.reasoning,
            )


def _meant(name: str) -> Verdict:
    return "i" if name in _ALWAYS_A_GUESS else "y"


def _written() -> Iterator[Row]:
    yield from _placed(_MEANT, "written")
    for name, row in DIALECTS.items():
        for title, calls in _VALUES.items():
            if not (row.single and len(calls) > 1):
                yield Row(f"written/{name}/{title}", row.write(calls), TOOLS, calls, _meant(name))


def _cut() -> Iterator[Row]:
    """Cut within the city and within the key of the days, and before the last character of the days."""
    for name, row in DIALECTS.items():
        text = row.write([("get_weather", {"city": "Oslo", "days": 31})])
        for title, end in (("in_a_text", "Os"), ("in_a_key", "da"), ("in_a_number", "3")):
            at = text.index(end, text.index("Os")) + len(end)
            yield Row(f"cut/{name}/{title}", text[:at], TOOLS, [], "n", finish_reason="length")


_ARGUMENTS = json.dumps(_WEATHER[1])
_DAMAGE: dict[str, tuple[str, Verdict]] = {
    "trailing_comma": ('{"city": "Oslo", "days": 3,}', "y"),
    "single_quotes": ("{'city': 'Oslo', 'days': 3}", "y"),
    "keys_without_quotes": ('{city: "Oslo", days: 3}', "y"),
    "comma_missing": ('{"city": "Oslo" "days": 3}', "i"),
    "brace_missing": ('{"city": "Oslo", "days": 3', "i"),
    "comment": ('{"city": "Oslo", /* the capital */ "days": 3}', "y"),
}
"""Other spellings of the arguments, for dialects that write them as JSON."""
_CLOSER = re.compile(r"(?:</[^<>\s]+>|<\|[^<>\s]+\|>|<｜[^<>\s]+｜>|\[/?[A-Z_]+\])\s*\Z")


def _damaged() -> Iterator[Row]:
    for name, row in DIALECTS.items():
        text = row.write([_WEATHER])
        if text.count(_ARGUMENTS) == 1:
            for title, (spelling, verdict) in _DAMAGE.items():
                yield Row(f"damaged/{name}/{title}", text.replace(_ARGUMENTS, spelling), TOOLS, [_WEATHER], verdict)
        for number in count(1):
            if (closer := _CLOSER.search(text)) is None or closer.start() == 0:
                break
            text = text[: closer.start()]
            yield Row(f"damaged/{name}/closers_missing_{number}", text, TOOLS, [_WEATHER], "i")


SOURCES: dict[str, Callable[[], Iterator[Row]]] = {
    "written": _written,
    "shown": lambda: _placed(_SHOWN, "shown"),
    "cut": _cut,
    "damaged": _damaged,
}
"""The files and what writes their rows."""
