"""The interface of layer 1: the `Adapter` protocol and its data types.

An adapter makes exactly one request per `complete` or `stream`. It never retries and never runs a tool. It raises only errors
of `llmcore.types` (see `errors`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    SkipValidation,
)

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.adapters.secrets.request_secrets import header_secrets
from llmcore.adapters.secrets.urls import checked_url, shown_url
from llmcore.support.values.bounds import Amount
from llmcore.support.values.copies import Value
from llmcore.types import AttemptReason, CallWriter, JsonSchema, OutputMode, Reply, Request, ToolDefinition
from llmcore.types.input.headers import Headers, check_header_value
from llmcore.types.requests import TextCalls

__all__ = [
    "IMPORTING",
    "NOTHING_SENT",
    "OWN_ADAPTER",
    "PART_OF_MAX_TOKENS",
    "Adapter",
    "ApiKey",
    "BaseUrl",
    "Capabilities",
    "Endpoint",
    "ModelCall",
    "Prices",
    "SecretHeaders",
    "urls_of_environment",
]

NOTHING_SENT = "nothing was sent"
IMPORTING = f"{NOTHING_SENT}, LiteLLM was being imported: await llmcore.warm_up() before the first run"
"""The message of the `CancelledError` of an adapter that was cancelled before it sent its request."""
PART_OF_MAX_TOKENS = "part of max_tokens"
"""What is dropped if a request asks for more tokens than the model writes, or than its window still holds."""


def _usable_key(key: SecretStr) -> SecretStr:
    """Raises `ConfigError` for a key that no header can contain."""
    check_header_value("api_key", key.get_secret_value())
    remember([key.get_secret_value()])
    return key


def _remembered(headers: dict[str, str]) -> dict[str, str]:
    remember(header_secrets(headers))
    return headers


ApiKey = Annotated[SecretStr, AfterValidator(_usable_key)]
"""A key. Raises `ConfigError` for one that cannot be sent: with a line break from a file, or a non-ASCII character."""
BaseUrl = Annotated[str, AfterValidator(checked_url), PlainSerializer(shown_url)]
"""A server's URL with http:// or https://. A URL with a user name, a password or a key is refused. Its query parameters are
not shown."""
SecretHeaders = Annotated[Headers, AfterValidator(_remembered)]
"""Headers of a request. Logs never show their values."""


OWN_ADAPTER = frozenset({"custom", "fake", "replay"})
"""Providers whose requests the caller's adapter makes. They may have any model."""


def urls_of_environment(provider: str) -> Iterator[str]:
    """Yield the values of `OPENAI_BASE_URL`, `GROQ_API_BASE` and the like, in LiteLLM's order."""
    prefix = provider.upper()
    for name in ("BASE_URL", "API_BASE"):
        if url := os.environ.get(f"{prefix}_{name}"):
            yield url


class Prices(Value):
    """US dollars per million tokens. None means unknown, never free.

    Raises `ConfigError` for an unknown field, and for anything but a finite number of at least 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Amount | None = None
    output: Amount | None = None
    cache_read: Amount | None = None
    cache_write: Amount | None = None


class Endpoint(Value):
    """One model at one server: what an adapter needs to reach it. Shown and dumped without secrets."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    provider: str
    """A name of the provider table (`adapters.providers.PROVIDERS`), LiteLLM's name for a provider without a row, or
    `custom`."""
    model: str
    alias: str = ""
    api_key: ApiKey | None = Field(default=None, repr=False)
    base_url: BaseUrl | None = Field(default=None, repr=False)
    context_window: int | None = None
    max_output_tokens: int | None = None
    prices: Prices | None = None
    extra_headers: SecretHeaders = Field(default_factory=dict[str, str], repr=False)

    @property
    def key(self) -> str:
        """The key of learned capabilities: base URL (without its query) and model, since capabilities belong to the endpoint,
        not to the model."""
        place = self.place
        if "?" in place:
            place = place.partition("?")[0]
        return f"{place.rstrip('/')}|{self.model}"

    @property
    def place(self) -> str:
        """The server in a form that may be shown: the base URL, else the environment's, which LiteLLM then uses, else the
        provider's name."""
        if self.base_url:
            return shown_url(self.base_url)
        for url in () if self.provider in OWN_ADAPTER else urls_of_environment(self.provider):
            return shown_url(url)
        return self.provider

    @property
    def shown_url(self) -> str:
        """The base URL in a form that may be shown. Empty without one."""
        return shown_url(self.base_url) if self.base_url else ""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        yield from super().__repr_args__()
        yield "base_url", self.shown_url or None


class Capabilities(Value):
    """What an endpoint can do. None means unknown, and is treated as True until refused."""

    model_config = ConfigDict(frozen=True)

    native_tools: bool | None = None
    json_schema: bool | None = None
    json_object: bool | None = None
    schema_with_tools: bool | None = None
    parallel_tools: bool | None = None
    tool_results: bool | None = None
    """Whether the server accepts results of native calls. If not, `native_tools` is not used."""
    tool_choice_required: bool | None = None
    tool_choice_named: bool | None = None
    streaming: bool | None = None
    streaming_with_tools: bool | None = None
    """Whether native tools are accepted in a streamed request."""
    reasoning: bool | None = None
    images: bool | None = None
    """Whether messages may hold images."""
    files: bool | None = None
    """Whether messages may hold documents, such as PDFs."""
    audio: bool | None = None
    """Whether messages may hold audio recordings."""
    web_search: bool | None = None
    """Whether the provider searches the web itself if `Request.allow_web_search` is set."""
    emits_text_calls: bool | None = None
    """Whether the model is known to write calls as text although native tools are offered. The `text` mode then comes before
    `native_tools`, unless the registry sets an order."""
    context_window: int | None = None
    max_output_tokens: int | None = None
    max_tools: int | None = None
    text_dialect: str = "hermes"
    """The registry name of the text dialect that this model's family writes best."""
    unsupported_parameters: frozenset[str] = frozenset()
    """Request parameters (`temperature`, `stop`, ...) that the endpoint is known to refuse. The adapter omits them."""

    def updated(self, other: Capabilities) -> Capabilities:
        """Return these with the known fields of `other` laid over them."""
        if not other.model_fields_set:
            return self
        return self.model_copy(update=other.model_dump(exclude_none=True, exclude_unset=True))


class ModelCall(Value):
    """One resolved request: its endpoint, its output mode, and what the prompt must describe."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    endpoint: Endpoint
    request: Request
    mode: OutputMode = "native_tools"
    tools: tuple[ToolDefinition, ...] = ()
    output_schema: JsonSchema | None = None
    """The JSON Schema of the typed final output, None for plain text.

    The adapter decides how to request it (`request.output.output_plan`): by `response_format`, or by a tool called
    `final_result`, whose call holds the final output. If tools are offered too, it is the tool.
    """
    capabilities: SkipValidation[Capabilities | None] = None
    """What the endpoint can do, as the caller knows it, including the registry. None: the adapter's own knowledge."""
    writer: SkipValidation[CallWriter | None] = None
    """Writes example calls and history calls as text in the prompted modes. None in native mode."""
    streamed: bool = False
    """Whether `stream` makes the request, not `complete`."""
    strict_json_instructions: bool = False
    reasoning_open: bool = False
    """Whether the user says that the model's chat template opens the reasoning, so that replies start inside it."""
    neutralise_tokens: bool = False
    """Whether special tokens in the request's words are broken before it reaches the adapter, and restored in the reply."""
    text_calls: TextCalls = "standard"
    """Which calls in the reply's text count."""
    own_dialects: frozenset[str] | None = None
    """The dialects of a model that answers with native calls. A call in another dialect is a guess unless it is the whole
    message. None: nothing is known of the endpoint."""
    enforce_limits: bool = False
    """Whether to refuse tools over the unverified limits too, which otherwise only warn."""
    timeout: float = 60.0
    """Seconds for each read, so also between two parts of a stream. Deadlines for the whole call are the caller's."""
    first_token_timeout: float | None = None
    """Seconds until a stream's first content. None: `timeout` applies to the first read too."""
    call_id: str = ""
    reason: AttemptReason | None = None
    """Why this request is made, for recordings. None if unknown."""
    detail: str = ""
    """The recorded problem behind `reason`. Empty if there is none or it is unknown."""
    refused: SkipValidation[Mapping[str, str]] = Field(default_factory=dict[str, str], repr=False, exclude=True)
    """Requests refused before in the same run, by `LLMCoreError.sent_as`, with the refusal's message. None of them is sent
    again."""


@runtime_checkable
class Adapter(Protocol):
    """The protocol of layer 1. An adapter may also have the following members.

    `request_key(call) -> str` is equal for two calls that would send the same request. A refused request is then never sent
    again in the same run, in any mode.

    `warm_up(call)` is a coroutine method that is awaited before each request. It does what must be done once per process, and
    its time counts in no deadline. It raises the same errors as `complete`.

    `lets_exceptions_through = True` marks a test double that runs the test's own code. What it raises that is no
    `LLMCoreError` ends the run unchanged. Any other adapter's exception becomes an `InternalError`.

    `heeds_cancellation = True` marks an adapter that ends when it is cancelled. Otherwise each wait for it is a separate
    task. If that continues after the deadline or a cancellation, the run abandons it.
    """

    @property
    def provider_id(self) -> str: ...

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        """Return what is known of the endpoint without a request: llmcore's table, then LiteLLM's."""
        ...

    async def complete(self, call: ModelCall) -> Reply:
        """Make the request once. Raises an `LLMCoreError`. A reply's raw body is what the provider sent."""
        ...

    def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        """Make the request once, streamed. Yield the provider's stream events (dicts) or text chunks as they arrive.

        The last item may be a `{"llmcore": {...}}` dict with what only the end contains: `usage` (a `Usage` as a dict) and
        `ended` (True: the reply is complete). Without a finish reason or an end mark of the wire format (`message_stop`,
        `"done": true`, ...), dict events count as a cut stream, and nothing of it is used, unless `ended` is True. Set
        `ended` only if the server ended the reply, as with `data: [DONE]`. Text chunks are trusted to be complete.

        Raises an `LLMCoreError`; a `RemoteServerError` if the stream was cut. Closing the iterator closes the connection.
        """
        ...
