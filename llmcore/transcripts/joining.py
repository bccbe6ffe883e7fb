"""Joins exchanges that continue each other into one run: each request contains the reply before it.

Cassettes and the proxy record exchange by exchange. On every wire, the requests alone show which exchanges belong
together. The last assistant turn in a request is a recorded reply, with the same calls or the same words. If the ids
of calls do not decide, the history before it must be the same too. `previous_response_id` names the reply. A failed
request and its repetition belong to the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer import normalize
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.transcripts.formats.events import split_events
from llmcore.transcripts.model import Exchange, Transcript
from llmcore.transcripts.scoring.envelopes import envelope_of
from llmcore.types import AttemptReason, Envelope

__all__ = ["joined"]

JsonObject = dict[str, Any]
_BODIES = ("body", "json", "parsed_body")
_ITEMS = ("messages", "contents", "input")
_MODEL_ITEMS = frozenset({"function_call", "custom_tool_call", "reasoning"})
"""Items of OpenAI's Responses that the model wrote, although they have no role."""
_NO_CONTENT = frozenset({"cache_control", "cachePoint", "id", "status"})
"""Keys that are not part of the content: clients move, drop and add them."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the assistant: its calls, or its words if it makes none. `ids`: those of the calls, if any."""

    key: str
    ids: tuple[str, ...] = ()


@dataclass(slots=True)
class _Chain:
    """One run so far. `items`: the whole history of its last request. `reply`: the assistant's answer to it; None if the
    request failed."""

    runs: list[Transcript]
    exchanges: list[Exchange]
    items: list[str]
    request: str
    reply: _Turn | None
    response_id: str
    output: list[Any] = field(default_factory=list[Any])
    history: list[Any] = field(default_factory=list[Any])


def joined(runs: Iterable[Transcript]) -> list[Transcript]:
    """The runs, in the order in which they began; runs of one exchange that continue each other become one. A joined
    exchange has the reason `turn` (`retry` after a failed one), and the `id` of its original run.

    If a request names the response before it (`previous_response_id`), its input becomes the whole conversation.
    """
    chains: list[_Chain] = []
    open_by_key: dict[str, list[_Chain]] = {}
    for run in runs:
        if len(run.exchanges) != 1 or not is_object(_body(run.exchanges[0])):
            chains.append(_Chain([run], [*run.exchanges], [], "", None, ""))
            continue
        made = _begun(run)
        before, reason = _continued(made, open_by_key)
        chain = made if before is None else _longer(before, made, reason)
        if before is None:
            chains.append(chain)
        for key in _keys(chain):
            open_by_key.setdefault(key, []).append(chain)
    return [_run(chain) for chain in chains]


def _begun(run: Transcript) -> _Chain:
    exchange = run.exchanges[0]
    body = _body(exchange)
    history = _items(body)
    envelope, _ = envelope_of(exchange, None, None)
    response_id, output = _responses(exchange)
    request = as_json(body) if body else ""
    reply = None if envelope is None else _turn([envelope])
    return _Chain([run], [exchange], [*map(_plain, history)], request, reply, response_id, output, history)


def _keys(chain: _Chain) -> list[str]:
    """The keys by which the next exchange finds this chain."""
    if chain.reply is None:
        return [f"again {chain.request}"]
    return [f"reply {chain.reply.key}", *([f"id {chain.response_id}"] if chain.response_id else [])]


def _continued(made: _Chain, open_by_key: dict[str, list[_Chain]]) -> tuple[_Chain | None, AttemptReason]:
    """The chain that this exchange continues, and the reason of its request."""

    def found(key: str) -> list[_Chain]:
        return [chain for chain in reversed(open_by_key.get(key, ())) if key in _keys(chain)]

    named = _body(made.exchanges[0]).get("previous_response_id")
    if isinstance(named, str) and named:
        return next(iter(found(f"id {named}")), None), "turn"
    if again := found(f"again {made.request}"):
        return again[0], "retry"
    last = _last_turn(made.history)
    if last is None:
        return None, "turn"
    candidates = found(f"reply {last.key}")
    begins = [chain for chain in candidates if made.items[: len(chain.items)] == chain.items and chain.items]
    by_ids = [chain for chain in candidates if last.ids and chain.reply is not None and chain.reply.ids == last.ids]
    both = [chain for chain in begins if any(chain is one for one in by_ids)]
    return next(iter(both or begins or by_ids), None), "turn"


def _longer(before: _Chain, made: _Chain, reason: AttemptReason) -> _Chain:
    """The chain, with the exchange added at its end."""
    exchange = made.exchanges[0]
    body = _body(exchange)
    if body.get("previous_response_id") and reason == "turn":
        made.history = [*before.history, *before.output, *made.history]
        made.items = [*map(_plain, made.history)]
        exchange = exchange.model_copy(update={"request": {**body, "input": made.history}})
    note = exchange.attempt.model_copy(update={"reason": reason})
    before.runs += made.runs
    before.exchanges.append(exchange.model_copy(update={"attempt": note}))
    before.items, before.history, before.request = made.items, made.history, made.request
    before.reply, before.response_id, before.output = made.reply, made.response_id, made.output
    return before


def _run(chain: _Chain) -> Transcript:
    first, last = chain.runs[0], chain.runs[-1]
    if first is last:
        return first
    exchanges = [
        one.model_copy(update={"id": run.id, "expect": one.expect or run.expect})
        for one, run in zip(chain.exchanges, chain.runs, strict=True)
    ]
    return first.model_copy(update={"exchanges": exchanges, "expect": last.expect})


# --- the content of a request -----------------------------------------------------------------------------------------


def _body(exchange: Exchange) -> JsonObject:
    request = object_in(exchange.request)
    return next((request[key] for key in _BODIES if is_object(request.get(key))), request)


def _items(body: JsonObject) -> list[Any]:
    given: Any = next((body[key] for key in _ITEMS if body.get(key) is not None), None)
    if given is None:
        return []
    return [*given] if is_list(given) else [{"role": "user", "content": given}]


def _plain(item: Any) -> str:
    return json.dumps(_parts_of(item), sort_keys=True, default=str)


def _parts_of(value: Any) -> Any:
    """The content without the notes of clients. A part with only a text becomes that text."""
    if is_object(value):
        kept = {key: _parts_of(item) for key, item in value.items() if key not in _NO_CONTENT and item is not None}
        text = kept.get("text")
        return text if isinstance(text, str) and kept.keys() <= {"text", "type", "annotations", "logprobs"} else kept
    if is_list(value):
        parts = [_parts_of(item) for item in value]
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts
    return value


def _last_turn(items: Sequence[Any]) -> _Turn | None:
    written: list[JsonObject] = []
    for item in reversed(items):
        data = object_in(item)
        if data.get("role") in ("assistant", "model") or data.get("type") in _MODEL_ITEMS:
            written.insert(0, data)
        elif written:
            break
    return _turn([_envelope(one) for one in written]) if written else None


def _envelope(item: JsonObject) -> Envelope:
    """The envelope of a reply that is an item of a history."""
    if "parts" in item:
        return normalize({"candidates": [{"content": item}]})
    if item.get("type") in _MODEL_ITEMS or "type" in item:
        return normalize({"object": "response", "output": [item]})
    if any("toolUse" in part for part in objects_in(item.get("content"))):
        return normalize({"output": {"message": item}})
    return normalize(item)


def _turn(envelopes: Sequence[Envelope]) -> _Turn:
    calls = [call for envelope in envelopes for call in envelope.tool_calls]
    if not calls:
        return _Turn("words " + " ".join(" ".join(envelope.content for envelope in envelopes).split()))
    made = [[call.name, call.raw_arguments if call.arguments is None else call.arguments] for call in calls]
    return _Turn(f"calls {json.dumps(made, sort_keys=True, default=str)}", tuple(call.id for call in calls))


def _responses(exchange: Exchange) -> tuple[str, list[Any]]:
    """The id and output of a reply of OpenAI's Responses; both empty for any other reply."""
    if exchange.kind == "response" and is_object(exchange.response):
        bodies = [exchange.response]
    elif exchange.kind in ("chunks", "sse") or (exchange.stream and isinstance(exchange.response, str)):
        events = exchange.chunks if exchange.kind == "chunks" else split_events(exchange.sse or str(exchange.response or ""))[0]
        bodies = [body for event in objects_in(events) if is_object(body := event.get("response"))]
    else:
        bodies = []
    for body in reversed(bodies):
        if is_list(output := body.get("output")):
            return str(body.get("id") or ""), output
    return "", []
