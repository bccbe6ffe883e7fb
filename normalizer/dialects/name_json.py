"""Family D: the name stands outside, the arguments are JSON. (Harmony, D8, has a module of its own.)

A row says how its block reads: marker, name, separators, one JSON object, closers. The name ends at a separator, a bracket or
a line break.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llmcore.normalizer.bodies import Preview, add_calls, arguments_body, body_extent, swallow
from llmcore.normalizer.call_objects import CallObject, calls_of, no_arguments
from llmcore.normalizer.names import peel, undouble
from llmcore.normalizer.readers.json import read_json
from llmcore.normalizer.rows import Calls, Dialect, Marker, Reader, as_json
from llmcore.normalizer.source import Follows, Steps, name_then, search, skip_space, starts
from llmcore.types.envelope import Repair

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["DIALECTS", "finish_named"]


def finish_named(
    engine: TextEngine,
    at: int,
    name: str,
    start: int,
    dialect: str,
    closers: tuple[str, ...],
    *,
    id: str = "",
    repairs: tuple[Repair, ...] = (),
) -> Steps[bool]:
    """The JSON object at `start` holds the arguments of `name`: read it and its closers, enter the call."""
    preview = Preview(engine, at, start, dialect)
    if engine.listening and engine.src.text.startswith("{", start):
        preview.start(name, start, id)
    body = yield from body_extent(engine, start, closers, preview)
    end = body.end
    if not body.cut:
        end, _ = yield from swallow(engine, end, closers)
    calls, found, complete = arguments_body(engine, body)
    for call in calls:
        call.name, call.id = name, id
    add_calls(engine, (at, end), calls, dialect, complete=complete, repairs=[*repairs, *found], draft=preview.draft)
    engine.take("call", end)
    return True


def _empty(engine: TextEngine, at: int, end: int, name: str, dialect: str, id: str = "", *, invented_by_form: bool = True) -> bool:
    """A call without arguments, in a dialect that has such a form."""
    draft = engine.begin(at, name, dialect, id)
    engine.end(draft, end, {} if invented_by_form else no_arguments(name, engine.tools), "")
    return True


# ---------------------------------------------------------------------- D1 mistral v11

_V11_NAME = re.compile(r"\s*([^\s\[\]{}<>\"'`(),]{1,256})\s*")
_V11_ID = re.compile(r"\[CALL_ID\]\s*([^\s\[\]{}]{0,64})\s*")


def _mistral_v11(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    begin = at
    if src.text[body : body + 1] in ("{",) or src.text[at - 1 : at].strip():  # `bash[TOOL_CALLS]{...}`
        begin = at - len(found[0]) if (found := _NAME_BEFORE.search(src.text[max(0, at - 256) : at])) else at
        name = src.text[begin:at]
        if begin < at and peel(name, engine.tools) and src.text.startswith("{", body):
            return (yield from finish_named(engine, begin, name, body, "mistral_v11", ()))
    match = _V11_NAME.match(src.text, body)
    while match is not None and match.end() == len(src.text) and not src.final:
        yield
        match = _V11_NAME.match(src.text, body)
    if match is None:
        return False
    name, start, identity = match[1], match.end(), ""
    while not src.final and len(src.text) - start < 96 and src.text.startswith("[", start) and src.text.find("{", start) < 0:
        yield
    if (found := _V11_ID.match(src.text, start)) is not None:
        identity, start = found[1], found.end()
    if src.text.startswith("[ARGS]", start):
        start = yield from skip_space(src, start + len("[ARGS]"))
    if src.text.startswith("{", start):
        return (yield from finish_named(engine, at, name, start, "mistral_v11", (), id=identity))
    if start >= len(src.text) or src.text.startswith("[TOOL_CALLS]", start):
        ends_here = peel(name, engine.tools) is not None or engine.tools is None
        return _empty(engine, at, start, name, "mistral_v11", identity, invented_by_form=True) if ends_here else False
    return False


_NAME_BEFORE = re.compile(r"[^\s\[\]{}<>\"'`(),]{1,256}\Z")


def _args_only(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """`get_weather[ARGS]{...}`: the marker before the name was lost."""
    found = _NAME_BEFORE.search(engine.src.text[max(0, at - 256) : at])
    start = yield from skip_space(engine.src, body)
    if found is None or peel(found[0], engine.tools) is None or not engine.src.text.startswith("{", start):
        return False
    begin = at - len(found[0])
    if begin < engine.done:
        return False
    return (yield from finish_named(engine, begin, found[0], start, "mistral_v11", ()))


def _v11_follows(text: str, at: int, final: bool) -> bool | None:
    match = _V11_NAME.match(text, at)
    if match is None:
        return starts("{")(text, at, final)
    rest = text[match.end() : match.end() + 8]
    if not rest:
        return True if final else None
    if rest[0] == "{" or "\n" in text[match.start() : match.end()].strip():
        return True
    return starts("[ARGS]", "[CALL_ID]", "[TOOL_CALLS]", "</s>")(text, match.end(), final)


# ---------------------------------------------------------------------- D2, D9 kimi

_KIMI_CLOSERS = ("<|tool_call_end|>",)
_KIMI_SECTION_END = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_KIMI_HEAD = re.compile(r"<\|tool_call_argument_begin\|>|<\|tool_call_end\|>|<\|tool_call_begin\|>|<\|tool_calls?_section_\w{3,5}\|>|\{")
_SECTION_FOLLOWS = starts("<|tool_call_begin|>", *_KIMI_SECTION_END)
_KIMI_INDEX = re.compile(r"\s*(?:\.|:)\s*\d+\s*\Z")
_TRAILING_DIGITS = re.compile(r"_?\d+\Z")


def _kimi_name(engine: TextEngine, written: str) -> str:
    """The id `functions.NAME:0` is the only carrier of the name. A drifted one is read by the tools' names."""
    name = _KIMI_INDEX.sub("", written.strip())
    if name.startswith("functions.") and len(name) > len("functions."):
        name = name[len("functions.") :]
    if engine.tools is None or name in engine.tools:
        return name
    for candidate in (name.removeprefix("functions").lstrip("_."), name):
        for attempt in (candidate, _TRAILING_DIGITS.sub("", candidate)):
            if attempt in engine.tools:
                return attempt
    return name


def _kimi(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    head = yield from search(src, _KIMI_HEAD, body, 32)
    written = src.text[body : head.start() if head else len(src.text)]
    name = written.strip()
    if len(name) > engine.limits.name or "\n\n" in name:
        return False
    if head is None:
        engine.cut = True
        if name and not engine.drafts:
            engine.miss(at, len(src.text), name or None, "truncated")
        return False
    if head[0] == "{":
        return (yield from _kimi_json(engine, at, head.start(), name))
    if head[0] == "<|tool_call_argument_begin|>":
        start = yield from skip_space(src, head.end())
        if not src.text.startswith(("{", '"'), start):
            return (yield from _kimi_odd(engine, at, start, name))
        return (yield from _kimi_call(engine, at, start, name))
    if not name:
        return False
    end, _ = yield from swallow(engine, head.start(), _KIMI_CLOSERS, extra=False)
    return _empty(engine, at, end, _kimi_name(engine, name), "kimi_no_argument_marker")


def _kimi_json(engine: TextEngine, at: int, start: int, name: str) -> Steps[bool]:
    """`ping{...}`, or a whole call object in place of the name."""
    if name:
        return (yield from _kimi_call(engine, at, start, name, "kimi_no_argument_marker"))
    body = yield from body_extent(engine, start, _KIMI_CLOSERS)
    reading = read_json(engine.src.text[body.start : body.end], limits=engine.limits, cut=body.cut)
    message = calls_of(reading.values[0], engine.tools) if reading.values else None
    if message is None:
        return False
    end, _ = yield from swallow(engine, body.end, _KIMI_CLOSERS)
    add_calls(engine, (at, end), message.calls, "kimi_no_argument_marker", complete=reading.complete, repairs=reading.repairs)
    return True


def _kimi_call(engine: TextEngine, at: int, start: int, written: str, dialect: str = "kimi_k2") -> Steps[bool]:
    name = _kimi_name(engine, written)
    identity = written if ":" in written or "." in written else ""
    drifted = not name or name.isdigit() or name.startswith(("call_", "chatcmpl-", "functions"))
    if not drifted or (engine.tools is not None and name in engine.tools):
        return (yield from finish_named(engine, at, name, start, dialect, _KIMI_CLOSERS, id=identity))
    body = yield from body_extent(engine, start, _KIMI_CLOSERS)
    end, _ = yield from swallow(engine, body.end, _KIMI_CLOSERS)
    calls, repairs, complete = arguments_body(engine, body)
    for call in calls:
        _name_by_content(engine, call, name, identity or written)
    add_calls(engine, (at, end), calls, dialect, complete=complete, repairs=repairs)
    engine.take("call", end)
    return True


def _name_by_content(engine: TextEngine, call: CallObject, name: str, identity: str) -> None:
    """A drifted id: the arguments may hold the whole call, or only one tool's schema may fit them (a guess)."""
    call.name, call.id = name, identity
    inner = calls_of(call.arguments, engine.tools) if call.arguments is not None else None
    if inner is not None and len(inner.calls) == 1 and inner.calls[0].given:
        call.name, call.arguments, call.raw = inner.calls[0].name, inner.calls[0].arguments, None
        return
    if engine.tools is None or call.arguments is None or not call.arguments:
        return
    keys = set(call.arguments)
    fitting = [tool for tool in engine.tools.compiled if keys <= set(tool.properties) and tool.required <= keys]
    if len(fitting) == 1:
        call.repairs.append(Repair(kind="name_by_schema", before=name, after=fitting[0].name, safety="guess"))
        call.name = fitting[0].name


def _kimi_odd(engine: TextEngine, at: int, start: int, name: str) -> Steps[bool]:
    """What stands where the arguments should be is no JSON object."""
    match = yield from search(engine.src, _KIMI_HEAD, start, 32)
    stop = match.start() if match else len(engine.src.text)
    raw = engine.src.text[start:stop].strip()
    if not raw and match is not None and not name:
        return False
    end, _ = (yield from swallow(engine, stop, _KIMI_CLOSERS, extra=False)) if match else (stop, False)
    draft = engine.begin(at, _kimi_name(engine, name), "kimi_k2", name)
    arguments = no_arguments(draft.name, engine.tools) if not raw else None
    engine.end(draft, end, arguments, raw, complete=match is not None)
    return True


def _kimi_section(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    start = yield from skip_space(engine.src, body)
    for closer in _KIMI_SECTION_END:
        if engine.src.text.startswith(closer, start):
            start += len(closer)
    engine.commit_to(at)
    engine.take("markup", start)
    return True


# ---------------------------------------------------------------------- D3, D4 deepseek

_DS = r"[｜|]"
_DS_SPACE = r"(?:▁|_|\\_| )"
_DS_BEGIN_CALLS = rf"<{_DS}tool{_DS_SPACE}calls{_DS_SPACE}begin{_DS}>"
_DS_BEGIN_CALL = rf"<{_DS}tool{_DS_SPACE}call{_DS_SPACE}begin{_DS}>"
_DS_SEP = re.compile(rf"<{_DS}tool{_DS_SPACE}sep{_DS}>")
_DS_END = re.compile(rf"(?:\s*<{_DS}tool{_DS_SPACE}calls?{_DS_SPACE}end{_DS}>)+")
_DS_CLOSERS = ("<｜tool▁call▁end｜>", "<|tool▁call▁end|>", "<｜tool_call_end｜>", "<|tool_call_end|>", "<｜tool call end｜>")
_DS_NAME_LINE = re.compile(r"\s*([^\n<>{}`]{1,256}?)\s*(?:\n\s*)?(?:```(?:json|[a-z]{0,12})\s*)?(?=\{)")


def _deepseek(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    sep = yield from search(src, _DS_SEP, body, 24)
    if sep is None or sep.start() - body > engine.limits.name + 32 or "<" in src.text[body : sep.start()]:
        engine.cut = engine.cut or (sep is None and len(src.text) - body < engine.limits.name)
        return False
    before = src.text[body : sep.start()].strip()
    start = yield from skip_space(src, sep.end())
    if src.text.startswith("{", start):
        return (yield from _deepseek_call(engine, at, before, start, "deepseek_v31"))
    if src.text.startswith("<", start):  # another family's body in these tokens (Step-3)
        engine.commit_to(at)
        engine.take("markup", start)
        return True
    line = _DS_NAME_LINE.match(src.text, start)
    while line is None and not src.final and len(src.text) - start < 320:
        yield
        line = _DS_NAME_LINE.match(src.text, start)
    if line is None:
        return (yield from _deepseek_bare(engine, at, before, start))
    return (yield from _deepseek_call(engine, at, line[1].strip(), line.end(), "deepseek_v3"))


def _deepseek_call(engine: TextEngine, at: int, name: str, start: int, dialect: str) -> Steps[bool]:
    name = undouble(name) if engine.tools is not None and name not in engine.tools else name
    return (yield from finish_named(engine, at, name, start, dialect, ("```", *_DS_CLOSERS)))


def _deepseek_bare(engine: TextEngine, at: int, before: str, start: int) -> Steps[bool]:
    """A name and no arguments."""
    src = engine.src
    closer = yield from search(src, _DS_END, start, 64)
    stop = closer.start() if closer else len(src.text)
    name = src.text[start:stop].strip().partition("\n")[0].strip("` ") or before
    if not name or len(name) > engine.limits.name or "<" in name:
        return False
    raw = src.text[start:stop].strip()
    if before and before != "function":
        name = before
    draft = engine.begin(at, name, "deepseek_v3")
    engine.end(draft, closer.end() if closer else stop, {} if name == raw or not raw else None, raw, complete=closer is not None)
    return True


def _deepseek_section(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """The outer marker is markup when a call follows it."""
    src = engine.src
    start = yield from skip_space(src, body)
    pattern = re.compile(_DS_BEGIN_CALL + "|<steptml:")
    while not src.final and len(src.text) - start < 24:
        yield
    if pattern.match(src.text, start) is None:
        end = _DS_END.match(src.text, start)
        if end is None:
            return False
        start = end.end()
    engine.commit_to(at)
    engine.take("markup", start)
    return True


def _stray_end(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """A closer that follows a call is markup; alone it is text."""
    if not engine.drafts or engine.src.text[engine.done : at].strip():
        return False
    engine.commit_to(at)
    engine.take("markup", body)
    return True
    yield


# ---------------------------------------------------------------------- D5, D7, D10

_FUNCTION_HEAD = re.compile(r"[\s\"']*([^\s<>={}(\"']{1,256})[\s\"']*(?:>|=|\(|>\s*\()?\s*(?=\{)")


def _functionary(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    head = _FUNCTION_HEAD.match(engine.src.text, body)
    if head is None:
        return False
    return (yield from finish_named(engine, at, head[1], head.end(), "functionary_v31", (")</function>", ")", "</function>")))


def _function_follows(text: str, at: int, final: bool) -> bool | None:
    if _FUNCTION_HEAD.match(text, at):
        return True
    rest = text[at : at + 300]
    return None if not final and len(rest) < 300 and "<" not in rest and "\n" not in rest else False


_SOLAR_FIELD = re.compile(r"<\|tool_call:(name|args|end|begin)\|>")


def _solar(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    src = engine.src
    name_at = yield from search(src, _SOLAR_FIELD, body, 24)
    if name_at is None or name_at[1] != "name":
        return False
    args_at = yield from search(src, _SOLAR_FIELD, name_at.end(), 24)
    if args_at is None or args_at[1] != "args":
        return False
    identity, name = src.text[body : name_at.start()].strip(), src.text[name_at.end() : args_at.start()].strip()
    start = yield from skip_space(src, args_at.end())
    return (yield from finish_named(engine, at, name, start, "solar_open", ("<|tool_call:end|>",), id=identity))


_LAGUNA_HEAD = re.compile(r"\s*([^\s<>{}]{1,256})\s*(?=\{)")


def _laguna(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    head = _LAGUNA_HEAD.match(engine.src.text, body)
    if head is None:
        return False
    return (yield from finish_named(engine, at, head[1], head.end(), "laguna_name_line", ("</tool_call>",)))


# ---------------------------------------------------------------------- A8

_TAGGED_HEAD = re.compile(r"\s*<name>\s*([^\s<>]{1,256})\s*</name>\s*<(arguments|parameters|args)>\s*(?=\{)")


def _tagged(engine: TextEngine, at: int, body: int) -> Steps[bool]:
    """`<function><name>f</name><arguments>{...}</arguments></function>`."""
    src = engine.src
    while not src.final and "{" not in src.text[body : body + 340] and len(src.text) - body < 340:
        yield
    head = _TAGGED_HEAD.match(src.text, body)
    if head is None:
        return False
    closers = (f"</{head[2]}>", "</function>", f"</{src.text[at + 1 : body - 1]}>")
    return (yield from finish_named(engine, at, head[1], head.end(), "function_name_arguments", closers))


# ---------------------------------------------------------------------- writers and rows


def _write_v11(calls: Calls) -> str:
    return "".join(f"[TOOL_CALLS]{name}[ARGS]{as_json(given)}" for name, given in calls)


def _write_kimi(calls: Calls) -> str:
    blocks = (
        f"<|tool_call_begin|>functions.{name}:{n}<|tool_call_argument_begin|>{as_json(given)}<|tool_call_end|>"
        for n, (name, given) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{''.join(blocks)}<|tool_calls_section_end|>"


def _write_kimi_short(calls: Calls) -> str:
    blocks = "".join(f"<|tool_call_begin|>{name}{as_json(given)}<|tool_call_end|>" for name, given in calls)
    return f"<|tool_calls_section_begin|>{blocks}<|tool_calls_section_end|>"


def _write_v3(calls: Calls) -> str:
    blocks = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{as_json(given)}\n```<｜tool▁call▁end｜>" for name, given in calls
    )
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def _write_v31(calls: Calls) -> str:
    blocks = "".join(f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{as_json(given)}<｜tool▁call▁end｜>" for name, given in calls)
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def _write_functionary(calls: Calls) -> str:
    return "".join(f"<function={name}>{as_json(given)}</function>" for name, given in calls)


def _write_solar(calls: Calls) -> str:
    return "<|tool_calls|>" + "".join(
        f"<|tool_call:begin|>call_{n}<|tool_call:name|>{name}<|tool_call:args|>{as_json(given)}<|tool_call:end|>"
        for n, (name, given) in enumerate(calls)
    )


def _write_laguna(calls: Calls) -> str:
    return "\n".join(f"<tool_call>{name}\n{as_json(given)}</tool_call>" for name, given in calls)


def _write_tagged(calls: Calls) -> str:
    return "\n".join(
        f"<function><name>{name}</name><arguments>{as_json(given)}</arguments></function>" for name, given in calls
    )


def _markers(dialect: str, reader: Reader, *openers: str, follows: Follows | None = None, pattern: str | None = None) -> Marker:
    extra = {} if follows is None else {"follows": follows}
    return Marker(reader, openers, pattern=pattern, calls=True, dialect=dialect, **extra)


DIALECTS = (
    Dialect(
        "mistral_v11",
        "Mistral Small 3, Ministral 3, Devstral (tokenizers v11 and later)",
        _write_v11,
        (
            _markers("mistral_v11", _mistral_v11, "[TOOL_CALLS]", follows=_v11_follows),
            _markers("mistral_v11", _args_only, "[ARGS]"),
        ),
    ),
    Dialect(
        "kimi_k2",
        "Kimi K2, K2 Thinking, K2.5",
        _write_kimi,
        (
            _markers(
                "kimi_k2", _kimi_section, "<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", follows=_SECTION_FOLLOWS
            ),
            _markers("kimi_k2", _kimi, "<|tool_call_begin|>"),
            _markers("kimi_k2", _stray_end, *_KIMI_SECTION_END, "<|tool_call_end|>"),
        ),
    ),
    Dialect("kimi_no_argument_marker", "Kimi K2 drift, some Llama fine-tunes", _write_kimi_short),
    Dialect(
        "deepseek_v3",
        "DeepSeek V3, R1 and distils",
        _write_v3,
        (
            _markers("deepseek_v3", _deepseek_section, pattern=_DS_BEGIN_CALLS),
            _markers("deepseek_v3", _deepseek, pattern=_DS_BEGIN_CALL),
            _markers("deepseek_v3", _stray_end, pattern=rf"<{_DS}tool{_DS_SPACE}calls?{_DS_SPACE}end{_DS}>"),
        ),
    ),
    Dialect("deepseek_v31", "DeepSeek V3.1", _write_v31),
    Dialect(
        "functionary_v31",
        "Functionary v3.1, the Llama 3.1 prompt format, Groq Llama",
        _write_functionary,
        (_markers("functionary_v31", _functionary, "<function=", follows=_function_follows),),
    ),
    Dialect(
        "solar_open",
        "Solar Open 100B",
        _write_solar,
        (
            _markers("solar_open", _solar, "<|tool_call:begin|>"),
            _markers("solar_open", _kimi_section, "<|tool_calls|>", follows=starts("<|tool_call:begin|>")),
        ),
    ),
    Dialect(
        "function_name_arguments",
        "VibeThinker-3B and prompt-made formats",
        _write_tagged,
        (_markers("function_name_arguments", _tagged, "<function>", "<tool_call>", "<invoke>", follows=starts("<name>")),),
    ),
    Dialect(
        "laguna_name_line",
        "Poolside Laguna, drifting GLM",
        _write_laguna,
        (_markers("laguna_name_line", _laguna, "<tool_call>", follows=name_then("{")),),
    ),
)
