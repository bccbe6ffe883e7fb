"""The detector for SGLang, under the parser that SGLang's serving layer uses."""

from __future__ import annotations

import importlib
import json
from collections.abc import Generator
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.servers.sources import FOLDER, stand_in
from tests.wire.support import ARGUMENTS, CALL, TOOLS, TWELVE, pieces, written

pytestmark = pytest.mark.skipif(
    not (FOLDER / "sglang").is_dir(), reason="no sources of SGLang: python -m tests.integrations.servers.sources"
)

_REAL = [
    *("sglang.srt.entrypoints.openai.protocol", "sglang.srt.environ"),
    *(f"sglang.srt.function_call.{name}" for name in ("base_format_detector", "core_types", "function_call_parser", "utils")),
]
TWO = written("hermes", ("get_time", {"zone": "UTC"}), ("get_weather", ARGUMENTS))


@pytest.fixture(scope="module")
def sglang() -> Generator[Any]:
    with stand_in("sglang", _REAL):
        parsers = importlib.import_module("sglang.srt.function_call.function_call_parser")
        (entry,) = entry_points(group="sglang.srt.plugins", name="llmcore")
        entry.load()()
        tool: Any = importlib.import_module("sglang.srt.entrypoints.openai.protocol").Tool
        offered = [tool(type="function", function=each.model_dump(include={"name", "parameters"})) for each in TOOLS]
        yield SimpleNamespace(parser=lambda: parsers.FunctionCallParser(offered, "llmcore"))


def called(items: list[Any]) -> list[tuple[str, Any]]:
    return [(item.name, json.loads(item.parameters)) for item in items]


def streamed(sglang: Any, text: str, size: int = 5) -> tuple[str, list[Any]]:
    parser, content, calls = sglang.parser(), "", list[Any]()
    for part in pieces(text, size):
        more, found = parser.parse_stream_chunk(part)
        content += more
        calls += found
    more, found = parser.parse_stream_end()
    return content + more, [*calls, *found]


@pytest.mark.parametrize("dialect", TWELVE)
def test_calls_of_each_dialect_are_found_without_its_name(sglang: Any, dialect: str) -> None:
    text = written(dialect)
    assert called(sglang.parser().parse_non_stream(text)[1]) == [("get_weather", ARGUMENTS)]
    assert called(streamed(sglang, text)[1]) == [("get_weather", ARGUMENTS)]


def test_the_index_is_of_the_tool_in_a_whole_reply_and_of_the_call_in_a_stream(sglang: Any) -> None:
    text, calls = sglang.parser().parse_non_stream(f"I look. {TWO}")
    assert (text, [call.tool_index for call in calls]) == ("I look.", [1, 0])
    content, calls = streamed(sglang, f"I look. {TWO}")
    assert (content.strip(), [call.tool_index for call in calls]) == ("I look.", [0, 1])
    assert called(calls) == [("get_time", {"zone": "UTC"}), ("get_weather", ARGUMENTS)]


@pytest.mark.parametrize("text", [f"For example:\n{CALL}\nis a call.", "Hello.", "", '{"a": 1}'])
def test_text_about_a_call_is_text(sglang: Any, text: str) -> None:
    assert sglang.parser().parse_non_stream(text) == (text, [])
    assert streamed(sglang, text) == (text, [])


def test_reasoning_stays_in_the_text(sglang: Any) -> None:
    text = f"<think>Hm. {CALL}</think>I look. {CALL}"
    for content, calls in (sglang.parser().parse_non_stream(text), streamed(sglang, text)):
        assert content.strip() == f"<think>Hm. {CALL}</think>I look."
        assert called(calls) == [("get_weather", ARGUMENTS)]


def test_forced_calls_are_read_in_the_models_own_form(sglang: Any) -> None:
    parser = sglang.parser()
    assert parser.owns_tool_format()
    assert parser.get_structure_constraint("required") is None
