"""Breaks special tokens in the text of a request, and restores them in the reply.

Some servers tokenize special tokens anywhere. They would take `<|im_start|>` in a tool's result for the beginning of a turn.
`broken` puts a zero-width joiner after the first character of each token, in all words of a request. It leaves signed or
encrypted content, provider-specific parts and media unchanged.

A token that already has joiners gets one more, so that `Joiners` can remove exactly what was added. In a reply, only the
tokens of this request change. The tokens are data, below; a test compares them with the normalizer's markers. Tags
(`<tool_call>`) stay.

O(length), and O(length x log tokens) for replies.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from llmcore.support.values.copies import Value, updated
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, texts_in
from llmcore.types import (
    Block,
    Message,
    ProviderBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["JOINER", "Joiners", "broken", "broken_text", "joiners_in", "without"]

JOINER = "\u200d"
_BAR = "[|\uff5c\u2016]"
_IN_BARS = "[^<>|\uff5c\u2016\\s][^<>|\uff5c\u2016\n]{0,63}"
_TOKENS = {
    "<": (
        rf"{_BAR}{_IN_BARS}{_BAR}?>",  # <|im_start|>, <|tool_call>, and with fullwidth bars
        rf"[A-Za-z_][\w.-]{{0,63}}{_BAR}>",  # <turn|>
        r"/?s>",
        r"(?:bos|eos|pad|unk|sep|sop|eop|eoh|eoa|escape|fim_(?:prefix|middle|suffix|pad))>",
        r"(?:start|end)_(?:of_(?:turn|image)|function_(?:call|declaration|response))>",
        r"(?:end_of_utterance|beginning_of_sentence|end_of_sentence)>",
        r"/?longcat_\w{1,32}>",
        r"role>(?:HUMAN|SYSTEM|ASSISTANT|OBSERVATION)</role>",  # as Ling's template writes it; elsewhere `<role>` is a tag
        r"/?(?:seed:\w{1,32}|ifm\|\w{1,32})>",
        r"</?SYS>>",
        r"(?:extra_id|SPECIAL|reserved)_\d{1,6}>",
    ),
    r"\[": (
        r"/?(?:INST|TOOL_CALLS?|TOOL_RESULTS?|TOOL_CONTENT|AVAILABLE_TOOLS|SYSTEM_PROMPT|THINK|MODEL_SETTINGS)\]",
        r"(?:ARGS|CALL_ID|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|BEGIN_AUDIO|AUDIO|TRANSCRIBE|TOOL_REQUEST|END_TOOL_REQUEST)\]",
        r"(?:[gs]?MASK|UNUSED_TOKEN_\d{1,6})\]",
        r"\|[^\[\]|\n]{1,32}\|\]",  # [|user|]
        r"e~\[",
    ),
    r"\]": (r"<\]minimax\[>\[", r"~b\]", r"~!b\["),
    "\u25c1": ("/?[^\u25c1\u25b7\\s]{1,32}\u25b7",),
    "\u273f": ("(?:FUNCTION|ARGS|RESULT|RETURN)\u273f",),
    _BAR: (rf"(?:DSML|GCML){_BAR}",),
}
"""What may follow the first character of a special token, by that character. No token is the beginning of another."""
_WORDS = ("refusal", "name")
"""Fields of a `ProviderBlock` that a chat template renders as words of the message."""
_TOKEN = re.compile("|".join(f"{first}{JOINER}{{0,32}}(?:{'|'.join(rest)})" for first, rest in _TOKENS.items()))
_FIRST = re.compile("|".join(_TOKENS))
_MAY_BE_BROKEN = re.compile(rf"(?:{'|'.join(_TOKENS)})(?={JOINER}|\\u200[dD])|\\u(?=[0-9a-fA-F]{{4}}(?:{JOINER}|\\u200[dD]))")


class _Forms:
    """Broken tokens as they may stand in a reply, each with the position of its joiner."""

    def __init__(self, forms: dict[str, tuple[int, int]]) -> None:
        self._joiners = forms
        self._sorted = sorted(forms)
        self._longest = max(map(len, forms), default=0)

    def joiner_at(self, text: str, at: int) -> tuple[int, int] | None:
        """The start and end of the joiner in the broken token at `at`, None without one."""
        window = text[at : at + self._longest]
        place = bisect_right(self._sorted, window) - 1
        if place < 0 or not window.startswith(self._sorted[place]):
            return None
        begin, end = self._joiners[self._sorted[place]]
        return at + begin, at + end

    def unfinished_from(self, text: str) -> int:
        """Where a possible unfinished token begins at the end of the text; the text's length if there is none."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            rest = text[at:]
            place = bisect_left(self._sorted, rest)
            if place < len(self._sorted) and self._sorted[place].startswith(rest):
                return at
        return len(text)


def _as_json(text: str) -> str:
    return as_json(text)[1:-1]


def _as_ascii(text: str) -> str:
    return json.dumps(text)[1:-1]


class Joiners:
    """The broken tokens of one request. Removes the joiners from a reply."""

    def __init__(self, sent: Collection[str]) -> None:
        forms: dict[str, tuple[int, int]] = {}
        for token in sent:
            for write in (str, _as_json, _as_ascii):
                first, rest = write(token[0]), write(token[1:])
                forms[first + rest] = (len(first), len(first) + len(rest) - len(write(token[2:])))
        self._forms = _Forms(forms)

    def places(self, text: str) -> list[tuple[int, int]]:
        """The added joiners in a text, as (start, end), also in escaped form in JSON."""
        found = (self._forms.joiner_at(text, first.start()) for first in _MAY_BE_BROKEN.finditer(text))
        return [place for place in found if place is not None]

    def unfinished_from(self, text: str) -> int:
        """Up to where an unfinished text can be restored. A token may have begun after that."""
        return self._forms.unfinished_from(text)

    def restored(self, text: str) -> str:
        """The text without the added joiners."""
        return without(text, self.places(text)) if text else text

    def restored_value(self, value: Any) -> Any:
        """JSON data with restored texts and keys."""
        return _mapped(value, self.restored)


def without(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return the text without the given ranges, which are in order."""
    parts: list[str] = []
    at = 0
    for start, end in places:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if is_object(value):
        return {change(key) if isinstance(key, str) else key: _mapped(item, change) for key, item in value.items()}
    return [_mapped(item, change) for item in value] if is_list(value) else value


def _tokens_in(text: str) -> list[tuple[int, int]]:
    """The start and end of each special token. One may begin within another, or with its last character."""
    found = (_TOKEN.match(text, first.start()) for first in _FIRST.finditer(text))
    return [token.span() for token in found if token is not None]


def _joined_behind(text: str, places: Sequence[int]) -> str:
    """The text with a joiner after each of these characters."""
    begins = [0, *(place + 1 for place in places)]
    return JOINER.join([text[begin:end] for begin, end in zip(begins, [*begins[1:], len(text)], strict=True)])


def broken_text(text: str) -> tuple[str, list[str]]:
    """Return the text with broken special tokens, and these tokens as they stand in it."""
    found = _tokens_in(text)
    if not found:
        return text, []
    places = [begin for begin, _ in found]
    whole = _joined_behind(text, places)
    return whole, [whole[at + begin : end + bisect_left(places, end - 1)] for at, (begin, end) in enumerate(found)]


def broken(request: Request) -> tuple[Request, Joiners | None]:
    """Return the request with broken special tokens, and what removes the joiners from a reply.

    If there are no special tokens, return the request itself and None.
    """
    breaker = _TokenBreaker()
    messages = [breaker.message(message) for message in request.messages]
    system = breaker.system(request.system)
    if not breaker.tokens:
        return request, None
    return updated(request, {"messages": messages, "system": system}), Joiners(breaker.tokens)


def joiners_in(sent: object) -> Joiners | None:
    """Return what removes the joiners from the reply to a recorded request. None if it has no broken token."""
    tokens = {text[begin:end] for text in texts_in(sent) for begin, end in _tokens_in(text) if text[begin + 1] == JOINER}
    return Joiners(tokens) if tokens else None


_B = TypeVar("_B", bound=Value)


class _TokenBreaker:
    """Breaks the tokens of one request and records them."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()

    def message(self, message: Message) -> Message:
        content = self._blocks(message.content)
        same = all(new is old for new, old in zip(content, message.content, strict=True))
        return message if same else updated(message, {"content": content})

    def system(self, system: str | list[TextBlock] | None) -> Any:
        return self._text(system) if isinstance(system, str) else system and self._texts(system)

    def _text(self, text: str) -> str:
        text, tokens = broken_text(text)
        self.tokens.update(tokens)
        return text

    def _blocks(self, blocks: list[Block]) -> list[Block]:
        texts = iter(self._texts([block for block in blocks if isinstance(block, TextBlock)]))
        return [next(texts) if isinstance(block, TextBlock) else self._block(block) for block in blocks]

    def _texts(self, blocks: list[TextBlock]) -> list[TextBlock]:
        """Break the tokens of texts that may be sent as one: a token may begin in one and end in the next."""
        if len(blocks) < 2:
            return [_with(block, "text", self._text(block.text)) for block in blocks]
        whole = "".join(block.text for block in blocks)
        self._text(whole)
        places, changed, begin = [place for place, _ in _tokens_in(whole)], list[TextBlock](), 0
        for block in blocks:
            end = begin + len(block.text)
            inside = [place - begin for place in places[bisect_left(places, begin) : bisect_left(places, end)]]
            changed.append(_with(block, "text", _joined_behind(block.text, inside)))
            begin = end
        return changed

    def _block(self, block: Block) -> Block:
        if isinstance(block, ToolResultBlock):
            return self._result(block)
        if isinstance(block, ToolUseBlock):
            changes: dict[str, Any] = {"id": self._text(block.id), "name": self._text(block.name)}
            changes["input"] = _mapped(block.input, self._text)
            if block.input is None:  # `raw_input` is sent instead
                changes["raw_input"] = self._text(block.raw_input)
            same = all(value == getattr(block, name) for name, value in changes.items())
            return block if same else updated(block, changes)
        if isinstance(block, ThinkingBlock) and not block.signature:
            return _with(block, "thinking", self._text(block.thinking))
        if isinstance(block, ProviderBlock):
            words = {key: self._text(words) for key in _WORDS if isinstance(words := block.data.get(key), str)}
            return _with(block, "data", {**block.data, **words})
        return block

    def _result(self, block: ToolResultBlock) -> ToolResultBlock:
        texts = iter(self._texts([part for part in block.content if isinstance(part, TextBlock)]))
        content = [next(texts) if isinstance(part, TextBlock) else part for part in block.content]
        name = block.name and self._text(block.name)
        changes = {"tool_use_id": self._text(block.tool_use_id), "name": name, "content": content}
        return block if all(value == getattr(block, key) for key, value in changes.items()) else updated(block, changes)


def _with(block: _B, field: str, value: Any) -> _B:
    return block if value == getattr(block, field) else updated(block, {field: value})
