"""Feeds a reply to a normaliser. The reply arrives as text in any form: a model's text, a provider's JSON body, or the
events of a stream.

The beginning shows the form: a first field means server-sent events; a first line that is a provider's event means
JSON lines. Text and events are passed on as they arrive. Other JSON waits for its end, since only the whole shows
whether it is a body or a call that a model wrote. Linear in the length of the text for any chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from llmcore.normalizer.native.wires import bodies_of_list, wire_of
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.transcripts.formats.decoding import load_json
from llmcore.transcripts.formats.events import EventSplitter, looks_like_events

if TYPE_CHECKING:
    from llmcore import Normalizer
    from llmcore.types import NormalizerEvent

__all__ = ["Form", "ReplyReader"]

Form = Literal["auto", "text", "json", "events"]

_SNIFFED = 8
"""Characters that suffice to recognise the first field of an event stream."""


class ReplyReader:
    """`feed` text as it arrives, then `finish`; both yield the normaliser's events.

    `form` "auto" detects the form by the beginning. "json" means a provider's body of any shape.
    """

    def __init__(self, normalizer: Normalizer, form: Form = "auto") -> None:
        self._normalizer = normalizer
        self._form: Form = form
        self._any_body = form == "json"
        self._buffer: list[str] = []  # text until the form is known; for JSON, until the end
        self._splitter = EventSplitter()

    def feed(self, chunk: str) -> Iterator[NormalizerEvent]:
        self._buffer.append(chunk)
        if self._form == "auto":
            self._detect(chunk)
        if self._form in ("text", "events"):
            yield from self._pass_on(self._released())

    def finish(self, finish_reason: str | None = None) -> Iterator[NormalizerEvent]:
        rest = self._released()
        if self._form == "events":
            yield from self._fed([*self._splitter.feed(rest), *self._splitter.finish()])
        elif self._form == "text":
            yield from self._pass_on(rest)
        else:
            yield from self._fed(_replies(rest, self._any_body))
        yield from self._normalizer.finish(finish_reason=finish_reason)

    def _pass_on(self, text: str) -> Iterator[NormalizerEvent]:
        if self._form == "events":
            yield from self._fed(self._splitter.feed(text))
        elif text:
            yield from self._normalizer.feed(text)

    def _fed(self, pieces: Iterable[dict[str, Any] | str]) -> Iterator[NormalizerEvent]:
        for piece in pieces:
            yield from self._normalizer.feed(piece)

    def _released(self) -> str:
        text = "".join(self._buffer)
        self._buffer = []
        return text

    def _detect(self, chunk: str) -> None:
        """Detect the form if the text so far shows it. Checks only if the new chunk can change the result."""
        if len(self._buffer) > _SNIFFED and "\n" not in chunk:
            return
        text = "".join(self._buffer)
        self._form = _form_of(text.lstrip("\ufeff \t\r\n"))


def _form_of(begin: str) -> Form:
    """The form of a text that begins so; "auto" = not known yet."""
    if begin.startswith("{"):
        line, newline, _ = begin.partition("\n")
        return "auto" if not newline else "events" if _native_object(line) else "json"
    if begin.startswith("["):
        return "json"
    if looks_like_events(begin):
        return "events"
    return "text" if len(begin) >= _SNIFFED else "auto"


def _native_object(line: str) -> bool:
    try:
        value = load_json(line)
    except ValueError:
        return False
    return is_object(value) and wire_of(value) is not None


def _replies(text: str, any_body: bool) -> Sequence[dict[str, Any] | str]:
    """The replies in a whole text: a provider's body, a list of its stream's events, else a model's text."""
    try:
        value = load_json(text)
    except ValueError:
        return [text]
    if is_list(value) and (bodies := bodies_of_list(value)):
        return bodies
    if is_object(value) and (any_body or wire_of(value) is not None):
        return [value]
    return [text]
