"""Bare JSON: objects and arrays without a marker, and objects directly behind a tool's name.

A region is found by its brackets, read, and judged by `verdicts`. If its first key is no call's, the JSON is data: it is
emitted as it arrives, and calls that it quotes are not sought.
"""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.bare import verdicts
from llmcore.normalizer.bare.hidden_calls import note_hidden_calls
from llmcore.normalizer.bare.lost_headers import HEADER_WORDS
from llmcore.normalizer.bare.made_up import around, wrapped_begins, wrapper_before
from llmcore.normalizer.bare.python_forms import decided_word
from llmcore.normalizer.bare.verdicts import (
    BarePlace,
    bare_place,
    drop_echo,
    echoed,
    is_echo,
    line_is_over,
    only_shown,
    refusal,
    rest_is_blank,
)
from llmcore.normalizer.bodies.brace_bodies import bare_reading
from llmcore.normalizer.bodies.json_bodies import Body, add_calls, body_extent, extra_closers, read_body, swallow
from llmcore.normalizer.calls.answers import content_text
from llmcore.normalizer.calls.call_messages import CallMessage, calls_of
from llmcore.normalizer.calls.call_objects import CALL_KEYS, CallObject, arguments_of
from llmcore.normalizer.core.names import is_known, is_whole_id, peel, unprefixed
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.normalizer.scanning.source import Steps, past, skip_space, wait_until_known, wait_while
from llmcore.normalizer.scanning.words import ENVELOPE, STRAY_CLOSERS
from llmcore.normalizer.trust.layout import ends_sentence
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair

__all__ = [
    "OBJECT_BEGINS",
    "OBJECT_BEGUN",
    "behind_data",
    "calling_tool",
    "json_form",
    "json_mid_line",
    "mid_line_brace",
    "named_brace",
    "opens_object",
]

_GAP = r"(?:\s|//[^\n]*+\n|/\*[^*]*+\*/)*+"  # with comments
_KEY = r"""[^"'“”\\\s:{}\[\],]"""
_FIRST_KEY = lazy_regex(rf"""[\[\s]*\{{{_GAP}(?!/[/*])(\\?["']|“|)({_KEY}{{1,128}})(?:\1|”)\s*(?::|=>)""")
_FIRST_VALUE = lazy_regex(r"""\s*+(["'])([^"'\\\s]{1,256}+)\1""")
_FIRST_VALUE_BEGUN = lazy_regex(r"""\s*+(?:["'][^"'\\\s]{0,256}+)?\Z""")
_FIRST_KEY_BEGUN = lazy_regex(
    rf"""[\[\s]*(?:\{{{_GAP}(?:/(?:/[^\n]*|\*[^*]*\*?)?|(\\?["']|[“\\]|){_KEY}{{0,128}}(?:(?:\1|[”\\])\s*=?)?)?)?\Z"""
)
OBJECT_BEGINS = rf"""(?:["'“”\\/<{{\[}}]|(?!=){_KEY}{{1,128}}+\s*+[:=])"""
"""What stands behind the brace of an object that may be a call, after white space. Other braces are no candidates."""
OBJECT_BEGUN = rf"(?:{_KEY}{{1,128}}+\s*+)?"
"""The beginning of that at the text's end."""
_OBJECT = lazy_regex(rf"\s*+{OBJECT_BEGINS}")
_OBJECT_BEGUN = lazy_regex(rf"\s*+{OBJECT_BEGUN}\Z")
_BEGINS = lazy_regex(rf"\[|\{{\s*+{OBJECT_BEGINS}")
_FLAT = lazy_regex(r'\{(?=\s*")(?:[^{}()\[\]"\\<`]++|"[^"\\]*+")*+\}')
"""Data that is one object without brackets in it."""
_OPENS_OBJECT = lazy_regex(r"\{|\[\s*[\[{]")
_DATA = lazy_regex(r"[\[\s]*\{\s*\"")
_ITEM = lazy_regex(r"""\s*+(?:-?\d[\d.eE+-]{0,32}+|true|false|null|"[^"\\\n]{0,96}+"|\[[^\[\]{}"\n]{0,96}+\]|\{\s*+\})\s*+,""")
_OPENS = lazy_regex(r"\s*+(?=\{)")
_ITEM_BEGUN = lazy_regex(r"""\s*+(?:-?[\d.eE+-]*+|[a-z]{1,5}+|"[^"\\\n]*+"?|\[[^\[\]{}"\n]*+\]?|\{\s*+\}?)\s*+\Z""")
"""With `_ITEM`: data in a list of calls, with its comma, and the beginning of it at the text's end."""
_Parsed = tuple[list[CallMessage], list[Repair], bool]
"""The result of `read_body`."""
_PATIENCE = 4  # objects in a row without a call of a known tool
_QUOTES = lazy_regex(r"[ \t\r\n`\"']*")
_HEAD = 160  # characters that must hold the first key
_CALLING_CLOSED = lazy_regex(r"\)\s*\]?\Z")  # closed by the brackets around it, without its own brace
_CALLING_CUT = lazy_regex(r"\)\s*\]\s*(?:\n|\Z)")
_CALLS_BEGUN = lazy_regex(r""""(?:toolCalls|tool_calls|tool_uses|function_calls|calls)"\s*+:\s*+(?:\[[\s{]*+)?\Z""")
_ARGUMENTS_BEGIN = lazy_regex(r"""\{\s*+(?:["']|\Z|[\w.-]{1,64}+\s*+:)""")
"""The brace of arguments whose text ends within them: a quotation mark or a key follows, or nothing."""
_LINE = 256  # characters before an id that are searched for the end of a sentence
_RAW_QUOTES = ('<|"|>', "<escape>")


def opens_object(text: str, at: int, final: bool) -> bool | None:
    """Whether the text behind the brace at `at` makes it an object's brace. None if more text is needed."""
    if _OBJECT.match(text, at + 1) is not None:
        return True
    return None if not final and _OBJECT_BEGUN.match(text, at + 1) is not None else False


def named_brace(
    reading: Reading, begin: int, at: int, name: str, dialect: str, gap: int = -1, *, strict: bool = False
) -> Steps[int]:
    """Read `name{...}`: the name is a tool's, the braces hold relaxed JSON. Returns where to go on.

    Behind Harmony's header, junk may follow the braces on their line, unless words stand before the header (`strict`).
    """
    if begin < reading.done:
        return at + 1
    body = yield from body_extent(reading, at, STRAY_CLOSERS)
    if body.cut and _ARGUMENTS_BEGIN.match(reading.src.text, at) is None:
        reading.backtrack_budget.never_closed()
        return at + 1
    end, closed, extra = yield from swallow(reading, body.end, STRAY_CLOSERS)
    over = yield from line_is_over(reading, end)
    raw_quotes = _RAW_QUOTES if dialect == "gemma4" else ()
    parsed = read_relaxed(reading.src.text, at, body.end, limits=reading.limits, cut=body.cut, string_delimiters=raw_quotes)
    arguments, tool, found = parsed.value if is_object(parsed.value) else None, reading.tool(name), list(parsed.repairs)
    if raw_quotes and body.closed and (bare := bare_reading(reading, at, body.end, raw_quotes[0], tool, arguments, found)):
        arguments, found = bare
    call = CallObject(name, arguments, True, raw=reading.src.text[at : body.end])
    whole = reading.tools is None and (yield from rest_is_blank(reading, end))
    over = over or (dialect == "harmony" and not strict)
    place = yield from bare_place(reading, (begin, end), [call], over=over, closed=closed, whole=whole)
    if is_echo(reading, place, [call]):
        return drop_echo(reading, begin, end)
    reason = refusal(reading, place, [call]) or ("unreadable" if arguments is None and not body.cut else None)
    reason = reason or (yield from only_shown(reading, begin, end))
    if reason is not None:
        reading.miss(begin, end, name, reason)
        return max(body.end, at + 1) if not body.cut else at + 1
    repairs = [decided_word(arguments, repair, tool) if tool is not None and arguments else repair for repair in found]
    repairs += extra
    if raw_quotes and peel(written := unprefixed(reading.src.text[begin:at]), reading.tools) is None and written != name:
        repairs.append(Repair(kind="namespace", before=written, after=name, safety="guess"))
    if gap >= 0 and (junk := HEADER_WORDS.sub(" ", reading.src.text[gap:at]).strip()):
        repairs.append(Repair(kind="junk_dropped", before=junk, after="", safety="lossless"))
    add_calls(reading, (begin, end), [call], dialect, complete=parsed.complete and not body.cut, repairs=repairs)
    return reading.done


def _plausible(reading: Reading, at: int) -> Steps[bool]:
    """Whether the object or list at `at` may be a call, by its first key."""
    src = reading.src
    while True:
        key = _FIRST_KEY.match(src.text, at, at + _HEAD)
        if key is not None:
            if key[2] in CALL_KEYS or reading.forced_tool is not None or is_known(key[2], reading.tools):
                return True
            behind, key = key.end(), None  # a match keeps its text alive
            yield from wait_while(src, _FIRST_VALUE_BEGUN, behind)
            value = _FIRST_VALUE.match(src.text, behind)
            if value is not None and is_known(value[2], reading.tools):
                return True
            value = None  # a match keeps its text alive
            return src.text.startswith("[", at) and reading.names is not None and (yield from _object_follows(reading, behind))
        if src.final or len(src.text) - at >= _HEAD or _FIRST_KEY_BEGUN.match(src.text, at) is None:
            return False
        yield None


def _object_follows(reading: Reading, at: int) -> Steps[bool]:
    """Whether an object stands at `at`. In a list of calls by their names, it may be a tool's."""
    start = yield from skip_space(reading.src, at)
    return reading.src.text.startswith("{", start)


def behind_data(reading: Reading, at: int) -> Steps[int]:
    """Where the first object of a list stands that may be a call, behind other data that begins at `at`. -1 if there is none."""
    src, start = reading.src, at
    while True:
        while (item := _ITEM.match(src.text, at)) is not None and item.end() - start < _HEAD:
            at = item.end()
        brace = past(_OPENS, src.text, at) if at > start else at
        item = None  # a match keeps its text alive
        if at > start and src.text.startswith("{", brace) and brace - start < _HEAD:
            if not src.final and _ITEM_BEGUN.match(src.text, at) is not None:  # perhaps an empty object
                yield None
                continue
            return brace if (yield from _plausible(reading, brace)) else -1
        if src.final or len(src.text) - start >= _HEAD or _ITEM_BEGUN.match(src.text, at) is None:
            return -1
        yield None


def json_form(reading: Reading, at: int, first: int = -1) -> Steps[int]:
    """Read an object or array at `at`, and those directly behind it. `first`: where an object in it stands that may be a call."""
    if first < 0 and not (yield from _plausible(reading, at)):
        return (yield from _data(reading, at))
    bodies: list[Body] = []
    read: list[_Parsed] = []
    start = at
    while True:
        body = yield from body_extent(reading, start, STRAY_CLOSERS)
        parsed = read_body(reading, body)
        if bodies and not body.cut and not parsed[0]:  # data among calls
            begin = start if _calls(read[-1:]) else bodies[-1].end
            parsed = ([CallMessage([], content=reading.src.text[begin : body.end])], list[Repair](), True)
        bodies.append(body)
        read.append(parsed)
        if body.cut or not body.closed or not read[0][0] or len(bodies) >= reading.limits.calls:
            break
        if (
            len(bodies) == _PATIENCE
            and reading.tools is not None
            and not any(is_known(call.name, reading.tools) for call in _calls(read))
        ):
            break
        ahead = yield from skip_space(reading.src, body.end)
        if reading.src.text.startswith((";", ","), ahead):
            ahead = yield from skip_space(reading.src, ahead + 1)
        if not reading.src.text.startswith(("{", "["), ahead):
            break
        if not (yield from _plausible(reading, ahead)):
            length = len(reading.src.text)
            if reading.src.final and length - ahead < _HEAD and past(_FIRST_KEY_BEGUN, reading.src.text, ahead) == length:
                bodies.append(Body(ahead, length, cut=True, closed=False))
                read.append(read_body(reading, bodies[-1]))
            break
        start = ahead
    return (yield from _judge_json(reading, at, bodies, read))


def _calls(read: list[_Parsed]) -> list[CallObject]:
    return [call for messages, _, _ in read for message in messages for call in message.calls]


def json_mid_line(reading: Reading, at: int) -> Steps[int]:
    """Read a form of a call in the middle of a line: content, and a near miss, so that layer 3 can ask what was meant."""
    if not (yield from _plausible(reading, at)):
        if _OPENS_OBJECT.match(reading.src.text, at) is not None:
            _glanced(reading, at)
        return at + 1
    body = yield from body_extent(reading, at, STRAY_CLOSERS)
    if body.cut:
        reading.backtrack_budget.never_closed()
        return at + 1
    calls = [call for message in read_body(reading, body)[0] for call in message.calls]
    if calls:
        place = BarePlace(at, body.end, over=False, closed=False, whole=False)
        reason = refusal(reading, place, calls) or "mid_line"
        if reason == "mid_line":
            reason = yield from verdicts.mid_line(reading, at, body.end)
        reading.miss(at, body.end, calls[0].name, reason)
    return body.end


def mid_line_brace(reading: Reading, begin: int, at: int, name: str) -> Steps[int]:
    """Read `name{...}` in the middle of a line: content, and a near miss if the braces hold an object.

    Kimi's id `functions.f:0` is a name that no prose has. Behind it, the object is a guess. If a sentence ends before the id
    and nothing follows the object, it is a call.
    """
    body = yield from body_extent(reading, at, STRAY_CLOSERS)
    if body.cut:
        reading.backtrack_budget.never_closed()
        return at + 1
    parsed, src = read_relaxed(reading.src.text, at, body.end, limits=reading.limits), reading.src
    if not is_object(parsed.value):
        return body.end
    reason = yield from verdicts.mid_line(reading, begin, body.end)
    if reason != "mid_line" or not reading.takes_calls or not is_whole_id(src.text[begin:at]):
        reading.miss(begin, body.end, name, reason)
        return body.end
    ends = ends_sentence(reading.line_before(begin, _LINE)) and (yield from rest_is_blank(reading, body.end))
    repairs = [] if ends else [Repair(kind="named_in_a_sentence", after=name, safety="guess")]
    call = CallObject(name, parsed.value, True, id=src.text[begin:at], raw=src.text[at : body.end])
    add_calls(reading, (begin, body.end), [call], "kimi_k2", repairs=[*parsed.repairs, *repairs])
    return reading.done


def _judge_json(reading: Reading, at: int, bodies: list[Body], read: list[_Parsed]) -> Steps[int]:
    last = bodies[-1]
    end, closed, extra = (last.end, False, []) if last.cut else (yield from swallow(reading, last.end, STRAY_CLOSERS))
    wrapper = wrapper_before(reading, at)
    closed_at, over = yield from around(reading, wrapper, end)
    messages = [message for found, _, _ in read for message in found]
    calls = _calls(read)
    alone = not reading.has_content() and not reading.drafts and past(_QUOTES, reading.src.text, reading.done) >= at
    whole = alone and (yield from rest_is_blank(reading, end))
    if not calls or not read[0][0]:
        return (yield from _no_calls(reading, at, end, bodies, messages, whole))
    place = yield from bare_place(reading, (at, end), calls, over=over, closed=closed, whole=whole)
    if is_echo(reading, place, calls) and not _says_something(messages):
        return drop_echo(reading, at, end)
    if (echo := _echo_before_others(reading, at, bodies, read)) > at:
        return drop_echo(reading, at, echo)
    certain = messages[0].form == ENVELOPE and (messages[0].certain or reading.answers)
    if reading.answers and not reading.takes_calls and not (certain and reading.expects_object):
        return last.end
    reason = refusal(reading, place, calls, certain=certain) or (
        yield from only_shown(reading, wrapped_begins(wrapper, at), max(end, closed_at))
    )
    if reason == "mid_line":
        reason = yield from verdicts.mid_line(reading, at, end)
    if reason is not None:
        reading.miss(at, end, calls[0].name, reason)
        if last.cut:
            reading.backtrack_budget.never_closed()
            return at + 1
        return last.end
    reading.text(at if wrapper is None else wrapper.start)  # on its own line, even if the closer never arrives
    reading.markup(at)
    messages, repairs, complete = read[-1]
    read[-1] = (messages, [*repairs, *extra], complete)
    _take_messages(reading, at, end, bodies, read)
    reading.markup(closed_at)
    return reading.done


def _echo_before_others(reading: Reading, at: int, bodies: list[Body], read: list[_Parsed]) -> int:
    """Where the repetition of calls ends if other calls follow it; `at` if there is none."""
    count, end = echoed(reading, at, _calls(read)), at
    for body, one in zip(bodies, read, strict=True):
        calls = len(_calls([one]))
        if not calls or calls > count or _says_something(one[0]):
            break
        count, end = count - calls, body.end
    return end


def _says_something(messages: list[CallMessage]) -> bool:
    return any(message.content for message in messages)


def _take_messages(reading: Reading, at: int, end: int, bodies: list[Body], read: list[_Parsed]) -> None:
    if bodies[-1].lost:
        reading.cut_off()
    _record_beside(reading, at, end, [message for messages, _, _ in read for message in messages])
    for body, (messages, repairs, complete) in zip(bodies, read, strict=True):
        span = (at if body is bodies[0] else body.start, end if body is bodies[-1] else body.end)
        reading.markup(span[0])
        for message in messages:
            add_calls(reading, span, message.calls, message.form, complete=complete, repairs=repairs)
            if message.content:
                reading.markup(span[1])  # in case it called nothing
                reading.replace(span[0], span[1], message.content)
            if message.needs_more_work is not None:
                reading.more_work(message.needs_more_work)
    reading.take("call", end)


def _record_beside(reading: Reading, at: int, end: int, messages: list[CallMessage]) -> None:
    """Record the repairs and near misses of what stands beside calls."""
    for message in messages:
        reading.repaired(*message.repairs)
        if message.unread > message.data:
            reading.note(at, end, None, "no_call_object")


def _no_calls(reading: Reading, at: int, end: int, bodies: list[Body], messages: list[CallMessage], whole: bool) -> Steps[int]:
    """Read an envelope without calls, an answer in JSON, or data.

    If the text ended in the list of calls, it is no envelope without calls.
    """
    begun = bodies[-1].cut and _CALLS_BEGUN.search(reading.src.text, at) is not None
    if (
        messages
        and messages[0].content is not None
        and not messages[0].calls
        and (messages[0].form == "llmcore_envelope" or whole)
        and (messages[0].content or not begun)
    ):
        if begun:
            reading.cut_off()
        reading.text(at)
        reading.markup(end)
        reading.replace(at, end, messages[0].content)
        reading.more_work(messages[0].needs_more_work)
        _record_beside(reading, at, end, messages)
        return end
    if whole and len(bodies) == 1 and (done := _answer_or_arguments(reading, at, end, bodies[0])):
        return done
    if bodies[-1].cut:
        reading.backtrack_budget.never_closed()
        return at + 1
    if whole and len(bodies) == 1:
        note_hidden_calls(reading, at, end)
    reading.failed()
    return bodies[-1].end
    yield None


def _answer_or_arguments(reading: Reading, at: int, end: int, body: Body) -> int:
    """Read a whole message that is one object without a call. Returns its end, 0 if it is none of these.

    It may be the forced tool's arguments, an answer, or a call quoted in `content`.
    """
    text = reading.src.text[body.start : body.end]
    parsed = read_relaxed(text, limits=reading.limits, cut=body.cut)
    if not is_object(parsed.value):
        return 0
    value = parsed.value
    if reading.forced_tool is not None and calls_of(value, reading.tools) is None:
        call = CallObject(reading.forced_tool, value, True, raw=text)
        add_calls(reading, (at, end), [call], "forced_arguments", complete=parsed.complete, repairs=parsed.repairs)
        return end
    if len(value) != 1 or (body.cut and not reading.enveloped):
        return 0
    ((key, content),) = value.items()
    if key == "content" and isinstance(content, str) and reading.tools:
        inner = reading.nest(content)
        if inner.drafts and not inner.has_content:
            reading.adopt(inner, at, end)
            return end
    if not _answers(reading, key, content):
        return 0
    content, repairs = content_text(content)
    reading.repaired(*repairs)
    if body.cut:
        reading.cut_off()
    reading.text(at)
    reading.markup(end)
    reading.replace(at, end, content)
    return end


def _answers(reading: Reading, key: str, content: Any) -> bool:
    """Whether the value of an object's only key is the answer."""
    if key == "content":
        return reading.enveloped
    return isinstance(content, str) and key == "response" and is_known(key, reading.tools) is False and reading.tools is not None


def _data(reading: Reading, at: int) -> Steps[int]:
    """Read JSON that cannot be a call: content, emitted as it arrives. Calls that it quotes are not sought."""
    src = reading.src
    if not (yield from wait_until_known(src, _is_data, at)):
        _glanced(reading, at)
        return at + 1
    alone = reading.opens_message(at)
    if (flat := _FLAT.match(src.text, at)) is not None:
        end = flat.end()
        if alone and (yield from rest_is_blank(reading, end)):
            note_hidden_calls(reading, at, end)
        return end
    extent = Extent(at, delimiters=("<", "```"))
    while True:
        end = extent.scan(src.text, src.final)
        if end >= 0:
            if src.text[at] == "[" and _names_a_tool(reading, at, end):
                body = Body(at, end)
                return (yield from _judge_json(reading, at, [body], [read_body(reading, body)]))
            if alone and (yield from rest_is_blank(reading, end)):
                note_hidden_calls(reading, at, end)
            return end
        if extent.stopped >= 0:
            return extent.stopped
        if src.final:
            reading.backtrack_budget.never_closed()
            reading.failed(len(src.text) - at)
            return at + 1
        reading.emit_text_to(extent.position)
        yield None


def _names_a_tool(reading: Reading, at: int, end: int) -> bool:
    """Whether a list of data names a tool. If so, some of its items may be calls."""
    text = reading.src.text
    return any(text.find(f'"{name}"', at, end) >= 0 for name in reading.names or ())


def _glanced(reading: Reading, at: int) -> None:
    """Charge for a candidate at `at` that is no call.

    A brace that the text behind it rules out costs nothing, because in a whole text it is no candidate (`text.candidates`).
    """
    if _BEGINS.match(reading.src.text, at) is not None:
        reading.backtrack_budget.glanced()


def _is_data(text: str, at: int, final: bool) -> bool | None:
    rest = text[at : at + 64]
    if _DATA.match(rest):
        return True
    return None if not final and len(rest) < 64 and not rest.strip("[{ \t\r\n") else False


def calling_tool(reading: Reading, at: int, name: str, start: int) -> Steps[int]:
    body = yield from body_extent(reading, start, ())
    unclosed = (_CALLING_CUT if body.cut else _CALLING_CLOSED).search(reading.src.text, body.start, body.end)
    if unclosed is not None:
        body = Body(body.start, unclosed.start(), closed=False)
    end = body.end
    ahead = yield from skip_space(reading.src, end)
    while reading.src.text.startswith("}", ahead):  # a surplus brace
        ahead = yield from skip_space(reading.src, ahead + 1)
    extra = extra_closers(reading.src.text[end:ahead])
    if closed := reading.src.text.startswith(")", ahead):
        end = ahead + 1
        ahead = yield from skip_space(reading.src, end)
        end = ahead + 1 if reading.src.text.startswith("]", ahead) else end
    over = yield from line_is_over(reading, end)
    parsed = read_relaxed(reading.src.text, body.start, body.end, limits=reading.limits, cut=body.cut)
    arguments, _, repairs = arguments_of(parsed.value)
    call = CallObject(name, arguments, True, raw=reading.src.text[body.start : body.end])
    place = yield from bare_place(reading, (at, end), [call], over=over)
    if (reason := refusal(reading, place, [call]) or (yield from only_shown(reading, at, end))) is not None:
        reading.miss(at, end, name, reason)
        return end
    complete = closed and parsed.complete
    add_calls(reading, (at, end), [call], "calling_tool", complete=complete, repairs=[*parsed.repairs, *repairs, *extra])
    return end
