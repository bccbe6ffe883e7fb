"""OpenAI and Azure OpenAI: one family of models, reached by two ways."""

from __future__ import annotations

from llmcore.adapters.providers.common import FULL, NO_SAMPLING, OPENAI_LIMITS, TRIED
from llmcore.adapters.providers.provider import CHAT_MEDIA, IdRule, MediaRule, ModelRule, NameRule, Provider

__all__ = ["AZURE", "OPENAI", "OPENAI_MODELS", "OPENAI_NAMES"]

_REASONING = "OpenAI documentation: Reasoning models (no temperature, no top_p)"
_OUTPUTS = "OpenAI documentation: Structured model outputs (JSON Schema from gpt-4o on, JSON mode before)"
_SEARCH = "OpenAI documentation: Web search (in chat completions by the search models only)"
_SEARCHES = "OpenAI documentation: Web search (the tool `web_search` of the Responses API)"
_ELDER = {"json_schema": False, "schema_with_tools": False, "web_search": False}

_AUDIO = "OpenAI documentation: Audio and speech (audio input in chat completions by the audio models only)"
_MEDIA = {
    **CHAT_MEDIA,
    "audio": MediaRule(types=frozenset({"audio/wav", "audio/x-wav", "audio/wave", "audio/mpeg", "audio/mp3"})),
}
"""OpenAI's openapi.json 2.3.0: the `format` of `input_audio` is `wav` or `mp3`."""

OPENAI_MODELS = (
    *(
        ModelRule(pattern, FULL.model_copy(update={"json_schema": False, "schema_with_tools": False, "audio": True}), _AUDIO)
        for pattern in ("gpt-audio*", "gpt-4o*-audio*")
    ),
    ModelRule(
        "o1-mini*",
        FULL.model_copy(update={"native_tools": False, "web_search": False, "unsupported_parameters": NO_SAMPLING}),
        _REASONING,
    ),
    ModelRule(
        "*-search-*",
        FULL.model_copy(update={"native_tools": False, "web_search": True}),
        _SEARCH,
        {"searches_by": "web_search_options"},
    ),
    ModelRule(
        "o[134]*",
        FULL.model_copy(update={"reasoning": True, "web_search": True, "unsupported_parameters": NO_SAMPLING}),
        f"{_REASONING}; {_SEARCHES}",
    ),
    ModelRule(
        "gpt-[5-9]*",
        FULL.model_copy(update={"reasoning": True, "web_search": True, "unsupported_parameters": NO_SAMPLING}),
        f"{_REASONING}; {_SEARCHES}",
    ),
    ModelRule("gpt-3.5*", FULL.model_copy(update={**_ELDER, "images": False}), _OUTPUTS),
    ModelRule("gpt-4", FULL.model_copy(update=_ELDER), _OUTPUTS),
    ModelRule("gpt-4-*", FULL.model_copy(update=_ELDER), _OUTPUTS),
    ModelRule(
        "gpt-4*",
        FULL.model_copy(update={"images": True, "web_search": True}),
        f"OpenAI documentation: Images and vision; {_SEARCHES}",
    ),
)
OPENAI_NAMES = NameRule(source="OpenAI's openapi.json 2.3.0: [A-Za-z0-9_-], at most 64 characters")

OPENAI = Provider(
    name="openai",
    prefix="openai",
    default_path="/v1",
    api_key_variable="OPENAI_API_KEY",
    sources=(
        "OpenAI documentation: Function calling (tool_choice auto, required, none, one function; parallel calls; strict)",
        "OpenAI documentation: Structured model outputs",
        "OpenAI's openapi.json 2.3.0",
        _AUDIO,
        TRIED,
    ),
    hosts=("openai.com",),
    model_names=("gpt-*", "o[1-9]*", "ft:*", "chatgpt-*", "codex-*", "computer-use-*", "chat-latest"),
    capabilities=FULL.model_copy(update={"audio": False, "web_search": False}),
    models=OPENAI_MODELS,
    media=_MEDIA,
    schema_dialect="openai",
    output_dialect="openai_strict",
    strict_tools=True,
    returns_refusals=True,
    names=OPENAI_NAMES,
    ids=IdRule(
        characters=r"\x21-\x7e", length=64, source="OpenAI's openapi.json 2.3.0: call_id of Responses, at most 64 characters"
    ),
    limits=(OPENAI_LIMITS,),
    thinking="effort",
    searches_by="responses",
)

AZURE = Provider(
    name="azure",
    prefix="azure",  # the model is the deployment's name: any
    api_key_variable="AZURE_API_KEY",
    sources=(
        "Azure documentation: Azure OpenAI REST API reference (deployments/{name}/chat/completions, api-key header)",
        "Azure documentation: How to use function calling with Azure OpenAI",
        "Azure documentation: How to use structured outputs with Azure OpenAI",
        TRIED,
    ),
    hosts=("openai.azure.com", "cognitiveservices.azure.com"),
    needs_url="https://NAME.openai.azure.com",
    url_variable="AZURE_API_BASE",
    # A deployment's name need not tell its model: what its generation decides is tried, and learnt.
    capabilities=FULL.model_copy(update={"json_schema": None, "schema_with_tools": False, "web_search": False}),
    media=_MEDIA,
    models=tuple(
        ModelRule(row.pattern, row.capabilities.model_copy(update={"web_search": False}), row.source)
        for row in OPENAI_MODELS
        if not row.changes
    ),  # of a search model there are no deployments
    schema_dialect="openai",
    output_dialect="openai_strict",
    strict_tools=True,
    returns_refusals=True,
    names=OPENAI_NAMES,
    ids=OPENAI.ids,
    limits=(OPENAI_LIMITS,),
    thinking="effort",
)
