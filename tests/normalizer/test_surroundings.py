"""A call is read whatever stands around it: prose, reasoning, line endings of another system, tags and fences of another format."""

from __future__ import annotations

import pytest

from llmcore.normalizer.core.rows import Calls
from llmcore.normalizer.dialects.registry import DIALECTS

from .helpers import read_every_way

_CALLS: Calls = [("get_weather", {"city": "Oslo", "days": 3}), ("read_file", {"path": "a/b"})]

_SURROUNDINGS = {
    "a byte order mark": "\ufeff{}",
    "white space": "   {}   ",
    "a sentence before": "I will look that up.\n{}",
    "a lead-in": "I will look that up:\n\n{}",
    "a sentence behind": "{}\n\nI will tell you when it is done.",
    "reasoning": "<think>\nA tool can tell.\n</think>\n\n{}",
    "reasoning whose opener the prompt held": "A tool can tell.\n</think>\n\n{}",
    "an end-of-turn token": "{}<|im_end|>",
    "an end of text": "{}</s>",
    "an answer's tags": "<answer>\n{}\n</answer>",
    "a fence": "```\n{}\n```",
    "a fence of JSON": "```json\n{}\n```",
    "a fence that says what it is": "```tool_call\n{}\n```",
    "the tags of Hermes": "<tool_call>\n{}\n</tool_call>",
}

_NOT_WITHIN = {
    ("deepseek_v3", "a fence"),  # its own fence ends the one around it
    ("deepseek_v3", "a fence of JSON"),
    ("deepseek_v3", "a fence that says what it is"),
    ("labelled_block", "a fence"),
    ("labelled_block", "a fence of JSON"),
    ("labelled_block", "a fence that says what it is"),
    ("hash_rocket", "the tags of Hermes"),  # what is left is read as relaxed JSON, options and all
}


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_is_read_whatever_stands_around_it(name: str) -> None:
    row = DIALECTS[name]
    calls = list(_CALLS[:1] if row.single else _CALLS)
    text = row.write(calls)
    texts = {kind: around.replace("{}", text) for kind, around in _SURROUNDINGS.items()}
    texts["CRLF"] = text.replace("\n", "\r\n")
    for kind, written in texts.items():
        if (name, kind) not in _NOT_WITHIN:
            envelope = read_every_way(written, chunkings=1)
            assert [(call.name, call.arguments) for call in envelope.tool_calls] == calls, kind
