"""The transcript format: one recorded run of a model, and the expected results.

Each run is one JSON object on one line; docs/transcripts.md describes it. Rules: unknown keys are kept
(`model_extra`), so you can read, change and write a file. A *flat* line has the reply at its top level and becomes a
run of one exchange. A body that is null, empty or garbage counts as a reply. Nothing here reads files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from llmcore.support.values.format_versions import FormatVersions
from llmcore.support.values.narrowing import is_object
from llmcore.types import AttemptReason, JsonSchema
from llmcore.types.limits import RECORDING_LIMITS
from llmcore.types.requests import TextCalls

__all__ = ["REPLY_KEYS", "TRANSCRIPT_VERSIONS", "AttemptNote", "Exchange", "Expectation", "ExpectedCall", "Transcript"]

REPLY_KEYS = ("response", "chunks", "sse", "text", "error")
"""An exchange has its reply under one of these keys. A stream that ended in an error may have `error` too."""
_STREAM_KEYS = ("chunks", "sse")

_FLAT_EXCHANGE_KEYS = (*REPLY_KEYS, "request", "stream", "finish_reason", "reasoning_open")

_BOUNDED: Any = Field(max_length=RECORDING_LIMITS.exchanges, fail_fast=True)
"""Bounds lists, since a million items or errors about them would fill the memory."""


class _Kept(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class ExpectedCall(_Kept):
    """An expected call. `arguments` None: the arguments are expected to be unreadable."""

    name: str
    arguments: dict[str, Any] | None


class Expectation(_Kept):
    """What a reply should contain. A field left out, or null, is not judged. `calls: []` = no call is allowed."""

    calls: Annotated[list[ExpectedCall], _BOUNDED] | None = None
    content: str | None = None
    value: Any = None
    """The typed output. Null is a value, so leave it out if it should not be judged."""

    @property
    def judges_value(self) -> bool:
        return "value" in self.model_fields_set

    def over(self, other: Expectation | None) -> Expectation:
        """This expectation, with the other's values for the fields it leaves out."""
        if other is None:
            return self
        given = {key: value for key, value in self if key in self.model_fields_set and (value is not None or key == "value")}
        return other.model_copy(update=given)


class AttemptNote(_Kept):
    """Which request this was. `mode` is an output mode (`native_tools`, ...), empty if unknown."""

    model: str = ""
    mode: str = ""
    reason: AttemptReason = "first"
    text_calls: TextCalls = "standard"
    """Which calls in text the run accepted."""
    own_dialects: frozenset[str] | None = None
    """What the run assumed as the model's own dialects; None if it knew nothing about the endpoint."""


class Exchange(_Kept):
    """One request and its one reply.

    The reply is one of: `response` (a body; a str with `stream` true is the raw SSE or NDJSON text), `chunks` (a
    stream's parsed events), `sse` (a stream's raw text), `text` (the model's text, without a provider's body), `error`
    (the request failed; with `chunks` or `sse`: the error that ended the stream).
    """

    attempt: AttemptNote = Field(default_factory=AttemptNote)
    request: Any = None
    response: Any = None
    chunks: list[Any] | None = None
    sse: str | None = None
    text: str | None = None
    error: Any = None
    stream: bool = False
    finish_reason: str | None = None
    """Why the model stopped, for replies that do not contain the reason (`text`)."""
    reasoning_open: bool = False
    """The prompt opened the reasoning, so the text starts inside it."""
    expect: Expectation | None = None

    @model_validator(mode="after")
    def _has_a_reply(self) -> Exchange:
        if not any(key in self.model_fields_set for key in REPLY_KEYS):
            raise ValueError(f"holds no reply: expected one of {', '.join(REPLY_KEYS)}")
        given = [key for key in REPLY_KEYS if getattr(self, key) is not None]
        if len(given) > 1 and not (len(given) == 2 and given[0] in _STREAM_KEYS and given[1] == "error"):
            raise ValueError(f"holds several replies: {', '.join(given)}; keep one")
        return self

    @property
    def kind(self) -> str:
        """Which of `REPLY_KEYS` has the reply. For a stream that ended in an error, the key of its events."""
        given = [key for key in REPLY_KEYS if key in self.model_fields_set]
        return next((key for key in given if getattr(self, key) is not None), given[0])


class Transcript(_Kept):
    """One run: its exchanges in order, and what the last one should contain.

    `provenance`: where the replies come from (`llmcore.transcripts.scoring.families.is_real_provider`). `level`: the level
    of the recording (`wire`: bytes, `litellm`: dicts). `tools` None = the offered tools are unknown. `output_schema`: the
    type of `expect.value`.
    """

    id: str = ""
    provider: str = ""
    model: str = ""
    provenance: str | None = None
    level: str | None = None
    tools: list[Any] | None = None
    output_schema: JsonSchema | None = None
    exchanges: Annotated[list[Exchange], _BOUNDED] = Field(min_length=1)
    expect: Expectation | None = None

    _path: Path | None = PrivateAttr(default=None)
    _line: int | None = PrivateAttr(default=None)
    _flat: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _one_exchange_at_the_top(cls, data: Any) -> Any:
        return _from_flat(data) if is_object(data) else data

    @field_validator("id", "provider", "model", mode="before")
    @classmethod
    def _text_of_scalars(cls, value: Any) -> Any:
        return "" if value is None else str(value) if isinstance(value, int | float) else value

    @property
    def path(self) -> Path | None:
        """The file it was read from."""
        return self._path

    @property
    def line(self) -> int | None:
        """The line of the file at which it begins, counted from 1."""
        return self._line

    @property
    def flat(self) -> bool:
        """Is it a single reply without the requests around it? Such a reply does not show whether it was a retry."""
        return self._flat

    @property
    def label(self) -> str:
        return self.id or (f"{self._path}:{self._line}" if self._line else str(self._path or "-"))

    def placed(self, path: Path, line: int | None, *, flat: bool) -> Transcript:
        """Set the place it was read from. Used by readers. Returns self."""
        self._path, self._line, self._flat = path, line, flat
        return self

    def expectation(self, index: int) -> Expectation | None:
        """What the exchange at `index` should contain: its own `expect`, plus the run's for the last exchange."""
        own = self.exchanges[index].expect
        if index != len(self.exchanges) - 1 or self.expect is None:
            return own
        return own.over(self.expect) if own else self.expect


_FORMAT = "llmcore.transcript"
TRANSCRIPT_VERSIONS = FormatVersions("transcripts")


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """The data in the current version. The `version` of a flat line without `format` is a key of somebody else's."""
    return TRANSCRIPT_VERSIONS.upgraded(data) if "exchanges" in data or data.get("format") == _FORMAT else data


def _from_flat(data: dict[str, Any]) -> dict[str, Any]:
    data = _upgraded(data)
    if "exchanges" in data:
        beside = [key for key in REPLY_KEYS if data.get(key) is not None]
        if beside:
            raise ValueError(f"holds both `exchanges` and a reply ({', '.join(beside)}); keep one")
        return data
    exchange = {key: data[key] for key in _FLAT_EXCHANGE_KEYS if key in data}
    if not any(key in exchange for key in REPLY_KEYS):
        raise ValueError(f"is no transcript: expected `exchanges`, or one of {', '.join(REPLY_KEYS)}")
    run = {key: value for key, value in data.items() if key not in exchange}
    run["exchanges"] = [exchange]
    calls = next((data[key] for key in ("expected_calls", "calls") if data.get(key) is not None), None)
    if calls is not None and run.get("expect") is None:
        run["expect"] = {"calls": calls}
    return run
