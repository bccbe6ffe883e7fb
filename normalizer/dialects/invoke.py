"""Elements `invoke name="..."` with `parameter name="..."` values, in any namespace and wrapper.

One grammar reads them all. The text before the tag's name tells them apart: nothing, a prefix (`antml:`, `atem:`), or bars and
a word (`｜DSML｜`). A wrapper is markup if an invoke follows it. An invoke counts without a wrapper. Closers must have the
namespace of their opener, so that a value may hold those of other namespaces.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.normalizer.bodies.json_bodies import add_calls, body_extent, swallow
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.bodies.sections import as_text, call_marker, closer_after_call
from llmcore.normalizer.bodies.tagged.elements import (
    COMMON_WORDS,
    WRAPPERS,
    ElementCall,
    may_lack_arguments,
    read_attributes,
    read_element_arguments,
)
from llmcore.normalizer.bodies.tagged.tag_attributes import LONGEST_TAG, Attributes, is_cut_tag, open_attribute, opening_tag
from llmcore.normalizer.calls.call_objects import CallObject
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.names import JUNK_LINE, is_known, undouble
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Writer, as_json
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.source import Steps, skip_space, starts, wait_for, wait_for_one, wait_until_known
from llmcore.normalizer.scanning.words import NAMING
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["DIALECTS", "WORD"]

_BARS = r"[｜|‖]{1,2}"
WORD = rf" ?{_BARS} ?(?:DSML|GCML) ?{_BARS} ?"
_SPACE = r"(?:[a-z]{1,16}:|" + WORD + r"|)"
_TAGS = (
    *("invoke", "function_call", "function", "tool_call", "tool_use", "use_tool", "call_tool", "toolcall", "api_call"),
    *sorted(COMMON_WORDS),
)
_TAG = lazy_regex(rf"""<(?P<space>{_SPACE})(?P<tag>{"|".join(_TAGS)})(?=[\sĠ]|name)(?: name="(?P<name>[^"<>&]{{1,256}}+)">)?""")
"""Its group `name` is set for a tag in the usual form, whose attributes need no parsing and hold no entity."""
_JUNK_REACH = 48
_CUT_NAME = lazy_regex(rf"""\b(?:{"|".join(NAMING)})\s{{0,4}}=\s{{0,4}}["']([^"'<>]{{1,256}})["']""")
_SHOWN_SPACE = ("Ċ", "Ġ")
"""White space as the tokenizer spells it, which some servers do not convert."""
_DIALECT_BY_SPACE = {"": "anthropic_function_calls", "steptml:": "step3", "atem:": "atem"}


def _dialect_of(space: str, tag: str, before: str) -> str:
    if tag == "function":
        return "minicpm5"
    if "DSML" in space:
        if space.endswith(" "):
            return "dsml_v41"
        return "dsml_v32" if before.rfind("function_calls>") > before.rfind("tool_calls>") else "dsml_v4"
    if "GCML" in space:
        return "gcml"
    if before.endswith("<minimax:tool_call>"):
        return "minimax_m2"
    if before.endswith("<dots_function_call>"):
        return "dots"
    return _DIALECT_BY_SPACE.get(space, "anthropic_function_calls")


def _junk_line(reading: Reading, at: int) -> int:
    """Where the line before `at` begins that is junk, -1 if it is none."""
    junk = JUNK_LINE.search(reading.src.text, max(reading.done, at - _JUNK_REACH), at)
    return -1 if junk is None else junk.start()


def _invoke(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<invoke name="f">` and its variants."""
    src = reading.src
    yield from wait_for(src, body, len("name"))
    opened = _TAG.match(src.text, at)
    if opened is None:
        return False
    space, tag, name, end = opened["space"], opened["tag"], opened["name"], opened.end()
    attributes, alone = Attributes(()), False
    opened = None  # a match keeps its text alive
    if name is None:
        head = yield from opening_tag(src, end)
        if head is None:
            return (yield from _cut_tag(reading, at, end, _dialect_of(space, tag, src.text[max(0, at - 60) : at].rstrip())))
        end, attributes, alone = head
        name = next((attributes.pop(key) for key in NAMING if key in attributes), "")
    name = name.strip()
    if not name or len(name) > reading.limits.name or name[0] == "<" or ">" in name:
        return False
    name = undouble(name) if space == "atem:" or (reading.tools is not None and name not in reading.tools) else name
    if tag in COMMON_WORDS and not is_known(name, reading.tools):
        return False
    dialect = _dialect_of(space, tag, src.text[max(0, at - 60) : at].rstrip())
    call = ElementCall(at, name, dialect, tag, space, is_distinct=tag not in COMMON_WORDS)
    call.children_of = "invoke_children" if dialect == _FIRST_ROW else dialect
    if attributes:
        read_attributes(reading, call, attributes, alone=alone)
    call.described = "description" in attributes and "description" not in call.given
    if (call.described and (alone or tag in COMMON_WORDS)) or (
        tag in COMMON_WORDS and alone and not may_lack_arguments(reading, call)
    ):
        reading.miss(at, end, name, "definition" if call.described else "no_arguments")
        return False
    if alone:
        raw = as_json(call.given) if call.given else ""
        reading.end(reading.begin(at, name, dialect, call.id), end, call.given, raw, repairs=call.repairs)
        return True
    start = yield from skip_space(src, end)
    while src.text.startswith(_SHOWN_SPACE, start):
        start = yield from skip_space(src, start + 1)
    junk = _junk_line(reading, at) if tag == "invoke" else -1
    if junk >= 0 and (yield from wait_until_known(src, starts(f"<{space}parameter"), start)):
        reading.text(junk)
        reading.markup(at)
    return (yield from read_element_arguments(reading, call, start))


def _cut_tag(reading: Reading, at: int, end: int, dialect: str) -> Steps[bool]:
    """Enter a call whose tag the text's end cut off behind the tool's name, or whose tag has an open attribute."""
    named = _CUT_NAME.search(reading.src.text, end, end + LONGEST_TAG)  # a name farther away is another tag's
    if named is None or not is_known(named[1], reading.tools):
        return False
    if not is_cut_tag(reading.src, end) and (yield from open_attribute(reading.src, at)) is None:
        return False
    text = reading.src.text
    reading.end(reading.begin(at, named[1], dialect), len(text), None, text[end:], complete=False)
    return True


# ---------------------------------------------------------------------- wrappers

_INVOKE_NEXT = lazy_regex(rf"\s*<{_SPACE}(?:invoke(?:[\s>]|name)|(?:{'|'.join(_TAGS)})\s)")


def _wrapper(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a wrapper, which is markup if an invoke follows it."""
    src = reading.src
    start = yield from skip_space(src, body)
    yield from wait_for_one(src, start, 40, ">")
    if (empty := f"</{src.text[at + 1 : body]}") and src.text.startswith(empty, start):
        reading.text(at)
        reading.markup(start + len(empty))
        return True
    if _INVOKE_NEXT.match(src.text, start) is None:
        return (yield from _name_and_fence(reading, at, start))
    if reading.has_lead:
        reading.text(at)
        reading.markup(start)
        return True
    reading.set_lead(at, start)
    took = yield from reading.marker(start)
    reading.drop_lead()
    return took


_NAME_FENCE_LENGTH = 320
_NAME_FENCE = lazy_regex(r"([^\s<>{}`]{1,256})\s*\n\s*```\w{0,12}\s*(?=\{)")


def _name_and_fence(reading: Reading, at: int, start: int) -> Steps[bool]:
    """Read a wrapper, a bare name and a JSON fence. The first fence has the arguments; a second one is an invented result."""
    src = reading.src
    if not src.text.startswith("<", at) or "DSML" not in src.text[at : at + 12]:
        return False
    reach = start + _NAME_FENCE_LENGTH
    yield from wait_for_one(src, start, _NAME_FENCE_LENGTH, "{", "<")
    head = _NAME_FENCE.match(src.text, start, reach)
    if head is None:
        return False
    body = yield from body_extent(reading, head.end(), ("```",))
    end, _, extra = yield from swallow(reading, body.end, ("```",))
    parsed = read_json(src.text[body.start : body.end], limits=reading.limits, cut=body.cut)
    value = parsed.values[0] if parsed.values else None
    arguments = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    call = CallObject(head[1], arguments, True, raw=src.text[body.start : body.end])
    add_calls(reading, (at, end), [call], "dsml_v4", complete=parsed.complete, repairs=[*parsed.repairs, *extra])
    return True


# ---------------------------------------------------------------------- writers and rows


def _writer(
    wrapper: str, space: str = "", *, typed: bool = False, call_open: str = "", call_close: str = "", gap: str = "\n"
) -> Writer:
    def parameter(key: str, value: Any) -> str:
        declared = f' string="{"true" if isinstance(value, str) else "false"}"' if typed else ""
        return f'<{space}parameter name="{key}"{declared}>{as_text(value)}</{space}parameter>'

    def write(calls: Calls) -> str:
        blocks = gap.join(
            gap.join(
                [
                    f'{call_open}<{space}invoke name="{name}">',
                    *(parameter(k, v) for k, v in given.items()),
                    f"</{space}invoke>{call_close}",
                ]
            )
            for name, given in calls
        )
        if not wrapper:
            return blocks
        return f"<{wrapper}>{gap}{blocks}{gap}</{wrapper}>"

    return write


def _write_minicpm(calls: Calls) -> str:
    return "\n".join(
        f'<function name="{name}">'
        + "".join(f'<param name="{k}"><![CDATA[{as_text(v)}]]></param>' for k, v in given.items())
        + "</function>"
        for name, given in calls
    )


def _write_children(calls: Calls) -> str:
    return "\n".join(
        f'<invoke name="{name}">\n' + "".join(f"  <{k}>{as_text(v)}</{k}>\n" for k, v in given.items()) + "</invoke>"
        for name, given in calls
    )


def _write_step3(calls: Calls) -> str:
    inner = _writer(
        "",
        "steptml:",
        gap="",
        call_open="<｜tool_call_begin｜>function<｜tool_sep｜>",
        call_close="<｜tool_call_end｜>",
    )
    return f"<｜tool_calls_begin｜>{inner(calls)}<｜tool_calls_end｜>"


_FIRST_ROW = "anthropic_function_calls"
"""Its markers read the other rows as well."""


def _row(
    name: str, models: str, write: Writer, whole: Layout, *markers: Marker, read_by: tuple[str, ...] = (_FIRST_ROW,)
) -> Dialect:
    return Dialect(name, models, write, markers, typed_by_schema=True, read_by=read_by, whole=(whole,))


def _section(wrapper: str, space: str = "", *, typed: bool = False, gap: str = "\n", later: str = "") -> Layout:
    declared = ' string="$type"' if typed else ""
    entry = Parameters(f'<{space}parameter name="$key"{declared}>$value</{space}parameter>', gap)
    call = f'<{space}invoke name="$name">{gap}$args{gap}</{space}invoke>'
    return Layout(call, f"<{wrapper}>{gap}", f"{gap}</{wrapper}>", gap, body=entry, later=later)


_STEP3 = Layout(
    '<steptml:invoke name="$name">$args</steptml:invoke>',
    "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>",
    "<｜tool_call_end｜><｜tool_calls_end｜>",
    "<｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜>",
    body=Parameters('<steptml:parameter name="$key">$value</steptml:parameter>'),
)
_MINICPM = Layout(
    '<function name="$name">$args</function>',
    body=Parameters('<param name="$key"><![CDATA[$value]]></param>', keeps=True, literal=True),
)
_CHILDREN = Layout('<invoke name="$name">\n  $args\n</invoke>', body=Parameters("<$key>$value</$key>", "\n  "))
_NAMED = rf"<{_SPACE}invoke(?=[\s]|name=)"

DIALECTS: tuple[Dialect, ...] = (
    _row(
        "anthropic_function_calls",
        "Claude through text or a gateway, models trained on its traces, prompts",
        _writer("function_calls", gap=""),
        _section("function_calls", gap=""),
        call_marker("anthropic_function_calls", _invoke, pattern=_NAMED, begins=("<invoke",)),
        call_marker("anthropic_function_calls", _invoke, "<function", order=5),
        call_marker("anthropic_function_calls", _invoke, *(f"<{tag}{space}" for tag in _TAGS[1:] for space in " \n"), order=5),
        call_marker(
            "anthropic_function_calls", _wrapper, "<function_calls>", "<tool_calls>", "<tool_call>", follows=starts("<"), order=-1
        ),
        call_marker("anthropic_function_calls", _wrapper, pattern=rf"<(?:[a-z]{{1,16}}:|{WORD}){WRAPPERS}(?:>|[｜|]>?)"),
        call_marker("anthropic_function_calls", _wrapper, "< calls>", "< tool_calls>", "< function_calls>"),
        call_marker(
            "anthropic_function_calls",
            closer_after_call,
            "</invoke>",
            "</function_calls>",
            "</parameter>",
            "</dots_function_call>",
            order=1,
        ),
        call_marker(
            "anthropic_function_calls",
            closer_after_call,
            pattern=rf"</(?:{_SPACE}| )(?:invoke|{WRAPPERS}|parameter)[｜|]?>|</dots_function_call>|</function>|</param>",
            begins=("</ calls", "</ tool", "</ function", "</invoke", "</function", "</tool", "</calls", "</param", "</dots"),
        ),
    ),
    _row("minimax_m2", "MiniMax M2, M2.5", _writer("minimax:tool_call"), _section("minimax:tool_call", later=_FIRST_ROW)),
    _row(
        "dsml_v32",
        "DeepSeek V3.2",
        _writer("｜DSML｜function_calls", "｜DSML｜", typed=True),
        _section("｜DSML｜function_calls", "｜DSML｜", typed=True, later="dsml_v4"),
    ),
    _row(
        "dsml_v4",
        "DeepSeek V4, V4-Flash",
        _writer("｜DSML｜tool_calls", "｜DSML｜", typed=True),
        _section("｜DSML｜tool_calls", "｜DSML｜", typed=True),
    ),
    _row(
        "dsml_v41",
        "DeepSeek V4.1",
        _writer("｜DSML｜ calls", "｜DSML｜ ", typed=True),
        _section("｜DSML｜ calls", "｜DSML｜ ", typed=True),
    ),
    _row(
        "gcml",
        "GigaChat 3.5",
        _writer("｜GCML｜tool_calls", "｜GCML｜", typed=True, gap=""),
        _section("｜GCML｜tool_calls", "｜GCML｜", typed=True, gap=""),
    ),
    _row(
        "dots",
        "dots",
        _writer("dots_function_call", gap=""),
        _section("dots_function_call", gap="", later=_FIRST_ROW),
        Marker(_wrapper, ("<dots_function_call>",), calls=True, dialect="dots", follows=starts("<invoke")),
        Marker(objects_reader("dots", ("</dots_function_call>",)), ("<dots_function_call>",), calls=True, dialect="dots"),
    ),
    _row("step3", "Step-3", _write_step3, _STEP3, read_by=(_FIRST_ROW, "deepseek_v3")),
    _row("minicpm5", "MiniCPM 5", _write_minicpm, _MINICPM),
    _row("invoke_children", "GLM-4.7, others imitating Claude's form", _write_children, _CHILDREN),
)
