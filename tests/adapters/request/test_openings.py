"""What a request opens of its reply: the reasoning, and the tool that bare arguments belong to."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.output import output_plan, output_tools
from llmcore.types import Message, Request, ToolDefinition
from tests.adapters.conftest import WEATHER, call_of

AT = Endpoint(provider="openai_compatible", model="m")
OTHER = ToolDefinition(name="other")
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("<think>\nLet me", True),
        ("<think>done</think>", False),
        ("<think>done</think><think>", True),
        ("Hello", False),
        ("<Thinking>", True),
    ],
)
def test_reasoning_is_open_where_the_prompt_ends_inside_it(last: str, expected: bool) -> None:
    messages = [
        Message.model_validate({"role": "user", "content": "hi"}),
        Message.model_validate({"role": "assistant", "content": last}),
    ]
    assert reasoning_is_open(call_of(AT, Request(messages=messages))) is expected


def test_what_the_user_says_and_what_a_user_writes() -> None:
    assert reasoning_is_open(call_of(AT, reasoning_open=True))
    assert not reasoning_is_open(call_of(AT, "what does <think> mean?"))


@pytest.mark.parametrize("mode", ["native_tools", "json_object", "text"])
@pytest.mark.parametrize(
    ("tools", "choice", "typed", "expected"),
    [
        ((WEATHER,), "auto", False, None),
        ((WEATHER,), "required", False, "get_weather"),
        ((WEATHER, OTHER), "required", False, None),
        ((WEATHER, OTHER), {"name": "other"}, False, "other"),
        ((WEATHER,), "auto", True, None),  # the tool or the answer
        ((WEATHER,), "none", True, None),  # the output tool alone: its arguments are the answer
        ((), "required", True, None),
        ((WEATHER,), "none", False, None),
    ],
)
def test_the_forced_tool_is_the_same_in_every_mode(
    mode: str, tools: tuple[ToolDefinition, ...], choice: Any, typed: bool, expected: str | None
) -> None:
    request = Request.model_validate({"messages": "x", "tool_choice": choice})
    call = call_of(AT, request, tools=tools, mode=mode, output_schema=SCHEMA if typed else None)
    plan = output_plan(call, Capabilities(schema_with_tools=False))
    assert forced_tool(call, output_tools(call, plan)) == expected
