"""Ollama's lines as they came: LiteLLM's reader of a stream takes `<think>` and `</think>` out of single pieces of text.

Thoughts that come in several pieces, as they do, are then the answer, a call that stands in them is one that was made, and a text
about these tags loses them. So the text passes by that reader, and the normaliser reads it as it reads any. It also fails at a
line that leaves out `model` or a `message` that says nothing, as proxies do, or `done`, as Go's JSON does where it is false.
Source: LiteLLM 1.105.3 and 1.110.2, `chunk_parser`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patching import replace
from llmcore.adapters.wire.watching import current_watch
from llmcore.types.narrowing import is_object, object_in

__all__ = ["leave_text_as_it_is"]

_LEFT_OUT = {"model": "", "done": False}
"""What LiteLLM's reader needs of each line."""


def leave_text_as_it_is(reader: Any) -> None:
    """In calls of ours LiteLLM's `reader` of Ollama's lines sees no text."""

    def without_text(parse: Any) -> Any:
        @wraps(parse)
        def chunk_parser(self: Any, chunk: Any) -> Any:
            if not is_object(chunk) or current_watch() is None:
                return parse(self, chunk)
            message = object_in(chunk.get("message"))
            text: object = message.get("content")
            seen = {"content": ""} if isinstance(text, str) else {}
            made = parse(self, {**_LEFT_OUT, **chunk, "message": {**message, **seen}})
            if isinstance(text, str):
                made.choices[0].delta.content = text or None
            return made

        return chunk_parser

    replace(reader, "chunk_parser", without_text)
