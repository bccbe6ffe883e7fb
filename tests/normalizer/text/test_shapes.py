"""Replies that are one call are read by their shape: the same as the engine reads them, whatever the layout."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.text.engine import SHAPES, TextEngine
from llmcore.normalizer.text.walk import Walk
from llmcore.normalizer.text.wholes import Whole
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way, tool
from tests.support.builds import pure_only

ROOT = Path(__file__).parents[3]
GIVEN: dict[str, Any] = {"city": 'a "quoted" </tool_call> ]}', "days": 3, "near": [{"km": 2.5}, None]}
WRITTEN = {name: row.write([("get_weather", GIVEN)]) for name, row in DIALECTS.items()}
PLAIN: dict[str, Any] = {"city": 'Baden > Baden\n& "more"', "days": 3}
PLAINLY_WRITTEN = {name: row.write([("get_weather", PLAIN)]) for name, row in DIALECTS.items()}


def at_start(
    text: str, limits: Limits = DEFAULT_LIMITS, tools: ToolSet = TOOLS, dialects: frozenset[str] | None = None
) -> Whole | None:
    """The call of a shape that a text begins with; asked thrice, since shapes are learnt for starts that are asked for often."""
    for _ in range(2):
        SHAPES.at(text, 0, tools, limits, dialects=dialects)
    wholes = SHAPES.at(text, 0, tools, limits, dialects=dialects)
    return wholes[0] if len(wholes) == 1 else None


def shaped(text: str, limits: Limits = DEFAULT_LIMITS, tools: ToolSet = TOOLS) -> bool:
    return at_start(text, limits, tools) is not None


JSON_SHAPED = sorted(name for name, text in WRITTEN.items() if shaped(text))
TAGGED = sorted(name for name, text in PLAINLY_WRITTEN.items() if shaped(text) and name not in JSON_SHAPED)


def test_every_way_of_writing_a_name_and_json_has_a_shape() -> None:
    written = {name for name, text in WRITTEN.items() if json.dumps(GIVEN, ensure_ascii=False) in text}
    assert written - set(JSON_SHAPED) == {
        *("functionary_v32", "name_brace", "single_key"),  # begin with the name
        *("react", "cline_mcp", "llmcore_envelope"),  # say something beside the call
    }
    assert len(JSON_SHAPED) >= 39


def test_rows_that_say_how_plain_arguments_are_read_have_a_shape() -> None:
    assert {name for name, row in DIALECTS.items() if row.plain is not None} <= set(JSON_SHAPED)


@pytest.mark.parametrize("name", ["lfm2", "llama4_pythonic", "olmo3", "gemma4", "functiongemma"])
@pytest.mark.parametrize(
    "value", ["it's", 'a "b"', "a\\b", "# no comment", "f(x=1)", ")]", "}", "a: b, c=d", "<|tool_call_end|>", '<|"|>', "..."]
)
def test_values_of_plain_arguments_change_nothing(name: str, value: str) -> None:
    text = DIALECTS[name].write([("get_weather", {"city": value, "days": 3})])
    at_start(text)
    for around in ("{}", "I look it up.\n{}", "{}\nMore words.", "{}{}"):
        read_every_way(around.replace("{}", text), chunkings=1)


def test_every_way_of_writing_arguments_as_tags_has_a_shape() -> None:
    written = {name for name, row in DIALECTS.items() if row.typed_by_schema} - set(JSON_SHAPED)
    assert written - set(TAGGED) == {
        "minimax_m3",  # values in elements
        "cline",  # begins with the name
        "name_line_tags",
        *("yaml_in_tag", "yaml_in_tool_call"),  # lines of YAML
    }
    assert len(TAGGED) >= 22


@pytest.mark.parametrize("name", JSON_SHAPED + TAGGED)
def test_a_shape_is_read_as_the_engine_reads_it(name: str) -> None:
    text, given = (WRITTEN[name], GIVEN) if name in JSON_SHAPED else (PLAINLY_WRITTEN[name], PLAIN)
    envelope = read_every_way(text)
    dialect = "qwen3_coder" if name == "mimo" else name  # its blanks alone tell them apart
    assert [(call.name, call.arguments, call.dialect) for call in envelope.tool_calls] == [("get_weather", given, dialect)]
    assert not envelope.content


@pytest.mark.quick(6)
@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", JSON_SHAPED)
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


@pytest.mark.quick(6)
@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", JSON_SHAPED + TAGGED)
def test_white_space_anywhere_changes_nothing(name: str) -> None:
    """Each kind of white space at each place: what is still of the shape is the engine's reading as well."""
    text = PLAINLY_WRITTEN[name]
    for space in (" ", "\t", "\r", "\r\n", "\n\r", " " * 17):
        for at in range(len(text) + 1):
            spaced = text[:at] + space + text[at:]
            if (call := at_start(spaced)) is not None:
                normalizer = Normalizer(TOOLS)
                normalizer.feed(spaced[:at])
                normalizer.feed(spaced[at:])
                normalizer.finish()
                assert normalizer.envelope.tool_calls == [call.call(0)], spaced
                assert not normalizer.envelope.content, spaced


_MEANINGFUL = ("city", "name", "arguments", "parameters", "parameter", "input", "tool_input", "invoke", "function", "value", "0")
_NAMES = st.sampled_from(["get_weather", "user", "assistant", "python", "function", "invoke", "call.call", "parameter"])
_TYPES = st.sampled_from(["string", "integer", "boolean", "array", "object", ["string", "null"], ["integer", "string"]])
_VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "\n", "\r\n", " x ", "\nx\n", "x\r\n", "007", "1e999", "True", "None", "null", "[1,]", "{'a': 1}", '"[1]"']
    ),
    st.sampled_from([7, True, None, [1, {"a": "b"}], {"a": [None]}]),
)


@pytest.mark.quick(2)
@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", TAGGED)
@given(data=st.data())
@settings(max_examples=20)
def test_values_keys_and_names_change_nothing(name: str, data: st.DataObject) -> None:
    """Values that look like something else, keys and names that mean something in markup: shape and engine agree."""
    types = data.draw(st.dictionaries(st.sampled_from(_MEANINGFUL), _TYPES, min_size=1, max_size=4))
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}}
    tools = ToolSet([{"name": (called := data.draw(_NAMES)), "parameters": schema}])
    written = {key: data.draw(_VALUES) for key in data.draw(st.permutations([*types, "more"]))[:4]}
    text = DIALECTS[name].write([(called, written)])
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from([" ", "\n", "\r\n", "<", "</parameter>", "x"])) + text[at:]
    read_every_way(text, tools, chunkings=1)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("get_time", {}),  # no such tool
        ("get_weather", {"properties": {}}),  # perhaps the tool's definition
        ("ping", {"city": "<your city>"}),  # delimited: it is a call; bare: an example
    ],
)
def test_what_is_no_plain_call_is_the_engines(name: str, given: dict[str, Any]) -> None:
    for dialect in JSON_SHAPED:
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
    assert at_start(text, dialects=frozenset({"hermes"})) is not None
    assert at_start(text, dialects=frozenset({"longcat"})) is None


def test_what_tags_cannot_say_plainly_is_the_engines() -> None:
    text = PLAINLY_WRITTEN["minimax_m2"]
    assert shaped(text)
    assert shaped(text.replace("Baden > Baden", "\n\nBaden\n"))
    assert not shaped(text.replace("Baden > Baden", "Baden < Baden"))  # it may be a tag
    assert not shaped(text.replace(">3<", ">03<"))  # a repair
    assert not shaped(text.replace('"days"', '"city"'))  # twice
    assert not shaped(text.replace('"days"', '"weeks"'))  # no such property
    assert not shaped(text.replace(">\n<", "><"))  # not as the row writes it
    assert not shaped(text, Limits(arguments=10))
    assert shaped(text, tools=ToolSet([tool("get_weather", city="string", days="integer", arguments="string")]))


def test_elements_that_may_be_arguments_are_the_engines() -> None:
    for dialect, holder in (("function_name_arguments", "arguments"), ("anthropic_legacy", "parameters")):
        given = {"city": "Paris", "days": 3}
        text = DIALECTS[dialect].write([("get_weather", given)])
        assert shaped(text)
        assert not shaped(text, tools=ToolSet([tool("get_weather", city="string", days="integer", **{holder: "object"})]))


def test_a_name_that_means_something_else_is_the_engines() -> None:
    for called, is_call in (("lookup", True), ("user", False)):
        text = DIALECTS["atem"].write([(called, {"city": "Paris"})])
        tools = ToolSet([tool(called, city="string")])
        assert shaped(text, tools=tools) == is_call
        read_every_way(text, tools)


_OF_PROSE = re.compile(r"lead_in|words_behind|impersonal")
"""Modules whose words are those of sentences before and behind calls."""


@cache
def _words_of_the_source() -> list[str]:
    """What literals of the normaliser say, as names: a word that means something to a row stands there."""
    found: set[str] = set()
    for file in (ROOT / "normalizer").rglob("*.py"):
        tree = ast.parse("" if _OF_PROSE.search(file.name) else file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found.update(re.findall(r"[A-Za-z_][\w-]{0,40}", node.value))
    return sorted(found)


@pytest.mark.quick(0)
@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", JSON_SHAPED + TAGGED)
def test_no_word_of_ours_is_read_otherwise_as_a_name(name: str) -> None:
    row, given, taken = DIALECTS[name], {"city": "Paris"}, 0
    words = _words_of_the_source()[(JSON_SHAPED + TAGGED).index(name) % 3 :: 3]  # each word in a third of the rows
    for write in (row.write, *row.also):
        for called in words:
            text, tools = write([(called, given)]), ToolSet([tool(called, city="string")])
            if (whole := at_start(text, tools=tools)) is not None:
                read = TextEngine(tools, listening=False, by_shape=False).read(text).calls
                assert [(call.name, call.arguments, call.dialect) for call in read] == [(called, given, whole.dialect)]
                taken += 1
    assert taken > len(words) // 2 > 300


_BEFORE = (
    "",
    "\n",
    "I will look.\n",
    "I will look.\n\n",
    "Sure: ",
    "> quoted\n",
    "> ",
    "- ",
    "`",
    "<think>Hm.</think>\n",
    "<think>Hm.",
    "x",
    "assistant",
    "I will look. assistant to=functions.get_weather",
    "I will look.\nto=get_weather ",
)
_BEHIND = (
    "",
    "\n",
    "\n\nThat is all.",
    " And so on.",
    "}",
    "</tool_call>",
    "]",
    "<|im_end|>",
    "\n<",
    "\n</",
    "```",
    "\nObservation: rain",
)


@pytest.mark.quick(4)
@pytest.mark.sweep(13)
@pytest.mark.parametrize("name", JSON_SHAPED + TAGGED)
def test_a_shape_is_read_alike_wherever_it_stands(name: str) -> None:
    """In one step or by the readers: the same calls, pieces, content, near misses; alone, twice, and cut off."""
    text = PLAINLY_WRITTEN[name]
    at_start(text)
    texts = [before + text + behind for before in _BEFORE for behind in _BEHIND]
    texts += [
        text + text,
        f"{text}\n{text}",
        f"One.\n{text}\nTwo.\n{text}\n",
        *(f"One.\n{text[:end]}" for end in range(0, len(text), 7)),
    ]
    for whole in texts:
        quick, slow = (TextEngine(TOOLS, listening=False, by_shape=by_shape).read(whole) for by_shape in (True, False))
        for what in ("calls", "pieces", "content", "reasoning", "near_misses", "repairs", "truncated", "needs_more_work"):
            assert getattr(quick, what) == getattr(slow, what), (what, whole)


@pytest.mark.quick(0)
@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", JSON_SHAPED + TAGGED)
def test_no_word_of_ours_before_a_shape_is_read_otherwise(name: str) -> None:
    text = PLAINLY_WRITTEN[name]
    at_start(text)
    for word in _words_of_the_source()[(JSON_SHAPED + TAGGED).index(name) % 12 :: 12]:
        for whole in (f"{word}{text}", f"I will look.\n{word} {text}"):
            quick, slow = (TextEngine(TOOLS, listening=False, by_shape=by_shape).read(whole) for by_shape in (True, False))
            assert (normalize(whole, TOOLS).content, quick.content, quick.calls) == (slow.content, slow.content, slow.calls), (
                whole
            )


@pure_only("it replaces a method, which compiled code does not look up")
def test_most_shapes_are_read_in_one_step_behind_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    takes = Walk._takes_whole  # pyright: ignore[reportPrivateUsage]  # whether it was taken shows nowhere else

    def spy(walk: Walk, at: int) -> bool:
        took = takes(walk, at)
        taken.extend([name] if took else [])
        return took

    monkeypatch.setattr(Walk, "_takes_whole", spy)
    for name in JSON_SHAPED + TAGGED:
        at_start(PLAINLY_WRITTEN[name])
        TextEngine(TOOLS, listening=False).read(f"I will look.\n{PLAINLY_WRITTEN[name]}\nThat is all.")
    assert len(taken) > 40, sorted({*JSON_SHAPED, *TAGGED} - {*taken})
