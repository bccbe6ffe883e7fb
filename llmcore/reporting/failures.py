"""A failed transcript as data for the page: of each exchange the text in coloured pieces, the envelope and the reasons.

Every text is bounded, and masked as in a recording.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.values.credentials import HIDDEN
from llmcore.support.values.json_data import json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.transcripts.scoring.families import family_of
from llmcore.transcripts.scoring.judging import Judgement
from llmcore.transcripts.scoring.units import Outcome
from llmcore.types import Envelope

__all__ = ["failure_data"]

_MAX_EXCHANGES = 5
_MAX_PIECES = 300
_MAX_TEXT = 12_000
"""The most characters of one reply's text."""
_HEAD, _TAIL = 3_000, 1_000
"""How much of a long text is shown, from its beginning and its end."""
_MAX_ITEMS = 50
_MAX_DEPTH = 20


def failure_data(outcome: Outcome) -> dict[str, Any]:
    """The failed run as JSON data. Of many exchanges, it has the first ones that failed."""
    run = outcome.transcript
    numbers = sorted(range(len(outcome.judgements)), key=lambda index: outcome.judgements[index].success)
    shown = sorted(numbers[:_MAX_EXCHANGES])
    data = {
        "label": _shortened(run.label),
        "place": f"{run.path}:{run.line}" if run.line else str(run.path or ""),
        "family": family_of(run.provider, run.model),
        "model": _shortened(run.model),
        "verdict": "needs a re-ask" if outcome.needs_reask else "wrong",
        "reasons": _bounded(outcome.reasons),
        "dialects": sorted({call.dialect for judgement in outcome.judgements for call in judgement.calls})[:_MAX_ITEMS],
        "exchanges": [_exchange(outcome, index) for index in shown],
        "left_out": len(outcome.judgements) - len(shown),
    }
    masked: dict[str, Any] = process_scrubber().value(data)
    return masked


def _exchange(outcome: Outcome, index: int) -> dict[str, Any]:
    judgement, exchange = outcome.judgements[index], outcome.transcript.exchanges[index]
    envelope = judgement.envelope
    return {
        "number": index + 1,
        "attempt": " ".join(filter(None, (exchange.attempt.reason, exchange.attempt.mode[:_MAX_ITEMS]))),
        "ok": judgement.success,
        "pieces": [*_pieces(envelope)] if envelope is not None else [],
        "envelope": _bounded(envelope.model_dump(mode="json", exclude_defaults=True)) if envelope is not None else None,
        "after_repairs": _bounded(_repaired(judgement)),
        "problems": _bounded(list(judgement.problems)),
        "mismatches": [
            {"what": one.what, "expected": _bounded(json_data(one.expected)), "got": _bounded(json_data(one.got))}
            for one in judgement.mismatches
        ],
        "error": _bounded(json_data(exchange.error)),
    }


def _repaired(judgement: Judgement) -> list[dict[str, Any]]:
    """The calls that layer 3 changed."""
    written = judgement.envelope.tool_calls if judgement.envelope is not None else []
    changed = [after for before, after in zip(written, judgement.calls, strict=False) if after != before]
    return [call.model_dump(mode="json", include={"name", "arguments", "repairs"}) for call in changed]


def _pieces(envelope: Envelope) -> Iterator[list[str]]:
    """The reply's text as `[kind, text]`: a segment's kind, `near_miss`, or `left_out` for what is not shown."""
    source, segments = envelope.source, envelope.segments
    misses = [(miss.span[0], miss.span[1]) for miss in envelope.near_misses]
    secrets = [(span[0], span[1]) for span in process_scrubber().spans(source)]
    spans = [*((start, end) for start, end, _ in segments), *misses, *secrets]
    cuts, left = sorted({bound for span in spans for bound in span}), _MAX_TEXT
    starts = [start for start, _, _ in segments]
    for count, (start, end) in enumerate(pairwise(cuts)):
        if left <= 0 or count >= _MAX_PIECES:
            yield ["left_out", f"{len(source) - start} more characters"]
            return
        text = HIDDEN if _is_within(start, secrets) else _shortened(source[start:end])
        left -= len(text)
        kind = segments[bisect_right(starts, start) - 1].kind
        yield ["near_miss" if _is_within(start, misses) else kind, text]


def _is_within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _bounded(value: Any, depth: int = _MAX_DEPTH) -> Any:
    """JSON data whose texts, lists and objects are shortened, and which is not deeper than `depth`."""
    if isinstance(value, str):
        return _shortened(value)
    if not (is_list(value) or is_object(value)) or not value:
        return value
    if not depth:
        return "(deeper values are left out)"
    more = len(value) - _MAX_ITEMS
    if is_object(value):
        kept = {_shortened(key): _bounded(item, depth - 1) for key, item in islice(value.items(), _MAX_ITEMS)}
        return kept | ({"...": f"{more} more keys"} if more > 0 else {})
    return [*(_bounded(item, depth - 1) for item in value[:_MAX_ITEMS]), *([f"{more} more items"] if more > 0 else [])]


def _shortened(text: str) -> str:
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]} [... {len(text) - _HEAD - _TAIL} characters ...] {text[-_TAIL:]}"
