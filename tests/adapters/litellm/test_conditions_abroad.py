"""Conditions and values in other languages, and streams that alone are taken: what the caller can mend is told at once."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.types import CallerError, CapabilityRefused, Request, RequestRefused, ToolDefinition
from tests.adapters.conftest import call_of
from tests.adapters.litellm.test_refusals import meaning

ENDPOINT = Endpoint(provider="openai_compatible", model="m")


def asking(tools: int = 10, *, streamed: bool = False, **given: object) -> ModelCall:
    offered = tuple(ToolDefinition(name=f"tool_{number}", parameters={"type": "object"}) for number in range(tools))
    request = Request.model_validate({"messages": "Hello", "temperature": 1.9, **given})
    return call_of(ENDPOINT, request, tools=offered, capabilities=Capabilities(), streamed=streamed)


@pytest.mark.parametrize(
    "words",
    ["Höchstens 5 tools sind erlaubt.", "au maximum 5 outils", "最多5个工具", "como máximo 5 herramientas", "at most 5 tools"],
)
def test_so_many_tools_are_learnt_in_any_language(words: str) -> None:
    error = meaning(words, asking())
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "max_tools=5"
    assert not isinstance(meaning(words, asking(3)), CapabilityRefused)


@pytest.mark.parametrize(
    "words",
    [
        "At most one function may be called in a turn here; drop parallel_tool_calls",
        "Only one function per turn",
        "only one tool at a time",
        "You may call at most 1 tool.",
        "maximal 1 Tool pro Runde",
        "au maximum 2 outils par tour",
        "每轮最多1个工具",
    ],
)
def test_how_many_are_called_in_a_turn_is_of_parallel_calls(words: str) -> None:
    error = meaning(words, asking(parallel_tool_calls=False))
    assert isinstance(error, CapabilityRefused)
    assert error.capabilities == ("parallel_tools",)
    assert "max_tools" not in getattr(meaning(words, asking()), "capability", ""), "nothing of how many are offered"


def test_so_many_tools_in_a_request_are_how_many_are_offered() -> None:
    for words in ("at most 5 tools per call", "at most 5 tools per request"):
        assert getattr(meaning(words, asking(parallel_tool_calls=False)), "capability", "") == "max_tools=5"


@pytest.mark.parametrize(
    "words",
    [
        "temperature=1.9 ist zu hoch",
        "temperature debe estar entre 0 y 1",
        "temperature doit être comprise entre 0 et 1",
        "temperature 必须在 0 和 1 之间",
        "temperature must be between 0 and 1",
    ],
)
def test_a_value_of_the_callers_is_the_callers_to_mend(words: str) -> None:
    assert isinstance(meaning(words, asking()), CallerError)


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
