"""Read JSON, first strictly, then with repairs.

Sizes are checked before any parser runs. Then these steps are tried in turn:
- Strict: `pydantic_core`, or the json module for a lone surrogate. One walk then finds what both accept (infinite floats, too
  deep nesting, too long integers). Valid JSON is never repaired.
- Several values one after the other are several values; none is lost.
- Repaired: `relaxed` reads the rest and records each repair.

The work is linear, and no text makes it raise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.notations.refusals import ARGUMENTS_LIMIT, REPAIRS_LIMIT, UNREADABLE, clipped
from llmcore.normalizer.notations.relaxed.read import Relaxed, repaired
from llmcore.normalizer.notations.strict import UNSOUND, Strict, audited, parsed_strictly, strict_at
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = ["JsonReading", "read_json", "read_json_value"]

_SPACE = lazy_regex(r"[ \t\r\n]*+")
_BETWEEN = lazy_regex(r"[ \t\r\n]*+[,;]?[ \t\r\n]*+")
_FENCE = lazy_regex(r"```[A-Za-z0-9_+-]{0,32}[ \t]{0,16}\r?\n?")
_BYTE_ORDER_MARK = lazy_regex("\ufeff")
_STRAY = lazy_regex(r"[ \t\r\n}\]]*+")


@dataclass(slots=True)
class JsonReading:
    """The values that were read.

    - `values`: several, if values stand one after the other (white space, `,` or `;` between).
    - `end`: just past the last value. The text behind it is left to the caller.
    - `complete`: False if the text ended inside the last value, which then holds its complete parts.
    - `delimited`: False if closing brackets are missing and the last value does not show its own end. (It ends in a number,
      inside a string, or after `:` or `,`.)
    - `error`: why nothing, or nothing more, could be read: `unreadable`, `arguments_limit`, `depth_limit`, `digits_limit`,
      `repairs_limit`, `nested_call`.
    """

    values: list[Any] = field(default_factory=list[Any])
    repairs: list[Repair] = field(default_factory=list[Repair])
    complete: bool = True
    end: int = 0
    error: str | None = None
    delimited: bool = True


def read_json(text: str, *, limits: Limits = DEFAULT_LIMITS, cut: bool = False) -> JsonReading:
    """Read a slice that should be only JSON, except for layout, a code fence and stray brackets.

    `cut`: the reply ended inside the slice, so missing text is "truncated" and not "lossless".
    """
    if len(text) > limits.arguments:
        return JsonReading(complete=not cut, error=ARGUMENTS_LIMIT)
    try:
        value = parsed_strictly(text)
    except UNSOUND:
        return _read_values(text, limits, cut)
    if cut and type(value) in (int, float) and text[-1:].isdigit():
        return JsonReading(complete=False, error=UNREADABLE)  # more digits may follow
    audit = audited(value, text, 0, len(text), limits)
    if audit.error:
        return JsonReading(error=audit.error)
    return JsonReading([audit.value], audit.repairs, True, len(text.rstrip(" \t\r\n")), None, True)


def read_json_value(text: str, start: int = 0, *, limits: Limits = DEFAULT_LIMITS, cut: bool = False) -> JsonReading:
    """Read the value at `start`, after white space. Anything may follow it."""
    start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # matches always
    found = strict_at(text, start, limits)
    if found is None or (cut and found.end == len(text) and text[-1].isdigit()):
        return _of_relaxed(repaired(text, start, limits=limits, cut=cut))
    return JsonReading([] if found.error else [found.value], found.repairs, True, found.end, found.error, True)


def _of_relaxed(relaxed: Relaxed) -> JsonReading:
    values = [] if relaxed.error else [relaxed.value]
    return JsonReading(values, relaxed.repairs, relaxed.complete, relaxed.end, relaxed.error, relaxed.delimited)


def _read_values(text: str, limits: Limits, cut: bool) -> JsonReading:
    """Read a fence, a byte order mark, several values, and values that need repairs."""
    reading = JsonReading()
    at = _skip_opening(text, reading)
    while True:
        found: Strict | Relaxed | None = strict_at(text, at, limits)
        after = _BETWEEN.match(text, found.end).end() if found else at  # type: ignore[union-attr]  # matches always
        if found is None or found.error or _goes_on(text, found.end, after, cut):
            found = repaired(text, at, len(text), limits=limits, cut=cut)
            after = _BETWEEN.match(text, found.end).end()  # type: ignore[union-attr]  # matches always
            reading.complete, reading.delimited = found.complete, found.delimited
        if found.error:
            reading.error = found.error
            break
        reading.values.append(found.value)
        reading.repairs += found.repairs
        reading.end = found.end
        if len(reading.repairs) > limits.repairs:
            return JsonReading(complete=not cut, error=REPAIRS_LIMIT)
        if not text.startswith(("{", "[") if isinstance(reading.values[0], dict | list) else '"', after):
            break
        at = after
    if reading.values:
        _skip_closing(text, reading)
    return reading


def _goes_on(text: str, end: int, after: int, cut: bool) -> bool:
    """Whether the text behind a value shows that it goes on: a member after a comma or, if the text was cut, more digits."""
    if end == len(text):
        return cut and text[-1].isdigit()
    return text.startswith(('"', "'"), after) and "," in text[end:after]


def _skip_opening(text: str, reading: JsonReading) -> int:
    at = _SPACE.match(text, 0).end()  # type: ignore[union-attr]  # matches always
    for kind, opening in (("byte_order_mark", _BYTE_ORDER_MARK), ("code_fence", _FENCE)):
        if found := opening.match(text, at):
            reading.repairs.append(Repair(kind=kind, before=found[0], after=""))
            at = _SPACE.match(text, found.end()).end()  # type: ignore[union-attr]  # matches always
    return at


def _skip_closing(text: str, reading: JsonReading) -> None:
    """Include stray closing brackets and the closing fence, if nothing else follows."""
    at = _STRAY.match(text, reading.end).end()  # type: ignore[union-attr]  # matches always
    stray = text[reading.end : at].split()
    if text.startswith("```", at) and reading.repairs and any(repair.kind == "code_fence" for repair in reading.repairs):
        at = _SPACE.match(text, at + 3).end()  # type: ignore[union-attr]  # matches always
    if at < len(text):
        return
    if stray:
        reading.repairs.append(Repair(kind="extra_closer", before=clipped("".join(stray)), after=""))
        reading.end = at
    elif text[reading.end : at].strip():
        reading.end = at
