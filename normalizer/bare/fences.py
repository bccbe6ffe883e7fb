"""Back-ticks and fences of tildes: code is content, unless a whole fence is the call.

A fence whose body is only a call counts in three cases: it opens the message (or stands in a row of fences that does), its
info string names the purpose (`tool_call`, `function_call`, ...), or it ends the message after a lead-in. Otherwise it is an
example: content and a near miss. Inline code is a call only if it is the whole message.

A fence ends at a run of its character that is at least as long as the opening run. Shorter runs and the other character are
text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from keyword import iskeyword

from llmcore.normalizer.bare.statements import defines
from llmcore.normalizer.bare.verdicts import drop_echo, echoed, rest_is_blank
from llmcore.normalizer.bodies.json_bodies import swallow
from llmcore.normalizer.core.driver import Nested
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Steps, past, skip_space, wait_until_known
from llmcore.normalizer.scanning.words import CALL_FENCES, COLONS, OWN_SIGNS, STRAY_CLOSERS
from llmcore.normalizer.trust.block_quotes import in_block_quote
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.normalizer.trust.quotations import is_closed
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["back_ticks", "code_in", "fence_behind_opener", "holds_closer", "tildes", "without_code"]

_RUNS = {"`": lazy_regex(r"`+"), "~": lazy_regex(r"~+")}
_FENCE_SIGNS = ("```", "~~~")
_INFO = lazy_regex(
    r"[ \t]*+([\w+#.-]{0,32}+)(?:[ \t]++(?![=+*/%<>|&:-]{0,3}=)|(?=\{))(?:[^\n\r{\[(<]|\{[^\n\r{}:]{0,128}\}){1,256}+\r?(?=\n|\Z)"
)
"""A first line of several words, or with attributes (`json title="a"`, `python {1,3}`), that is no statement and no call.

Its first word says what the fence holds.
"""
_WORD = lazy_regex(r"[ \t]*+([\w+#.-]{0,32}+)[ \t]*+\r?(?=\n|\Z)")
_OF_TOOL = lazy_regex(r"[ \t]{0,8}(?:(?:tool|function)(?:[_-]?call)?|call)[ \t]{1,8}([^\s`:({\[]{1,128})[ \t]{0,8}\r?(?=\n)")
"""A first line with a word for calls and a name."""
_BLOCK = "labelled_block"
"""A form that its prompt asks for in fences."""
_FIRST_LINE = 400
_WORD_AND_LINE = (
    lazy_regex(r"[ \t]{0,16}[\w+#.-]{1,32}[ \t]{0,16}\r?\n"),
    lazy_regex(r"[ \t]{0,16}[\w+#.-]{0,32}[ \t]{0,16}\r?\Z"),
)
"""An info word with the end of its line, and the beginning of that at the text's end."""
_LONGEST_RUN = 64


@lru_cache(maxsize=64)
def _closers(run: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The closers of a fence with this run: for any body, and for JSON."""
    sign = f"{run[0]}{{{len(run)},256}}"
    on_its_line = rf"\n[ \t]{{0,64}}{sign}"
    if run[0] == "~":
        closer = lazy_regex(on_its_line + r"(?=[ \t\r]{0,256}(?:\n|\Z))")
        return closer, closer
    other = lazy_regex(rf"{on_its_line}|(?<!`){sign}+(?!`)(?=[ \t\r]{{0,256}}(?:\n|</|\Z))")
    json = lazy_regex(
        rf"{on_its_line}|(?<!`){sign}+(?!`)(?=[ \t\r]{{0,256}}(?:\n|\Z))"
        rf"|(?<=[\]}}])[ \t]{{0,64}}{sign}+(?!`)(?=[ \t\r]{{0,256}}</)"
    )
    return other, json


_CLOSE, _CLOSE_OF_JSON = _closers("```")
"""Before a tag, back-ticks end JSON only behind its last bracket. In a value, they belong to it (`<pre>```x```</pre>`)."""
_CODE = lazy_regex(r"`(?!`)[^`\n]++`(?!`)|```([\w+#.-]{0,32}+)[ \t]{0,16}+\n")
"""Inline code, or the first line of a fence with its info word."""
_PLAIN_CODE = lazy_regex(
    r"`(?:(?<!``)[^`\n]++`(?!`)"
    r"|(?<=\n`)``(?!(?i:tool|function))[\w+#.-]{0,32}+[ \t]{0,16}+\n(?:[^`]++|`(?!``))*+(?<=\n)```(?!`))"
)
"""Inline code, or a whole fence whose info word names no call."""
_MAY_QUOTE_CODE = lazy_regex(r">(?<![^\s>]>)[^\n`]*+`")
"""Possibly code in a line of a block quote."""
_BRACKET = lazy_regex(r"[({\[<]")
_ESCAPE = lazy_regex(r"\\[uUxN0-7_\[\]*.\-]")
"""Escapes by which a name may be written."""
_CLOSER_BLANKS = 64  # blanks before a closer that belong to it
_LONGEST_CLOSER = 640  # characters that a closer matches, including its lookahead
_SIGNS = 8  # characters at the text's end that may begin a closer
_SPACE = lazy_regex(r"\s*")
_MARKUP = lazy_regex(rf"\s*(?:[<{OWN_SIGNS}\]]|\[[A-Z_]{{4,}}\])")
_NOT_A_CALL = lazy_regex(rf"\s*(?:(?!- \w)[^\s{{\[\]<{OWN_SIGNS}'\"\w>(]|//|#|/\*)")


class Fence:
    """A fence: `start:end` with its ticks, its body `body:stop`, its info word. If the text ended first, `closed` is False."""

    __slots__ = ("body", "closed", "end", "info", "start", "stop")

    def __init__(self, start: int, body: int, stop: int, end: int, info: str, closed: bool) -> None:
        self.start, self.body, self.stop, self.end, self.info, self.closed = start, body, stop, end, info, closed


def back_ticks(reading: Reading, at: int) -> Steps[int] | int:
    """Read inline code or a fence at `at`. Returns where to go on."""
    over = _past_code(reading, at)
    return over if over > at else _back_ticks(reading, at)


def _past_code(reading: Reading, at: int) -> int:
    """Past a whole fence that names no tool, or past inline code. `at` if the code must be read more closely."""
    text = reading.src.text
    code = _CODE.match(text, at)
    if code is None or reading.opens_message(at):
        return at
    info, body = code[1], code.end()
    if info is None:  # inline code
        return body if body < len(text) and not _shows_call(reading, at + 1, body - 1) else at
    stop = text.find("```", body) - 1
    end = stop + len("\n```")
    if stop < 0 or text[stop] != "\n" or end >= len(text) or text[end] == "`" or text[at - 1] != "\n":
        return at
    if info.lower() in CALL_FENCES or is_known(info, reading.tools) or text.startswith("~~~", body):
        return at
    return at if _may_call(reading, body, stop) else end


def _may_call(reading: Reading, start: int, stop: int) -> bool:
    """Whether a body in the middle of a message may be a call. Most code is ruled out by its first character or lack of names."""
    text, names = reading.src.text, reading.names
    if names is None or not (reading.takes_calls or reading.answers) or _NOT_A_CALL.match(text, start) is not None:
        return False
    for name in names:
        if text.find(name, start, stop) >= 0:
            return True
    return _ESCAPE.search(text, start, stop) is not None or text.find('"toolCalls"', start, stop) >= 0


def _shows_call(reading: Reading, start: int, stop: int) -> bool:
    """Whether inline code, which is no call, may look like one."""
    return _BRACKET.search(reading.src.text, start, stop) is not None and _may_call(reading, start, stop)


def without_code(text: str, names: frozenset[str] | None) -> str | None:
    """The text with a quote in the place of all code, if no code calls anything. None if that is not certain.

    Code calls nothing if it names no tool and does not open the message. In a fence of tildes, back-ticks are text. A block
    quote is read by itself.
    """
    if text.lstrip().startswith("`") or "~~~" in text or _ESCAPE.search(text) is not None or '"toolCalls"' in text:
        return None
    if any(in_block_quote(text, text.rfind("\n", 0, found.start()) + 1) for found in _MAY_QUOTE_CODE.finditer(text)):
        return None
    for name in names or ():
        if name in text:
            return None
    return _PLAIN_CODE.sub("'", text)


def code_in(text: str, start: int) -> list[tuple[int, int]]:
    """The spans of inline code and whole fences from `start` on. `without_code` replaces the same spans."""
    return [found.span() for found in _PLAIN_CODE.finditer(text, start)] if text.find("`", start) >= 0 else []


def _run_end(reading: Reading, at: int) -> Steps[int]:
    """The end of the run of back-ticks or tildes at `at`."""
    src, end = reading.src, at
    run = _RUNS[src.text[at]]
    while True:
        end = past(run, src.text, end)
        if end < len(src.text) or src.final:
            return end
        yield None


def tildes(reading: Reading, at: int) -> Steps[int]:
    """Read a fence of tildes, alone on its line. Returns where to go on."""
    if reading.line_before(at, _FIRST_LINE).strip():
        return at + 1
    end = yield from _run_end(reading, at)
    return (yield from _fence(reading, at)) if end - at >= len("~~~") else end


def _back_ticks(reading: Reading, at: int) -> Steps[int]:
    src = reading.src
    length = (yield from _run_end(reading, at)) - at
    if length < 3:
        return (yield from _inline(reading, at, length))
    before = src.text[max(reading.line_start(at), reading.done) : at]
    if (
        before.strip()
        and not before.rstrip().endswith(COLONS)
        and not (yield from wait_until_known(src, _word_follows, at + length))
    ):
        return at + length
    return (yield from _fence(reading, at))


def _word_follows(text: str, at: int, final: bool) -> bool | None:
    """Whether an info word ends its line. If so, the back-ticks before it open a fence, wherever they stand in their line."""
    whole, begun = _WORD_AND_LINE
    if whole.match(text, at) is not None:
        return True
    return None if not final and begun.match(text, at) is not None else False


def _inline(reading: Reading, at: int, length: int) -> Steps[int]:
    """Read inline code, which ends at as many back-ticks as opened it, in the same paragraph."""
    src = reading.src
    start = at + length
    ticks = "`" * length
    while True:
        close = src.text.find(ticks, start)
        if src.text.find("\n\n", max(at, start - 1), close if close >= 0 else len(src.text)) >= 0:
            return at + length
        if close >= 0:
            break
        if src.final:
            return at + length
        start = max(start, len(src.text) - length)
        yield None
    whole = not reading.drafts and reading.opens_message(at)
    if whole and (yield from rest_is_blank(reading, close + length)):
        inner = reading.nest(src.text[at + length : close])
        if inner.drafts and not inner.has_content:
            reading.adopt(inner, at, close + length)
            return reading.done
    elif _shows_call(reading, at + length, close):
        inner = reading.nest(src.text[at + length : close])
        if inner.drafts:
            reading.note(at, close + length, inner.drafts[0].name, "quoted")
    return close + length


def fence_behind_opener(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a fence right behind an opener of calls.

    It is a call if its body is only calls, and if a closer or nothing follows.
    """
    start = yield from skip_space(reading.src, body)
    fence = yield from _read_fence(reading, start)
    inner = _inside(reading, fence)
    if _only_calls(inner):
        end, closed, _ = yield from swallow(reading, fence.end, STRAY_CLOSERS, extra="")
        if closed or (yield from rest_is_blank(reading, end)):
            reading.adopt(inner, at, end, "fenced_function_call")
            return True
    reading.failed(fence.end - at)
    return False


def _fence(reading: Reading, at: int) -> Steps[int]:
    """Read one fence, or several in a row."""
    group: list[tuple[Fence, Nested]] = []
    opens = reading.opens_message(at)
    position = at
    while True:
        fence = yield from _read_fence(reading, position)
        inner = _inside(reading, fence) if _worth(reading, fence, opens) else None
        if inner is None or not _only_calls(inner):
            if group:
                break
            _note_shown(reading, fence, inner)
            if inner is not None and (yield from _is_answer(reading, fence, inner, opens)):
                return fence.end
            return _explicit_none(reading, fence, opens)
        if _is_shown(inner) and not (yield from _is_all(reading, at, fence.end)):
            reading.miss(fence.start, fence.end, inner.drafts[0].name, "placeholder")
            return fence.end
        group.append((fence, inner))
        if opens or _names_itself(fence, inner):
            return (yield from _judge(reading, group, by_itself=True))
        position = yield from _next_fence(reading, fence.end)
        if position < 0:
            break
    return (yield from _judge(reading, group, by_itself=False))


def _judge(reading: Reading, group: list[tuple[Fence, Nested]], *, by_itself: bool) -> Steps[int]:
    """Enter the calls of fences in a row, or leave the fences as content.

    `by_itself`: the fence opens the message, or its info word names a call.
    """
    first, last = group[0][0], group[-1][0]
    names_itself = by_itself and _names_itself(*group[0])
    verdict = reading.verdict_at(first.start, "tag" if names_itself else "bare", fenced=not names_itself)
    shown = verdict.shown
    if not shown and verdict.quotation is not None and (yield from is_closed(reading.src, verdict.quotation, last.end)):
        shown = "quoted"
    doubt = verdict.doubt
    if not shown and not by_itself and not (yield from rest_is_blank(reading, last.end)):
        shown, doubt = ("", "fence_between_sentences") if _may_be_meant(reading, group) else ("example", "")
    if not shown and defines(reading.src.text, first.start, _called_in(reading, group)):
        shown = "example"
    if verdict.shown:
        reading.shown(last.end, verdict.shown)
    if shown or (reading.tools is None and not by_itself):
        for fence, inner in group:
            reading.miss(fence.start, fence.end, inner.drafts[0].name, shown or "tools_not_told")
        return last.end
    drafts = [draft for _, inner in group for draft in inner.drafts]
    if echoed(reading, first.start, drafts) == len(drafts):
        return drop_echo(reading, first.start, last.end)
    reading.set_verdict(replace(verdict.decided(), doubt=doubt))
    for fence, inner in group:
        _take(reading, fence, inner)
    return last.end


def _names_itself(fence: Fence, inner: Nested) -> bool:
    """Whether its info word names a call, or its form is one that prompts ask for in a fence."""
    return fence.info in CALL_FENCES or inner.drafts[0].dialect == _BLOCK


def _called_in(reading: Reading, group: list[tuple[Fence, Nested]]) -> set[str]:
    """The functions that these fences call in the notation of code."""
    text = reading.src.text
    return {
        draft.name for fence, inner in group for draft in inner.drafts if text.find(f"{draft.name}(", fence.body, fence.stop) >= 0
    }


def _may_be_meant(reading: Reading, group: list[tuple[Fence, Nested]]) -> bool:
    """Whether fences between sentences may be meant.

    They may if all their calls are of known tools, and either bare or announced by the sentence before. Other markup in a
    fence is documentation.
    """
    text, tools = reading.src.text, reading.tools
    first, last = group[0][0], group[-1][0]
    before = (
        reading.line_before(first.start, _FIRST_LINE).rstrip() or text[max(0, first.start - _FIRST_LINE) : first.start].rstrip()
    )
    alone = not before.endswith(">") and (not reading.line_before(first.start, 1).strip() or before.endswith(COLONS))
    if not alone or text[last.end : last.end + _FIRST_LINE].partition("\n")[0].strip():
        return False
    if tools is None or not all(draft.complete and is_known(draft.name, tools) for _, inner in group for draft in inner.drafts):
        return False
    if all(_holds_bare_calls(reading, fence, inner) for fence, inner in group):
        return True
    return announces(sentence_before(text, reading.text_start(), first.start))


def _holds_bare_calls(reading: Reading, fence: Fence, inner: Nested) -> bool:
    body = reading.src.text[fence.body : fence.stop]
    has_markup = _MARKUP.match(body) is not None or body.rstrip().endswith(STRAY_CLOSERS)
    return not has_markup and all(reading.is_bare(draft.dialect) for draft in inner.drafts)


def _inside(reading: Reading, fence: Fence) -> Nested:
    """The fence's body, read by itself. If the text ended inside the fence, its last line may be the name of another call."""
    text = reading.src.text[fence.body : fence.stop]
    calls, _, last = text.rpartition("\n")
    if not fence.closed and calls.strip() and (begun := last.strip()) and _begins_call(reading, begun):
        inner = reading.nest(calls)
        if _only_calls(inner):
            return replace(inner, cut=True)
    return reading.nest(text, to_end=not fence.closed)


def _begins_call(reading: Reading, written: str) -> bool:
    """Whether a Python call may begin so."""
    if "print(default_api.".startswith(written):
        return True
    name = written.removeprefix("print(").removeprefix("default_api.")
    if reading.names is not None:
        return "default_api.".startswith(name) or any(tool.startswith(name) for tool in reading.names)
    return name.replace(".", "_").isidentifier()


def _only_calls(inner: Nested) -> bool:
    """Whether the body is only calls. A ReAct step may have its thought."""
    spoken_with = all(draft.dialect == "react" for draft in inner.drafts)
    return bool(inner.drafts) and (spoken_with or not inner.has_content)


def _is_shown(inner: Nested) -> bool:
    """Whether a call in it has a placeholder."""
    return any(repair.kind == "placeholder" for draft in inner.drafts for repair in draft.repairs)


def _is_all(reading: Reading, at: int, end: int) -> Steps[bool]:
    """Whether a fence is all of the message, except one lead-in."""
    if reading.has_content() or reading.drafts or "\n" in reading.src.text[reading.done : at].strip():
        return False
    return (yield from rest_is_blank(reading, end))


def _note_shown(reading: Reading, fence: Fence, inner: Nested | None) -> None:
    """Record a near miss if a fence that calls nothing has what looks like a call."""
    body = reading.src.text[fence.body : fence.stop]
    if inner is None and body.lstrip().startswith(_FENCE_SIGNS) and any(name in body for name in reading.names or ()):
        inner = reading.nest(body)
    if inner is None or not (inner.drafts or inner.near_misses):
        return
    first = inner.drafts[0] if inner.drafts else inner.near_misses[0]
    reason = "example" if inner.drafts else inner.near_misses[0].reason
    # in code, the rest of a line is no prose
    reading.miss(fence.start, fence.end, first.name, "example" if reason == "mid_line" else reason)


def _is_answer(reading: Reading, fence: Fence, inner: Nested, opens: bool) -> Steps[bool]:
    """Read a fence that is all of the message and holds an envelope without calls: its content is the answer."""
    if not opens or inner.drafts or inner.has_content or not inner.content.strip():
        return False
    if not (yield from rest_is_blank(reading, fence.end)):
        return False
    reading.text(fence.start)
    reading.markup(fence.end)
    reading.replace(fence.start, fence.end, inner.content)
    reading.more_work(inner.needs_more_work)
    return True


def _explicit_none(reading: Reading, fence: Fence, opens: bool) -> int:
    """Read a fence with `None`, which calls nothing."""
    if opens and reading.takes_calls and reading.src.text[fence.body : fence.stop].strip() in ("None", "null", "[]"):
        reading.text(fence.start)
        reading.markup(fence.end)
    return fence.end


def _worth(reading: Reading, fence: Fence, opens: bool) -> bool:
    """Whether the body may be a call. If the tools are unknown, only a fence that opens the message, or names a call, may."""
    if reading.enveloped and opens:
        return True
    if not (reading.takes_calls or reading.answers) or len(reading.drafts) >= reading.limits.calls:
        return False
    if reading.tools is None or fence.info in CALL_FENCES:
        return (opens or fence.info in CALL_FENCES) and _NOT_A_CALL.match(reading.src.text, fence.body) is None
    return _may_call(reading, fence.body, fence.stop)


def _take(reading: Reading, fence: Fence, inner: Nested) -> None:
    dialect = None
    if fence.info in CALL_FENCES:
        dialect = "fenced_function_call"
    elif inner.drafts[0].dialect in ("bare_json", "bare_array"):
        dialect = "fenced_json"
    reading.adopt(inner, fence.start, fence.end, dialect)


def _next_fence(reading: Reading, end: int) -> Steps[int]:
    src = reading.src
    while True:
        rest = src.text[end : end + 64]
        stripped = rest.lstrip()
        if stripped.startswith(_FENCE_SIGNS):
            return end + len(rest) - len(stripped)
        if src.final or (stripped and not any(sign.startswith(stripped) for sign in _FENCE_SIGNS)) or len(rest) == 64:
            return -1
        yield None


def _closer_begun(text: str, sign: str) -> int:
    """Where a closer may have begun at the text's end."""
    tail = text[-_LONGEST_CLOSER:]
    stripped = tail.removesuffix("<").rstrip(f"{sign} \t\r")
    return len(text) - len(tail) + len(stripped) - stripped.endswith("\n")


def _blanks_before(text: str, at: int) -> int:
    """Where the blanks before `at` begin that a closer may include."""
    before = text[max(0, at - _CLOSER_BLANKS) : at]
    return at - len(before) + len(before.rstrip(" \t"))


def _first_close(text: str, start: int, closer: re.Pattern[str], run: str = "```") -> re.Match[str] | None:
    """The first closing run. `str.find` comes first, because the expression alone is slow on long code."""
    at = text.find(run, start)
    if at < 0:
        return None
    while at > start and text[at - 1] in " \t":
        at -= 1
    return closer.search(text, at - 1 if at > start else at)


def holds_closer(written: str) -> bool:
    """Whether a fence around this JSON would end inside it."""
    return _first_close(written, 0, _CLOSE_OF_JSON) is not None


def _read_fence(reading: Reading, at: int) -> Steps[Fence]:
    """Find the body and the end. The info word stands alone on the first line; a call there belongs to the body."""
    src = reading.src
    body = yield from _run_end(reading, at)
    run = src.text[at : min(body, at + _LONGEST_RUN)]
    sign, closers = run[0], _closers(run)
    while not src.final and "\n" not in src.text[body : body + _FIRST_LINE] and len(src.text) - body <= _FIRST_LINE:
        yield None
    word = _WORD.match(src.text, body, body + _FIRST_LINE)
    if word is not None and src.text[word.end() : word.end() + 1] not in ("", "\n"):
        word = None  # the line goes on beyond the searched text
    if word is None and (line := _INFO.match(src.text, body, body + _FIRST_LINE)) is not None:
        is_info = not iskeyword(line[1]) and (sign == "~" or "`" not in line[0])
        word = line if is_info else None
    info = ""
    of_tool = _OF_TOOL.match(src.text, body, body + _FIRST_LINE)
    if of_tool is not None and is_known(of_tool[1], reading.tools):
        info, body = "tool_call", of_tool.start(1)
    elif word is not None and not is_known(word[1], reading.tools):
        info, body = word[1], word.end() + (1 if word.end() < len(src.text) and src.text[word.end() - 1] != "\n" else 0)
    elif (named := re.match(r"(?:json|python|tool_code|tool_call)(?=[\s{\[])", src.text[body : body + 16])) is not None:
        info, body = named[0], body + named.end()
    search_from = max(body - 1, at + len(run))
    is_code, first = False, body

    def skim(more: str) -> bool:
        if sign in more:
            return False
        if is_code:
            reading.emit_text_to(max(body, len(src.text) - _SIGNS))
        return True

    while True:
        while src.text.endswith(sign) and not src.final:  # perhaps not all of the run
            yield None
        first = past(_SPACE, src.text, first)
        is_json = src.text.startswith(("{", "["), first)
        close = _first_close(src.text, search_from, closers[is_json], run)
        if close is not None and (src.final or src.text[close.end() : close.end() + 260].lstrip(" \t\r")):
            return Fence(at, body, max(body, close.start()), close.end(), info.lower(), True)
        if src.final:  # the text may have ended inside the closer
            return Fence(at, body, max(body, len(src.text.rstrip(sign))), len(src.text), info.lower(), False)
        if reading.listening and not is_code:
            is_code = _NOT_A_CALL.match(src.text, first) is not None
        if is_code:
            reading.emit_text_to(max(body, len(src.text) - _SIGNS))
        undecided = _closer_begun(src.text, sign) if close is None else _blanks_before(src.text, close.start())
        search_from = max(search_from, undecided)
        no_closer_begun = close is None and first < len(src.text) and not src.text.endswith((sign, "<"))
        yield skim if no_closer_begun else None
