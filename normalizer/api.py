"""The normalizer: any reply, in any protocol or dialect, becomes one envelope.

Rules
- There is one engine. `normalize` reads what a `Normalizer` would be fed; whole bodies and stream events become the same pieces.
- Text goes to the text engine. The text parts of a native reply are joined in order, with nothing between.
- It never raises on a reply. A body of no known wire is content: its JSON text.
- The envelope does not depend on how text or arguments were cut. The work is linear in the length of the reply.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from llmcore.normalizer.native.finish import finish_reason_of
from llmcore.normalizer.replies.envelopes import envelope_of_text, envelope_of_words_and_calls
from llmcore.normalizer.replies.settings import Settings
from llmcore.normalizer.text.engine import TextEngine
from llmcore.normalizer.text.quick import Quick, read_quickly
from llmcore.support.values.narrowing import is_object, text_of
from llmcore.types.envelope import Envelope
from llmcore.types.errors import CallerError
from llmcore.types.events import NormalizerEvent
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.requests import Reply, TextCalls
from llmcore.types.tools import ToolSet

if TYPE_CHECKING:
    from llmcore.normalizer.replies.native_reply import NativeReply

__all__ = ["Normalizer", "normalize"]

_CHATS = (None, "openai-chat")
"""The names of the wire whose plain bodies are read in one step."""


def normalize(
    reply: object,
    tools: ToolSet | None = None,
    *,
    dialects: Collection[str] | None = None,
    finish_reason: str | None = None,
    reasoning_open: bool = False,
    forced_tool: str | None = None,
    enveloped: bool = False,
    taught: str | None = None,
    text_calls: TextCalls = "standard",
    own: frozenset[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Envelope:
    """As `llmcore.normalize`, which documents the parameters, with compiled tools. Raises `CallerError` if `tools` is no
    `ToolSet`.

    - `enveloped`: the model was asked for this library's envelope, so an object with only `content` is one.
    - `taught`: the dialect that the prompt taught. Its calls count in the answer of a framed reply, too.
    - `own`: the dialects of a model that calls natively. A call in another dialect is a guess, unless it is the whole message.
    """
    wire: str | None = None
    if isinstance(reply, Reply):
        reasoning_open, forced_tool = reasoning_open or reply.reasoning_open, forced_tool or reply.forced_tool
        wire, reply = reply.wire, reply.raw
    is_plain = not (reasoning_open or forced_tool or enveloped) and text_calls == "standard"
    if type(reply) is str and is_plain:
        named = None if dialects is None else frozenset(dialects)
        quick = read_quickly(reply, _checked(tools), named, limits)
        if quick is not None and (own is None or not quick.calls):
            return envelope_of_words_and_calls(reply, finish_reason, quick)
    if is_object(reply) and wire in _CHATS and is_plain and not finish_reason:
        from llmcore.normalizer.replies.plain_chat import read_plain_chat  # only here: reading text does not import the wires

        named = None if dialects is None else frozenset(dialects)
        plain = read_plain_chat(reply, _checked(tools), named, limits, calls_natively=own is not None)
        if plain is not None:
            return plain
    settings = Settings(
        _checked(tools),
        dialects,
        bool(reasoning_open),
        forced_tool,
        limits,
        listening=False,
        enveloped=bool(enveloped),
        taught=taught,
        text_calls=text_calls,
        own=own,
    )
    if isinstance(reply, str):
        return envelope_of_text(settings.engine().read(text_of(reply), _ours(finish_reason)), finish_reason)
    native = _native(settings)
    native.feed(reply, wire)
    return native.finish(finish_reason)[0]


class Normalizer:
    """As `llmcore.Normalizer`, with compiled tools. If `listening=False`, no events are built."""

    def __init__(
        self,
        tools: ToolSet | None = None,
        *,
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        forced_tool: str | None = None,
        enveloped: bool = False,
        taught: str | None = None,
        text_calls: TextCalls = "standard",
        own: frozenset[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        listening: bool = True,
    ) -> None:
        self._settings = Settings(
            _checked(tools),
            dialects,
            bool(reasoning_open),  # compiled code takes only booleans
            forced_tool,
            limits,
            listening=bool(listening),
            enveloped=bool(enveloped),
            taught=taught,
            text_calls=text_calls,
            own=own,
        )
        self._text: TextEngine | None = None
        """The text engine, while the reply is only text."""
        self._native: NativeReply | None = None
        self._envelope: Envelope | None = None

    def feed(self, part: object) -> list[NormalizerEvent]:
        """Read a piece of text, a stream event (dict), a whole body, or any object with `model_dump()`. None is empty text.

        Returns the events that it decides. Raises `CallerError` after `finish`, and for bytes, because bytes may end within a
        character. It never raises on what a model wrote.
        """
        text = self._text
        if text is not None and type(part) is str:
            return text.feed(part)
        if self._envelope is not None:
            raise CallerError("this Normalizer is finished; make a new one for the next reply")
        wire: str | None = None
        if isinstance(part, Reply):
            self._settings, wire, part = self._settings.with_facts_of(part), part.wire, part.raw
        if isinstance(part, str) or part is None:
            return self._feed_text("" if part is None else text_of(part))
        if isinstance(part, bytes | bytearray):
            raise CallerError("feed takes text and events, not bytes: decode them first (codecs.getincrementaldecoder('utf-8'))")
        if self._native is None:
            self._native, self._text = _native(self._settings, self._text), None
        return self._native.feed(part, wire)

    def _feed_text(self, text: str) -> list[NormalizerEvent]:
        if self._native is not None:
            return self._native.feed_text(text)
        if self._text is None:
            self._text = self._settings.engine()
        return self._text.feed(text)

    @property
    def source(self) -> str:
        """The text that was fed so far: the text itself, or the joined text parts of a native reply. Spans refer to it."""
        if self._envelope is not None:
            return self._envelope.source
        reader = self._native or self._text
        return "" if reader is None else reader.source

    def withheld_text(self, start: int = 0) -> str:
        """The text that was fed and is in no event yet, from its character `start` on. The rest of the reply decides what it
        is.

        Raises `CallerError` if `start` is no integer.
        """
        if not isinstance(start, int):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise CallerError(f"withheld_text takes a character offset, as withheld_text(0), not {type(start).__name__}")
        if self._native is not None:
            return self._native.withheld_text(start)
        return "" if self._text is None else self._text.withheld_text(start)

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """End the reply. `finish_reason` is the provider's word or an envelope's, used if the reply has none.

        Returns the last events; a second call returns none. Raises `CallerError` if `finish_reason` is neither a string nor
        None.
        """
        if not isinstance(finish_reason, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise CallerError(
                f"finish takes the provider's word as a text, as finish('length'), not {type(finish_reason).__name__}"
            )
        if self._envelope is not None:
            return []
        native, self._native = self._native, None
        if native is not None:
            self._envelope, events = native.finish(finish_reason)
            return events
        text, self._text = self._text or self._settings.engine(), None
        quick = self._read_quickly(text)
        if quick is not None:
            self._envelope = envelope_of_words_and_calls(text.source, finish_reason, quick)
            return []
        events = text.finish(_ours(finish_reason))
        self._envelope = envelope_of_text(text, finish_reason)
        return events

    def _read_quickly(self, text: TextEngine) -> Quick | None:
        """Read the text as `normalize` reads a string. If `listening=False`, the engine has read nothing yet."""
        settings = self._settings
        if settings.listening or settings.reasoning_open or settings.forced_tool or settings.enveloped:
            return None
        if settings.text_calls != "standard":
            return None
        named = None if settings.dialects is None else frozenset(settings.dialects)
        quick = read_quickly(text.source, settings.tools, named, settings.limits)
        return None if quick is not None and settings.own is not None and quick.calls else quick

    def __getstate__(self) -> object:
        """The state for copies and pickles. Raises `CallerError` while a reply is being read."""
        if self._text is not None or self._native is not None:
            raise CallerError("a Normalizer in the middle of a reply cannot be copied or pickled: call finish() first")
        return super().__getstate__()

    @property
    def envelope(self) -> Envelope:
        """The envelope of the reply. Raises `CallerError` before `finish`."""
        if self._envelope is None:
            raise CallerError("the reply is not over: call finish() before reading the envelope")
        return self._envelope


def _native(settings: Settings, text: TextEngine | None = None) -> NativeReply:
    from llmcore.normalizer.replies.native_reply import NativeReply  # only here: see `normalize`

    return NativeReply(settings, text)


def _checked(tools: object) -> ToolSet | None:
    if tools is not None and not isinstance(tools, ToolSet):
        given = type(tools).__name__
        raise CallerError(f"llmcore.normalizer takes a ToolSet or None, not {given}; llmcore.normalize compiles lists of tools")
    return tools


def _ours(word: str | None) -> str | None:
    return finish_reason_of(word, False)
