"""The normaliser: any reply, in whatever protocol or dialect, becomes one envelope.

Rules
- One engine. `normalize` reads what a `Normalizer` would be fed; whole bodies and stream events become the same pieces.
- Text goes to the text engine; the text parts of a native reply are joined in order with nothing between.
- Never raises on a reply. A body that fits no wire is content: its JSON text.
- The envelope does not depend on how text or arguments were cut. Linear in the length of the reply.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from llmcore.normalizer.bare.fences import without_code
from llmcore.normalizer.dialects.registry import marker_table
from llmcore.normalizer.native.finish import finish_reason_of
from llmcore.normalizer.replies.envelopes import envelope_of_one_thing, envelope_of_text
from llmcore.normalizer.replies.native_reply import NativeReply
from llmcore.normalizer.replies.settings import Settings
from llmcore.normalizer.text.begun import may_end_in_call
from llmcore.normalizer.text.candidates import names_of, signs_of
from llmcore.normalizer.text.engine import SHAPES, TextEngine
from llmcore.normalizer.text.opening import begins_specially
from llmcore.normalizer.text.shapes import segments_of_one
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.errors import CallerError
from llmcore.types.events import NormalizerEvent
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.requests import Reply
from llmcore.types.tools import ToolSet

__all__ = ["Normalizer", "normalize"]


def normalize(
    reply: object,
    tools: ToolSet | None = None,
    *,
    dialects: Collection[str] | None = None,
    finish_reason: str | None = None,
    reasoning_open: bool = False,
    forced_tool: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Envelope:
    """As `llmcore.normalize`, which says what the parameters mean, with tools that are compiled already: `CallerError` when
    `tools` is no `ToolSet`."""
    if type(reply) is str:
        quick = None if reasoning_open or forced_tool else _of_one_thing(reply, _checked(tools), dialects, finish_reason, limits)
        if quick is not None:
            return quick
    settings = Settings(_checked(tools), dialects, reasoning_open, forced_tool, limits, listening=False)
    wire: str | None = None
    if isinstance(reply, Reply):
        settings, wire, reply = settings.told_by(reply), reply.wire, reply.raw
    if isinstance(reply, str):
        return envelope_of_text(settings.engine().read(reply, _ours(finish_reason)), finish_reason)
    native = NativeReply(settings)
    native.feed(reply, wire)
    return native.finish(finish_reason)[0]


class Normalizer:
    """As `llmcore.Normalizer`, with tools that are compiled already; with `listening=False` no events are built."""

    def __init__(
        self,
        tools: ToolSet | None = None,
        *,
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        forced_tool: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        listening: bool = True,
    ) -> None:
        self._settings = Settings(_checked(tools), dialects, reasoning_open, forced_tool, limits, listening)
        self._text: TextEngine | None = None
        """While the reply is nothing but text."""
        self._native: NativeReply | None = None
        self._envelope: Envelope | None = None

    def feed(self, part: object) -> list[NormalizerEvent]:
        """A piece of text, a stream event (dict), a whole body, or any object with `model_dump()`.

        Returns the events that it settles. Raises `CallerError` after `finish`, never on what is fed.
        """
        if self._text is not None and isinstance(part, str):
            return self._text.feed(part)
        if self._envelope is not None:
            raise CallerError("this Normalizer is finished; make a new one for the next reply")
        wire: str | None = None
        if isinstance(part, Reply):
            self._settings, wire, part = self._settings.told_by(part), part.wire, part.raw
        if isinstance(part, str):
            return self._feed_text(part)
        if self._native is None:
            self._native, self._text = NativeReply(self._settings, self._text), None
        return self._native.feed(part, wire)

    def _feed_text(self, text: str) -> list[NormalizerEvent]:
        if self._native is not None:
            return self._native.feed_text(text)
        if self._text is None:
            self._text = self._settings.engine()
        return self._text.feed(text)

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """The reply is over. `finish_reason`: the provider's word or ours, where the reply did not hold it.

        Returns the last events; a second call returns none.
        """
        if self._envelope is not None:
            return []
        if self._native is not None:
            self._envelope, events = self._native.finish(finish_reason)
            return events
        text, self._text = self._text or self._settings.engine(), None
        events = text.finish(_ours(finish_reason))
        self._envelope = envelope_of_text(text, finish_reason)
        return events

    @property
    def envelope(self) -> Envelope:
        """What the reply became. Raises `CallerError` before `finish`."""
        if self._envelope is None:
            raise CallerError("the reply is not over: call finish() before reading the envelope")
        return self._envelope


def _of_one_thing(
    text: str, tools: ToolSet | None, dialects: Collection[str] | None, finish_reason: str | None, limits: Limits
) -> Envelope | None:
    """The envelope of a text that is nothing but content, or one call as its dialect writes it: most replies are. Else None."""
    table = marker_table(dialects)
    if not text or len(text) > limits.text:
        return None
    call = _only_call(text, tools, dialects, limits) if tools and limits.calls else None
    if call is None:
        names = None if tools is None else tools.names
        said = without_code(text, names) if "`" in text else text
        if said is None or signs_of(names, table).occur_in(said, names_of(names)):
            return None
        if begins_specially(text) or may_end_in_call(text):
            return None
    return envelope_of_one_thing(text, finish_reason, call, partial(segments_of_one, len(text), call))


def _only_call(text: str, tools: ToolSet, dialects: Collection[str] | None, limits: Limits) -> ToolCall | None:
    """The call that is all of a text, in the shape of a row."""
    whole = SHAPES.at(text, 0, tools, limits, dialects=None if dialects is None else frozenset(dialects))
    return None if whole is None or text[whole.end :].strip() else whole.call()


def _checked(tools: object) -> ToolSet | None:
    if tools is not None and not isinstance(tools, ToolSet):
        given = type(tools).__name__
        raise CallerError(f"llmcore.normalizer takes a ToolSet or None, not {given}; llmcore.normalize compiles lists of tools")
    return tools


def _ours(word: str | None) -> str | None:
    return finish_reason_of(word, False)
