"""Kimi K2 and K2.5: only the id `functions.NAME:0` has the name. The argument marker may be missing."""

from __future__ import annotations

from llmcore.normalizer.bodies.json_bodies import add_calls, arguments_body, body_extent, closing, named_call
from llmcore.normalizer.bodies.sections import call_marker, closer_after_call, empty_call, section
from llmcore.normalizer.calls.call_messages import calls_of
from llmcore.normalizer.calls.call_objects import CallObject, default_arguments
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.names import name_start
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, as_json
from llmcore.normalizer.dialects.deepseek import call_of_tokens
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.source import Steps, search, skip_space, starts
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS"]

_KIMI_CLOSERS = ("<|tool_call_end|>",)
_KIMI_SECTION_END = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_KIMI_HEAD = lazy_regex(
    r"<\|tool_call_argument_begin\|>|<\|tool_sep\|>|<\|tool_call_end\|>|<\|tool_call_begin\|>|<\|tool_calls?_section_\w{3,5}\|>|\{"
)
_KIMI_STOP = lazy_regex(_KIMI_HEAD.pattern.removesuffix(r"|\{"))
_SECTION_FOLLOWS = starts("<|tool_call_begin|>", "functions.", *_KIMI_SECTION_END)
_NOISE = lazy_regex(r"[^<>{}\n]{1,64}<\|tool_call_begin\|>")
_NOISE_BEGUN = lazy_regex(r"[^<>{}\n]{0,64}(?:<(?:\|[a-z_]{0,15}\|?)?)?\Z")
_KIMI_INDEX = lazy_regex(r"\s*(?:\.|:)\s*\d+\s*\Z")
_WHOLE_ID = lazy_regex(r"functions\.[^\s:]{1,256}:\d{1,8}")
_BLANKS = 16  # the most blanks between a name and the token behind it
_TRAILING_DIGITS = lazy_regex(r"_?\d+\Z")


def _words_before_call(text: str, at: int, final: bool) -> bool | None:
    """Whether a few words stand between the opener of a section and its first call."""
    if _NOISE.match(text, at) is not None:
        return True
    return None if not final and _NOISE_BEGUN.match(text, at) is not None else False


def _kimi_name(reading: Reading, written: str) -> str:
    """The name in the id `functions.NAME:0`. A damaged id is matched with the tools' names."""
    name = _KIMI_INDEX.sub("", written.strip())
    if name.startswith("functions.") and len(name) > len("functions."):
        name = name[len("functions.") :]
    if reading.tools is None or name in reading.tools:
        return name
    for candidate in (name.removeprefix("functions").lstrip("_."), name):
        for attempt in (candidate, _TRAILING_DIGITS.sub("", candidate)):
            if attempt in reading.tools:
                return attempt
    return name


def _kimi(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    head = yield from search(src, _KIMI_HEAD, body, 32)
    written = src.text[body : head.start() if head else len(src.text)]
    name = written.strip()
    if len(name) > reading.limits.name or "\n\n" in name:
        return False
    if head is None:
        reading.cut_off()
        if name and not reading.drafts:
            reading.miss(at, len(src.text), name or None, "truncated")
        return False
    if head[0] == "<|tool_sep|>":  # DeepSeek's tokens with plain bars
        return (yield from call_of_tokens(reading, at, body))
    if head[0] == "{":
        return (yield from _kimi_json(reading, at, head.start(), name))
    if head[0] == "<|tool_call_argument_begin|>":
        start = yield from skip_space(src, head.end())
        if not src.text.startswith(("{", '"'), start):
            return (yield from _kimi_odd(reading, at, start, name))
        return (yield from _kimi_call(reading, at, start, name))
    if not name:
        return False
    end, missing = yield from closing(reading, head.start(), _KIMI_CLOSERS, extra="")
    return empty_call(reading, at, end, _kimi_name(reading, name), "kimi_no_argument_marker", repairs=missing)


def _opener_lost(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `functions.f:0<|tool_call_argument_begin|>{...}`: the token before the name is missing."""
    src = reading.src
    floor = max(reading.done, at - _BLANKS)
    name_end = floor + len(src.text[floor:at].rstrip(" "))
    begin = name_start(src.text, reading.done, name_end)
    written = src.text[begin:name_end]
    known = reading.tool(_kimi_name(reading, written)) is not None
    if not known and _WHOLE_ID.fullmatch(written) is None:
        return False
    start = yield from skip_space(src, body)
    if not src.text.startswith("{", start):
        return False
    return (yield from _kimi_call(reading, begin, start, written))


def _kimi_json(reading: Reading, at: int, start: int, name: str) -> Steps[bool]:
    """Read `ping{...}`, or a whole call object in the place of the name."""
    if name:
        return (yield from _kimi_call(reading, at, start, name, "kimi_no_argument_marker"))
    body = yield from body_extent(reading, start, _KIMI_CLOSERS)
    parsed = read_json(reading.src.text[body.start : body.end], limits=reading.limits, cut=body.cut)
    message = calls_of(parsed.values[0], reading.tools) if parsed.values else None
    if message is None or not message.calls:
        reading.failed(body.end - at)
        return False
    end, missing = (body.end, list[Repair]()) if body.cut else (yield from closing(reading, body.end, _KIMI_CLOSERS))
    repairs = [*parsed.repairs, *missing]
    add_calls(reading, (at, end), message.calls, "kimi_no_argument_marker", complete=parsed.complete, repairs=repairs)
    return True


def _kimi_call(reading: Reading, at: int, start: int, written: str, dialect: str = "kimi_k2") -> Steps[bool]:
    name = _kimi_name(reading, written)
    identity = written if ":" in written or "." in written else ""
    drifted = not name or name.isdigit() or name.startswith(("call_", "chatcmpl-", "functions"))
    if not drifted or (reading.tools is not None and name in reading.tools):
        return (yield from named_call(reading, at, name, start, dialect, _KIMI_CLOSERS, id=identity))
    body = yield from body_extent(reading, start, _KIMI_CLOSERS)
    end, missing = (body.end, list[Repair]()) if body.cut else (yield from closing(reading, body.end, _KIMI_CLOSERS))
    calls, repairs, complete = arguments_body(reading, body)
    for call in calls:
        _name_by_content(reading, call, name, identity or written)
    add_calls(reading, (at, end), calls, dialect, complete=complete, repairs=[*repairs, *missing])
    reading.take("call", end)
    return True


def _name_by_content(reading: Reading, call: CallObject, name: str, identity: str) -> None:
    """Name a call with a damaged id: its arguments may hold a whole call, or fit only one tool's schema (a guess)."""
    call.name, call.id = name, identity
    inner = calls_of(call.arguments, reading.tools) if call.arguments is not None else None
    if inner is not None and len(inner.calls) == 1 and inner.calls[0].given:
        call.name, call.arguments, call.raw = inner.calls[0].name, inner.calls[0].arguments, None
        return
    if reading.tools is None or call.arguments is None or not call.arguments:
        return
    keys = set(call.arguments)
    fitting = [tool for tool in reading.tools.compiled if keys <= set(tool.properties) and tool.required <= keys]
    if len(fitting) == 1:
        call.repairs.append(Repair(kind="name_by_schema", before=name, after=fitting[0].name, safety="guess"))
        call.name = fitting[0].name


def _kimi_odd(reading: Reading, at: int, start: int, name: str) -> Steps[bool]:
    """Read a call with no JSON object in the place of its arguments."""
    match = yield from search(reading.src, _KIMI_STOP, start, 32)
    stop = match.start() if match else len(reading.src.text)
    raw = reading.src.text[start:stop].strip()
    if not raw and not name:
        if match is None:
            reading.cut_off()
        return False
    end, missing = (yield from closing(reading, stop, _KIMI_CLOSERS, extra="")) if match else (stop, list[Repair]())
    draft = reading.begin(at, _kimi_name(reading, name), "kimi_k2", name)
    arguments = default_arguments(draft.name, reading.tools) if not raw else None
    reading.end(draft, end, arguments, raw, complete=match is not None, repairs=missing)
    return True


def _write_kimi(calls: Calls) -> str:
    blocks = (
        f"<|tool_call_begin|>functions.{name}:{n}<|tool_call_argument_begin|>{as_json(given)}<|tool_call_end|>"
        for n, (name, given) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{''.join(blocks)}<|tool_calls_section_end|>"


def _write_kimi_short(calls: Calls) -> str:
    blocks = "".join(f"<|tool_call_begin|>{name}{as_json(given)}<|tool_call_end|>" for name, given in calls)
    return f"<|tool_calls_section_begin|>{blocks}<|tool_calls_section_end|>"


def _section(call: str, id: str = "") -> Layout:
    return Layout(call, "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "", id=id)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "kimi_k2",
        "Kimi K2, K2 Thinking, K2.5",
        _write_kimi,
        (
            call_marker(
                "kimi_k2",
                section(*_KIMI_SECTION_END),
                "<|tool_calls_section_begin|>",
                "<|tool_call_section_begin|>",
                follows=_SECTION_FOLLOWS,
            ),
            call_marker(
                "kimi_k2",
                section(),
                "<|tool_calls_section_begin|>",
                "<|tool_call_section_begin|>",
                follows=_words_before_call,
                order=1,
            ),
            call_marker("kimi_k2", _kimi, "<|tool_call_begin|>"),
            call_marker("kimi_k2", _opener_lost, "<|tool_call_argument_begin|>"),
            call_marker("kimi_k2", closer_after_call, *_KIMI_SECTION_END, "<|tool_call_end|>"),
        ),
        whole=(_section("<|tool_call_begin|>$id<|tool_call_argument_begin|>$args<|tool_call_end|>", "functions.$name:$index"),),
    ),
    Dialect(
        "kimi_no_argument_marker",
        "Kimi K2 drift, some Llama fine-tunes",
        _write_kimi_short,
        read_by=("kimi_k2",),
        whole=(_section("<|tool_call_begin|>$name$args<|tool_call_end|>"),),
    ),
)
