"""Family F: `<function=NAME>` with `<parameter=KEY>` values, in `<tool_call>` or a wrapper of its own."""

from __future__ import annotations

import re

from llmcore.normalizer.bodies.elements import ElementCall, read_arguments
from llmcore.normalizer.bodies.parameters import Grammar, Peeled, finish_parameters, read_parameters, tags
from llmcore.normalizer.bodies.sections import as_text
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Dialect, Marker, Writer
from llmcore.normalizer.core.source import Steps, settle, skip_space, starts
from llmcore.normalizer.dialects.name_json import function_follows
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS"]

_NEXT_CALL = (
    r"<(?:tool_call>\s{0,16}<function=|"
    r"(?:seed:tool_call>\s{0,16}<)?function=[^<>\n]{1,256}>\s{0,16}(?:<parameter\s{0,16}=|</function>))"
)
_GRAMMAR = Grammar(
    item=tags(
        r"(?P<parameter><parameter\s{0,16}+=\s{0,16}+(?=\S)(?P<key>[^<>=\n]{1,272}+)(?:>|=|(?=\n)))",
        r"(?P<end></function>)",
        r"</?(?:seed:)?tool_call>",
        "<function=",
    ),
    value=tags(
        r"(?P<own></parameter>)",
        r"(?P<parameter><parameter\s{0,16}+=\s{0,16}+[^<>=\n]{1,272}+\s{0,16}+[>=])",
        r"(?P<end></function>)",
        r"</(?:seed:)?tool_call>",
        rf"(?P<again>{_NEXT_CALL})",
    ),
    peeled=(
        Peeled("value", re.compile(r"\s*+<value>((?:(?!</?value>).)*+)</value>\s*+", re.DOTALL), "lossless"),
        Peeled("", re.compile(r"\s*+</arg_key>\s*+(?:<arg_value>)?+(.*?)(?:</arg_value>\s*+)?+", re.DOTALL), "guess"),
    ),
)
_HEAD_LENGTH = 260
_RENAMED_LENGTH = 320
_HEAD = re.compile(r"[ \t\"']*+([^<>{}\n(=]{1,256}?)[ \t\"']*+(>|\n|(?=<))")
_NO_HEAD = frozenset("{}(=")
_ELEMENT_FOLLOWS = starts("<")
_PARAMETER_FOLLOWS = starts("<parameter", "</function>", "</tool_call>", "</seed:tool_call>")


def _follows(text: str, at: int, final: bool) -> bool | None:
    head = _HEAD.match(text, at, at + _HEAD_LENGTH)
    if head is None:
        rest = text[at : at + _HEAD_LENGTH]
        begun = len(rest) < _HEAD_LENGTH and rest.strip(" \t")[:1] not in ("{", "(") and "\n" not in rest
        return None if begun and not final else False
    verdict = _PARAMETER_FOLLOWS(text, head.end(), final)
    if verdict is False and final and head[2] == ">" and not text[head.end() :].strip():
        return True
    return verdict


def _function(reading: Reading, at: int, body: int) -> Steps[bool]:
    head = _HEAD.match(reading.src.text, body, body + _HEAD_LENGTH)
    if head is None or not head[1].strip():
        return False
    name = head[1].strip().strip("\"'")
    before = reading.src.text[max(0, at - 40) : at].rstrip()
    dialect = "seed_oss" if before.endswith("<seed:tool_call>") else "qwen3_coder"
    draft = reading.begin(at, name, dialect)
    found = yield from read_parameters(reading, draft, head.end(), _GRAMMAR)
    return finish_parameters(reading, draft, head.end(), found)


def _children(reading: Reading, at: int, body: int) -> Steps[bool]:
    """`<function=f><city>Paris</city></function>`: elements named after the arguments in place of parameters."""
    head = _HEAD.match(reading.src.text, body, body + _HEAD_LENGTH)
    if head is None or not head[1].strip():
        return False
    name = head[1].strip().strip("\"'")
    call, end = ElementCall(at, name, _FIRST_ROW, "function", told_apart=False), head.end()
    head = None  # a match keeps the text it was found in
    return (yield from read_arguments(reading, call, end))


def _children_follow(text: str, at: int, final: bool) -> bool | None:
    head = _HEAD.match(text, at, at + _HEAD_LENGTH)
    if head is not None and head[2] == ">":
        return _ELEMENT_FOLLOWS(text, head.end(), final)
    begun = head is None and len(text) - at < _HEAD_LENGTH and not final
    return None if begun and not _NO_HEAD.intersection(text[at:]) else False


def _either(text: str, at: int, final: bool) -> bool | None:
    """Parameters, or Functionary's JSON object, which its own row reads."""
    ours = _follows(text, at, final)
    if ours:
        return True
    theirs = function_follows(text, at, final)
    return theirs if theirs or ours is False else None


def _wrapper(reading: Reading, at: int, body: int) -> Steps[bool]:
    start = yield from skip_space(reading.src, body)
    while not reading.src.final and len(reading.src.text) - start < len("<function="):
        yield None
    if not (yield from settle(reading.src, _either, start + len("<function="))):
        return False
    reading.text(at)
    reading.markup(start)
    return True


_RENAMED = re.compile(r"\s*([^\s<>{}]{1,256})\s*</(?:parameter|name|function)>\s*(?=<parameter=)")


def _renamed(reading: Reading, at: int, body: int) -> Steps[bool]:
    """`<name>task</parameter><parameter=...`: the opener was renamed; a guess."""
    head = _RENAMED.match(reading.src.text, body, body + _RENAMED_LENGTH)
    if head is None:
        return False
    draft = reading.begin(at, head[1], "qwen3_coder")
    found = yield from read_parameters(reading, draft, head.end(), _GRAMMAR)
    found.repairs.append(Repair(kind="opener_renamed", before=reading.src.text[at : head.end()], after=head[1], safety="guess"))
    return finish_parameters(reading, draft, head.end(), found)


def _renamed_follows(text: str, at: int, final: bool) -> bool | None:
    if _RENAMED.match(text, at, at + _RENAMED_LENGTH):
        return True
    rest = text[at : at + _RENAMED_LENGTH]
    begun = len(rest) < _RENAMED_LENGTH and rest.count("<") < 3 and rest.strip()[:1] not in ("<", "{")
    return None if begun and not final else False


def _writer(opener: str, closer: str, gap: str) -> Writer:
    def write(calls: Calls) -> str:
        blocks = (
            f"{opener}<function={name}>{gap or ''}"
            + "".join(f"<parameter={key}>{gap}{as_text(value)}{gap}</parameter>{gap}" for key, value in given.items())
            + f"</function>{closer}"
            for name, given in calls
        )
        return "\n".join(blocks)

    return write


_FIRST_ROW = "qwen3_coder"
"""Its markers read the others as well."""


def _row(name: str, models: str, write: Writer, *markers: Marker) -> Dialect:
    return Dialect(name, models, write, markers, typed_by_schema=True, read_by=() if name == _FIRST_ROW else (_FIRST_ROW,))


DIALECTS = (
    _row(
        "qwen3_coder",
        "Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Granite thinking builds, Step-3.5, Nanbeige",
        _writer("<tool_call>\n", "\n</tool_call>", "\n"),
        Marker(
            _wrapper,
            ("<tool_call>", "<seed:tool_call>"),
            follows=starts("<function="),
            calls=True,
            dialect="qwen3_coder",
            order=-5,
        ),
        Marker(_function, ("<function=",), follows=_follows, calls=True, dialect="qwen3_coder"),
        Marker(_children, ("<function=",), follows=_children_follow, calls=True, dialect="qwen3_coder", order=1),
        Marker(_renamed, ("<name>",), follows=_renamed_follows, calls=True, dialect="qwen3_coder"),
    ),
    _row("mimo", "MiMo", _writer("<tool_call>", "</tool_call>", "")),
    _row("seed_oss", "ByteDance Seed-OSS", _writer("<seed:tool_call>\n", "\n</seed:tool_call>", "\n")),
)
