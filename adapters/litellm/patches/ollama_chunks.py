"""Fault: LiteLLM's reader of Ollama's streams removes `<think>` and `</think>` from single pieces of text, and needs each field.

Thoughts come in several pieces. LiteLLM then takes them for the answer, and a call in them for one that was made. A text about
these tags loses them. So this patch passes the text by that reader, and the normaliser reads it as it reads any text.

The reader also fails at a line without `model`, with an empty `message`, or without `done`. Proxies leave out the first two, and
Go's JSON leaves out a `done` that is false. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch
from llmcore.support.values.narrowing import is_object, object_in

__all__ = ["PATCHES"]

_DEFAULTS = {"model": "", "done": False}
"""What LiteLLM's reader needs of each line."""


def _without_text(parse: Any) -> Any:
    """In calls of ours, LiteLLM's reader of a line sees no text."""

    @wraps(parse)
    def chunk_parser(self: Any, chunk: Any) -> Any:
        if not is_object(chunk) or current_watch() is None:
            return parse(self, chunk)
        message = object_in(chunk.get("message"))
        text: object = message.get("content")
        hidden = {"content": ""} if isinstance(text, str) else {}
        made = parse(self, {**_DEFAULTS, **chunk, "message": {**message, **hidden}})
        if isinstance(text, str):
            made.choices[0].delta.content = text or None
        return made

    return chunk_parser


PATCHES = (
    Patch("litellm.llms.ollama.chat.transformation", "OllamaChatCompletionResponseIterator", "chunk_parser", _without_text),
)
