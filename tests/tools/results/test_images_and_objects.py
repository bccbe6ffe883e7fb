"""What a tool returns reaches the model as what it is: images as images wherever they stand, and no address of an object."""

from __future__ import annotations

import asyncio
import collections
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from llmcore import FakeModel, ImageBlock, Orchestrator, TextBlock, ToolResultBlock
from llmcore.run.results.result import ToolRecord

MAP = ImageBlock(data="bWFw", media_type="image/png")
CHART = ImageBlock(url="https://example.com/chart.png")


class Page(BaseModel):
    title: str
    picture: ImageBlock = Field(serialization_alias="shown")


@dataclass
class Sheet:
    title: str
    pictures: list[ImageBlock]


class Keys(TypedDict):
    picture: ImageBlock


class Bare:
    def look(self) -> None: ...


class Told:
    def __str__(self) -> str:
        return "in its own words"


class Held(BaseModel):
    thing: Any


def sent(value: Any) -> tuple[list[Any], ToolRecord]:
    """What the model is shown of a tool that returns the value, and the record."""

    def look() -> Any:
        return value

    model = FakeModel().tool_call("look", {}).text("Done.")
    result = Orchestrator(model, [look]).run_sync("?")
    (block,) = model.requests[1].messages[-1].content
    assert isinstance(block, ToolResultBlock)
    return block.content, result.tool_results[0]


@pytest.mark.parametrize(
    ("value", "text", "images"),
    [
        ({"title": "x", "picture": MAP}, '{"title":"x","picture":"[image 1]"}', [MAP]),
        ([{"a": [MAP]}, {"b": CHART}], '[{"a":["[image 1]"]},{"b":"[image 2]"}]', [MAP, CHART]),
        (Page(title="x", picture=CHART), '{"title":"x","shown":"[image 1]"}', [CHART]),
        (Sheet("x", [MAP, CHART]), '{"title":"x","pictures":["[image 1]","[image 2]"]}', [MAP, CHART]),
        (Keys(picture=MAP), '{"picture":"[image 1]"}', [MAP]),
        (("a map", {"beside": MAP}), '["a map",{"beside":"[image 1]"}]', [MAP]),
        (["a map", CHART, {"beside": MAP}], 'a map\n{"beside":"[image 2]"}', [CHART, MAP]),
        (MappingProxyType({"a": MAP}), '{"a":"[image 1]"}', [MAP]),
        (collections.UserDict(a=MAP), '{"a":"[image 1]"}', [MAP]),
        (collections.UserList([MAP, "x"]), '["[image 1]","x"]', [MAP]),
        (collections.ChainMap({"a": MAP}), '{"a":"[image 1]"}', [MAP]),
        (SimpleNamespace(a=MAP), '{"a":"[image 1]"}', [MAP]),
        ({"a": {"b": MAP}.values()}, '{"a":["[image 1]"]}', [MAP]),
        ({"a": {"b": MAP}.items()}, '{"a":[["b","[image 1]"]]}', [MAP]),
        (collections.UserDict(a=SimpleNamespace(b=[MAP])), '{"a":{"b":["[image 1]"]}}', [MAP]),
        ({"a": collections.UserList([1])}, '{"a":"[1]"}', []),
        ({"twice": [MAP, MAP]}, '{"twice":["[image 1]","[image 2]"]}', [MAP, MAP]),
        ({"said": TextBlock(text="hello"), "n": 1}, '{"said":"hello","n":1}', []),
        ({"type": "image", "data": "bWFw"}, '{"type":"image","data":"bWFw"}', []),
    ],
)
def test_an_image_is_sent_as_one_wherever_it_stands(value: Any, text: str, images: list[ImageBlock]) -> None:
    content, record = sent(value)
    assert content == [TextBlock(text=text), *images]
    assert record.error is None


def test_a_picture_goes_out_as_a_picture() -> None:
    content, record = sent({"pictures": {"map": MAP}})
    assert json.loads(record.content) == {"pictures": {"map": "[image 1]"}}
    assert [block for block in content if isinstance(block, ImageBlock)] == [MAP]


@pytest.mark.parametrize(
    "made",
    [Bare, object, threading.Lock, lambda: sent, lambda: Bare().look, lambda: [{"a": Bare()}], lambda: Held(thing=Bare())],
    ids=["object", "plain object", "lock", "function", "method", "deeper", "in a model"],
)
def test_an_object_without_a_json_form_is_an_error_of_the_tool(made: Callable[[], Any]) -> None:
    content, record = sent(made())
    assert "0x" not in str(content)
    assert record.error is not None
    assert record.error.type == "execution"
    assert "which has no JSON form; let the tool return data" in record.error.message


def test_an_object_that_has_words_is_told_in_them() -> None:
    assert sent(Told())[0] == [TextBlock(text='"in its own words"')]
    assert sent({"a": Told()})[0] == [TextBlock(text='{"a":"in its own words"}')]


def outer() -> Callable[[], None]:
    def inner() -> None: ...

    return inner


class Repeated:
    def __repr__(self) -> str:
        return f"Repeated({threading.Event()!r})"


@pytest.mark.parametrize(
    "made",
    [outer, lambda: lambda: 1, threading.Event, asyncio.Lock, asyncio.Event, lambda: json, lambda: len, Repeated],
    ids=["nested function", "lambda", "event", "async lock", "async event", "module", "builtin", "held in a repr"],
)
@pytest.mark.parametrize("place", ["alone", "deeper", "in a model"])
def test_an_object_whose_repr_has_an_address_or_a_path_is_an_error(made: Callable[[], Any], place: str) -> None:
    value = made()
    content, record = sent({"alone": value, "deeper": {"a": [value]}, "in a model": Held(thing=value)}[place])
    assert "0x" not in str(content)
    assert record.error is not None
    assert "which has no JSON form; let the tool return data" in record.error.message


class Shot:
    def __init__(self, image: Any, words: str | None = None) -> None:
        self.image, self.words = image, words

    def __repr__(self) -> str:
        return self.words or f"Shot(image={self.image!r})"


@pytest.mark.parametrize(
    "value",
    [
        Shot(MAP),
        {"a": Shot([CHART])},
        Shot(MAP, "a shot"),
        Shot(Shot(MAP)),
        collections.UserDict(a=Shot(MAP)),
        {"e": ValueError(MAP)},
    ],
)
def test_an_image_in_an_object_without_a_json_form_is_an_error(value: Any) -> None:
    content, record = sent(value)
    assert "bWFw" not in str(content)
    assert record.error is not None
    assert "with such a block in it; let the tool return the image, file or audio beside its text" in record.error.message


class Own:
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


@pytest.mark.parametrize("text", ["<b>crash</b> at 0x7fff", "at 0x10", "x > 1 at 0x7fff <br>"])
def test_words_about_an_address_are_told(text: str) -> None:
    assert sent(Own(text))[0] == [TextBlock(text=json.dumps(text))]
