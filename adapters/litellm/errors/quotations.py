"""Finds what a server quotes from the request. A user may have written the very words with which servers refuse.

The server's own words are what remains without the quotations, in any case and escaping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.secrets.spellings import unescaped, united
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import ToolDefinition

__all__ = ["is_quoted", "own_words"]

_QUOTE = 12
"""So many consecutive characters that also stand in the request are a quotation."""
_MAX_READ = 32_768
"""The most characters at each end of an error that are compared with the request."""
_LONG_WORD = 1000
_ELSEWHERE = "\n\x00\n"
_SPACES = lazy_regex(r"\s+")


def own_words(text: str, call: ModelCall | None, tells: Callable[[str], bool]) -> str:
    """Return the text of an error (lower case) without quotations from the request that would have a meaning (`tells`).

    Quotations come from messages, instructions and tools, in any case and escaping. Linear in the text and the request.
    """
    if call is None or not tells(text):
        return text
    text = _plain(text if len(text) <= 2 * _MAX_READ else text[:_MAX_READ] + _ELSEWHERE + text[-_MAX_READ:])
    windows = {window for _, window in _windows(text)}
    quoted = {window for sent in _sent(call) for _, window in _windows(_plain(sent)) if window in windows}
    parts: list[str] = []
    last = 0
    for start, end in united((start, start + _QUOTE) for start, window in _windows(text) if window in quoted):
        if tells(text[start:end]):
            parts.append(text[last:start])
            last = end
    return _ELSEWHERE.join((*parts, text[last:]))


def is_quoted(text: str, call: ModelCall) -> bool:
    """Return whether the whole text occurs in the request."""
    plain = _plain(text)
    return any(plain in _plain(sent) for sent in _sent(call))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    return ((start, text[start : start + _QUOTE]) for start in range(len(text) - _QUOTE + 1))


def _plain(text: str) -> str:
    return _SPACES.sub(" ", unescaped(text)).lower()


def _sent(call: ModelCall) -> Iterator[str]:
    """Every text of the request that a person, a program or a model wrote."""
    request = call.request
    parts: list[Any] = [block.model_dump() for message in request.messages for block in message.content]
    system = request.system
    parts += [system] if isinstance(system, str) else [block.text for block in system or ()]
    parts += [tool.model_dump() for tool in (*call.tools, *request.tools) if isinstance(tool, ToolDefinition)]
    return _texts([*parts, call.output_schema, request.extra_body])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) <= _LONG_WORD or " " in value:  # skip image data
            yield value
    elif is_object(value):
        for item in value.values():
            yield from _texts(item)
    elif is_list(value):
        for item in value:
            yield from _texts(item)
