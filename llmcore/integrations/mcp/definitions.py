"""Definitions of a server's tools. All their texts are the server's: untrusted, so bounded and without invisible characters."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import ToolDefinition, ToolDefinitionError

__all__ = ["MAX_NAME", "annotation", "definition_of_tool", "digest_of_tool", "prefixed_name"]

MAX_NAME = 64
"""The longest name of a tool that every provider accepts."""
_MAX_DESCRIPTION = 8_192
"""Characters of a description."""
_MAX_SCHEMA = 200_000
"""Characters of a schema in JSON."""
_DIGEST_CHARS = 8


def prefixed_name(server: str, name: str) -> str:
    """`server_tool`, with `_` for each character that some provider refuses.

    A name over 64 characters is cut, and ends in a digest of the whole name.
    """
    full = f"{server}_{re.sub(r'[^A-Za-z0-9_-]', '_', name)}"
    if len(full) <= MAX_NAME:
        return full
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{full[: MAX_NAME - _DIGEST_CHARS - 1]}_{digest}"


def definition_of_tool(listed: Any, name: str, *, is_trusted: bool) -> ToolDefinition:
    """The definition of a listed tool. `read_only` is what a trusted server says, and False for any other.

    Raises `ToolDefinitionError` for an unusable schema.
    """
    schema = listed.input_schema
    if len(json.dumps(schema)) > _MAX_SCHEMA:
        raise ToolDefinitionError(f"its schema has more than {_MAX_SCHEMA} characters")
    return ToolDefinition(
        name=name,
        description=_bounded(_visible(listed.description or _title(listed))),
        parameters=_visible_schema(schema),
        read_only=is_trusted and annotation(listed, "read_only_hint"),
    )


def annotation(listed: Any, name: str) -> bool:
    """A boolean annotation (`read_only_hint`) of a listed tool. False if the server does not give it."""
    return listed.annotations is not None and getattr(listed.annotations, name) is True


def digest_of_tool(listed: Any) -> str:
    """A digest of all that the server says about a tool. It changes if the definition does."""
    told = listed.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"icons", "meta"})
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _bounded(text: str) -> str:
    return text if len(text) <= _MAX_DESCRIPTION else f"{text[: _MAX_DESCRIPTION - 3]}..."


def _title(listed: Any) -> str:
    return listed.title or (listed.annotations.title if listed.annotations is not None else None) or ""


def _visible_schema(schema: Any) -> Any:
    """The schema with its descriptions and titles as of `_visible`."""
    if is_list(schema):
        return [_visible_schema(item) for item in schema]
    if not is_object(schema):
        return schema
    return {
        key: _visible(value) if key in ("description", "title") and isinstance(value, str) else _visible_schema(value)
        for key, value in schema.items()
    }


def _visible(text: str) -> str:
    """The text without control and format characters, which can hide words from a person who reads it."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
