"""`docs/dialects.md` is what the registry says, and its samples are calls."""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer import DIALECTS
from llmcore.normalizer.api import normalize
from llmcore.types import ToolDefinition, ToolSet
from scripts.dialects_page import CALL, PAGE, page

TEXT = PAGE.read_text("utf-8")
SAMPLES = dict(re.findall(r"^#### (\S+)\n\n~~~text\n(.*?)\n~~~$", TEXT, re.MULTILINE | re.DOTALL))
NAME, ARGUMENTS = CALL
TOOLS = ToolSet(
    [
        ToolDefinition(
            name=NAME,
            parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        )
    ]
)


def test_the_page_is_what_the_registry_says() -> None:
    assert page() == TEXT, "run: python -m scripts.dialects_page"


def test_every_dialect_has_a_sample() -> None:
    assert list(SAMPLES) == list(DIALECTS)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_a_call(name: str) -> None:
    envelope = normalize(SAMPLES[name], TOOLS)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [(NAME, ARGUMENTS)]


def test_the_dialects_of_a_shared_opener_stand_in_the_order_they_are_tried() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| `<tool_call>` |"))
    assert row.index("hermes") < row.index("qwen3_coder") < row.index("glm45")
