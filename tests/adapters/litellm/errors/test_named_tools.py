"""Which words of a refusal name a tool that the request offers."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.litellm.errors.named_tools import names_one_tool, offered_names
from llmcore.types import Request, ToolDefinition


@pytest.mark.parametrize("name", ["get_weather", "getWeather", "weather2", "get-weather", "a.b"])
@pytest.mark.parametrize(
    "words", ["{} may not be used", "the name {} collides with a builtin tool", "a function called {} exists", "no '{}' here"]
)
def test_a_name_that_is_no_word_counts_wherever_it_stands(name: str, words: str) -> None:
    said = words.format(name.lower())
    assert names_one_tool(said, [name])
    assert not names_one_tool(said, ["other_tool"])
    assert not names_one_tool(said.replace(name.lower(), f"my_{name.lower()}"), [name])


@pytest.mark.parametrize(
    ("words", "is_named"),
    [
        ("tool name search is reserved here", True),
        ("a function called search exists already", True),
        ("the search tool is not allowed", True),
        ("'search' is reserved", True),
        ("tools make me search for words", False),
        ("no search of any kind", False),
        ("a search function call is beyond me", False),
    ],
)
def test_a_name_that_is_a_word_counts_where_it_is_one_of_a_tool(words: str, is_named: bool) -> None:
    assert names_one_tool(words, ["search"]) is is_named


def test_the_output_tool_and_the_names_on_the_wire_are_offered() -> None:
    call = ModelCall(
        endpoint=Endpoint(provider="openai", model="gpt-4o"),
        request=Request.model_validate({"messages": "Hi"}),
        mode="native_tools",
        tools=(ToolDefinition(name="get weather", parameters={"type": "object"}),),
        output_schema={"type": "object"},
    )
    names = offered_names(call.model_copy(update={"capabilities": Capabilities(schema_with_tools=False)}))
    assert names[:2] == ["get weather", "final_result"]
    assert names[2].startswith("get_weather_")
