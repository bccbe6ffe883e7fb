"""What replies say of themselves, on every wire, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.testing.usages import identity_in, usage_of_body
from llmcore.types import Usage

OPENAI = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
LITELLM_CLAUDE = {**OPENAI, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4}
ANTHROPIC = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
FULL = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4, cache_write_tokens=3)


TOLD: list[tuple[Any, Usage | None]] = [
    ({"usage": OPENAI}, Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4, reasoning_tokens=2)),
    ({"usage": LITELLM_CLAUDE}, FULL.model_copy(update={"reasoning_tokens": 2})),
    (
        {"usage": {**OPENAI, "cost": 0.5}},
        Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4, reasoning_tokens=2, cost=0.5),
    ),
    ([{"choices": []}, {"usage": OPENAI}], Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4, reasoning_tokens=2)),
    ({"usage": ANTHROPIC}, FULL),
    (
        ({"message": {"usage": {**ANTHROPIC, "output_tokens": 1}}}, {"delta": {}, "usage": {"output_tokens": 5}}),
        FULL,
    ),
    (
        [{"response": {"usage": {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}}}}],
        Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4),
    ),
    (
        {"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}},
        Usage(input_tokens=10, output_tokens=5, reasoning_tokens=2),
    ),
    ({"usage": {"inputTokens": 10, "outputTokens": 5}}, Usage(input_tokens=10, output_tokens=5)),
    ([{"metadata": {"usage": {"inputTokens": 10, "outputTokens": 5}}}], Usage(input_tokens=10, output_tokens=5)),
    ({"usage": {"tokens": {"input_tokens": 10, "output_tokens": 5}}}, Usage(input_tokens=10, output_tokens=5)),
    ([{"delta": {"usage": {"tokens": {"input_tokens": 10, "output_tokens": 5}}}}], Usage(input_tokens=10, output_tokens=5)),
    ({"prompt_eval_count": 10, "eval_count": 5, "done": True}, Usage(input_tokens=10, output_tokens=5)),
    ({"choices": []}, None),
    ({"usage": None}, None),
    ({"usage": {"prompt_tokens": "many", "completion_tokens": -1, "cost": True}}, None),
    ("text", None),
    ([3, None, "x"], None),
]


@pytest.mark.parametrize(("raw", "usage"), TOLD)
def test_usage_is_read_on_every_wire(raw: Any, usage: Usage | None) -> None:
    assert usage_of_body(raw) == usage


@pytest.mark.parametrize(
    ("raw", "identity"),
    [
        ({"id": "a", "model": "m"}, ("a", "m")),
        ({"responseId": "a", "modelVersion": "m"}, ("a", "m")),
        ([{"message": {"id": "a", "model": "m"}}, {"id": "b"}], ("a", "m")),
        ([{"response": {"id": "a", "model": "m"}}], ("a", "m")),
        ({"id": 3}, ("", "")),
        ("text", ("", "")),
    ],
)
def test_id_and_model_are_read_on_every_wire(raw: Any, identity: tuple[str, str]) -> None:
    assert identity_in(raw) == identity
