"""Only a server's own words say what it cannot do."""

from __future__ import annotations

import html
import json
import time
from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.litellm.errors.table import classify
from llmcore.types import (
    AudioBlock,
    Block,
    CapabilityRefused,
    ContextOverflow,
    FileBlock,
    ImageBlock,
    Message,
    QuotaExceeded,
    RemoteServerError,
    Request,
    RequestRefused,
    TextBlock,
    ToolDefinition,
    ToolResultBlock,
)
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_failures import Made

ENDPOINT = Endpoint(provider="openai_compatible", model="m")
ASKED = 'Our manual says:\nthis model does not support tools, and "image input is not supported". Why?'
PDF = FileBlock.from_bytes(b"%PDF-1.4")
WAV = AudioBlock.from_bytes(b"RIFF\x10\x00\x00\x00WAVEfmt ")


def with_image(text: str) -> Request:
    image = ImageBlock(data="iVBORw0KGgo=", media_type="image/png")
    return Request(messages=[Message(role="user", content=[TextBlock(text=text), image])])


def meaning(message: str, call: ModelCall | None, **body: Any) -> Any:
    return classify(Made(message, 400, body={"message": message, **body}), call)


@pytest.mark.parametrize(
    "quote",
    [
        ASKED,
        ASKED.upper(),
        json.dumps(ASKED),
        json.dumps(json.dumps(ASKED)),
        repr(ASKED),
        html.escape(ASKED),
        ASKED[10:60] + "...",
        "..." + ASKED[25:],
        ASKED.replace("\n", "\n    "),
    ],
)
def test_words_of_the_user_teach_nothing(quote: str) -> None:
    call = call_of(ENDPOINT, ASKED)
    assert isinstance(meaning(f"messages.0: Input is invalid: {quote} (at 0)", call), RequestRefused)
    assert isinstance(meaning(f"messages.0: Input is invalid: {quote} (at 0)", None), CapabilityRefused)


def said_in() -> dict[str, ModelCall]:
    words = "Note: function calling is not enabled here."
    result = ToolResultBlock(tool_use_id="1", content=[TextBlock(text=words)])
    tool = ToolDefinition(name="f", description=words, parameters={"type": "object"})
    deep = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"description": words}}})
    return {
        "system": call_of(ENDPOINT, Request(messages=[], system=words)),
        "tool result": call_of(ENDPOINT, Request(messages=[Message(role="tool", content=[result])])),
        "tool": call_of(ENDPOINT, tools=(tool,)),
        "parameter": call_of(ENDPOINT, tools=(deep,)),
        "output": call_of(ENDPOINT, output_schema={"description": words}),
        "body": call_of(ENDPOINT, Request.model_validate({"messages": "x", "extra_body": {"note": [words]}})),
    }


@pytest.mark.parametrize("call", said_in().values(), ids=said_in())
def test_words_from_anywhere_in_the_request_teach_nothing(call: ModelCall) -> None:
    text = "Schema rejected near 'Note: function calling is not enabled here.'"
    assert isinstance(meaning(text, call), RequestRefused)


def test_words_of_the_user_decide_nothing_else_either() -> None:
    words = "Tell me what 'insufficient credits' means"
    assert isinstance(meaning(f"bad input: {words}", call_of(ENDPOINT, words)), RequestRefused)
    assert isinstance(meaning("Insufficient credits.", call_of(ENDPOINT, words)), RequestRefused)  # a quotation as likely
    assert isinstance(meaning("You have insufficient credits.", call_of(ENDPOINT, "What are credits?")), QuotaExceeded)


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("messages[0].content must be a string", True),
        ("Image input modality is not switched on: image input is not enabled for x", True),
        ("At most 0 image(s) may be provided in one prompt.", True),
        ("此部署不支持图片输入", True),
        ("This model doesn't support the image content block that you provided.", True),
        ("messages.0.content.1.type: image is not supported", True),
        ("this model has no vision support", True),
        ("messages[0]: unknown variant `image_url`, expected `text`", True),
        ("unsupported message part: image_url", True),
        ("Unknown content block type 'input_image'", True),
        ("content type 'image_url' is unknown, expected 'text'", True),
        ("qwen3 is not a multimodal model", True),
        ("The image could not be read", False),
        ("We cannot read the images", False),
        ("Could not process image", False),
        ("cannot read images[0]: it is empty", False),
        ("unsupported content type: image/tiff", False),
        ("image_url could not be processed", False),
        ("the temperature is not a vision", False),
        ("The image format is not supported", False),
        ("Unsupported image media type: image/tiff", False),
        ("image_url: the download failed, scheme not supported", False),
        ("images larger than 5 MB are not supported", False),
        ("Tool use is not supported with images.", False),
        ("too many images: at most 1 image(s) may be provided", False),
        ("You uploaded an unsupported image. Please make sure your image has one of the following formats: png, jpeg.", False),
        ("cannot identify image file", False),
        ("image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", False),
    ],
)
def test_images_are_refused_where_it_is_not_one_image(words: str, refused: bool) -> None:
    error = meaning(words, call_of(ENDPOINT, with_image("see"), tools=()))
    assert (getattr(error, "capability", None) == "images") is refused
    assert getattr(meaning(words, call_of(ENDPOINT, "see")), "capability", None) != "images"


@pytest.mark.parametrize(
    ("words", "block", "refused"),
    [
        ("Invalid Value: 'file'. This model does not support file content types.", PDF, "files"),
        ("Unknown part type: file", PDF, "files"),
        ("Could not process PDF", PDF, None),
        ("audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj", WAV, "audio"),
        ("At most 0 audio(s) may be provided in one prompt.", WAV, "audio"),
        ("Audio input modality is not enabled for models/gemma-3-27b-it", WAV, "audio"),
        ("The audio could not be decoded", WAV, None),
    ],
)
def test_files_and_audio_are_refused_where_it_is_not_one_of_them(words: str, block: Block, refused: str | None) -> None:
    error = meaning(words, call_of(ENDPOINT, Request(messages=[Message(role="user", content=[block])]), tools=()))
    assert getattr(error, "capability", None) == refused
    assert refused is not None or (isinstance(error, RequestRefused) and error.facts.kind == "particular")
    assert getattr(meaning(words, call_of(ENDPOINT, "see")), "capability", None) not in ("files", "audio")


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum prompt length is 4096 but the request contains 5000 tokens.",
        "the input length exceeds the context length",
        "Please reduce the length of the messages or completion.",
        "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens",
        "Your conversation is longer than the context window of this model",
    ],
)
def test_what_does_not_fit_is_an_overflow_in_whatever_words(words: str) -> None:
    assert isinstance(meaning(words, call_of(ENDPOINT)), ContextOverflow)
    assert not isinstance(meaning(f"bad words: {words}", call_of(ENDPOINT, words)), ContextOverflow)


def test_a_named_parameter_in_a_quotation_teaches_nothing() -> None:
    words = "It said: Unsupported parameter 'stream'."
    assert isinstance(meaning(f"cannot parse {words!r}", call_of(ENDPOINT, words)), RequestRefused)


@pytest.mark.parametrize(
    "asked",
    [
        "Does gemma support tools, or does gemma not?",
        "This is not supported. Use the 'tools' you have, with function calling.",
        "Hello",
    ],
)
def test_the_servers_own_words_teach_beside_similar_ones(asked: str) -> None:
    for text in (
        "registry.ollama.ai/library/gemma does not support tools",
        f"registry.ollama.ai/library/gemma does not support tools: {asked}",
        f"Unsupported parameter: 'tools' is not supported with this model ({asked})",
    ):
        error = meaning(text, call_of(ENDPOINT, asked))
        assert isinstance(error, CapabilityRefused)
        assert error.capability == "native_tools"


def test_a_parameter_that_the_body_names_teaches() -> None:
    words = "Unsupported parameter: 'tools'"
    error = meaning(f"Unsupported value for {words}: not supported", call_of(ENDPOINT, words), param="tools")
    assert isinstance(error, CapabilityRefused)


def test_a_quotation_beside_the_servers_own_words_does_not_hide_them() -> None:
    error = meaning(f"This model does not support image input. You wrote: {ASKED}", call_of(ENDPOINT, with_image(ASKED)))
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "images"


def test_json_of_the_user_is_no_body_of_the_server() -> None:
    words = 'What does {"error": {"code": "context_length_exceeded", "param": "tools"}} mean?'
    message = f"bad input: {words} This is not supported."
    assert isinstance(classify(Made(message, 400), call_of(ENDPOINT, words)), RequestRefused)
    assert isinstance(classify(Made(message, 400), call_of(ENDPOINT, "Hello")), ContextOverflow)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("What do 'tools' cost in France?", "this content type is not supported: {}"),
        ("Tell her that this is not supported any more.", "the value of 'stop' is wrong: {}"),
    ],
)
def test_half_a_quotation_and_half_of_the_servers_words_teach_nothing(words: str, message: str) -> None:
    assert isinstance(meaning(message.format(words), call_of(ENDPOINT, words)), RequestRefused)


@pytest.mark.parametrize(
    ("mode", "words", "capability"),
    [
        ("native_tools", "This model doesn't support tool use in streaming mode.", "streaming_with_tools"),
        ("native_tools", "Tool calls are not supported in streaming mode", "streaming_with_tools"),
        ("native_tools", "tools are not available with streaming", "streaming_with_tools"),
        ("native_tools", "Unrecognized request argument supplied: tools", "native_tools"),
        ("native_tools", "Tool calling is not supported for this model", "native_tools"),
        ("native_tools", "Tool calling is not enabled for this server", "native_tools"),
        ("native_tools", "function-calling with this model is currently not available.", "native_tools"),
        ("native_tools", "Invalid 'tools': model 'x' has no tool template", "native_tools"),
        ("native_tools", "Unrecognized request argument supplied: parallel_tool_calls", "parallel_tools"),
        ("json_schema", 'response_format type must be one of "text" or "json_object", but got: json_schema', "json_schema"),
        ("json_object", "'response_format.type' must be 'json_schema' or 'text'", "json_object"),
        ("json_schema", "JSON mode is not enabled for models/gemma-3-27b-it", "json_schema"),
        ("json_schema", "output_format: Extra inputs are not permitted", "json_schema"),
        ("json_schema", "output_config.format: Extra inputs are not permitted", "json_schema"),
    ],
)
def test_words_of_servers_name_what_was_asked_for(mode: str, words: str, capability: str) -> None:
    error = meaning(words, call_of(ENDPOINT, mode=mode, streamed=capability.startswith("streaming")))
    assert isinstance(error, CapabilityRefused)
    assert error.capability == capability


NO_TOOLS = "registry.ollama.ai/library/gemma does not support tools"
NO_FORMAT = "'response_format' of type 'json_schema' is not supported"


@pytest.mark.parametrize(
    ("words", "fields", "capability"),
    [
        (NO_TOOLS, {"mode": "json_schema"}, None),
        ("Tool calling is not supported for this model", {"mode": "json_object"}, None),
        ("tool_choice is unsupported", {"mode": "text"}, None),
        (NO_TOOLS, {"tools": ()}, None),
        (NO_TOOLS, {"tools": (), "output_schema": {"type": "string"}}, "native_tools"),
        (NO_FORMAT, {}, None),
        (NO_FORMAT, {"mode": "text"}, None),
        (NO_FORMAT, {"output_schema": {"type": "string"}}, "json_schema"),
        (f"{NO_FORMAT}, and this model does not support tools", {}, "native_tools"),
        ("this model does not support image input", {}, None),
        ("non-streaming is not supported", {"streamed": True}, None),
        ("Streaming is not supported", {"streamed": True}, "streaming"),
    ],
)
def test_of_what_was_not_asked_for_nothing_was_refused(words: str, fields: dict[str, Any], capability: str | None) -> None:
    error = meaning(words, call_of(ENDPOINT, **fields))
    assert isinstance(error, CapabilityRefused if capability else RequestRefused)
    assert getattr(error, "capability", None) == capability


@pytest.mark.parametrize(
    ("param", "code", "words", "capability"),
    [
        ("stream", "unsupported_value", "Your organization must be verified to stream this model. Please go to: x", "streaming"),
        ("reasoning_effort", "unsupported_value", "Your organization must be verified for that.", "reasoning"),
        ("tools", "unsupported_parameter", "Not with this model.", "native_tools"),
        (
            "messages[0].role",
            "unsupported_value",
            "'messages[0].role' does not support 'system' with this model",
            "system_message",
        ),
        ("stream", "invalid_value", "Must be a boolean.", None),
        ("", "unsupported_value", "Your organization must be verified.", None),
    ],
)
def test_openais_codes_say_that_a_parameter_is_not_taken(param: str, code: str, words: str, capability: str | None) -> None:
    error = meaning(words, call_of(ENDPOINT, streamed=True), param=param or None, code=code)
    assert isinstance(error, CapabilityRefused if capability else RequestRefused)
    assert getattr(error, "capability", None) == capability


@pytest.mark.parametrize(
    "words",
    [
        "Failed to initialize samplers: failed to parse grammar",
        "invalid JSON schema in format",
        'Error rendering prompt with jinja template: "Unknown test: sequence".',
        "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_grammar_or_prompt_that_cannot_be_made_is_a_refusal_whatever_the_status(words: str) -> None:
    assert isinstance(classify(Made(words, 500), call_of(ENDPOINT)), RequestRefused)
    assert isinstance(classify(Made(words, 500), call_of(ENDPOINT, words)), RemoteServerError)  # a quotation


def test_a_fault_that_names_parallel_calls_is_about_the_request() -> None:
    assert isinstance(classify(Made("KeyError: 'parallel_tool_calls'", 500), call_of(ENDPOINT)), RequestRefused)


@pytest.mark.parametrize(
    "words",
    [
        "Tool use is not supported with images.",
        "messages.2: the assistant did not call any tools, so no tool_result is expected",
        "This tool call is not allowed here.",
        "tool calling: the name is too long. Names with dots are not supported",
    ],
)
def test_words_that_say_it_of_a_condition_do_not_say_it_of_the_endpoint(words: str) -> None:
    assert isinstance(meaning(words, call_of(ENDPOINT)), RequestRefused)


@pytest.mark.parametrize(
    ("words", "capability"),
    [
        ("`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation", "temperature"),
        ("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.", "top_p"),
    ],
)
def test_what_claude_refuses_beside_thinking_is_learnt(words: str, capability: str) -> None:
    for thinking, name in ((False, capability), (2048, f"reasoning+{capability}")):
        request = Request.model_validate({"messages": "Hi", capability: 0.2, "thinking": thinking})
        refused = meaning(words, call_of(Endpoint(provider="anthropic", model="m"), request, capabilities=Capabilities()))
        assert isinstance(refused, CapabilityRefused)
        assert refused.capability == name


@pytest.mark.parametrize(
    ("words", "capability"),
    [
        ("tools are not supported by this model", "native_tools"),
        ("tools: this model is not able to call tools", "native_tools"),
        ("the model is unable to use tools", "native_tools"),
        ("this model cannot call functions", "native_tools"),
        ("response_format is not supported by this model", "json_schema"),
        ("tool_choice is unsupported", "tool_choice_required"),
    ],
)
def test_the_plainest_sentences_are_understood(words: str, capability: str) -> None:
    refused = meaning(words, call_of(ENDPOINT, output_schema={"type": "string"}))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == capability


@pytest.mark.parametrize(
    "words", ["tools are not supported with streaming", "the format is not supported", "stop is unsupported"]
)
def test_a_condition_or_a_common_word_names_no_capability(words: str) -> None:
    assert isinstance(meaning(words, call_of(ENDPOINT)), RequestRefused)


@pytest.mark.parametrize(
    ("words", "capability"),
    [
        ('tool_choice = "required" is not supported!', "tool_choice_required"),
        ("tool_choice required is not supported", "tool_choice_required"),
        ("tool_choice `required` is not supported", "tool_choice_required"),
        ("Parameter 'tool_choice' is not supported", "tool_choice_required"),
        ("This model does not support response_format json_schema", "json_schema"),
        ("response_format 'json_schema' is not supported", "json_schema"),
        ("response_format type json_schema is not supported", "json_schema"),
        ("Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'.", "json_schema"),
        ("'tools' is not supported", "native_tools"),
        ("some/model is not supported for JSON mode/function calling", "native_tools"),
        ("tools and response_format are not supported", "native_tools"),
        ("`tools` not supported", "native_tools"),
        ("'claude-sonnet-4-5' does not support tool types", "native_tools"),
        ('tool_choice: only "auto" may be used', "tool_choice_required"),
        ("Invalid value for 'tool_choice': must be 'auto' or 'none'", "tool_choice_required"),
        ("This model only supports tool_choice of 'auto'", "tool_choice_required"),
        ('tool_choice="required" is not supported for this model', "tool_choice_required"),
        ("Invalid value: 'required'. Supported values are: 'none' and 'auto'.", "tool_choice_required"),
        ("Named tool choice is not supported", "tool_choice_required"),
        ("function calling unavailable for this model", "native_tools"),
        ("Tools are not supported by this model (rule 77)", "native_tools"),
        ("Structured outputs are not available on this deployment", "json_schema"),
        ("The server doesn't support parallel tool calls", "parallel_tools"),
        ("json_schema is not a supported response format", "json_schema"),
        ('tool_choice must be "auto"', "tool_choice_required"),
        ("Only `auto` is supported for tool_choice", "tool_choice_required"),
        ('response_format={"type": "json_schema"} is unsupported', "json_schema"),
        ("response_format.type json_schema is not supported", "json_schema"),
        ("unsupported tool_choice value: required", "tool_choice_required"),
        ("`response_format` of type `json_schema` isn't supported yet", "json_schema"),
        ("Unknown parameter: 'tool_choice'.", "tool_choice_required"),
        ("unsupported value: 'json_schema'", "json_schema"),
        ("JSON schema mode is disabled on this server", "json_schema"),
        ("forced tool choice is not allowed for this model", "tool_choice_required"),
        ("The value 'required' for tool_choice is not allowed", "tool_choice_required"),
        ("tool_choice cannot be used with this model", "tool_choice_required"),
        ("tool choice 'required' not implemented", "tool_choice_required"),
        ("tools are currently disabled", "native_tools"),
        ("Only tool_choice 'auto' is supported", "tool_choice_required"),
        ("The tool_choice parameter does not support 'required' for this model", "tool_choice_required"),
        ("Expected 'auto' or 'none' for tool_choice, got 'required'", "tool_choice_required"),
        ("Invalid response_format provided: json_schema", "json_schema"),
        ("response_format.type must be one of text, json_object", "json_schema"),
        ("Function call is not supported for this model", "native_tools"),
        ("tool_choice isn\u2019t supported", "tool_choice_required"),
        ("this route does not accept the tools parameter", "native_tools"),
        ("the parameter `tools` cannot be used here", "native_tools"),
    ],
)
def test_a_sentence_that_denies_a_part_or_a_value_of_it_names_the_capability(words: str, capability: str) -> None:
    """Of what the request held: beside tools the typed answer is a call of one here, unless a format is spoken of."""
    can = None if capability.startswith("json") else Capabilities()
    request = Request.model_validate({"messages": "Hello", "parallel_tool_calls": False})
    refused = meaning(words, call_of(ENDPOINT, request, output_schema={"type": "string"}, capabilities=can))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == capability


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported JSON schema keyword: pattern",
        "JSON schema type 'null' is not supported",
        "Invalid schema for response_format 'X': 'oneOf' is not permitted.",
        "In response_format 'final': keyword not supported",
        "tools[0].function.name: names with dots are not supported",
        "Invalid value for 'tool_choice': tool 'x' not found in tools",
        "This tool call is not allowed here.",
        "Unsupported tool type: web_search",
        "unknown tools: foo",
        "tool use is not supported with images",
        "tools must not be empty",
        "does not support tool names with dots",
        "structured outputs do not support pattern",
        "json_schema does not support oneOf",
        "unsupported json schema",
        "the format is not supported",
        "json schema is invalid: 'x' is not supported",
        "messages with tool calls must be followed by tool messages",
        "tool_choice is only allowed when tools are specified",
        "'city' is a required property",
        "response_format must contain the word json",
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        "When using tool_choice, tools must be set",
        "Tools with the same name are not allowed",
        "functions without parameters are not supported",
        "Invalid parameter: only messages with tool calls may be ...",
        "response_format.json_schema.name is not valid",
        "Invalid tool_choice: tool get_weather does not exist",
    ],
)
def test_a_sentence_about_one_call_a_schema_or_a_condition_names_none(words: str) -> None:
    assert isinstance(meaning(words, call_of(ENDPOINT, output_schema={"type": "string"})), RequestRefused)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "unit", ["tool choice is of the model ", "not supported tools ", "only auto or none ", "with the model "]
)
def test_sentences_are_read_in_linear_time(unit: str) -> None:
    started = time.process_time()
    meaning(unit * (32_768 // len(unit)), call_of(ENDPOINT))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "words",
    [
        "response_format is not supported together with tools",
        "You cannot use response format with function calling",
        "json_schema response format cannot be combined with tools",
        "tools and response_format cannot be used in the same request",
        "Tool use is not compatible with structured outputs.",
        "JSON mode is unsupported when using tools",
    ],
)
def test_a_format_that_is_refused_beside_tools_is_not_refused_alone(words: str) -> None:
    refused = meaning(words, call_of(ENDPOINT, output_schema={"type": "string"}))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "schema_with_tools"
    assert not isinstance(meaning(words, call_of(ENDPOINT, tools=(), output_schema={"type": "string"})), CapabilityRefused)


@pytest.mark.parametrize(
    ("words", "capability"),
    [
        ("This model doesn't support the temperature field. Remove temperature and try again.", "temperature"),
        ("This model doesn't support the topP field. Remove topP and try again.", "top_p"),
        ("The model doesn't support the stopSequences field. Remove stopSequences and try again.", "stop"),
        ("stop_sequences: Extra inputs are not permitted", "stop"),
        ("stop_sequences is not supported by this model", "stop"),
        ("stopSequences is not supported for this model", "stop"),
        ("invalid option provided: stop", "stop"),
        ("This model doesn't support the toolConfig.toolChoice.any field. Remove it and try again.", "tool_choice_required"),
        ("This model doesn't support system messages. Try again without specifying a system message.", "system_message"),
        ("This endpoint doesn't support streaming.", "streaming"),
        ("thinking is not supported by this model", "reasoning"),
        ("Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.", "reasoning"),
        ("Unsupported parameter: 'reasoning' is not supported", "reasoning"),
    ],
)
def test_a_parameter_is_known_by_the_name_that_its_wire_has_for_it(words: str, capability: str) -> None:
    asked = {"messages": "Hi", "temperature": 0.3, "top_p": 0.9, "stop": ["X"], "tool_choice": "required"}
    request = Request.model_validate(asked)
    refused = meaning(words, call_of(ENDPOINT, request=request, streamed=True))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == capability
