"""Fields with the names of schema keywords: as an output type in every mode, and as a tool's parameter."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from pydantic import Field, create_model
from typing_extensions import TypedDict

from llmcore import FakeModel, Orchestrator, PartialOutput, parse
from llmcore.support.values.narrowing import is_object
from llmcore.validator import Strictness
from tests.run.support import stack

NAMES = [
    "type",
    "properties",
    "enum",
    "items",
    "$ref",
    "required",
    "const",
    "default",
    "description",
    "anyOf",
    "allOf",
    "not",
    "if",
    "title",
    "format",
    "examples",
    "pattern",
    "additionalProperties",
    "$defs",
    "definitions",
    "nullable",
    "strict",
    "fields",
    "choices",
    "function",
    "schema",
    "metadata",
    "serialization",
    "cls",
    "config",
    "name",
    "arguments",
    "parameters",
    "id",
    "kind",
    "result",
    "value",
]
VALUES: list[tuple[Any, Any]] = [
    (str, "text"),
    (dict[str, Any], {"type": "object", "properties": {}, "cls": 1}),
    (list[int], [1]),
]
STRICTNESS: tuple[Strictness, ...] = ("off", "safe", "lenient")
MODES = ["native_tools", "json_schema", "json_object", "text"]


def _typed_dict(name: str, hint: Any) -> Any:
    make: Any = TypedDict
    return make("Row", {name: hint, "other": int})


def _model(name: str, hint: Any) -> Any:
    make: Any = create_model
    return make("Row", field=(hint, Field(alias=name)), other=(int, ...))


def _plain_model(name: str, hint: Any) -> Any:
    make: Any = create_model
    return make("Row", **{name: (hint, ...)}, other=(int, ...))


def _dataclass(name: str, hint: Any) -> Any:
    return dataclasses.make_dataclass("Row", [(name, hint), ("other", int)])


FORMS = [_typed_dict, _model, _plain_model, _dataclass]


def _cases(hint: Any, value: Any, name: str) -> list[tuple[Any, Any]]:
    is_word = name.isidentifier() and name not in ("not", "if", "schema")  # which pydantic warns of
    return [(make(name, hint), {name: value, "other": 3}) for make in (FORMS if is_word else FORMS[:2])]


def _told(value: Any, name: str) -> Any:
    if is_object(value):
        return value[name]
    return getattr(value, name) if hasattr(value, name) and name != "schema" else value.field


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("hint", "value"), VALUES)
def test_a_field_may_have_any_name(name: str, hint: Any, value: Any) -> None:
    for kind, data in _cases(hint, value, name):
        for strictness in STRICTNESS:
            assert _told(parse(json.dumps(data), kind, strictness=strictness), name) == value

        def keep(row: Any, kind: Any = kind) -> str:
            """Keep."""
            return json.dumps(_told(row, name))

        keep.__annotations__ = {"row": kind, "kind": Any}
        model = FakeModel().tool_call("keep", {"row": data}).text("done")
        assert Orchestrator(model, [keep]).run_sync("?").tool_results[0].content == json.dumps(value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_a_field_may_have_any_name_in_every_mode(name: str, mode: str) -> None:
    for kind, data in _cases(str, "text", name):
        orchestrator = stack(
            {"m": FakeModel(default=json.dumps(data), chunk_size=5)}, settings={"m": {"preferred_modes": [mode]}}
        )
        assert _told(orchestrator.execute_sync("?", kind), name) == "text"
        with orchestrator.stream_sync("?", kind) as stream:
            last = [event.value for event in stream if isinstance(event, PartialOutput)][-1]
        assert _told(last, name) == "text"
