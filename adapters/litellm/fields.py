"""What the parts of a request are called on the wires, and the one name that the sentences of refusals are read by.

A server names the field that it does not take as its own wire does: Gemini's `responseSchema`, Bedrock's `toolConfig.toolChoice`,
Anthropic's `thinking.budget_tokens`, a `temperature` of `options`, `generationConfig` or `body`. Some names are common words
(`system`, `stop`, `format`): they name a field where fields stand, at the start of a line, in quotes, or beside the word for one.
"""

from __future__ import annotations

import re

from llmcore.types.late import late

__all__ = ["in_our_names"]

_OURS: dict[str, tuple[str, ...]] = {
    "tools": ("functiondeclarations", "function_declarations", "tools.function_declarations", "tools.functiondeclarations"),
    "tool_choice": (
        *("toolchoice", "tool_choice.type", "tool_choice.function", "tool_choice.name", "function_call"),
        *("functioncallingconfig", "function_calling_config", "functioncallingconfig.mode", "function_calling_config.mode"),
        *("allowedfunctionnames", "allowed_function_names"),
    ),
    "parallel_tool_calls": ("disable_parallel_tool_use", "tool_choice.disable_parallel_tool_use", "paralleltoolcalls"),
    "response_format": (
        *("responseformat", "response_format.type", "response_schema", "responseschema", "response_json_schema"),
        *("responsejsonschema", "response_mime_type", "responsemimetype", "output_format", "output_config", "guided_json"),
        *("output_config.format", "outputconfig", "text.format", "response_format.json_schema"),
    ),
    "system_message": ("systeminstruction", "system_instruction"),
    "thinking": (
        *("thinking.budget_tokens", "thinking.type", "budget_tokens", "thinkingconfig", "thinking_config", "enable_thinking"),
        *("thinkingbudget", "thinking_budget", "reasoning_config", "reasoningconfig", "reasoning.effort", "include_thoughts"),
        *("thinkingconfig.thinkingbudget", "thinking_config.thinking_budget", "includethoughts"),
    ),
    "max_tokens": ("maxtokens", "maxoutputtokens", "max_output_tokens", "max_tokens_to_sample", "num_predict"),
    "stop": ("stop_sequences", "stopsequences"),
    "top_p": ("topp",),
    "cache_control": ("cachecontrol", "cachepoint", "cache_point", "cachedcontent", "prompt_cache"),
    "stream_options": ("stream_options.include_usage", "streamoptions"),
    "web_search_options": ("websearchoptions",),
    "usage": ("usage.include",),
}
"""Our names (OpenAI's), and those of the other wires, in small letters."""
_BY_NAME = {name: ours for ours, names in _OURS.items() for name in names}
_OF_WIRES = {"gemini": {"toolconfig": "tool_choice", "tool_config": "tool_choice"}}
_ELSEWHERE = {"toolconfig": "tools", "tool_config": "tools"}
"""One name, by the wire that has it for another part."""
_AROUND = (
    *("body", "request", "options", "parameters", "params", "generationconfig", "generation_config", "inferenceconfig"),
    *("inference_config", "additionalmodelrequestfields", "additional_model_request_fields"),
    *("toolconfig", "tool_config", "config"),
)
"""What such a field stands in, where the name is told with it."""
_COMMON = {
    **{name: name for name in ("stop", "stream", "thinking", "strict", "usage")},
    **{"system": "system_message", "format": "response_format", "think": "thinking", "reasoning": "thinking"},
}
"""Fields whose names are words."""
_NAME = late(r"(?<![\w.\[\]/-])[a-z_]\w*(?:\.[a-z_]\w*)*(?![\w\[]|\.[\d\w])")
_QUOTES = ("'", '"', "`", "\u201c", "\u201d", "\u2018", "\u2019")
_QUOTE = f"[{''.join(_QUOTES)}]"
_KIND = r"(?:field|parameter|argument|key|property|option|attribute|setting|keyword|member)s?"
_WORD = "|".join(sorted(_COMMON, key=len, reverse=True))
_WHOLE = r"(?![\w\[-]|\.\w)"
_OF_EACH_TOOL = late(r"['\"`]?\btools?(?:\[\d{1,4}\]|\.\d{1,4})\.(?:function\.|custom\.)?strict\b['\"`]?")
_IN_BRACKETS = late(rf"\b({_KIND}) \[([a-z_]\w{{0,64}})\]")
_AS_A_FIELD = late(
    rf"(?P<quoted>{_QUOTE})(?P<a>{_WORD})(?={_QUOTE})"
    rf"|(?P<before>(?:^|[;\n.])\s*)(?P<b>{_WORD}){_WHOLE}(?=:|\s(?:is|are) (?:not|un|never|no longer|dis)"
    r"|\s(?:un|not )(?:supported|available|allowed|known|implemented)\b)"
    rf"|(?P<kind>\b{_KIND}(?: named| called)?:? )(?P<c>{_WORD}){_WHOLE}"
    rf"|(?P<verb>\b(?:accept|support|take|allow|use of|know|(?:remove|omit|drop)) (?:the )?)"
    rf"(?P<d>{_WORD}){_WHOLE}(?=\s*(?:$|[.;,\n]|(?:is|are) not|(?:field|parameter|argument|key|option)\b))"
)


def in_our_names(text: str, wire: str | None) -> str:
    """The text (lower case) with the fields that it names by our names, those that are common words in quotes."""

    def renamed(found: re.Match[str]) -> str:
        name = _ours(found[0], wire) or found[0]
        is_bare = name != found[0] and name in _COMMON and text[found.start() - 1 : found.start()] not in _QUOTES
        return f"'{name}'" if is_bare else name

    def quoted(found: re.Match[str]) -> str:
        word = next(found[group] for group in "abcd" if found[group])
        before = found["before"] or found["kind"] or found["verb"] or ""
        name = _COMMON[word]
        return f"{found['quoted']}{name}" if found["quoted"] else f"{before}'{name}'"

    text = _IN_BRACKETS.sub(r"\1 '\2'", _OF_EACH_TOOL.sub("'strict'", text.replace("(s)", "s")))
    return _AS_A_FIELD.sub(quoted, _NAME.sub(renamed, text))


def _ours(name: str, wire: str | None) -> str | None:
    """Our name of a field, without what it stands in; None where it is no other wire's."""
    for _ in range(3):
        known = _BY_NAME.get(name) or _OF_WIRES.get(wire or "", _ELSEWHERE).get(name)
        if known is not None:
            return known
        around, dot, inner = name.partition(".")
        if not dot or around not in _AROUND:
            return None
        name = inner
        if "." not in name and name not in _BY_NAME:
            return _OF_WIRES.get(wire or "", _ELSEWHERE).get(name, name)
    return None
