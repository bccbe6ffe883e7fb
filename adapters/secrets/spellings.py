"""Finds given words in a text in any encoding.

A word may be written in upper or lower case, broken by white space, or with any of its characters escaped (URL, JSON,
JavaScript, HTML, several times). It may also be encoded as a whole (hexadecimal, Base64, Base32, a list of byte values),
alone or within a longer encoded text, with line breaks. Escapes are removed layer by layer, and each layer is searched for
every form of every word. Linear in the text, since layers and forms are few.
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
"""The most levels of escaping."""

_ESCAPE = lazy_regex(
    r"""%u[0-9A-Fa-f]{4} | %[0-7][0-9A-Fa-f] | (?:%[89A-Fa-f][0-9A-Fa-f]){1,8}
    | &(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?
    | \\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[ux]\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[0-7]{3}|[nrt]|[^A-Za-z0-9])""",
    re.VERBOSE,
)
_SPACE = lazy_regex(r"\s+")
_BETWEEN_BYTES = lazy_regex(r"(?:0x|[\s:,;-])+", re.IGNORECASE)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def _decoded_escape(escape: str) -> str:
    """The character that an escape stands for, or the escape itself if it is invalid."""
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
    """A text in which some parts were replaced, and the parts of the text below that they replace."""

    text: str
    below: _Layer | None = None
    _pieces: list[tuple[int, int, int, bool]] = field(default_factory=list[tuple[int, int, int, bool]])
    """The start in this text, the start and end in the text below, and whether the piece was replaced."""

    def replaced(self, pattern: re.Pattern[str], replacement: Callable[[str], str]) -> _Layer | None:
        """This layer with each match replaced. None if nothing changes."""
        parts: list[str] = []
        pieces: list[tuple[int, int, int, bool]] = []
        position = last = 0
        for match in pattern.finditer(self.text):
            new = replacement(match[0])
            if new == match[0]:
                continue
            for start, end, new_part, changed in ((last, match.start(), None, False), (*match.span(), new, True)):
                part = self.text[start:end] if new_part is None else new_part
                if part:
                    pieces.append((position, start, end, changed))
                    parts.append(part)
                    position += len(part)
            last = match.end()
        if not last:
            return None
        pieces.append((position, last, len(self.text), False))
        return _Layer("".join(parts) + self.text[last:], self, pieces)

    def without(self, pattern: re.Pattern[str]) -> _Layer:
        return self.replaced(pattern, lambda _: "") or self

    def spans(self, hits: Iterable[Span]) -> list[Span]:
        """The positions, in the original text, of spans of this layer."""
        return [self.span_at_bottom(start, end) for start, end in hits]

    def span_at_bottom(self, start: int, end: int) -> Span:
        layer = self
        while layer.below is not None:
            start, end = layer._position(start, of_end=False), layer._position(end - 1, of_end=True)
            layer = layer.below
        return start, end

    def _position(self, position: int, *, of_end: bool) -> int:
        begin, start, end, changed = self._pieces[bisect_right(self._pieces, position, key=lambda piece: piece[0]) - 1]
        if changed:
            return end if of_end else start
        return start + position - begin + of_end


def _layers(text: str) -> Iterator[_Layer]:
    """The text, then the text with one more layer of escapes removed, and so on."""
    layer: _Layer | None = _Layer(text)
    for _ in range(_LAYERS):
        if layer is None:
            return
        yield layer
        layer = layer.replaced(_ESCAPE, _decoded_escape)


def unescaped(text: str) -> str:
    """Return the text without escapes."""
    *_, last = _layers(text)
    return last.text


# The forms of a word


def _spellings(word: str) -> set[str]:
    """The word as written, and as in a URL."""
    return {word, quote(word, safe=""), quote(word, safe="").replace("%20", "+"), word.replace(" ", "+")}


def _plain(word: str) -> set[str]:
    return _spellings(word) | {word.upper(), word.lower()}


@dataclass(frozen=True, slots=True)
class _Encodings:
    """What to search in a text without white space (Base64, Base32, lists of byte values), and in one without byte
    separators."""

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
    """The characters that do not depend on what precedes and follows `data` in a longer encoded text."""
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
    """Return the spans of the words in the text, in order and without overlaps."""
    spans, sought = list[Span](), tuple(words for words in sought if words)
    for layer in _layers(text) if sought else ():
        joined, unparted = _SPACE.sub("", layer.text), _BETWEEN_BYTES.sub("", layer.text)
        for words in sought:
            spans += layer.spans(words.plain.hits(layer.text))
            # Positions are traced back only if something was found, which is rare.
            if joined != layer.text and (hits := words.plain.hits(joined)):
                spans += layer.without(_SPACE).spans(hits)
            if hits := words.hexadecimal.hits(unparted):
                spans += layer.without(_BETWEEN_BYTES).spans(hits)
            if hits := words.joined.hits(joined):
                spans += [_with_margin(text, span) for span in layer.without(_SPACE).spans(hits)]
    return united(spans)


_PREFIX_LENGTH = 8  # characters of a form that index it
_MAX_SEARCHES = 300
"""Up to this many forms, one search for each is faster than one pass over the text. Two or three words have so many."""


class _Index:
    """Forms by their beginnings, so that one pass over a text finds all of them."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}  # by form, since two words may share one
        self._short: dict[str, None] = {}
        self._by_head: dict[str, tuple[str, ...]] = {}

    def add(self, forms: Iterable[str]) -> None:
        for form in forms:
            self._uses[form] = self._uses.get(form, 0) + 1
            if self._uses[form] > 1:
                continue
            if len(form) < _PREFIX_LENGTH:
                self._short[form] = None
            else:
                head = form[:_PREFIX_LENGTH]
                self._by_head[head] = (*self._by_head.get(head, ()), form)

    def discard(self, forms: Iterable[str]) -> None:
        for form in forms:
            self._uses[form] -= 1
            if self._uses[form]:
                continue
            del self._uses[form]
            self._short.pop(form, None)
            head = form[:_PREFIX_LENGTH]
            left = tuple(other for other in self._by_head.pop(head, ()) if other != form)
            if left:
                self._by_head[head] = left

    def hits(self, text: str) -> list[Span]:
        hits: list[Span] = []
        searches_each = len(self._uses) <= _MAX_SEARCHES
        for form in tuple(self._uses if searches_each else self._short):
            position = text.find(form)
            while position >= 0:
                end = position + len(form)
                hits.append((position, end))
                position = text.find(form, end)
        if not searches_each:
            by_head = self._by_head
            for at in range(len(text) - _PREFIX_LENGTH + 1):
                for form in by_head.get(text[at : at + _PREFIX_LENGTH], ()):
                    if text.startswith(form, at):
                        hits.append((at, at + len(form)))
        return hits


class Words:
    """Words to search, in all their forms.

    They may change while another thread searches. That thread finds the words from before or after the change.
    """

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
        """Search for the word, in all its forms."""
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
        """Stop searching for encodings of the whole word, which take fifty times the memory. The word itself is still found."""
        if word in self._encoded:
            self._encoded.discard(word)
            self.joined.discard(_encodings(word).joined)
            self.hexadecimal.discard(_encodings(word).hexadecimal)

    def discard(self, word: str) -> None:
        """Stop searching for the word."""
        self.discard_encodings(word)
        if word not in self._all:
            return
        self._all.discard(word)
        self.plain.discard(_plain(word))
        beginning = word[:BEGINNING]
        left = tuple(other for other in self._by_beginning.pop(beginning, ()) if other != word)
        if left:
            self._by_beginning[beginning] = left

    def beginnings_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the positions at which the text may contain the beginning of a word, and the word."""
        by_beginning = self._by_beginning
        for at in range(len(text) - BEGINNING + 1) if by_beginning else ():
            for word in by_beginning.get(text[at : at + BEGINNING], ()):
                yield at, word


BEGINNING = 6
"""How many characters of a word `Words.beginnings_in` compares."""


def _with_margin(text: str, span: Span) -> Span:
    """The span with the characters beside it, since they hold some bits of an encoded word."""
    start, end = span
    return start - text[max(start - 1, 0) : start].isalnum(), end + text[end : end + 1].isalnum()


def united(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order. Spans that touch are merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
