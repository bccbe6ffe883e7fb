"""Names: exact, then pure spelling variants of exactly one tool; anything fuzzier is proposed only."""

from __future__ import annotations

import pytest

from llmcore.validator.names import close_names, resolve_name

TOOLS = ["get_weather", "search-web", "readFile", "mcp__files__list", "f.g"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("get_weather", "get_weather"),
        ("Get_Weather", "get_weather"),
        ("get-weather", "get_weather"),
        ("getWeather", "get_weather"),
        ("get\\_weather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.get_weather:0", "get_weather"),
        ("get_weather.get_weather", "get_weather"),
        ("default_api.search_web", "search-web"),
        ("tools/readFile", "readFile"),
        ("`readFile`", "readFile"),
        ("get_weather:", "get_weather"),
        ("get_weather()", "get_weather"),
        ("get_weather<|channel|>commentary", "get_weather"),
        (" get_weather\n", "get_weather"),
        ("f.g", "f.g"),
        ("mcp__files__list", "mcp__files__list"),
    ],
)
def test_spelling_variants_are_mapped(written: str, meant: str) -> None:
    assert resolve_name(written, TOOLS) == meant


@pytest.mark.parametrize(
    "written", ["weather", "get_weathers", "get_weather for Paris", "list", "", ".", "x" * 10_000, "\0", "get weather now"]
)
def test_anything_fuzzier_is_not(written: str) -> None:
    assert resolve_name(written, TOOLS) is None


def test_a_variant_of_two_tools_is_neither() -> None:
    assert resolve_name("GetWeather", ["get_weather", "getWeather"]) is None
    assert resolve_name("getWeather", ["get_weather", "getWeather"]) == "getWeather"


def test_close_names_are_proposed_nearest_first() -> None:
    assert close_names("weather", TOOLS)[0] == "get_weather"
    assert close_names("get_wether", TOOLS)[0] == "get_weather"
    assert close_names("qqqqqq", TOOLS) == []
