"""Events as JSON data, for a web page, a queue or a log: each is an object with its `type` and its fields.

The form is stable: `type` is the name of the event's class in snake case, and the keys are its fields. A `Finished` holds the
answer without the history. Values that are no JSON data stand as text. Known secrets, and texts that look like keys, are
removed, so the form is for showing. To save a run, write its result (`RunResult.model_dump_json`).
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.results.result import RunResult
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.json_data import json_data, model_data
from llmcore.types import Event, LLMCoreError, NestedEvent
from llmcore.types.errors import ConfigError

__all__ = ["event_json", "event_type"]

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST_SECRET = 8
"""A shorter text, like most deltas of a stream, cannot hold a secret."""
_ANSWER_FIELDS = frozenset({"id", "usage", "pending", "degraded", "has_output", "output"})
"""The fields of a result that a page needs. The history stays on the server."""


def event_json(event: Event | BaseException) -> dict[str, Any]:
    """The event as JSON data: `{"type": "text_delta", "text": "Hel"}`.

    `Finished` is `{"type": "finished", "result": {"id", "usage", "degraded", "pending", "has_output", "output", "content"}}`.
    `content` is the text of the answer, `output` the typed value if `has_output`, and `pending` the calls that wait for the
    caller.

    An error that ends a run is raised and is no event. You can pass it, too: `{"type": "error", "error": {"type":
    "RateLimited", "message": ...}}`. If it is no error of llmcore, only its class is given. Raises `ConfigError` for anything
    else.
    """
    if isinstance(event, BaseException):
        data = event.as_data() if isinstance(event, LLMCoreError) else {"type": type(event).__name__, "message": ""}
        return {"type": "error", "error": process_scrubber().value(data)}
    kind: type[Any] = type(event)
    if not is_dataclass(kind):
        raise ConfigError(f"event_json takes an event of a run or an error, not {describe_value(event)}")
    name, names = _json_form(kind)
    if isinstance(event, NestedEvent):
        call = {"tool_use_id": event.tool_use_id, "name": event.name}
        return {"type": name, **process_scrubber().value(call), "event": event_json(event.event)}
    values = {each: getattr(event, each) for each in names}
    if all(value is None or (isinstance(value, str | int) and len(str(value)) < _SHORTEST_SECRET) for value in values.values()):
        return {"type": name, **values}
    scrubber = process_scrubber()
    return {"type": name, **{each: scrubber.value(_data(value)) for each, value in values.items()}}


@lru_cache(maxsize=64)
def _json_form(kind: Any) -> tuple[str, tuple[str, ...]]:
    return _WORD.sub("_", kind.__name__).lower(), tuple(field.name for field in fields(kind))


def event_type(kind: Any) -> str:
    """The name of an event's class in JSON: `text_delta` for `TextDelta`."""
    return _json_form(kind)[0]


def _data(value: Any) -> Any:
    if isinstance(value, RunResult):
        return {**value.model_dump(mode="json", include=set(_ANSWER_FIELDS), warnings=False), "content": value.content}
    return model_data(value) if isinstance(value, BaseModel) else json_data(value)
