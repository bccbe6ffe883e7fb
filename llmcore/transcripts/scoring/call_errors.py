"""The three errors of tool calls: as the model wrote the call, and after the repairs of layers 2 and 3."""

from __future__ import annotations

from typing import Literal

from llmcore.types import Repair, ToolCall
from llmcore.validator import ProblemKind
from llmcore.validator.judging import DOUBTFUL_POSITIONS

__all__ = ["CALL_ERRORS", "CallError", "error_after_repairs", "error_as_written"]

CallError = Literal["invalid_json", "unknown_name", "schema_mismatch"]
"""`invalid_json`: the call is cut, or its text does not follow its format. `unknown_name`: no offered tool has the name.
`schema_mismatch`: the arguments do not fit the tool's schema. A call counts for the first one that applies."""
CALL_ERRORS: tuple[CallError, ...] = ("invalid_json", "unknown_name", "schema_mismatch")

_ERROR_OF: dict[ProblemKind, CallError] = {
    "incomplete": "invalid_json",
    "unreadable_arguments": "invalid_json",
    "unknown_tool": "unknown_name",
    "missing": "schema_mismatch",
    "unexpected": "schema_mismatch",
    "type": "schema_mismatch",
    "value": "schema_mismatch",
    "schema": "schema_mismatch",
}
_MEANING = {*DOUBTFUL_POSITIONS, "after_invented_result", "assigned", "placeholder", "names_differ"}
"""Repairs that question whether the call is meant. Its text follows the format."""
_NAME = "tool_name"
_LAST_RESORT = "json_repair"


def error_as_written(written: ToolCall, judged: ToolCall, refused: ProblemKind | None) -> CallError | None:
    """The error that a client without repairs would get. `written` is the call as layer 2 read it, `judged` the same call after
    layer 3, and `refused` why that one may not run."""
    added = {repair.kind for repair in judged.repairs[len(written.repairs) :]}
    if not written.complete or written.arguments is None or any(map(_is_of_syntax, written.repairs)) or _LAST_RESORT in added:
        return "invalid_json"
    if written.known is False or _NAME in added:
        return "unknown_name"
    return "schema_mismatch" if added or _ERROR_OF.get(refused or "near_miss") == "schema_mismatch" else None


def error_after_repairs(as_written: CallError | None, refused: ProblemKind | None) -> CallError | None:
    """The error that is left. A repair that may not run (`untrusted`) leaves the error as it was written."""
    return as_written if refused == "untrusted" else _ERROR_OF.get(refused or "near_miss")


def _is_of_syntax(repair: Repair) -> bool:
    return repair.kind not in _MEANING
