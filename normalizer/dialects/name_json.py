"""Dialects with the name outside of JSON arguments. (Kimi, DeepSeek and Harmony have their own modules.)

The name ends at a separator, a bracket or a line break. One JSON object follows, then closers.
"""

from __future__ import annotations

from llmcore.normalizer.bodies.json_bodies import named_call
from llmcore.normalizer.bodies.sections import call_marker, section
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.names import name_start, peel
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, as_json
from llmcore.normalizer.scanning.source import Steps, match_within, name_then, search, skip_space, starts
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, COLONS, NAMING
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS", "function_follows"]

_V11_NAME = lazy_regex(r"\s*([^\s\[\]{}<>\"'`(),]{1,256})\s*")
_V11_TOKENS = ("[ARGS]", "[CALL_ID]", "[TOOL_CALLS]")
_OBJECT_FOLLOWS, _NAME_FOLLOWED = starts("{"), starts(*_V11_TOKENS, "</s>")
_V11_ID_LENGTH = 96
_V11_ID = lazy_regex(r"\[CALL_ID\]\s*+([^\s\[\]{}]{0,64}+)\s*+")
_FUNCTION_HEAD = lazy_regex(
    r"[\s\"']*+([^\s<>={}(\"']{1,256}+)[\s\"']*+(?:>\s*+\(|>\s*+\[([^\s\[\]{}<>]{1,64}+)\]|[>=(])?\s*+(?=\{)"
)
_FUNCTION_MAYBE = lazy_regex(r"[\s\"']*+[^\s<>={}(\"']{0,256}+[\s\"']*+(?:>|=|\(|>\s*+(?:\(|\[[^\s\[\]{}<>]{0,64}+\]?))?\s*+\Z")
_SOLAR_FIELD = lazy_regex(r"<\|tool_call:(name|args|end|begin)\|>")
_LAGUNA_HEAD = lazy_regex(r"\s*([^\s<>{}]{1,256})\s*(?=\{)")
_NAMED_OBJECT = lazy_regex(
    rf"""\{{\s*["'](?:{"|".join(NAMING)})["']\s*:\s*["']([^"']{{1,256}})["']\s*,\s*["'](?:{"|".join(ARGUMENT_KEYS)})["']"""
)
_COLON = "".join(COLONS)
_FLOWER_HEAD = lazy_regex(rf"\s*+[{_COLON}]?\s*+([^\s✿{_COLON}{{}}]{{1,256}})\s*+✿ARGS✿[ \t]*+[{_COLON}]?\s*+(?=([{{✿])?)")
_FLOWER_MAYBE = lazy_regex(rf"\s*+[{_COLON}]?\s*+[^\s✿{_COLON}{{}}]{{0,256}}+\s*+(?:✿(?:A(?:R(?:GS?)?)?)?)?\Z")
_LINE_END = lazy_regex(r"\r?\n|\[TOOL_CALLS\]|</s>")
_HEAD = 340  # characters that must hold the name and the arguments' brace


def _mistral_v11(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    begin = at
    if src.text[body : body + 1] in ("{",) or src.text[at - 1 : at].strip():  # `bash[TOOL_CALLS]{...}`
        begin = name_start(src.text, 0, at)
        name = src.text[begin:at]
        if begin < at and peel(name, reading.tools) and src.text.startswith("{", body):
            return (yield from named_call(reading, begin, name, body, "mistral_v11", ()))
    match = _V11_NAME.match(src.text, body)
    while match is not None and match.end() == len(src.text) and not src.final:
        yield None
        match = _V11_NAME.match(src.text, body)
    if match is None:
        return False
    name, start, identity = match[1], match.end(), ""
    while (
        not src.final
        and len(src.text) - start < _V11_ID_LENGTH
        and src.text.startswith("[", start)
        and "{" not in src.text[start:]
    ):
        yield None
    if (found := _V11_ID.match(src.text, start, start + _V11_ID_LENGTH)) is not None:
        identity, start = found[1], found.end()
    if src.text.startswith("[ARGS]", start):
        start = yield from skip_space(src, start + len("[ARGS]"))
    if src.text.startswith("{", start):
        return (yield from named_call(reading, at, name, start, "mistral_v11", (), id=identity))
    if start >= len(src.text) or src.text.startswith("[TOOL_CALLS]", start):
        return _without_arguments(reading, at, start, name, identity)
    if src.final and any(token.startswith(src.text[start:]) for token in _V11_TOKENS):
        return _without_arguments(reading, at, len(src.text), name, identity, cut=True)
    if src.text.startswith("[ARGS]", match.end()) and peel(name, reading.tools) is not None:
        return (yield from _unreadable(reading, at, start, name, identity))
    return False


def _unreadable(reading: Reading, at: int, start: int, name: str, identity: str) -> Steps[bool]:
    """Enter a call whose arguments, up to the end of their line, are no object."""
    over = yield from search(reading.src, _LINE_END, start, len("[TOOL_CALLS]"))
    end = over.start() if over is not None else len(reading.src.text)
    reading.end(reading.begin(at, name, "mistral_v11", identity), end, None, reading.src.text[start:end].strip())
    return True


def _without_arguments(
    reading: Reading, at: int, start: int, name: str, identity: str, *, cut: bool = False, dialect: str = "mistral_v11"
) -> bool:
    """Enter a name without arguments: a call of a tool that needs none. At a text's end, the rest may be cut off."""
    known = peel(name, reading.tools)
    if known is None and reading.tools is not None:
        return False
    tool = reading.tool(name)
    cut = cut or (start >= len(reading.src.text) and (reading.ended_by_length or (tool is not None and bool(tool.required))))
    reading.end(reading.begin(at, name, dialect, identity), start, {}, "", complete=not cut)
    return True


def _args_only(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `get_weather[ARGS]{...}`: the marker before the name is missing."""
    begin = name_start(reading.src.text, 0, at)
    name = reading.src.text[begin:at]
    if begin < reading.done or peel(name, reading.tools) is None:
        return False
    start = yield from skip_space(reading.src, body)
    if not reading.src.text.startswith("{", start):
        return False
    return (yield from named_call(reading, begin, name, start, "mistral_v11", ()))


def _v11_follows(text: str, at: int, final: bool) -> bool | None:
    match = _V11_NAME.match(text, at)
    if match is None:
        return _OBJECT_FOLLOWS(text, at, final)
    rest = text[match.end() : match.end() + 8]
    if not rest:
        return True if final else None
    if rest[0] == "{" or "\n" in text[match.start() : match.end()].strip():
        return True
    return _NAME_FOLLOWED(text, match.end(), final)


def _functionary(reading: Reading, at: int, body: int) -> Steps[bool]:
    head = _FUNCTION_HEAD.match(reading.src.text, body, body + _HEAD)
    if head is None:
        return False
    name, identity, start = head[1], head[2] or "", head.end()
    head = None  # a match keeps its text alive
    written = reading.src.text[body:start]
    opened = "(" in written
    lost = () if ">" in written else (Repair(kind="missing_delimiter", before=written, after=">"),)
    closers, levels = (")</function>", ")", "</function>") if opened else ("</function>",), (("</function>",),)
    return (yield from named_call(reading, at, name, start, "functionary_v31", closers, id=identity, repairs=lost, levels=levels))


def function_follows(text: str, at: int, final: bool) -> bool | None:
    """Whether a name stands at `at`, with a JSON object after it (perhaps with `=` or `(` between)."""
    if _FUNCTION_HEAD.match(text, at, at + _HEAD):
        return True
    return None if not final and len(text) - at < _HEAD and _FUNCTION_MAYBE.match(text, at) else False


def _solar(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    name_at = yield from search(src, _SOLAR_FIELD, body, 24)
    if name_at is None or name_at[1] != "name":
        return False
    args_at = yield from search(src, _SOLAR_FIELD, name_at.end(), 24)
    if args_at is None or args_at[1] != "args":
        return False
    identity, name = src.text[body : name_at.start()].strip(), src.text[name_at.end() : args_at.start()].strip()
    if not name:
        return False
    start = yield from skip_space(src, args_at.end())
    return (yield from named_call(reading, at, name, start, "solar_open", ("<|tool_call:end|>",), id=identity))


def _laguna(reading: Reading, at: int, body: int) -> Steps[bool]:
    head = _LAGUNA_HEAD.match(reading.src.text, body)
    if head is None:
        return False
    name, start = head[1].rstrip(":") or head[1], head.end()
    head = None  # a match keeps its text alive
    if reading.tools is not None and peel(name, reading.tools) is None:
        inner = yield from match_within(reading.src, _NAMED_OBJECT, start, _HEAD)
        if inner is not None and peel(inner[1], reading.tools) is not None:  # words before a call object
            return False
    return (yield from named_call(reading, at, name, start, "laguna_name_line", ("</tool_call>",)))


def _qwen_agent(reading: Reading, at: int, body: int) -> Steps[bool]:
    head = _FLOWER_HEAD.match(reading.src.text, body, body + _HEAD)
    while head is not None and head.end() == len(reading.src.text) and not reading.src.final:
        yield None
        head = _FLOWER_HEAD.match(reading.src.text, body, body + _HEAD)
    if head is None:
        return False
    name, start = head[1], head.end()
    if head[2] == "{":
        return (yield from named_call(reading, at, name, start, "qwen_agent", ()))
    if head[2] is None and start < len(reading.src.text):
        return False
    return _without_arguments(reading, at, start, name, "", dialect="qwen_agent")


def _flower_follows(text: str, at: int, final: bool) -> bool | None:
    """Whether a name stands at `at`, with the marker of its arguments after it."""
    if _FLOWER_HEAD.match(text, at, at + _HEAD):
        return True
    return None if not final and len(text) - at < _HEAD and _FLOWER_MAYBE.match(text, at) else False


def _write_v11(calls: Calls) -> str:
    return "".join(f"[TOOL_CALLS]{name}[ARGS]{as_json(given)}" for name, given in calls)


def _write_functionary(calls: Calls) -> str:
    return "".join(f"<function={name}>{as_json(given)}</function>" for name, given in calls)


def _write_solar(calls: Calls) -> str:
    return "<|tool_calls|>" + "".join(
        f"<|tool_call:begin|>call_{n}<|tool_call:name|>{name}<|tool_call:args|>{as_json(given)}<|tool_call:end|>"
        for n, (name, given) in enumerate(calls)
    )


def _write_qwen_agent(calls: Calls) -> str:
    return "\n".join(f"✿FUNCTION✿: {name}\n✿ARGS✿: {as_json(given)}" for name, given in calls)


def _write_laguna(calls: Calls) -> str:
    return "\n".join(f"<tool_call>{name}\n{as_json(given)}</tool_call>" for name, given in calls)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "mistral_v11",
        "Mistral Small 3, Ministral 3, Devstral (tokenizers v11 and later)",
        _write_v11,
        (
            call_marker("mistral_v11", _mistral_v11, "[TOOL_CALLS]", follows=_v11_follows),
            call_marker("mistral_v11", _args_only, "[ARGS]"),
        ),
        whole=(Layout("[TOOL_CALLS]$name[ARGS]$args"),),
    ),
    Dialect(
        "functionary_v31",
        "Functionary v3.1, the Llama 3.1 prompt format, Groq Llama",
        _write_functionary,
        (call_marker("functionary_v31", _functionary, "<function=", follows=function_follows),),
        whole=(Layout("<function=$name>$args</function>"),),
    ),
    Dialect(
        "solar_open",
        "Solar Open 100B",
        _write_solar,
        (
            call_marker("solar_open", _solar, "<|tool_call:begin|>"),
            call_marker("solar_open", section(), "<|tool_calls|>", follows=starts("<|tool_call:begin|>")),
        ),
        whole=(
            Layout(
                "<|tool_call:begin|>$id<|tool_call:name|>$name<|tool_call:args|>$args<|tool_call:end|>",
                "<|tool_calls|>",
                between="",
                id="call_$index",
            ),
        ),
    ),
    Dialect(
        "laguna_name_line",
        "Poolside Laguna, drifting GLM",
        _write_laguna,
        (call_marker("laguna_name_line", _laguna, "<tool_call>", follows=name_then("{")),),
        whole=(Layout("<tool_call>$name\n$args</tool_call>"),),
    ),
    Dialect(
        "qwen_agent",
        "Qwen2 and Qwen2.5 under Qwen-Agent's prompt",
        _write_qwen_agent,
        (call_marker("qwen_agent", _qwen_agent, "✿FUNCTION✿", follows=_flower_follows),),
        whole=(Layout("✿FUNCTION✿: $name\n✿ARGS✿: $args"),),
    ),
)
