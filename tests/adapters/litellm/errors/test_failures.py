"""What an exception means: the table row by row on made-up exceptions, and on real ones over the wire."""

from __future__ import annotations

import base64
import re
import time
import traceback
from email.utils import formatdate
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.errors.exceptions import error_body, failed_generation, is_clean, shown_text
from llmcore.adapters.litellm.errors.reading import read
from llmcore.adapters.litellm.errors.table import ROWS, MeaningRow, classify
from llmcore.adapters.litellm.errors.waits import retry_after
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    CapabilityRefused,
    ConfigError,
    ContextOverflow,
    InternalError,
    LLMCoreError,
    ModelNotFound,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    Refused,
    RemoteServerError,
    RequestRefused,
    RequestTooLarge,
    Timeout,
)
from tests.adapters.conftest import KEY, PROVIDERS, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Raw, Step, WireServer


def body(message: str, code: Any = None, kind: str | None = None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "type": kind, **more}}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
GEMINI_WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13s"}
UNSUPPORTED = "Unsupported parameter: 'tools' is not supported with this model."

ON_THE_WIRE: dict[str, tuple[Step, type[LLMCoreError]]] = {
    "bad_key": (Failure(401, body(f"Incorrect API key provided: {KEY}.", "invalid_api_key")), AuthenticationFailed),
    "gemini_bad_key": (Failure(400, body("API key not valid. Pass a valid API key.", 400)), AuthenticationFailed),
    "no_access": (Failure(403, body("no access to this model")), ModelNotFound),
    "forbidden": (Failure(403, body("Forbidden")), AuthenticationFailed),
    "forbidden_in_words": (Failure(403, "Forbidden: this model server is for staff"), AuthenticationFailed),
    "forbidden_by_a_gateway": (Failure(403, "<html>Forbidden</html>"), AuthenticationFailed),
    "no_access_code": (Failure(403, body("Project has no access to `x`", "model_not_found")), ModelNotFound),
    "no_model": (Failure(404, body("The model `x` does not exist", "model_not_found")), ModelNotFound),
    "rate": (Failure(429, body("slow down"), {"retry-after": "3"}), RateLimited),
    "quota": (Failure(429, body(QUOTA, "insufficient_quota")), QuotaExceeded),
    "gemini_rate": (Failure(429, body(QUOTA, 429, details=[GEMINI_WAIT])), RateLimited),
    "too_large": (Failure(413, body("Request too large", "request_too_large")), RequestTooLarge),
    "context": (
        Failure(400, body("This model's maximum context length is 8192 tokens", "context_length_exceeded")),
        ContextOverflow,
    ),
    "filter": (Failure(400, body("The prompt was filtered", "content_filter")), Refused),
    "unsupported": (Failure(400, body(UNSUPPORTED, "unsupported_parameter", param="tools")), CapabilityRefused),
    "bad_value": (
        Failure(400, body("Invalid 'temperature': above maximum value", "above_max", param="temperature")),
        CallerError,
    ),
    "bad_history": (Failure(400, body("No tool output found for function call call_1.", param="input")), RequestRefused),
    "overloaded": (Failure(503, body("overloaded", "overloaded_error")), Overloaded),
    "overloaded_529": (Failure(529, body("Overloaded", kind="overloaded_error")), Overloaded),
    "odd_503": (Failure(503, body("x", kind="invalid_request_error")), Overloaded),
    "broken": (Failure(500, body("boom")), RemoteServerError),
    "gateway": (Failure(502, "<html>Bad gateway</html>"), RemoteServerError),
}


async def failure_of(adapter: LiteLLMAdapter, call: ModelCall, streamed: bool) -> LLMCoreError:
    """The error a call ends with; its text and what it chains hold no key."""
    with pytest.raises(LLMCoreError) as caught:
        await (anext(adapter.stream(call)) if streamed else adapter.complete(call))
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    assert KEY not in shown
    return error


@pytest.mark.anyio
@pytest.mark.parametrize("name", ON_THE_WIRE)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_every_provider_over_the_wire(adapter: LiteLLMAdapter, provider: str, name: str) -> None:
    step, expected = ON_THE_WIRE[name]
    with WireServer([step]) as server:
        for streamed in (False, True):
            error = await failure_of(adapter, call_of(endpoint_at(server, provider)), streamed)
            assert type(error) is expected, (streamed, error)
            assert "127.0.0.1" in str(error), streamed
        assert len(server.requests) == 2, "a request was repeated"


@pytest.mark.anyio
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_html_instead_of_json(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Raw([b"<html>hello</html>"], "text/html")]) as server, pytest.raises(RemoteServerError):
        await adapter.complete(call_of(endpoint_at(server, provider)))


@pytest.mark.anyio
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_without_a_listener_no_events_are_built(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([]) as server:
        endpoint = endpoint_at(server, provider)
    place = re.escape(f"{provider}/{endpoint.model} at http://127.0.0.1")
    with pytest.raises(RemoteServerError, match=place):
        await adapter.complete(call_of(endpoint))
    with pytest.raises(RemoteServerError, match=place):
        await anext(adapter.stream(call_of(endpoint)))


PORTS = (4033, 4030, 40344, 40422, 42942, 5039)
"""Ports whose digits look like HTTP statuses."""


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "gemini", "ollama"])
async def test_no_status_is_read_out_of_a_port(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    with WireServer([]) as server:
        endpoint = endpoint_at(server, provider)
    for port in PORTS:
        there = endpoint.model_copy(update={"base_url": re.sub(r":\d+", f":{port}", endpoint.base_url or "")})
        error = await failure_of(adapter, call_of(there), streamed)
        assert isinstance(error, RemoteServerError)
        assert error.status is None


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "gemini", "ollama"])
async def test_no_status_is_read_out_of_a_servers_words(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    for number in ("403", "429", "404"):
        with WireServer([Failure(502, body(f"upstream 10.0.0.7:{number}1 went away after {number} ms"))]) as server:
            error = await failure_of(adapter, call_of(endpoint_at(server, provider)), streamed)
        assert type(error) is RemoteServerError, number
        assert error.status == 502


@pytest.mark.anyio
async def test_an_error_in_mid_stream_comes_after_what_was_read(adapter: LiteLLMAdapter) -> None:
    frames = [
        b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}\n\n',
        b'data: {"error": {"message": "overloaded", "code": 503, "type": "overloaded_error"}}\n\n',
    ]
    with WireServer([Raw(frames, "text/event-stream")]) as server:
        stream = adapter.stream(call_of(endpoint_at(server, "openai")))
        first = await anext(stream)
        with pytest.raises(Overloaded):
            await anext(stream)
    assert isinstance(first, dict)
    assert first["choices"][0]["delta"]["content"] == "Hel"


class Made(Exception):
    """An exception as LiteLLM makes them."""

    def __init__(self, message: str, status_code: int | None = None, **fields: Any) -> None:
        super().__init__(message)
        self.message, self.status_code = message, status_code
        self.__dict__.update(fields)


def named(kind: str, *bases: type[Exception]) -> type[Made]:
    return type(kind, (Made, *bases), {})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (named("Timeout")("litellm.Timeout"), Timeout),
        (ModuleNotFoundError("No module named 'mcp'"), ConfigError),
        (named("APIConnectionError")("No module named 'mcp'", 500), ConfigError),
        (named("BadRequestError")("LLM Provider NOT provided. Pass in the LLM provider", 400), ConfigError),
        (Made("Insufficient Balance", 402), QuotaExceeded),
        (Made("Not enough credits for this model; upgrade your plan", 402), QuotaExceeded),
        (Made("Your subscription is not active", 402), QuotaExceeded),
        (Made("this model needs a paid plan", 402), ModelNotFound),
        (Made("Your credit balance is too low to access the API", 400), QuotaExceeded),
        (Made("prompt is too long: 210000 tokens > 200000 maximum", 400), ContextOverflow),
        (named("ContextWindowExceededError")("x", 400), ContextOverflow),
        (
            named("AuthenticationError")("The security token included in the request is expired", 403),
            AuthenticationFailed,
        ),
        (Made("The api_key client option must be set", 500), AuthenticationFailed),
        (Made("The provided model identifier is invalid.", 400), ModelNotFound),
        (named("ContentPolicyViolationError")("x", 400), Refused),
        (named("RateLimitError")("x", 429), RateLimited),
        (named("InternalServerError")('x - {"error": {"status": "UNAVAILABLE", "code": 503}}', 500), Overloaded),
        (named("APIConnectionError")("Unable to convert openai tool calls to gemini", 500), InternalError),
        (named("APIConnectionError")("Traceback (most recent call last): KeyError", 500), InternalError),
        (named("APIConnectionError")("Server disconnected", 500), RemoteServerError),
        (named("APIError")("upstream", 502), RemoteServerError),
        (Made("schema is invalid", 422), RequestRefused),
        (named("APIError")("no status"), RemoteServerError),
        (KeyError("anything"), InternalError),
    ],
)
def test_the_table(error: Exception, expected: type[LLMCoreError]) -> None:
    assert type(classify(error)) is expected


def test_the_last_row_always_holds() -> None:
    assert ROWS[-1] == MeaningRow(make=ROWS[-1].make)


@pytest.mark.parametrize(
    ("message", "param", "capability"),
    [
        ("registry.ollama.ai/library/gemma does not support tools", None, "native_tools"),
        ("No endpoints found that support tool use", None, "native_tools"),
        (
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            None,
            "native_tools",
        ),
        ("tools param requires --jinja flag", None, "native_tools"),
        ("Function calling is not enabled for models/gemma-3", None, "native_tools"),
        ("'response_format' of type 'json_schema' is not supported with this model.", None, "json_schema"),
        ("This response_format type is unavailable now", None, "json_schema"),
        ("json mode cannot be combined with tool/function calling", None, "schema_with_tools"),
        ("Thinking may not be enabled when tool_choice forces tool use.", None, "reasoning+tool_choice_required"),
        ("deepseek-reasoner does not support this tool_choice", None, "tool_choice_required"),
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature", "temperature"),
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens", "max_tokens"),
        ("ollama_chat does not support parameters: ['parallel_tool_calls']", None, "parallel_tools"),
        ("temperature: Extra inputs are not permitted", None, "temperature"),
        ('Unknown name "tools": Cannot find field.', None, "native_tools"),
        ("This model does not support image input", None, "images"),
    ],
)
def test_what_was_refused_is_named(message: str, param: str | None, capability: str) -> None:
    error = classify(Made(message, 400, body={"message": message, "param": param}))
    assert isinstance(error, CapabilityRefused)
    assert error.capability == capability


@pytest.mark.parametrize(
    "message",
    ["Unsupported image format: webp", "That stop is not supported by our bus line", "not supported"],
)
def test_other_words_name_no_capability(message: str) -> None:
    assert not isinstance(classify(Made(message, 400)), CapabilityRefused)


def test_a_format_is_that_of_the_mode() -> None:
    call = call_of(Endpoint(provider="openai", model="m"), mode="json_object")
    message = "Unsupported parameter: 'response_format' is not supported with this model."
    error = classify(Made(message, 400, body={"message": message, "param": "response_format"}), call)
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "json_object"


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"retry-after": "3"}, [], 3.0),
        ({"retry-after": "0.5"}, [], 0.5),
        ({}, [GEMINI_WAIT], 13.0),
        ({"retry-after": "soon"}, [], None),
        ({"retry-after": "-4"}, [], None),  # "at once", of a server that refused the request just now
        ({"retry-after": "0"}, [], None),
        ({}, [], None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after(headers: dict[str, str], details: list[Any], seconds: float | None, status: int) -> None:
    error = classify(Made("x", status, litellm_response_headers=headers, body={"details": details}))
    assert isinstance(error, RateLimited | Overloaded)
    assert error.retry_after == seconds


def test_retry_after_as_a_date() -> None:
    date = formatdate(time.time() + 60, usegmt=True)
    error = classify(Made("x", 429, litellm_response_headers={"retry-after": date}))
    assert isinstance(error, RateLimited)
    assert error.retry_after == pytest.approx(60, abs=5)


def test_a_body_is_found_wherever_it_stands() -> None:
    inner = '{"error": {"code": "c", "message": "m"}}'
    assert error_body(Made("x", body={"error": {"code": "c"}})) == {"code": "c"}
    assert error_body(Made(f"GroqException - {inner} and more"))["code"] == "c"
    outer = Made("AnthropicException")
    outer.__cause__ = Made("")
    outer.__cause__.message = inner.encode()  # type: ignore[assignment]  # so LiteLLM's streams have it
    assert error_body(outer)["code"] == "c"
    assert error_body(Made("{" * 100_000)) == {}


def test_failed_generation() -> None:
    assert failed_generation(Made("x", body={"error": {"failed_generation": "text"}})) == {"failed_generation": "text"}
    assert failed_generation(Made("x", body={"error": {"code": "other", "failed_generation": None}})) is None
    for said, text in ((None, ""), ({"a": 1}, '{"a": 1}'), ([1], "[1]"), (7, "")):
        body = {"error": {"code": "tool_use_failed", "failed_generation": said}}
        assert failed_generation(Made("x", body=body)) == {"code": "tool_use_failed", "failed_generation": text}


def test_of_a_failed_generation_that_was_cut_nothing_is_read() -> None:
    cut = '{"error": {"message": "no", "code": "tool_use_failed", "failed_generation": "<function=f>{}</function>' + "x" * 100
    found = failed_generation(Made(f"GroqException - {cut}"))
    assert found is not None
    assert found["failed_generation"] == ""


@pytest.mark.parametrize("value", ["inf", "1e400", "nan", "-inf", "later", ""])
def test_a_wait_that_is_no_time_is_ignored(value: str) -> None:
    error = Made("slow", 429)
    for name in ("retry-after", "retry-after-ms"):
        error.litellm_response_headers = {name: value}  # type: ignore[attr-defined]
        assert retry_after(error, {}) is None
    error.litellm_response_headers = {"retry-after-ms": "1500", "retry-after": "9"}  # type: ignore[attr-defined]
    assert retry_after(error, {}) == 1.5


def test_our_own_errors_pass() -> None:
    error = ConfigError("x")
    assert classify(error) is error


def test_secrets_are_scrubbed() -> None:
    error = classify(Made(f"bad key {KEY}; url http://h/p?key=abcdefgh&x=1", 401), scrubber=Scrubber([KEY]))
    assert KEY not in str(error)
    assert "abcdefgh" not in str(error)


ECHOES = {
    "plain": KEY,
    "url": "".join(f"%{ord(letter):02x}" for letter in KEY),
    "base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "header": "gate-Secret-99",
}


def everything_shown(error: BaseException) -> str:
    """What printing, logging or inspecting an error and all it is chained to shows."""
    parts = [str(error), repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "__notes__", None))]
    parts += traceback.format_exception(error)
    parts += [everything_shown(inner) for inner in (error.__cause__, error.__context__) if inner is not None]
    return "\n".join(parts)


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_echo_of_a_key_gets_out(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    message = f"refused: {'; '.join(ECHOES.values())}"
    with WireServer([Failure(400, body(message, message, param=message))]) as server:
        endpoint = endpoint_at(server, provider).model_copy(update={"extra_headers": {"X-Gate": ECHOES["header"]}})
        with pytest.raises(LLMCoreError) as caught:
            await (anext(adapter.stream(call_of(endpoint))) if streamed else adapter.complete(call_of(endpoint)))
    shown = everything_shown(caught.value)
    assert "refused: " in str(caught.value)
    assert [name for name, echo in ECHOES.items() if echo in shown] == []
    assert caught.value.__context__ is None


@pytest.mark.anyio
async def test_an_error_without_secrets_keeps_its_cause(adapter: LiteLLMAdapter) -> None:
    with WireServer([Failure(400, body("no"))]) as server, pytest.raises(LLMCoreError) as caught:
        await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert type(caught.value.__cause__).__name__ == "BadRequestError"


def test_what_an_error_shows_reaches_notes_contexts_and_groups() -> None:
    error = ExceptionGroup("outer", [ValueError("in a group")])
    error.__context__ = KeyError("in a context")
    error.__context__.add_note("in a note")
    error.__cause__ = Made("x", body={"deep": "in a body"})
    error.__cause__.__context__ = error
    shown = shown_text(error)
    assert [place for place in ("group", "context", "note", "body") if f"in a {place}" not in shown] == []


def test_an_endless_error_is_looked_through_as_far_as_it_is_shown() -> None:
    error = classify(Made("x" * 1990 + KEY + "%41" * 1_000_000, 500), scrubber=Scrubber([KEY]))
    assert str(error).startswith("x" * 1990 + "[secret]")
    assert len(str(error)) <= 2000
    assert not is_clean(Made("%41" * 1_000_000), Scrubber([KEY]))
    assert is_clean(Made("short"), Scrubber([KEY]))


@pytest.mark.parametrize("place", ["{words} {long}", "{long} {words}"])
def test_of_a_long_message_both_ends_are_read(place: str) -> None:
    long = "w7x " * 500_000
    message = place.format(words="prompt is too long: 210000 tokens > 200000 maximum", long=long)
    assert type(classify(Made(message, 400))) is ContextOverflow
    assert len(read(Made(message, 400, body=body(message)), None, None, None).text) < 100_000
