"""Where a text holds one of some given words, however the words are written down.

A word may stand as it is, in capitals or in small letters, broken by white space, with any of its characters escaped
(URL, JSON, JavaScript, HTML, several times over), or encoded as a whole (hexadecimal, Base64, Base32, a list of byte
values), alone or inside a longer encoded text, with line breaks in between. Escapes are taken out of the text, layer by
layer, and each layer is searched for every encoded form of every word. Linear in the text: the layers and the forms are
few.
"""

from __future__ import annotations

import base64
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote, unquote

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["BEGINNING", "Span", "Words", "found", "unescaped", "united"]

Span = tuple[int, int]
"""Start and end in the text."""

_LAYERS = 4
"""How many times over a text may be escaped."""

_ESCAPE = lazy_regex(
    r"""%u[0-9A-Fa-f]{4} | %[0-7][0-9A-Fa-f] | (?:%[89A-Fa-f][0-9A-Fa-f]){1,8}
    | &(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?
    | \\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[ux]\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[0-7]{3}|[nrt]|[^A-Za-z0-9])""",
    re.VERBOSE,
)
_SPACE = lazy_regex(r"\s+")
_BETWEEN_BYTES = lazy_regex(r"(?:0x|[\s:,;-])+", re.IGNORECASE)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def _meant(escape: str) -> str:
    """What an escape stands for; itself where it stands for nothing."""
    kind = escape[0]
    if kind == "&":
        return html.unescape(escape)
    if kind == "%":
        return chr(int(escape[2:], 16)) if escape[1] in "uU" else unquote(escape)
    body = escape[1:]
    if body[0] in "uUx":
        code = int(body[1:].strip("{}"), 16)
        return chr(code) if code <= 0x10FFFF else escape
    return chr(int(body, 8)) if len(body) == 3 else _LETTERS.get(body, body)


@dataclass(slots=True)
class _Layer:
    """A text after some of its parts were replaced, and which part of the text before became which."""

    text: str
    below: _Layer | None = None
    _pieces: list[tuple[int, int, int, bool]] = field(default_factory=list[tuple[int, int, int, bool]])
    """Start here, start and end below, and whether the piece was replaced."""

    def replaced(self, pattern: re.Pattern[str], replacement: Callable[[str], str]) -> _Layer | None:
        """This layer with each match replaced; None when nothing changes."""
        parts: list[str] = []
        pieces: list[tuple[int, int, int, bool]] = []
        here = last = 0
        for match in pattern.finditer(self.text):
            new = replacement(match[0])
            if new == match[0]:
                continue
            for start, end, said, changed in ((last, match.start(), None, False), (*match.span(), new, True)):
                part = self.text[start:end] if said is None else said
                if part:
                    pieces.append((here, start, end, changed))
                    parts.append(part)
                    here += len(part)
            last = match.end()
        if not last:
            return None
        pieces.append((here, last, len(self.text), False))
        return _Layer("".join(parts) + self.text[last:], self, pieces)

    def without(self, pattern: re.Pattern[str]) -> _Layer:
        """This layer with each match taken out."""
        return self.replaced(pattern, lambda _: "") or self

    def spans(self, hits: Iterable[Span]) -> list[Span]:
        """Where the spans of this layer's text stand in the text at the bottom."""
        return [self.span_at_bottom(start, end) for start, end in hits]

    def span_at_bottom(self, start: int, end: int) -> Span:
        layer = self
        while layer.below is not None:
            start, end = layer._position(start, of_end=False), layer._position(end - 1, of_end=True)
            layer = layer.below
        return start, end

    def _position(self, position: int, *, of_end: bool) -> int:
        here, start, end, changed = self._pieces[bisect_right(self._pieces, position, key=lambda piece: piece[0]) - 1]
        if changed:
            return end if of_end else start
        return start + position - here + of_end


def _layers(text: str) -> Iterator[_Layer]:
    """The text, and the text with one layer of escapes after the other taken away."""
    layer: _Layer | None = _Layer(text)
    for _ in range(_LAYERS):
        if layer is None:
            return
        yield layer
        layer = layer.replaced(_ESCAPE, _meant)


def unescaped(text: str) -> str:
    """The text without any escapes."""
    *_, last = _layers(text)
    return last.text


# The forms of a word


def _spellings(word: str) -> set[str]:
    """The word as it stands, and as it does in a URL."""
    return {word, quote(word, safe=""), quote(word, safe="").replace("%20", "+"), word.replace(" ", "+")}


def _plain(word: str) -> set[str]:
    return _spellings(word) | {word.upper(), word.lower()}


@dataclass(frozen=True, slots=True)
class _Encodings:
    """What to look for in a text without white space (Base64, Base32, lists of byte values), and without what parts bytes."""

    joined: tuple[str, ...]
    hexadecimal: tuple[str, ...]


@lru_cache(maxsize=256)
def _encodings(word: str) -> _Encodings:
    joined: set[str] = set()
    hexadecimal: set[str] = set()
    for spelling in _spellings(word):
        data = spelling.encode("utf-8", "surrogatepass")
        once = _cores(data)
        joined |= once | {core for inner in once for core in _cores(inner.encode())} | _cores(data.hex().encode())
        joined.add(",".join(map(str, data)))
        hexadecimal |= {data.hex(), data.hex().upper()}
        hexadecimal |= {core.encode().hex() for core in once}
    return _Encodings(tuple(joined), tuple(hexadecimal))


def _cores(data: bytes) -> set[str]:
    """The characters that are the same whatever stands before and behind `data` in a longer encoded text."""
    forms: set[str] = set()
    for encode, bits, group in (
        (base64.b64encode, 6, 3),
        (base64.urlsafe_b64encode, 6, 3),
        (base64.b32encode, 5, 5),
    ):
        for before in range(group):
            encoded = encode(b"\0" * before + data).decode()
            forms.add(encoded[-(-before * 8 // bits) : (before + len(data)) * 8 // bits])
    return forms | {form.lower() for form in forms if form.isupper()}


def found(text: str, *sought: Words) -> list[Span]:
    """Where the words stand in the text, in order and not overlapping."""
    spans, sought = list[Span](), tuple(words for words in sought if words)
    for layer in _layers(text) if sought else ():
        joined, unparted = _SPACE.sub("", layer.text), _BETWEEN_BYTES.sub("", layer.text)
        for words in sought:
            spans += layer.spans(words.plain.hits(layer.text))
            # What is replaced is traced back only where something was found, which is rare.
            if joined != layer.text and (hits := words.plain.hits(joined)):
                spans += layer.without(_SPACE).spans(hits)
            if hits := words.hexadecimal.hits(unparted):
                spans += layer.without(_BETWEEN_BYTES).spans(hits)
            if hits := words.joined.hits(joined):
                spans += [_with_margin(text, span) for span in layer.without(_SPACE).spans(hits)]
    return united(spans)


_HEAD = 8  # characters of a form that the walk looks for
_FEW = 300
"""Forms up to which a search for each is quicker than a walk: those of two words or three."""


class _Index:
    """Forms by how they begin: a text is walked once, however many there are."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}  # of each form: two words may share one
        self._short: dict[str, None] = {}
        self._by_head: dict[str, tuple[str, ...]] = {}

    def add(self, forms: Iterable[str]) -> None:
        for form in forms:
            self._uses[form] = self._uses.get(form, 0) + 1
            if self._uses[form] > 1:
                continue
            if len(form) < _HEAD:
                self._short[form] = None
            else:
                head = form[:_HEAD]
                self._by_head[head] = (*self._by_head.get(head, ()), form)

    def discard(self, forms: Iterable[str]) -> None:
        for form in forms:
            self._uses[form] -= 1
            if self._uses[form]:
                continue
            del self._uses[form]
            self._short.pop(form, None)
            head = form[:_HEAD]
            left = tuple(other for other in self._by_head.pop(head, ()) if other != form)
            if left:
                self._by_head[head] = left

    def hits(self, text: str) -> list[Span]:
        hits: list[Span] = []
        few = len(self._uses) <= _FEW
        for form in tuple(self._uses if few else self._short):
            position = text.find(form)
            while position >= 0:
                end = position + len(form)
                hits.append((position, end))
                position = text.find(form, end)
        if not few:
            by_head = self._by_head
            for at in range(len(text) - _HEAD + 1):
                for form in by_head.get(text[at : at + _HEAD], ()):
                    if text.startswith(form, at):
                        hits.append((at, at + len(form)))
        return hits


class Words:
    """Words to look for, in all their forms. They may change while another thread looks: what it finds is what was there before
    or what is there after."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.plain, self.joined, self.hexadecimal = _Index(), _Index(), _Index()
        self._by_beginning: dict[str, tuple[str, ...]] = {}
        self._all: set[str] = set()
        self._encoded: set[str] = set()
        for word in words:
            self.add(word)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, word: str) -> bool:
        return word in self._all

    def add(self, word: str) -> None:
        """Look for the word, in all its forms."""
        if word not in self._all:
            beginning = word[:BEGINNING]
            self._by_beginning[beginning] = (*self._by_beginning.get(beginning, ()), word)
            self._all.add(word)
            self.plain.add(_plain(word))
        if word not in self._encoded:
            self._encoded.add(word)
            self.joined.add(_encodings(word).joined)
            self.hexadecimal.add(_encodings(word).hexadecimal)

    def discard_encodings(self, word: str) -> None:
        """Look for the word itself, in capitals or not, however it is escaped, but for no encoding of it as a whole: these take
        fifty times the memory."""
        if word in self._encoded:
            self._encoded.discard(word)
            self.joined.discard(_encodings(word).joined)
            self.hexadecimal.discard(_encodings(word).hexadecimal)

    def discard(self, word: str) -> None:
        """Look for the word no more."""
        self.discard_encodings(word)
        if word not in self._all:
            return
        self._all.discard(word)
        self.plain.discard(_plain(word))
        beginning = word[:BEGINNING]
        left = tuple(other for other in self._by_beginning.pop(beginning, ()) if other != word)
        if left:
            self._by_beginning[beginning] = left

    def begun_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Where the text may hold the beginning of a word, and of which."""
        by_beginning = self._by_beginning
        for at in range(len(text) - BEGINNING + 1) if by_beginning else ():
            for word in by_beginning.get(text[at : at + BEGINNING], ()):
                yield at, word


BEGINNING = 6
"""Characters of a word by which `Words.begun_in` knows it."""


def _with_margin(text: str, span: Span) -> Span:
    """The characters beside an encoded word hold a few bits of it, too."""
    start, end = span
    return start - text[max(start - 1, 0) : start].isalnum(), end + text[end : end + 1].isalnum()


def united(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those that touch as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
