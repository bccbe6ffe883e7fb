"""A refusal that calls a part of the request by its field, as whichever wire names it, in whatever sentence and language."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.litellm.errors.fields import marked, marks_in
from llmcore.adapters.litellm.errors.phrases import nouns
from llmcore.adapters.litellm.errors.table import classify
from llmcore.types import CapabilityRefused, Request, RequestRefused, ToolDefinition
from tests.adapters.conftest import WEATHER, call_of
from tests.adapters.litellm.errors.test_failures import Made
from tests.adapters.litellm.errors.test_refusals import meaning

SENTENCES = (
    "{} is not supported by this model",
    "{} not supported",
    "Unknown field: {}",
    "{}: Extra inputs are not permitted",
    "This model does not accept {}",
    "the use of {} is not allowed for this deployment",
    "Please remove {} and try again.",
)
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}],
    "temperature": 0.3,
    "top_p": 0.9,
    "max_tokens": 300,
    "stop": ["END"],
    "thinking": 2000,
    "system": "Be brief.",
    "parallel_tool_calls": False,
    "tool_choice": "required",
}
FIELDS = {
    "openai": {
        "tools": "native_tools",
        "tool_choice": "tool_choice_required",
        "parallel_tool_calls": "parallel_tools",
        "reasoning_effort": "reasoning",
        "temperature": "temperature",
        "max_tokens": "max_tokens",
        "stream_options": "stream_options",
    },
    "anthropic": {
        "tool_choice.type": "tool_choice_required",
        "tool_choice.disable_parallel_tool_use": "parallel_tools",
        "disable_parallel_tool_use": "parallel_tools",
        "thinking.budget_tokens": "reasoning",
        "stop_sequences": "stop",
    },
    "gemini": {
        "functionDeclarations": "native_tools",
        "toolConfig": "tool_choice_required",
        "functionCallingConfig": "tool_choice_required",
        "allowedFunctionNames": "tool_choice_required",
        "systemInstruction": "system_message",
        "thinkingConfig": "reasoning",
        "generationConfig.topP": "top_p",
        "maxOutputTokens": "max_tokens",
    },
    "bedrock": {
        "toolConfig": "native_tools",
        "toolConfig.tools": "native_tools",
        "toolConfig.toolChoice": "tool_choice_required",
        "inferenceConfig.maxTokens": "max_tokens",
        "reasoning_config": "reasoning",
    },
    "ollama": {"num_predict": "max_tokens", "options.temperature": "temperature"},
}


def asking(provider: str, *, thinks: bool = True, **fields: Any) -> ModelCall:
    request = Request.model_validate(ASKED if thinks else {**ASKED, "thinking": False})
    return call_of(Endpoint(provider=provider, model="m"), request, capabilities=Capabilities(), streamed=True, **fields)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize(
    ("provider", "field", "capability"),
    [(provider, field, capability) for provider, fields in FIELDS.items() for field, capability in fields.items()],
)
def test_a_field_that_a_sentence_denies_is_refused(provider: str, field: str, capability: str, sentence: str) -> None:
    thinks = not capability.startswith("tool_choice")  # beside thinking Claude is sent no choice
    refused = meaning(sentence.format(field), asking(provider, thinks=thinks))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == capability


@pytest.mark.parametrize("sentence", SENTENCES[:5])
@pytest.mark.parametrize(
    ("provider", "field"),
    [("gemini", "responseSchema"), ("gemini", "response_schema"), ("anthropic", "output_config.format"), ("ollama", "format")],
)
def test_so_is_a_format(provider: str, field: str, sentence: str) -> None:
    refused = meaning(sentence.format(field), asking(provider, mode="json_schema", output_schema={"type": "object"}))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "json_schema"


@pytest.mark.parametrize("sentence", SENTENCES[:5])
@pytest.mark.parametrize(
    ("field", "capability"), [("system", "system_message"), ("thinking", "reasoning"), ("stream", "streaming")]
)
def test_a_common_word_is_a_field_where_fields_stand(field: str, capability: str, sentence: str) -> None:
    refused = meaning(sentence.format(field), asking("anthropic"))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == capability


@pytest.mark.parametrize(
    ("words", "capability"),
    [
        ("Invalid parameter: tools", "native_tools"),
        ("Forced function calling is not available on this model.", "tool_choice_required"),
        ("tool_choice: Input should be 'auto'", "tool_choice_required"),
        ("tool_choice: Invalid enum value. Expected 'auto' | 'none', received 'required'", "tool_choice_required"),
        ("tool_choice: must NOT have additional properties", "tool_choice_required"),
        ("tool_choice: must be equal to one of the allowed values", "tool_choice_required"),
        ("Object has unknown properties: temperature", "temperature"),
        (
            "tool_choice: Input tag 'tool' found using 'type' does not match any of the expected tags: 'auto', 'none'",
            "tool_choice_required",
        ),
        ("该部署暂不支持 tools", "native_tools"),
        ("temperature went away in the second version", None),
        ("max_tokens has been removed, use max_output", "max_tokens"),
        ("Unknown parameter: 'tools[0].function.strict'.", "strict"),
        ("Unrecognized request argument supplied: strict", "strict"),
        ("Malformed input request: #: extraneous key [stopSequences] is not permitted, please reformat it.", "stop"),
        ("Unrecognized key(s) in object: 'stop'", "stop"),
        ("Parameter stop is not supported.", "stop"),
        ("Model x does not support parameter temperature.", "temperature"),
        ("`top_p` is deprecated for this model.", "top_p"),
        ("No endpoints found that support the requested parameters: top_p", "top_p"),
        ("messages.0.content.0.cache_control: Extra inputs are not permitted", "cache_control"),
        ("body.max_tokens: field is unknown", "max_tokens"),
        ("max_tokens is deprecated and not accepted", "max_tokens"),
    ],
)
def test_plain_sentences_that_deny_a_field(words: str, capability: str | None) -> None:
    asked = asking("openai", tools=(WEATHER.model_copy(update={"strict": capability == "strict"}),))
    assert getattr(meaning(words, asked), "capability", None) == capability


@pytest.mark.parametrize("words", ["temperature went away in the second version", "temperature is fixed on this engine"])
def test_what_is_said_about_a_param_that_has_no_parts_is_said_of_it(words: str) -> None:
    error = meaning(words, asking("openai"), param="temperature", code="invalid_request")
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "temperature"
    assert not isinstance(meaning("temperature must be at most 1", asking("openai"), param="temperature"), CapabilityRefused)
    assert not isinstance(meaning("No.", asking("openai"), param="temperature", code="invalid_value"), CapabilityRefused)


def test_a_format_by_what_servers_make_it_of() -> None:
    words = "Guided decoding is off on this server: guided decoding is not supported"
    refused = meaning(words, asking("openai", mode="json_schema", output_schema={"type": "object"}))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "json_schema"


@pytest.mark.parametrize(
    "words",
    [
        "Invalid parameter: tools must be a list",
        "Unknown parameter: 'tools[0].function.examples'.",
        "tools[0].name: 'x y' is not supported",
        "tools.0.function.strict: must NOT have additional properties",
        "tools.0.type: must be equal to one of the allowed values",
        "tools.0.custom.input_schema: keyword is not supported",
        "Too many tools: remove the tools from the request",
        "messages with tool results cannot be sent without tools.",
        "When thinking is enabled, remove tool_choice.",
        "Please remove the tools that are not used",
        "tools 中的 name 不支持中文",
        "不支持在流式模式下使用 tools",
        "tool_choice: Input tag 'x' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool'",
        "max_tokens: 300 is not a valid integer",
        "max_tokens is too large: 300",
        "temperature must be between 0 and 1",
        "max_tokens is not allowed to exceed 200",
        "temperature of 0.3 is not supported",
        "invalid temperature: -1",
    ],
)
def test_a_value_one_tool_or_a_condition_is_no_field_that_is_refused(words: str) -> None:
    assert not isinstance(meaning(words, asking("openai")), CapabilityRefused)


def test_param_that_points_into_one_tool_refuses_no_tools() -> None:
    error = meaning("Unknown parameter: 'tools[0].function.examples'.", asking("openai"), param="tools[0].function.examples")
    assert not isinstance(error, CapabilityRefused)


def test_a_tool_that_is_called_as_a_parameter_is_none() -> None:
    tools = (ToolDefinition(name="temperature", parameters={"type": "object"}),)
    for words in ("Function 'temperature' is not supported on this route", "Unsupported tool: 'temperature'"):
        assert getattr(meaning(words, asking("openai", tools=tools)), "capability", None) != "temperature"


def test_what_is_said_of_one_format_is_said_of_the_one_that_was_sent() -> None:
    words = "This response_format type is unavailable now"
    for mode in ("json_schema", "json_object"):
        refused = meaning(words, asking("deepseek", mode=mode, output_schema={"type": "object"}))
        assert isinstance(refused, CapabilityRefused)
        assert refused.capability == mode


def test_of_what_the_request_does_not_hold_nothing_is_refused() -> None:
    plain = call_of(
        Endpoint(provider="openai", model="m"), Request.model_validate({"messages": "x"}), capabilities=Capabilities()
    )
    for words in ("temperature is not supported by this model", "This model does not accept max_tokens", "stop is unsupported"):
        assert not isinstance(meaning(words, plain), CapabilityRefused)


@pytest.mark.parametrize(
    "words",
    [
        "`temperature` and `top_p` cannot both be given for this model. Please use only one.",
        "top_p and temperature are mutually exclusive",
        "'top_p' cannot be used together with 'temperature'",
        "You may set either temperature or top_p, but not both.",
    ],
)
def test_of_two_that_are_not_taken_together_one_is_named(words: str) -> None:
    both, one = asking("anthropic"), Request.model_validate({**ASKED, "top_p": None})
    refused = meaning(words, both)
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "temperature+top_p"
    alone = meaning(words, call_of(Endpoint(provider="anthropic", model="m"), one, capabilities=Capabilities()))
    assert getattr(alone, "capability", None) != "temperature+top_p"


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
def test_a_fault_that_speaks_of_the_format_is_a_refusal_in_each_json_mode(mode: str) -> None:
    words = "the structured outputs backend is not there: response_format cannot be served"
    error = classify(Made(words, 503), asking("vllm", mode=mode, output_schema={"type": "object"}))
    assert isinstance(error, RequestRefused | CapabilityRefused)


def test_names_are_marked_where_they_are_fields() -> None:
    def fields(text: str, wire: str | None = None) -> list[str]:
        return marks_in(marked(text, wire, nouns()))

    assert fields("inferenceconfig.topp and toolconfig.toolchoice", "bedrock") == ["top_p", "tool_choice"]
    assert fields("toolconfig", "gemini") == ["tool_choice"]
    assert fields("the format of the plan is fine") == []
    assert fields("format: no") == ["response_format"]
    assert fields("https://host/v1/topp/maxtokens.html") == []
