"""Envelopes, and all that holds them, can be sent and copied, whatever they were read from."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import llmcore
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Envelope, Finished, LLMCoreError, RateLimited, RemoteServerError
from tests.helpers.processes import sent
from tests.run.support import FAST, add, called

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
REPLIES: dict[str, Any] = {
    "nothing": "",
    "words": "Hello there.",
    "one call": CALL,
    "words and calls": f"<think>hm</think>Well:\n{CALL}\nand\n{CALL}",
    "bare JSON": '{"name": "add", "arguments": {"a": 1}}',
    "Python": "add(a=1)",
    "a fence": '```json\n{"name": "add", "arguments": {}}\n```',
    "XML": "<function=add><parameter=a>1</parameter></function>",
    "cut": '<tool_call>{"name": "add", "arguments": {"a": "x',
    "a near miss": f'See `{{"name": "sub", "arguments": {{}}}}` or {CALL[:20]}',
    "native": called("add", {"a": 1}, text=f"Well: {CALL}"),
    "Anthropic": {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a"}, {"type": "odd"}],
    },
}


WAYS: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, sent, lambda value: value.model_copy(deep=True)]
READ: dict[str, Callable[[Any], Envelope]] = {
    "whole": lambda reply: llmcore.normalize(reply, [add]),
    "fed": lambda reply: fed([reply] if isinstance(reply, dict) else list(reply)),
}


def fed(parts: list[Any]) -> Envelope:
    normalizer = llmcore.Normalizer([add])
    for part in parts:
        normalizer.feed(part)
    normalizer.finish()
    return normalizer.envelope


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle", "model_copy"])
@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("name", REPLIES)
def test_an_envelope_survives(name: str, read: str, way: Callable[[Any], Any]) -> None:
    envelope, same = READ[read](REPLIES[name]), READ[read](REPLIES[name])
    got = way(envelope)
    assert got == envelope
    assert (got.source, got.segments, got.blocks) == (same.source, same.segments, same.blocks)


def test_a_deep_copy_shares_nothing_and_keeps_what_is_shared_within() -> None:
    envelope = llmcore.normalize(CALL)
    one, other = copy.deepcopy([envelope, envelope])
    assert one is other
    (one.tool_calls[0].arguments or {})["a"] = 2
    assert envelope.tool_calls[0].arguments == {"a": 1}


# --- what holds them ----------------------------------------------------------------------------------------------------


BROKEN: dict[str, Callable[[], FakeModel]] = {
    "cut again and again": lambda: FakeModel(
        default={"choices": [{"message": {"content": CALL[:-20]}, "finish_reason": "length"}]}
    ),
    "a tool, then a rate limit": lambda: FakeModel(called("add", {"a": 1, "b": 2}), default=RateLimited("no", retry_after=0.0)),
    "broken off": lambda: FakeModel(default={"choices": [{"message": {"content": CALL}, "finish_reason": "error"}]}),
    "too many turns": lambda: FakeModel(default=called("add", {"a": 1, "b": 2}, text="Well: ")),
}


@pytest.mark.anyio
@pytest.mark.parametrize("way", [copy.deepcopy, sent], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "run"])
@pytest.mark.parametrize("name", BROKEN)
async def test_the_error_that_ends_a_run_survives_with_its_partial_result(
    name: str, streamed: bool, way: Callable[[Any], Any]
) -> None:
    orchestrator = Orchestrator(BROKEN[name](), [add], strategies=FAST)
    with pytest.raises(LLMCoreError) as caught:
        _ = [event async for event in orchestrator.stream("go")] if streamed else await orchestrator.run("go")
    error, got = caught.value, way(caught.value)
    assert (type(got), str(got), len(got.attempts)) == (type(error), str(error), len(error.attempts))
    assert got.partial.model_dump_json() == error.partial.model_dump_json()
    assert (got.partial.envelope, got.partial.envelope.blocks) == (error.partial.envelope, error.partial.envelope.blocks)


@pytest.mark.anyio
async def test_the_last_event_of_a_stream_survives() -> None:
    fake = FakeModel(called("add", {"a": 1, "b": 2}), RemoteServerError("down"), "Three.", chunk_size=3)
    events: list[Any] = [event async for event in Orchestrator(fake, [add], strategies=FAST).stream("go")]
    for got in (sent(events)[-1], copy.deepcopy(events)[-1]):
        assert type(got) is Finished
        assert got.result.content == "Three."
        assert len(got.result.attempts) == 3
