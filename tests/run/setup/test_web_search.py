"""Web search: the provider's own if there is one, else the caller's function as an ordinary tool."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, ModelNotFound, Orchestrator, ToolConfig
from llmcore.tools.definition.web_search import web_search_tool
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer

pytestmark = pytest.mark.anyio
CALL = '<tool_call>{"name": "web_search", "arguments": {"query": "tides", "max_results": 2}}</tool_call>'
FOUND = [{"title": f"Page {number}", "url": f"https://example.org/{number}"} for number in range(9)]


def registry(server: WireServer, **settings: Any) -> dict[str, Any]:
    at = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai"), "api_key": "k"}
    return {"models": {"m": at | settings}}


async def find_async(query: str, max_results: int) -> list[dict[str, str]]:
    return FOUND[: max_results + 3]


class Finder:
    async def __call__(self, query: str) -> list[dict[str, str]]:
        return FOUND


def find(query: str) -> list[dict[str, str]]:
    return FOUND


def nothing() -> int:
    return 1


def too_much(a: str, b: int, c: int) -> int:
    return 1


def with_default(query: str, limit: int = 3) -> str:
    return query


SEARCHES: list[Callable[..., Any]] = [find, find_async, Finder()]
NONE: list[Any] = [3, "bing", nothing, too_much]


@pytest.mark.parametrize("search", SEARCHES, ids=["sync", "async", "object"])
async def test_a_model_without_a_search_of_its_own_gets_the_tool(search: Callable[..., Any]) -> None:
    fake = FakeModel(CALL, "High at noon.")
    result = await Orchestrator(fake, web_search=search).run("When?", allow_web_search=True)
    assert result.envelope.content == "High at noon."
    (answer,) = result.messages[2].tool_results
    assert "Page 1" in answer.text
    assert "Page 2" not in answer.text
    assert not fake.requests[0].allow_web_search


async def test_the_tool_is_there_only_when_the_web_may_be_searched() -> None:
    fake = FakeModel("No idea.")
    await Orchestrator(fake, web_search=find_async).run("When?")
    assert fake.requests[0].tools == ()


async def test_a_search_of_the_users_own_stands() -> None:
    def web_search(query: str) -> str:
        return "mine"

    fake = FakeModel(CALL.replace(', "max_results": 2', ""), "ok")
    result = await Orchestrator(fake, [web_search], web_search=find_async).run("When?", allow_web_search=True)
    assert result.messages[2].tool_results[0].text == "mine"


async def test_what_the_registry_says_is_sent() -> None:
    with WireServer(["Found."]) as server:
        async with Orchestrator(registry(server, supports_web_search=True), web_search=find_async) as orchestrator:
            await orchestrator.run("When?", allow_web_search=True)
    (seen,) = server.requests
    assert seen.body["web_search_options"] == {}
    assert "tools" not in seen.body


async def test_what_is_not_sent_stands_in_the_attempt() -> None:
    with WireServer([Turn("Dunno.")]) as server:
        models = registry(server, supports_web_search=True)
        models["models"]["m"] |= {"provider": "gemini", "model": "gemini-2.5-pro", "base_url": server.base_url("gemini")}
        async with Orchestrator(models, [len_of]) as orchestrator:
            result = await orchestrator.run("When?", allow_web_search=True)
            streamed = [event async for event in orchestrator.stream("When?", allow_web_search=True)]
    assert result.attempts[0].dropped == ["web search"]  # LiteLLM would leave it out beside tools without a word
    assert streamed[-1].result.attempts[0].dropped == ["web search"]  # type: ignore[union-attr]  # `Finished`


def len_of(text: str) -> int:
    return len(text)


async def test_a_named_model_that_lacks_something_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with WireServer(["Dunno."]) as server, caplog.at_level(logging.WARNING, "llmcore"):
        async with Orchestrator(registry(server, context_window=20)) as orchestrator:
            result = await orchestrator.run("When? " * 20, model="m", allow_web_search=True)
    assert "the model m was asked for and lacks web search (supports_web_search) and context" in caplog.text
    assert result.attempts[0].dropped == ["web search"]


async def test_without_a_search_of_any_kind_no_model_fits() -> None:
    with WireServer([]) as server, pytest.raises(ModelNotFound, match="m lacks web search"):
        await Orchestrator(registry(server)).run("When?", allow_web_search=True)


@pytest.mark.parametrize("wrong", NONE)
def test_what_is_no_search_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="web_search must"):
        Orchestrator(FakeModel(), web_search=wrong)


def test_a_builtin_and_one_with_a_default_are_searches() -> None:
    assert web_search_tool(str).definition.name == "web_search"
    assert web_search_tool(with_default).definition.parameters["required"] == ["query"]


REFUSED = (
    "Web search is not enabled for your organization.",
    "Unsupported tool type: web_search_20250305",
    "Hosted tool 'web_search' is not supported with claude-sonnet-4-5",
    "Search Grounding is not supported.",
    "Retrieval is off today.",
)
UNKNOWN = ("Unsupported tool type: web_search_20250305", "Retrieval is off today.")


@pytest.mark.parametrize("words", REFUSED)
async def test_where_the_provider_refuses_to_search_our_tool_does_it(words: str) -> None:
    def script(seen: Seen) -> Step:
        written = json.dumps(seen.body)
        if "web_search_20" in written:
            return Failure(400, {"type": "error", "error": {"type": "invalid_request_error", "message": words}})
        return "High at noon." if "Page 1" in written else Turn(calls=[("web_search", {"query": "tides"})])

    with WireServer(script) as server:
        at = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.base_url("anthropic"), "api_key": "none"}
        async with Orchestrator({"models": {"m": at}}, web_search=find) as orchestrator:
            first = await orchestrator.run("When?", allow_web_search=True)
            runs = [await orchestrator.run("When?", allow_web_search=True) for _ in range(2)]
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert {run.content for run in (first, *runs)} == {"High at noon."}
    assert [record.name for record in first.tool_results] == ["web_search"]
    assert learnt["web_search"] is False
    assert [attempt.failure is None for attempt in first.attempts] == [False, True, True]
    assert len(runs[0].attempts) == 2 + (words in UNKNOWN)  # words that nobody knows are believed the second time
    assert {attempt.failure for attempt in runs[1].attempts} == {None}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"detail": "Not Found"}),
        (404, {"error": {"message": "404 page not found"}}),
        (403, {"error": {"message": "Live search is not part of your plan"}}),
        (400, {"error": {"message": REFUSED[0]}}),
    ],
)
async def test_so_it_does_where_the_user_said_that_there_is_one(status: int, body: Any) -> None:
    def script(seen: Seen) -> Step:
        written = json.dumps(seen.body)
        if "web_search_20" in written:
            return Failure(status, body)
        return "High at noon." if "Page 1" in written else Turn(calls=[("web_search", {"query": "tides"})])

    with WireServer(script) as server:
        at = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.base_url("anthropic"), "api_key": "none"}
        models = {"models": {"m": {**at, "supports_web_search": True}}}
        async with Orchestrator(models, web_search=find) as orchestrator:
            result = await orchestrator.run("When?", allow_web_search=True)
    assert [attempt.failure is None for attempt in result.attempts] == [False, True, True]  # the next turn does without, too
    assert result.content == "High at noon."


async def test_without_a_tool_of_ours_the_search_is_left_out_and_told() -> None:
    def script(seen: Seen) -> Step:
        return Failure(400, {"error": {"message": REFUSED[0]}}) if "web_search_20" in json.dumps(seen.body) else "No idea."

    with WireServer(script) as server:
        at = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.base_url("anthropic"), "api_key": "none"}
        async with Orchestrator({"models": {"m": at}}) as orchestrator:
            result = await orchestrator.run("When?", allow_web_search=True)
    assert result.content == "No idea."
    assert result.attempts[-1].dropped == ["web search"]


@pytest.mark.parametrize("config", [ToolConfig(allowed={"len_of"}), ToolConfig(enabled=False)])
async def test_a_search_that_the_tools_settings_leave_out_is_reported(
    config: ToolConfig, caplog: pytest.LogCaptureFixture
) -> None:
    with WireServer(["Dunno."]) as server, caplog.at_level(logging.WARNING, "llmcore"):
        async with Orchestrator(registry(server), [len_of], web_search=find) as orchestrator:
            result = await orchestrator.run("When?", allow_web_search=True, tool_config=config)
    assert result.attempts[0].dropped == ["web search"]
    assert "does not take web search: it is not sent" in caplog.text


async def test_a_search_that_replaces_the_providers_is_reported() -> None:
    def script(seen: Seen) -> Step:
        return Failure(400, {"error": {"message": REFUSED[0]}}) if "web_search_20" in json.dumps(seen.body) else "No idea."

    with WireServer(script) as server:
        at = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.base_url("anthropic"), "api_key": "none"}
        async with Orchestrator({"models": {"m": at}}, [len_of], web_search=find) as orchestrator:
            allowed = ToolConfig(allowed={"len_of"})
            result = await orchestrator.run("When?", allow_web_search=True, tool_config=allowed)
    assert result.content == "No idea."
    assert result.attempts[-1].dropped == ["web search"]


async def test_a_search_that_the_wire_has_no_word_for_takes_no_tools_place() -> None:
    with WireServer([Turn("At noon.")]) as server:
        models = {"m": {"provider": "ollama", "model": "m", "base_url": server.base_url("ollama"), "supports_web_search": True}}
        async with Orchestrator({"models": models}, web_search=find_async) as orchestrator:
            await orchestrator.run("When?", allow_web_search=True)
    assert [tool["function"]["name"] for tool in server.requests[0].body["tools"]] == ["web_search"]
