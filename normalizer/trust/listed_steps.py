"""A call within the steps of instructions: somebody is told how to do something, and one step shows the call.

The steps are a list, with numbers or signs. The call stands below one of them, the next follows, and nobody announces anything
there. Who works through a plan has a call below each step; who explains writes steps that none takes (`3. Press enter.`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from llmcore.normalizer.trust.lead_ins import announces
from llmcore.types.late import late

__all__ = ["is_listed_step"]

_NUMERALS = "一二三四五六七八九十"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"
_STEP = late(
    r"[ \t>]{0,16}+(?:[#*_]{1,6}[ \t]{0,4}+)?(?:(?P<sign>[-*+•‣▪])[ \t]{1,4}+(?:\[[ x]\][ \t])?|"
    rf"(?:(?P<word>[^\W\d_]{{2,10}}+)[ \t]?|第)?(?:(?P<number>\d{{1,3}})|(?P<numeral>[{_NUMERALS}])|(?P<circled>[{_CIRCLED}]))"
    r"(?:[ \t]?(?:/|de|of|von|sur|di|из)[ \t]?\d{1,3}(?!\d))?[ \t]?(?:[步歩]骤?|단계|番目)?"
    r"(?:[ \t]?[.)\]:．、：）—–](?!\d)|(?<=[步骤歩계目①-⑩])|[*_]{2}|\Z))(?P<said>.*)"  # noqa: RUF001 - full-width signs are meant
)
"""A line that begins a step: `- `, `2.`, `2)`, `Step 2:`, `## Schritt 2`, `**2.**`, `第二步`, `②`, `Step 2 of 4`."""
_FEW = 8  # lines between a call and the beginnings of its step and of the next
_MOST = 64  # lines that are looked at


class _Step(NamedTuple):
    """How a step begins: its sign or, in full, what stands before its number; the number, 0 behind a sign; its words."""

    kind: str
    number: int
    said: str


def is_listed_step(said: str, above: str, *, call_follows: bool) -> bool:
    """Is a call between `above` and `said` within one of several steps? `call_follows`: behind `said` stands another call."""
    if "\n" not in said:
        return False
    step, lines = _step_above(above)
    if step is None:
        return False
    following = [one for one in _steps(said) if one.kind == step.kind]
    if not following or (step.number and following[0].number != step.number + 1):
        return False
    if call_follows and len(following) == 1:
        return False  # that takes the call that follows
    between = _words_before(said, step)
    return between is not None and not any(announces(line) for line in (*lines, *between, following[0].said))


def _step_above(above: str) -> tuple[_Step | None, list[str]]:
    """The step to which words at the end of `above` belong, and its lines. Words at the margin belong to numbered steps only."""
    lines: list[str] = []
    at_margin = False
    for line in reversed(above.splitlines()[-_MOST:]):
        if not line.strip():
            continue
        if (step := _step(line)) is not None:
            return (None if at_margin and not step.number else step), [*lines, step.said]
        at_margin = at_margin or not line[0].isspace()
        lines.append(line.strip())
        if len(lines) > _FEW:
            break
    return None, lines


def _words_before(said: str, step: _Step) -> list[str] | None:
    """The lines between a call and the next step, which belong to its own step; None when others stand there."""
    lines: list[str] = []
    for n, line in enumerate(said.splitlines()):
        if (one := _step(line)) is not None and one.kind == step.kind and n:
            return lines
        if line.strip():
            if len(lines) >= _FEW or (n and not step.number and not line[0].isspace()):
                return None
            lines.append(line.strip())
    return None


def _steps(text: str) -> Iterator[_Step]:
    for line in text.splitlines()[1:_MOST]:
        if (step := _step(line)) is not None:
            yield step


def _step(line: str) -> _Step | None:
    found = _STEP.match(line)
    if found is None:
        return None
    if (sign := found["sign"]) is not None:
        return _Step(sign, 0, found["said"])
    if (number := found["number"]) is not None:
        return _Step(f"{(found['word'] or '').lower()}1", int(number), found["said"])
    signs, sign = (_NUMERALS, found["numeral"]) if found["numeral"] else (_CIRCLED, found["circled"])
    return _Step(signs, signs.index(sign) + 1, found["said"])
