"""Ollama's lines as they came: LiteLLM's reader of a stream takes `<think>` and `</think>` out of single pieces of text.

Thoughts that come in several pieces, as they do, are then the answer, a call that stands in them is one that was made, and a text
about these tags loses them. So the text passes by that reader, and the normaliser reads it as it reads any. A line without
`done`, which Go's JSON leaves out where it is false, is not the last one. Source: LiteLLM 1.105.3 and 1.110.2, `chunk_parser`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from llmcore.adapters.wire.watching import current_watch
from llmcore.types.narrowing import is_object

__all__ = ["leave_text_as_it_is"]


def leave_text_as_it_is(reader: Any) -> None:
    """In calls of ours LiteLLM's `reader` of Ollama's lines sees no text."""
    parse = reader.chunk_parser

    @wraps(parse)
    def chunk_parser(self: Any, chunk: Any) -> Any:
        message: Any = chunk.get("message") if is_object(chunk) and current_watch() is not None else None
        text: object = message.get("content") if is_object(message) else None
        if not isinstance(text, str):
            return parse(self, chunk)
        made = parse(self, {"done": False, **chunk, "message": {**message, "content": ""}})
        made.choices[0].delta.content = text or None
        return made

    reader.chunk_parser = chunk_parser
