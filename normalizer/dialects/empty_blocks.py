"""Empty blocks: an opener of calls and its closer, with only white space between. They call nothing and are markup.

Within a line of words, they are content, because the sentence is about the format; but special tokens stay markup. Families
whose openers are patterns (DSML, DeepSeek) have their own rows.
"""

from __future__ import annotations

from llmcore.normalizer.bare.verdicts import leads_in, line_is_over
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, Reader
from llmcore.normalizer.scanning.source import Steps, skip_space, starts

__all__ = ["MARKERS"]

_REACH = 400
_PAIRS = (
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<TOOLCALL>", "</TOOLCALL>"),
    ("<tool_code>", "</tool_code>"),
    ("<longcat_tool_call>", "</longcat_tool_call>"),
    ("<iquest_tool_call>", "</iquest_tool_call>"),
    ("<dots_function_call>", "</dots_function_call>"),
    ("<seed:tool_call>", "</seed:tool_call>"),
    ("<ifm|tool_calls>", "</ifm|tool_calls>"),
    ("]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
    ("[TOOL_CALL]", "[/TOOL_CALL]"),
    ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    ("<|tool_call>", "<tool_call|>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
    ("<|python_start|>", "<|python_end|>"),
    ("<|tools_prefix|>", "<|tools_suffix|>"),
    ("<|START_ACTION|>", "<|END_ACTION|>"),
    ("<|action_start|>", "<|action_end|>"),
    ("<|action_start|>", "<|plugin|><|action_end|>"),
    ("<|action_start|>", "<|plugin|>\n<|action_end|>"),
    ("<start_function_call>", "<end_function_call>"),
    ("<tool_use>", "</tool_use>"),
    ("<use_tool>", "</use_tool>"),
    ("<call_tool>", "</call_tool>"),
    ("<use_mcp_tool>", "</use_mcp_tool>"),
)
_TYPED = ("<tool", "<function", "<TOOL", "<use_", "<call_", "[")
"""Beginnings of openers that people type, too."""


def _empty(closer: str) -> Reader:
    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        end = yield from skip_space(reading.src, body)
        text = reading.src.text
        if not text.startswith(closer, end):
            return False
        before = reading.line_before(at, _REACH)
        in_words = text.startswith(_TYPED, at) and not leads_in(before) and before.rstrip()[-1:].isalnum()
        if in_words and not (yield from line_is_over(reading, end + len(closer))):
            return False
        reading.text(at)
        reading.markup(end + len(closer))
        return True

    return read


MARKERS = tuple(
    Marker(_empty(closer), (opener,), follows=starts(closer), order=-20, calls=True, dialect="") for opener, closer in _PAIRS
)
