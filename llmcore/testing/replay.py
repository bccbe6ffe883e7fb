"""`ReplayAdapter`: replays a recorded run, exchange by exchange, bit for bit at the level of the recording."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import known_capabilities
from llmcore.adapters.providers import IN_PROCESS
from llmcore.adapters.wire.error_events import error_in
from llmcore.adapters.wire.streaming import EventStream
from llmcore.support.code.test_failures import mark_test_failure
from llmcore.support.values.narrowing import is_list, objects_in
from llmcore.testing.failures import failed_generation_body, recorded_error
from llmcore.testing.fake import why
from llmcore.testing.matching import difference, users_in
from llmcore.testing.replies import chunks_of, raise_if_error, raise_if_no_reply
from llmcore.testing.usages import identity_in, usage_of_body
from llmcore.transcripts import Exchange, Transcript, TranscriptError, joined, read_transcripts, split_events
from llmcore.transcripts.formats.building import first_problem
from llmcore.types import DEFAULT_LIMITS, ConfigError, LLMCoreError, RemoteServerError, Reply, Usage
from llmcore.types.input.argument_errors import in_words

__all__ = ["ReplayAdapter", "runs_in"]

_ENDED: dict[str, Any] = {"llmcore": {"ended": True}}
"""What an adapter sends after a stream that was not cut off."""
_RUNS = "litellm"
"""The level of llmcore's own recordings: each line is a run."""


@in_words(only=("__init__",))
class ReplayAdapter:
    """Answers the n-th request with the n-th exchange of a transcript.

    `transcript`: a `Transcript`, its dict, or the path of a file. Of a file, the first run is replayed, or the one that
    `run` names by its id or an exchange's. If exchanges recorded one by one (cassette, proxy) continue each other, they
    are one run (`llmcore.transcripts.joined`). A recorded error is raised as its llmcore error. Usage, id and model come
    from the recording. `requests` holds the requests; `finished` is True if all exchanges were used.

    If an exchange has a request and yours differs, a `ConfigError` names the first difference
    (`llmcore.testing.matching` says what is compared); with `match="none"` it is answered anyway. A request after the
    last exchange raises a `ConfigError` that says why it was made.
    """

    provider_id = "replay"
    heeds_cancellation = True

    def __init__(
        self,
        transcript: Transcript | Mapping[str, Any] | str | os.PathLike[str],
        *,
        run: str | None = None,
        match: Literal["messages", "none"] = "messages",
    ) -> None:
        if match not in ("messages", "none"):  # pyright: ignore[reportUnnecessaryContains]  # callers without a type checker
            raise ConfigError(f"match must be 'messages' or 'none', not {match!r}")
        self._match = match
        self._users = 0
        self.transcript = _transcript(transcript, run)
        self.endpoint = Endpoint(
            provider=self.transcript.provider or "replay", model=self.transcript.model or "replay", alias="replay"
        )
        self.calls: list[ModelCall] = []
        self.differs = ""
        """How the last request differs from the recorded one; "" if it does not."""

    @property
    def requests(self) -> list[Any]:
        return [call.request for call in self.calls]

    @property
    def finished(self) -> bool:
        return len(self.calls) >= len(self.transcript.exchanges)

    def reset(self) -> None:
        """Start the run anew."""
        self.calls.clear()

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        """Nothing is known of a server. A model of this process is asked as it was when it was recorded."""
        return known_capabilities(endpoint) if endpoint.provider in IN_PROCESS else Capabilities()

    async def complete(self, call: ModelCall) -> Reply:
        exchange = self._next(call)
        raw = _raw(exchange)
        for event in raw if is_list(raw) else ():
            raise_if_error(event)
        if (error := _ending(exchange)) is not None:
            raise error
        id_, model = identity_in(raw)
        return Reply(
            raw=_frozen(raw),
            provider=self.transcript.provider,
            model=model or exchange.attempt.model or self.transcript.model,
            id=id_,
            usage=usage_of_body(raw) or Usage(),
            reasoning_open=exchange.reasoning_open,
        )

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        exchange = self._next(call)
        raw = _raw(exchange)
        for chunk in chunks_of(raw, None):
            raise_if_error(chunk)
            yield chunk
        if (error := _ending(exchange)) is not None:
            raise error
        id_, model = identity_in(raw)
        usage = usage_of_body(raw)
        note = {"id": id_, "model": model, "usage": usage.model_dump() if usage else None, "ended": not isinstance(raw, list)}
        yield {"llmcore": {key: value for key, value in note.items() if value}}

    def _next(self, call: ModelCall) -> Exchange:
        exchanges, number = self.transcript.exchanges, len(self.calls) + 1
        if number > len(exchanges):
            count = f"{len(exchanges)} {'exchange' if len(exchanges) == 1 else 'exchanges'}"
            words = f"the transcript {self.transcript.label} holds {count} and this is request {number}, {why(call)}"
            raise mark_test_failure(ConfigError(words))
        self.calls.append(call)
        exchange = exchanges[number - 1]
        if self._match == "messages":
            self._compare(call, exchange, number)
        return exchange

    def _compare(self, call: ModelCall, exchange: Exchange, number: int) -> None:
        begins = number == 1 or call.reason == "first"
        if begins:
            self._users = users_in(call.request)
        users = None if begins else self._users
        found = difference(call, exchange, users=users, same_model=call.endpoint.alias == self.endpoint.alias)
        if found is not None:
            self.differs = found
            words = (
                f"the transcript {self.transcript.label} was recorded for another request than request {number}, {why(call)}: "
                f"{found}. Record it again, or give match='none' to replay it anyway"
            )
            raise mark_test_failure(ConfigError(words))

    def __repr__(self) -> str:
        return f"ReplayAdapter({self.transcript.label!r}: {len(self.calls)} of {len(self.transcript.exchanges)} exchanges used)"


def _frozen(raw: object) -> object:
    """A stream's events as a tuple, which marks a stream; a body unchanged."""
    return tuple(cast("list[object]", raw)) if isinstance(raw, list) else raw


def _raw(exchange: Exchange) -> Any:
    """The recorded reply: a body, text, or the list of a stream's events. Raises a recorded error."""
    if exchange.kind == "error":
        body = failed_generation_body(exchange.error)
        if body is None:
            raise recorded_error(exchange.error)
        return body
    if exchange.kind == "chunks":
        return [*map(_readable, exchange.chunks or []), *_quoted(exchange)]
    if exchange.kind == "text":
        return exchange.text or ""
    if exchange.kind == "sse" or (exchange.stream and isinstance(exchange.response, str)):
        text = exchange.sse or "" if exchange.kind == "sse" else str(exchange.response)
        return [*_events(text), *_quoted(exchange)]
    if exchange.response is None:
        raise RemoteServerError("the recorded body is null, which is not a reply")
    raise_if_no_reply(exchange.response)
    return exchange.response


def _events(text: str) -> list[Any]:
    """The events of a recorded stream, read as on the wire: up to the first one that is an error or unreadable."""
    stream = EventStream(DEFAULT_LIMITS, binary=False, known=True)
    read: list[Any] = [*stream.feed(text.encode("utf-8", "surrogatepass")).events, *stream.finish().events]
    if stream.error is not None:
        return [*read, failed_generation_body({"error": stream.error.body}) or stream.error]
    if stream.failure:
        return [*read, RemoteServerError(stream.failure)]
    if not read:  # one JSON text, whose objects are the events
        return [*split_events(text)[0]]
    return [*read, _ENDED] if stream.end.seen else read


def _readable(chunk: Any) -> Any:
    """A recorded chunk, if it is text or an object. Else the error that it contains, or an error that it is unreadable."""
    if isinstance(chunk, str | dict):
        return cast("Any", chunk)
    error = next((error for item in objects_in(chunk) if (error := error_in(item))), None)
    return error or RemoteServerError("an event of the stream cannot be read (it is no JSON object)")


def _quoted(exchange: Exchange) -> list[dict[str, Any]]:
    """The model's text that the error at the end of a stream quotes, as an event."""
    body = failed_generation_body(exchange.error) if exchange.error is not None else None
    return [] if body is None else [body]


def _ending(exchange: Exchange) -> LLMCoreError | None:
    """The error that ended a recorded stream, unless it quotes the model's reply."""
    return None if exchange.error is None or exchange.kind == "error" or _quoted(exchange) else recorded_error(exchange.error)


def runs_in(path: str | os.PathLike[str], run: str | None = None) -> list[Transcript]:
    """The runs of a file; runs recorded exchange by exchange are joined. An unreadable line raises only if it is before the
    wanted run."""
    read: list[Transcript] = []
    try:
        for found in read_transcripts(path):
            if len(found.exchanges) > 1 and not read and run == found.id:
                return [found]
            read.append(found)
    except TranscriptError:
        if not read or (run is not None and run not in [found.id for found in read]):
            raise
    lines = [found.id for found in read]
    if run in lines and read[lines.index(run)].level == _RUNS:  # a whole run: do not join it with an earlier one
        read = read[lines.index(run) :]
    return joined(read)


def _transcript(given: Any, run: str | None) -> Transcript:
    if isinstance(given, Transcript):
        return given
    if isinstance(given, Mapping):
        try:
            return Transcript.model_validate(given)
        except ValidationError as error:
            raise ConfigError(f"the transcript that was given: {first_problem(error)}") from None
    try:
        path = Path(given)
    except TypeError:
        raise ConfigError(f"a transcript is a Transcript, its dict or the path of a file, not {type(given).__name__}") from None
    runs = runs_in(path, run)
    for found in runs:
        if run is None or run == found.id or run in [getattr(one, "id", None) for one in found.exchanges]:
            return found
    ids = [found.id for found in runs]
    raise ConfigError(f"{given}: holds no run{f' {run!r}' if run else ''}; it has {ids[:10]}")
