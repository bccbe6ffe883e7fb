"""Python call expressions between an opener and a closer. (`normalizer.bare` reads those without a marker.)"""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.bare.python_forms import guesses_of, is_whole, python_objects, read_lists
from llmcore.normalizer.bare.verdicts import leads_in
from llmcore.normalizer.bodies.json_bodies import Body, add_calls, closing
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.bodies.python_preview import PythonPreview
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import PYTHON, Layout
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Reader, Writer
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.scanning.source import Follows, Steps, name_then, past, search, skip_space, starts, wait_while
from llmcore.normalizer.scanning.words import BLANKS, PROMPTED_TAGS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS", "calls_reader"]

_NAME = r"[A-Za-z_][\w.\\-]{0,255}"
_HEAD = 280  # characters at a list's beginning that must hold a call's name
_CLOSERS_SOUGHT = 4  # closers that are tried if the calls' brackets never close
_LIST_OF_CALLS = lazy_regex(rf"[{BLANKS}]*\[\s*(?:{_NAME}\s*\(|\])")
_LIST_BEGUN = lazy_regex(rf"[{BLANKS}]*(?:\[\s*(?:{_NAME}\s*)?)?\Z")
_NAMED = lazy_regex(rf"\s*({_NAME})\s*\(")
_PROMPTED_TAGS = (*PROMPTED_TAGS, "python")
_NEXT = lazy_regex(rf"[\s;,]{{0,64}}{_NAME}\s{{0,16}}\(")
_NEXT_BEGUN = lazy_regex(rf"[\s;,]{{0,64}}(?:{_NAME}\s{{0,16}})?\Z")
_NEXT_LIST = lazy_regex(rf"[\s;,]{{0,64}}\[\s{{0,64}}{_NAME}\s{{0,16}}\(")
_NEXT_LIST_BEGUN = lazy_regex(rf"[\s;,]{{0,64}}(?:\[\s{{0,64}}(?:{_NAME}\s{{0,16}})?)?\Z")
"""With the patterns above: the next call, or list of calls, and the beginning of one at the text's end."""


def _list_of_calls(text: str, at: int, final: bool) -> bool | None:
    if _LIST_OF_CALLS.match(text, at, at + _HEAD):
        return True
    return None if not final and len(text) - at < _HEAD and _LIST_BEGUN.match(text, at) else False


def calls_reader(dialect: str, closers: tuple[str, ...] = ()) -> Reader:
    """A reader of a list of calls, or of calls one after the other, then closers."""

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        src = reading.src
        start = yield from skip_space(src, body)
        end, cut = start, False
        position = start if src.text.startswith("[", start) else src.text.find("(", start)
        preview = PythonPreview(reading, at, start, dialect)
        while True:
            stop = yield from _extent(reading, max(position, start), preview)
            if stop < 0:
                reading.failed(len(src.text) - start)
                hit = _closer_behind(src.text, start, position, closers)
                end, cut = (hit, False) if hit >= 0 else (len(src.text), True)
                break
            end = stop
            listed = src.text.startswith("[", start)
            following, begun = (_NEXT_LIST, _NEXT_LIST_BEGUN) if listed else (_NEXT, _NEXT_BEGUN)
            yield from wait_while(src, begun, end)
            opened = past(following, src.text, end)
            if opened == end:
                break
            position = src.text.index("[", end) if listed else opened - 1
        preview.advance()
        return (yield from _enter(reading, at, start, end, cut, preview))

    def _enter(reading: Reading, at: int, start: int, end: int, cut: bool, preview: PythonPreview) -> Steps[bool]:
        src = reading.src
        parsed = read_lists(reading, Body(start, end, cut=cut))
        after, missing = (end, list[Repair]()) if cut else (yield from closing(reading, end, closers, extra="}])"))
        if not parsed.calls:
            for draft in preview.drafts:  # it began like a call and cannot be read
                reading.end(draft, after, None, src.text[start:end], complete=not cut)
                return True
            if src.text[start:end].strip() != "[]":
                reading.miss(at, after, None, "no_calls")
                return False
            reading.text(at)
            reading.markup(after)
            return True
        begun = iter(preview.drafts)
        objects = python_objects(reading, parsed.calls)
        preview.finish(objects[0].arguments)
        repairs = [*guesses_of(parsed), *missing]
        for call, found in zip(objects, parsed.calls, strict=True):
            complete = is_whole(call, found, parsed)
            if dialect == "llama_builtin" and not reading.known(call.name):
                call.name = call.name.removesuffix(".call")
            add_calls(reading, (at, after), [call], dialect, complete=complete, repairs=repairs, drafts=begun)
        reading.take("call", after)
        return True

    return read


def _tagged_call(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool>f(x=1)</tool>`, in a tag that a prompt made a marker: a call of a known tool."""
    text = reading.src.text
    named = _NAMED.match(text, body, body + _HEAD)
    before = reading.line_before(at, _HEAD)
    if named is None or not is_known(named[1], reading.tools) or not leads_in(before):
        return False
    took = calls_reader("bare_call", (f"</{text[at + 1 : body]}",))(reading, at, body)
    named, text = None, ""  # they would keep the text alive, which copies it at every feed
    return took if isinstance(took, bool) else (yield from took)


def _new_extent(start: int) -> Extent:
    return Extent(start, quotes="'\"", triple=True, comments=True)


def _closer_behind(text: str, start: int, position: int, closers: tuple[str, ...]) -> int:
    """Where the first closer behind `position` stands outside of closed strings; -1 if there is none.

    The brackets of the calls from `start` on never close.
    """
    whole = _new_extent(start)
    whole.scan(text, True)
    for _ in range(_CLOSERS_SOUGHT):
        hits = [hit for closer in closers if (hit := text.find(closer, position)) >= 0]
        if not hits or 0 <= whole.string_start <= min(hits):
            return min(hits, default=-1)
        before = _new_extent(start)
        before.scan(text[: min(hits)], True)
        if before.string_start < 0:
            return min(hits)
        position = min(hits) + 1
    return -1


def _extent(reading: Reading, start: int, preview: PythonPreview) -> Steps[int]:
    extent = _new_extent(start)
    while True:
        end = extent.scan(reading.src.text, reading.src.final)
        if end >= 0 or reading.src.final:
            return end
        preview.advance()
        yield preview.skim if preview.sleeps() else None


_TOOL_CODE_END = lazy_regex("</tool_code>|(?=<tool_code>)")


def _tool_code(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool_code>...</tool_code>` like a fence's body. Another opener ends it, too, so many openers stay linear."""
    match = yield from search(reading.src, _TOOL_CODE_END, body, 12)
    stop = match.start() if match else len(reading.src.text)
    inner = reading.nest(reading.src.text[body:stop])
    if not inner.drafts or inner.has_content:
        reading.failed(stop - at)
        return False
    reading.adopt(inner, at, match.end() if match else stop, "tool_code")
    return True


def _expression(name: str, given: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _list(opener: str = "", closer: str = "") -> Writer:
    def write(calls: Calls) -> str:
        return f"{opener}[{', '.join(_expression(name, given) for name, given in calls)}]{closer}"

    return write


def _whole_list(opener: str, closer: str) -> Layout:
    return Layout("$name($args)", f"{opener}[", f"]{closer}", ", ", PYTHON, span="all")


def _lines(opener: str = "", closer: str = "", call: str = "{}") -> Writer:
    def write(calls: Calls) -> str:
        return opener + "\n".join(call.format(_expression(name, given)) for name, given in calls) + closer

    return write


def _quoted(calls: Calls) -> str:
    return repr([_expression(name, given) for name, given in calls])


def _builtin(calls: Calls) -> str:
    (name, given), *_ = calls
    return f"<|python_tag|>{_expression(f'{name}.call', given)}"


def _marker(dialect: str, reader: Reader, *openers: str, follows: Follows, order: int = 0) -> Marker:
    return Marker(reader, openers, follows=follows, calls=True, dialect=dialect, order=order)


_CALL = name_then("(")
_JSON_MARKERS = {
    "<|tool_call|>": "<|/tool_call|>",
    "<tool_calls>": "</tool_calls>",
    "<TOOLCALL>": "</TOOLCALL>",
    "<longcat_tool_call>": "</longcat_tool_call>",
    "[TOOL_REQUEST]": "[END_TOOL_REQUEST]",
    "[TOOL_CALL]": "[/TOOL_CALL]",
}
"""Markers of JSON dialects behind which some models write Python calls."""

DIALECTS: tuple[Dialect, ...] = (
    Dialect("pythonic", "Llama 3.2, Llama 4, most models asked for it in a prompt", _list(), trust="bare"),
    Dialect(
        "llama4_pythonic",
        "Llama 4",
        _list("<|python_start|>", "<|python_end|>"),
        whole=(_whole_list("<|python_start|>", "<|python_end|>"),),
        markers=(
            _marker(
                "llama4_pythonic",
                calls_reader("llama4_pythonic", ("<|python_end|>",)),
                "<|python_start|>",
                follows=_list_of_calls,
            ),
            _marker(
                "llama4_pythonic",
                objects_reader("llama4_pythonic", ("<|python_end|>",)),
                "<|python_start|>",
                follows=starts("{", "[{"),
            ),
        ),
    ),
    Dialect(
        "lfm2",
        "LFM2, LFM2.5",
        _list("<|tool_call_start|>", "<|tool_call_end|>"),
        whole=(_whole_list("<|tool_call_start|>", "<|tool_call_end|>"),),
        markers=(
            _marker("lfm2", calls_reader("lfm2", ("<|tool_call_end|>",)), "<|tool_call_start|>", follows=_list_of_calls),
            _marker("lfm2", objects_reader("lfm2", ("<|tool_call_end|>",)), "<|tool_call_start|>", follows=starts("{", "[")),
            _marker("lfm2", calls_reader("lfm2", ("<|tool_call_end|>",)), "<|tool_call_start|>", follows=_CALL, order=1),
        ),
    ),
    Dialect(
        "olmo3",
        "OLMo 3",
        _lines("<function_calls>", "</function_calls>"),
        whole=(Layout("$name($args)", "<function_calls>", "</function_calls>", "\n", PYTHON, span="all"),),
        markers=(
            _marker("olmo3", calls_reader("olmo3", ("</function_calls>",)), "<function_calls>", follows=_list_of_calls),
            _marker("olmo3", calls_reader("olmo3", ("</function_calls>",)), "<function_calls>", follows=_CALL, order=1),
            _marker("olmo3", calls_reader("olmo3", ("</function_call>",)), "<function_call>", follows=_CALL, order=1),
            *(
                _marker("olmo3", calls_reader("olmo3", (closer,)), opener, follows=follows, order=order)
                for opener, closer in _JSON_MARKERS.items()
                for follows, order in ((_CALL, 4), (_list_of_calls, -3))
            ),
            _marker("olmo3", calls_reader("olmo3", ("</tool_call>",)), "<tool_call>", follows=_CALL, order=2),
            _marker("olmo3", calls_reader("olmo3", ("</tool_call>",)), "<tool_call>", follows=_list_of_calls, order=-3),
        ),
    ),
    Dialect(
        "bare_call",
        "Nexus Raven, Granite 3.3 and many others",
        _lines(),
        (_marker("bare_call", _tagged_call, *(f"<{tag}>" for tag in _PROMPTED_TAGS), follows=_CALL, order=3),),
        trust="bare",
    ),
    Dialect("quoted_calls", "Claude Instant 1.2 and kin", _quoted, trust="bare"),
    Dialect(
        "tool_code",
        "Gemini and Gemma prompts",
        _lines("```tool_code\n", "\n```", "print(default_api.{})"),
        (Marker(_tool_code, ("<tool_code>",), calls=True, dialect="tool_code"),),
        trust="bare",
    ),
    Dialect(
        "llama_builtin",
        "Llama 3.1 built-in tools",
        _builtin,
        (
            _marker("llama_builtin", calls_reader("llama_builtin"), "<|python_tag|>", follows=_CALL, order=1),
            _marker("llama_builtin", calls_reader("llama_builtin"), "<|python_tag|>", follows=_list_of_calls),
        ),
        trust="bare",
        single=True,
    ),
    Dialect("fenced_calls", "any model", _lines("```python\n", "\n```"), trust="bare"),
)
