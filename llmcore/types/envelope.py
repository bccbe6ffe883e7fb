"""The envelope: what any reply, in whatever protocol or dialect it came, becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

from pydantic import AliasChoices, ConfigDict, Field, PrivateAttr

from llmcore.support.values.copies import Value, copied, filled_in, made
from llmcore.support.values.json_data import JsonData, JsonObject, JsonText
from llmcore.types.messages import Block, TextBlock, ThinkingBlock, ToolUseBlock

__all__ = [
    "Envelope",
    "FinishReason",
    "NearMiss",
    "Repair",
    "Safety",
    "Segment",
    "SegmentKind",
    "ToolCall",
    "tool_use",
]

Safety = Literal["lossless", "coerced", "guess", "truncated"]
"""How far a repair can be trusted.

`lossless`: only one reading is possible (trailing comma, quotes, comments, a fence, Python literals, missing closers
of a message that was not cut). `coerced`: a schema-guided change of type that loses nothing. `guess`: likely, not
certain (inner quotes, a missing comma, anything after an invented result). `truncated`: the input ended inside. """

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "error", "cancelled"]

SegmentKind = Literal["content", "reasoning", "call", "markup"]


class Repair(Value):
    """One edit or conversion that was made. `path` is where: `""` the whole, else like `filters[0].city`."""

    model_config = ConfigDict(frozen=True)

    kind: str
    path: JsonText = ""
    before: JsonData = None
    after: JsonData = None
    safety: Safety = "lossless"


class ToolCall(Value):
    """A call the model made.

    `arguments` is None when no object could be read: an empty `{}` is never invented. `raw_arguments` is the text
    (JSON for native calls) they were read from. `id` is the reply's own, else `call_<n>` by position. `span` is
    (start, end) in the source text, None for native calls. `complete` is False when the input ended inside the call;
    such a call is never run. `known`: is the name one of the tools given; None when no tools were told."""

    model_config = ConfigDict(frozen=True)
    texts: ClassVar[Mapping[str, tuple[str, ...]]] = {"arguments": ("raw_arguments", "rawArguments")}

    id: JsonText
    name: JsonText
    arguments: JsonObject | None
    raw_arguments: JsonText = Field(default="", validation_alias=AliasChoices("raw_arguments", "rawArguments"))
    dialect: JsonText = "native"
    span: tuple[int, int] | None = None
    complete: bool = True
    known: bool | None = None
    repairs: list[Repair] = Field(default_factory=list[Repair])

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> ToolCall:
        """A call of all fields, by name, that are right already: nothing is validated. For the normaliser."""
        return filled_in(cls, fields, _CALLS_FIELDS)


_CALLS_FIELDS = {*ToolCall.model_fields}
"""What cannot change shares them, as `copies.made` does."""


class NearMiss(Value):
    """Text that had the form of a call but failed a rule. It is content and never runs; layer 3 may ask the model
    about it."""

    model_config = ConfigDict(frozen=True)

    span: tuple[int, int]
    name: JsonText | None
    reason: JsonText


class Segment(NamedTuple):
    """A stretch of a source text: `text[start:end]` became `kind`. The segments of a source tile it without gaps."""

    start: int
    end: int
    kind: SegmentKind


def tool_use(call: ToolCall) -> ToolUseBlock:
    """The call as a block of the history."""
    arguments, raw = copied(call.arguments), call.raw_arguments
    return made(ToolUseBlock, id=call.id, name=call.name, input=arguments, raw_input=raw)


class Envelope(Value):
    """The one shape of a reply.

    `content` is the text for the user, in order, with call markup and reasoning removed. `needs_more_work` is what
    the model said; when it said nothing, True if there are calls, else None. `finish_reason` is ours, `finish_word`
    the provider's own. `truncated`: the input ended inside a call, or a limit ended it before any of the answer
    came; in the result of a run also that a limit, an error or a filter ended the reply anywhere. `blocks` keeps order
    and opaque parts, enough to rebuild the history. `repairs` are those that belong to no call, e.g. a call in the text
    dropped because the same one came natively, or one cut off before its name.

    `model_dump_json()` works whatever the model wrote: text that UTF-8 cannot encode and numbers that JSON has not are
    written as `json_data` says. It holds the fields: `source` and `segments` are empty in what is read back, and `blocks` those
    that the fields make. Pickles and deep copies hold what is computed lazily, computed."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    tool_calls: list[ToolCall] = Field(default_factory=list[ToolCall], alias="toolCalls")
    content: JsonText = ""
    reasoning: JsonText = ""
    needs_more_work: bool | None = Field(default=None, alias="needsMoreWork")
    finish_reason: FinishReason | None = Field(default=None, validation_alias=AliasChoices("finish_reason", "finishReason"))
    finish_word: JsonText | None = Field(default=None, validation_alias=AliasChoices("finish_word", "finishWord"))
    truncated: bool = False
    near_misses: list[NearMiss] = Field(
        default_factory=list[NearMiss], validation_alias=AliasChoices("near_misses", "nearMisses")
    )
    repairs: list[Repair] = Field(default_factory=list[Repair])

    _source: str = PrivateAttr(default="")
    _segments: Callable[[], Sequence[Segment]] | Sequence[Segment] = PrivateAttr(default=())
    _blocks: Callable[[], Sequence[Block]] | Sequence[Block] | None = PrivateAttr(default=None)

    @property
    def source(self) -> str:
        """The text that `span` and `segments` count in: the reply itself, or the joined text parts of a native
        reply."""
        private: Any = self.__pydantic_private__
        source: str = private["_source"]  # `self._source` takes 2 us
        return source

    @property
    def segments(self) -> list[Segment]:
        """Tiles `source`: every character is content, reasoning, call or markup. Computed when first asked for."""
        if callable(self._segments):
            self._segments = tuple(self._segments())
        return list(self._segments)

    @property
    def blocks(self) -> list[Block]:
        """The assistant turn as history blocks, in order: text, thinking, tool_use and opaque provider parts. Of an envelope
        made by hand, or read from JSON, those that its fields make. The envelope's own list: what is changed in it is changed
        in the envelope."""
        private: Any = self.__pydantic_private__
        known: Callable[[], Sequence[Block]] | Sequence[Block] | None = private["_blocks"]
        if isinstance(known, list):
            return cast("list[Block]", known)
        found = self._of_fields() if known is None else known() if callable(known) else known
        private["_blocks"] = own = list(found)
        return own

    @property
    def is_calls_alone(self) -> bool:
        """Does it hold calls and nothing else that could be a block?"""
        private: Any = self.__pydantic_private__
        return not (self.content or self.reasoning) and private["_blocks"] is None

    def _of_fields(self) -> list[Block]:
        thoughts = [ThinkingBlock(thinking=self.reasoning)] if self.reasoning.strip() else []
        words = [TextBlock(text=self.content)] if self.content.strip() else []
        return [*thoughts, *words, *map(tool_use, self.tool_calls)]

    def attach(
        self,
        source: str,
        segments: Callable[[], Sequence[Segment]] | Sequence[Segment],
        blocks: Callable[[], Sequence[Block]] | Sequence[Block],
    ) -> Self:
        """Give the parts that are computed lazily; for the normaliser and for adapters that build envelopes. Returns
        self."""
        private = {
            "_source": source,
            "_segments": segments,
            "_blocks": tuple(cast("list[Block]", blocks)) if isinstance(blocks, list) else blocks,
        }
        object.__setattr__(self, "__pydantic_private__", private)  # one by one takes 4 us
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As any type's; `update` may name `source`, `segments` and `blocks` as well. `deep` makes no difference."""
        fields = dict(update or {})
        source, segments, blocks = (fields.pop(name, None) for name in ("source", "segments", "blocks"))
        made = super().model_copy(update=fields)
        if blocks is None:
            known = self.blocks if self._blocks is None else self._blocks
            blocks = (lambda: copied(self.blocks)) if callable(known) else copied(known)
        return made.attach(self._source if source is None else source, self._segments if segments is None else segments, blocks)

    @classmethod
    def trusted(
        cls,
        fields: dict[str, Any],
        source: str,
        segments: Callable[[], Sequence[Segment]] | Sequence[Segment],
        blocks: Callable[[], Sequence[Block]] | Sequence[Block] | None,
    ) -> Envelope:
        """An envelope of all fields, by name, that are right already: nothing is validated. For the normaliser: to
        validate and `attach` takes longer than to read a short reply. `blocks` None: those that the fields make."""
        return filled_in(cls, fields, _FIELDS, {"_source": source, "_segments": segments, "_blocks": blocks})

    def __getstate__(self) -> dict[Any, Any]:
        self._compute()
        return super().__getstate__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        self._compute()
        return super().__deepcopy__(memo)

    def _compute(self) -> None:
        """Leave nothing lazy: a computation holds on to its reader, which cannot be copied."""
        _ = self.segments, self.blocks

    def __eq__(self, other: object) -> bool:
        """Equal fields: what the replies say, not the text that they came as (`source`, `segments`, `blocks`), which JSON does
        not keep. So what was saved equals what is read back."""
        return self.__dict__ == other.__dict__ if isinstance(other, Envelope) else NotImplemented

    def canonical(self) -> dict[str, Any]:
        """The envelope as prompts ask for it: `{"toolCalls": [{"name", "arguments"}], "content", "needsMoreWork"}`."""
        return {
            "toolCalls": [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls],
            "content": self.content,
            "needsMoreWork": self.needs_more_work,
        }


_FIELDS = {*Envelope.model_fields}
