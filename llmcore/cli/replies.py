"""A reply that comes as text in any form (a model's words, a provider's JSON body, a stream's events), fed to a
normaliser.

The form is told by the beginning: server-sent events by their first field, JSON lines by a first line that is a
provider's event. Words and events are handed on as they come; other JSON waits for its end, for only the whole tells a
provider's body from a call that a model wrote as JSON. Linear in the length of the text, however it is cut.
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

_ENOUGH_TO_TELL = 8
"""Characters: the longest field name of an event stream with its colon."""


class ReplyReader:
    """`feed` text as it comes, then `finish`; both give the normaliser's events.

    `form` "auto" tells it by the beginning; "json" is a provider's body whatever its shape.
    """

    def __init__(self, normalizer: Normalizer, form: Form = "auto") -> None:
        self._normalizer = normalizer
        self._form: Form = form
        self._any_body = form == "json"
        self._held: list[str] = []  # until the form is told; of JSON, until the end
        self._splitter = EventSplitter()

    def feed(self, chunk: str) -> Iterator[NormalizerEvent]:
        self._held.append(chunk)
        if self._form == "auto":
            self._tell(chunk)
        if self._form in ("text", "events"):
            yield from self._hand_on(self._released())

    def finish(self, finish_reason: str | None = None) -> Iterator[NormalizerEvent]:
        rest = self._released()
        if self._form == "events":
            yield from self._fed([*self._splitter.feed(rest), *self._splitter.finish()])
        elif self._form == "text":
            yield from self._hand_on(rest)
        else:
            yield from self._fed(_replies(rest, self._any_body))
        yield from self._normalizer.finish(finish_reason=finish_reason)

    def _hand_on(self, text: str) -> Iterator[NormalizerEvent]:
        if self._form == "events":
            yield from self._fed(self._splitter.feed(text))
        elif text:
            yield from self._normalizer.feed(text)

    def _fed(self, pieces: Iterable[dict[str, Any] | str]) -> Iterator[NormalizerEvent]:
        for piece in pieces:
            yield from self._normalizer.feed(piece)

    def _released(self) -> str:
        text = "".join(self._held)
        self._held = []
        return text

    def _tell(self, chunk: str) -> None:
        """Settle the form if it can be told by now; it is asked again only where the new chunk can make a
        difference."""
        if len(self._held) > _ENOUGH_TO_TELL and "\n" not in chunk:
            return
        text = "".join(self._held)
        self._form = _form_of(text.lstrip("\ufeff \t\r\n"))


def _form_of(begin: str) -> Form:
    """ "auto" = it cannot be told yet."""
    if begin.startswith("{"):
        line, newline, _ = begin.partition("\n")
        return "auto" if not newline else "events" if _native_object(line) else "json"
    if begin.startswith("["):
        return "json"
    if looks_like_events(begin):
        return "events"
    return "text" if len(begin) >= _ENOUGH_TO_TELL else "auto"


def _native_object(line: str) -> bool:
    try:
        value = load_json(line)
    except ValueError:
        return False
    return is_object(value) and wire_of(value) is not None


def _replies(text: str, any_body: bool) -> Sequence[dict[str, Any] | str]:
    """A whole text: a provider's body, a list of its stream's events, or else what a model wrote."""
    try:
        value = load_json(text)
    except ValueError:
        return [text]
    if is_list(value) and (bodies := bodies_of_list(value)):
        return bodies
    if is_object(value) and (any_body or wire_of(value) is not None):
        return [value]
    return [text]
