"""JSON call objects, an array of them or lines of them, between an opener and an optional closer.

One reader serves all: it reads one value after the other (`;`, `,` or white space between), then the closers. Linear: the
extent of a value is scanned once; where the closer is already there, one `str.find` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.normalizer.bodies.json_bodies import (
    QUICK,
    Body,
    add_calls,
    body_extent,
    marker_stands,
    quick_body,
    read_body,
    swallow,
    to_closer,
)
from llmcore.normalizer.bodies.preview import Preview
from llmcore.normalizer.calls.call_objects import CallObject, Message
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Dialect, Marker, Reader, Writer, as_json
from llmcore.normalizer.core.source import Follows, Steps, always, skip_space, starts
from llmcore.normalizer.core.words import PROMPTED_TAGS
from llmcore.types.envelope import Repair
from llmcore.types.late import late

__all__ = ["DIALECTS", "objects_reader"]


def objects_reader(
    dialect: str, closers: tuple[str, ...] = (), *, skip: tuple[str, ...] = (), keyed: bool = False, is_closed: bool = True
) -> Reader:
    """A reader of JSON values after an opener. `skip`: further markers that belong to the opener. `keyed`: see `calls_of`.
    `is_closed`: a closer is usual, so that what stands before one belongs to the body."""

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        src = reading.src
        start = yield from skip_space(src, body)
        for mark in skip:
            while not src.final and len(src.text) - start < len(mark) and mark.startswith(src.text[start:]):
                yield None
            if src.text.startswith(mark, start):
                start = yield from skip_space(src, start + len(mark))
        if start >= len(src.text) or src.text[start] not in "{[":
            return False
        if src.text[start] == "[" and (yield from marker_stands(reading, start, ())):
            return False
        quick = None if keyed else _sound_body(reading, start, closers)
        if quick is not None:
            end, _ = yield from swallow(reading, quick.end, closers)  # which stand there
            return _enter(reading, (at, end), [quick], dialect, keyed, None)
        preview = Preview(reading, at, start, dialect, closers, keyed=keyed)
        bodies: list[Body] = []
        while start >= 0:
            found = yield from body_extent(reading, start, closers, preview)
            bodies.append(found)
            start = -1 if found.cut or not found.closed else (yield from _next_value(reading, found.end, closers))
        preview.advance()
        end, dropped = bodies[-1].end, list[Repair]()
        if not bodies[-1].cut:
            if is_closed:
                end, dropped = yield from to_closer(reading, at, end, closers)
            else:
                end, _ = yield from swallow(reading, end, closers)
        return _enter(reading, (at, end), bodies, dialect, keyed, preview, dropped)

    return read


def _sound_body(reading: Reading, start: int, closers: tuple[str, ...]) -> Body | None:
    """Up to the first closer (or the end), if what stands before it is sound: then no string holds that closer."""
    text = reading.src.text
    end = text.find(closers[0], start, start + QUICK) if closers else -1
    if end < 0:
        if not reading.src.final or closers or len(text) - start > QUICK:
            return None
        end = len(text)
    while text[end - 1].isspace():
        end -= 1
    return quick_body(reading, start, end)


def _next_value(reading: Reading, end: int, closers: tuple[str, ...]) -> Steps[int]:
    """Where another value starts after one that ended at `end`; -1 when none does."""
    src = reading.src
    ahead = yield from skip_space(src, end)
    if ahead < len(src.text) and src.text[ahead] in ";,":
        ahead = yield from skip_space(src, ahead + 1)
    if ahead >= len(src.text) or src.text[ahead] not in "{[":
        return -1
    while any(len(closer) > len(src.text) - ahead and closer.startswith(src.text[ahead:]) for closer in closers):
        if src.final:  # the text ended within a closer, which may begin with brackets
            return -1
        yield None
    if src.text.startswith(closers, ahead):
        return -1
    if src.text[ahead] == "{":
        return ahead
    inside = yield from skip_space(src, ahead + 1)
    return ahead if src.text[inside : inside + 1] in ("{", "[", "]") else -1


_DEFINES = late(r""""(?:parameters|input_schema)"\s*+:\s*+\{\s*+"(?:type"\s*+:\s*+"object"|properties")""")
"""The schema of a tool's arguments."""


def _enter(
    reading: Reading,
    span: tuple[int, int],
    bodies: list[Body],
    dialect: str,
    keyed: bool,
    preview: Preview | None,
    dropped: Sequence[Repair] = (),
) -> bool:
    """Enter the calls of these bodies. `dropped`: what stands behind the last one."""
    (at, end), read = span, [read_body(reading, body, keyed=keyed) for body in bodies]
    dropped = [*_unread(reading, bodies, read), *dropped]
    if not (preview is not None and preview.drafts) and not any(messages for messages, _, _ in read):
        defines = _DEFINES.search(reading.src.text, bodies[0].start, end) is not None
        reading.miss(at, end, None, "definition" if defines else "no_call_object")
        if bodies[-1].cut:
            reading.cut_off()
        reading.failed(end - at)
        return False
    reading.text(at)
    if bodies[-1].lost:
        reading.cut_off()
    later: list[tuple[tuple[int, int], list[CallObject], list[Repair]]] = []
    for body, (messages, repairs, complete) in zip(bodies, read, strict=True):
        span = (at, end) if len(bodies) == 1 else (at if body is bodies[0] else body.start, body.end)
        reading.markup(span[0])
        repairs = [*repairs, *dropped]
        drafts = preview.begun_in(body.start, body.end) if preview is not None else []
        begun, calls = iter(drafts), [call for message in messages for call in message.calls]
        if preview is not None and preview.begun_in(body.end, end):
            later.append((span, calls[len(drafts) :], repairs))
            del calls[len(drafts) :]
        add_calls(reading, span, calls, dialect, complete=complete, repairs=repairs, drafts=begun)
        for draft in begun:  # what began like a call and cannot be read
            reading.end(draft, span[1], None, reading.src.text[body.start : body.end], complete=not body.cut)
        if not messages and reading.done < span[1]:
            reading.miss(*span, None, "no_call_object")
            reading.take("content", span[1])
    for span, calls, repairs in later:  # a listener knows of others behind them already
        add_calls(reading, span, calls, dialect, repairs=repairs)
    reading.take("markup" if reading.done < end and reading.pieces and reading.pieces[-1][2] != "call" else "call", end)
    return True


def _unread(reading: Reading, bodies: list[Body], read: list[tuple[list[Message], list[Repair], bool]]) -> list[Repair]:
    """What stands beside calls in a wrapper and is none."""
    text = reading.src.text
    stray = (body for body, (messages, _, _) in zip(bodies, read, strict=True) if not messages and not body.cut)
    return [Repair(kind="text_dropped", before=text[body.start : body.end], after=None, safety="guess") for body in stray]


def _object(opener: str, closer: str, arguments: str = "arguments") -> Writer:
    def write(calls: Calls) -> str:
        return "".join(f"{opener}{as_json({'name': name, arguments: given})}{closer}" for name, given in calls)

    return write


def _array(opener: str, closer: str, *, name: str = "name", arguments: str = "arguments") -> Writer:
    def write(calls: Calls) -> str:
        return f"{opener}{as_json([{name: called, arguments: given} for called, given in calls])}{closer}"

    return write


def _lines(opener: str, closer: str, separator: str, arguments: str = "arguments") -> Writer:
    def write(calls: Calls) -> str:
        return opener + separator.join(as_json({"name": name, arguments: given}) for name, given in calls) + closer

    return write


def _keyed_array(calls: Calls) -> str:
    return f"<|tools_prefix|>{as_json([{name: given} for name, given in calls])}<|tools_suffix|>"


def _row(
    name: str,
    models: str,
    openers: tuple[str, ...],
    write: Writer,
    *,
    follows: Follows = always,
    closers: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
    keyed: bool = False,
    single: bool = False,
    order: int = 0,
) -> Dialect:
    written = write([("f", {})])
    is_closed = any(closer in written for closer in closers)
    reader = objects_reader(name, closers, skip=skip, keyed=keyed, is_closed=is_closed)
    marker = Marker(reader, openers, follows=follows, calls=True, dialect=name, order=order)
    return Dialect(name, models, write, (marker,), single=single)


_OBJECTS, _OBJECTS_BEGUN = late(r"\s*(?:\{|\[\s*[{\]])"), late(r"\s*(?:\[\s*)?\Z")


def _objects(text: str, at: int, final: bool) -> bool | None:
    """An object, or a list of objects or of none."""
    if _OBJECTS.match(text, at) is not None:
        return True
    if _OBJECTS_BEGUN.match(text, at) is None:
        return False
    return bool(text[at:].strip()) if final else None  # it may have been cut off there


_OBJECT, _ARRAY, _EITHER = starts("{"), starts("["), starts("[", "{")

DIALECTS: tuple[Dialect, ...] = (
    _row(
        "hermes",
        "Hermes 2/3, Qwen2 to 3, QwQ, Granite 4, SmolLM3, MiMo-VL, ERNIE 4.5 and many fine-tunes",
        ("<tool_call>",),
        _object("<tool_call>\n", "\n</tool_call>\n"),
        follows=_OBJECT,
        closers=("</tool_call>",),
        order=-9,
    ),
    _row(
        "longcat",
        "LongCat Flash",
        ("<longcat_tool_call>",),
        _object("<longcat_tool_call>", "</longcat_tool_call>"),
        closers=("</longcat_tool_call>",),
    ),
    _row(
        "granite_20b",
        "granite-20b-functioncalling",
        ("<function_call>",),
        _lines("<function_call> ", "", "\n<function_call> "),
        follows=_EITHER,
        closers=("</function_call>",),
    ),
    _row(
        "internlm2",
        "InternLM2, Intern-S1",
        ("<|action_start|>",),
        _object("<|action_start|> <|plugin|>\n", "<|action_end|>", "parameters"),
        follows=starts("<|plugin|>"),
        closers=("<|action_end|>",),
        skip=("<|plugin|>",),
    ),
    _row(
        "gigachat3",
        "GigaChat 3",
        ("<|message_sep|>",),
        _object("<|message_sep|>\n\nfunction call<|role_sep|>\n", ""),
        follows=starts("function call"),
        skip=("function call", "<|role_sep|>"),
        single=True,
    ),
    _row("gigachat3_1", "GigaChat 3.1", ("<|function_call|>",), _object("<|function_call|>", "")),
    _row(
        "llama3_json",
        "Llama 3.1 to 3.3, Llama 4",
        ("<|python_tag|>",),
        _lines("<|python_tag|>", "", "; ", "parameters"),
        follows=_EITHER,
    ),
    _row(
        "mistral_array",
        "Mistral 7B v0.3, Nemo, xLAM (tokenizers before v11)",
        ("[TOOL_CALLS]",),
        _array("[TOOL_CALLS] ", ""),
        follows=_EITHER,
        closers=("[/TOOL_CALLS]",),
    ),
    _row(
        "granite3",
        "Granite 3.0 to 3.3, Phi-4-mini",
        ("<|tool_call|>",),
        _array("<|tool_call|>", ""),
        closers=("<|/tool_call|>",),
        follows=_EITHER,
    ),
    _row(
        "granite3_array",
        "Granite 3.1",
        ("<tool_call>",),
        _array("<tool_call> ", ""),
        follows=_ARRAY,
        closers=("</tool_call>",),
    ),
    _row(
        "tool_calls_array",
        "Jamba, Hunyuan A13B, Apriel",
        ("<tool_calls>",),
        _array("<tool_calls>", "</tool_calls>"),
        follows=_ARRAY,
        closers=("</tool_calls>",),
    ),
    _row(
        "minimax_m1",
        "MiniMax-M1, MiniMax-Text-01",
        ("<tool_calls>",),
        _lines("<tool_calls>\n", "\n</tool_calls>", "\n"),
        follows=_OBJECT,
        closers=("</tool_calls>",),
    ),
    _row(
        "nemotron_v2",
        "Nemotron Nano v2, Nemotron Deci",
        ("<TOOLCALL>",),
        _array("<TOOLCALL>", "</TOOLCALL>"),
        follows=_EITHER,
        closers=("</TOOLCALL>",),
    ),
    _row("functools", "Phi-4-mini, Firefunction v2", ("functools",), _array("functools", ""), follows=_EITHER),
    _row(
        "cohere_action",
        "Command R7B, Command A, Command 4",
        ("<|START_ACTION|>",),
        _array("<|START_ACTION|>", "<|END_ACTION|>", name="tool_name", arguments="parameters"),
        follows=_EITHER,
        closers=("<|END_ACTION|>",),
    ),
    _row(
        "apertus",
        "Apertus 2509",
        ("<|tools_prefix|>",),
        _keyed_array,
        follows=_EITHER,
        closers=("<|tools_suffix|>",),
        keyed=True,
    ),
    _row(
        "function_calls_array",
        "prompt-made",
        ("<function_calls>",),
        _array("<function_calls>", "</function_calls>"),
        follows=_objects,
        closers=("</function_calls>",),
    ),
    _row(
        "tool_request",
        "LM Studio's default prompt, for models without a template of their own",
        ("[TOOL_REQUEST]",),
        _object("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
        closers=("[END_TOOL_REQUEST]",),
    ),
    _row(
        "tool_call_brackets",
        "MiniMax drift, prompt-made",
        ("[TOOL_CALL]",),
        _object("[TOOL_CALL]", "[/TOOL_CALL]"),
        follows=starts("{", "[{"),
        closers=("[/TOOL_CALL]",),
        order=1,
    ),
    _row(
        "tagged_json",
        "prompts that ask for JSON in a tag of their own",
        tuple(f"<{tag}>" for tag in PROMPTED_TAGS),
        _object("<tool_use>\n", "\n</tool_use>\n"),
        follows=_objects,
        closers=tuple(f"</{tag}>" for tag in PROMPTED_TAGS),
        order=2,
    ),
)
