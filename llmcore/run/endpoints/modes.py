"""From a plan to a `ModelCall`: what the mode means for one model, the dialect that its prompt teaches, and its limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, TypedDict, Unpack

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.parts import compatible_parts, is_refused_set, joined_parts, without_parts
from llmcore.models.config import ModelConfig
from llmcore.normalizer import dialect
from llmcore.run.output.answer_type import OutputSpec
from llmcore.support.values.copies import made, updated
from llmcore.types import AttemptReason, CallWriter, ConfigError, OutputMode, Request, ToolDefinition
from llmcore.types.requests import TextCalls

__all__ = ["CallFields", "DialectWriter", "build_call", "taught_dialect", "usable_modes", "why_unusable", "writer_for"]

_NEEDED_CAPABILITIES: tuple[tuple[str, OutputMode], ...] = (
    ("native_tools", "native_tools"),
    ("tool_results", "native_tools"),
    ("json_schema", "json_schema"),
    ("json_object", "json_object"),
)
"""Pairs of a capability and the mode that needs it."""


def usable_modes(
    config: ModelConfig, can: Capabilities, tools: int = 0, *, media: Collection[str] = ()
) -> tuple[OutputMode, ...]:
    """The model's modes in order of preference, without those known to be refused (in general, for this many `tools`, or beside
    this `media`). If none is left: `text`.

    If the endpoint writes its calls as text (`emits_text_calls`, or `expect_xml` in the registry), `text` comes first. A
    server that cannot parse such calls rarely renders tools and results better than llmcore's prompt. An order given in the
    registry is kept.
    """
    refused = {mode for needed, mode in _NEEDED_CAPABILITIES if getattr(can, needed) is False}
    for part in media:
        refused.update(mode for mode in config.modes if joined_parts((mode, part)) in can.unsupported_parameters)
    modes: list[OutputMode] = [mode for mode in config.modes if mode not in refused]
    if can.max_tools is not None and tools > can.max_tools:
        modes = [mode for mode in modes if mode != "native_tools"]
    if can.emits_text_calls and "text" in modes and not config.orders_modes:
        modes = ["text", *(mode for mode in modes if mode != "text")]
    return tuple(modes) or ("text",)


def why_unusable(mode: OutputMode, config: ModelConfig, can: Capabilities, tools: int, learnt: Mapping[str, bool]) -> str:
    """Why `usable_modes` leaves the mode out. `learnt`: what the endpoint's replies showed."""
    if mode not in config.modes:
        return "it is none of the model's modes there"
    for needed in (capability for capability, of in _NEEDED_CAPABILITIES if of == mode and getattr(can, capability) is False):
        return "the endpoint was seen not to take it" if learnt.get(needed) is False else f"`{needed}` is off for the endpoint"
    return f"{tools} tools are offered, and it takes {can.max_tools} at most"


class DialectWriter:
    """A dialect of the normaliser as the `CallWriter` that adapters get."""

    __slots__ = ("_write", "dialect")

    def __init__(self, name: str) -> None:
        self.dialect = name
        self._write = dialect(name).write

    def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        return self._write([(name, arguments)])

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles hold the name, because the writing function cannot be pickled."""
        return writer_for, (self.dialect,)


@cache
def writer_for(name: str) -> CallWriter:
    """The writer of a dialect. Raises `ConfigError` for an unknown name."""
    return DialectWriter(name)


class CallFields(TypedDict, total=False):
    """Fields of a `ModelCall` that the turn knows."""

    streamed: bool
    enforce_limits: bool
    reason: AttemptReason | None
    detail: str
    text_calls: TextCalls
    own_dialects: frozenset[str] | None


def build_call(
    config: ModelConfig,
    can: Capabilities,
    mode: OutputMode,
    request: Request,
    tools: Sequence[ToolDefinition],
    output: OutputSpec | None,
    *,
    endpoint: Endpoint | None = None,
    without: frozenset[str] = frozenset(),
    **fields: Unpack[CallFields],
) -> ModelCall:
    """The call of one request. `endpoint` is that of `config`; pass it if you have it. The model's maximum caps `max_tokens`.

    The call omits the parts `without`, and one part of each set that the endpoint
    refuses together. Raises `ConfigError` for an unknown dialect.
    """
    endpoint = endpoint or config.endpoint
    ceiling = config.max_output_tokens or can.max_output_tokens
    offered = tuple(tools)
    changes: dict[str, Any] = {"model": config.alias, "tools": offered}
    if ceiling and request.max_tokens and request.max_tokens > ceiling:
        changes["max_tokens"] = ceiling
    call = made(
        ModelCall,
        endpoint=endpoint,
        request=updated(request, changes),
        mode=mode,
        tools=offered,
        output_schema=output.schema if output else None,
        capabilities=can,
        writer=None if mode == "native_tools" else writer_for(taught_dialect(can, config)),
        strict_json_instructions=config.strict_json_instructions,
        reasoning_open=config.reasoning_open,
        neutralise_tokens=_neutralises_tokens(config, endpoint),
        timeout=config.timeout,
        first_token_timeout=config.first_token_timeout,
        **fields,
    )
    accepted = compatible_parts(call, can) if any(map(is_refused_set, can.unsupported_parameters)) else can
    accepted = without_parts(accepted, without) if without else accepted
    return (
        call
        if accepted is can
        else updated(call, {"capabilities": accepted, "streamed": call.streamed and accepted.streaming is not False})
    )


def _neutralises_tokens(config: ModelConfig, endpoint: Endpoint) -> bool:
    """Whether special tokens in a request's text are broken up: as the registry says, else as the provider's row does."""
    if config.neutralise_tokens is not None:
        return config.neutralise_tokens
    return provider_of(endpoint).tokenizes_words


def taught_dialect(can: Capabilities, config: ModelConfig) -> str:
    """The dialect that the prompt teaches. If the known dialect of a model does not exist, it is `hermes`. Raises `ConfigError`
    if the user named one that does not exist."""
    name = can.text_dialect
    try:
        dialect(name)
    except ConfigError:
        if config.text_dialect is not None:
            raise
        return "hermes"
    return name
