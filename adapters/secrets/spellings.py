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

__all__ = ["Span", "found", "unescaped", "united"]

Span = tuple[int, int]
"""Start and end in the text."""

_LAYERS = 4
"""How many times over a text may be escaped."""

_ESCAPE = re.compile(
    r"""%u[0-9A-Fa-f]{4} | %[0-7][0-9A-Fa-f] | (?:%[89A-Fa-f][0-9A-Fa-f]){1,8}
    | &(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?
    | \\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[ux]\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[0-7]{3}|[nrt]|[^A-Za-z0-9])""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s+")
_BETWEEN_BYTES = re.compile(r"(?:0x|[\s:,;-])+", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class _Forms:
    """What to look for: in the text, in the text without white space, and in it without what separates bytes."""

    plain: tuple[str, ...]
    joined: tuple[str, ...]
    """Base64, Base32 and lists of byte values."""
    hexadecimal: tuple[str, ...]


@lru_cache(maxsize=256)
def _forms(word: str) -> _Forms:
    plain = {word, quote(word, safe=""), quote(word, safe="").replace("%20", "+"), word.replace(" ", "+")}
    joined: set[str] = set()
    hexadecimal: set[str] = set()
    for spelling in plain:
        data = spelling.encode("utf-8", "surrogatepass")
        once = _cores(data)
        joined |= once | {core for inner in once for core in _cores(inner.encode())} | _cores(data.hex().encode())
        joined.add(",".join(map(str, data)))
        hexadecimal |= {data.hex(), data.hex().upper()}
        hexadecimal |= {core.encode().hex() for core in once}
    folded = {word.upper(), word.lower()}
    return _Forms(tuple(plain | folded), tuple(joined), tuple(hexadecimal))


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


def found(text: str, words: Iterable[str]) -> list[Span]:
    """Where the words stand in the text, in order and not overlapping."""
    words, spans = tuple(words), list[Span]()
    sought = _sought(words)
    for layer in _layers(text) if words else ():
        joined = layer.replaced(_SPACE, lambda _: "") or layer
        unparted = layer.replaced(_BETWEEN_BYTES, lambda _: "") or layer
        spans += sought.plain.hits(layer)
        spans += sought.plain.hits(joined) if joined is not layer else ()
        spans += sought.hexadecimal.hits(unparted)
        spans += (_with_margin(text, span) for span in sought.joined.hits(joined))
    return united(spans)


_HEAD = 8  # characters of a form that the walk looks for
_FEW = 300
"""Heads up to which a search for each form is quicker than a walk: those of two words or three."""


class _Index:
    """Forms by how they begin: a text is walked once, however many there are."""

    def __init__(self, forms: Iterable[str]) -> None:
        self._short: list[str] = []
        self._by_head: dict[str, list[str]] = {}
        for form in set(forms):
            if len(form) < _HEAD:
                self._short.append(form)
            else:
                self._by_head.setdefault(form[:_HEAD], []).append(form)

    def hits(self, layer: _Layer) -> Iterator[Span]:
        few = len(self._by_head) <= _FEW
        for form in [*self._short, *(form for forms in self._by_head.values() for form in forms)] if few else self._short:
            position = layer.text.find(form)
            while position >= 0:
                end = position + len(form)
                yield layer.span_at_bottom(position, end)
                position = layer.text.find(form, end)
        if not few:
            text, by_head = layer.text, self._by_head
            for at in range(len(text) - _HEAD + 1):
                for form in by_head.get(text[at : at + _HEAD], ()):
                    if text.startswith(form, at):
                        yield layer.span_at_bottom(at, at + len(form))


@dataclass(frozen=True, slots=True)
class _Sought:
    plain: _Index
    joined: _Index
    hexadecimal: _Index


@lru_cache(maxsize=8)
def _sought(words: tuple[str, ...]) -> _Sought:
    forms = [_forms(word) for word in words]
    return _Sought(
        _Index(form for each in forms for form in each.plain),
        _Index(form for each in forms for form in each.joined),
        _Index(form for each in forms for form in each.hexadecimal),
    )


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
