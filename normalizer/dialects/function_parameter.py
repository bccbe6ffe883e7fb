"""Elements `<function=NAME>` with `<parameter=KEY>` values, in `<tool_call>` or another wrapper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmcore.normalizer.bodies.sections import as_text, empty_call
from llmcore.normalizer.bodies.tagged.elements import ElementCall, read_element_arguments
from llmcore.normalizer.bodies.tagged.parameters import (
    Grammar,
    Peeled,
    finish_parameters,
    only_parameter,
    only_text_parameter,
    read_parameters,
)
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Writer
from llmcore.normalizer.dialects.name_json import function_follows
from llmcore.normalizer.scanning.sought import tags
from llmcore.normalizer.scanning.source import Steps, match_within, skip_space, starts, wait_for, wait_until_known
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS"]

_NEXT_CALL = (
    r"<(?:tool_call>\s{0,16}<function=|"
    r"(?:seed:tool_call>\s{0,16}<)?function=[^<>\n]{1,256}>(?=\s{0,16}(?:<parameter\s{0,16}=|</function>)))"
)
_NEXT_NAME = r"<(?:(?:seed:)?tool_call>\s{0,16}<)?function>\s{0,16}[^\s<>]{1,256}\s{0,16}</function>"
_GRAMMAR = Grammar(
    item=tags(
        r"(?P<parameter><parameter\s{0,16}+=\s{0,16}+(?=\S)(?P<key>[^<>=\n]{1,272}?)"
        r"(?:\s{1,16}value\s{0,4}=\s{0,4}(?P<given>\"[^\"<>\n]{0,512}\"|'[^'<>\n]{0,512}')\s{0,4}(?P<empty>/?)>"
        r"|>|(?<! value)=|(?=\n)))",
        r"(?P<end></function>)",
        r"</?(?:seed:)?tool_call>",
        "<function=",
        "</think>",
    ),
    value=tags(
        r"(?P<own></parameter>)",
        r"(?P<parameter><parameter\s{0,16}+=\s{0,16}+[^<>=\n]{1,272}+\s{0,16}+[>=])",
        r"(?P<end></function>)",
        r"</(?:seed:)?tool_call>",
        rf"(?P<again>{_NEXT_CALL})",
    ),
    peeled=(
        Peeled("value", lazy_regex(r"\s*+<value>((?:(?!</?value>).)*+)</value>\s*+", re.DOTALL), "lossless"),
        Peeled("", lazy_regex(r"\s*+</arg_key>\s*+(?:<arg_value>)?+(.*?)(?:</arg_value>\s*+)?+", re.DOTALL), "guess"),
    ),
)
_NAMED = r"<parameter>\s{0,16}+[^<>\s][^<>\n]{0,127}+</parameter>"
_KEY_AND_VALUE = Grammar(
    item=tags(
        r"(?P<parameter><parameter>\s{0,16}+(?P<key>[^<>\s][^<>\n]{0,127}+)</parameter>)",
        r"(?P<end></function>)",
        r"</?(?:seed:)?tool_call>",
        "<function=",
    ),
    value=tags(
        r"(?P<own></parameter>)",
        rf"(?P<parameter>{_NAMED})",
        r"(?P<end></function>)",
        r"</(?:seed:)?tool_call>",
        rf"(?P<again>{_NEXT_CALL[:-1]}|{_NEXT_NAME[1:]}))",
    ),
    known_keys=True,
)
"""`<parameter>city</parameter>`, with the value behind it."""
_HEAD_LENGTH = 260
_RENAMED_LENGTH = 320
_FIRST_KEY = lazy_regex(r"<parameter>\s{0,16}+([^<>\s][^<>\n]{0,127}+)</parameter>")
_FIRST_KEY_BEGUN = lazy_regex(
    r"<(?:p(?:a(?:r(?:a(?:m(?:e(?:t(?:er?)?)?)?)?)?)?)?)?\Z|<parameter>[^<>]{0,160}+(?:</?[a-z]{0,9})?\Z"
)
_LOST_HEAD = lazy_regex(r"function[ \t]*+=[ \t]*+[\"']?([^<>{}\n(=\"']{1,256}+)[\"']?[ \t]*+>")
_NAME_ELEMENT = lazy_regex(
    r"\s{0,16}+([^\s<>]{1,256}+)\s{0,16}+</function>(?=\s{0,16}+<parameter>\s{0,16}+([^<>\s][^<>\n]{0,127}+)</parameter>)"
)
_NAME_ELEMENT_BEGUN = lazy_regex(
    r"[^<>]{0,288}+(?:<(?:/[a-z]{0,8})?\Z|</function>\s{0,16}+(?:<[a-z]{0,9}\Z|<parameter>[^<>]{0,160}+(?:</?[a-z]{0,9})?)?)?\Z"
)
_HEAD = lazy_regex(r"[ \t\"']*+([^<>{}\n(=]{1,256}?)[ \t\"']*+(>|\n|(?=<))")
_NO_HEAD = frozenset("{}(=")
_ELEMENT_FOLLOWS = starts("<")
_PARAMETER_FOLLOWS = starts("<parameter", "</function>", "</tool_call>", "</seed:tool_call>")


def _follows(text: str, at: int, final: bool) -> bool | None:
    head = _HEAD.match(text, at, at + _HEAD_LENGTH)
    if head is None:
        rest = text[at : at + _HEAD_LENGTH]
        begun = len(rest) < _HEAD_LENGTH and rest.strip(" \t")[:1] not in ("{", "(") and "\n" not in rest
        return None if begun and not final else False
    if head[2] == ">" and head[1].rstrip().endswith("/"):
        return True
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
    end, bracket = head.end(), head[2]
    lost = [] if bracket == ">" else [Repair(kind="missing_delimiter", before=reading.src.text[at:end].strip(), after=">")]
    if head[2] == ">" and name.endswith("/"):  # the tag is all of the call
        name = name[:-1].rstrip().strip("\"'")
        return is_known(name, reading.tools) and empty_call(reading, at, end, name, dialect)
    head = None  # a match keeps its text alive
    if (yield from wait_until_known(reading.src, _attributes_follow, end)):
        return (yield from read_element_arguments(reading, ElementCall(at, name, dialect, "function", repairs=lost), end))
    return (yield from _read(reading, at, name, end, dialect, lost))


_WITH_ATTRIBUTES = lazy_regex(r"\s*+<param(?:eter)?\s+[A-Za-z]")
_WITH_ATTRIBUTES_BEGUN = lazy_regex(r"\s*+(?:<(?:p(?:a(?:r(?:a(?:m(?:e(?:t(?:er?)?)?)?\s*+)?)?)?)?)?)?\Z")


def _attributes_follow(text: str, at: int, final: bool) -> bool | None:
    """Whether a parameter follows with its name in an attribute (`<parameter name="city" ...>`)."""
    if _WITH_ATTRIBUTES.match(text, at) is not None:
        return True
    return None if not final and _WITH_ATTRIBUTES_BEGUN.match(text, at) is not None else False


def _read(reading: Reading, at: int, name: str, body: int, dialect: str, repairs: Sequence[Repair] = ()) -> Steps[bool]:
    """Read the parameters behind `body` of the call that begins at `at`. `repairs` are those of its opener."""
    key = yield from _first_key(reading, body)
    tool = reading.tool(name)
    named = key != "" and tool is not None and key in tool.properties
    draft = reading.begin(at, name, dialect)
    found = yield from read_parameters(reading, draft, body, _KEY_AND_VALUE if named else _GRAMMAR)
    found.repairs[:0] = repairs
    return finish_parameters(reading, draft, body, found)


def _first_key(reading: Reading, body: int) -> Steps[str]:
    """The key in its own element (`<parameter>city</parameter>`). "" if the first parameter has none."""
    src = reading.src
    start = yield from skip_space(src, body)
    while not src.final and _FIRST_KEY_BEGUN.match(src.text, start, start + _HEAD_LENGTH):
        yield None
    found = _FIRST_KEY.match(src.text, start)
    return "" if found is None else found[1].strip()


def _bracket_lost(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool_call>function=f>`. The name must be a tool's."""
    start = yield from skip_space(reading.src, body)
    head = yield from match_within(reading.src, _LOST_HEAD, start, _HEAD_LENGTH)
    if head is None or not is_known(head[1].strip(), reading.tools):
        return False
    name, end = head[1].strip(), head.end()
    head = None  # a match keeps its text alive
    reading.text(at)
    reading.markup(start)
    return (yield from _read(reading, start, name, end, _FIRST_ROW))


def _name_element(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<function>f</function><parameter>city</parameter>Paris</function>`. Name and key must be known."""
    head = _NAME_ELEMENT.match(reading.src.text, body)
    if head is None or not is_known(head[1], reading.tools):
        return False
    tool = reading.tool(head[1])
    if tool is None or head[2].strip() not in tool.properties:
        reading.miss(at, head.end(), head[1], "unknown_parameter")
        return False
    name, end = head[1], head.end(1)
    head = None  # a match keeps its text alive
    return (yield from _read(reading, at, name, reading.src.text.index(">", end) + 1, _FIRST_ROW))


def _name_element_follows(text: str, at: int, final: bool) -> bool | None:
    if _NAME_ELEMENT.match(text, at) is not None:
        return True
    begun = not final and len(text) - at < _RENAMED_LENGTH and _NAME_ELEMENT_BEGUN.match(text, at) is not None
    return None if begun else False


def _children(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<function=f><city>Paris</city></function>`: elements named after the arguments instead of parameters."""
    head = _HEAD.match(reading.src.text, body, body + _HEAD_LENGTH)
    if head is None or not head[1].strip():
        return False
    name = head[1].strip().strip("\"'")
    call, end = ElementCall(at, name, _FIRST_ROW, "function", is_distinct=False), head.end()
    head = None  # a match keeps its text alive
    return (yield from read_element_arguments(reading, call, end))


def _children_follow(text: str, at: int, final: bool) -> bool | None:
    head = _HEAD.match(text, at, at + _HEAD_LENGTH)
    if head is not None and head[2] == ">":
        return _ELEMENT_FOLLOWS(text, head.end(), final)
    begun = head is None and len(text) - at < _HEAD_LENGTH and not final
    return None if begun and not _NO_HEAD.intersection(text[at:]) else False


_STRAY_BODY = r"[^\s<{(\[](?:[^<]|<(?!/?\s{0,4}function)){0,512}+"
_STRAY = lazy_regex(rf"{_HEAD.pattern}(?P<body>\s*+{_STRAY_BODY})</\s{{0,4}}function\s{{0,4}}>")
_STRAY_BEGUN = lazy_regex(
    rf"(?:{_HEAD.pattern}\s*+(?:{_STRAY_BODY}(?:<(?:/\s{{0,4}})?(?:function\s{{0,4}})?)?)?|[^<>\n{{}}(=]{{0,256}})\Z"
)
_STRAY_LENGTH = 900


def _stray_follows(text: str, at: int, final: bool) -> bool | None:
    """Whether a name follows, with text instead of parameters, up to the closer."""
    if _STRAY.match(text, at) is not None:
        return True
    return None if not final and len(text) - at < _STRAY_LENGTH and _STRAY_BEGUN.match(text, at) is not None else False


def _stray_key(reading: Reading, at: int) -> str | None:
    """The one parameter that the text can belong to, or None."""
    head = _HEAD.match(reading.src.text, at, at + _HEAD_LENGTH)
    return only_text_parameter(reading.tool(head[1].strip().strip("\"'"))) if head is not None else None


def _stray(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<function=f>Paris</function>`: the text of the one parameter that it can belong to, or an unreadable call."""
    found = _STRAY.match(reading.src.text, body)
    if found is None or not is_known(name := found[1].strip().strip("\"'"), reading.tools):
        return False
    key, written, start, end = _stray_key(reading, body), found["body"], found.start("body"), found.end()
    found = None  # a match keeps its text alive
    if "<parameter" in written:  # text before a parameter
        return (yield from _read(reading, at, name, start, _FIRST_ROW))
    if key is None:
        reading.miss(at, end, name, "unreadable")
        reading.text(end)
        return True
    guess = only_parameter(key, written, written.strip())
    reading.end(reading.begin(at, name, _FIRST_ROW), end, {key: written.strip()}, written, repairs=[guess])
    return True


def _either(text: str, at: int, final: bool) -> bool | None:
    """Whether parameters follow, or Functionary's JSON object, which another row reads."""
    ours = _follows(text, at, final)
    if ours:
        return True
    theirs = function_follows(text, at, final)
    return theirs if theirs or ours is False else None


def _wrapper(reading: Reading, at: int, body: int) -> Steps[bool]:
    start = yield from skip_space(reading.src, body)
    yield from wait_for(reading.src, start, len("<function="))
    behind = start + len("<function=")
    stands = (yield from wait_until_known(reading.src, _either, behind)) or (
        _stray_key(reading, behind) is not None and (yield from wait_until_known(reading.src, _stray_follows, behind))
    )
    if not stands:
        return False
    reading.text(at)
    reading.markup(start)
    return True


_RENAMED = lazy_regex(r"\s*([^\s<>{}]{1,256})\s*</(?:parameter|name|function)>\s*(?=<parameter=)")


def _renamed(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<name>task</parameter><parameter=...`: the opener was renamed, so the call is a guess."""
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
"""Its markers read the other rows as well."""


def _row(name: str, models: str, tag: str, gap: str, *markers: Marker, dialect: str = "") -> Dialect:
    opener, closer = f"<{tag}>{gap}", f"{gap}</{tag}>"
    entry = Parameters(f"<parameter=$key>{gap}$value{gap}</parameter>", gap)
    call = f"<function=$name>{gap}$args{gap}</function>"
    return Dialect(
        name,
        models,
        _writer(opener, closer, gap),
        markers,
        typed_by_schema=True,
        read_by=() if name == _FIRST_ROW else (_FIRST_ROW,),
        whole=(Layout(call, opener, closer, body=entry, dialect=dialect),),
    )


DIALECTS: tuple[Dialect, ...] = (
    _row(
        "qwen3_coder",
        "Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Granite thinking builds, Step-3.5, Nanbeige",
        "tool_call",
        "\n",
        Marker(
            _wrapper,
            ("<tool_call>", "<seed:tool_call>"),
            follows=starts("<function="),
            calls=True,
            dialect="qwen3_coder",
            order=-5,
        ),
        Marker(_bracket_lost, ("<tool_call>", "<seed:tool_call>"), follows=starts("function"), calls=True, dialect="qwen3_coder"),
        Marker(_name_element, ("<function>",), follows=_name_element_follows, calls=True, dialect="qwen3_coder"),
        Marker(_function, ("<function=",), follows=_follows, calls=True, dialect="qwen3_coder"),
        Marker(_children, ("<function=",), follows=_children_follow, calls=True, dialect="qwen3_coder", order=1),
        Marker(_stray, ("<function=",), follows=_stray_follows, calls=True, dialect="qwen3_coder", order=8),
        Marker(_renamed, ("<name>",), follows=_renamed_follows, calls=True, dialect="qwen3_coder"),
    ),
    _row("mimo", "MiMo", "tool_call", "", dialect=_FIRST_ROW),
    _row("seed_oss", "ByteDance Seed-OSS", "seed:tool_call", "\n"),
)
