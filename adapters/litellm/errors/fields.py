"""The names of a request's parts in wire formats and in sentences, and the marks with which phrases are compared.

A server names a refused field as its own wire format does: Gemini's `responseSchema`, Bedrock's `toolConfig.toolChoice`,
Anthropic's `thinking.budget_tokens`, a `temperature` in `options`, `generationConfig` or `body`. Some names are common words
(`system`, `stop`, `format`). These count only at the start of a line, in quotes, or beside a word such as `field`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.request.choices import choice_capability
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["MARK", "VALUES", "is_field", "marked", "marks_in", "part_of"]

_NAMES_BY_PART: dict[str, tuple[str, ...]] = {
    "tools": (
        "functions",
        "functiondeclarations",
        "function_declarations",
        "tools.function_declarations",
        "tools.functiondeclarations",
    ),
    "tool_choice": (
        *("toolchoice", "tool_choice.type", "tool_choice.function", "tool_choice.name", "function_call", "toolchoice.any"),
        *("toolchoice.tool", "toolchoice.auto"),
        *("functioncallingconfig", "function_calling_config", "functioncallingconfig.mode", "function_calling_config.mode"),
        *("allowedfunctionnames", "allowed_function_names"),
    ),
    "parallel_tool_calls": ("disable_parallel_tool_use", "tool_choice.disable_parallel_tool_use", "paralleltoolcalls"),
    "response_format": (
        *("responseformat", "response_format.type", "response_schema", "responseschema", "response_json_schema"),
        *("responsejsonschema", "response_mime_type", "responsemimetype", "output_format", "output_config", "guided_json"),
        *("output_config.format", "outputconfig", "text.format", "response_format.json_schema", "json_schema", "json_object"),
    ),
    "system_message": ("systeminstruction", "system_instruction"),
    "thinking": (
        *("thinking.budget_tokens", "thinking.type", "budget_tokens", "thinkingconfig", "thinking_config", "enable_thinking"),
        *("thinkingbudget", "thinking_budget", "reasoning_config", "reasoningconfig", "reasoning.effort", "include_thoughts"),
        *("thinkingconfig.thinkingbudget", "thinking_config.thinking_budget", "includethoughts", "reasoning_effort"),
    ),
    "max_tokens": ("maxtokens", "maxoutputtokens", "max_output_tokens", "max_tokens_to_sample", "num_predict"),
    "max_completion_tokens": (),
    "temperature": (),
    "stop": ("stop_sequences", "stopsequences"),
    "top_p": ("topp",),
    "cache_control": ("cachecontrol", "cachepoint", "cache_point", "cachedcontent", "prompt_cache"),
    "stream_options": ("stream_options.include_usage", "streamoptions", "include_usage"),
    "web_search_options": ("websearchoptions", "google_search", "googlesearch", "google_search_retrieval", "web_search"),
    "usage": ("usage.include",),
    "image_url": ("input_image", "image_url.url"),
    "input_file": ("file_data", "file_url", "document_url"),
    "input_audio": ("audio_url",),
    "seed": ("logprobs", "logit_bias", "top_k", "frequency_penalty", "presence_penalty"),
}
"""llmcore's names (OpenAI's), and those of other formats, in lower case. `seed` stands for parameters that occur in lists
with others."""
_BY_NAME = {name: ours for ours, names in _NAMES_BY_PART.items() for name in (ours, *names)}
_WIRE_NAMES = {"gemini": {"toolconfig": "tool_choice", "tool_config": "tool_choice"}}
_ELSEWHERE = {"toolconfig": "tools", "tool_config": "tools"}
"""A name that means another part in one wire format."""
_CONTAINERS = (
    *("body", "request", "options", "parameters", "params", "generationconfig", "generation_config", "inferenceconfig"),
    *(
        "inference_config",
        "additionalmodelrequestfields",
        "additional_model_request_fields",
        "toolconfig",
        "tool_config",
        "config",
    ),
)
"""Objects that contain such a field, if its path is given."""
_COMMON_WORDS = {
    **{name: name for name in ("stop", "stream", "thinking", "strict", "usage")},
    **{"system": "system_message", "format": "response_format", "think": "thinking", "reasoning": "thinking"},
}
"""Fields whose names are common words."""
MARK = "\u27e6{}\u27e7"
"""How a field is marked in the text that is compared with phrases."""
_MARKED = re.compile("\u27e6([a-z_]+)\u27e7")
_QUOTE = r"['\"`\u201c\u201d\u2018\u2019]"
_NAME = lazy_regex(r"(?<![\w.\[\]/\u27e6-])[a-z_]\w*(?:\.[a-z_]\w*)*(?![\w\[]|\.[\d\w])")
_QUOTED = lazy_regex(rf"{_QUOTE}?\[?(\u27e6[a-z_]+\u27e7)\]?{_QUOTE}?")
_KIND = r"(?:field|parameter|argument|key|property|option|attribute|setting|keyword|member)s?"
_IN_BRACKETS = lazy_regex(rf"\b({_KIND}) \[([a-z_]\w{{0,64}})\]")
_WORD = "|".join(sorted(_COMMON_WORDS, key=len, reverse=True))
_WHOLE = r"(?![\w\[-]|\.\w)"
_IN_PATHS = (
    (lazy_regex(r"\btools?(?:\[\d{1,4}\]|\.\d{1,4})\.(?:function\.|custom\.)?strict\b"), MARK.format("strict")),
    (lazy_regex(r"\bmessages?(?:\[\d{1,4}\]|\.\d{1,4})\.content[\w.\[\]]{0,20}\.cache_control\b"), MARK.format("cache_control")),
    (lazy_regex(r"\bmessages?(?:\[\d{1,4}\]|\.\d{1,4})\.role\b"), MARK.format("system_message")),
)
"""Fields of one tool or one message that every tool or message has."""
_AS_FIELD = lazy_regex(
    rf"(?P<a>{_QUOTE})(?P<quoted>{_WORD})(?={_QUOTE})"
    rf"|(?P<b>(?:^|[;\n.])\s*)(?P<first>{_WORD}){_WHOLE}(?=:|\?|\s(?:is|are) (?:not|un|never|no longer|dis)"
    r"|\s(?:un|not )(?:supported|available|allowed|known|implemented)\b)"
    rf"|(?P<c>\b{_KIND}(?: named| called)?:? ?\[?|\b(?:option provided|arguments? supplied): )(?P<behind>{_WORD}){_WHOLE}"
    rf"|(?P<d>\b(?:accept|support|take|allow|use of|know|(?:remove|omit|drop)) (?:the )?)"
    rf"(?P<taken>{_WORD}){_WHOLE}(?=\s*(?:$|[.;,\n]|(?:is|are) not|(?:field|parameter|argument|key|option)\b))"
    rf"|(?P<e>\u27e7(?:, ?(?:and |or )?| and | or ){_QUOTE}?)(?P<listed>{_WORD}){_WHOLE}"
    rf"|(?P<f>)\b(?P<listing>{_WORD})(?=(?:, ?| and | or ){_QUOTE}?\u27e6)"
)
VALUES = frozenset({"temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "thinking"})
"""Fields whose values come from the caller."""


def marked(text: str, wire: str | None, nouns: Mapping[str, re.Pattern[str]]) -> str:
    """Return the text (lower case) with a mark for each field that it names. `nouns` are words for fields in sentences."""

    def by_name(found: re.Match[str]) -> str:
        name = _field_name(found[0], wire)
        return found[0] if name is None or (name in _COMMON_WORDS.values() and found[0] in _COMMON_WORDS) else MARK.format(name)

    def as_field(found: re.Match[str]) -> str:
        before = next(value for name in "abcdef" if (value := found[name]) is not None)
        word = next(value for name in ("quoted", "first", "behind", "taken", "listed", "listing") if (value := found[name]))
        return f"{before}{MARK.format(_COMMON_WORDS[word])}"

    text = _IN_BRACKETS.sub(r"\1 \2", text.replace("(s)", "s").replace("\u2019", "'"))
    for path, mark in _IN_PATHS:
        text = path.sub(mark, text)
    text = _AS_FIELD.sub(as_field, _NAME.sub(by_name, text))
    for name, words in nouns.items():
        text = words.sub(MARK.format(name), text)
    return _QUOTED.sub(r"\1", text)


def _field_name(name: str, wire: str | None) -> str | None:
    """llmcore's name of a field, without its container. None for other names."""
    wire_names = _WIRE_NAMES.get(wire or "", _ELSEWHERE)
    for _ in range(3):
        if (known := wire_names.get(name) or _BY_NAME.get(name)) is not None:
            return known
        around, dot, name = name.partition(".")
        if not dot or around not in _CONTAINERS:
            return None
        if name in _COMMON_WORDS:
            return _COMMON_WORDS[name]
    return None


def is_field(name: str) -> bool:
    """Return whether a field has this name."""
    return name in _BY_NAME or name in _COMMON_WORDS


def marks_in(text: str) -> list[str]:
    """Return the fields marked in the text, each once."""
    return list(dict.fromkeys(_MARKED.findall(text)))


_PARTS = {
    **{"tools": "native_tools", "parallel_tool_calls": "parallel_tools", "thinking": "reasoning", "image_url": "images"},
    **{"input_file": "files", "input_audio": "audio"},
    **{"web_search_options": "web_search", "stream": "streaming"},
}


def part_of(field: str, call: ModelCall | None) -> str:
    """Return the part of the request to which a field belongs."""
    can = call.capabilities if call is not None else None
    if field == "response_format":
        return "json_object" if call is not None and call.mode == "json_object" else "json_schema"
    if field == "tool_choice":
        return (choice_capability(call, can or Capabilities()) if call is not None else None) or "tool_choice_required"
    if field in ("max_tokens", "max_completion_tokens"):  # two names of one parameter: servers name either, whichever was sent
        return "max_completion_tokens" if can is not None and "max_tokens" in can.unsupported_parameters else "max_tokens"
    return _PARTS.get(field, field)
