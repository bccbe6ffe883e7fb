"""The forms without a marker, with their names and writers.

`normalizer.bare` reads them: a bracket finds a bare form, not an opener. One form here has a marker: a fence right behind
another format's opener.
"""

from __future__ import annotations

from llmcore.normalizer.bare.fences import fence_behind_opener
from llmcore.normalizer.bodies.sections import as_text
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, arrays
from llmcore.normalizer.core.rows import Calls, Marker, Writer, as_json
from llmcore.normalizer.dialects.yaml_in_tags import mapping
from llmcore.normalizer.scanning.source import starts

__all__ = ["DIALECTS"]

_AROUND_FENCES = (
    "<tool_call>",
    "<tool_calls>",
    "<function_call>",
    "<function_calls>",
    "<TOOLCALL>",
    "<tool_code>",
    "<longcat_tool_call>",
    "[TOOL_CALLS]",
    "[TOOL_CALL]",
    "[TOOL_REQUEST]",
)


def _object(name: str = "name", arguments: str = "arguments") -> Writer:
    return lambda calls: "\n".join(as_json({name: called, arguments: given}) for called, given in calls)


def _array(calls: Calls) -> str:
    return as_json([{"name": name, "arguments": given} for name, given in calls])


def _fenced(info: str) -> Writer:
    return lambda calls: f"```{info}\n{_array(calls)}\n```"


def _envelope(calls: Calls) -> str:
    listed = [{"name": name, "arguments": given} for name, given in calls]
    return as_json({"toolCalls": listed, "content": "", "needsMoreWork": bool(calls)})


def _tool_calls(calls: Calls) -> str:
    return as_json({"tool_calls": [{"name": name, "arguments": given} for name, given in calls]})


def _single_keys(calls: Calls) -> str:
    return as_json([{name: given} for name, given in calls])


def _tool_call_key(calls: Calls) -> str:
    return "\n".join(as_json({"tool_call": {"name": name, "arguments": given}}) for name, given in calls)


def _wire(calls: Calls) -> str:
    listed = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": as_json(given)}}
        for n, (name, given) in enumerate(calls)
    ]
    return as_json({"role": "assistant", "content": None, "tool_calls": listed})


def _react(calls: Calls) -> str:
    (name, given), *_ = calls
    return f"Thought: I need a tool.\nAction: {name}\nAction Input: {as_json(given)}"


def _tool_uses(calls: Calls) -> str:
    return as_json({"tool_uses": [{"recipient_name": f"functions.{name}", "parameters": given} for name, given in calls]})


def _repr(calls: Calls) -> str:
    return repr([{"name": name, "parameters": given} for name, given in calls])


def _calling_tool(calls: Calls) -> str:
    return "\n".join(f"[Calling tool: {name}({as_json(given)})]" for name, given in calls)


def _name_line(calls: Calls) -> str:
    return "\n>>>".join(f"{name}\n{as_json(given)}" for name, given in calls)


def _labelled_lines(calls: Calls) -> str:
    blocks = (f"tool: {name}\narguments:" + (f"\n{mapping(given, '  ')}" if given else " {}\n") for name, given in calls)
    return "\n".join(blocks)


def _labelled_block(calls: Calls) -> str:
    blocks = (
        "\n".join([f"TOOL_NAME: {name}", *(f"BEGIN_ARG: {key}\n{as_text(value)}\nEND_ARG" for key, value in given.items())])
        for name, given in calls
    )
    return "\n".join(f"```tool\n{block}\n```" for block in blocks)


def _name_brace(calls: Calls) -> str:
    return "\n".join(f"{name}{as_json(given)}" for name, given in calls)


def _bare(name: str, models: str, write: Writer, whole: tuple[Layout, ...] = (), *, single: bool = False) -> Dialect:
    return Dialect(name, models, write, trust="bare", single=single, whole=whole)


_ITEM = '{"name": "$name", "arguments": $args}'


DIALECTS: tuple[Dialect, ...] = (
    _bare("bare_json", "every small model", _object(), (Layout(_ITEM, between="\n"),)),
    _bare("bare_array", "xLAM, servers with tool_choice=required", _array, arrays("", _ITEM, "")),
    _bare("fenced_json", "any model", _fenced("json"), arrays("```json\n", _ITEM, "\n```")),
    Dialect(
        "fenced_function_call",
        "Gemma 3 under a prompt of that shape; small models that put a fence into the tags of their format",
        _fenced("tool_call"),
        (Marker(fence_behind_opener, _AROUND_FENCES, follows=starts("```"), calls=True, dialect="fenced_function_call"),),
        whole=arrays("```tool_call\n", _ITEM, "\n```"),
    ),
    _bare("single_key", "Ollama templates, Qwen3.5, BFCL-style prompts", _single_keys),
    _bare(
        "tool_call_key",
        "older llama.cpp grammar, Gemma 4 E2B",
        _tool_call_key,
        (Layout(f'{{"tool_call": {_ITEM}}}', between="\n"),),
    ),
    _bare("tool_calls_key", "xLAM-fc, llama.cpp generic", _tool_calls, arrays('{"tool_calls": ', _ITEM, "}")),
    _bare("llmcore_envelope", "the envelope of this project, in prompted modes", _envelope),
    _bare("pasted_wire", "models that have seen API logs", _wire),
    _bare("react", "LangChain, CrewAI and LlamaIndex prompts", _react, single=True),
    _bare(
        "multi_tool_use",
        "GPT-4 and Codex families",
        _tool_uses,
        arrays('{"tool_uses": ', '{"recipient_name": "functions.$name", "parameters": $args}', "}"),
    ),
    _bare("python_repr", "Mistral tiny, Nemo", _repr),
    _bare("calling_tool", "Qwen3-30B-A3B", _calling_tool),
    _bare("functionary_v32", "Functionary v3.2, GLM-4-9B", _name_line),
    _bare("labelled_lines", "prompts that ask for YAML, small models of themselves", _labelled_lines),
    _bare("labelled_block", "prompts of Continue", _labelled_block),
    _bare("name_brace", "Gemma 3, Groq Llama", _name_brace),
)
