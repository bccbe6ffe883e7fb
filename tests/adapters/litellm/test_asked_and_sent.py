"""What LiteLLM would refuse, drop, add or change by itself, on the wire: left out and recorded, or sent as it was asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder
from llmcore.support.values.narrowing import object_in
from llmcore.types import CallerError, Request, ToolDefinition
from tests.adapters.conftest import EVERY_MODEL, KEY, PROVIDERS, WEATHER, call_of, endpoint_at
from tests.helpers.wire_server import Seen, WireServer

pytestmark = pytest.mark.anyio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"
OLD_CLAUDE = "anthropic.claude-3-5-sonnet-20240620-v1:0"
NO_THINKING = ("claude-3-5-sonnet-20241022", "gemini-2.0-flash", OLD_CLAUDE)
CALLED: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "warm"},
    {"role": "user", "content": "And?"},
]


async def sent(
    adapter: LiteLLMAdapter,
    provider: str,
    model: str | None = None,
    *,
    tools: Any = (),
    streamed: bool = False,
    mode: Any = "native_tools",
    **request: Any,
) -> tuple[Seen, set[str]]:
    """The one request that left, and what was told as left out."""
    with WireServer(["Fine."]) as server:
        if provider == "bedrock":
            fields = {"provider": provider, "model": model or CLAUDE, "base_url": server.root, "api_key": KEY}
            endpoint = Endpoint.model_validate(fields)
        else:
            endpoint = endpoint_at(server, provider, model)
        call = call_of(endpoint, Request.model_validate({"messages": "Hi", **request}), tools=tools, mode=mode)
        if streamed:
            events: list[Any] = [event async for event in adapter.stream(call)]
            dropped = set(events[-1]["llmcore"]["dropped"])
        else:
            dropped = set((await adapter.complete(call)).dropped)
    (seen,) = server.requests
    return seen, dropped


# Refused by LiteLLM before anything is sent


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    ("provider", "model", "request_", "left_out"),
    [
        ("openai_compatible", "gpt-5", {"temperature": 0.3}, {"temperature"}),
        ("openai_compatible", "gpt-5", {"temperature": 0.3, "top_p": 0.5, "stop": ["x"]}, {"temperature", "top_p", "stop"}),
        ("openai_compatible", "o3", {"temperature": 0.3}, {"temperature"}),
        ("anthropic", "claude-opus-4-7", {"temperature": 0.3, "top_p": 0.5}, {"temperature", "top_p"}),
        ("anthropic", NO_THINKING[0], {"thinking": True}, {"thinking"}),
        ("gemini", NO_THINKING[1], {"thinking": True}, {"thinking"}),
    ],
)
async def test_a_parameter_that_litellm_refuses_is_left_out_and_recorded(
    adapter: LiteLLMAdapter, provider: str, model: str, request_: dict[str, Any], left_out: set[str], streamed: bool
) -> None:
    seen, dropped = await sent(adapter, provider, model, streamed=streamed, **request_)
    assert dropped == left_out
    assert not any(f'"{name}"' in json.dumps(seen.body) for name in left_out)


async def test_bedrock_likewise_and_a_choice_that_it_has_no_word_for(adapter: LiteLLMAdapter) -> None:
    assert (await sent(adapter, "bedrock", OLD_CLAUDE, thinking=True))[1] == {"thinking"}
    seen, _ = await sent(adapter, "bedrock", tools=(WEATHER,), tool_choice="none")
    assert "toolConfig" not in seen.body


async def test_room_for_thinking_that_is_left_out_is_not_asked_for(adapter: LiteLLMAdapter) -> None:
    seen, _ = await sent(adapter, "anthropic", NO_THINKING[0], thinking=4000, max_tokens=100)
    assert seen.body["max_tokens"] == 100


async def test_the_recording_shows_the_request_that_left() -> None:
    recorder = Recorder(provenance="test")
    adapter = LiteLLMAdapter(observer=recorder.observe)
    await sent(adapter, "openai_compatible", "gpt-5", temperature=0.3)
    await adapter.close()
    (exchange,) = recorder.exchanges
    assert "temperature" not in exchange["request"]


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "groq", "gemini"])
async def test_extra_body_goes_out_as_it_is(adapter: LiteLLMAdapter, provider: str) -> None:
    extra = {"seed": 5, "my_field": {"n": 1.5}}
    seen, dropped = await sent(adapter, provider, extra_body=extra)
    place = seen.body["additionalModelRequestFields"] if provider == "bedrock" else seen.body
    assert {name: place.get(name) for name in extra} == extra
    assert dropped == set()


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
async def test_claude_samples_freely_only_where_it_does_not_think(adapter: LiteLLMAdapter, provider: str) -> None:
    seen, dropped = await sent(adapter, provider, temperature=0.2, top_p=0.5, thinking=2000, max_tokens=4000)
    assert dropped == {"temperature", "top_p"}
    assert "0.2" not in json.dumps(seen.body)
    assert "2000" in json.dumps(seen.body)
    seen, dropped = await sent(adapter, provider, temperature=1.0, thinking=2000, max_tokens=4000)
    assert dropped == set()
    seen, dropped = await sent(adapter, provider, temperature=0.2, max_tokens=4000)
    assert "0.2" in json.dumps(seen.body)
    assert dropped == set()


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
async def test_claude_does_not_think_after_calls_without_reasoning(adapter: LiteLLMAdapter, provider: str) -> None:
    seen, dropped = await sent(adapter, provider, messages=CALLED[:-1], thinking=2000, max_tokens=4000, temperature=0.2)
    assert dropped == {"thinking"}
    assert "2000" not in json.dumps(seen.body)
    _, dropped = await sent(adapter, provider, messages=CALLED, thinking=2000, max_tokens=4000)
    assert dropped == set()  # a turn of the user's came between


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview"])
async def test_gemini_goes_on_thinking_after_calls(adapter: LiteLLMAdapter, model: str) -> None:
    bodies = [
        await sent(adapter, "gemini", model, messages=messages, thinking=2000) for messages in (CALLED[:1], CALLED[:-1], CALLED)
    ]
    configs = [seen.body["generationConfig"]["thinkingConfig"] for seen, _ in bodies]
    assert configs[0] == configs[1] == configs[2]
    assert not any("thinking" in dropped for _, dropped in bodies)


@pytest.mark.parametrize("provider", ["gemini", "anthropic", "openai_compatible", "ollama"])
@pytest.mark.parametrize("arguments", ["{}", '{"city": "Rome", "days": 1.10}'])
async def test_a_call_that_was_made_three_times_goes_back_three_times(
    adapter: LiteLLMAdapter, provider: str, arguments: str
) -> None:
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "get_weather", "arguments": arguments}} for n in range(3)]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"warm {n}"} for n in range(3)]
    turn = [CALLED[0], {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    seen, _ = await sent(adapter, provider, tools=(WEATHER,), messages=turn)
    history = json.dumps(seen.body.get("messages") or seen.body["contents"])
    text = seen.sent.decode()
    assert "llmcore-twin" not in text
    if provider == "gemini":
        parts = [part for message in seen.body["contents"] for part in message["parts"]]
        made = [part[key] for part in parts for key in part if key.replace("_", "").lower() == "functioncall"]
        assert [call["name"] for call in made] == ["get_weather"] * 3
        assert sum(key.replace("_", "").lower() == "functionresponse" for part in parts for key in part) == 3
    assert [history.count(f"warm {n}") for n in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("provider", "model", "words"),
    [
        ("openai", "gpt-5", ["low", "medium", "high"]),
        ("openai", "o3", ["low", "medium", "high"]),
        ("xai", "grok-3-mini", ["low", "low", "high"]),
        ("gemini", "gemini-3-pro-preview", ["low", "low", "high"]),
        ("openai_compatible", "my-thinker", ["low", "medium", "high"]),
        ("vllm", "my-thinker", ["low", "medium", "high"]),
    ],
)
async def test_a_budget_is_sent_in_the_words_of_the_wire(provider: str, model: str, words: list[str]) -> None:
    store = CapabilityStore()
    if model == "my-thinker":
        store.override(model, reasoning=True)
    adapter = LiteLLMAdapter(store)
    for budget, word in zip((1024, 8000, 30_000), words, strict=True):
        seen, dropped = await sent(adapter, provider, model, thinking=budget)
        config = object_in(seen.body.get("generationConfig")).get("thinkingConfig")
        assert (object_in(config).get("thinkingLevel") or seen.body.get("reasoning_effort")) == word
        assert dropped == {"thinking budget"}
    await adapter.close()


@pytest.mark.parametrize(("provider", "model"), [("openai_compatible", "my-model"), ("xai", "grok-4"), ("openai", "gpt-4o")])
async def test_who_is_not_known_to_take_an_effort_gets_none(adapter: LiteLLMAdapter, provider: str, model: str) -> None:
    seen, dropped = await sent(adapter, provider, model, thinking=4000)
    assert ("reasoning_effort" in seen.body, dropped) == (False, {"thinking"})


# Put in, or left out, without a word


@pytest.mark.parametrize("model", ["gemini-3-pro-preview", "gemini-2.5-pro"])
async def test_no_temperature_that_nobody_asked_for(adapter: LiteLLMAdapter, model: str) -> None:
    seen, _ = await sent(adapter, "gemini", model)
    assert "temperature" not in object_in(seen.body.get("generationConfig"))
    seen, dropped = await sent(adapter, "gemini", model, temperature=0.25)
    assert seen.body["generationConfig"]["temperature"] == 0.25
    assert dropped == set()


async def test_one_call_at_a_time_is_said_or_told(adapter: LiteLLMAdapter) -> None:
    for model in (CLAUDE, OLD_CLAUDE):
        seen, dropped = await sent(adapter, "bedrock", model, tools=(WEATHER,), parallel_tool_calls=False)
        assert ("disable_parallel_tool_use" in json.dumps(seen.body)) == (dropped == set())
        assert dropped <= {"parallel_tool_calls"}


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("gemini", "gemini-3-pro-preview"),
        ("anthropic", "claude-opus-4-7"),
        ("openrouter", None),
        ("anthropic", None),
        ("gemini", None),
    ],
)
async def test_a_budget_that_becomes_a_word_is_recorded(adapter: LiteLLMAdapter, provider: str, model: str | None) -> None:
    seen, dropped = await sent(adapter, provider, model, thinking=3000)
    assert ("3000" in json.dumps(seen.body)) == (dropped == set())
    assert dropped <= {"thinking budget"}
    assert (await sent(adapter, provider, model, thinking=True))[1] == set()


# Messages


@pytest.mark.parametrize("provider", [*PROVIDERS, "bedrock"])
async def test_marks_for_the_cache_are_sent_or_told(adapter: LiteLLMAdapter, provider: str) -> None:
    part = {"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}
    seen, dropped = await sent(adapter, provider, system=[part], messages=[{"role": "user", "content": [part]}])
    marks = json.dumps(seen.body).count("cachePoint" if provider == "bedrock" else "cache_control")
    assert (marks, dropped) in ((2, set()), (0, {"cache_control"}))
    assert provider not in ("anthropic", "bedrock") or marks == 2


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
async def test_the_tools_of_a_history_are_declared_by_their_own_names(adapter: LiteLLMAdapter, provider: str) -> None:
    seen, _ = await sent(adapter, provider, messages=CALLED)
    text = json.dumps(seen.body)
    assert "dummy" not in text
    (tool,) = seen.body["toolConfig"]["tools"] if provider == "bedrock" else seen.body["tools"]
    assert object_in(tool.get("toolSpec", tool))["name"] == "get_weather"
    assert provider == "bedrock" or seen.body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("provider", [*PROVIDERS, "bedrock"])
async def test_a_late_system_message_is_never_the_users(adapter: LiteLLMAdapter, provider: str) -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "system", "content": "Be brief."}, {"role": "user", "content": "b"}]
    seen, dropped = await sent(adapter, provider, messages=messages)
    assert "perator note" not in json.dumps(seen.body)
    roles = [str(message["role"]) for message in seen.body.get("messages", seen.body.get("contents", []))]
    assert (roles[:2] == ["user", "system"]) == (dropped == set())
    assert dropped <= {"place of a system message"}


@pytest.mark.parametrize("provider", [*PROVIDERS, "bedrock"])
async def test_a_refusal_in_the_history_keeps_its_words(adapter: LiteLLMAdapter, provider: str) -> None:
    said = {"role": "assistant", "content": None, "refusal": "I will not."}
    seen, dropped = await sent(adapter, provider, messages=[CALLED[0], said, CALLED[-1]])
    assert "I will not." in json.dumps(seen.body)
    assert "sanitised" not in json.dumps(seen.body)
    assert dropped == set()


@pytest.mark.parametrize("mode", ["native_tools", "text"])
@pytest.mark.parametrize("provider", [*PROVIDERS, "bedrock"])
async def test_a_refusal_in_the_history_stands_apart_from_the_words_beside_it(
    adapter: LiteLLMAdapter, provider: str, mode: str
) -> None:
    said = {"role": "assistant", "content": "Hi", "refusal": "no"}
    seen, dropped = await sent(adapter, provider, messages=[CALLED[0], said, CALLED[-1]], mode=mode)
    body = json.dumps(seen.body)
    assert "Hino" not in body
    assert "Hi\\n\\nno" in body or '"refusal": "no"' in body
    assert dropped == set()


SOURCES = [{"citations": ["https://x.example"]}, {"annotations": [{"type": "url_citation"}]}, {"search_results": [{"url": "u"}]}]


@pytest.mark.parametrize("field", SOURCES, ids=lambda field: next(iter(field)))
@pytest.mark.parametrize("provider", [*PROVIDERS, "bedrock"])
async def test_sources_of_an_earlier_turn_that_no_wire_takes_are_told(
    adapter: LiteLLMAdapter, provider: str, field: dict[str, Any]
) -> None:
    said = {"role": "assistant", "content": "Hi", **field}
    seen, dropped = await sent(adapter, provider, messages=[CALLED[0], said, CALLED[-1]])
    assert next(iter(field)) not in json.dumps(seen.body)
    assert dropped == {"web search of an earlier turn"}


async def test_a_name_that_a_prompted_mode_cannot_send_is_told(adapter: LiteLLMAdapter) -> None:
    seen, dropped = await sent(
        adapter, "openai_compatible", messages=[{"role": "user", "name": "ann", "content": "Hi"}], mode="text"
    )
    assert "ann" not in json.dumps(seen.body["messages"])
    assert dropped == {"message field 'name'"}


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic"])
async def test_fields_that_only_openai_has_are_sent_there_and_told_elsewhere(adapter: LiteLLMAdapter, provider: str) -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}
    seen, dropped = await sent(adapter, provider, messages=[{"role": "user", "name": "ann", "content": [image]}])
    if provider == "anthropic":
        assert dropped == {"message field 'name'", "image detail"}
    else:
        (message,) = seen.body["messages"]
        assert (message["name"], message["content"][0]["image_url"]["detail"]) == ("ann", "low")
        assert dropped == set()


@pytest.mark.parametrize("messages", ["", [{"role": "user", "content": ""}]], ids=["text", "message"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_request_that_says_nothing_is_the_callers_error(adapter: LiteLLMAdapter, provider: str, messages: Any) -> None:
    with WireServer(["Fine."]) as server, pytest.raises(CallerError, match="the request is empty"):
        await adapter.complete(call_of(endpoint_at(server, provider), Request.model_validate({"messages": messages}), tools=()))
    assert server.requests == []


@pytest.mark.parametrize(
    ("provider", "scheme"),
    [("gemini", "https"), ("gemini", "http"), ("ollama", "https"), ("anthropic", "http"), ("bedrock", "https")],
)
async def test_no_image_is_fetched_on_the_way(adapter: LiteLLMAdapter, provider: str, scheme: str) -> None:
    url = f"{scheme}://127.0.0.1:9/a.png"
    part = {"type": "image_url", "image_url": {"url": url}}
    with pytest.raises(CallerError, match="takes no image by this URL") as raised:
        await sent(adapter, provider, messages=[{"role": "user", "content": [part]}])
    assert url in str(raised.value)


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic"])
async def test_a_url_goes_out_as_one_where_the_wire_takes_it(adapter: LiteLLMAdapter, provider: str) -> None:
    part = {"type": "image_url", "image_url": {"url": "https://127.0.0.1:9/a.png"}}
    seen, dropped = await sent(adapter, provider, messages=[{"role": "user", "content": [part]}])
    assert "https://127.0.0.1:9/a.png" in json.dumps(seen.body)
    assert dropped == set()


@pytest.mark.parametrize(
    ("provider", "model", "takes_it"),
    [
        ("openai", None, True),
        ("azure", None, True),
        ("groq", None, True),
        ("vllm", None, True),
        ("anthropic", "claude-sonnet-4-5", True),
        ("anthropic", "claude-3-5-sonnet-20241022", False),
        ("bedrock", CLAUDE, True),
        ("bedrock", "anthropic.claude-opus-4-7", False),  # LiteLLM leaves it out there
        ("xai", None, False),
        ("mistral", None, False),
        ("gemini", None, False),
    ],
)
async def test_strict_of_a_tool_is_sent_or_recorded_and_never_unasked(
    adapter: LiteLLMAdapter, provider: str, model: str | None, takes_it: bool
) -> None:
    model = model or EVERY_MODEL[provider]
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    asked = ToolDefinition(name="asked", parameters=parameters, strict=True)
    seen, dropped = await sent(adapter, provider, model, tools=(WEATHER, asked))
    assert json.dumps(seen.body).count('"strict": true') == takes_it
    assert dropped - {"strict"} == set()
    assert ("strict" in dropped) is not takes_it
    plain, dropped = await sent(adapter, provider, model, tools=(WEATHER,))
    assert ('"strict"' in json.dumps(plain.body), dropped) == (False, set())


async def test_no_empty_settings_go_out(adapter: LiteLLMAdapter) -> None:
    body = (await sent(adapter, "ollama"))[0].body
    assert "options" not in body
    assert body["messages"] == [{"role": "user", "content": "Hi"}]
    assert (await sent(adapter, "ollama", temperature=0.5))[0].body["options"] == {"temperature": 0.5}
    assert "inferenceConfig" not in (await sent(adapter, "bedrock"))[0].body
    assert (await sent(adapter, "bedrock", temperature=0.5))[0].body["inferenceConfig"] == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("provider", "held"),
    [
        *((provider, {}) for provider in ("openai", "openai_compatible", "groq", "ollama", "gemini", "anthropic", "bedrock")),
        ("openrouter", {"reasoning_details": [{"type": "reasoning.text", "text": 'I think "é".'}]}),
        ("deepseek", {}),
    ],
)
async def test_reasoning_of_an_earlier_turn_goes_back_or_is_recorded(
    adapter: LiteLLMAdapter, provider: str, held: dict[str, Any]
) -> None:
    turn = [CALLED[0], {**CALLED[1], "reasoning_content": 'I think "é".', **held}, *CALLED[2:]]
    seen, dropped = await sent(adapter, provider, tools=(WEATHER,), messages=turn)
    goes_back = 'I think \\"é\\".' in json.dumps(seen.body, ensure_ascii=False)
    assert goes_back == (provider in ("openrouter", "deepseek"))
    assert dropped == (set() if goes_back else {"reasoning of an earlier turn"})
