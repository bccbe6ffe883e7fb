"""Dialects that frame content, reasoning and calls with the same kind of tokens (Kimi K3, PLaMo 3, Inkling).

The frames' tokens are markup. A call has its own frame, so nothing inside a think frame is a call. The work is linear: a
frame's head has at most `_HEAD` characters.
"""

from __future__ import annotations

import re

from llmcore.normalizer.bodies.json_bodies import closing, named_call
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.bodies.tagged.entities import without_entities
from llmcore.normalizer.bodies.tagged.parameters import Grammar, finish_parameters, read_parameters
from llmcore.normalizer.calls.call_objects import default_arguments
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, as_json
from llmcore.normalizer.dialects.reasoning import closed_block, flow, stop_in_message, think
from llmcore.normalizer.scanning.sought import tags
from llmcore.normalizer.scanning.source import Steps, match_within, past, search, skip_space, wait_for_one
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS"]

_HEAD = 1024
_OVERLAP = 64
_SPACE = lazy_regex(r"\s*+")
_TOKEN = "<|"


def _ends_message(text: str, _start: int, end: int, final: bool) -> bool | None:
    """Whether an end token that ends at `end` counts: a token or the reply's end follows. None if more text decides."""
    ahead = past(_SPACE, text, end)
    if len(text) - ahead < len(_TOKEN) and _TOKEN.startswith(text[ahead:]):
        return final or None
    return text.startswith(_TOKEN, ahead)


# ---------------------------------------------------------------------- Kimi K3

_FRAMES = ("think", "response", "tools", "message", "call", "argument")
_WORD = lazy_regex(r"\s*([a-z]+)")
_ATTRIBUTE = lazy_regex(r'([A-Za-z_]+)\s*=\s*"([^"]*)"')
_THINK_END = lazy_regex(r"<\|close\|>\s{0,16}think\s{0,16}<\|sep\|>")
_RESPONSE_END = lazy_regex(r"<\|close\|>\s{0,16}response\s{0,16}<\|sep\|>")
_UNKNOWN_HEAD = lazy_regex(r"[^<>\n]{0,64}(?=<\|sep\|>)")
_UNKNOWN_END = lazy_regex(r"<\|close\|>[^<>\n]{0,64}<\|sep\|>")
_SEP = "<|sep|>"
_GAP = r"\s{0,16}"
_ARGUMENT = (
    rf'<\|open\|>{_GAP}argument\s{{1,16}}key="(?P<key>[^"\n>]{{0,128}})"'
    r'(?:\s{1,16}type="(?P<declared>[^"<>]{0,32})")?[^<>]{0,128}<\|sep\|>'
)
_UNNAMED = _ARGUMENT.replace("?P<key>", "?:").replace("?P<declared>", "?:")
_CALL_END = (
    rf"(?P<end><\|close\|>{_GAP}call{_GAP}<\|sep\|>)",
    rf"<\|open\|>{_GAP}call\s",
    rf"<\|close\|>{_GAP}(?:tools|message){_GAP}<\|sep\|>",
)
_CALL_END_IN_VALUE = (_CALL_END[0], rf"(?P<again><\|open\|>{_GAP}call\s{{1,16}}(?:tool|index)\s{{0,16}}=)", _CALL_END[2])
_KIMI_K3 = Grammar(
    item=tags(rf"(?P<parameter>{_ARGUMENT})", *_CALL_END),
    value=tags(rf"(?P<own><\|close\|>{_GAP}argument{_GAP}<\|sep\|>)", rf"(?P<parameter>{_UNNAMED})", *_CALL_END_IN_VALUE),
    cdata=False,
    keeps_line_breaks=True,
    key=without_entities,
)


def _head_end(reading: Reading, body: int) -> Steps[int]:
    """Just past the `<|sep|>` of a frame's head. -1 if this is no frame, -2 if the text ended inside the head."""
    src = reading.src
    while True:
        word = _WORD.match(src.text, body)
        inside = word is not None and word.end() == len(src.text) and any(f.startswith(word[1]) for f in _FRAMES)
        if word is not None and word[1] not in _FRAMES and not inside:
            return -1
        end = src.text.find(_SEP, body, body + _HEAD)
        if end >= 0:
            return end + len(_SEP) if word is not None and "\n\n" not in src.text[body:end] else -1
        rest = src.text[body : body + _HEAD]
        if len(rest) == _HEAD or "\n\n" in rest or (word is None and rest.strip()):
            return -1
        if src.final:
            return -2 if word is not None else -1
        yield None


def _k3_open(reading: Reading, at: int, body: int) -> Steps[bool]:
    end = yield from _head_end(reading, body)
    if end < 0:
        return _k3_cut(reading, at, body, end) or (yield from _k3_unknown(reading, at, body))
    frame = reading.src.text[body:end].split(None, 1)[0].removesuffix(_SEP)
    if frame == "call":
        return (yield from _k3_call(reading, at, body, end))
    reading.text(at)
    reading.markup(end)
    reading.frame()
    reading.answer_follows()
    reading.close_reasoning()
    if frame == "think":
        closer = yield from closed_block(reading, "reasoning", _THINK_END, overlap=_OVERLAP, counts=_ends_message)
        reading.markup(closer.end() if closer else len(reading.src.text))
    elif frame == "response" and not reading.counts_others:  # what closes is the answer, whatever it looks like
        yield from flow(reading, "content", _RESPONSE_END, overlap=_OVERLAP, counts=_ends_message)
    return True


def _k3_unknown(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a frame that has no known name, where a message may begin.

    Its tokens are markup, the words of its head are reasoning, and what it frames is content.
    """
    if not reading.opens_message(at):
        return False
    head = yield from match_within(reading.src, _UNKNOWN_HEAD, body, _OVERLAP + len(_SEP))
    if head is None:
        return False
    end, head = head.end(), None  # a match keeps its text alive
    reading.text(at)
    reading.markup(body)
    reading.take("reasoning", end)
    reading.markup(end + len(_SEP))
    reading.frame()
    closer = yield from closed_block(reading, "content", _UNKNOWN_END, overlap=_OVERLAP, counts=_ends_message)
    reading.markup(closer.end() if closer else len(reading.src.text))
    return True


def _k3_close(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the end of a frame, which is markup. If the prompt opened a think frame, all text before its end is reasoning."""
    end = yield from _head_end(reading, body)
    if end < 0:
        return _k3_cut(reading, at, body, end)
    if reading.src.text[body:end].lstrip().startswith("think") and not reading.reasoning_closed and not reading.nested:
        reading.withdraw(at)
    reading.close_reasoning()
    reading.text(at)
    reading.markup(end)
    reading.frame()
    reading.answer_follows()
    return True


def _k3_cut(reading: Reading, at: int, body: int, end: int) -> bool:
    """Read a frame's head that the text's end cut off. It is markup; a call's head is a cut call."""
    if end == -1:
        return False
    reading.text(at)
    if reading.src.text[body:].lstrip().startswith("call"):
        reading.cut_off()
    reading.markup(len(reading.src.text))
    return True


def _k3_call(reading: Reading, at: int, body: int, end: int) -> Steps[bool]:
    attributes = {key: without_entities(value) for key, value in _ATTRIBUTE.findall(reading.src.text[body:end])}
    name = attributes.get("tool", "").strip()
    if not name or len(name) > reading.limits.name or not reading.frames_call:
        return False
    reading.frame()
    draft = reading.begin(at, name, "kimi_k3")
    reading.answer_follows()
    found = yield from read_parameters(reading, draft, end, _KIMI_K3)
    return finish_parameters(reading, draft, end, found)


def _k3_type(value: object) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), ((int, float), "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def _write_k3(calls: Calls) -> str:
    from html import escape  # only here: few programs write this dialect

    blocks = "".join(
        f'<|open|>call tool="{escape(name)}" index="{n}"<|sep|>'
        + "".join(
            f'<|open|>argument key="{escape(key)}" type="{_k3_type(value)}"<|sep|>'
            f"{value if isinstance(value, str) else as_json(value)}<|close|>argument<|sep|>"
            for key, value in given.items()
        )
        + "<|close|>call<|sep|>"
        for n, (name, given) in enumerate(calls, start=1)
    )
    return f"<|open|>tools<|sep|>{blocks}<|close|>tools<|sep|><|close|>message<|sep|>"


# ---------------------------------------------------------------------- PLaMo 3

_PLAMO_NAME_END = lazy_regex(r"<\|plamo:(end_tool_name|begin_tool_arguments|end_tool_request|begin_tool_request)s?:plamo\|>")
_PLAMO_BODY = lazy_regex(
    r"\s*+(?:<\|plamo:begin_tool_arguments:plamo\|>\s*+)?(?:<\|plamo:constrain\|>\s*+\w*+\s*+)?(?:<\|plamo:msg\|>\s*+)?"
)
_PLAMO_CLOSERS = ("<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>")
_PLAMO_END = lazy_regex("|".join(map(re.escape, _PLAMO_CLOSERS)))
_PLAMO_PREAMBLE = 120


def _plamo(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    start = yield from skip_space(src, body)
    longest = start + reading.limits.name + _OVERLAP
    while (stop := _PLAMO_NAME_END.search(src.text, start, longest)) is None and not src.final and len(src.text) < longest:
        yield None
    if stop is None:
        return _plamo_cut(reading, at, longest)
    name = src.text[start : stop.start()].strip()
    if not name or len(name) > reading.limits.name:
        return False
    after = stop.end() if stop[1] == "end_tool_name" else stop.start()
    yield from wait_for_one(src, after, _PLAMO_PREAMBLE, "{")
    unnamed = () if stop[1] == "end_tool_name" else (Repair(kind="closer_missing"),)
    stop, preamble = None, _PLAMO_BODY.match(src.text, after, after + _PLAMO_PREAMBLE)  # a match keeps its text alive
    begin = preamble.end() if preamble else after
    preamble = None
    if not src.text.startswith("{", begin):
        return (yield from _plamo_odd(reading, at, begin, name))
    levels = tuple((closer,) for closer in _PLAMO_CLOSERS)
    return (yield from named_call(reading, at, name, begin, "plamo3", _PLAMO_CLOSERS, repairs=unnamed, levels=levels))


def _plamo_cut(reading: Reading, at: int, longest: int) -> bool:
    """Read a name that the text's end cut off, as markup of a call. A name that is too long is no name."""
    if len(reading.src.text) >= longest:
        return False
    reading.cut_off(at)
    return True


def _plamo_odd(reading: Reading, at: int, begin: int, name: str) -> Steps[bool]:
    """Enter a call with no object in the place of its arguments."""
    stop = yield from search(reading.src, _PLAMO_END, begin, _OVERLAP)
    raw = reading.src.text[begin : stop.start() if stop else len(reading.src.text)].strip()
    over = (len(reading.src.text), list[Repair]())
    end, missing = (yield from closing(reading, stop.start(), _PLAMO_CLOSERS)) if stop else over
    arguments = None if raw else default_arguments(name, reading.tools)
    reading.end(reading.begin(at, name, "plamo3"), end, arguments, raw, complete=stop is not None, repairs=missing)
    return True


def _frame_token(reading: Reading, at: int, body: int) -> Steps[bool]:
    reading.text(at)
    reading.markup(body)
    return True
    yield None


def _write_plamo(calls: Calls) -> str:
    def token(word: str) -> str:
        return f"<|plamo:{word}:plamo|>"

    requests = "".join(
        f"{token('begin_tool_request')}{token('begin_tool_name')}{name}{token('end_tool_name')}{token('begin_tool_arguments')}"
        f"<|plamo:constrain|>json<|plamo:msg|>{as_json(given)}{token('end_tool_arguments')}{token('end_tool_request')}"
        for name, given in calls
    )
    return f"{token('begin_tool_requests')}{requests}{token('end_tool_requests')}"


# ---------------------------------------------------------------------- Inkling

_INKLING_NAME = lazy_regex(r"\s*[^\s<>{}]{1,256}\s*(?=<\|content_)")
_INKLING_HELD = 280
_INKLING_TEXT_CALL = "<|content_invoke_tool_text|>"
_INKLING_ANSWERS = ("<|content_text|>", "<|content_tool_error|>")
_INKLING_THOUGHT = "<|content_thinking|>"
_INKLING_END = lazy_regex(r"<\|end_message\|>|(?=<\|(?:message_model|content_invoke_tool_json)\|>)")
"""What may end a message: its end token, or the next message."""
_INKLING_NEXT = lazy_regex(r"<\|message_model\|>(?:\s*[^\s<>{}]{1,256})?\s*<\|content_|<\|content_invoke_tool_json\|>\s*\{")
_INKLING_WORDS = lazy_regex(r"[^<>\n]{1,256}(?=<\|content_\w{1,32}\|>)")
_INKLING_UNKNOWN = r"<\|content_(?!model_end_sampling)\w{1,32}\|>"


def _inkling_follows(text: str, at: int, final: bool) -> bool | None:
    """Whether a call's name stands between `<|message_model|>` and its frame. None if more text is needed."""
    if _INKLING_NAME.match(text, at, at + _INKLING_HELD):
        return True
    rest = text[at : at + _INKLING_HELD]
    if final or len(rest) == _INKLING_HELD:
        return False
    word, opened, token = rest.partition("<")
    words = len(word.split())
    return None if (words == 1 or not (words or opened)) and "|content_".startswith(token[:9]) else False


def _inkling_header(reading: Reading, at: int, body: int) -> Steps[bool]:
    head = _INKLING_NAME.match(reading.src.text, body, body + _INKLING_HELD)
    reading.text(at)
    reading.markup(head.end() if head else body)
    reading.frame()
    return True
    yield None


def _inkling_frame(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the frame of an answer, of an error, of reasoning, or of a call in plain text, which other readers read."""
    opener = reading.src.text[at:body]
    reading.text(at)
    reading.markup(body)
    reading.frame(calls=opener == _INKLING_TEXT_CALL)
    if opener == _INKLING_THOUGHT:
        yield from think(reading, body, _INKLING_END, _inkling_ends)
    elif opener in _INKLING_ANSWERS and not reading.counts_others:
        stop = yield from flow(reading, "content", _INKLING_END, overlap=_OVERLAP, counts=_inkling_ends)
        reading.markup(stop.end() if stop is not None else reading.done)
    return True


def _inkling_ends(text: str, at: int, end: int, final: bool) -> bool | None:
    """Whether what stands at `at:end` inside a message ends it.

    An end token does if a token or the reply's end follows. The next message does if its header is whole.
    """
    if at < end:
        return _ends_message(text, at, end, final)
    if _INKLING_NEXT.match(text, at, at + _INKLING_HELD) is not None:
        return True
    return False if final or len(text) - at >= _INKLING_HELD else None


def _inkling_broken(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a header that names no frame: its tokens are markup, and its words are reasoning."""
    words = yield from match_within(reading.src, _INKLING_WORDS, body, _INKLING_HELD)
    reading.text(at)
    reading.markup(body)
    if words is not None:
        reading.take("reasoning", words.end())
    reading.frame()
    return True


def _inkling_unknown(reading: Reading, at: int, body: int) -> bool:
    """Read a frame that has no known name, where a message may begin. Its token is markup."""
    if not reading.opens_message(at):
        return False
    reading.text(at)
    reading.markup(body)
    reading.frame()
    return True


def _write_inkling(calls: Calls) -> str:
    return "".join(
        f"<|message_model|>{name}<|content_invoke_tool_json|>{as_json({'name': name, 'args': given})}<|end_message|>"
        for name, given in calls
    )


_PLAMO_TOKENS = (
    *(f"<|plamo:{edge}_tool_{part}:plamo|>" for edge in ("begin", "end") for part in ("requests", "request", "arguments")),
    "<|plamo:end_tool_name:plamo|>",
)

DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "kimi_k3",
        "Kimi K3",
        _write_k3,
        (
            Marker(_k3_open, ("<|open|>",), frames=True),
            Marker(stop_in_message(_RESPONSE_END, _ends_message), ("<|close|>",)),
            Marker(_k3_close, ("<|close|>",), order=1),
        ),
        typed_by_schema=True,
        whole=(
            Layout(
                '<|open|>call tool="$name" index="$index"<|sep|>$args<|close|>call<|sep|>',
                "<|open|>tools<|sep|>",
                "<|close|>tools<|sep|><|close|>message<|sep|>",
                "",
                Parameters('<|open|>argument key="$key" type="$type"<|sep|>$value<|close|>argument<|sep|>', keeps=True),
                ends_reasoning=True,
            ),
        ),
        frames=True,
    ),
    Dialect(
        "plamo3",
        "PLaMo 3",
        _write_plamo,
        (
            Marker(_plamo, ("<|plamo:begin_tool_name:plamo|>",), calls=True, dialect="plamo3"),
            Marker(_frame_token, _PLAMO_TOKENS, frames=True),
        ),
        whole=(
            Layout(
                "<|plamo:begin_tool_name:plamo|>$name<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
                "<|plamo:constrain|>json<|plamo:msg|>$args<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>",
                "<|plamo:end_tool_requests:plamo|>",
                "<|plamo:begin_tool_request:plamo|>",
            ),
        ),
    ),
    Dialect(
        "inkling",
        "Inkling",
        _write_inkling,
        (
            Marker(
                objects_reader("inkling", ("<|end_message|>",)),
                ("<|content_invoke_tool_json|>",),
                calls=True,
                dialect="inkling",
            ),
            Marker(_inkling_header, ("<|message_model|>",), follows=_inkling_follows, frames=True),
            Marker(_inkling_broken, ("<|message_model|>",), order=1),
            Marker(_inkling_frame, (_INKLING_TEXT_CALL, _INKLING_THOUGHT, *_INKLING_ANSWERS), order=1),
            Marker(stop_in_message(_INKLING_END, _ends_message), ("<|end_message|>",), order=8),
            Marker(_inkling_unknown, pattern=_INKLING_UNKNOWN, begins=("<|content_",), order=2),
        ),
        whole=(
            Layout(
                '<|content_invoke_tool_json|>{"name": "$name", "args": $args}<|end_message|>',
                "<|message_model|>$name",
            ),
        ),
        frames=True,
    ),
)
