"""Events as JSON data, for a web page, a queue or a log: each an object with its `type` and its fields.

The form is stable: `type` is the event's class in small letters, the keys are the names of its fields, whatever they hold. Of a
`Finished` only the answer is written, not the history. What is no JSON data stands as its text, and of a value that lacks parts
what can be written without them. Secrets that the process knows of, and what looks like a key, are taken out, so this is for
showing: to save a run, write its result (`RunResult.model_dump_json`).
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
"""A text of fewer characters holds none: most pieces of a streamed reply."""
_ANSWER = frozenset({"id", "usage", "pending", "degraded", "has_output", "output"})
"""The fields of a result that a page needs. The history stays on the server."""


def event_json(event: Event | BaseException) -> dict[str, Any]:
    """The event as JSON data: `{"type": "text_delta", "text": "Hel"}`.

    `Finished` is `{"type": "finished", "result": {"id", "usage", "degraded", "pending", "has_output", "output", "content"}}`:
    `content` is the text of the answer, `output` the typed value if `has_output`, `pending` the calls that wait for the caller.
    What ends a run badly is no event but raised; such an error is told as `{"type": "error", "error": {"type": "RateLimited",
    "message": ...}}`, one that is none of ours by its class alone. Raises `ConfigError` for anything else.
    """
    if isinstance(event, BaseException):
        told = event.as_data() if isinstance(event, LLMCoreError) else {"type": type(event).__name__, "message": ""}
        return {"type": "error", "error": process_scrubber().value(told)}
    kind: type[Any] = type(event)
    if not is_dataclass(kind):
        raise ConfigError(f"event_json takes an event of a run or an error, not {describe_value(event)}")
    name, names = _form(kind)
    if isinstance(event, NestedEvent):
        told = {"tool_use_id": event.tool_use_id, "name": event.name}
        return {"type": name, **process_scrubber().value(told), "event": event_json(event.event)}
    values = {each: getattr(event, each) for each in names}
    if all(value is None or (isinstance(value, str | int) and len(str(value)) < _SHORTEST_SECRET) for value in values.values()):
        return {"type": name, **values}
    scrubber = process_scrubber()
    return {"type": name, **{each: scrubber.value(_data(value)) for each, value in values.items()}}


@lru_cache(maxsize=64)
def _form(kind: Any) -> tuple[str, tuple[str, ...]]:
    return _WORD.sub("_", kind.__name__).lower(), tuple(field.name for field in fields(kind))


def event_type(kind: Any) -> str:
    """The name of an event's class as JSON has it: `text_delta` for `TextDelta`."""
    return _form(kind)[0]


def _data(value: Any) -> Any:
    if isinstance(value, RunResult):
        return {**value.model_dump(mode="json", include=set(_ANSWER), warnings=False), "content": value.content}
    return model_data(value) if isinstance(value, BaseModel) else json_data(value)
