"""Ollama chat: whole bodies and the lines of its stream, which have the same shape.

Calls arrive complete; several may share an index or have none. Their arguments are an object. The reader of OpenAI messages
reads the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.openai_chat import MessageReader
from llmcore.normalizer.native.shape import as_dict, text_or_empty
from llmcore.normalizer.native.wire_pieces import FinishWord, Piece

__all__ = ["OllamaReader", "is_ollama_chat_body"]


def is_ollama_chat_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body or a line of a stream."""
    return isinstance(body.get("message"), dict) and "done" in body


class OllamaReader:
    """Reads Ollama's bodies and streams."""

    def __init__(self) -> None:
        self._message = MessageReader()

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        yield from self._message.read(as_dict(body.get("message")))
        if body.get("done") and (word := text_or_empty(body.get("done_reason"))):
            yield FinishWord(word)

    def finish(self) -> Iterator[Piece]:
        return self._message.finish()
