"""MiniMax M3: elements that nest as the schema does.

A prefix before each tag delimits the markup, so it is read as it arrives. The work is linear: a search resumes where it
stopped.
"""

from __future__ import annotations

import re
from typing import Any, Final

from llmcore.normalizer.bodies.argument_stream import ArgumentStream, before_layout
from llmcore.normalizer.bodies.tagged.cdata import CDATA, joined_literals, literal_joined
from llmcore.normalizer.bodies.tagged.entries import Entries, is_whole_call
from llmcore.normalizer.bodies.tagged.raw_values import begins_indented, outdented, trimmed
from llmcore.normalizer.calls.nested_values import NestedElement, element_value
from llmcore.normalizer.core.damage.restarted_call import HOLDS_CALL, begins_line
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, as_json
from llmcore.normalizer.notations.relaxed.state import Stop
from llmcore.normalizer.scanning.source import Steps, search, skip_space, starts
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair, Safety

__all__ = ["DIALECTS"]

_REACH: Final = 512


# ---------------------------------------------------------------------- MiniMax M3

_PREFIX: Final = "]<]minimax[>["
_TAG: Final = re.compile(
    r"\]<\]minimax\[>\[<(?P<slash>/?)\s{0,16}+(?P<tag>[^\s<>/]{1,256}+)(?P<rest>[^<>]{0,300}?)(?P<empty>/?)>"
)
_TEXT_AND_CLOSER: Final = re.compile(rf"(?P<text>[^\]<]*+){re.escape(_PREFIX)}</(?P<tag>[^\s<>/]{{1,256}}+)>")
"""The content of most elements, with their closer."""
_LEAF: Final = re.compile(rf"{re.escape(_PREFIX)}<(?!invoke>)([^\s<>/]{{1,256}}+)>([^\]<]*+){re.escape(_PREFIX)}</\1>")
"""A complete element that holds text."""
_NAME: Final = lazy_regex(r"""\s*+name\s*+=\s*+["']?([^"'<>]{1,256}+)["']?\s*+\Z""")
_TAG_LENGTH: Final = 608
_FRAMES: Final = frozenset({"invoke", "tool_call"})


class _M3:
    """The arguments of one invoke while they arrive.

    `too_deep`: something was nested deeper than the limit. `again`: the next invoke began within a parameter.
    """

    __slots__ = ("again", "closed", "draft", "end", "entries", "repairs", "stream", "too_deep", "tool", "whole")

    def __init__(self, reading: Reading, draft: Draft) -> None:
        self.draft = draft
        self.tool = reading.tool(draft.name)
        self.entries = Entries(reading, self.tool)
        self.repairs = self.entries.repairs
        self.stream = ArgumentStream(reading, draft) if reading.listening else None
        self.too_deep = self.closed = self.again = False
        self.whole = True
        self.end = 0

    def store(self, key: str, value: Any, repairs: list[Repair], *, emitted_to: bool) -> None:
        if (
            self.entries.enter(key, value, repairs, value if isinstance(value, str) else None)
            and self.stream is not None
            and not emitted_to
        ):
            self.stream.whole(key, value)


def _m3_block(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a block. Its opener is markup if an invoke follows it. Invokes are read only in a block; elsewhere they are
    content."""
    start = yield from skip_space(reading.src, body)
    reading.text(at)
    reading.markup(start)
    while True:
        head = yield from _next_tag(reading, start)
        if head is None or head.start() != start:
            return True
        if head["tag"] == "tool_call" and head["slash"]:
            reading.markup(head.end())
            return True
        name = _NAME.match(head["rest"]) if head["tag"] == "invoke" and not head["slash"] else None
        if name is None:
            return True
        yield from _m3_invoke(reading, head, name[1].strip())
        start = yield from skip_space(reading.src, reading.done)
        if not (yield from _stands(reading, start)):
            return True
        reading.markup(start)


def _stands(reading: Reading, at: int) -> Steps[bool]:
    """Whether a prefixed tag stands at `at`."""
    follows = starts(_PREFIX)
    while (verdict := follows(reading.src.text, at, reading.src.final)) is None:
        yield None
    return verdict and at < len(reading.src.text) and not reading.src.text[at].isspace()


def _next_tag(reading: Reading, start: int) -> Steps[re.Match[str] | None]:
    return (yield from search(reading.src, _TAG, start, _TAG_LENGTH))


def _m3_invoke(reading: Reading, head: re.Match[str], name: str) -> Steps[None]:
    call = _M3(reading, reading.begin(head.start(), name, "minimax_m3"))
    body = position = call.end = head.end()
    while not head["empty"]:
        tag = _TAG.search(reading.src.text, position) or (yield from _next_tag(reading, position))
        stop = tag.start() if tag is not None else len(reading.src.text)
        text_end = stop if tag is not None else _tag_may_begin(reading.src.text, position)
        if junk := reading.src.text[position:text_end].strip():
            call.entries.drop(junk)
        if tag is None or call.again or (tag["tag"] in _FRAMES and (tag["slash"] or tag["tag"] == "invoke")):
            call.closed = tag is not None and tag["tag"] == "invoke" and bool(tag["slash"])
            call.end = tag.end() if tag is not None and call.closed else stop
            break
        if tag["slash"]:
            call.repairs.append(Repair(kind="extra_closer", before=tag[0], after=""))
            position = tag.end()
            continue
        key, position, empty = tag["tag"], tag.end(), bool(tag["empty"])
        tag = None  # a match keeps its text alive
        position = yield from _m3_parameter(reading, call, key, position, empty)
    _m3_finish(reading, call, body, cut=not head["empty"] and not call.closed and call.end >= len(reading.src.text))


def _m3_finish(reading: Reading, call: _M3, body: int, *, cut: bool) -> None:
    if call.stream is not None:
        call.stream.close()
    complete = not call.again and (not cut or is_whole_call(reading, call.tool, call.entries.arguments, last_closed=call.whole))
    if not call.closed and complete and reading.src.text[body : call.end]:
        call.repairs.append(Repair(kind="closer_missing"))
    most = reading.limits.repairs
    arguments = None if call.too_deep or len(call.repairs) > most else call.entries.read()
    raw = reading.src.text[body : call.end]
    sealed = call.closed and not call.entries.lost and all(repair.kind != "closer_missing" for repair in call.repairs)
    reading.end(call.draft, call.end, arguments, raw, complete=complete, repairs=call.repairs[:most], sealed=sealed)


def _m3_parameter(reading: Reading, call: _M3, key: str, start: int, empty: bool) -> Steps[int]:
    """Read the parameter whose opener ends at `start`. Returns where it ends, including its closer."""
    types = call.tool.types(key) if call.tool is not None else ()
    if empty:
        _m3_store(reading, call, NestedElement(key), emitted_to=False)
        return start
    emitted_to, closer = yield from _m3_text(reading, call, key, start, streams=types in ((), ("string",)))
    src, is_text = reading.src, types == ("string",)
    if is_text and closer is not None and closer["tag"] in _FRAMES:
        own = yield from _m3_own(reading, call, key, closer.start())
        closer = _TAG.match(src.text, closer.start() if own < 0 else own)
    while (  # in a value that is no text, a block's tag in the middle of a line is an element
        closer is not None
        and _opens_next(call, closer)
        and (is_text or closer["tag"] == "invoke")
        and not begins_line(src.text, start, closer.start())
    ):
        closer = yield from _m3_opener(reading, call, closer.end())
    stop = closer.start() if closer is not None else len(src.text)
    if closer is None or closer["slash"] or closer["tag"] == "invoke" or is_text:
        closed = closer is not None and bool(closer["slash"]) and closer["tag"] not in _FRAMES
        written = trimmed(outdented(src.text, start, src.text[start:stop], closed=closed), closed=True)
        text = joined_literals(written)
        call.repairs += literal_joined(written, text, key) if CDATA in written else ()
        if emitted_to >= 0 and call.stream is not None:
            call.stream.close_string(text[emitted_to:])
        call.whole = closer is not None
        call.again = closer is not None and _opens_next(call, closer)
        if call.again:
            call.repairs.append(Repair(kind="closer_missing", path=key, safety="truncated"))
        elif not closed or (closer is not None and closer["tag"] != key):
            safety: Safety = "lossless" if closer is not None else "truncated"
            call.repairs.append(Repair(kind="wrong_closer" if closed else "closer_missing", path=key, safety=safety))
        _m3_store(reading, call, NestedElement(key, [text]), emitted_to=emitted_to >= 0)
        return closer.end() if closed and closer is not None else stop
    if emitted_to >= 0 and call.stream is not None:
        call.stream.close_string("")
    root = NestedElement(key, [src.text[start:stop]])
    end = yield from _m3_elements(reading, call, root, closer)
    _m3_store(reading, call, root, emitted_to=emitted_to >= 0)
    return end


def _m3_own(reading: Reading, call: _M3, key: str, position: int) -> Steps[int]:
    """Where the closer of a text about calls stands, whose tags begin at `position`. -1 if the text has none.

    Complete calls may stand before it.
    """
    depth, closers, calls = 0, 0, 0
    while not reading.backtrack_budget.too_many_left_open:
        tag = _TAG.search(reading.src.text, position) or (yield from _next_tag(reading, position))
        if tag is None:
            reading.backtrack_budget.never_closed()
            break
        slash, framing = bool(tag["slash"]), tag["tag"] in _FRAMES
        if depth == 0 and not framing:
            if not slash or tag["tag"] != key:
                break
            if calls:
                call.repairs.append(Repair(kind=HOLDS_CALL, path=key, safety="guess"))
            return tag.start()
        if tag["tag"] == "invoke":
            closers += slash and depth == 0
            calls += not slash
            depth = depth + 1 if not slash else max(0, depth - 1)
            if closers and calls:  # this call's closer is followed by another call
                break
        position, tag = tag.end(), None  # a match keeps its text alive
    return -1


def _m3_opener(reading: Reading, call: _M3, position: int) -> Steps[re.Match[str] | None]:
    """The tag behind `position` that opens the next call or its block. None if there is none."""
    while (tag := (yield from _next_tag(reading, position))) is not None and not _opens_next(call, tag):
        position, tag = tag.end(), None  # a match keeps its text alive
    return tag


def _opens_next(call: _M3, tag: re.Match[str]) -> bool:
    """Whether a tag within a parameter opens the next call or its block."""
    known = call.tool is None or "tool_call" in call.tool.properties
    return not tag["slash"] and (tag["tag"] == "invoke" or (tag["tag"] == "tool_call" and not known))


def _m3_text(reading: Reading, call: _M3, key: str, start: int, *, streams: bool) -> Steps[tuple[int, re.Match[str] | None]]:
    """(how much of the text was emitted, -1 if nothing; the tag that ends the text)."""
    src = reading.src
    emitted_to = position = start
    while True:
        streams = streams and not begins_indented(src.text, start)
        tag = _TAG.search(src.text, position)
        if tag is not None or src.final:
            return emitted_to - start - _lead(src.text, start) if emitted_to > start else -1, tag
        position = max(start, len(src.text) - _TAG_LENGTH)
        if streams and call.stream is not None:
            end = before_layout(src.text, emitted_to, _before_literal(src.text, emitted_to, _tag_may_begin(src.text, emitted_to)))
            if end > emitted_to:
                if emitted_to == start:
                    call.stream.open_string(key)
                call.stream.piece(src.text[emitted_to + (_lead(src.text, start) if emitted_to == start else 0) : end])
                emitted_to = end
        yield None


def _before_literal(text: str, start: int, end: int) -> int:
    """Where a `<![CDATA[` begins, or may begin, in `start:end`. The text behind it is emitted at the end."""
    literal = text.find(CDATA[:2], start, end)
    return literal if literal >= 0 else end - text.endswith("<", start, end)


def _lead(text: str, start: int) -> int:
    """The length of the line break that belongs to the format."""
    return 2 if text.startswith("\r\n", start) else int(text.startswith("\n", start))


def _tag_may_begin(text: str, start: int) -> int:
    """Where an incomplete tag may begin at the end of the text."""
    begun = text.rfind(_PREFIX[:3], max(start, len(text) - _TAG_LENGTH))
    return begun if begun >= 0 else len(text) - (2 if text.endswith("]<") else text.endswith("]"))


def _m3_elements(reading: Reading, call: _M3, root: NestedElement, tag: re.Match[str]) -> Steps[int]:
    """Read the children of `root`, the first of which opens with `tag`. A wrong closer closes. Returns the root's end."""
    stack, most, first = [root], reading.limits.depth, tag.start()
    next_tag: re.Match[str] | None = tag
    while next_tag is not None:
        name, position = next_tag["tag"], next_tag.end()
        if next_tag["slash"]:
            depth = len(stack) - 1
            while depth >= 0 and stack[depth].tag != name:
                depth -= 1
            if depth < 0 and name in _FRAMES:
                call.repairs.append(Repair(kind="closer_missing", path=root.tag))
                return next_tag.start()
            if depth != len(stack) - 1:
                call.repairs.append(Repair(kind="wrong_closer", path=stack[-1].tag))
            del stack[depth if depth >= 0 else len(stack) - 1 :]
            if not stack:
                return position
        elif name == "invoke" and begins_line(reading.src.text, first, next_tag.start()):
            call.repairs.append(Repair(kind="closer_missing", path=root.tag, safety="truncated"))
            call.again = True
            return next_tag.start()
        else:
            child = NestedElement(name)
            stack[-1].children.append(child)
            if not next_tag["empty"] and len(stack) <= most:
                closed = _TEXT_AND_CLOSER.match(reading.src.text, position) if len(stack) < most else None
                if closed is not None and closed["tag"] == name:
                    child.texts.append(closed["text"])
                    position = closed.end()
                else:
                    stack.append(child)
        call.too_deep = call.too_deep or len(stack) > most
        next_tag = closed = None
        if len(stack) < most:
            position = _leaves(stack[-1], reading.src.text, position)
        next_tag = _TAG.search(reading.src.text, position) or (yield from _next_tag(reading, position))
        if text := reading.src.text[position : next_tag.start() if next_tag is not None else None]:
            stack[-1].texts.append(text)
    call.whole = False
    return len(reading.src.text)


def _leaves(parent: NestedElement, text: str, position: int) -> int:
    """Past the elements at `position` that hold only text, as most do. They become children of `parent`."""
    while (leaf := _LEAF.match(text, position)) is not None:
        tag, text_end = leaf.groups()
        parent.children.append(NestedElement(tag, [text_end]))
        position = leaf.end()
    return position


def _m3_store(reading: Reading, call: _M3, element: NestedElement, *, emitted_to: bool) -> None:
    schema = call.tool.properties.get(element.tag) if call.tool is not None else None
    try:
        value, repairs = element_value(element, schema, call.tool, element.tag, limits=reading.limits)
    except Stop:
        call.too_deep = True
        return
    call.store(element.tag, value, repairs, emitted_to=emitted_to)


def _m3_stray(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a closer of the block after its calls, which is markup."""
    if not reading.drafts or not reading.blank_before(at):
        return False
    reading.text(at)
    reading.markup(body)
    return True
    yield None


# ---------------------------------------------------------------------- writers and rows


def _m3_text_of(tag: str, value: Any) -> str:
    if is_object(value):
        inner = "".join(_m3_text_of(key, item) for key, item in value.items())
    elif is_list(value):
        inner = "".join(_m3_text_of("item", item) for item in value)
    else:
        inner = value if isinstance(value, str) else as_json(value)
    return f"{_PREFIX}<{tag}>{inner}{_PREFIX}</{tag}>"


def _write_m3(calls: Calls) -> str:
    invokes = "\n".join(
        f'{_PREFIX}<invoke name="{name}">' + "".join(_m3_text_of(k, v) for k, v in given.items()) + f"{_PREFIX}</invoke>"
        for name, given in calls
    )
    return f"{_PREFIX}<tool_call>\n{invokes}\n{_PREFIX}</tool_call>"


DIALECTS: Final[tuple[Dialect, ...]] = (
    Dialect(
        "minimax_m3",
        "MiniMax M3",
        _write_m3,
        (
            Marker(
                _m3_block,
                (f"{_PREFIX}<tool_call>",),
                follows=starts(f"{_PREFIX}<invoke"),
                calls=True,
                dialect="minimax_m3",
            ),
            Marker(_m3_stray, (f"{_PREFIX}</tool_call>", f"{_PREFIX}</invoke>"), calls=True, dialect="minimax_m3"),
        ),
        typed_by_schema=True,
    ),
)
