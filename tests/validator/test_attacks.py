"""Texts and values made to be slow, to crash a parser or to be read wrongly: each ends in a documented result, soon.

Times are generous bounds against blow-ups (quadratic or worse takes minutes at these sizes), not benchmarks.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from llmcore.types import Envelope, JsonSchema, OutputParseError, ToolDefinition, ToolSet
from llmcore.validator import parse, validate_calls
from llmcore.validator.coercion.coercer import Strictness, coerce
from llmcore.validator.schema.compiled import compile_schema
from tests.helpers.growth import assert_linear
from tests.validator.schemas import call, object_schema

SIZE = 30_000
PERSON = object_schema(a={"type": "string"}, n={"type": "integer"})
TYPES: dict[str, JsonSchema] = {
    "object": PERSON,
    "array": {"type": "array", "items": {"type": "integer"}},
    "number": {"type": "number"},
    "enum": {"enum": ["ONE", "TWO", "ONE_OR_TWO"]},
    "union": {"anyOf": [PERSON, {"type": "array", "items": PERSON}, {"type": "null"}]},
}
PIECES = [
    "[", "{", '{"a":', '"a" "b: ', '{"a": "', "x,", "1", "-", "1+1+", "```json\n", "```\n", "~~~\n", "see [note ", "a {b c ", '"', '"\\', "[1] ",
    '{"a":1}', "`", "\0", '{"a', '[{"a":[', "{x: y, ", "{'a':'", "}", "1 ", "1/2 ", "ONE ", "true ", '["x', '```\n{"a": ', "{/*",
    "\\u0041", " ", "\n", "\ud83d", "\uff11", '{"a": "b" ',
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES, ids=repr)
@pytest.mark.parametrize("kind", TYPES)
def test_hostile_text_ends_in_a_value_or_an_error_soon(piece: str, kind: str) -> None:
    text = (piece * (SIZE // len(piece)))[:SIZE]
    started = time.process_time()
    for partial in (False, True):
        try:
            parse(text, TYPES[kind], strictness="lenient", partial=partial)
        except OutputParseError as error:
            assert error.problems  # noqa: PT017  - either outcome is right
    assert time.process_time() - started < 5


@pytest.mark.parametrize("piece", ["[", '{"a":1}', "a {b c ", '{"a', "ONE ", "see [note "])
def test_the_work_grows_with_the_text(piece: str) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(OutputParseError):
            parse(piece * (size // len(piece)), {"const": "nowhere"}, strictness="lenient")

    assert_linear(refuse, 20_000)


@pytest.mark.parametrize(
    ("text", "output_type"),
    [
        ('{"amount": 1', {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}),
        ('{"delete": fals', object_schema(delete={"type": "boolean"})),
        ('{"confirm": t', object_schema(confirm={"type": "boolean"})),
        ('{"a": "x", "n":', PERSON),
        ("call +49 170 123", {"type": "integer"}),
        ("00501", {"type": "integer"}),
        ("1e400", {"type": "number"}),
        ("NaN", {"type": "number"}),
        ("[maybe]", {"type": "array", "items": {"type": "string"}}),
        ("I will {not} do it", object_schema(a={"type": "string"})),
        ("I'm sorry, I cannot help with that.", PERSON),
    ],
)
def test_what_other_repairers_read_silently_wrong_is_refused(text: str, output_type: JsonSchema) -> None:
    with pytest.raises(OutputParseError):
        parse(text, output_type, strictness="safe")


def test_no_text_inside_a_string_becomes_a_key() -> None:
    schema = object_schema(cmd={"type": "string"})
    text = '{"cmd": "echo "x", "sudo": true, "y": "z""}'
    for strictness in ("safe", "lenient"):
        try:
            value = parse(text, schema, strictness=strictness)
        except OutputParseError:
            continue
        assert "sudo" not in value


def test_code_in_arguments_stays_text(tmp_path: Path) -> None:
    target = tmp_path / "made"
    code = f"__import__('os').system('touch {target}')"
    tools = ToolSet([ToolDefinition(name="run", parameters=object_schema(code={"type": "string"}, n={"type": "integer"}))])
    report = validate_calls(Envelope(toolCalls=[call("run", {"code": code, "n": code})]), tools, strictness="lenient")
    assert report.calls[0].arguments == {"code": code, "n": code}
    assert [problem.path for problem in report.problems] == ["n"]
    assert not target.exists()


def test_type_tags_are_plain_data() -> None:
    tags: dict[str, Any] = {"lc": 1, "__class__": "os.system", "$type": "x", "py/object": "y", "__reduce__": []}
    assert parse(str(tags).replace("'", '"'), {"type": "object"}) == tags


HOSTILE_VALUES: list[tuple[JsonSchema, Any]] = [
    ({"anyOf": [{"type": "object", "properties": {"n": {"$ref": "#"}}}, {"type": "array", "items": {"$ref": "#"}}]}, "deep"),
    ({"type": "array", "items": {"enum": [f"value {n}" for n in range(200)]}}, ["no such value"] * 3000),
    ({"type": "array", "items": {"type": "integer"}}, ["about 5 or 6 " * 20] * 3000),
    ({"type": "object", "additionalProperties": False, "properties": {f"k{n}": {} for n in range(500)}}, "keys"),
]


@pytest.mark.parametrize("strictness", ["safe", "lenient"])
@pytest.mark.parametrize(("schema", "value"), HOSTILE_VALUES)
def test_hostile_values_are_coerced_within_a_budget(schema: JsonSchema, value: Any, strictness: Strictness) -> None:
    if value == "deep":
        value = "no"
        for level in range(30):
            value = {"n": value} if level % 2 else [value]
    elif value == "keys":
        value = {f"K-{n}": n for n in range(3000)}
    started = time.process_time()
    settled = coerce(value, compile_schema(schema), strictness=strictness)
    assert settled.problems or schema.get("anyOf")
    assert len(settled.problems) <= 10
    assert time.process_time() - started < 5
