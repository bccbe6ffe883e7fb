"""A call is read whatever stands around it: prose, reasoning, line endings of another system, tags and fences of another format."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmcore.normalizer.registry import DIALECTS
from llmcore.normalizer.rows import Calls

from .helpers import read_every_way

_CALLS: Calls = [("get_weather", {"city": "Oslo", "days": 3}), ("read_file", {"path": "a/b"})]

_SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "a byte order mark": lambda text: "\ufeff" + text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "white space": lambda text: f"   {text}   ",
    "a sentence before": lambda text: f"I will look that up.\n{text}",
    "a lead-in": lambda text: f"I will look that up:\n\n{text}",
    "a sentence behind": lambda text: f"{text}\n\nI will tell you when it is done.",
    "reasoning": lambda text: f"<think>\nA tool can tell.\n</think>\n\n{text}",
    "reasoning whose opener the prompt held": lambda text: f"A tool can tell.\n</think>\n\n{text}",
    "an end-of-turn token": lambda text: f"{text}<|im_end|>",
    "an end of text": lambda text: f"{text}</s>",
    "an answer's tags": lambda text: f"<answer>\n{text}\n</answer>",
    "a fence": lambda text: f"```\n{text}\n```",
    "a fence of JSON": lambda text: f"```json\n{text}\n```",
    "a fence that says what it is": lambda text: f"```tool_call\n{text}\n```",
    "the tags of Hermes": lambda text: f"<tool_call>\n{text}\n</tool_call>",
}

_NOT_WITHIN = {
    ("deepseek_v3", "a fence"),  # its own fence ends the one around it
    ("deepseek_v3", "a fence of JSON"),
    ("deepseek_v3", "a fence that says what it is"),
    ("hash_rocket", "the tags of Hermes"),  # what is left is read as relaxed JSON, options and all
}


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_is_read_whatever_stands_around_it(name: str) -> None:
    row = DIALECTS[name]
    calls = list(_CALLS[:1] if row.single else _CALLS)
    for kind, around in _SURROUNDINGS.items():
        if (name, kind) not in _NOT_WITHIN:
            envelope = read_every_way(around(row.write(calls)), chunkings=1)
            assert [(call.name, call.arguments) for call in envelope.tool_calls] == calls, kind
