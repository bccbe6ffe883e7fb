"""The assistant's turn in a native reply: its parts in order, its calls, and why it ended.

Parts keep the data that must go back to the provider. Texts are kept as ranges of the joined text, which the text engine
reads.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from llmcore.normalizer.native.calls import CallAssembly, NativeCall
from llmcore.normalizer.native.finish import reason_of
from llmcore.normalizer.native.wire_pieces import FinishWord, Opaque, Reasoning, Redacted
from llmcore.types.envelope import FinishReason

__all__ = ["NativeTurn", "Part", "TextRange", "Thinking"]


@dataclass(slots=True)
class TextRange:
    """`start:end` of the joined text. A refusal is text, too, but goes back to the provider as a refusal."""

    start: int
    end: int
    refusal: bool = False


@dataclass(slots=True)
class Thinking:
    """One block of reasoning.

    `carrier`: the provider's own part, which has the same text and goes back in its place. `closed`: its wire closed or signed
    it.
    """

    texts: list[str] = field(default_factory=list[str])
    signatures: list[str] = field(default_factory=list[str])
    carrier: Opaque | None = None
    closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def signature(self) -> str:
        return "".join(self.signatures)


Part = TextRange | Thinking | NativeCall | Redacted | Opaque


class NativeTurn:
    """Collects the parts of one reply."""

    __slots__ = ("_thinking", "calls", "finish_reason", "finish_word", "parts")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.calls = CallAssembly()
        self.finish_word: str | None = None
        self.finish_reason: FinishReason | None = None
        self._thinking: dict[Hashable, Thinking] = {}

    @property
    def reasoning(self) -> str:
        return "".join([part.text for part in self.parts if isinstance(part, Thinking)])

    @property
    def reasoning_is_closed(self) -> bool:
        """Whether the wire closed or signed its last block of reasoning. A signature comes at a block's end."""
        blocks = [part for part in self.parts if isinstance(part, Thinking)]
        return bool(blocks) and blocks[-1].closed

    @property
    def is_refusal(self) -> bool:
        """Whether all texts are refusals and there are no calls. The finish reason of such a reply is an ordinary one."""
        texts = [part for part in self.parts if isinstance(part, TextRange)]
        return bool(texts) and all(part.refusal for part in texts) and not self.calls.calls

    @property
    def last_call(self) -> NativeCall | None:
        """The call that nothing followed, or None."""
        last = next((part for part in reversed(self.parts) if not isinstance(part, Opaque)), None)
        return last if isinstance(last, NativeCall) else None

    def add_text(self, start: int, end: int, *, refusal: bool = False, begins: bool = False) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, TextRange) and last.end == start and last.refusal is refusal and not begins:
            last.end = end
        else:
            self.parts.append(TextRange(start, end, refusal))

    def add_reasoning(self, piece: Reasoning) -> None:
        if not piece.text and not piece.signature and not piece.closed and piece.key is None:
            return
        block = self._thinking_of(piece.key)
        block.closed = piece.closed or bool(piece.signature)
        if piece.text:
            block.texts.append(piece.text)
        if piece.signature:
            block.signatures.append(piece.signature)

    def _thinking_of(self, key: Hashable) -> Thinking:
        """The block of a piece of reasoning: its key's, or the last one unless that is signed."""
        if key is None:
            last = self.parts[-1] if self.parts else None
            if isinstance(last, Thinking) and not last.signatures:
                return last
        elif key in self._thinking:
            return self._thinking[key]
        block = Thinking()
        self.parts.append(block)
        if key is not None:
            self._thinking[key] = block
        return block

    def add_opaque(self, piece: Opaque) -> None:
        if piece.key is not None and piece.key in self._thinking:
            self._thinking[piece.key].carrier = piece
        else:
            self.parts.append(piece)

    def add_finish(self, piece: FinishWord) -> None:
        self.finish_word = piece.word
        self.finish_reason = piece.reason or reason_of(piece.word)
