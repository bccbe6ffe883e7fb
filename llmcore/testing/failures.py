"""Rebuilds the exception of a recorded error, with what the classification reads (status, body, message, class)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from llmcore.adapters.litellm.errors.exceptions import error_body, failed_generation
from llmcore.adapters.litellm.errors.table import classify
from llmcore.types import LLMCoreError

__all__ = ["RecordedError", "failed_generation_body", "recorded_error"]


class RecordedError(Exception):
    """Stands for the client's exception: `status_code`, `body`, `message` and the response's headers."""

    def __init__(self, recorded: object) -> None:
        text = recorded if isinstance(recorded, str) else ""
        known = _known(recorded)
        body: Any = known.get("body", known)
        self.status_code: int | None = _status(known)
        self.body: Any = _parsed(body)
        self.litellm_response_headers: Mapping[str, Any] = known.get("headers") or {}
        message = str(known.get("message") or text)
        self.message = str(message or (self.body if isinstance(self.body, str) else json.dumps(self.body, default=str)))
        super().__init__(self.message)


def _known(recorded: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", recorded) if isinstance(recorded, Mapping) else {}


def _status(known: Mapping[str, Any]) -> int | None:
    found = known.get("status") or known.get("status_code")
    return found if isinstance(found, int) else None


def _parsed(body: Any) -> Any:
    try:
        return json.loads(body) if isinstance(body, str) else body
    except ValueError:
        return body


def recorded_error(recorded: Any) -> LLMCoreError:
    """The llmcore error for a recorded error: a dict with `type`, `status`, `body`, `headers` and `message`, an error
    body, or a message. `type` is the class name of the client's exception."""
    name: object = _known(recorded).get("type")
    kind = type(name, (RecordedError,), {}) if isinstance(name, str) and name.isidentifier() else RecordedError
    return classify(kind(recorded))


def failed_generation_body(recorded: Any) -> dict[str, Any] | None:
    """The body of a Groq `tool_use_failed`, which quotes the model's reply; None for any other error."""
    error = RecordedError(recorded)
    return {"error": error_body(error)} if failed_generation(error) else None
