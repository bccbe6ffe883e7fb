"""Detect a call that the text's end cut off within its opener or its name.

No reader reads such text, and it is not content. It is recognised by its parts: an opener of calls (or its beginning),
followed only by what stands before a name in some dialect. The words that may stand there come from the dialects' writers, so
a new dialect needs no change here. If prose follows an opener, the text is content.

The work is linear: the search runs once, when a text is over, over the last positions only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache

from llmcore.normalizer.bare.fences import code_in
from llmcore.normalizer.bare.verdicts import leads_in
from llmcore.normalizer.calls.call_objects import BESIDE_CALLS, CALL_KEYS, LIST_KEYS, NAME_KEYS
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import MarkerTable
from llmcore.normalizer.dialects import registry
from llmcore.normalizer.scanning.words import CALL_FENCES, ID_KEYS, OWN_SIGNS, STRAY_CLOSERS
from llmcore.normalizer.text.candidates import signs_of
from llmcore.normalizer.trust.layout import MARKS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["begun_call", "ends_in_opener", "is_plain_prose", "may_end_in_call"]

_FARTHEST = 32768  # characters at the text's end that are searched
_PLACES = 512  # the number of positions that are checked, the last ones,
_BARE = 16  # and of those that are checked for a form without a marker
_HEAD = 2048  # more characters than may stand before a name
_PARTIAL = 400  # more characters than an opener has, with its attributes
_MOST = 1 / 2  # the part of a name that identifies it,
_SURE = 2 / 3  # the part of an opener that identifies it,
_SHORT = 4  # and its least characters if a limit cut the text
_PLACE = lazy_regex(
    r"<(?![/\s\d=])|\[|\{|\](?=<\]\w{0,16}\[>\[(?!</))|```+|A(?<![^\n]A)ction:|f(?<!\wf)(?:unctools|unction call)"
)
"""Each branch begins with a fixed character, so that the expression engine skips prose."""
_BEFORE_VALUE = frozenset("\n\r \t:*_`\"'>;")
"""Characters directly before a value that begins a line or follows a lead-in or markup."""
_TOKEN = ("<|", "<｜")
"""Special tokens open no content, whatever row they belong to."""
_OPENS = lazy_regex(r"<[|｜][^<>]*(?:begin|start|sep|_model)")
_OPENS_PART = lazy_regex(r"<\|open\|>[^>]{0,64}(?:<\|sep\|>)?\Z")
"""Special tokens that need more text behind them: openers of messages and of calls."""
_MESSAGE = "<|message_model|>"
"""A call's name stands behind this token."""
_BEFORE_NAME = "\"'=>]:\n.|｜"
_TAG = lazy_regex(r"<([\w:.-]+)")
_WORD = lazy_regex(r"\w[\w.\-]*+")
_SPOKEN = lazy_regex(r"\w[.,;!?]?[ \t]+\w+[.,;!?]?[ \t]+\w")
"""Three words in a row: prose."""
_SIGN = lazy_regex(r"[|｜‖_:=▁]")
"""Characters that neither prose nor HTML has in such a short tag."""
_BRACKETS = lazy_regex(r'"(?:[^"\\]|\\.)*+(?:"|(?P<open>\Z))|[\[{(]|[\]})]', re.DOTALL)
_NAMED = lazy_regex(
    r"""["'](?:name|tool_name|function|tool|tool_call|recipient_name|function_name|toolName|functionName|action)["']\s*+:\s*+"""
    r"""["'](?P<name>[\w.\-:]*)(?P<end>["']|\Z)"""
)
_FIRST_KEY = lazy_regex(r"""[\s\[{]*+["'](?P<key>[\w.\-]+)(?P<end>["']|\Z)""")
_KEY = lazy_regex(r"""["'](\w+)["']\s*+:""")
_LAST_KEY = lazy_regex(r"""[{,]\s*+["'](?P<key>\w*)(?P<end>["']\s*+(?::\s*+["']?)?)?\Z""")
"""A key at the text's end, whole or cut: its value has not begun."""
_CALLING_KEYS = frozenset((*NAME_KEYS, *LIST_KEYS, "function_call", "functionCall", "toolUse"))
_LEAST_KEY = 3  # least characters of a cut key
_BESIDE_NAME = frozenset((*BESIDE_CALLS, *ID_KEYS))
_CERTAIN_KEY = lazy_regex(r"""["'](?:toolCalls|tool_calls|tool_uses|function_call|functionCall|toolUse)["']\s*+(?::|\Z)""")
_PYTHON = lazy_regex(r"[\s\[\"']*(?:print\(|Calling tool:\s*+)?(?P<name>(?:default_api\.)?[\w.]*)\(?\Z")
_FENCED_STEP = lazy_regex(r"Action:[ \t]*+`{1,2}\Z|Action:\s*+```\w*+(?:\s*\n(?P<body>.*))?\Z", re.DOTALL)
_STEP_CUT = lazy_regex(r"Action:?[ \t]*+\Z|Acti?o?\Z")
_THOUGHT = lazy_regex(r"^[ \t]*+Thought:", re.MULTILINE)
_STEP = lazy_regex(r"Action:[ \t]*+(?P<name>[\w.\-]+)(?P<end>[ \t]*+\n(?P<input>[A-Za-z: ]{0,13}))?\Z")
_CLOSER_BEGUN = lazy_regex(r"</?[\w:.|｜]{0,64}\Z")
_FENCE = lazy_regex(r"(?:(?<=\n)|\A)[ \t]*+(`{3,})")
_INFO = lazy_regex(r"`{3,}[ \t]*+(?P<info>[\w+#.-]*+)[ \t]*+(?:\r?\n|\Z)")


_TAG_MAY_BE_BEGUN = lazy_regex(r"</?[\w:.|｜‖-]")
_FUNCTION_MAY_BE_BEGUN = lazy_regex(r"func(?<!\wfunc)")


def may_end_in_call(text: str) -> bool:
    """Whether `begun_call` may find a call at the end of a text without candidates. If so, the engine must read the text."""
    rest = text[max(0, len(text) - _HEAD, text.rfind("<"), text.rfind(">") + 1) :]
    tag = rest[:1] == "<" and _TAG_MAY_BE_BEGUN.match(rest) is not None
    return tag or ("func" in rest and _FUNCTION_MAY_BE_BEGUN.search(rest) is not None)


def is_plain_prose(text: str) -> bool:
    """Whether a text behind a call certainly begins no other call."""
    return _SPOKEN.search(text) is not None


@cache
def _vocabulary() -> frozenset[str]:
    """All words of a written call, except its name and its arguments."""
    words: set[str] = set(CALL_KEYS)
    for row in registry.DIALECTS.values():
        words.update(_WORD.findall(row.write([("\x00", {"\x00": "\x00"})])))
    return frozenset(word for word in words if len(word) > 1)


def begun_call(reading: Reading, table: MarkerTable) -> int:
    """Where, in the unclassified text, a call begins that the text's end cut off; -1 if none does.

    In the answer of a framed reply, only a frame can begin.
    """
    text, done = reading.src.text, reading.done
    if reading.answers and not reading.takes_calls and not text.endswith(_MESSAGE, 0, done):
        return _cut_frame(reading, table)
    if not (reading.takes_calls or reading.answers) or reading.text_kind != "content" or done >= len(text):
        return -1
    start = max(done, len(text) - _FARTHEST)
    places = [found.start() for found in _PLACE.finditer(text, start)][-_PLACES:]
    behind = text[done:].strip()
    first = _WORD.search(behind)
    cut = reading.ended_by_length and reading.names is not None
    if reading.drafts and reading.drafts[-1].dialect == "name_line_tags" and is_known(behind.removesuffix(":"), reading.tools):
        return -1  # a name alone is no call of that form
    telling = first is not None and (is_known(first[0], reading.tools) or cut or "<|" in behind)
    if telling and _behind_markup(reading, done) and _is_head(reading, behind):
        return done
    fences = [found.start(1) for found in _FENCE.finditer(text, done)] if text.find("```", done) >= 0 else []
    code, bracket = code_in(text, done), signs_of(reading.names, table).any
    bare = 0
    for at in places:
        if text[at] in "[{" and at > done:
            if text[at - 1] not in _BEFORE_VALUE and not table.may_open(text, at):
                continue
            if bracket.match(text, at) is None:  # no call may begin there
                continue
        if _is_within(code, at):
            continue
        within = bisect_left(fences, at)
        if within % 2:  # in a fence
            continue
        if within == len(fences) - 1 and at == fences[within]:  # the fence is open at the end of the text
            if _starts_line(reading, at) and _fenced(reading, table, at):
                return at
            break
        end = _opener_end(reading, table, at)
        if end < 0:
            bare += 1
            if text[at] == "<" or bare > _BARE or not _starts_line(reading, at):
                continue
        if not _is_quoted(reading, at) and _begins(reading, at, end):
            return at
    return _cut_opener(reading, table, code) if (step := _cut_step(reading)) < 0 else step


def ends_in_opener(reading: Reading, table: MarkerTable) -> bool:
    """Whether a limit cut the text right behind a marker that opens something, and no call follows."""
    if not reading.ended_by_length or reading.drafts or not reading.pieces or reading.pieces[-1][2] != "markup":
        return False
    if reading.src.text[reading.done :].strip():
        return False
    text = reading.src.text.rstrip()
    at = max(text.rfind("<", reading.pieces[-1][0]), text.rfind("[", reading.pieces[-1][0]))
    found = table.match(text, at) if at >= 0 and not text.startswith(("</", "[/"), at) else None
    opens = found is not None and (any(row.calls for row in found[1]) or _OPENS.match(text, at) is not None)
    return (reading.takes_calls or reading.answers) and (opens or _OPENS_PART.search(text[-_PARTIAL:]) is not None)


def _cut_frame(reading: Reading, table: MarkerTable) -> int:
    """Where a frame, or a form that counts in an answer, begins that the text's end cut off; -1 if none does."""
    text, done = reading.src.text, reading.done
    if reading.text_kind != "content" or done >= len(text):
        return -1
    at = text.rfind("<|", max(done, len(text) - _HEAD))
    found = table.match(text, at) if at >= 0 else None
    if found is not None and not _is_quoted(reading, at):
        counts = found[0] == len(text) or any(row.frames or row.dialect in reading.counted for row in found[1])
        return at if counts and _begins(reading, at, found[0]) else -1
    at = _cut_opener(reading, table, ())
    return at if at >= 0 and (text.startswith("<|", at) or text.endswith("<")) else -1


# --- where ------------------------------------------------------------------------------------------------------------


def _behind_markup(reading: Reading, at: int) -> bool:
    """Whether only white space stands between a call or a marker and `at`."""
    pieces = reading.pieces
    return bool(pieces) and pieces[-1][2] in ("call", "markup") and not reading.src.text[reading.done : at].strip()


def _is_within(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether `at` stands in one of these spans, which are in order."""
    k = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return k >= 0 and at < spans[k][1]


def _is_quoted(reading: Reading, at: int) -> bool:
    """Whether `at` stands in quotation marks, in code, or in a block quote."""
    before = reading.line_before(at, _PARTIAL)
    stripped = before.strip("`\"' \t")
    return before.startswith(">") or (bool(stripped) and before[-1:] in ("`", '"', "'", "("))


def _starts_line(reading: Reading, at: int) -> bool:
    """Whether `at` stands at a line's start, behind a lead-in or behind markup."""
    return leads_in(reading.line_before(at, _PARTIAL)) or _behind_markup(reading, at)


def _may_be_cut_off(reading: Reading, at: int) -> bool:
    """Whether an opener may be cut off at `at`. If a limit cut the text, it may be anywhere except in a quotation."""
    return (reading.ended_by_length or _starts_line(reading, at)) and not _is_quoted(reading, at)


# --- what -------------------------------------------------------------------------------------------------------------


def _opener_end(reading: Reading, table: MarkerTable, at: int) -> int:
    """Where the opener of a call, or the special token, at `at` ends; -1 if none stands there."""
    text = reading.src.text
    found = table.match(text, at)
    names_known = reading.names is not None
    if found is None or not (
        any(row.calls and (names_known or not row.by_name) for row in found[1]) or text.startswith(_TOKEN, at)
    ):
        found = table.match_tool_tag(text, at, reading.names)
    return -1 if found is None else found[0]


def _begins(reading: Reading, at: int, end: int) -> bool:
    """Whether the rest of the text from `at` on is the head of a call. `end` is the opener's end, -1 if there is no opener."""
    text = reading.src.text
    if end < 0:
        within = _depth(text[max(reading.done, at - _HEAD) : at]) > 0  # in other JSON, whose keys are not a call's
        return _is_bare_head(reading, text[at:]) if not within else _is_bare_call(reading, text[at:])
    rest = text[end:]
    if not (reading.ended_by_length or _starts_line(reading, at)):
        return _is_open_json(rest)  # prose does not go on like that
    return not _is_closed(reading, text, at, rest) and _is_head(reading, rest, text[end - 1])


def _is_closed(reading: Reading, text: str, at: int, rest: str) -> bool:
    """Whether the tag at `at` is closed again, and no tool is named in it."""
    name = _TAG.match(text, at)
    if name is None:
        return any(closer in rest for closer in STRAY_CLOSERS)
    named = rest.partition("<")[0].strip()
    return text.endswith("/>") or (f"</{name[1]}" in rest and not is_known(named, reading.tools))


def _is_head(reading: Reading, rest: str, last_before: str = "") -> bool:
    """Whether `rest` is what stands before a call's name, behind an opener that ends in `last_before`."""
    if _is_open_json(rest):
        return True
    brace = rest.find("{")
    if brace >= 0 and not _is_open(rest[brace:]):
        return False
    if len(rest) > _HEAD or _SPOKEN.search(re.sub(r"<[^<>]*>|\"[^\"]*\"", "", rest)):
        return False
    words = _vocabulary()
    strange = 0
    for found in _WORD.finditer(rest):
        word, last = found[0], found.end() == len(rest)
        if word in words or word.isdigit() or is_known(word, reading.tools):
            continue
        if last and _is_called(reading, word):
            continue
        if last and (any(one.startswith(word) for one in words) or (reading.names is not None and _is_prefix(reading, word))):
            continue
        strange += 1
        before = rest[found.start() - 1] if found.start() else last_before
        if reading.names is not None or strange > 1 or before not in _BEFORE_NAME:  # an unknown tool has any name
            return False
    return True


def _is_bare_head(reading: Reading, rest: str) -> bool:
    """Whether `rest` is a bare call of a known tool that ends before its arguments."""
    if rest.startswith("Action:"):
        step, cut = _STEP.match(rest), reading.ended_by_length and reading.names is not None
        if cut and _STEP_CUT.match(rest) is not None:
            return True
        fenced = _FENCED_STEP.match(rest) if cut else None
        if fenced is not None:
            body = (fenced["body"] or "").strip()
            return not body.strip("[{\"' \r\n") or _is_bare_head(reading, body)
        if step is None:
            return False
        name = step["name"]
        ends = step["end"] is not None and "Action Input:".startswith(step["input"])
        return ends and is_known(name, reading.tools) is not False if step["end"] else _is_prefix(reading, name)
    if rest.startswith(("{", "[")) and _is_open(rest) and _ends_before_name(reading, rest):
        return True
    return _is_bare_call(reading, rest)


def _is_bare_call(reading: Reading, rest: str) -> bool:
    """Whether `rest` is the beginning of a bare call in JSON or Python, with more than a key."""
    if rest.startswith(("{", "[")) and _is_open(rest):
        first = _FIRST_KEY.match(rest)
        if _CERTAIN_KEY.search(rest):
            return True
        if first is not None and reading.tools is not None and _is_most(reading, first["key"], whole=bool(first["end"])):
            return True
        named = _NAMED.search(rest)
        if named is not None and reading.tools is not None:
            name = named["name"]
            return is_known(name, reading.tools) if named["end"] else bool(name) and _is_prefix(reading, name)
        if rest.startswith("["):
            return _is_python_head(reading, rest)
    return False


def _ends_before_name(reading: Reading, rest: str) -> bool:
    """Whether a limit cut a bare call behind or within the key of its name. Its other keys must be a call's."""
    found = _LAST_KEY.search(rest) if reading.ended_by_length and reading.names is not None else None
    if found is None or any(key not in _BESIDE_NAME and key not in _CALLING_KEYS for key in _KEY.findall(rest)):
        return False
    key = found["key"]
    if found["end"] is not None:
        return key in _CALLING_KEYS
    return len(key) >= _LEAST_KEY and any(one.startswith(key) for one in _CALLING_KEYS)


def _is_called(reading: Reading, word: str) -> bool:
    """Whether `word` is a known tool's name and the beginning of its method: `search.ca`, of `search.call(...)`."""
    name, dot, method = word.rpartition(".")
    return bool(dot) and is_known(name, reading.tools) is True and "call".startswith(method)


def _is_python_head(reading: Reading, rest: str) -> bool:
    """Whether `rest` is the beginning of a Python call. Its name is complete or, if a limit cut the text, mostly there."""
    found = _PYTHON.match(rest)
    if found is None or reading.names is None or not found["name"]:
        return False
    name = found["name"].removeprefix("default_api.")
    return not name or _is_most(reading, name, whole=False)


def _is_most(reading: Reading, name: str, *, whole: bool) -> bool:
    """Whether `name` is a known tool's name or, if a limit cut the text, most of one."""
    if is_known(name, reading.tools):
        return True
    cut = reading.ended_by_length and not whole
    return cut and any(one.startswith(name) and len(name) >= _MOST * len(one) for one in reading.names or ())


def _fenced(reading: Reading, table: MarkerTable, at: int) -> bool:
    """Whether an open fence holds only the head of a call."""
    text = reading.src.text
    found = _INFO.match(text, at)
    if found is None:
        return False
    body = text[found.end() :].lstrip()
    info = found["info"].lower()
    cut = reading.ended_by_length and reading.names is not None and found.end() == len(text) and len(info) >= _SHORT
    if cut and not text.endswith("\n") and any(one.startswith(info) for one in (*CALL_FENCES, "tool_code")):
        return True
    if info in CALL_FENCES or found["info"] == "tool_code":
        return _is_head(reading, body)
    inner = found.end() + len(text[found.end() :]) - len(body)
    return bool(body) and (_begins(reading, inner, _opener_end(reading, table, inner)) or _is_python_head(reading, body))


def _cut_opener(reading: Reading, table: MarkerTable, code: Sequence[tuple[int, int]]) -> int:
    """Where an incomplete opener begins, or -1.

    Behind a call or a marker, any beginning of an opener counts. Elsewhere, it must be long enough to be nothing else.
    """
    text, done = reading.src.text, reading.done
    start = max(done, len(text) - _PARTIAL)
    tags = [f"<{name}>" for name in reading.names or ()]
    for found in re.finditer(rf"[<\[\]{OWN_SIGNS}`]|\bf", text[start:]):
        at = start + found.start()
        begun = text[at:].rstrip()
        behind = _behind_markup(reading, at)
        if behind and reading.ended_by_length and (_CLOSER_BEGUN.match(begun) or begun in ("[", "]", "`", "``")):
            return at
        if not (table.is_begun(begun) or any(tag.startswith(begun) for tag in tags)):
            continue
        if _is_within(code, at):
            continue
        if behind:
            if len(begun) > 1:
                return at
        elif not begun.startswith("</") and _may_be_cut_off(reading, at) and _is_sure(reading, table, begun, tags):
            return at
    return -1


def _cut_step(reading: Reading) -> int:
    """Where a limit cut `Action:` itself, behind a thought; -1 if it did not."""
    text = reading.src.text
    at = text.rfind("\n", reading.done) + 1
    if not reading.ended_by_length or reading.names is None or at <= reading.done or not text.startswith("Act", at):
        return -1
    return at if _STEP_CUT.match(text, at) is not None and _THOUGHT.search(text[max(0, at - _HEAD) : at]) is not None else -1


def _is_sure(reading: Reading, table: MarkerTable, begun: str, tags: list[str]) -> bool:
    openers = [*table.literals, *tags]
    if len(begun) > 1 and begun[0] in MARKS and (_SIGN.search(begun) or (reading.ended_by_length and len(begun) >= _SHORT)):
        return True
    return any(one.startswith(begun) and len(begun) >= _SURE * len(one) for one in openers)


# --- parts ------------------------------------------------------------------------------------------------------------


def _is_prefix(reading: Reading, word: str) -> bool:
    """Whether a known tool's name may begin so, with a dialect's prefix. If the tools are unknown, any name may."""
    if reading.names is None:
        return True
    bare = word.rpartition(".")[2] or word
    return any(name.startswith((word, bare)) for name in reading.names)


def _is_open_json(rest: str) -> bool:
    return rest.lstrip().startswith(("{", "[")) and '"' in rest and _is_open(rest)


def _depth(text: str) -> int:
    """The number of open brackets at the end of the text. Brackets in strings are ignored."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        depth = depth + 1 if found[0] in ("{", "[", "(") else max(0, depth - 1) if found[0] in ("}", "]", ")") else depth
    return depth


def _is_open(text: str) -> bool:
    """Whether the text ends inside its first value."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        mark = found[0]
        if found["open"] is not None:
            return True
        if mark in ("{", "[", "("):
            depth += 1
        elif mark in ("}", "]", ")"):
            depth -= 1
            if depth <= 0:
                return False
    return depth > 0
