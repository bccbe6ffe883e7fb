"""What came for one question: the reply as the server sent it, and as llmcore reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from llmcore.support.values.narrowing import is_object, object_in, objects_in
from llmcore.transcripts.scoring.call_errors import CALL_ERRORS, CallError, errors_after_repairs, errors_as_written
from llmcore.types import Envelope, LLMCoreError, ToolCall, ToolSet, Usage
from llmcore.validator import ProblemKind
from llmcore.validator.report import validate_calls
from llmcore.verifying.cases import Question

__all__ = ["CALL_ERRORS", "CallError", "Observation", "SentCall"]


@dataclass(slots=True)
class SentCall:
    """A native call as the server sent it on OpenAI's wire, put together as a plain client does: by its index."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    index: object = None
    ids: set[str] = field(default_factory=set[str])


@dataclass(frozen=True)
class Observation:
    """One question and its outcome.

    - `pieces`: the body, or the events of the stream.
    - `error`: what came in place of a reply, or ended it.
    """

    question: Question
    pieces: Sequence[Any] = ()
    envelope: Envelope = field(default_factory=Envelope)
    error: LLMCoreError | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def native(self) -> list[ToolCall]:
        return [call for call in self.envelope.tool_calls if call.dialect == "native"]

    @property
    def as_text(self) -> list[ToolCall]:
        return [call for call in self.envelope.tool_calls if call.dialect != "native"]

    @property
    def sent_calls(self) -> list[SentCall] | None:
        """The native calls as they were sent; None on another wire than OpenAI's."""
        choices = [choice for piece in self.pieces for choice in objects_in(object_in(piece).get("choices"))]
        if not choices:
            return None
        found: dict[object, SentCall] = {}
        for choice in choices:
            message = object_in(choice.get("delta") or choice.get("message"))
            for position, part in enumerate(objects_in(message.get("tool_calls"))):
                _add(found, part.get("index") if self.question.streamed else position, part)
        return list(found.values())

    @cached_property
    def errors(self) -> list[tuple[set[CallError], set[CallError]]]:
        """For each call, its errors as it was sent, and those that are left after llmcore's repairs."""
        report = validate_calls(self.envelope, ToolSet(self.question.tools))
        refused: dict[int | None, ProblemKind] = {problem.call: problem.kind for problem in reversed(report.problems)}
        found: list[tuple[set[CallError], set[CallError]]] = []
        for index, (written, judged) in enumerate(zip(self.envelope.tool_calls, report.calls, strict=True)):
            as_written = errors_as_written(written, judged, refused.get(index))
            if written.dialect == "native" and not _is_strict_object(written.raw_arguments):
                as_written.add("invalid_json")
            found.append((as_written, errors_after_repairs(as_written, refused.get(index))))
        return found


def _add(found: dict[object, SentCall], index: object, part: Mapping[str, Any]) -> None:
    call = found.setdefault(index, SentCall(index=index))
    function = object_in(part.get("function"))
    if isinstance(part.get("id"), str) and part["id"]:
        call.id = part["id"]
        call.ids.add(part["id"])
    call.name += _text(function.get("name"))
    call.arguments += _text(function.get("arguments"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_strict_object(text: str) -> bool:
    """Whether a strict reader gets an object. An empty text is none."""
    try:
        return is_object(json.loads(text))
    except ValueError:
        return False
