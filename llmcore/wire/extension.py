"""The field `llmcore` that a reply may have beside the fields of its API: what was repaired and what was withheld.

The SDKs of OpenAI and Anthropic keep unknown fields, so a client that knows the field can read it, and others do not see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llmcore.support.values.narrowing import is_object
from llmcore.types import Repair, ToolCall
from llmcore.wire.rewriting import ReplyReport

__all__ = ["FIELD", "extension", "repairs_summary", "with_extension"]

Json = dict[str, Any]
FIELD = "llmcore"


def extension(reports: Sequence[ReplyReport]) -> Json:
    """The content of the field for these reports, one for each choice. {} if there is nothing to report.

    - `calls`: each call that was read from text or repaired: `id`, `name`, `dialect`, `repairs`.
    - `withheld`: each call that was not handed out: `name`, `reason`, `detail` (`WithheldCall`).
    - `reclassified_reasoning`: text that was streamed as content and turned out to be reasoning.

    If a reply has several choices, each entry has the number of its `choice`.
    """
    calls: list[Json] = []
    withheld: list[Json] = []
    thoughts: list[str] = []
    for index, report in enumerate(reports):
        choice = {"choice": index} if len(reports) > 1 else {}
        calls += [{**_call(call), **choice} for call in report.calls if call.dialect != "native" or call.repairs]
        withheld += [{"name": each.call.name, "reason": each.reason, "detail": each.detail, **choice} for each in report.withheld]
        thoughts.append(report.reclassified_reasoning)
    found = {"calls": calls, "withheld": withheld, "reclassified_reasoning": "".join(thoughts)}
    return {name: value for name, value in found.items() if value}


def _call(call: ToolCall) -> Json:
    repairs = [repair.model_dump(mode="json") for repair in call.repairs]
    return {"id": call.id, "name": call.name, "dialect": call.dialect, "repairs": repairs}


def repairs_summary(repairs: Iterable[Repair]) -> str:
    """The kinds of repairs and their safety, in order, each once: `trailing_comma:lossless, text_to_number:coerced`.

    It has no words of the reply, so that a header or a log may hold it.
    """
    return ", ".join(dict.fromkeys(f"{repair.kind}:{repair.safety}" for repair in repairs))


def with_extension(events: list[Json], content: Mapping[str, Any]) -> list[Json]:
    """The events of a stream's end, or one whole body, with the field in the last one that clients read whole.

    That is the last chunk with a choice, the `message_delta`, the `response` of the last event, or the body.
    """
    if not content:
        return events
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if is_object(response := event.get("response")):
            return [*events[:at], {**event, "response": {**response, FIELD: content}}, *events[at + 1 :]]
        if event.get("choices") or event.get("type") in ("message_delta", "message") or event.get("object") == "response":
            return [*events[:at], {**event, FIELD: content}, *events[at + 1 :]]
    return events
