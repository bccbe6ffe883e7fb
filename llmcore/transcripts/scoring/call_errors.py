"""The three errors of tool calls: as the model wrote the call, and after the repairs of layers 2 and 3."""

from __future__ import annotations

from typing import Literal

from llmcore.types import ToolCall
from llmcore.validator import ProblemKind
from llmcore.validator.judging import DOUBTFUL_POSITIONS

__all__ = ["CALL_ERRORS", "CallError", "errors_after_repairs", "errors_as_written"]

CallError = Literal["invalid_json", "unknown_name", "schema_mismatch"]
"""`invalid_json`: the call is cut, or its text does not follow its format. `unknown_name`: no offered tool has the name.
`schema_mismatch`: the arguments do not fit the tool's schema."""
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


def errors_as_written(written: ToolCall, judged: ToolCall, refused: ProblemKind | None) -> set[CallError]:
    """The errors that a client without repairs would get. They include the error that is left after repairs.

    `written` is the call as layer 2 read it. `judged` is the same call after layer 3, and `refused` why it may not run.
    """
    added = {repair.kind for repair in judged.repairs[len(written.repairs) :]}
    left = _ERROR_OF.get(refused) if refused is not None else None
    checks: dict[CallError, bool] = {
        "invalid_json": not written.complete
        or written.arguments is None
        or _LAST_RESORT in added
        or any(repair.kind not in _MEANING for repair in written.repairs),
        "unknown_name": written.known is False or _NAME in added,
        "schema_mismatch": bool(added - {_NAME, _LAST_RESORT}),
    }
    return {error for error, applies in checks.items() if applies or error == left}


def errors_after_repairs(as_written: set[CallError], refused: ProblemKind | None) -> set[CallError]:
    """The errors that are left. A repair that may not run (`untrusted`) leaves the errors as they were written."""
    if refused == "untrusted":
        return as_written
    return {_ERROR_OF[refused]} if refused in _ERROR_OF else set()
