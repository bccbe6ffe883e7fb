"""A refusal that names several parts of a request is of each of them that was sent, and of none that was not."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.types import CapabilityRefused, Request
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_refusals import meaning

ENDPOINT = Endpoint(provider="openai_compatible", model="m")
SAMPLING: dict[str, Any] = {"temperature": 0.3, "top_p": 0.4, "stop": ["END"], "max_tokens": 99}


def asking(given: dict[str, Any], can: Capabilities | None = None, **fields: Any) -> ModelCall:
    request = Request.model_validate({"messages": "Hello", **given})
    return call_of(ENDPOINT, request, **{"capabilities": can or Capabilities(), "mode": "native_tools", **fields})


def refused(words: str, call: ModelCall) -> set[str]:
    error = meaning(words, call)
    return set(error.capabilities) if isinstance(error, CapabilityRefused) else set()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("temperature and top_p are not supported", {"temperature", "top_p"}),
        ("temperature, top_p and stop are not supported with this model", {"temperature", "top_p", "stop"}),
        ("Unsupported parameters: temperature, top_p", {"temperature", "top_p"}),
        ("Unrecognized request arguments supplied: temperature, top_p", {"temperature", "top_p"}),
        ("Unrecognized request arguments supplied: temperature, tools", {"temperature", "native_tools"}),
        ("top_p and temperature cannot be set", {"temperature", "top_p"}),
        ("temperature, top_p: Extra inputs are not permitted", {"temperature", "top_p"}),
        ("stop and temperature are not supported by this model", {"stop", "temperature"}),
        ("max_tokens and temperature are not supported by this model", {"max_tokens", "temperature"}),
        ("seed, `temperature` & `top_p` are not supported", {"temperature", "top_p"}),
        ("不支持参数 temperature 和 top_p", {"temperature", "top_p"}),
        ("temperature: Extra inputs are not permitted; top_p: Extra inputs are not permitted", {"temperature", "top_p"}),
        ("temperature is not supported. top_p is not supported.", {"temperature", "top_p"}),
    ],
)
def test_all_that_are_named_and_were_sent_are_refused(words: str, named: set[str]) -> None:
    assert refused(words, asking(SAMPLING)) == named


@pytest.mark.parametrize(
    "words",
    [
        "tools and tool_choice are not supported by this model",
        "Tools and parallel tool calls are not supported",
        "Function calling (tools, tool_choice, parallel_tool_calls) is not supported by this model.",
        "Unrecognized request arguments supplied: tool_choice, tools",
        'Unknown fields: "tool_choice", "tools"',
        "body.tools: Extra inputs are not permitted; body.tool_choice: Extra inputs are not permitted",
        "不支持参数 tool_choice 和 tools",
    ],
)
def test_what_was_not_sent_is_not_refused(words: str) -> None:
    assert refused(words, asking({})) == {"native_tools"}
    given = {"tool_choice": "required", "parallel_tool_calls": False}
    assert "native_tools" in refused(words, asking(given))
    assert refused(words, asking(given)) <= {"native_tools", "tool_choice_required", "parallel_tools"}


@pytest.mark.parametrize("left_out", ["temperature", "top_p"])
def test_the_same_words_without_one_that_they_name_are_of_the_other(left_out: str) -> None:
    can = Capabilities(unsupported_parameters=frozenset({left_out}))
    other = {"temperature", "top_p"} - {left_out}
    assert refused("temperature and top_p are not supported", asking(SAMPLING, can)) == other


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("tool_choice is not supported", {}),
        ("parallel_tool_calls is not supported", {}),
        ("System messages are not supported", {}),
        ("thinking is not supported", {}),
        ("response_format is not supported", {}),
    ],
)
def test_one_part_that_was_not_sent_is_not_refused(words: str, given: dict[str, Any]) -> None:
    assert refused(words, asking(given)) == set()


def test_two_that_are_not_taken_together_are_not_both_refused() -> None:
    assert refused("temperature and top_p cannot both be specified", asking(SAMPLING)) == {"temperature+top_p"}


def test_the_error_names_all_of_them() -> None:
    error = meaning("temperature and top_p are not supported", asking(SAMPLING))
    assert "does not take temperature and top_p" in str(error)
    assert (error.capability, error.others) == ("temperature", ("top_p",))
