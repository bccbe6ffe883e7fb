"""ReAct: `Action:` and `Action Input:` lines, and Command R's `Action:` with a fenced list."""

from __future__ import annotations

import re
from typing import Any

from llmcore.normalizer.bodies.json_bodies import add_calls, body_extent, extra_closers, read_body, swallow
from llmcore.normalizer.bodies.tagged.parameters import only_parameter, only_text_parameter
from llmcore.normalizer.calls.call_objects import CallObject, arguments_of
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.showing import decide_quoted, may_be_shown
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.json import read_json_value
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.normalizer.scanning.source import Steps, match_within, past, search, skip_space, wait_for, wait_for_one
from llmcore.normalizer.trust.layout import ends_sentence, has_words
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair

__all__ = ["action"]

_NAME = lazy_regex(r"[ \t]*+([^\n(]{1,256}+)(\n|\(|\Z)")
_LINE = 300
_LIST = 200  # characters of a list that must hold `tool_name`
_LIST_ENDS = ("```", "\nObservation:", "\nThought:", "\nFinal Answer:")
"""What ends a list that never closed."""
_STEP = 2048  # characters of a thought and its action
_ACTION = lazy_regex(r"Action[*_]{0,2}:")
_INPUT = lazy_regex(r"(?P<mark>[*_#]{0,3}) {0,2}Action Input(?P<closes>[*_]{0,3}):")
_MARKED = 22  # the label's length with marks
_STOP = lazy_regex(r"\n[ \t*_#]{0,16}(?:Observation|Thought|Action|Final Answer)[\s*_]{0,8}:|<\|im_end\|>|</s>")
_LONGEST_STOP = 38
_LABEL = lazy_regex(r"[ \t*_]*(?:Observation|Thought|Action|Final Answer)[\s*_]{0,8}:")
_MARKS = ("*", "_", "#")  # Markdown marks around labels
_SHOWN = 120  # characters of the text behind an input that a repair shows
_FENCE = lazy_regex(r"\s*```[\w]{0,16}\s*")
_FENCE_CLOSES = lazy_regex(r"[ \t\r]{0,16}\n?[ \t]{0,16}```")
_FENCE_OPENS = lazy_regex(r"```\w{0,16}+(?=\W)")
_FENCE_LENGTH = 20
_CALL_END = lazy_regex(r"\)[ \t\r]{0,256}\n")
_OBJECTS = ("{", '"{', "'{")
_SOUND = frozenset(("control_character", "cut_string", "cut_member", "missing_closer"))
_NO_CALL = frozenset({"none", "n/a", "finish", "final answer", "no action", "none.", "null"})


def action(reading: Reading, at: int) -> Steps[int]:
    """Read `Action:` at the start of a line, or, as a guess, behind a sentence. Returns where to go on."""
    src = reading.src
    body = past(_ACTION, src.text, at)
    start = max(reading.line_start(at), reading.done)
    marked = src.text[start:at]
    before = marked.rstrip("*_#")
    has_words_before = before.strip(" \t*_#") != ""
    if has_words_before and (reading.tools is None or not ends_sentence(before)):
        return body
    at = start + len(before) if has_words_before else at - len(marked.lstrip())  # the marks before the label belong to the step
    verdict = reading.verdict_at(_thought_before(reading, at), "bare")
    reading.set_verdict(verdict)
    if not may_be_shown(verdict):
        return (yield from _step(reading, at, body))
    staged = reading.stage()
    went = yield from _step(reading, at, body)
    if reading.done <= staged.done:
        reading.take_back(staged)
        return went
    return reading.done if (yield from decide_quoted(reading, staged, verdict, at, _input_end(src.text, body))) else body


def _input_end(text: str, body: int) -> int:
    """Where the object of a step ends; -1 if it has none. The step may include text behind the object."""
    given = _INPUT.search(text, body, body + _STEP)
    brace = text.find("{", given.end()) if given is not None else -1
    return -1 if brace < 0 else Extent(brace).scan(text, True)


def _step(reading: Reading, at: int, body: int) -> Steps[int]:
    """Read the action whose label ends at `body`, in any notation."""
    src = reading.src
    ahead = yield from skip_space(src, body)
    if src.text.startswith(("`", "[", "{"), ahead):
        return (yield from _listed(reading, at, ahead))
    yield from wait_for_one(src, body, _LINE, "\n", "(")
    name = _NAME.match(src.text, body, body + _LINE)
    if name is None or not (word := name[1].strip("*`\"' \t\r\u200b\u2060\ufeff")):
        return body
    if name[2] == "(" and is_known(word, reading.tools):
        return (yield from _on_one_line(reading, at, word, name.end(1)))
    return (yield from _with_input(reading, at, word, name.end(1)))


def _thought_before(reading: Reading, at: int) -> int:
    """Where the step begins whose action stands at `at`: at its thought, if it has one."""
    first = max(reading.done, at - _STEP)
    thought = reading.src.text.rfind("Thought:", first, at)
    begin = reading.src.text.rfind("\n", 0, thought) + 1 if thought >= 0 else at
    opens = begin <= thought < reading.line_start(at) and not reading.src.text[max(begin, first) : thought].strip(" \t*_#")
    return thought if opens else at


def _with_input(reading: Reading, at: int, word: str, after: int) -> Steps[int]:
    src = reading.src
    ahead = yield from skip_space(src, after)
    yield from wait_for(src, ahead, _MARKED if src.text.startswith(_MARKS, ahead) else len("Action Input:"))
    known = is_known(word, reading.tools)
    label = _INPUT.match(src.text, ahead)
    if label is None:
        if (
            word.lower() in _NO_CALL
            and not known
            and not src.text[max(reading.line_start(at), reading.done) : at].strip(" \t*_#")
        ):
            reading.text(at)
            reading.markup(after)
            return after
        if known:
            reading.miss(at, after, word, "no_input")
        return after
    body, mark = label.end(), "" if label["closes"] else label["mark"].strip("#")
    label = None  # a match keeps its text alive
    if reading.tools is not None and not known:
        reading.miss(at, body, word, "unknown_name")
        return body
    stop = yield from _stop(reading, body)
    end = stop.start() if stop else len(src.text)
    goes_on = stop is not None and stop[0].lstrip().startswith(("Action", "Thought"))  # a next step follows, not a result
    written = src.text[body:end]
    if mark and written.startswith(mark):  # **Action Input:**
        body, written = body + len(mark), written[len(mark) :]
    call, complete, read = _input_call(reading, word, written, cut=stop is None, goes_on=goes_on)
    if stop is None and reading.ended_by_length and not _shows_its_end(written):
        complete = False
    if read >= 0:
        call.raw, end = written[:read].strip(), body + read
        line = written[read:].partition("\n")[0]
        if has_words(line) and _LABEL.match(line) is None:
            call.repairs.append(Repair(kind="words_behind", before=line.strip()[:_SHOWN], safety="guess"))
    add_calls(reading, (at, end), [call], "react", complete=complete or not (goes_on or stop is None))
    if stop is not None and "Observation" in stop[0]:
        reading.distrust_rest()
    return end


def _stop(reading: Reading, body: int) -> Steps[re.Match[str] | None]:
    """What ends the input at `body`. A label in a text of its object does not, if that text is closed and the object sound."""
    src = reading.src
    stop = yield from search(src, _STOP, body, _LONGEST_STOP)
    start = yield from skip_space(src, body)
    extent = Extent(start)
    if stop is None or not src.text.startswith("{", start) or reading.backtrack_budget.too_many_left_open:
        return stop
    if extent.scan(src.text[: stop.start()]) >= 0 or extent.string_start < 0:
        return stop
    opened, stop = extent.string_start, None  # a match keeps its text alive
    while (end := extent.scan(src.text, src.final)) < 0 and not src.final:
        yield None
    written = src.text[start : end if end >= 0 else len(src.text)]
    parsed = read_json_value(written, limits=reading.limits, cut=end < 0)
    if extent.string_start != opened and all(map(_is_sound, parsed.repairs)):
        return (yield from search(src, _STOP, end if end >= 0 else len(src.text), _LONGEST_STOP))
    reading.backtrack_budget.never_closed()
    return (yield from search(src, _STOP, body, _LONGEST_STOP))


def _is_sound(repair: Repair) -> bool:
    """Whether the repairs of a cut object leave it certain where each text ends, and its open text holds no label."""
    return repair.kind in _SOUND and (repair.kind != "cut_string" or _STOP.search(str(repair.before)) is None)


def _shows_its_end(written: str) -> bool:
    """Whether it is an object, or is closed as it was opened. Any other input may be incomplete."""
    text = written.strip().removeprefix("```")
    quote = "```" if text != written.strip() else text[:1]
    return text.lstrip().startswith(_OBJECTS) or (quote in ("```", '"', "'") and text.endswith(quote) and len(text) > len(quote))


def _input_call(reading: Reading, word: str, written: str, *, cut: bool, goes_on: bool) -> tuple[CallObject, bool, int]:
    """(call, whether it is complete, where the input ends if words follow, else -1).

    The input is JSON, a Python dict, a fenced block, a doubly encoded string, or the only string parameter. If the next step
    `goes_on` from it, it is complete only if it shows its own end.
    """
    start = len(written) - len(written.lstrip())
    if (fence := _FENCE.match(written)) is not None:
        start = fence.end()
    text = written[start:].strip()
    if fence is not None:
        text = text.removesuffix("```").strip()
    call = CallObject(word, None, True, raw=text)
    if text.startswith(_OBJECTS):
        parsed = read_json_value(text, limits=reading.limits, cut=cut)
        if parsed.values:
            call.arguments, _, repairs = arguments_of(parsed.values[0])
            call.repairs = [*parsed.repairs, *repairs]
            if not has_words(text[parsed.end :]):
                call.repairs += extra_closers(text[parsed.end :])
        whole = parsed.complete and (parsed.delimited or not goes_on)
        return call, whole, _read_to(written, start + parsed.end) if whole and parsed.delimited else -1
    tool = reading.tool(word)
    if tool is None:
        return call, True, -1
    if not text or text in ("None", "null"):
        call.arguments = {} if not tool.required else None
        return call, True, -1
    if (key := only_text_parameter(tool)) is not None:
        value: Any = text
        if text[0] in "\"'" and text[-1] == text[0] and len(text) > 1:
            value = text[1:-1]
        call.arguments = {key: value}
        call.repairs.append(only_parameter(key, text, value, by_convention=tool))
    return call, True, -1


def _read_to(written: str, end: int) -> int:
    """Where an input ends whose value ends at `end`: there or behind its fence, if words follow. Else -1."""
    closer = _FENCE_CLOSES.match(written, end)
    end = end if closer is None else closer.end()
    return end if has_words(written[end:]) else -1


def _on_one_line(reading: Reading, at: int, word: str, after: int) -> Steps[int]:
    """Read `Action: f ({...})`."""
    src = reading.src
    stop = yield from search(src, _CALL_END, after, 260)
    end = stop.end() if stop else len(src.text)
    text = src.text[after:end].strip().removeprefix("(").removesuffix(")")
    parsed = read_relaxed(text, limits=reading.limits)
    if not is_object(parsed.value):
        return after
    call = CallObject(word, parsed.value, True, raw=text, repairs=[*parsed.repairs, *extra_closers(text[parsed.end :])])
    add_calls(reading, (at, end), [call], "react", complete=src.text[after:end].rstrip().endswith(")"))
    return end


def _listed(reading: Reading, at: int, start: int) -> Steps[int]:
    """Read Command R's list of objects with `tool_name`, mostly in a fence."""
    src, body = reading.src, start
    fenced = src.text.startswith("`", start)
    if fenced:
        fence = yield from match_within(src, _FENCE_OPENS, start, _FENCE_LENGTH)
        if fence is None:
            return start
        body, fence = fence.end(), None  # a match keeps its text alive
        body = yield from skip_space(src, body)
    reach = body + _LIST
    yield from wait_for_one(src, body, _LIST, "tool_name")
    if not src.text.startswith(("[", "{"), body) or "tool_name" not in src.text[body:reach]:
        return start
    value = yield from body_extent(reading, body, _LIST_ENDS)
    messages, repairs, complete = read_body(reading, value)
    if not messages:
        reading.miss(at, value.end, None, "no_call_object")
        return start
    end = value.end
    if fenced:
        end, _, extra = yield from swallow(reading, end, ("```",))
        repairs = [*repairs, *extra]
    calls = [call for message in messages for call in message.calls]
    reading.text(at)
    add_calls(reading, (at, end), calls, "command_r_plus", complete=complete, repairs=repairs)
    reading.markup(end)
    return end
