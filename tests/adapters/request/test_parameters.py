"""One resolved call as LiteLLM's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities import known_capabilities
from llmcore.adapters.providers import provider_of
from llmcore.adapters.providers.table import PROVIDERS
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.adapters.request.parameters import DEFAULT_MAX_TOKENS, NO_KEY, Prepared, base_url, check_parameter_limits, prepare
from llmcore.adapters.request.parts import compatible_parts
from llmcore.types import AuthenticationFailed, LimitExceeded, Request, TextBlock, ToolDefinition
from tests.adapters.conftest import EVERY_MODEL as MODELS
from tests.adapters.conftest import KEY, TIMEOUT, WEATHER, call_of

TEXT_BLOCK = len(TextBlock(text="").model_dump_json(exclude={"data", "content"}))
WEATHER_TOKENS = -(-len(WEATHER.model_dump_json()) // 4)
OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def endpoint(provider: str, model: str | None = None, **fields: Any) -> Endpoint:
    given: dict[str, Any] = {"provider": provider, "model": model or MODELS[provider], "api_key": SecretStr(KEY)}
    return Endpoint.model_validate(given | fields)


def made(provider: str, model: str | None = None, *, known: dict[str, Any] | None = None, **fields: Any) -> Prepared:
    request = Request.model_validate({"messages": "hi"} | fields.pop("request", {}))
    at = endpoint(provider, model)
    capabilities = known_capabilities(at).updated(Capabilities(**(known or {})))
    return prepare(call_of(at, request, **fields), capabilities)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_call_carries_the_constants(provider: str) -> None:
    sent = made(provider).arguments
    assert sent["model"] == PROVIDERS[provider].routed(MODELS[provider])
    assert (sent["num_retries"], sent["max_retries"], sent["timeout"]) == (0, 0, TIMEOUT)
    assert sent["api_key"] == KEY
    assert "drop_params" not in sent
    asked = {"model", "api_base", "api_key", "timeout", "num_retries", "max_retries", "messages", "tools"}
    unasked = sent.keys() - asked
    expected = {"anthropic": {"max_tokens"}, "bedrock": {"allowed_openai_params"}, "openrouter": {"extra_headers", "extra_body"}}
    assert unasked == expected.get(provider, set())


@pytest.mark.parametrize(
    ("provider", "given", "expected"),
    [
        ("openai", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("openai", "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1"),
        ("openai_compatible", "http://127.0.0.1:1/custom", "http://127.0.0.1:1/custom"),
        ("groq", "http://127.0.0.1:1", "http://127.0.0.1:1/openai/v1"),
        ("openrouter", "http://127.0.0.1:1", "http://127.0.0.1:1/api/v1"),
        ("anthropic", "http://127.0.0.1:1/v1", "http://127.0.0.1:1"),
        ("gemini", "http://127.0.0.1:1", "http://127.0.0.1:1/v1beta"),
        ("ollama", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
        ("deepseek", "http://127.0.0.1:1", "http://127.0.0.1:1"),
        ("openai", None, None),
    ],
)
def test_base_urls(provider: str, given: str | None, expected: str | None) -> None:
    at = endpoint(provider, base_url=given)
    assert base_url(at, provider_of(at)) == expected


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    call = call_of(Endpoint(provider="groq", model="m", alias="fast"))
    with pytest.raises(AuthenticationFailed, match=r"fast.*GROQ_API_KEY"):
        prepare(call, Capabilities())
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    assert prepare(call, Capabilities()).arguments["api_key"] == KEY


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    own = Endpoint(provider="openai", model="m", base_url="http://127.0.0.1:1/v1")
    assert prepare(call_of(own), Capabilities()).arguments["api_key"] == NO_KEY
    assert prepare(call_of(Endpoint(provider="ollama", model="m")), Capabilities()).arguments["api_key"] == NO_KEY


@pytest.mark.parametrize(
    ("provider", "base_url", "expected"),
    [
        ("azure", "https://x.openai.azure.com", KEY),
        ("openai", "https://eu.api.openai.com/v1", KEY),
        ("openai", "http://api.openai.com/v1", NO_KEY),  # not in clear
        ("groq", "https://gateway.example/v1", NO_KEY),
        ("azure", "https://notopenai.azure.com", NO_KEY),
        ("bedrock", "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", None),  # AWS's own keys
        ("cohere_chat", None, None),
    ],
)
def test_a_key_of_the_environment_goes_to_the_providers_own_hosts(
    provider: str, base_url: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AZURE_API_KEY", "OPENAI_API_KEY", "GROQ_API_KEY"):
        monkeypatch.setenv(name, KEY)
    at = Endpoint(provider=provider, model="m", base_url=base_url)
    assert prepare(call_of(at), Capabilities()).arguments["api_key"] == expected


@pytest.mark.parametrize(
    ("provider", "choice", "expected"),
    [
        ("openai", "auto", None),
        ("openai", "required", "required"),
        ("openai", "none", "none"),
        ("openai", {"name": "get_weather"}, {"type": "function", "function": {"name": "get_weather"}}),
        ("ollama", "required", None),
        ("ollama", {"name": "get_weather"}, None),
        ("deepseek", "required", "required"),
    ],
)
def test_tool_choice(provider: str, choice: Any, expected: Any) -> None:
    assert made(provider, request={"tool_choice": choice}).arguments.get("tool_choice") == expected


def test_a_choice_a_wire_cannot_say_is_made_by_the_tools_offered() -> None:
    other = ToolDefinition(name="other")
    named = made("ollama", request={"tool_choice": {"name": "get_weather"}}, tools=(WEATHER, other)).arguments
    assert [tool["function"]["name"] for tool in named["tools"]] == ["get_weather"]
    assert "tools" not in made("ollama", request={"tool_choice": "none"}).arguments


def test_mistrals_named_tool_goes_by_the_body() -> None:
    sent = made("mistral", request={"tool_choice": {"name": "get_weather"}}).arguments
    assert sent["extra_body"] == {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
    assert "tool_choice" not in sent


def test_claude_is_not_forced_while_it_thinks_by_budget() -> None:
    assert "tool_choice" not in made("anthropic", request={"tool_choice": "required", "thinking": True}).arguments
    assert made("anthropic", request={"tool_choice": "required"}).arguments["tool_choice"] == "required"


def test_parallel_calls() -> None:
    assert made("openai", request={"parallel_tool_calls": False}).arguments["parallel_tool_calls"] is False
    gemini = made("gemini", request={"parallel_tool_calls": False})
    assert "parallel_tool_calls" not in gemini.arguments
    assert gemini.dropped == ["parallel_tool_calls"]


@pytest.mark.parametrize("provider", ["openai", "azure", "groq", "openai_compatible", "vllm"])
def test_strict_tools_only_where_they_are_asked_for(provider: str) -> None:
    tools = (
        ToolDefinition(name="f", parameters=OBJECT),
        ToolDefinition(name="h", parameters=OBJECT, strict=False),
        ToolDefinition(name="g", parameters=WEATHER.parameters, strict=True),
    )
    sent = made(provider, tools=tools)
    functions = [tool["function"] for tool in sent.arguments["tools"]]
    assert [function.get("strict") for function in functions] == [None, None, True]
    assert functions[0]["parameters"] == OBJECT
    assert functions[2]["parameters"]["required"] == ["city", "days"]
    assert sent.dropped == []


def test_strict_tools_only_of_models_that_take_a_schema() -> None:
    tool = ToolDefinition(name="f", parameters=OBJECT, strict=True)
    assert made("anthropic", "claude-sonnet-4-5", tools=(tool,)).dropped == []
    assert made("anthropic", "claude-3-opus-20240229", tools=(tool,)).dropped == ["strict"]
    assert made("deepseek", "deepseek-chat", tools=(tool,)).dropped == ["strict"]


def test_typed_output_by_format_or_by_tool() -> None:
    together = made("openai", output_schema=OBJECT).arguments
    assert together["response_format"]["json_schema"]["schema"] == OBJECT
    assert together["response_format"]["json_schema"]["strict"] is True
    assert len(together["tools"]) == 1
    apart = made("anthropic", "claude-3-opus-20240229", output_schema=OBJECT).arguments
    assert "response_format" not in apart
    assert [tool["function"]["name"] for tool in apart["tools"]] == ["get_weather", FINAL_RESULT]
    assert apart["tool_choice"] == "required"


def test_a_lossy_schema_is_not_strict() -> None:
    optional = made("openai", tools=(), output_schema=WEATHER.parameters).arguments["response_format"]["json_schema"]
    assert "strict" not in optional
    assert optional["schema"] == WEATHER.parameters


def test_groqs_schema_goes_by_the_body() -> None:
    sent = made("groq", mode="json_schema", tools=(), output_schema=OBJECT).arguments
    assert sent["extra_body"]["response_format"]["type"] == "json_schema"
    assert "response_format" not in sent


@pytest.mark.parametrize(
    ("mode", "format_type"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("text", None)]
)
def test_prompted_modes_send_no_tools(mode: str, format_type: str | None) -> None:
    sent = made("openai", mode=mode).arguments
    assert "tools" not in sent
    assert "tool_choice" not in sent
    assert sent.get("response_format", {}).get("type") == format_type
    assert "get_weather" in sent["messages"][0]["content"]


def test_json_mode_is_not_asked_where_nothing_would_be_sent() -> None:
    assert "response_format" not in made("anthropic", mode="json_object").arguments


def test_sampling() -> None:
    request = {"temperature": 0.2, "top_p": 0.9, "stop": ["END"], "max_tokens": 100}
    sent = made("groq", request=request).arguments
    assert {name: sent[name] for name in request} == request
    reasoner = made("openai", "gpt-5", request=request)
    assert "temperature" not in reasoner.arguments
    assert reasoner.dropped == ["temperature", "top_p"]


def test_strict_and_marks_of_the_cache_that_are_refused_are_left_out() -> None:
    tool = ToolDefinition(name="f", parameters=OBJECT, strict=True)
    sent = made("openai", tools=(tool,), known={"unsupported_parameters": frozenset({"strict"})})
    assert "strict" not in sent.arguments["tools"][0]["function"]
    assert (sent.dropped, made("together", "a/b", tools=(tool,)).dropped) == (["strict"], ["strict"])
    marked = {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}]}
    plain = made("anthropic", request=marked, known={"unsupported_parameters": frozenset({"cache_control"})})
    assert ("cache_control" in str(plain.arguments["messages"]), plain.dropped) == (False, ["cache_control"])


def test_of_temperature_and_top_p_one_is_sent_where_both_are_refused() -> None:
    known = Capabilities(unsupported_parameters=frozenset({"temperature+top_p"}))

    def sent(**given: float) -> Prepared:
        call = call_of(
            Endpoint(provider="anthropic", model="m", api_key=SecretStr("k")), Request.model_validate({"messages": "Hi", **given})
        )
        return prepare(call, compatible_parts(call, known))

    both = sent(temperature=0.2, top_p=0.9)
    assert ("temperature" in both.arguments, "top_p" in both.arguments, both.dropped) == (True, False, ["top_p"])
    alone = sent(top_p=0.9)
    assert (alone.arguments["top_p"], alone.dropped) == (0.9, [])


@pytest.mark.parametrize(
    ("provider", "asked", "known", "expected"),
    [
        ("groq", None, {}, None),
        ("groq", None, {"max_output_tokens": 1000}, None),
        ("groq", 100, {}, 100),
        ("groq", 100_000, {"max_output_tokens": 4096}, 4096),
        ("anthropic", None, {}, DEFAULT_MAX_TOKENS),  # the wire requires it
        ("anthropic", None, {"max_output_tokens": 1000}, 1000),
        ("openai_compatible", 9000, {"context_window": 8192}, 8192 - 1000 - WEATHER_TOKENS),
        ("openai_compatible", 100, {"context_window": 8192}, 100),
        ("openai_compatible", 100, {"context_window": 900}, 100),  # the server says that it is too long
    ],
)
def test_max_tokens_are_sent_where_asked_for_or_required(
    provider: str, asked: int | None, known: dict[str, Any], expected: int | None
) -> None:
    request = {"messages": "x" * (4000 - TEXT_BLOCK), "max_tokens": asked}
    prepared = made(provider, request=request, known=known)
    assert prepared.arguments.get("max_tokens") == expected
    assert ("part of max_tokens" in prepared.dropped) is ((expected or 0) < (asked or 0))


def test_a_refused_max_tokens_takes_its_newer_name() -> None:
    known = {"unsupported_parameters": frozenset({"max_tokens"})}
    sent = made("openai_compatible", known=known, request={"max_tokens": 50}).arguments
    assert sent["extra_body"] == {"max_completion_tokens": 50}  # LiteLLM turns it back into the older name for some
    assert not {"max_tokens", "max_completion_tokens"} & sent.keys()


@pytest.mark.parametrize(
    ("provider", "model", "thinking", "expected"),
    [
        ("anthropic", None, 5000, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        ("anthropic", None, 10, {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("gemini", None, True, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("openai", "gpt-5", 1000, {"reasoning_effort": "low"}),
        ("openai", "gpt-5", True, {"reasoning_effort": "medium"}),
        ("openai", "gpt-5", 50_000, {"reasoning_effort": "high"}),
        ("openai", "gpt-5", False, {}),
        ("mistral", None, True, {}),
    ],
)
def test_thinking(provider: str, model: str | None, thinking: bool | int, expected: dict[str, Any]) -> None:
    sent = made(provider, model, request={"thinking": thinking}).arguments
    assert {key: sent[key] for key in ("thinking", "reasoning_effort") if key in sent} == expected


@pytest.mark.parametrize(
    ("provider", "model", "dropped"),
    [
        ("anthropic", "claude-sonnet-4-5", []),
        ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", []),
        ("openrouter", "anthropic/claude-sonnet-4.5", []),
        ("openai", "gpt-4o", []),
        ("openai", "gpt-5", ["thinking"]),
        ("gemini", "gemini-2.5-flash", ["thinking"]),
        ("xai", "grok-4", ["thinking"]),
        ("ollama", "qwen3", ["thinking"]),
        ("vllm", "qwen3", ["thinking"]),
    ],
)
def test_no_thinking_is_recorded_where_a_model_may_think_all_the_same(provider: str, model: str, dropped: list[str]) -> None:
    sent = made(provider, model, request={"thinking": False})
    assert (sent.dropped, made(provider, model).dropped) == (dropped, [])
    assert not {"thinking", "reasoning_effort"} & sent.arguments.keys()


@pytest.mark.parametrize(
    ("provider", "model"), [("anthropic", "claude-sonnet-4-5"), ("gemini", "gemini-2.5-pro"), ("openai", "gpt-5")]
)
def test_a_budget_below_the_least_one_is_recorded(provider: str, model: str) -> None:
    assert made(provider, model, request={"thinking": 500}).dropped == ["thinking budget"]


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    ("most", "thinking", "expected", "dropped"),
    [
        (5000, 2000, 2000, []),
        (5000, 20000, 3976, ["thinking budget"]),
        (1500, 20000, 1024, ["thinking budget"]),
        (1000, 20000, None, ["thinking"]),
        (5000, True, 3976, []),
    ],
)
def test_thinking_keeps_within_the_callers_max_tokens(
    provider: str, most: int, thinking: int | bool, expected: int | None, dropped: list[str]
) -> None:
    prepared = made(provider, request={"thinking": thinking, "max_tokens": most}, known={})
    assert prepared.arguments["max_tokens"] == most
    assert prepared.arguments.get("thinking", {}).get("budget_tokens") == expected
    assert prepared.dropped == dropped


@pytest.mark.parametrize(
    ("provider", "model", "tools", "expected"),
    [
        ("gemini", None, (), {"web_search_options": {}}),
        ("anthropic", None, (WEATHER,), {"web_search_options": {}}),
        ("openai", "gpt-4o-search-preview", (), {"web_search_options": {}}),
        ("openai", "gpt-5", (), {"model": "openai/responses/gpt-5", "tools": [{"type": "web_search"}]}),
        ("openrouter", None, (WEATHER,), {"extra_body": {"plugins": [{"id": "web"}], "usage": {"include": True}}}),
        ("xai", None, (WEATHER,), {"web_search_options": {}}),
    ],
)
def test_native_web_search_is_asked_for_in_each_providers_way(
    provider: str, model: str | None, tools: tuple[ToolDefinition, ...], expected: dict[str, Any]
) -> None:
    prepared = made(provider, model, request={"allow_web_search": True}, tools=tools)
    assert expected.items() <= prepared.arguments.items()
    assert prepared.dropped == []
    unasked = made(provider, model, tools=tools).arguments
    assert not {"web_search_options", "plugins"} & {*unasked, *unasked.get("extra_body", {})}


@pytest.mark.parametrize(
    ("provider", "known"),
    [("groq", {}), ("openai_compatible", {}), ("gemini", {}), ("anthropic", {"web_search": False})],  # gemini: not beside tools
)
def test_web_search_that_is_not_sent_is_recorded(provider: str, known: dict[str, Any]) -> None:
    prepared = made(provider, request={"allow_web_search": True}, known=known)
    assert "web search" in prepared.left_out
    assert not {"web_search_options", "extra_body"} & prepared.arguments.keys()


def test_a_server_of_the_users_that_searches_is_asked_to() -> None:
    sent = made("openai_compatible", request={"allow_web_search": True}, known={"web_search": True}).arguments
    assert sent["extra_body"] == {"web_search_options": {}}  # LiteLLM refuses it as a parameter


@pytest.mark.parametrize(
    ("provider", "request_fields", "known", "left_out"),
    [
        ("ollama", {"tool_choice": "required"}, {}, ["tool_choice"]),
        ("mistral", {"thinking": True}, {}, ["thinking"]),
        ("anthropic", {"thinking": True, "tool_choice": "required"}, {}, ["tool_choice"]),
        ("groq", {"tool_choice": "required"}, {"tool_choice_required": False}, ["tool_choice"]),
        ("groq", {"tool_choice": "required", "temperature": 0.0}, {}, []),
    ],
)
def test_what_is_left_out_is_recorded(
    provider: str, request_fields: dict[str, Any], known: dict[str, Any], left_out: list[str]
) -> None:
    assert made(provider, request=request_fields, known=known).left_out == left_out


def test_lost_constraints_are_left_out_too() -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 5}}})
    assert made("gemini", tools=(tool,)).left_out == ["f: multipleOf at /properties/n"]


def test_extra_body_and_headers() -> None:
    extra = {"extra_body": {"top_k": 5}, "extra_headers": {"X-Team": "a"}}
    groq = made("groq", request=extra).arguments
    assert (groq["extra_body"], groq["extra_headers"]) == ({"top_k": 5}, {"X-Team": "a"})
    assert made("anthropic", request=extra).own_body == {"top_k": 5}  # LiteLLM would send `extra_body` as a field
    assert made("anthropic", request=extra).sent["extra_body"] == {"top_k": 5}
    assert made("openrouter").arguments["extra_headers"]["X-Title"] == "llmcore"


def test_limits() -> None:
    many = [ToolDefinition(name=f"t{number}") for number in range(21)]
    claude, groq = PROVIDERS["anthropic"], PROVIDERS["groq"]
    assert check_parameter_limits(many[:20], claude) == []
    (problem,) = check_parameter_limits(many, claude)
    assert "21 tools" in problem
    assert "llmcore's own" in problem
    with pytest.raises(LimitExceeded, match="offer fewer"):
        check_parameter_limits(many, claude, enforce=True)
    assert check_parameter_limits(many * 10, groq) == []
    big = [ToolDefinition(name="f", description="x" * 60_000)]
    assert "bytes" in check_parameter_limits(big, claude)[0]
