"""`llmcore probe`: what holds at a model, over a real socket; what it costs; what it saves, and what that changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmcore import CapabilityStore, Orchestrator
from llmcore.models import ModelRegistry
from tests.cli.conftest import Invoke
from tests.helpers.redis_server import redis_server
from tests.helpers.wire_server import Failure, Raw, Seen, Step, Turn, WireServer
from tests.run.support import get_weather

MODEL = "nobody/knows-this-1"
HERMES = '<tool_call>\n{"name": "%s", "arguments": {"city": "Paris"}}\n</tool_call>'
QUESTIONS = [
    "plain text", "native tools", "forced tool", "named tool", "parallel calls", "JSON schema", "JSON mode", "calls as text",
]  # fmt: skip


def able(seen: Seen) -> Step:
    """A server and a model that can do everything."""
    told, choice = json.dumps(seen.body["messages"]), seen.body.get("tool_choice")
    names = [tool["function"]["name"] for tool in seen.body.get("tools", [])]
    if isinstance(choice, dict):
        return Turn(calls=[(choice["function"]["name"], {"city": "Paris"})])
    if names and (choice == "required" or "tool" in told):
        return Turn(calls=[(names[0], {"city": city}) for city in (["Paris", "Rome"] if "two calls" in told else ["Paris"])])
    if "response_format" in seen.body:
        return '{"capital": "Paris", "letters": 5}'
    return in_words(seen)


def in_words(seen: Seen) -> Step:
    """A server that looks at nothing but the messages, and a model that calls the tools it is taught."""
    told = json.dumps(seen.body["messages"])
    if "sunny for" in told:
        return "It is sunny."
    taught = next((name for name in ("get_time", "get_weather") if f"## {name}" in told), None)
    return HERMES % taught if taught else "Hello, I cannot know that."


def writing_calls(seen: Seen) -> Step:
    """A server that puts the tools into the prompt and reads no calls out of the text."""
    return HERMES % seen.body["tools"][0]["function"]["name"] if "tools" in seen.body else in_words(seen)


def refusing(seen: Seen) -> Step:
    if "tools" in seen.body:
        return Failure(400, {"error": {"message": "this model does not support tools"}})
    if "response_format" in seen.body:
        kind = seen.body["response_format"]["type"]
        return Failure(400, {"error": {"message": f"'response_format' of type '{kind}' is not supported"}})
    return in_words(seen)


def slow_to_refuse(seen: Seen) -> Step:
    return Failure(503, {"error": {"message": "busy"}}) if "tools" in seen.body else in_words(seen)


def holds(found: dict[str, Any]) -> dict[str, str]:
    return {finding["question"]: finding["holds"] for finding in found["findings"]}


def probed(invoke: Invoke, script: Callable[[Seen], Step], *options: str | Path) -> tuple[dict[str, Any], list[Seen]]:
    with WireServer(script) as server:
        result = invoke("probe", MODEL, "--base-url", server.base_url("openai"), "--json", *options)
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout), server.requests


def test_what_holds_is_shown_as_a_table_with_what_it_cost(invoke: Invoke) -> None:
    with WireServer(able) as server:
        result = invoke("probe", MODEL, "--base-url", server.base_url("openai"))
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")] for line in result.stdout.splitlines() if "│" in line]
    assert [row[:2] for row in rows] == [[question, "yes"] for question in QUESTIONS]
    assert rows[3][2] == 'get_mayor({"city": "Paris"})'
    assert "output modes that hold: native_tools, json_schema, json_object, text\n" in result.stdout
    assert "8 requests, 168 + 72 tokens, the cost is unknown" in result.stdout


def test_each_question_asks_for_what_it_is_about(invoke: Invoke) -> None:
    found, requests = probed(invoke, able)
    assert set(holds(found).values()) == {"yes"}
    bodies = [seen.body for seen in requests]
    assert [body.get("tool_choice") for body in bodies][2:4] == [
        "required",
        {"type": "function", "function": {"name": "get_mayor"}},
    ]
    formats = [body.get("response_format", {}).get("type") for body in bodies]
    assert formats == [None] * 5 + ["json_schema", "json_object", None]
    assert "JSON" not in json.dumps(bodies[5]["messages"])  # only the parameter says it
    assert ["tools" in body for body in bodies] == [False, True, True, True, True, False, False, False]
    assert found["learnt"] == {
        "native_tools": True, "emits_text_calls": False, "tool_choice_required": True, "tool_choice_named": True,
        "parallel_tools": True, "json_schema": True, "json_object": True,
    }  # fmt: skip
    assert found["saved"] is False
    assert found["usage"]["input_tokens"] == 8 * 21


@pytest.mark.parametrize(
    ("script", "modes", "learnt", "requests"),
    [
        (refusing, ["text"], {"native_tools": False, "json_schema": False, "json_object": False}, 5),
        (
            in_words,
            ["text"],
            {
                "native_tools": False, "tool_choice_required": False, "tool_choice_named": False, "json_schema": False,
                "json_object": False,
            },
            8,
        ),
        (
            writing_calls,
            ["text"],
            {
                "emits_text_calls": True, "tool_choice_required": False, "tool_choice_named": False, "json_schema": False,
                "json_object": False,
            },
            8,
        ),
        (slow_to_refuse, ["text"], {"json_schema": False, "json_object": False}, 8),
    ],
    ids=["refuses", "ignores", "reads no calls", "is busy"],
)  # fmt: skip
def test_what_does_not_hold(
    invoke: Invoke, script: Callable[[Seen], Step], modes: list[str], learnt: dict[str, bool], requests: int
) -> None:
    found, seen = probed(invoke, script)
    assert (found["modes"], found["learnt"], found["requests"], len(seen)) == (modes, learnt, requests, requests)
    assert (holds(found)["plain text"], holds(found)["calls as text"]) == ("yes", "yes")


def test_a_refusal_and_an_error_say_in_whose_words(invoke: Invoke) -> None:
    refused, _ = probed(invoke, refusing)
    assert "does not support tools" in refused["findings"][1]["detail"]
    assert (refused["findings"][2]["asked"], refused["findings"][2]["detail"]) == (False, "tools are refused")
    busy, _ = probed(invoke, slow_to_refuse)
    assert (holds(busy)["native tools"], busy["findings"][1]["learnt"]) == ("unknown", {})
    assert "busy" in busy["findings"][1]["detail"]


def test_one_call_where_two_were_asked_for_teaches_nothing(invoke: Invoke) -> None:
    def one_at_a_time(seen: Seen) -> Step:
        return Turn(calls=[("get_time", {"city": "Paris"})]) if "tools" in seen.body else able(seen)

    found, _ = probed(invoke, one_at_a_time)
    assert (holds(found)["parallel calls"], "parallel_tools" in found["learnt"]) == ("unknown", False)
    assert (holds(found)["named tool"], found["learnt"]["tool_choice_named"]) == ("no", False)


def test_the_cost_where_prices_are_known(invoke: Invoke, tmp_path: Path) -> None:
    with WireServer(able) as server:
        registry = tmp_path / "models.yaml"
        model = {
            "provider": "openai_compatible",
            "model": "m",
            "base_url": server.base_url("openai"),
            "api_key": "sk-top-secret-1",
        }
        prices = {"input": 1.0, "output": 2.0}
        registry.write_text(json.dumps({"llm": {"models": {"mine": {**model, "prices": prices}}}}), "utf-8")
        result = invoke("probe", "mine", "--models", registry)
        assert {seen.headers["authorization"] for seen in server.requests} == {"Bearer sk-top-secret-1"}
    assert f"8 requests, 168 + 72 tokens, ${(168 + 2 * 72) / 1e6:.6f}" in result.stdout
    assert "sk-top" not in result.output


@pytest.mark.parametrize("kind", ["file", "redis"])
def test_what_is_saved_lets_the_next_run_go_straight_to_what_works(invoke: Invoke, kind: str, tmp_path: Path) -> None:
    def check(where: str) -> None:
        with WireServer(in_words) as server:
            base_url = server.base_url("openai")
            saved = invoke("probe", MODEL, "--base-url", base_url, "--save", "--store", where)
            assert saved.exit_code == 0
            assert "(saved)" in saved.stdout
            asked = len(server.requests)
            model = {"provider": "openai_compatible", "model": MODEL, "base_url": base_url}
            registry = ModelRegistry.from_dict({"models": {"m": model}})

            async def run() -> list[str]:
                async with Orchestrator(registry, [get_weather], capabilities=CapabilityStore(backend=where)) as orchestrator:
                    result = await orchestrator.run(
                        "Weather in Paris?"
                    )  # no call is required: no reply tells that tools are ignored
                assert (result.content, len(result.tool_results)) == ("It is sunny.", 1)
                return [attempt.mode for attempt in result.attempts]

            assert asyncio.run(run()) == ["text", "text"]
            assert len(server.requests) == asked + 2

    if kind == "file":
        check(str(tmp_path / "facts.json"))
    else:
        with redis_server(tmp_path) as url:
            check(url)


def test_nothing_is_saved_unless_asked(invoke: Invoke, tmp_path: Path) -> None:
    found, _ = probed(invoke, able, "--store", tmp_path / "facts.json")
    assert found["saved"] is False
    assert not (tmp_path / "facts.json").exists()


def test_a_store_that_fails_is_said_and_what_was_found_is_shown(invoke: Invoke) -> None:
    with WireServer(able) as server:
        arguments = ("probe", MODEL, "--base-url", server.base_url("openai"), "--save", "--store", "redis://127.0.0.1:1/0")
        result = invoke(*arguments)
    assert result.exit_code == 1
    assert "could not be saved" in result.stderr
    assert "native_tools yes" in result.stdout
    assert "(saved)" not in result.stdout


def test_a_model_that_cannot_be_asked(invoke: Invoke) -> None:
    for status, code in ((500, 1), (401, 2)):
        with WireServer([Failure(status, {"error": {"message": "nothing works here"}})]) as server:
            result = invoke("probe", MODEL, "--base-url", server.base_url("openai"))
            assert len(server.requests) == 1
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (code, "", 1)
        assert "nothing works here" in result.stderr


def test_mistakes_in_the_command(invoke: Invoke, tmp_path: Path) -> None:
    for arguments, words in (
        (("m", "--base-url", "http://127.0.0.1:1/v1", "--save"), "--save needs --store"),
        (("m", "--base-url", "http://127.0.0.1:1/v1", "--save", "--store", "ftp://x"), "URL of the Redis"),
        (("m",), "provider"),
        (("m", "--base-url", "nonsense"), "base_url is not the URL"),
        (("m", "--models", tmp_path / "none.yaml"), "no such file"),
        (("m", "--models", tmp_path / "none.yaml", "--base-url", "http://127.0.0.1:1"), "use --base-url with"),
    ):
        result = invoke("probe", *arguments)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert words in result.stderr


def test_each_deployment_of_an_alias_is_asked_and_saved_by_itself(invoke: Invoke, tmp_path: Path) -> None:
    facts, registry = tmp_path / "facts.json", tmp_path / "models.yaml"
    with WireServer(able) as one, WireServer(refusing) as other:
        places = [{"name": name, "base_url": at.base_url("openai")} for name, at in (("east", one), ("west", other))]
        model = {"provider": "openai_compatible", "model": MODEL, "api_key": "none", "deployments": places}
        registry.write_text(json.dumps({"llm": {"models": {"smart": model}}}), "utf-8")
        shown = invoke("probe", "smart", "--models", registry)
        found = json.loads(invoke("probe", "smart", "--models", registry, "--json", "--save", "--store", facts).stdout)
        keys = [f"{at.base_url('openai')}|{MODEL}" for at in (one, other)]
    assert shown.exit_code == 0
    assert [f"deployment {name}" in shown.stdout for name in ("east", "west")] == [True, True]
    assert [(one["deployment"], one["endpoint"], one["learnt"]["native_tools"]) for one in found["deployments"]] == [
        ("east", keys[0], True),
        ("west", keys[1], False),
    ]
    saved = json.loads(facts.read_text("utf-8"))["facts"]
    assert [saved[key]["native_tools"][0] for key in keys] == [True, False]


def test_a_deployment_that_cannot_be_asked_leaves_the_others(invoke: Invoke, tmp_path: Path) -> None:
    registry = tmp_path / "models.yaml"
    with WireServer([Failure(401, {"error": {"message": "nobody knows you"}})]) as shut, WireServer(able) as one:
        places = [{"base_url": at.base_url("openai")} for at in (shut, one)]
        model = {"provider": "openai_compatible", "model": MODEL, "api_key": "none", "deployments": places}
        registry.write_text(json.dumps({"llm": {"models": {"smart": model}}}), "utf-8")
        result = invoke("probe", "smart", "--models", registry)
    assert result.exit_code == 1
    assert "nobody knows you" in result.stderr
    assert "1 of 2 deployments" in result.stderr
    assert "native_tools yes" in result.stdout


def test_a_timeout_bounds_each_request_and_not_the_import(invoke: Invoke) -> None:
    with WireServer([Raw([b" "], pause=0.01, hang=60)]) as server:
        result = invoke("probe", MODEL, "--base-url", server.base_url("openai"), "--timeout", "0.2")
    assert result.exit_code == 1
    assert "cannot be asked: Timeout" in result.stderr


def test_a_timeout_is_a_positive_number(invoke: Invoke) -> None:
    assert invoke("probe", MODEL, "--timeout", "0").exit_code == 2
