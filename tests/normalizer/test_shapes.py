"""Replies that are one call are read by their shape: the same as the engine reads them, whatever the layout."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore.normalizer.registry import DIALECTS
from llmcore.normalizer.shapes import read_by_shape
from llmcore.types.limits import DEFAULT_LIMITS, Limits

from .helpers import TOOLS, read_every_way

GIVEN: dict[str, Any] = {"city": 'a "quoted" </tool_call> ]}', "days": 3, "near": [{"km": 2.5}, None]}
WRITTEN = {name: row.write([("get_weather", GIVEN)]) for name, row in DIALECTS.items()}


def shaped(text: str, limits: Limits = DEFAULT_LIMITS) -> bool:
    return read_by_shape(text, TOOLS, limits) is not None


SHAPED = sorted(name for name, text in WRITTEN.items() if shaped(text))


def test_every_way_of_writing_a_name_and_json_has_a_shape() -> None:
    written = {name for name, text in WRITTEN.items() if json.dumps(GIVEN, ensure_ascii=False) in text}
    assert written - set(SHAPED) == {
        *("functionary_v32", "name_brace", "single_key"),  # begin with the name
        *("react", "cline_mcp", "llmcore_envelope"),  # say something beside the call
    }
    assert len(SHAPED) >= 39


@pytest.mark.parametrize("name", SHAPED)
def test_a_shape_is_read_as_the_engine_reads_it(name: str) -> None:
    envelope = read_every_way(WRITTEN[name])
    assert [(call.name, call.arguments, call.dialect) for call in envelope.tool_calls] == [("get_weather", GIVEN, name)]
    assert not envelope.content


@pytest.mark.parametrize("name", SHAPED)
@given(data=st.data())
@settings(max_examples=12)
def test_layout_changes_nothing(name: str, data: st.DataObject) -> None:
    """White space more or less, compact JSON, something before or behind, a missing end: shape and engine agree."""
    text = WRITTEN[name]
    if data.draw(st.booleans()):
        text = text.replace(json.dumps(GIVEN, ensure_ascii=False), json.dumps(GIVEN, separators=(",", ":")))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(["", " ", "\n", "\n\n", "{", "}", "]", '"', ",", "<", "x"])) + text[at:]
    if data.draw(st.booleans()):
        text = re.sub(r"\s*([{}\[\]:,])\s*", data.draw(st.sampled_from([r"\1", r" \1 ", "\\1\n"])), text)
    text = text[: data.draw(st.sampled_from([len(text), len(text), len(text) - 1, len(text) // 2]))]
    read_every_way(text + data.draw(st.sampled_from(["", "", "\n", " Done.", "<|im_end|>", text])), chunkings=1)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("get_time", {}),  # no such tool
        ("get_weather", {"properties": {}}),  # perhaps the tool's definition
        ("ping", {"city": "<your city>"}),  # delimited: it is a call; bare: an example
    ],
)
def test_what_is_no_plain_call_is_the_engines(name: str, given: dict[str, Any]) -> None:
    for dialect in SHAPED:
        text = DIALECTS[dialect].write([(name, given)])
        assert not shaped(text) or (name == "ping" and DIALECTS[dialect].trust == "delimited")
        read_every_way(text, chunkings=1)


def test_limits_and_repairs_are_the_engines() -> None:
    text = WRITTEN["hermes"]
    assert shaped(text)
    assert not shaped(text, Limits(arguments=10))
    assert not shaped(text.replace('"days": 3', '"days": 3, "days": 4'))
    assert not shaped(text.replace('"days": 3', '"days": 1e999'))
    assert not shaped(text.replace("}}", "},}"))
    assert read_by_shape(text, TOOLS, DEFAULT_LIMITS, ["hermes"]) is not None
    assert read_by_shape(text, TOOLS, DEFAULT_LIMITS, ["longcat"]) is None
