"""Typed output: its schema, the output tool, and how a call of that tool becomes the text that layer 3 parses.

A call of `final_result` is never run. Its arguments are the answer: they take the place of the reply's text, so that
parsing, repair and re-ask are one path for all output modes.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from llmcore.adapters.output import FINAL_RESULT, output_tool, unwrap_output
from llmcore.types import CallerError, Envelope, JsonSchema, ToolCall, ToolDefinition

__all__ = ["OutputSpec", "take_final_call"]


class OutputSpec:
    """What one output type needs: its JSON Schema and the tool that takes it. Made once for a type.

    Raises `CallerError` for a type pydantic knows no schema of.
    """

    __slots__ = ("output_type", "schema", "tool")

    def __init__(self, output_type: Any) -> None:
        from llmcore.validator import json_schema  # loads jsonschema: only where typed output is asked for

        self.output_type = output_type
        try:
            self.schema: JsonSchema = json_schema(output_type)
        except CallerError:
            raise
        except Exception as error:  # pydantic raises several kinds for types it does not know
            raise CallerError(f"output_type {output_type!r} has no JSON Schema: {error}") from error
        self.tool: ToolDefinition = output_tool(self.schema)

    @classmethod
    def of(cls, output_type: Any) -> OutputSpec | None:
        """The spec of a type, None for None. Kept for types that can be a key; a schema given as a dict is read
        anew."""
        if output_type is None:
            return None
        try:
            return _kept(output_type)
        except TypeError:  # not hashable
            return cls(output_type)

    def text_of(self, call: ToolCall) -> str:
        """The output that a call of the output tool holds, as JSON text; what could not be read, raw."""
        if call.arguments is None:
            return call.raw_arguments
        return json.dumps(unwrap_output(self.schema, call.arguments), ensure_ascii=False)


@lru_cache(maxsize=256)
def _kept(output_type: Any) -> OutputSpec:
    return OutputSpec(output_type)


def take_final_call(envelope: Envelope, output: OutputSpec | None) -> tuple[Envelope, ToolCall | None]:
    """The envelope without the call of the output tool, and that call (the last, if there are several).

    Without other calls its arguments become the content, to be parsed like any answer.
    """
    if output is None or not any(call.name == FINAL_RESULT for call in envelope.tool_calls):
        return envelope, None
    final = [call for call in envelope.tool_calls if call.name == FINAL_RESULT][-1]
    others = [call for call in envelope.tool_calls if call.name != FINAL_RESULT]
    changes: dict[str, Any] = {"tool_calls": others, "needs_more_work": True if others else None}
    if not others:
        changes["content"] = output.text_of(final)
        changes["truncated"] = envelope.truncated or not final.complete
    changed = envelope.model_copy(update=changes)
    return changed.attach(envelope.source, envelope.segments, envelope.blocks), final
