"""`Envelope`: the one form of every reply, whatever its protocol or dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

from pydantic import AliasChoices, ConfigDict, Field, PrivateAttr

from llmcore.support.values.copies import Value, copied, made, new_model
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
"""How reliable a repair is.

`lossless`: only one reading is possible (a trailing comma, quotes, comments, a fence, Python literals, missing closers of a
message that was not truncated). `coerced`: a change of type by the schema that loses nothing. `guess`: likely, not certain (inner
quotes, a missing comma, anything after an invented result). `truncated`: the input ended within the value.
"""

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "error", "cancelled"]

SegmentKind = Literal["content", "reasoning", "call", "markup"]


class Repair(Value):
    """One edit or conversion of a reply. `path`: its place, such as `filters[0].city`; `""` is the whole."""

    model_config = ConfigDict(frozen=True)

    kind: str
    path: JsonText = ""
    before: JsonData = None
    after: JsonData = None
    safety: Safety = "lossless"


class ToolCall(Value):
    """A call that the model made.

    `id`: that of the reply, else `call_<n>` by position.
    `arguments`: None if no object could be read; an empty `{}` is never invented.
    `raw_arguments`: the text of the arguments, JSON for native calls.
    `span`: (start, end) in the source text; None for native calls.
    `complete`: False if the input ended within the call. Such a call never runs.
    `known`: whether the name is that of a given tool; None if no tools were given.
    """

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
        """A call of valid fields, all of which are given. Nothing is validated. For the normaliser."""
        return new_model(cls, fields, _CALLS_FIELDS)


_CALLS_FIELDS = {*ToolCall.model_fields}
"""Shared by all calls, as in `copies.made`: the fields of a frozen model are set once."""


class NearMiss(Value):
    """Text in the form of a call that breaks a rule. It is content and never runs. The validator may ask the model about it."""

    model_config = ConfigDict(frozen=True)

    span: tuple[int, int]
    name: JsonText | None
    reason: JsonText


class Segment(NamedTuple):
    """A part of a source text: `text[start:end]` is of the `kind`. The segments of a source cover it without gaps."""

    start: int
    end: int
    kind: SegmentKind


def tool_use(call: ToolCall) -> ToolUseBlock:
    """The call as a block of the history."""
    arguments, raw = copied(call.arguments), call.raw_arguments
    return made(ToolUseBlock, id=call.id, name=call.name, input=arguments, raw_input=raw)


class Envelope(Value):
    """The one form of every reply.

    `content`: the text for the user, in order, without call markup and reasoning.
    `needs_more_work`: what the model stated; if it stated nothing, True if there are calls, else None.
    `finish_reason`: llmcore's term. `finish_word`: the provider's word.
    `truncated`: the input ended within a call, or a limit ended it before the answer began. In the result of a run also: a
    limit, an error or a filter ended the reply anywhere.
    `repairs`: those of no single call. For example, a call in the text is dropped if the reply has the same native call.

    `model_dump_json()` works whatever the model wrote: `json_data` converts text that UTF-8 cannot encode and numbers that JSON
    does not have. It writes the fields only. In an envelope that is read back, `source` and `segments` are empty, and the
    fields make `blocks`. Pickles and deep copies contain all of them.
    """

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
        """The text that `span` and `segments` refer to: the reply, or the joined text parts of a native reply."""
        private: Any = self.__pydantic_private__
        source: str = private["_source"]  # `self._source` takes 2 us
        return source

    @property
    def segments(self) -> list[Segment]:
        """The segments of `source`: every character is content, reasoning, call or markup. Computed on first access."""
        if callable(self._segments):
            self._segments = tuple(self._segments())
        return list(self._segments)

    @property
    def blocks(self) -> list[Block]:
        """The reply as blocks of the history, in order: text, thinking, tool_use and opaque provider parts.

        The blocks of an envelope that a caller constructed, or that was read from JSON, are made from its fields. The list is the
        envelope's own, so changing it changes the envelope.
        """
        private: Any = self.__pydantic_private__
        known: Callable[[], Sequence[Block]] | Sequence[Block] | None = private["_blocks"]
        if isinstance(known, list):
            return cast("list[Block]", known)
        found = self._of_fields() if known is None else known() if callable(known) else known
        private["_blocks"] = own = list(found)
        return own

    @property
    def is_calls_alone(self) -> bool:
        """Whether the reply has nothing but calls."""
        private: Any = self.__pydantic_private__
        return not (self.content or self.reasoning) and private["_blocks"] is None

    def _of_fields(self) -> list[Block]:
        thinking = [ThinkingBlock(thinking=self.reasoning)] if self.reasoning.strip() else []
        text = [TextBlock(text=self.content)] if self.content.strip() else []
        return [*thinking, *text, *map(tool_use, self.tool_calls)]

    def attach(
        self,
        source: str,
        segments: Callable[[], Sequence[Segment]] | Sequence[Segment],
        blocks: Callable[[], Sequence[Block]] | Sequence[Block],
    ) -> Self:
        """Set the parts that are computed lazily, and return self. For the normaliser and for adapters that build envelopes."""
        private = {
            "_source": source,
            "_segments": segments,
            "_blocks": tuple(cast("list[Block]", blocks)) if isinstance(blocks, list) else blocks,
        }
        object.__setattr__(self, "__pydantic_private__", private)  # one by one takes 4 us
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, as of any `Value`. `update` may also set `source`, `segments` and `blocks`. `deep` has no effect."""
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
        """An envelope of valid fields, all of which are given. Nothing is validated. If `blocks` is None, the fields make them.

        For the normaliser: to validate and to `attach` would take longer than to read a short reply.
        """
        return new_model(cls, fields, _FIELDS, {"_source": source, "_segments": segments, "_blocks": blocks})

    def __getstate__(self) -> dict[Any, Any]:
        self._compute()
        return super().__getstate__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        self._compute()
        return super().__deepcopy__(memo)

    def _compute(self) -> None:
        """Compute the lazy parts. Before that they reference their reader, which cannot be copied."""
        _ = self.segments, self.blocks

    def __eq__(self, other: object) -> bool:
        """Compares the fields, not `source`, `segments` and `blocks`, which JSON does not keep. So an envelope that is read back
        equals the saved one."""
        return self.__dict__ == other.__dict__ if isinstance(other, Envelope) else NotImplemented

    def canonical(self) -> dict[str, Any]:
        """The form that prompts ask for: `{"toolCalls": [{"name", "arguments"}], "content", "needsMoreWork"}`."""
        return {
            "toolCalls": [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls],
            "content": self.content,
            "needsMoreWork": self.needs_more_work,
        }


_FIELDS = {*Envelope.model_fields}
