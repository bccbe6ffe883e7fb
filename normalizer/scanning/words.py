"""Words of the formats that several packages use."""

from __future__ import annotations

__all__ = [
    "ARGUMENT_KEYS",
    "BEFORE_BARE",
    "BLANKS",
    "CALL_FENCES",
    "COLONS",
    "ENVELOPE",
    "FACES",
    "HTML_NAMES",
    "ID_KEYS",
    "NAMING",
    "NOT_IN_ASCII",
    "OWN_SIGNS",
    "PROMPTED_TAGS",
    "STRAY_CLOSERS",
    "TURN_TOKENS",
]

COLONS = (":", "：")  # noqa: RUF001 # full-width signs are intended, here and below
"""The ends of a lead-in before a call on its line."""
ENVELOPE = "llmcore_envelope"
"""The registry name of the form of calls that the JSON modes teach."""
NOT_IN_ASCII = frozenset({"ru", "zh", "ja", "ko", "ar", "hi"})
"""Languages in which no word is written in ASCII."""
BLANKS = r"\s\u200b\u2060\ufeff"
"""Members of a character class: white space, zero-width spaces and a byte order mark."""
BEFORE_BARE = frozenset((*COLONS, *" \t\r\n\u200b\u2060\ufeff\"'`*>_;“„‘‚”»›«‹「『《〈。！？，、"))  # noqa: RUF001
"""Characters that may stand directly before a bare form. (`;` ends an escaped tag, `&gt;`.)

After any other character, a bracket belongs to the text before it.
"""

FACES = (
    "\u2639\u263a\u270a-\u270d\u2728\u2764\u200d\ufe0f"
    "\U0001f300-\U0001f533\U0001f536-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001faff"
)
"""Members of a character class: emoji that end a sentence as a point does. Check marks and lights are excluded: they judge."""
ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "params", "input", "tool_input", "action_input"),
    *("kwargs", "inputs", "toolInput", "tool_args", "tool_arguments", "tool_parameters", "function_args", "function_arguments"),
)
"""Keys under which a call has its arguments."""
OWN_SIGNS = "◁✿"
"""Characters other than `<` and brackets that begin markers: of Kimi's reasoning, of Qwen-Agent's calls.

A row whose opener begins with another character is refused until it is added here. Names may not begin with these characters.
"""
TURN_TOKENS = (
    "</s>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|eot|>",
    "<|eom|>",
    "<turn|>",
    "<|role_end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|content_model_end_sampling|>",
    "<|plamo:tag|>",
    "<|CHATBOT_TOKEN|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<|message_sep|>",
    "<|end_message|>",
    "<|content_text|>",
    "<|message_model|>",
    "<|endoftext|>",
)
"""End-of-turn tokens, and tokens that only name the speaker. They are markup wherever they stand."""

CALL_FENCES = frozenset({"function_call", "tool_call", "tool_calls", "tools", "tools_call", "function_calls"})
"""Info words by which a fence says that it is a call."""

PROMPTED_TAGS = ("tool_use", "tool", "use_tool", "call", "call_tool", "action", "function", "invoke", "execute", "api_call")
"""Tags by which prompts ask for a call in JSON or Python."""

NAMING = ("name", "tool_name", "function_name", "tool", "function")
"""Attributes, elements and keys that name the tool of a call in markup."""

ID_KEYS = ("id", "call_id", "tool_call_id")
"""Keys of a call's id."""

STRAY_CLOSERS = (
    "</tool_call>",
    "</tool_calls>",
    "</TOOLCALL>",
    "</function_calls>",
    "</function_call>",
    "</function>",
    "</tool_code>",
    "<|tool_call_end|>",
    "<|action_end|>",
    "<|END_ACTION|>",
    "<|tools_suffix|>",
    "<|python_end|>",
    "<tool_call|>",
    "<end_function_call>",
    "[/TOOL_CALLS]",
    "[/TOOL_CALL]",
    "[END_TOOL_REQUEST]",
    "</longcat_tool_call>",
)
"""Closers whose opener was lost. After a whole body, they are markup and end it."""

HTML_NAMES = frozenset((
    "a", "abbr", "address", "article", "aside", "audio", "b", "base", "body", "br", "button", "canvas", "caption",
    "center", "cite", "code", "col", "data", "datalist", "dd", "del", "details", "dfn", "dialog", "div", "dl", "dt", "em",
    "embed", "fieldset", "figure", "font", "footer", "form", "frame", "h1", "h2", "h3", "h4", "h5", "h6", "head",
    "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "label", "legend", "li", "link", "main", "map",
    "mark", "menu", "meta", "meter", "nav", "object", "ol", "optgroup", "option", "output", "p", "param", "picture",
    "pre", "progress", "q", "s", "samp", "script", "search", "section", "select", "slot", "small", "source", "span",
    "strong", "style", "sub", "summary", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead",
    "time", "title", "tr", "track", "u", "ul", "var", "video", "wbr",
))  # fmt: skip
"""Elements of HTML. A tool of such a name needs one of its parameters, and its tags need their own lines."""
