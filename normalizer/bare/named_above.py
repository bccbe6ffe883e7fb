"""An object whose tool the text above it names: the line before is the name, ends with it, or announces a call of it.

A line that is a name is Functionary's form. A name behind a sentence or a colon is judged by its place. If only an
announcement names the tool (`I'll call f now:`), the object must have its arguments and nothing else, and is a guess.
"""

from __future__ import annotations

import re

from llmcore.normalizer.bare.verdicts import bare_place, line_is_over, may_stand, only_shown, refusal
from llmcore.normalizer.bodies.json_bodies import add_calls, body_extent
from llmcore.normalizer.calls.call_messages import calls_of
from llmcore.normalizer.calls.call_objects import CallObject
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.source import Steps
from llmcore.normalizer.scanning.words import STRAY_CLOSERS
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair

__all__ = ["announced_tool", "arguments_below", "name_above"]

_REACH = 300
_LAST_WORD = lazy_regex(r"\S{1,256}\Z")
_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_-]*+")
_CALLING = lazy_regex(
    r"\W*(?:now\s+)?(?:calling|invoking|running|executing|using)\b|rufe\b|j['’]appelle\b"  # noqa: RUF001 # typographic
    r"|(?:llamando|invocando|ejecutando|chamando|executando|chiamo|eseguo)\b|вызываю\b|(?:正在)?调用",
    re.IGNORECASE,
)
"""An announcement that begins with its verb."""


def name_above(reading: Reading, start: int) -> tuple[int, str] | None:
    """(position, name) of a tool's name that ends the line before `start`. None if there is none.

    It is all of that line, or stands where a bare form may stand.
    """
    text = reading.src.text
    if reading.tools is None or start <= reading.done or text[start - 1] != "\n":
        return None
    begin = max(text.rfind("\n", max(0, start - _REACH), start - 1) + 1, reading.done)
    line = text[begin : start - 1].rstrip()
    name = line.strip().removeprefix(">>>")
    if name in reading.tools:
        return begin, name
    last = _LAST_WORD.search(line)
    if last is None or last[0] not in reading.tools or reading.nested:
        return None
    at = begin + last.start()
    return (at, last[0]) if may_stand(reading, text[begin:at], at) else None


def announced_tool(reading: Reading, at: int) -> str:
    """The one tool that an announcement before `at` names; "" if there is none."""
    if reading.tools is None or reading.nested or at == reading.text_start():
        return ""
    text, start = reading.src.text, reading.text_start()
    if reading.tools.names.isdisjoint(_NAME.findall(text, max(start, at - _REACH), at)):  # a cheap check
        return ""
    sentence = sentence_before(text, start, at)
    named: set[str] = {word for word in _NAME.findall(sentence) if word in reading.tools}
    if len(named) != 1 or not (announces(sentence) or _CALLING.match(sentence) is not None):
        return ""
    return named.pop()


def arguments_below(reading: Reading, at: int, name: str) -> Steps[int]:
    """Read the object at `at` if it has the arguments of `name`, as a guess. Returns where to go on, -1 if it has not."""
    body = yield from body_extent(reading, at, STRAY_CLOSERS)
    text, tool = reading.src.text[at : body.end], reading.tool(name)
    parsed = read_json(text, limits=reading.limits)
    value = parsed.values[0] if len(parsed.values) == 1 else None
    if body.cut or tool is None or not is_object(value) or not value or calls_of(value, reading.tools) is not None:
        return -1
    if not (tool.required <= value.keys() <= set(tool.properties)):
        return -1
    over = yield from line_is_over(reading, body.end)
    call = CallObject(name, value, True, raw=text)
    place = yield from bare_place(reading, (at, body.end), [call], over=over)
    reason = refusal(reading, place, [call]) or (yield from only_shown(reading, at, body.end))
    if reason is not None:
        reading.miss(at, body.end, name, reason)
        return body.end
    guess = Repair(kind="named_in_a_sentence", after=name, safety="guess")
    add_calls(reading, (at, body.end), [call], "name_brace", repairs=[*parsed.repairs, guess])
    return reading.done
