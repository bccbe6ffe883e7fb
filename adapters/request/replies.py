"""Restores a reply: original tool names, and arguments in the shape of the tool's schema.

Otherwise the reply stays as the provider sent it. If no name was mapped and no schema changed shape, nothing is done. Linear
in the reply; never raises because of its content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llmcore.adapters.request.names import NameMap
from llmcore.adapters.request.parameters import Prepared
from llmcore.adapters.request.schemas import restore
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema

__all__ = ["ReplyMapper", "holds_litellm_tool"]

_LITELLM_TOOL = "json_tool_call"
_ARGUMENT_KEYS = ("arguments", "input", "args")
_SHAPES = frozenset({"additionalProperties", "optional"})
"""Losses that change the shape of the model's values."""


def holds_litellm_tool(raw: bytes) -> bool:
    """Return whether LiteLLM forced its own tool for a response schema. Then only LiteLLM can read the answer from the body."""
    return f'"{_LITELLM_TOOL}"'.encode() in raw


class ReplyMapper:
    """Maps the calls of one reply, or of one stream's chunks, to the tools as they were defined."""

    def __init__(self, prepared: Prepared) -> None:
        self._names: NameMap = prepared.names
        reshaped = {name for name, losses in prepared.losses.items() if any(loss.keyword in _SHAPES for loss in losses)}
        self._schemas: Mapping[str, JsonSchema] = {tool.name: tool.parameters for tool in prepared.tools if tool.name in reshaped}

    def map(self, value: Any) -> Any:
        """Return `value` (a body or a chunk) with its calls restored. It is the same object if nothing changes."""
        return self._mapped(value) if self._names or self._schemas else value

    def _mapped(self, value: Any) -> Any:
        if is_list(value):
            return [self._mapped(item) for item in value]
        if not is_object(value):
            return value
        name = value.get("name")
        if not isinstance(name, str):
            return {key: self._mapped(item) for key, item in value.items()}
        name = self._names.original(name)  # a stand-in holds a hash, so nothing else has this name
        return {**value, "name": name} | {key: self._restored(name, value[key]) for key in _ARGUMENT_KEYS if key in value}

    def _restored(self, name: str, arguments: Any) -> Any:
        schema = self._schemas.get(name)
        if schema is None:
            return arguments
        if not isinstance(arguments, str):
            return restore(schema, arguments)
        try:
            return as_json(restore(schema, json.loads(arguments)))
        except (ValueError, RecursionError):  # a fragment of a stream, or no JSON: layer 2 reads it
            return arguments
