"""Failures after which only another account or model helps: spent quota, and a model's own refusal. Over sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.types import Finished, QuotaExceeded, Refused
from tests.helpers.wire_server import Failure, Raw, Seen, Step, WireServer
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

SPENT = Failure(
    429, {"error": {"message": "You exceeded your quota.", "type": "insufficient_quota", "code": "insufficient_quota"}}
)
NO = "I cannot help with that."
MESSAGE = {"role": "assistant", "content": None, "refusal": NO}
HEAD = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
CHAT = {**HEAD, "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
CHUNKS: list[dict[str, Any]] = [
    {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
    {"index": 0, "delta": {"refusal": NO[:9]}, "finish_reason": None},
    {"index": 0, "delta": {"refusal": NO[9:]}, "finish_reason": None},
    {"index": 0, "delta": {}, "finish_reason": "stop"},
]


def model(server: WireServer, **fields: Any) -> dict[str, Any]:
    return {"provider": "openai_compatible", "model": "m", "base_url": server.base_url("openai"), "api_key": "sk-one", **fields}


async def answer(orchestrator: Orchestrator, *, streamed: bool) -> str:
    if not streamed:
        return (await orchestrator.run("Hi")).content
    events = [event async for event in orchestrator.stream("Hi")]
    return next((event.result.content for event in events if isinstance(event, Finished)), "")


@pytest.mark.parametrize(
    ("second", "asked"),
    [({}, 1), ({"api_key": "sk-one"}, 1), ({"api_key": "sk-other"}, 2), ({"base_url": "other"}, 2)],
    ids=["same", "same key", "another key", "another server"],
)
async def test_spent_quota_goes_to_another_account_whatever_the_provider_is_called(second: dict[str, Any], asked: int) -> None:
    def script(seen: Any) -> Step:
        return SPENT if seen.body["model"] == "m" else "Here."

    with WireServer(script) as server, WireServer(script) as other:
        if "base_url" in second:
            second = {"base_url": other.base_url("openai")}
        models = {"a": model(server, escalates_to=["b"]), "b": model(server, **{"model": "n", **second})}
        orchestrator = Orchestrator({"models": models}, strategies=FAST)
        if asked == 1:
            with pytest.raises(QuotaExceeded):
                await orchestrator.run("Hi")
        else:
            assert (await orchestrator.run("Hi")).content == "Here."
        await orchestrator.aclose()
        assert len(server.requests) + len(other.requests) == asked


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_models_refusal_in_its_own_field_is_refused_and_the_next_model_asked(streamed: bool) -> None:
    frames = [f"data: {json.dumps({**HEAD, 'object': 'chat.completion.chunk', 'choices': [one]})}\n\n".encode() for one in CHUNKS]
    stream = Raw([*frames, b"data: [DONE]\n\n"], "text/event-stream")

    def script(seen: Any) -> Step:
        if seen.body["model"] != "m":
            return "Here."
        return stream if seen.streaming else Raw([json.dumps(CHAT).encode()])

    with WireServer(script) as server:
        models = {"a": model(server, escalates_to=["b"]), "b": model(server, model="n")}
        orchestrator = Orchestrator({"models": models}, strategies=FAST)
        assert await answer(orchestrator, streamed=streamed) == "Here."
        assert await orchestrator.execute("Hi", str) == "Here."
        assert [seen.body["model"] for seen in server.requests] == ["m", "n"] * 2
        del models["a"]["escalates_to"]
        alone = Orchestrator({"models": models}, strategies=FAST)
        with pytest.raises(Refused, match="the model refused: 'I cannot help"):
            await alone.run("Hi", model="a")
        await orchestrator.aclose()
        await alone.aclose()


@pytest.mark.parametrize("asked", ["tools", "typed"])
async def test_a_fault_that_comes_of_the_mode_is_not_made_again_and_again(asked: str) -> None:
    words = "Value is not callable: null at row 1, column 72: {%- if tools %}"

    def script(seen: Seen) -> Step:
        broken = "tools" in seen.body or "response_format" in seen.body
        return Failure(500, {"error": {"message": words, "code": 500}}) if broken else "7"

    with WireServer(script) as server:
        orchestrator = Orchestrator({"models": {"a": model(server)}}, [get_weather] if asked == "tools" else [], strategies=FAST)
        found = (await orchestrator.run("Hi")).content if asked == "tools" else str(await orchestrator.execute("Hi", int))
        await orchestrator.aclose()
    assert found == "7"
    assert [[name for name in ("tools", "response_format") if name in seen.body] for seen in server.requests][-1] == []
    assert len(server.requests) <= 4
