"""Reads VCR cassettes (YAML or JSON) of recorded HTTP traffic, and turns requests to models into transcripts.

Rules: each interaction with a known model endpoint is its own run, since a cassette does not say why a request was
made. Other interactions (model lists, telemetry) are skipped. Bodies may be text, bytes, base64, compressed, or
already parsed (`parsed_body`). The URL shows the provider. An unreadable interaction does not affect the others. The
whole text is in memory, but only one interaction at a time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.transcripts.errors import OverLimit, TranscriptError
from llmcore.transcripts.formats.building import build
from llmcore.transcripts.formats.decoding import decode_utf8, load_json, unpack
from llmcore.transcripts.formats.events import looks_like_events
from llmcore.transcripts.formats.hosts import is_local, provider_of_host
from llmcore.transcripts.formats.requests import facts_of
from llmcore.transcripts.model import Transcript
from llmcore.types.limits import RECORDING_LIMITS
from llmcore.yaml_data import YamlProblem, yaml_items

__all__ = ["interactions_of", "read_cassette"]

_ENDPOINT = re.compile(
    r"/(?:chat/completions|completions|responses|messages|api/chat|api/generate|v[12]/chat|converse(?:-stream)?|invoke(?:-with-response-stream)?)$"
    r"|:(?:generateContent|streamGenerateContent|rawPredict|streamRawPredict)$"
)
_MODEL_IN_PATH = re.compile(r"/models?/([^/:]+(?::\d+)?)")
_STREAM_TYPES = ("text/event-stream", "ndjson", "jsonl", "json-seq")
_BINARY_STREAM = "application/vnd.amazon.eventstream"

JsonObject = dict[str, Any]


def read_cassette(path: Path, data: bytes) -> Iterator[Transcript | TranscriptError]:
    """The model calls of a YAML cassette. An unreadable one is a `TranscriptError` with its line."""
    try:
        text = decode_utf8(data)
        for number, (line, interaction) in enumerate(yaml_items(text, "interactions", RECORDING_LIMITS)):
            if isinstance(interaction, YamlProblem):
                yield _yaml_error(path, interaction)
            else:
                yield from interactions_of(path, [interaction], first=number, line=line)
    except YamlProblem as problem:
        yield _yaml_error(path, problem)
    except ValueError as error:
        yield TranscriptError(path, None, str(error))


def interactions_of(
    path: Path, interactions: list[Any], *, first: int = 0, line: int | None = None
) -> Iterator[Transcript | TranscriptError]:
    """The model calls among parsed interactions. `first`: the number of the first interaction."""
    for number, interaction in enumerate(interactions, first):
        try:
            run = _run(interaction)
        except (ValueError, OverLimit) as error:
            yield TranscriptError(path, line, f"interaction {number}: {error}")
            continue
        if run is not None:
            yield build(path, line, {"id": f"{path.name}#{number}", **run}, flat=True)


def _yaml_error(path: Path, problem: YamlProblem) -> TranscriptError:
    what = "not a VCR cassette" if problem.line is None else "malformed YAML"
    return TranscriptError(path, problem.line, f"{what}: {problem.message}")


def _run(interaction: Any) -> dict[str, Any] | None:
    """One interaction as a flat transcript; None if it is not a model call."""
    request, response = _part(interaction, "request"), _part(interaction, "response")
    url = request.get("uri") or request.get("url")
    if not isinstance(url, str):
        raise ValueError("its request has no `uri`")
    place = urlsplit(url)
    if not _ENDPOINT.search(place.path):
        return None
    asked = _body(request)
    facts = facts_of(asked)
    in_path = _MODEL_IN_PATH.search(place.path)
    return {
        "provider": provider_of_host(url),
        "provenance": "local recording" if is_local(url) else f"provider: {place.hostname}",
        "model": facts.model or (unquote(in_path[1]) if in_path else ""),
        "level": "wire",
        "request": asked,
        **_reply(response),
    }


def _part(interaction: Any, key: str) -> JsonObject:
    part = object_in(interaction).get(key)
    if not is_object(part):
        raise ValueError(f"has no `{key}`")
    return part


def _reply(response: JsonObject) -> dict[str, Any]:
    status = response.get("status")
    code = status.get("code") if is_object(status) else status
    body = _body(response)
    if isinstance(code, int) and code >= 400:
        return {"error": {"status": code, "body": body}}
    if isinstance(body, str) and (_is_stream(response) or looks_like_events(body)):
        return {"sse": body}
    return {"response": body}


def _body(message: JsonObject) -> Any:
    """The body of a request or response: its data if it is JSON, else its text; None if there is none."""
    if "parsed_body" in message:
        return message["parsed_body"]
    if _BINARY_STREAM in _header(message, "content-type"):
        raise ValueError(f"a body of type {_BINARY_STREAM} is not read; record it as JSON events")
    text = _text(message)
    if text is None or _is_stream(message):
        return text
    try:
        return load_json(text)
    except ValueError:
        return text


def _is_stream(message: JsonObject) -> bool:
    kind = _header(message, "content-type")
    return any(stream in kind for stream in _STREAM_TYPES)


def _text(message: JsonObject) -> str | None:
    body = message.get("body")
    if is_object(body):
        encoded = body.get("base64_string")
        body = body.get("string") if encoded is None else _from_base64(encoded)
    if isinstance(body, bytes):
        return decode_utf8(unpack(body, _header(message, "content-encoding")))
    if body is None or isinstance(body, str):
        return body
    raise ValueError(f"a body that is neither text nor bytes: {type(body).__name__}")


def _from_base64(encoded: Any) -> bytes:
    try:
        return base64.b64decode(encoded, validate=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a damaged base64 body: {error}") from None


def _header(message: JsonObject, name: str) -> str:
    """A header's values, joined. Names may have any case, values may be text or lists."""
    for key, value in object_in(message.get("headers")).items():
        if str(key).lower() == name:
            return ",".join(map(str, value)) if is_list(value) else str(value)
    return ""
