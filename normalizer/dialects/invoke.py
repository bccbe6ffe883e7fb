"""Family E: `invoke name="..."` with `parameter name="..."` values, in any namespace and wrapper.

One grammar serves all, told apart by what stands before the tag's name: nothing, a prefix (`antml:`, `atem:`), or bars and a
word (`｜DSML｜`). A wrapper is markup when an invoke follows it; an invoke counts without one. Closers must carry the
namespace of their opener, so that a value may hold the others'.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from llmcore.normalizer.bodies import add_calls, body_extent, swallow
from llmcore.normalizer.call_objects import CallObject
from llmcore.normalizer.dialects.json_wrapped import objects_reader
from llmcore.normalizer.markers import as_text, call_marker, closer_after_call
from llmcore.normalizer.names import undouble
from llmcore.normalizer.parameters import Grammar, finish_parameters, read_parameters, tags
from llmcore.normalizer.readers.json import read_json
from llmcore.normalizer.rows import Calls, Dialect, Marker, Writer
from llmcore.normalizer.source import Steps, skip_space, starts

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["DIALECTS"]

_BARS = r"[｜|‖]{1,2}"
_WORD = rf"{_BARS}(?:DSML|GCML){_BARS} ?"
_SPACE = r"(?:[a-z]{1,16}:|" + _WORD + r"|)"
_WRAPPERS = r"(?:function_calls|tool_calls|toolcalls|toolcall|tool_call|tool|calls)"
_ATTRIBUTE = r"""[\sĠ]*name\s*=\s*(?:"(?P<dq>[^"<>]*)"|'(?P<sq>[^'<>]*)'|(?P<nq>[^\s"'<>/]+))"""
_HEAD = re.compile(rf"<(?P<space>{_SPACE})(?P<tag>invoke|function|tool_call){_ATTRIBUTE}[^<>]*?(?P<self>/)?>")
_TAG_END = 400
_SHOWN_SPACE = ("Ċ", "Ġ")
"""White space that a server showed as the tokenizer spells it."""
_OPEN_TAG = re.compile(r"(?:<[^<>]*)?\Z")
_DIALECT_BY_SPACE = {"": "anthropic_function_calls", "steptml:": "step3", "atem:": "atem"}


@lru_cache(maxsize=64)
def _grammar(space: str, tag: str) -> Grammar:
    ns = re.escape(space)
    names = "param(?:eter)?" if tag == "function" else "parameter"
    key = r"""[\sĠ]{0,16}name\s{0,16}=\s{0,16}(?P<key>"[^"<>]{0,128}"|'[^'<>]{0,128}'|[^\s"'<>]{1,128})"""
    declared = r"""(?:\s{1,16}string\s{0,16}=\s{0,16}["']?(?P<declared>\w{1,16})["']?)?"""
    opener = rf"(?P<parameter><{ns}{names}{key}{declared}[^<>]{{0,128}}>)"
    closer = rf"(?P<end></{ns}{tag}>)"
    others = (
        rf"<{ns}{tag}(?:\s+name|name)\s*=",
        rf"</{ns}{_WRAPPERS}>",
        "</(?:[a-z]+:)?(?:tool_call|function_calls)>",
        "</dots_function_call>",
        "<｜tool_call_end｜>",
    )
    plain_opener = opener.replace("?P<key>", "?:").replace("?P<declared>", "?:")
    return Grammar(
        item=tags(opener, closer, *others),
        value=tags(f"(?P<own></{ns}{names}>)", plain_opener, closer, *others),
        cdata=tag == "function",
        undeclared="false" if space == "atem:" else None,  # JSON-looking values decode where no schema says otherwise
    )


def _dialect_of(space: str, tag: str, before: str) -> str:
    if tag == "function":
        return "minicpm5"
    if "DSML" in space:
        if space.endswith(" "):
            return "dsml_v41"
        return "dsml_v32" if "function_calls>" in before else "dsml_v4"
    if "GCML" in space:
        return "gcml"
    if before.endswith("<minimax:tool_call>"):
        return "minimax_m2"
    if before.endswith("<dots_function_call>"):
        return "dots"
    return _DIALECT_BY_SPACE.get(space, "anthropic_function_calls")


def _invoke(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    while not src.final and len(src.text) - at < _TAG_END and src.text.find(">", at) < 0 and src.text.find("<", at + 1) < 0:
        yield
    head = _HEAD.match(src.text, at)
    if head is None or head.end() - at > _TAG_END:
        return False
    space, tag = head["space"], head["tag"]
    name = next(text for text in (head["dq"], head["sq"], head["nq"]) if text is not None).strip()
    if not name or len(name) > engine.limits.name:
        return False
    name = undouble(name) if space == "atem:" or (engine.tools is not None and name not in engine.tools) else name
    before = src.text[max(0, at - 60) : at].rstrip()
    dialect = _dialect_of(space, tag, before)
    if head["self"]:
        engine.end(engine.begin(at, name, dialect), head.end(), {}, "")
        return True
    start = yield from skip_space(src, head.end())
    while src.text.startswith(_SHOWN_SPACE, start):
        start = yield from skip_space(src, start + 1)
    return (yield from _invoke_body(engine, at, head.end(), start, name, dialect, _grammar(space, tag), space))


def _invoke_body(
    engine: TextEngine, at: int, body: int, start: int, name: str, dialect: str, grammar: Grammar, space: str
) -> Steps[bool]:
    """Parameters, children named after the arguments, or a JSON object; anything else is no invoke."""
    src = engine.src
    while not src.final and len(src.text) - start < _TAG_END and _OPEN_TAG.match(src.text, start):
        yield
    if src.text.startswith("{", start):
        return (yield from _json_body(engine, at, start, name, dialect, space))
    item = grammar.item.match(src.text, start)
    if item is not None and item.groupdict()["parameter"] is None and item.groupdict()["end"] is None:
        return False
    if item is None:
        if _FIRST_CHILD.match(src.text, start) is None:
            cut = len(src.text) - start < _TAG_END and _OPEN_TAG.match(src.text, start) is not None
            return cut and _cut_head(engine, at, name, dialect, start)
        return (yield from _children_body(engine, at, start, name, dialect, space))
    draft = engine.begin(at, name, dialect)
    found = yield from read_parameters(engine, draft, body, grammar)
    return finish_parameters(engine, draft, body, found)


def _cut_head(engine: TextEngine, at: int, name: str, dialect: str, start: int) -> bool:
    """The text ends right after the opening tag (or inside the next one)."""
    if engine.tools is not None and name not in engine.tools:
        return False
    draft = engine.begin(at, name, dialect)
    engine.end(draft, len(engine.src.text), {}, engine.src.text[start:], complete=False)
    return True


def _json_body(engine: TextEngine, at: int, start: int, name: str, dialect: str, space: str) -> Steps[bool]:
    closers = tuple(f"</{space}{tag}>" for tag in ("invoke", "function", "tool_call"))
    body = yield from body_extent(engine, start, closers)
    end, _ = yield from swallow(engine, body.end, closers)
    reading = read_json(engine.src.text[body.start : body.end], limits=engine.limits, cut=body.cut)
    value = reading.values[0] if len(reading.values) == 1 else None
    arguments = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    call = CallObject(name, arguments, True, raw=engine.src.text[body.start : body.end])
    add_calls(engine, (at, end), [call], dialect, complete=reading.complete and not body.cut, repairs=reading.repairs)
    return True


# ---------------------------------------------------------------------- children in place of parameters

_CHILD = r"(?P<parameter><(?P<key>[A-Za-z_][\w.-]{0,127})\s{0,16}(?P<empty>/?)>)"
_FIRST_CHILD = re.compile(_CHILD)


@lru_cache(maxsize=64)
def _children(end: str, *others: str) -> Grammar:
    """`<city>Paris</city>` elements as parameters: each ends at its own closer, or where the body ends."""

    @lru_cache(maxsize=256)
    def closers(key: str) -> re.Pattern[str]:
        return tags(rf"(?P<own></{re.escape(key)}>)", end, *others)

    return Grammar(item=tags(_CHILD, end, *others), value=closers)


def _children_body(engine: TextEngine, at: int, start: int, name: str, dialect: str, space: str) -> Steps[bool]:
    ns = re.escape(space)
    grammar = _children(rf"(?P<end></{ns}(?:invoke|function|tool_call)>)", f"</{ns}{_WRAPPERS}>")
    draft = engine.begin(at, name, "invoke_children" if dialect == "anthropic_function_calls" else dialect)
    found = yield from read_parameters(engine, draft, start, grammar)
    complete = not found.cut or (found.whole and not engine.ended_by_length)
    raw = engine.src.text[start : found.stop if found.stop >= 0 else found.end]
    engine.end(draft, found.end, found.arguments, raw, complete=complete, repairs=found.repairs)
    return True


_TOOL_NAME = re.compile(r"<tool_name>\s*([^<>\s]{1,256})\s*</tool_name>\s*(<parameters>)?")


def _legacy(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """`<invoke><tool_name>f</tool_name><parameters>...</parameters></invoke>`."""
    src = engine.src
    start = yield from skip_space(src, body)
    while not src.final and len(src.text) - start < _TAG_END and "<parameters>" not in src.text[start:]:
        yield
    head = _TOOL_NAME.match(src.text, start, start + _TAG_END)
    if head is None:
        return False
    draft, body = engine.begin(at, head[1], "anthropic_legacy"), head.end()
    head = None  # a match keeps the text it was found in
    found = yield from read_parameters(engine, draft, body, _children("(?P<end></parameters>)", "</invoke>", "</function_calls>"))
    end = found.end
    if not found.cut:
        end, _ = yield from swallow(engine, end, ("</parameters>", "</invoke>"), extra=False)
    raw = src.text[body : found.stop if found.stop >= 0 else found.end]
    engine.end(draft, end, found.arguments, raw, complete=not found.cut and found.whole, repairs=found.repairs)
    return True


# ---------------------------------------------------------------------- wrappers

_INVOKE_NEXT = re.compile(rf"\s*<{_SPACE}invoke(?:[\s>]|name)")


def _wrapper(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """A wrapper is markup when an invoke follows it."""
    src = engine.src
    start = yield from skip_space(src, body)
    while not src.final and len(src.text) - start < 40 and not src.text.find(">", start) >= 0:
        yield
    if (empty := f"</{src.text[at + 1 : body]}") and src.text.startswith(empty, start):
        engine.commit_to(at)
        engine.take("markup", start + len(empty))
        return True
    if _INVOKE_NEXT.match(src.text, start) is None:
        return (yield from _name_and_fence(engine, at, start))
    engine.commit_to(at)
    engine.take("markup", start)
    return True


_NAME_FENCE_LENGTH = 320
_NAME_FENCE = re.compile(r"([^\s<>{}`]{1,256})\s*\n\s*```\w{0,12}\s*(?=\{)")


def _name_and_fence(engine: TextEngine, at: int, start: int) -> Steps[bool]:
    """A wrapper, a bare name and a json fence: the first fence holds the arguments, a second one is an invented result."""
    src = engine.src
    if not src.text.startswith("<", at) or "DSML" not in src.text[at : at + 12]:
        return False
    reach = start + _NAME_FENCE_LENGTH
    while not src.final and len(src.text) < reach and "{" not in src.text[start:] and "<" not in src.text[start:]:
        yield
    head = _NAME_FENCE.match(src.text, start, reach)
    if head is None:
        return False
    body = yield from body_extent(engine, head.end(), ("```",))
    end, _ = yield from swallow(engine, body.end, ("```",))
    reading = read_json(src.text[body.start : body.end], limits=engine.limits, cut=body.cut)
    value = reading.values[0] if reading.values else None
    arguments = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    call = CallObject(head[1], arguments, True, raw=src.text[body.start : body.end])
    add_calls(engine, (at, end), [call], "dsml_v4", complete=reading.complete, repairs=reading.repairs)
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


def _write_legacy(calls: Calls) -> str:
    blocks = (
        f"<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n"
        + "".join(f"<{k}>{as_text(v)}</{k}>\n" for k, v in given.items())
        + "</parameters>\n</invoke>\n"
        for name, given in calls
    )
    return f"<function_calls>\n{''.join(blocks)}</function_calls>"


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
"""Its markers read the others as well."""


def _row(name: str, models: str, write: Writer, *markers: Marker, read_by: tuple[str, ...] = (_FIRST_ROW,)) -> Dialect:
    return Dialect(name, models, write, markers, typed_by_schema=True, read_by=read_by)


_NAMED = rf"<{_SPACE}invoke(?=[\s]|name=)"

DIALECTS = (
    _row(
        "anthropic_function_calls",
        "Claude through text or a gateway, models trained on its traces, prompts",
        _writer("function_calls", gap=""),
        call_marker("anthropic_function_calls", _invoke, pattern=_NAMED, begins=("<invoke",)),
        call_marker("anthropic_function_calls", _invoke, "<function", order=5),
        call_marker("anthropic_function_calls", _invoke, "<tool_call name=", order=5),
        call_marker("anthropic_function_calls", _legacy, "<invoke>"),
        call_marker(
            "anthropic_function_calls", _wrapper, "<function_calls>", "<tool_calls>", "<tool_call>", follows=starts("<"), order=-1
        ),
        call_marker("anthropic_function_calls", _wrapper, pattern=rf"<(?:[a-z]{{1,16}}:|{_WORD}){_WRAPPERS}>"),
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
            pattern=rf"</{_SPACE}(?:invoke|{_WRAPPERS}|parameter)>|</dots_function_call>|</function>|</param>",
            begins=("</invoke", "</function", "</tool", "</calls", "</param", "</dots"),
        ),
    ),
    _row("anthropic_legacy", "Claude 2 and early 3 prompts", _write_legacy),
    _row("minimax_m2", "MiniMax M2, M2.5", _writer("minimax:tool_call")),
    _row("dsml_v32", "DeepSeek V3.2", _writer("｜DSML｜function_calls", "｜DSML｜", typed=True)),
    _row("dsml_v4", "DeepSeek V4, V4-Flash", _writer("｜DSML｜tool_calls", "｜DSML｜", typed=True)),
    _row("dsml_v41", "DeepSeek V4.1", _writer("｜DSML｜ calls", "｜DSML｜ ", typed=True)),
    _row("gcml", "GigaChat 3.5", _writer("｜GCML｜tool_calls", "｜GCML｜", typed=True, gap="")),
    _row(
        "dots",
        "dots",
        _writer("dots_function_call", gap=""),
        Marker(_wrapper, ("<dots_function_call>",), calls=True, dialect="dots", follows=starts("<invoke")),
        Marker(objects_reader("dots", ("</dots_function_call>",)), ("<dots_function_call>",), calls=True, dialect="dots"),
    ),
    _row("step3", "Step-3", _write_step3, read_by=(_FIRST_ROW, "deepseek_v3")),
    _row("minicpm5", "MiniCPM 5", _write_minicpm),
    _row("invoke_children", "GLM-4.7, others imitating Claude's form", _write_children),
)
