"""Gemini: Google's API with a key, and Vertex AI, which serves Claude and open models as well."""

from __future__ import annotations

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.common import CLAUDE, CLAUDE_LIMITS, CLAUDE_SAMPLING, GEMINI_CAPABILITIES, LOW_OR_HIGH, TRIED
from llmcore.adapters.providers.provider import MediaRule, ModelRule, NameRule, Provider
from llmcore.adapters.providers.rows_anthropic import ANTHROPIC, CLAUDE_MEDIA, CLAUDE_NAMES

__all__ = ["GEMINI", "GEMINI_FAMILY", "VERTEX"]

_MEDIA = {
    kind: MediaRule(own_urls=("gs://", "https://generativelanguage.googleapis.com/")) for kind in ("image", "file", "audio")
}
"""Gemini API documentation: Image, Document and Audio understanding (inline data, or a file of the Files API)."""
_THREE = "Gemini API documentation: Structured output (schema and tools together from Gemini 3 on), Gemini thinking"
_THINKING = "Gemini API documentation: Gemini thinking"

GEMINI_FAMILY = (
    ModelRule(
        "gemini-[3-9]*",
        GEMINI_CAPABILITIES.model_copy(update={"schema_with_tools": True, "reasoning": True}),
        _THREE,
        {"thinking": "effort", "efforts": LOW_OR_HIGH},  # a level, no number
    ),
    ModelRule("gemini-2.5*", GEMINI_CAPABILITIES.model_copy(update={"reasoning": True}), _THINKING),
)

GEMINI = Provider(
    name="gemini",
    prefix="gemini",
    wire="gemini",
    default_path="/v1beta",
    api_key_variable="GEMINI_API_KEY",
    sources=(
        "Gemini API documentation: Function calling (modes AUTO, ANY with allowed names, NONE; parallel calls)",
        "Gemini API documentation: Structured output, Grounding with Google Search",
        TRIED,
    ),
    hosts=("generativelanguage.googleapis.com",),
    model_names=("gemini-*", "gemma-*", "learnlm-*", "models/*", "tunedmodels/*", "deep-research-*"),
    capabilities=GEMINI_CAPABILITIES,
    models=(
        *GEMINI_FAMILY,
        ModelRule(
            "gemma*",
            GEMINI_CAPABILITIES.model_copy(
                update={"native_tools": False, "json_schema": False, "audio": False, "web_search": False}
            ),
            "Gemma documentation: Function calling with Gemma (by the prompt); Run Gemma with the Gemini API (text and images)",
        ),
    ),
    schema_dialect="gemini",
    output_dialect="gemini_json",
    names=NameRule(
        characters="A-Za-z0-9_.-",
        first="A-Za-z_",
        source="Gemini API reference: FunctionDeclaration (letters, digits, underscores, dots, dashes; at most 64)",
    ),
    schema_flag="supports_response_schema",  # without it LiteLLM drops the schema and sends the mime type alone
    dropped=frozenset({"parallel_tool_calls"}),
    thinking="anthropic",
    searches_beside_tools=False,  # Grounding with Google Search; `TRIED`: LiteLLM leaves it out
    media=_MEDIA,
    one_system_message=True,
)

VERTEX = Provider(
    name="vertex_ai",
    prefix="vertex_ai",  # LiteLLM signs in with Google's default credentials
    wire=None,  # by the family: the rows of models
    needs_package="google.auth (google-auth)",
    credentials="Google's default credentials: set the variable GOOGLE_APPLICATION_CREDENTIALS to a service account's file, or "
    "run `gcloud auth application-default login`",
    sends_token=True,
    sources=(
        "Vertex AI documentation: Function calling reference, Control generated output",
        "Vertex AI documentation: Use Anthropic's Claude models, Use managed open models",
        TRIED,
    ),
    hosts=("googleapis.com",),
    capabilities=Capabilities(streaming=True, schema_with_tools=False, web_search=False),
    models=(
        *(
            ModelRule(
                row.pattern,
                row.capabilities,
                row.source,
                {
                    "wire": "gemini",
                    "schema_dialect": "gemini",
                    "output_dialect": "gemini_json",
                    "names": GEMINI.names,
                    "schema_flag": GEMINI.schema_flag,
                    "dropped": GEMINI.dropped,
                    "thinking": "anthropic",
                    "searches_beside_tools": False,
                    **row.changes,
                },
            )
            for row in (*GEMINI_FAMILY, ModelRule("gemini*", GEMINI_CAPABILITIES, _THINKING))
        ),
        ModelRule(
            "claude*",
            CLAUDE.model_copy(update={"json_schema": False, "schema_with_tools": False}),
            "Claude's documentation: Claude on Vertex AI (the Messages API)",
            {
                "wire": "anthropic",
                "schema_dialect": "anthropic",
                "output_dialect": "anthropic_strict",
                "names": CLAUDE_NAMES,
                "ids": ANTHROPIC.ids,
                "limits": (CLAUDE_LIMITS,),
                "thinking": "anthropic",
                "thinks_by_default": False,
                "forces_while_thinking": False,
                "thinks_after_unsigned_calls": False,
                "sampling_while_thinking": CLAUDE_SAMPLING,
                "needs_max_tokens": True,
                "prompt_cache": True,
                "media": {kind: MediaRule(in_results=True, types=rule.types) for kind, rule in CLAUDE_MEDIA.items()},
                "declares_called_tools": True,
            },
        ),
    ),
    names=NameRule(source="the narrowest rule of the families behind it"),
    media={kind: MediaRule(by_url=True) for kind in _MEDIA},
    one_system_message=True,
)
