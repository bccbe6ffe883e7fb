"""Copies of the public types share nothing that can change."""

from __future__ import annotations

import inspect
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Literal, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field

import llmcore
from llmcore.adapters.base import ModelCall
from llmcore.support.values.copies import Value, copied, made, updated
from llmcore.types import (
    Attempt,
    Budget,
    Envelope,
    Message,
    ProviderBlock,
    Repair,
    Request,
    TextBlock,
    ToolCall,
    ToolDefinition,
    ToolUseBlock,
    Usage,
)
from tests.helpers.processes import sent
from tests.packaging.tree import PUBLIC_NAMES


def deep() -> dict[str, Any]:
    return {"x": [{"y": 1}]}


def test_containers_are_new_at_every_level_and_objects_stay() -> None:
    held = object()
    given: dict[str, Any] = {
        "list": [{"deep": [1]}],
        "tuple": ([2], held),
        "set": {1},
        "other": OrderedDict(a=[1]),
        "more": defaultdict(list),
    }
    made = copied(given)
    assert made == given
    assert [type(item) for item in made.values()] == [type(item) for item in given.values()]
    made["list"][0]["deep"].append(3)
    made["tuple"][0].append(3)
    made["set"].add(3)
    made["other"]["a"].append(3)
    made["more"]["b"].append(3)
    assert given == {"list": [{"deep": [1]}], "tuple": ([2], held), "set": {1}, "other": {"a": [1]}, "more": {}}
    assert made["tuple"][1] is held


def test_models_that_hold_nothing_that_can_change_stay() -> None:
    text, use = TextBlock(text="hello"), ToolUseBlock(id="a", name="b", input=deep())
    message = Message(role="assistant", content=[text, use])
    made = copied(message)
    assert made == message
    assert made.content[0] is text
    made.tool_uses[0].input["x"][0]["y"] = 2  # type: ignore[index]  # it has an input
    made.content.clear()
    assert message.tool_uses[0].input == deep()
    attempt = Attempt(n=1, model="m")
    assert copied([attempt])[0] is not attempt  # it is not frozen


def test_what_holds_itself_or_nests_without_end_is_copied_too() -> None:
    endless: list[Any] = [[1]]
    endless += [endless, endless]
    made = copied(endless)
    made[0].append(2)
    assert made[1] is made
    assert endless[0] == [1]
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert copied(nested)[0] is not None
    while nested:  # taken apart by hand: the interpreter would recurse
        nested = nested[0]


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (ToolCall(id="a", name="b", arguments=deep()), "arguments"),
        (ToolUseBlock(id="a", name="b", input=deep()), "input"),
        (ProviderBlock(provider="p", data=deep()), "data"),
        (ToolDefinition(name="t", parameters=deep()), "parameters"),
        (Request(messages=[], extra_body=deep()), "extra_body"),
        (Repair(kind="k", before=deep()), "before"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseModel) else "",
)
@pytest.mark.parametrize("way", ["copy", "update", "deep", "inside"])
def test_a_copy_shares_no_dict(model: Any, field: str, way: str) -> None:
    ways = {
        "copy": lambda: model.model_copy(),
        "update": lambda: model.model_copy(update={}),
        "deep": lambda: model.model_copy(deep=True),
        "inside": lambda: copied([model])[0],
    }
    made = ways[way]()
    assert made == model
    assert made.model_fields_set == model.model_fields_set
    getattr(made, field)["x"][0]["y"] = 2
    assert getattr(model, field) == deep()


def test_an_update_takes_the_place_of_a_field_and_counts_as_set() -> None:
    made = Request(messages=[]).model_copy(update={"temperature": 0.5})
    assert (made.temperature, made.model_fields_set) == (0.5, {"messages", "temperature"})


def test_an_update_of_no_field_is_told() -> None:
    with pytest.raises(llmcore.ConfigError, match="Request has no field 'temprature'; did you mean 'temperature'"):
        Request(messages=[]).model_copy(update={"temprature": 0.5})
    with pytest.raises(llmcore.ConfigError, match="did you mean 'tool_calls'"):
        Envelope().model_copy(update={"toolcalls": []})


def test_the_parts_of_an_envelope_that_are_no_fields_can_be_changed_like_fields() -> None:
    first, second = TextBlock(text="a"), TextBlock(text="b")
    envelope = Envelope(content="a").attach("a", (), lambda: [first])
    made = envelope.model_copy(update={"blocks": [second], "source": "b"})
    assert (made.blocks, made.source, made.content) == ([second], "b", "a")
    assert (envelope.blocks, envelope.source) == ([first], "a")
    envelope.blocks.append(second)
    assert envelope.blocks == [first, second]
    assert made.blocks == [second]


@pytest.mark.parametrize("asked_before", [False, True])
def test_the_blocks_of_a_copy_are_its_own(asked_before: bool) -> None:
    use = ToolUseBlock(id="a", name="b", input=deep())
    envelope = Envelope().attach("", (), lambda: [use])
    if asked_before:
        assert envelope.blocks
    made: Any = copied([envelope])[0]
    made.blocks[0].input["x"].clear()
    made.blocks.clear()
    assert envelope.blocks == [use]
    assert use.input == deep()


def test_a_changed_model_shares_the_rest() -> None:
    call = ToolCall(id="a", name="b", arguments=deep())
    made = updated(call, {"id": "c"})
    assert made == ToolCall(id="c", name="b", arguments=deep())
    assert made.arguments is call.arguments


def test_every_public_type_is_copied_so() -> None:
    public = [getattr(llmcore, name) for name in PUBLIC_NAMES]
    models = [kind for kind in [*public, ModelCall] if inspect.isclass(kind) and issubclass(kind, BaseModel)]
    assert len(models) > 20
    assert [kind.__name__ for kind in models if not issubclass(kind, Value)] == []


def test_what_is_read_or_judged_shares_nothing_with_what_was_given() -> None:
    body: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": deep()},
            {"type": "tool_use", "id": "t", "name": "note", "input": deep()},
        ],
    }
    tools = [{"name": "note", "parameters": {"type": "object"}}]
    envelope = llmcore.normalize(body, tools)
    parts: list[Any] = envelope.blocks
    first, second = parts
    (judged,) = llmcore.validate(envelope, tools).calls
    judged.arguments["x"].clear()  # type: ignore[index]  # it has arguments
    given: Any = envelope.tool_calls[0].arguments
    assert given == deep()
    given["x"].clear()
    assert second.input == deep()
    first.data["input"].clear()
    second.input.clear()
    assert [part["input"] for part in body["content"]] == [deep(), deep()]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Attempt, {"n": 1, "model": "m", "failure": None}),
        (Envelope, {}),
        (Envelope, {"content": "x", "tool_calls": []}),
        (Message, {"role": "user", "content": [TextBlock(text="x")]}),
        (Usage, {"input_tokens": 3}),
        (Request, {"messages": []}),
        (Budget, {"tokens": 3}),
    ],
)
def test_what_is_made_of_our_own_values_is_what_a_check_would_make(kind: Any, fields: dict[str, Any]) -> None:
    make: Callable[..., BaseModel] = made
    one, again, other = make(kind, **fields), make(kind, **fields), cast("BaseModel", kind(**fields))
    assert one == other
    assert list(vars(one)) == list(vars(other))
    assert one.model_fields_set == other.model_fields_set
    assert one.model_dump_json() == other.model_dump_json()
    assert sent(one) == other
    for name, value in vars(again).items():
        if isinstance(value, list | dict) and name not in fields:
            assert value is not getattr(one, name)


def test_what_holds_nothing_that_changes_is_shared_and_the_rest_is_not() -> None:
    words, call = TextBlock(text="a"), ToolUseBlock(id="c", name="f", input={"a": [1]})
    message = Message(role="assistant", content=[words, call])
    copy = copied(message)
    assert copy == message
    assert copy.content is not message.content
    assert copy.content[0] is words
    other = copy.content[1]
    assert isinstance(other, ToolUseBlock)
    assert other is not call
    assert other.input is not call.input
    assert other.input == {"a": [1]}


def test_a_type_is_shared_only_where_none_of_its_fields_may_change() -> None:
    class Frozen(Value):
        model_config = ConfigDict(frozen=True)

        name: Literal["a"] | None = None
        inner: TextBlock | None = None

    class Listing(Frozen):
        names: list[str] = Field(default_factory=list[str])

    class Loose(Frozen):
        anything: Any = None

    class Changing(Value):
        name: str = ""

    flat = Frozen(inner=TextBlock(text="a"))
    assert copied([flat])[0] is flat
    for one in (Listing(names=["a"]), Loose(anything=["a"]), Changing(name="a")):
        copy = copied([one])[0]
        assert copy == one
        assert copy is not one
