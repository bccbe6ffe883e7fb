"""The provider table. Facts and their sources: `docs` of each provider as collected in the project's notes on LiteLLM
1.105.

None in a capability = unknown, so it is tried and learnt. False is written only where asking is known to fail or,
worse, to change what the request means (a `response_format` beside tools that makes the tools uncallable).
"""

from __future__ import annotations

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.provider import IdRule, Limits, ModelRow, NameRule, Provider

__all__ = ["OPENAI_COMPATIBLE", "PROVIDERS"]

_FULL = Capabilities(
    native_tools=True,
    json_schema=True,
    json_object=True,
    schema_with_tools=True,
    parallel_tools=True,
    tool_choice_required=True,
    tool_choice_named=True,
    streaming=True,
)
_NO_SAMPLING = frozenset({"temperature", "top_p"})
_DOCUMENT_OPENAI = Limits(max_tools=64, source="the user's document 002: OpenAI 64 tools")
_DOCUMENT_CLAUDE = Limits(max_tools=20, max_tools_bytes=50_000, source="the user's document 002: Claude 20 tools, 50 KB")

OPENAI = Provider(
    name="openai",
    prefix="openai",
    default_path="/v1",
    api_key_variable="OPENAI_API_KEY",
    capabilities=_FULL,
    models=(
        ModelRow("o1-mini*", _FULL.model_copy(update={"native_tools": False, "unsupported_parameters": _NO_SAMPLING})),
        ModelRow("o[134]*", _FULL.model_copy(update={"reasoning": True, "unsupported_parameters": _NO_SAMPLING})),
        ModelRow("gpt-5*", _FULL.model_copy(update={"reasoning": True, "unsupported_parameters": _NO_SAMPLING})),
        ModelRow("gpt-3.5*", _FULL.model_copy(update={"json_schema": False, "schema_with_tools": False, "images": False})),
        ModelRow("gpt-4-*", _FULL.model_copy(update={"json_schema": False, "schema_with_tools": False})),
        ModelRow("gpt-4o*search*", _FULL.model_copy(update={"native_tools": False, "web_search": True})),
        ModelRow("gpt-4*", _FULL.model_copy(update={"images": True})),
    ),
    schema_dialect="openai",
    output_dialect="openai_strict",
    strict_tools=True,
    names=NameRule(),  # openapi.json 2.3.0: [A-Za-z0-9_-], at most 64
    ids=IdRule(characters=r"\x21-\x7e", length=64),
    limits=(_DOCUMENT_OPENAI,),
    thinking="effort",
)

_CLAUDE = _FULL.model_copy(
    update={
        "json_object": False,  # nothing is sent
        "images": True,
        "web_search": True,
        "context_window": 200_000,
    }
)

ANTHROPIC = Provider(
    name="anthropic",
    prefix="anthropic",
    wire="anthropic",
    spare_path="/v1",
    api_key_variable="ANTHROPIC_API_KEY",
    capabilities=_CLAUDE,
    schema_flag="supports_native_structured_output",  # without it LiteLLM forces a tool, and beside tools loses them
    schema_dialect="anthropic",
    output_dialect="anthropic_strict",
    names=NameRule(length=128),
    ids=IdRule(length=512),
    limits=(_DOCUMENT_CLAUDE,),
    thinking="anthropic",
    prompt_cache=True,
    images_in_results=True,
    spreads_extra_body=True,
)

_GEMINI = _FULL.model_copy(
    update={
        "schema_with_tools": False,  # before Gemini 3 a response schema and tools exclude each other
        "images": True,
        "web_search": True,
    }
)

GEMINI = Provider(
    name="gemini",
    prefix="gemini",
    wire="gemini",
    default_path="/v1beta",
    api_key_variable="GEMINI_API_KEY",
    capabilities=_GEMINI,
    models=(
        ModelRow("gemini-[3-9]*", _GEMINI.model_copy(update={"schema_with_tools": True, "reasoning": True})),
        ModelRow("gemini-2.5*", _GEMINI.model_copy(update={"reasoning": True})),
        ModelRow("gemma*", _GEMINI.model_copy(update={"native_tools": False, "json_schema": False, "web_search": False})),
    ),
    schema_dialect="gemini",
    output_dialect="gemini_json",
    names=NameRule(characters="A-Za-z0-9_.-", first="A-Za-z_"),
    schema_flag="supports_response_schema",  # without it LiteLLM drops the schema and sends the mime type alone
    dropped=frozenset({"parallel_tool_calls"}),
    thinking="anthropic",
)

_GROQ = _FULL.model_copy(
    update={
        "json_schema": False,  # the models without a row below
        "schema_with_tools": False,
        "images": None,
    }
)

GROQ = Provider(
    name="groq",
    prefix="groq",
    default_path="/openai/v1",
    api_key_variable="GROQ_API_KEY",
    capabilities=_GROQ,
    models=(
        ModelRow("*gpt-oss*", _GROQ.model_copy(update={"json_schema": True, "reasoning": True, "tool_choice_required": None})),
        ModelRow("*kimi-k2*", _GROQ.model_copy(update={"json_schema": True})),
        ModelRow("*llama-4-*", _GROQ.model_copy(update={"json_schema": True, "images": True})),
    ),
    names=NameRule(),
    raw_body=frozenset({"response_format"}),  # LiteLLM makes a forced tool `json_tool_call` of a schema
    thinking="effort",
)

OPENROUTER = Provider(
    name="openrouter",
    prefix="openrouter",
    default_path="/api/v1",
    api_key_variable="OPENROUTER_API_KEY",
    capabilities=Capabilities(streaming=True, web_search=False),
    models=(
        ModelRow("openai/gpt-*", _FULL),
        ModelRow(
            "anthropic/*",
            _CLAUDE.model_copy(update={"json_schema": None, "schema_with_tools": False, "web_search": False}),
        ),
        ModelRow("google/gemini-*", _GEMINI.model_copy(update={"web_search": False})),
        ModelRow("moonshotai/*", Capabilities(native_tools=True, tool_choice_required=False, streaming=True)),
        ModelRow("deepseek/deepseek-r1*", Capabilities(tool_choice_required=False, reasoning=True, streaming=True)),
        ModelRow("qwen/qwen3-coder*", Capabilities(native_tools=True, tool_choice_required=False, streaming=True)),
    ),
    names=NameRule(),
    prompt_cache=True,
    reports_cost=True,
    thinking="effort",
    headers=(
        ("HTTP-Referer", "urn:llmcore-engine"),
        ("X-Title", "llmcore"),
    ),  # else LiteLLM sends its own
)

MISTRAL = Provider(
    name="mistral",
    prefix="mistral",
    default_path="/v1",
    api_key_variable="MISTRAL_API_KEY",
    capabilities=_FULL,
    models=(
        ModelRow("pixtral*", _FULL.model_copy(update={"images": True})),
        ModelRow("magistral*", _FULL.model_copy(update={"reasoning": True})),
    ),
    ids=IdRule(characters="A-Za-z0-9", length=9, exact=True),
    names=NameRule(),
    raw_body=frozenset({"tool_choice"}),  # LiteLLM drops a named tool silently; the API takes OpenAI's form
)

DEEPSEEK = Provider(
    name="deepseek",
    prefix="deepseek",
    api_key_variable="DEEPSEEK_API_KEY",
    capabilities=_FULL.model_copy(update={"json_schema": False, "schema_with_tools": False, "images": False}),
    models=(
        ModelRow(
            "deepseek-reasoner*",
            _FULL.model_copy(
                update={
                    "json_schema": False,
                    "schema_with_tools": False,
                    "tool_choice_required": False,
                    "tool_choice_named": False,
                    "reasoning": True,
                    "images": False,
                    "unsupported_parameters": _NO_SAMPLING,
                }
            ),
        ),
    ),
    names=NameRule(),
    returns_reasoning=True,
)

OLLAMA = Provider(
    name="ollama",
    prefix="ollama_chat",  # `ollama/` puts the tools into the prompt and calls them again after their results
    wire="ollama",
    spare_path="/v1",
    capabilities=Capabilities(
        json_schema=True,
        json_object=True,
        schema_with_tools=False,  # the grammar of the format leaves no room for a call
        tool_choice_required=False,
        tool_choice_named=False,
        streaming=True,
        web_search=False,
    ),
    models=(
        ModelRow(
            "*cloud",
            Capabilities(json_schema=False, schema_with_tools=False, tool_choice_required=False, streaming=True),
        ),
    ),
    dropped=frozenset({"tool_choice", "parallel_tool_calls"}),
)

OPENAI_COMPATIBLE = Provider(
    name="openai_compatible",
    prefix="openai",
    default_path="/v1",
    capabilities=Capabilities(streaming=True, schema_with_tools=False, web_search=False),  # vLLM: a format suppresses tools
    names=NameRule(),
    one_system_message=True,
)

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (OPENAI, ANTHROPIC, GEMINI, GROQ, OPENROUTER, MISTRAL, DEEPSEEK, OLLAMA, OPENAI_COMPATIBLE)
}
