"""Replies whose text stands in several items or blocks: each piece of text stays in its own, in order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

from llmcore.wire import anthropic, openai_responses
from tests.wire import test_anthropic as blocks
from tests.wire import test_openai_responses as items
from tests.wire.support import CALL, settings

Json = dict[str, Any]
CUT = CALL.index(' "arguments"')
"""Between two members of the call's object, where a line may end."""
PARTS = (
    *("First. ", "I look for it", "\n\n", CALL, f"Then.\n{CALL}", f"{CALL}\nAnd after.", "See [1] and `x`", "After", "the end"),
    *("<think>hm</think>", "```json\n{}\n```", '{"a": 1}', "<tool_call> opens", f"Use `{CALL}`.", CALL[:CUT], CALL[CUT:]),
)
"""Texts of items. Some of them are decided only when the next item has come."""


class Items(NamedTuple):
    """One wire whose replies have items. None stands for an item without text. `read`: the texts, and the number of calls."""

    name: str
    whole: Callable[[list[str | None]], list[Json]]
    streamed: Callable[[list[str | None]], list[Json]]
    read: Callable[[Iterable[Json]], tuple[list[str | None], int]]


def _blocks_read(content: Iterable[Json]) -> tuple[list[str | None], int]:
    found = [*content]
    texts = [each.get("text") for each in found if each["type"] in ("text", "server_tool_use")]
    return texts, sum(each["type"] == "tool_use" for each in found)


def _blocks_streamed(texts: list[str | None]) -> list[Json]:
    search = {"type": "input_json_delta", "partial_json": "{}"}
    events = [
        event
        for index, text in enumerate(texts)
        for event in (blocks.block_events(index, blocks.SEARCH, search) if text is None else blocks.text_events(index, text))
    ]
    content: list[Json] = []
    for event in blocks.streamed(*events, *blocks.END):
        if event["type"] == "content_block_start":
            content.append(dict(event["content_block"]))
            assert event["index"] == len(content) - 1
        elif "text" in event.get("delta", {}):
            assert event["index"] == len(content) - 1
            content[-1]["text"] += event["delta"]["text"]
    return content


def _items_read(output: Iterable[Json]) -> tuple[list[str | None], int]:
    found = [*output]
    texts = [
        "".join(part["text"] for part in each["content"]) if each["type"] == "message" else None
        for each in found
        if each["type"] in ("message", "web_search_call")
    ]
    return texts, sum(each["type"] == "function_call" for each in found)


def _given_items(texts: list[str | None]) -> list[Json]:
    return [
        {**items.SEARCH, "id": f"ws_{n}"} if text is None else items.message(text, f"msg_{n}") for n, text in enumerate(texts)
    ]


def _items_streamed(texts: list[str | None]) -> list[Json]:
    sent = items.streamed(items.events_of(*_given_items(texts)))
    items.WIRE.read_events(sent)
    output: list[Json] = sent[-1]["response"]["output"]
    done = [event["item"] for event in sent if event["type"] == "response.output_item.done"]
    assert done == output
    return output


def _blocks_whole(texts: list[str | None]) -> list[Json]:
    given = blocks.body(*(blocks.SEARCH if text is None else blocks.text(text) for text in texts))
    content: list[Json] = anthropic.rewrite(given, blocks.SETTINGS).body["content"]
    return content


def _items_whole(texts: list[str | None]) -> list[Json]:
    output: list[Json] = openai_responses.rewrite(items.response(*_given_items(texts)), settings()).body["output"]
    return output


KINDS = (
    Items("anthropic", _blocks_whole, _blocks_streamed, _blocks_read),
    Items("openai-responses", _items_whole, _items_streamed, _items_read),
)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@kinds
@pytest.mark.parametrize(
    ("given", "texts", "calls"),
    [
        (["I look for it", CALL, "After"], ["I look for it", "After"], 1),
        (["I look for it", None, CALL, None, "After"], ["I look for it", None, None, "After"], 1),
        (["For example:", CALL, "After"], ["For example:", CALL, "After"], 0),
        (["Begun ```json\n{}\n```", None, "the end"], ["Begun ```json\n{}\n```", None, "the end"], 0),
        ([CALL[:CUT], CALL[CUT:], "the end"], ["the end"], 1),
        ([f"Then.\n{CALL[:30]}", None, "no call"], [f"Then.\n{CALL[:30]}", None, "no call"], 0),
        (["<think>the", "hm</think>", "the end"], ["the end"], 0),
        (["one", "<think>hm</think>two"], ["one", "two"], 0),
        (["one ", None, "<think>hm</think>two", "three"], ["one ", None, "two", "three"], 0),
        (["one", "<think>h", "m</think>two"], ["one", "two"], 0),
        (["one", "\n\n<think>hm</think>\ntwo"], ["one", "\n\n\ntwo"], 0),
        (["one", f"<think>hm</think>{CALL}\ntwo"], ["one", "\ntwo"], 1),
    ],
)
def test_each_text_stays_in_its_item(kind: Items, given: list[str | None], texts: list[str | None], calls: int) -> None:
    assert kind.read(kind.whole(given)) == (texts, calls)
    assert kind.read(kind.streamed(given)) == (texts, calls)


@kinds
@pytest.mark.parametrize("seed", range(40))
def test_a_stream_has_the_items_of_the_whole_reply(kind: Items, seed: int) -> None:
    draw = random.Random(seed)  # reproducible items, no secret
    given = [draw.choice([*PARTS, None]) for _ in range(draw.randint(2, 6))]

    def read(found: Any) -> Any:
        texts, calls = kind.read(found)
        return [text and text.strip() for text in texts if text is None or text.strip()], calls

    assert read(kind.streamed(given)) == read(kind.whole(given))


def test_items_of_the_server_keep_their_ids() -> None:
    repaired = {**items.NATIVE, "arguments": '{"city": "Rome",}'}
    native = {**items.NATIVE, "id": "fc_2", "call_id": "call_2"}
    held = items.message("<tool_call> opens", "msg_1")
    given = [held, items.SEARCH, items.message(f"Then <think>hm</think>{CALL}", "msg_2"), repaired, native]
    ids = [each["id"] for each in _items_of(given)]
    whole = [each["id"] for each in openai_responses.rewrite(items.response(*given), settings()).body["output"]]
    for found in (ids, whole):
        assert len({*found}) == len(found)
        assert [each for each in found if each in ("msg_1", "ws_server", "msg_2", "fc_server", "fc_2")] == [
            *("msg_1", "ws_server", "msg_2", "fc_server", "fc_2")
        ]


def _items_of(given: list[Json]) -> list[Json]:
    output: list[Json] = items.streamed(items.events_of(*given))[-1]["response"]["output"]
    return output


def test_what_the_server_sends_waits_only_for_undecided_text() -> None:
    rewriter = anthropic.StreamRewriter(blocks.SETTINGS)
    events = [
        *blocks.text_events(0, "I search. "),
        *blocks.block_events(1, blocks.SEARCH),
        *blocks.block_events(2, blocks.SEARCH),
    ]
    sent = [each for event in events for each in rewriter.feed(event)]
    assert [event["content_block"]["type"] for event in sent if "content_block" in event] == [
        *("text", "server_tool_use", "server_tool_use")
    ]
    assert "".join(event["delta"]["text"] for event in sent if "delta" in event) == "I search. "
