"""Providers that serve open models or many families: Groq, OpenRouter, Together, Mistral, DeepSeek, xAI."""

from __future__ import annotations

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.common import (
    CLAUDE,
    FULL,
    GEMINI_CAPABILITIES,
    LOW_OR_HIGH,
    NO_SAMPLING,
    OPENAI_LIMITS,
    RECORDED,
    TRIED,
)
from llmcore.adapters.providers.provider import CHAT_MEDIA, IMAGES_ALONE, IdRule, MediaRule, ModelRule, NameRule, Provider

__all__ = ["DEEPSEEK", "GROQ", "MISTRAL", "OPENROUTER", "TOGETHER", "XAI"]

_OPENAI_FORM = NameRule(source="its documentation on tool calling: functions as OpenAI's API has them")
_GROQ = FULL.model_copy(
    update={
        "json_schema": False,  # the models without a row below
        "schema_with_tools": False,
        "images": None,
        "web_search": False,
    }
)
_GROQ_OUTPUTS = "Groq documentation: Structured Outputs (models that take a JSON Schema)"

GROQ = Provider(
    name="groq",
    prefix="groq",
    default_path="/openai/v1",
    api_key_variable="GROQ_API_KEY",
    sources=(
        "Groq documentation: Tool Use (tool_choice, parallel calls, 400 tool_use_failed with failed_generation)",
        _GROQ_OUTPUTS,
        "Groq's client for Python 1.7.0: FunctionDefinition.strict",
        TRIED,
    ),
    hosts=("groq.com",),
    searches_by="body",
    capabilities=_GROQ,
    models=(
        ModelRule(
            "*gpt-oss*",
            _GROQ.model_copy(update={"json_schema": True, "reasoning": True, "tool_choice_required": None}),
            f"{_GROQ_OUTPUTS}; {RECORDED}: harmony takes no forced call",
        ),
        ModelRule("*kimi-k2*", _GROQ.model_copy(update={"json_schema": True}), _GROQ_OUTPUTS),
        ModelRule("*llama-4-*", _GROQ.model_copy(update={"json_schema": True, "images": True}), _GROQ_OUTPUTS),
    ),
    names=_OPENAI_FORM,
    strict_tools=True,
    media=IMAGES_ALONE,  # Groq documentation: Images and Vision
    raw_body=frozenset({"response_format"}),  # LiteLLM makes a forced tool `json_tool_call` of a schema
    thinking="effort",
    tokenizes_words=True,  # open models, by their chat templates
)

_NO_TEMPLATE = {"tokenizes_words": False}
_ROUTED = "OpenRouter documentation: Tool Calling, Structured Outputs (by the model behind it)"
_ROUTED_OPENAI = (
    FULL.model_copy(update={"web_search": True}),
    _ROUTED,
    {"schema_dialect": "openai", "output_dialect": "openai_strict", "strict_tools": True, "limits": (OPENAI_LIMITS,)},
)

OPENROUTER = Provider(
    name="openrouter",
    prefix="openrouter",
    default_path="/api/v1",
    api_key_variable="OPENROUTER_API_KEY",
    sources=(
        _ROUTED,
        "OpenRouter documentation: Web Search (the plugin `web`), Reasoning Tokens, Prompt Caching, Usage Accounting",
        TRIED,
    ),
    hosts=("openrouter.ai",),
    model_names=("*/*", "auto"),
    capabilities=Capabilities(streaming=True, web_search=True),
    models=(
        ModelRule("openai/gpt-oss*", *_ROUTED_OPENAI),  # open weights, which hosts serve by their chat template
        ModelRule("openai/gpt-*", *_ROUTED_OPENAI[:2], {**_ROUTED_OPENAI[2], **_NO_TEMPLATE}),
        ModelRule(
            "anthropic/*",
            CLAUDE.model_copy(update={"json_schema": None, "schema_with_tools": False}),
            _ROUTED,
            {"schema_dialect": "anthropic", "thinks_by_default": False, **_NO_TEMPLATE},
        ),
        ModelRule(
            "google/gemini-*",
            GEMINI_CAPABILITIES,
            _ROUTED,
            {"schema_dialect": "gemini", "output_dialect": "gemini_json", **_NO_TEMPLATE},
        ),
        ModelRule(
            "moonshotai/*",
            Capabilities(native_tools=True, tool_choice_required=False, streaming=True, web_search=True),
            f"{RECORDED}: takes no `required`",
        ),
        ModelRule(
            "deepseek/deepseek-r1*",
            Capabilities(tool_choice_required=False, reasoning=True, streaming=True, web_search=True),
            f"{RECORDED}: takes no `required`",
        ),
        ModelRule(
            "qwen/qwen3-coder*",
            Capabilities(native_tools=True, tool_choice_required=False, streaming=True, web_search=True),
            f"{RECORDED}: takes no `required`",
            {"schema_dialect": "inline_defs"},
        ),
        ModelRule(
            "qwen/*",
            Capabilities(streaming=True, web_search=True),
            f"{RECORDED}: definitions inlined",
            {"schema_dialect": "inline_defs"},
        ),
        ModelRule(
            "meta-llama/*",
            Capabilities(streaming=True, web_search=True),
            f"{RECORDED}: definitions inlined",
            {"schema_dialect": "inline_defs"},
        ),
    ),
    names=_OPENAI_FORM,
    prompt_cache=True,
    media={**CHAT_MEDIA, "file": MediaRule(by_url=True)},  # OpenRouter documentation: PDF Inputs, Audio Inputs
    reports_cost=True,
    tokenizes_words=True,  # most of what it routes to serves open models, by their chat templates
    thinking="effort",
    searches_by="plugin",
    headers=(
        ("HTTP-Referer", "urn:llmcore-engine"),
        ("X-Title", "llmcore"),
    ),  # else LiteLLM sends its own
)

TOGETHER = Provider(
    name="together",
    prefix="together_ai",
    default_path="/v1",
    api_key_variable="TOGETHER_API_KEY",
    sources=(
        "Together AI documentation: Function calling (OpenAI's form; by model), Structured outputs",
        TRIED,
    ),
    hosts=("together.xyz", "together.ai"),
    searches_by="body",
    model_names=("*/*",),
    capabilities=Capabilities(
        json_object=True,
        schema_with_tools=False,
        streaming=True,
        web_search=False,
    ),
    models=(
        ModelRule(
            "deepseek-ai/deepseek-r1*",
            Capabilities(tool_choice_required=False, reasoning=True, streaming=True, web_search=False),
            f"{RECORDED}: takes no `required`",
        ),
        ModelRule(
            "qwen/*",
            Capabilities(json_object=True, schema_with_tools=False, streaming=True, web_search=False),
            f"{RECORDED}: definitions inlined",
            {"schema_dialect": "inline_defs"},
        ),
        ModelRule(
            "meta-llama/*",
            Capabilities(json_object=True, schema_with_tools=False, streaming=True, web_search=False),
            f"{RECORDED}: definitions inlined",
            {"schema_dialect": "inline_defs"},
        ),
    ),
    names=_OPENAI_FORM,
    tokenizes_words=True,  # open models, by their chat templates
)

MISTRAL = Provider(
    name="mistral",
    prefix="mistral",
    default_path="/v1",
    api_key_variable="MISTRAL_API_KEY",
    sources=(
        "Mistral documentation: Function calling (tool_choice auto, any, none, one function; parallel_tool_calls)",
        "Mistral documentation: Structured output (custom JSON Schema, JSON mode)",
        TRIED,
    ),
    hosts=("mistral.ai",),
    searches_by="body",
    model_names=("*stral-*", "pixtral*", "voxtral*", "open-*", "mixtral*", "ft:*"),
    capabilities=FULL.model_copy(update={"web_search": False}),
    models=(
        ModelRule("pixtral*", FULL.model_copy(update={"images": True, "web_search": False}), "Mistral documentation: Vision"),
        ModelRule(
            "magistral*",
            FULL.model_copy(update={"reasoning": True, "web_search": False}),
            "Mistral documentation: Reasoning",
        ),
    ),
    ids=IdRule(characters="A-Za-z0-9", length=9, exact=True, source="Mistral's recorded errors: a-z, A-Z, 0-9, length 9"),
    names=_OPENAI_FORM,
    media=IMAGES_ALONE,  # `TRIED`: LiteLLM sends a file in another form than Mistral's, and no audio
    dropped=frozenset({"stream_options"}),
    raw_body=frozenset({"tool_choice"}),  # LiteLLM drops a named tool silently; the API takes OpenAI's form
)

_DEEPSEEK = FULL.model_copy(update={"json_schema": False, "schema_with_tools": False, "images": False, "web_search": False})

DEEPSEEK = Provider(
    name="deepseek",
    prefix="deepseek",
    api_key_variable="DEEPSEEK_API_KEY",
    sources=(
        "DeepSeek API documentation: Function Calling, JSON Output (json_object only)",
        "DeepSeek API documentation: Reasoning model (no sampling parameters)",
        TRIED,
    ),
    hosts=("deepseek.com",),
    searches_by="body",
    model_names=("deepseek-*",),
    capabilities=_DEEPSEEK,
    models=(
        ModelRule(
            "deepseek-reasoner*",
            _DEEPSEEK.model_copy(
                update={
                    "tool_choice_required": False,
                    "tool_choice_named": False,
                    "reasoning": True,
                    "unsupported_parameters": NO_SAMPLING,
                }
            ),
            "DeepSeek API documentation: Reasoning model",
        ),
    ),
    names=_OPENAI_FORM,
    returns_reasoning=True,
    tokenizes_words=True,
    media={},  # `TRIED`: LiteLLM sends the text alone
)

_GROK = FULL.model_copy(update={"web_search": True})
_GROK_REASONS = {"reasoning": True, "unsupported_parameters": frozenset({"stop", "presence_penalty", "frequency_penalty"})}

XAI = Provider(
    name="xai",
    prefix="xai",
    default_path="/v1",
    api_key_variable="XAI_API_KEY",
    sources=(
        "xAI documentation: Function calling (tool_choice auto, required, none, one function; parallel by default)",
        "xAI documentation: Structured outputs (any schema, beside tools from Grok 4 on), Reasoning (no stop)",
        TRIED,
    ),
    hosts=("x.ai",),
    model_names=("grok-*",),
    capabilities=_GROK.model_copy(update={"schema_with_tools": False}),
    models=(
        ModelRule(
            "grok-3-mini*",
            _GROK.model_copy(update={**_GROK_REASONS, "schema_with_tools": False}),
            "xAI documentation: Reasoning (reasoning_effort low or high, which no other model takes)",
            {"thinking": "effort", "efforts": LOW_OR_HIGH, "raw_body": frozenset({"reasoning_effort"})},
        ),
        ModelRule("grok-[4-9]*", _GROK.model_copy(update=_GROK_REASONS), "xAI documentation: Reasoning"),
    ),
    media=IMAGES_ALONE,  # xAI documentation: Image understanding
    names=_OPENAI_FORM,
)
