"""Harmony and the dialects that share its framing: Muse's atem and Beam.

A message is a header, `<|message|>` and a body. The header has a role, `<|channel|>` NAME, `to=RECIPIENT` and `<|constrain|>`
TYPE, in any order; its first words may stand in the prompt. The header decides what the body is:
- reasoning: channel analysis, or `to=self`;
- a call: `to=` anyone but a person;
- an echoed result: a tool's role;
- content: all else.

A call has its own header, so nothing inside reasoning or inside a message to the user is a call. The work is linear: a header
has at most `_HEADER` characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llmcore.normalizer.bodies.json_bodies import named_call
from llmcore.normalizer.bodies.sections import as_text
from llmcore.normalizer.bodies.tagged.parameters import (
    Grammar,
    finish_parameters,
    only_parameter,
    only_text_parameter,
    read_parameters,
)
from llmcore.normalizer.calls.call_objects import default_arguments
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.names import undouble
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Writer, as_json
from llmcore.normalizer.dialects.reasoning import closed_block, stop_in_message
from llmcore.normalizer.scanning.sought import tags
from llmcore.normalizer.scanning.source import Steps, past, search, skip_space, starts, wait_for, wait_until_known, wait_while
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS"]

_HEADER = 400
_WORDS = 12
_MESSAGE = "<|message|>"
_TOKENS = ("<|start|>", "<|channel|>", "<|constrain|>")
_STOPS = ("<|call|>", "<|end|>", "<|return|>", "<|eot|>", "<|eom|>", "<|im_end|>")
_OVERLAP = 16
_END = lazy_regex("|".join(map(re.escape, _STOPS)))
_END_OR_START = lazy_regex("|".join(map(re.escape, (*_STOPS, "<|start|>"))))
_END_OR_NEXT = lazy_regex(rf"{_END_OR_START.pattern}|<\|channel\|>(?=[ ]?final<\|message\|>)")
"""What may end reasoning: an end token, the next message, or the header of an answer."""

_TOKEN = lazy_regex("|".join(map(re.escape, _TOKENS)))
_START, _CHANNEL_TOKEN = "<|start|>", "<|channel|>"
_MOST_BLANKS = 64
_BLANKS = lazy_regex(rf"\s{{0,{_MOST_BLANKS}}}+")
_STOP_RUN = lazy_regex(rf"(?:\s{{0,16}}+(?:{_END.pattern})){{0,8}}+")
_WORDS_OF_HEADER = r"\s{0,64}+(?:assistant\b\s{0,16}+)?(?:to=[^\s<]{0,256}+\s{0,16}+)?"
_CHANNEL_OF_HEADER = r"<\|channel\|>\s*(?:analysis|commentary|final)\b[^<]{0,300}"
_HEADER_BEGINS = lazy_regex(
    rf"{_WORDS_OF_HEADER}(?:<\|start\|>[^<]{{0,300}}(?:{_CHANNEL_OF_HEADER})?|{_CHANNEL_OF_HEADER})"
    r"(?:<\|constrain\|>[^<]{0,64})?<\|message\|>"
)
"""A whole header: a role or a known channel, and the token before a body."""
_HEADER_INSIDE = lazy_regex(
    rf"(?:<\|start\|>[^<]{{0,300}}?(?:\bto=[^\s<]{{1,256}}\s{{0,16}}+|{_CHANNEL_OF_HEADER})|{_CHANNEL_OF_HEADER})"
    r"(?:<\|constrain\|>[^<]{0,64})?<\|message\|>"
)
"""A header that counts inside a message: it names a recipient or a known channel."""
_HEADER_BEGUN = lazy_regex(
    rf"{_WORDS_OF_HEADER}(?:<\|start\|>[^<]{{0,300}})?(?:<\|channel\|>[^<]{{0,300}})?(?:<\|constrain\|>[^<]{{0,64}})?"
    r"(?:<\|?[a-z]{0,9}\|?)?\Z|\s{0,64}+(?:assistant\s{1,16}+)?[a-z]{1,9}\Z"
)
"""The beginning of a header, or of its first words, at the text's end."""
_HEADER_CUT = lazy_regex(
    r"(?:<\|start\|>\s{0,16}\w{0,64}(?:\s{1,16}to?)?\s{0,16})?"
    r"(?:<\|channel\|>\s{0,16}\w{0,16}(?:\s{1,16}to?)?\s{0,16})?"
    r"(?:<\|constrain\|>\s{0,16}\w{0,16}\s{0,16})?(?:<\|?[a-z]{0,9}\|?)?\Z"
)
"""The beginning of a header without a recipient, which holds nothing but a header's words."""
_HEADER_WORDS = lazy_regex(rf"(?:(?:{_TOKEN.pattern})\s{{0,16}}\w{{0,16}}(?:\s{{1,16}}to=[^\s<]{{1,256}})?\s{{0,16}}){{1,8}}")
_ROLE = lazy_regex(r"<\|start\|>\s*([^\s<]*)")
_CHANNEL = lazy_regex(r"<\|channel\|>\s*([A-Za-z_]*)")
_RECIPIENT = lazy_regex(r"(?:^|[\s>])to=([^\s<]+)")
_BEFORE = lazy_regex(r"(?:\A|(?<=\s))(?:assistant\b\s*)?(?:to=[^\s<]{1,256}\s*)?\Z")

_PEOPLE = frozenset({"user", "assistant", "commentary", "all", "system", "developer"})
_NOT_THE_USER = frozenset({"system", "developer"})
_BUILT_IN = lazy_regex(r"(?:python|container|browser)(?:\.\w+)?\Z")


@dataclass(slots=True)
class _Header:
    """The text before a body. `begin:end` includes its `<|message|>`. `named`: the recipient began with `functions.`."""

    begin: int
    end: int
    role: str
    channel: str
    recipient: str
    named: bool


# ---------------------------------------------------------------------- headers

_STEP = 16


def _plausible(head: str, *, whole: bool) -> bool:
    """Whether `head` may stand between a header's first token and `<|message|>`. Not `whole`: more of it may arrive."""
    tail = -1 if whole else head.rfind("<")
    if tail >= 0 and any(token.startswith(head[tail:]) for token in (*_TOKENS, _MESSAGE)):
        head = head[:tail]
    words = _TOKEN.sub(" ", head)
    return "<" not in words and "{" not in words and "\n\n" not in words and len(words.split()) <= _WORDS


def _message_at(reading: Reading, body: int) -> Steps[int | None]:
    """Where the body begins. -1 if the text ended inside the header, None if this is no header."""
    src = reading.src
    look_at = 0
    while True:
        end = src.text.find(_MESSAGE, body, body + _HEADER)
        length = min(len(src.text) - body, _HEADER)
        if end >= 0 or src.final or length >= look_at:  # every `_STEP` characters only: text that is no header never becomes one
            look_at = length + _STEP
            if not _plausible(src.text[body : end if end >= 0 else body + _HEADER], whole=end >= 0):
                return None
        if end >= 0:
            return end + len(_MESSAGE)
        if length >= _HEADER:
            return None
        if src.final:
            return -1
        yield None


def _begin_of(reading: Reading, at: int) -> int:
    """Where the header starts. ` to=functions.f` and `assistant` may stand before its first token."""
    first = max(reading.done, at - _HEADER)
    if reading.text_kind == "reasoning":  # the text before is reasoning already
        return at
    before = reading.src.text[first:at]
    found = _BEFORE.search(before)
    if found is None or not found[0] or ("to=" not in found[0] and before[: found.start()].strip()):
        return at
    return first + found.start()


def _header_begins_before(text: str, at: int) -> bool:
    """Whether words before a first token at `at` may belong to its header. `_begin_of` decides."""
    before = text[max(0, at - _HEADER) : at].rstrip()
    return before.endswith("assistant") or "to=" in before[before.rfind(" ") + 1 :]


def _header(begin: int, end: int, text: str) -> _Header:
    role = _ROLE.search(text)
    channel = _CHANNEL.search(text)
    recipients = _RECIPIENT.findall(_TOKEN.sub(lambda token: f" {token[0]}", text))
    recipient = recipients[-1] if recipients else ""
    named = recipient.startswith("functions.") and len(recipient) > len("functions.")
    name = recipient.removeprefix("functions.") if named else recipient
    return _Header(begin, end, role[1] if role else "", channel[1].lower() if channel else "", name, named)


def _cut_header(reading: Reading, at: int) -> bool:
    """Read a header that the text's end cut off: markup and, if it has a recipient, a cut call."""
    begin = _begin_of(reading, at)
    if not reading.blank_before(begin):
        return False
    if reading.ended_by_length or "to=" in reading.src.text[begin:]:
        reading.cut_off()
    reading.text(begin)
    reading.markup(len(reading.src.text))
    return True


# ---------------------------------------------------------------------- messages


def _message(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a message from its first token on."""
    bare = reading.src.text.startswith(_MESSAGE, at)
    end = body if bare else (yield from _message_at(reading, body))
    anew = -1 if end is None else _begins_anew(reading.src.text, at, body, end)
    if end is None or anew >= 0:
        if not _begins_message(reading, at):
            return False
        if anew >= 0 or (yield from search(reading.src, _END, body, _OVERLAP)) is not None:
            return (yield from _unreadable(reading, at, body, anew))
        return False
    if (
        reading.answers
        and end >= 0
        and not _begins_message(reading, at)
        and (bare or _HEADER_INSIDE.match(reading.src.text, at) is None)
    ):
        return False
    if end < 0 and _HEADER_CUT.match(reading.src.text, at) is None and "to=" not in reading.src.text[at:]:
        if not _begins_message(reading, at):
            return False
        return (yield from _unreadable(reading, at, body, len(reading.src.text)))
    if end < 0:
        return _cut_header(reading, at)
    begin = _begin_of(reading, at)
    header = _header(begin, end, reading.src.text[begin:end])
    reading.set_addressee("")
    if header.role.startswith("functions.") or header.role == "tool":
        return (yield from _result(reading, header))
    if header.recipient == "self" or (header.channel == "analysis" and (not header.recipient or header.recipient in _PEOPLE)):
        return (yield from _thought(reading, header))
    if header.recipient in _NOT_THE_USER or header.role in _NOT_THE_USER:
        return (yield from _thought(reading, header))
    if header.recipient in _PEOPLE and not header.channel:
        return (yield from _user_message(reading, header))
    if header.recipient and header.recipient not in _PEOPLE and reading.frames_call:
        reading.frame()
        return (yield from _call(reading, header))
    return _open(reading, header)


def _begins_anew(text: str, at: int, body: int, end: int) -> int:
    """Where the header that begins at `at` begins anew, before its end; -1 if it does not. It has one channel."""
    if (start := text.rfind(_START, body, max(end, body))) >= 0:
        return start
    channel = text.rfind(_CHANNEL_TOKEN, body, max(end, body))
    return channel if channel >= 0 and text.find(_CHANNEL_TOKEN, at, channel) >= 0 else -1


def _open(reading: Reading, header: _Header, *, calls: bool = False) -> bool:
    """Classify the header as markup, and the text behind it as the answer. `calls`: it may be a call of another family."""
    reading.text(header.begin)
    reading.markup(header.end)
    reading.answer_follows()
    reading.close_reasoning()
    if header.role or header.channel or header.recipient:
        reading.frame(calls=calls)
    return True


def _close(reading: Reading, stop: re.Match[str] | None) -> bool:
    if stop is not None and stop[0] not in (_START, _CHANNEL_TOKEN):
        reading.markup(stop.end())
    return True


def _stop_counts(text: str, at: int, end: int, final: bool) -> bool | None:
    """Whether the token `at:end` inside a message ends it: a header follows, or the reply ends. None if more text decides.

    Further end tokens may follow first. So many of them, or so much white space, end the message, too.
    """
    is_start = text.startswith((_START, _CHANNEL_TOKEN), at)
    begin = at if is_start else past(_STOP_RUN, text, end)
    if _HEADER_BEGINS.match(text, begin) is not None:
        return True
    if not is_start:
        ahead = past(_BLANKS, text, begin)
        if ahead - begin == _MOST_BLANKS or _END.match(text, ahead) is not None:
            return True
    if len(text) - begin >= _HEADER or _HEADER_BEGUN.match(text, begin) is None:
        return False
    return ("<" in text[begin:] or not text[begin:].strip()) if final else None


def _unreadable(reading: Reading, at: int, body: int, anew: int) -> Steps[bool]:
    """Read a message whose header cannot be read: its tokens are markup, and its words are reasoning.

    `anew`: where the next header begins, if it begins within this one; else -1. Words of a header before it are markup, too.
    """
    text = reading.src.text
    reading.text(at)
    reading.markup(body if anew < 0 or _HEADER_WORDS.fullmatch(text, at, anew) is None else anew)
    for token in _TOKEN.finditer(text, reading.done, max(anew, body)):
        reading.take("reasoning", token.start())
        reading.markup(token.end())
    reading.frame()
    if anew >= 0:
        reading.take("reasoning", anew)
        return True
    del text
    stop = yield from closed_block(reading, "reasoning", _END_OR_NEXT, counts=_stop_counts)
    return _close(reading, stop)


def _begins_message(reading: Reading, at: int) -> bool:
    """Whether a message may begin at `at`: only markup stands before it, but no header, or an end token does."""
    before = reading.src.text[max(0, at - _HEADER) : at].rstrip()
    if not reading.blank_before(at) or before.endswith(_MESSAGE):
        return False
    return reading.opens_message(at) or before.endswith(_STOPS)


def _result(reading: Reading, header: _Header) -> Steps[bool]:
    """Read a tool's result that the model invented or repeated: markup. Calls after it are guesses."""
    stop = yield from search(reading.src, _END_OR_START, header.end, _OVERLAP)
    _open(reading, header)
    reading.markup(stop.start() if stop else len(reading.src.text))
    reading.result_follows()
    return _close(reading, stop)


def _thought(reading: Reading, header: _Header) -> Steps[bool]:
    _open(reading, header)
    stops = _END if header.recipient == "self" else _END_OR_NEXT
    stop = yield from closed_block(reading, "reasoning", stops, counts=_stop_counts)
    return _close(reading, stop)


def _user_message(reading: Reading, header: _Header) -> Steps[bool]:
    """Read a message to the user in Muse's framing. A block or header inside it is a quotation."""
    _open(reading, header)
    stop = yield from closed_block(reading, "content", _END, counts=_stop_counts)
    return _close(reading, stop)


# ---------------------------------------------------------------------- calls


def _call(reading: Reading, header: _Header) -> Steps[bool]:
    src = reading.src
    start = yield from skip_space(src, header.end)
    yield from wait_for(src, start, 2)
    name = header.recipient
    name = name if reading.known(name) else undouble(name)
    offered = reading.known(name)
    if _BUILT_IN.match(name) and not offered and not header.named:
        reading.miss(header.begin, header.end, name, "built_in")
        return (yield from _no_call(reading, header))
    if src.text.startswith("{", start):
        return (yield from named_call(reading, header.begin, name, start, "harmony", _STOPS))
    if src.text.startswith("<", start) and not src.text.startswith("<|", start):
        return (yield from _markup_call(reading, header, start, name))
    return (yield from _raw_call(reading, header, start, name))


def _no_call(reading: Reading, header: _Header) -> Steps[bool]:
    """Read a body for a recipient that is no tool. In the reasoning channel, it is reasoning."""
    return (yield from _thought(reading, header)) if header.channel == "analysis" else _open(reading, header)


def _markup_call(reading: Reading, header: _Header, start: int, name: str) -> Steps[bool]:
    """Read Beam's parameters, which belong to the header's name. The family of `invoke` reads Muse's block."""
    src = reading.src
    if not (yield from wait_until_known(src, _PARAMETER_FOLLOWS, start)):
        yield from wait_while(src, _BLOCK_BEGUN, start)
        if _BLOCK_BEGUN.match(src.text, start) is None:
            reading.set_addressee(name)
            return _open(reading, header, calls=True)
        draft = reading.begin(header.begin, name, "atem")
        reading.end(draft, len(src.text), None, src.text[start:], complete=False)
        return True
    draft = reading.begin(header.begin, name, "beam")
    found = yield from read_parameters(reading, draft, start, _BEAM)
    return finish_parameters(reading, draft, start, found)


def _raw_call(reading: Reading, header: _Header, start: int, name: str) -> Steps[bool]:
    """Read a body that is neither JSON nor markup: text for a tool with one text parameter, or nothing."""
    src = reading.src
    if not (header.named or reading.known(name)) and start < len(src.text) and not src.text.startswith("<|", start):
        reading.miss(header.begin, start, name, "no_call_object")
        return (yield from _no_call(reading, header))
    stop = yield from search(src, _END_OR_START, start, _OVERLAP)
    raw = src.text[start : stop.start() if stop else len(src.text)]
    if stop is None and not raw and not reading.known(name) and not header.named and reading.tools is not None:
        return _open(reading, header)
    draft = reading.begin(header.begin, name, "harmony")
    key = only_text_parameter(reading.tool(name))
    arguments, repairs = (default_arguments(name, reading.tools), []) if not raw.strip() else (None, [])
    if raw.strip() and key is not None:
        arguments = {key: raw}
        repairs = [only_parameter(key, raw, raw)]
    end = len(src.text) if stop is None else stop.start() if stop[0] == "<|start|>" else stop.end()
    is_whole = stop is not None and (bool(raw.strip()) or stop[0] != "<|start|>")  # otherwise the next message began too early
    if stop is not None and not is_whole:
        repairs = [Repair(kind="closer_missing", safety="truncated")]
    reading.end(draft, end, arguments, raw, complete=is_whole, repairs=repairs)
    return True


_KEY = r"""parameter\s{1,16}name\s{0,16}=\s{0,16}(?P<key>"[^"<>]{0,128}"|'[^'<>]{0,128}'|[^\s"'<>]{1,128})[^<>]{0,128}>"""
_PARAMETER_FOLLOWS = starts("<rfl:parameter")
_BLOCK_BEGUN = lazy_regex(r"<[\w:.]{0,64}(?:>\s{0,16}(?:<[^<>]{0,320})?)?\Z")
"""A block of the `invoke` family, before its first call is named."""
_STOP = (r"(?P<end><\|(?:call|end|return|eot|eom|im_end)\|>)", r"<\|start\|>")
_BEAM = Grammar(
    item=tags(rf"(?P<parameter><rfl:{_KEY})", *_STOP),
    value=tags(
        r"(?P<own></rfl:parameter>)", rf"(?P<parameter><rfl:{_KEY.replace('?P<key>', '?:')})", _STOP[0], r"(?P<again><\|start\|>)"
    ),
)


# ---------------------------------------------------------------------- reasoning that the prompt opened


def _lone_end(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<|end|><|start|>` without a header before it: the prompt opened the reasoning, so all text before is reasoning."""
    if reading.reasoning_closed or reading.nested:
        return False
    reading.withdraw(at)
    reading.markup(body)
    reading.close_reasoning()
    return True
    yield None


# ---------------------------------------------------------------------- writers and rows


def _write_harmony(calls: Calls) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{as_json(given)}<|call|>" for name, given in calls
    )


def _write_whole_header(calls: Calls) -> str:
    """Write the calls with the words that usually stand in the prompt."""
    return f"<|start|>assistant{_write_harmony(calls)}"


def _parameters(prefix: str, around: str) -> Writer:
    def write(calls: Calls) -> str:
        return "".join(
            around.format(
                name=name,
                body="".join(
                    f'<{prefix}parameter name="{k}">{gap}{as_text(v)}{gap}</{prefix}parameter>\n' for k, v in given.items()
                ),
            )
            for name, given in calls
        )

    gap = "\n" if prefix == "rfl:" else ""
    return write


_ATEM = (
    '<|start|>assistant to={name}<|message|><atem:function_calls>\n<atem:invoke name="{name}">\n{body}</atem:invoke>\n'
    "</atem:function_calls><|eom|>"
)
_RFL = "<|start|>assistant to={name}<|channel|>analysis <|constrain|>xml<|message|>{body}<|call|>"

DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "harmony",
        "gpt-oss 20B and 120B",
        _write_harmony,
        (
            Marker(_message, (*_TOKENS, _MESSAGE), frames=True),
            Marker(_lone_end, ("<|end|>",), follows=starts("<|start|>")),
            Marker(stop_in_message(_END, _stop_counts), _STOPS, order=8),
        ),
        also=(_write_whole_header,),
        whole=tuple(
            Layout(f"{start}<|channel|>commentary to=functions.$name <|constrain|>json<|message|>$args<|call|>")
            for start in ("", "<|start|>assistant")
        ),
        frames=True,
        begins_before=_header_begins_before,
    ),
    Dialect(
        "atem",
        "Muse, Muse Glimmer, MuseSpark",
        _parameters("atem:", _ATEM),
        typed_by_schema=True,
        read_by=("harmony", "anthropic_function_calls"),
        frames=True,
        begins_before=_header_begins_before,
    ),
    Dialect(
        "beam",
        "Beam",
        _parameters("rfl:", _RFL),
        typed_by_schema=True,
        read_by=("harmony",),
        whole=(
            Layout(
                "<|start|>assistant to=$name<|channel|>analysis <|constrain|>xml<|message|>$args\n<|call|>",
                body=Parameters('<rfl:parameter name="$key">\n$value\n</rfl:parameter>', "\n"),
            ),
        ),
        frames=True,
        begins_before=_header_begins_before,
    ),
)
