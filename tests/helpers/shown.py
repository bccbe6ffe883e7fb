"""A model behind any provider's wire that looks up the weather and then gives a typed answer, in whichever output mode it is asked;
which mode a request asks for, read from its body; and the words in which servers refuse one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import OutputMode
from tests.helpers.wire_server import Failure, Seen, Step, Turn

__all__ = ["ANSWER", "OWN_WORDS", "REAL_WORDS", "Refusal", "format_of", "mode_of", "model"]

ANSWER = {"city": "Paris", "degrees": 12}
LOOKED_UP = "Paris: 12 degrees"
_CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}


def format_of(body: Mapping[str, Any]) -> OutputMode | None:
    """The JSON mode a body asks for on its wire: OpenAI's `response_format`, Gemini's `generationConfig`, Anthropic's
    `output_format`, Ollama's `format`."""
    if kind := object_in(body.get("response_format")).get("type"):
        return "json_schema" if kind == "json_schema" else "json_object"
    gemini = object_in(body.get("generationConfig"))
    if any("schema" in key.lower() for key in gemini):
        return "json_schema"
    if gemini.get("responseMimeType", gemini.get("response_mime_type")) == "application/json":
        return "json_object"
    if body.get("output_format") or object_in(body.get("output_config")).get("format"):
        return "json_schema"
    if wanted := body.get("format"):
        return "json_schema" if is_object(wanted) else "json_object"
    return None


def mode_of(body: Mapping[str, Any]) -> OutputMode:
    """The output mode that a request's body asks for."""
    return "native_tools" if body.get("tools") or body.get("toolConfig") else format_of(body) or "text"


def model(seen: Seen) -> Step:
    """Calls the tool, then answers: natively where tools are offered, as an envelope where one is asked for, else as text."""
    told, body = json.dumps(seen.body), seen.body
    name, arguments = ("final_result", ANSWER) if LOOKED_UP in told else ("get_weather", _CALL["arguments"])
    if mode_of(body) == "native_tools":
        answers_in_words = name == "final_result" and "final_result" not in told
        return Turn(json.dumps(ANSWER)) if answers_in_words else Turn(calls=[(name, arguments)])
    call = {"name": name, "arguments": arguments}
    if mode_of(body) == "text":
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    return json.dumps({"toolCalls": [call], "content": "", "needsMoreWork": name != "final_result"})


class Refusal(NamedTuple):
    """What a server says, and the capability that is learnt by it; None where the words may be about this one request."""

    status: int
    body: Any
    teaches: str | None = None

    @property
    def step(self) -> Failure:
        return Failure(self.status, self.body)


OWN_WORDS = Refusal(400, {"error": {"message": "Sorry, that way of answering is nothing for us."}})


def _openai(words: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "param": param, "code": code}}


def _anthropic(words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": words}, "request_id": "req_1"}


def _google(words: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}


def _vllm(words: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": "BadRequestError", "param": None, "code": 400}}


def _llama_cpp(words: str, code: int = 400) -> dict[str, Any]:
    return {"error": {"code": code, "message": words, "type": "server_error" if code == 500 else "invalid_request_error"}}


def _type_refused(kind: str) -> Refusal:
    words = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
    return Refusal(400, _openai(words, "response_format"), kind)


_NO_TOOL_ENDPOINT = "No endpoints found that support tool use. To learn more about provider routing, visit: the documentation"
_NO_GEMINI_TOOLS = Refusal(400, _google("Function calling is not enabled for models/gemma-3-27b-it"), "native_tools")
_NO_GEMINI_JSON = Refusal(400, _google("JSON mode is not enabled for models/gemma-3-27b-it"), "json_object")
_SERDE = "Failed to deserialize the JSON body into the target type: "
_NO_PARSER = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
_BY_OPENAI: dict[OutputMode, Refusal] = {
    "native_tools": Refusal(
        400,
        _openai("Unsupported parameter: 'tools' is not supported with this model.", "tools", "unsupported_parameter"),
        "native_tools",
    ),
    "json_schema": _type_refused("json_schema"),
    "json_object": _type_refused("json_object"),
}
_BY_GEMINI: dict[OutputMode, Refusal] = {
    "native_tools": _NO_GEMINI_TOOLS,
    "json_schema": _NO_GEMINI_JSON._replace(teaches="json_schema"),
    "json_object": _NO_GEMINI_JSON,
}
_BY_VLLM: dict[OutputMode, Refusal] = {
    "native_tools": Refusal(400, _vllm(_NO_PARSER), "native_tools"),
    "json_schema": Refusal(400, _vllm("The provided JSON schema contains features not supported by xgrammar.")),
    "json_object": Refusal(
        400,
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]},
        "json_object",
    ),
}

REAL_WORDS: dict[str, dict[OutputMode, Refusal]] = {
    "openai": _BY_OPENAI,
    "azure": {
        "native_tools": Refusal(400, _openai("Unrecognized request argument supplied: tools"), "native_tools"),
        "json_schema": Refusal(
            400,
            {
                "error": {
                    "code": "BadRequest",
                    "message": "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
                }
            },
            "json_schema",
        ),
        "json_object": _type_refused("json_object"),
    },
    "anthropic": {
        "native_tools": Refusal(400, _anthropic("tools: Extra inputs are not permitted"), "native_tools"),
        "json_schema": Refusal(400, _anthropic("output_format: Extra inputs are not permitted"), "json_schema"),
    },
    "bedrock": {"native_tools": Refusal(400, {"message": "This model doesn't support tool use."}, "native_tools")},
    "gemini": _BY_GEMINI,
    "vertex_ai": _BY_GEMINI,
    "groq": {
        "native_tools": Refusal(400, _openai("`tool calling` is not supported with this model", "tool_calling"), "native_tools"),
        "json_schema": Refusal(
            400,
            _openai("This model does not support response format `json_schema`. See supported models at the documentation"),
            "json_schema",
        ),
        "json_object": Refusal(
            400, _openai("This model does not support response format `json_object`.", "response_format"), "json_object"
        ),
    },
    "openrouter": {
        "native_tools": Refusal(404, {"error": {"message": _NO_TOOL_ENDPOINT, "code": 404}}, "native_tools"),
        "json_schema": Refusal(
            404, {"error": {"message": "No endpoints found that can handle the requested parameters.", "code": 404}}
        ),
        "json_object": Refusal(
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"detail":"response_format is not supported"}', "provider_name": "Chutes"},
                }
            },
            "json_object",
        ),
    },
    "mistral": {
        "native_tools": Refusal(
            400,
            {
                "object": "error",
                "message": "Function calling is not enabled for this model",
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
            "native_tools",
        ),
        "json_schema": Refusal(
            422,
            {
                "object": "error",
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "response_format", "json_schema"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                },
                "type": "invalid_request_error",
            },
            "json_schema",
        ),
        "json_object": Refusal(
            422,
            {
                "object": "error",
                "message": {
                    "detail": [
                        {"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}
                    ]
                },
                "type": "invalid_request_error",
            },
            "json_object",
        ),
    },
    "deepseek": {
        "native_tools": Refusal(400, _openai("deepseek-reasoner does not support Function Calling"), "native_tools"),
        "json_object": Refusal(
            400,
            _openai(f"{_SERDE}response_format: unknown variant `json_object`, expected `text` at line 1 column 9"),
            "json_object",
        ),
    },
    "xai": {
        "native_tools": Refusal(
            400,
            {"code": "Client specified an invalid argument", "error": "Argument not supported on this model: tools"},
            "native_tools",
        ),
        "json_schema": Refusal(
            400,
            {"code": "Client specified an invalid argument", "error": "Argument not supported on this model: responseFormat"},
            "json_schema",
        ),
        "json_object": Refusal(
            422, f"{_SERDE}response_format: unknown variant `json_object`, expected `text` at line 1 column 9", "json_object"
        ),
    },
    "together": {
        "native_tools": Refusal(400, _openai("Function calling is not supported for this model", "tools"), "native_tools"),
        "json_schema": Refusal(
            400, _openai("invalid schema: response_format is not supported for this model", "response_format"), "json_schema"
        ),
        "json_object": Refusal(400, _openai("JSON mode is not supported for this model", "response_format"), "json_object"),
    },
    "ollama": {
        "native_tools": Refusal(400, {"error": "registry.ollama.ai/library/gemma:latest does not support tools"}, "native_tools"),
        "json_schema": Refusal(500, {"error": "invalid JSON schema in format"}),
        "json_object": Refusal(
            500, {"error": 'invalid format: "json"; expected "json" or a valid JSON Schema object'}, "json_object"
        ),
    },
    "vllm": _BY_VLLM,
    "sglang": {
        "native_tools": Refusal(
            400,
            {
                "object": "error",
                "message": "Tools cannot be used: start the server with --tool-call-parser",
                "type": "BadRequestError",
                "code": 400,
            },
            teaches="native_tools",
        ),
        "json_schema": Refusal(
            400,
            {
                "object": "error",
                "message": "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when the server is launched with --grammar-backend none",
                "type": "BadRequestError",
                "code": 400,
            },
            "json_schema",
        ),
        "json_object": Refusal(
            400,
            {
                "object": "error",
                "message": "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when the server is launched with --grammar-backend none",
                "type": "BadRequestError",
                "code": 400,
            },
            "json_object",
        ),
    },
    "llama_cpp": {
        "native_tools": Refusal(500, _llama_cpp("tools param requires --jinja flag", 500), "native_tools"),
        "json_schema": Refusal(400, _llama_cpp("Failed to parse grammar")),
        "json_object": Refusal(400, _llama_cpp("Failed to parse grammar")),
    },
    "lm_studio": {
        "native_tools": Refusal(500, {"error": 'Error rendering prompt with jinja template: "Unknown test: sequence".'}),
        "json_schema": Refusal(400, {"error": "'response_format.type' must be 'text'"}, "json_schema"),
    },
    "openai_compatible": {
        "native_tools": _BY_VLLM["native_tools"],
        "json_schema": _BY_OPENAI["json_schema"],
        "json_object": _BY_OPENAI["json_object"],
    },
}
"""By provider and mode."""
