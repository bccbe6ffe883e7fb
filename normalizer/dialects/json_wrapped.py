"""JSON call objects, an array of them or lines of them, between an opener and an optional closer.

`bodies.json_objects` reads all of them.
"""

from __future__ import annotations

from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, arrays
from llmcore.normalizer.core.rows import Calls, Marker, Writer, as_json
from llmcore.normalizer.scanning.source import Follows, always, starts
from llmcore.normalizer.scanning.words import PROMPTED_TAGS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["DIALECTS"]


_Written = tuple[Writer, tuple[Layout, ...]]


def _item(name: str = "name", arguments: str = "arguments") -> str:
    return f'{{"{name}": "$name", "{arguments}": $args}}'


def _object(opener: str, closer: str, arguments: str = "arguments") -> _Written:
    def write(calls: Calls) -> str:
        return "".join(f"{opener}{as_json({'name': name, arguments: given})}{closer}" for name, given in calls)

    return write, (Layout(f"{opener}{_item(arguments=arguments)}{closer.rstrip()}"),)


def _array(opener: str, closer: str, *, name: str = "name", arguments: str = "arguments") -> _Written:
    def write(calls: Calls) -> str:
        return f"{opener}{as_json([{name: called, arguments: given} for called, given in calls])}{closer}"

    return write, arrays(opener, _item(name, arguments), closer)


def _lines(opener: str, closer: str, separator: str, arguments: str = "arguments") -> _Written:
    def write(calls: Calls) -> str:
        return opener + separator.join(as_json({"name": name, arguments: given}) for name, given in calls) + closer

    item = _item(arguments=arguments)
    return write, (
        Layout(item, opener, between=separator, span="first") if separator == "; " else Layout(f"{opener}{item}{closer}"),
    )


def _write_keyed(calls: Calls) -> str:
    return f"<|tools_prefix|>{as_json([{name: given} for name, given in calls])}<|tools_suffix|>"


def _write_repr(calls: Calls) -> str:
    return f"<|tool_calls|>{[{'name': name, 'arguments': given} for name, given in calls]!r}"


_KEYED_ARRAY: _Written = _write_keyed, arrays("<|tools_prefix|>", '{"$name": $args}', "<|tools_suffix|>")


def _row(
    name: str,
    models: str,
    openers: tuple[str, ...],
    written: _Written,
    *,
    follows: Follows = always,
    closers: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
    keyed: bool = False,
    single: bool = False,
    order: int = 0,
) -> Dialect:
    write, whole = written
    is_closed = any(closer in write([("f", {})]) for closer in closers)
    reader = objects_reader(name, closers, skip=skip, keyed=keyed, is_closed=is_closed)
    marker = Marker(reader, openers, follows=follows, calls=True, dialect=name, order=order)
    return Dialect(name, models, write, (marker,), single=single, whole=whole)


_OBJECTS, _OBJECTS_BEGUN = lazy_regex(r"\s*(?:\{|\[\s*[{\]])"), lazy_regex(r"\s*(?:\[\s*)?\Z")


def _objects(text: str, at: int, final: bool) -> bool | None:
    """Whether an object, or a list of objects or of nothing, stands at `at`. None if more text is needed."""
    if _OBJECTS.match(text, at) is not None:
        return True
    if _OBJECTS_BEGUN.match(text, at) is None:
        return False
    return bool(text[at:].strip()) if final else None  # the text may be cut off there


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
        "sarashina",
        "Sarashina 2.2",
        ("<|tool_calls|>",),
        (_write_repr, ()),
        follows=_EITHER,
    ),
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
        _KEYED_ARRAY,
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
