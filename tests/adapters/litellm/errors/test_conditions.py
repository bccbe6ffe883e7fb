"""A number of tools is learnt. Values, and streams that alone are taken, are the caller's to mend, and told at once."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.types import CallerError, CapabilityRefused, Request, RequestRefused, ToolDefinition
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_refusals import meaning

ENDPOINT = Endpoint(provider="openai_compatible", model="m")


def asking(tools: int = 10, *, streamed: bool = False, **given: object) -> ModelCall:
    offered = tuple(ToolDefinition(name=f"tool_{number}", parameters={"type": "object"}) for number in range(tools))
    request = Request.model_validate({"messages": "Hello", "temperature": 1.9, **given})
    return call_of(ENDPOINT, request, tools=offered, capabilities=Capabilities(), streamed=streamed)


@pytest.mark.parametrize("words", ["at most 5 tools", "at most 5 tools per request", "no more than 5 tools may be given"])
def test_so_many_tools_are_learnt(words: str) -> None:
    error = meaning(words, asking())
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "max_tools=5"
    assert not isinstance(meaning(words, asking(3)), CapabilityRefused)


@pytest.mark.parametrize(
    "words",
    [
        "At most one function may be called in a turn here; drop parallel_tool_calls",
        "Only one function per turn",
        "You may call at most 1 tool.",
    ],
)
def test_how_many_are_called_in_a_turn_says_nothing_of_how_many_are_offered(words: str) -> None:
    error = meaning(words, asking(parallel_tool_calls=False))
    assert "max_tools" not in getattr(error, "capability", "")


def test_a_value_of_the_callers_is_the_callers_to_mend() -> None:
    assert isinstance(meaning("temperature must be between 0 and 1", asking()), CallerError)


@pytest.mark.parametrize(
    "words",
    [
        "This model only supports streaming. Set stream=true.",
        "This model only support stream mode",
        "Non-streaming is not supported",
    ],
)
def test_where_only_streams_are_taken_that_is_said(words: str) -> None:
    error = meaning(words, asking())
    assert isinstance(error, CallerError)
    assert "make this one by `stream()`" in str(error)
    assert isinstance(meaning(words, asking(streamed=True)), RequestRefused | CapabilityRefused)
