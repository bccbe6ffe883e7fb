"""A tool, or a property of one, may be called as a parameter of the request: what a server says of it is not of the request."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.litellm.errors.named_tools import names_one_tool
from llmcore.types import CapabilityRefused, Request, RequestRefused, ToolDefinition
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_refusals import meaning

ENDPOINT = Endpoint(provider="openai_compatible", model="m")


def asking(*tools: ToolDefinition) -> ModelCall:
    request = Request.model_validate({"messages": "Hello", "temperature": 0.3, "top_p": 0.4})
    return call_of(ENDPOINT, request, tools=tools, capabilities=Capabilities())


def named(*names: str) -> list[ToolDefinition]:
    return [ToolDefinition(name=name, parameters={"type": "object"}) for name in names]


def with_property(name: str) -> ToolDefinition:
    inner: dict[str, Any] = {"type": "object", "properties": {name: {"type": "number"}}}
    return ToolDefinition(name="setter", parameters={"type": "object", "properties": {"options": inner}})


@pytest.mark.parametrize(
    "words",
    [
        "tools[0].function.name: 'temperature' is not allowed",
        "Function name temperature is not supported",
        "The tool is called temperature, which is not supported",
        "temperature is no valid function here",
        "Unknown function: temperature",
    ],
)
def test_what_is_said_of_a_tool_is_not_of_a_parameter(words: str) -> None:
    assert isinstance(meaning(words, asking(*named("temperature"))), RequestRefused)


@pytest.mark.parametrize(
    "words",
    ["Invalid schema for tool: property 'temperature' is not supported", "schema: unsupported property: temperature"],
)
def test_nor_is_what_is_said_of_a_property(words: str) -> None:
    assert isinstance(meaning(words, asking(with_property("temperature"))), RequestRefused)


@pytest.mark.parametrize("tools", [named("get_weather"), named("temperature"), [with_property("temperature")]])
def test_a_plain_sentence_is_of_the_parameter_all_the_same(tools: list[ToolDefinition]) -> None:
    for words in ("temperature is not supported by this model", "Unsupported parameter: 'temperature'"):
        error = meaning(words, asking(*tools))
        assert isinstance(error, CapabilityRefused)
        assert error.capability == "temperature"
    both = meaning("tools and temperature are not supported", asking(*tools))
    assert set(both.capabilities) == {"native_tools", "temperature"}


def test_a_plain_word_is_a_tool_where_it_is_called_one() -> None:
    assert names_one_tool("temperature is no valid function here", ["temperature"])
    assert not names_one_tool("temperature is not supported, nor is any function", ["temperature"])
