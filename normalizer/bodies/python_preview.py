"""Emit events for Python calls between markers: the first call's name at once, its arguments as JSON while they arrive.

Literals are emitted as JSON once they are certain: a string in pieces, a number or a word once the text behind it ends it, a
dict's key with its colon. At anything else (a tuple, a set, an f-string, arithmetic), emitting stops until the call is read.
Later calls are emitted when all of them are read. An emitted delta is not taken back. As in `preview`, a call is also begun if
no events are needed. The work is linear: each character is read once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final

from llmcore.normalizer.bodies.preview import NAP
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.notations.escapes import decode, python_escape_at
from llmcore.normalizer.notations.strict import UNSOUND, parsed_strictly
from llmcore.normalizer.scanning.source import past
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["PythonPreview"]

_FIRST: Final = lazy_regex(r"\[?\s{0,64}([^\W\d][\w.-]{0,127})\(")
_LAYOUT: Final = lazy_regex(r"(?:\s|#[^\n]*\n)*+")
_KEYWORD: Final = lazy_regex(r"([^\W\d]\w{0,127})\s{0,16}=\s{0,16}(?=[^\s=])")
_KEY: Final = lazy_regex(r"""(?:'([^'\\\n]{0,256})'|"([^"\\\n]{0,256})")\s{0,16}:""")
_WORD: Final = lazy_regex(r"([\w.+-]{1,64})\s{0,64}(?=[,\])}])")
_REACH: Final = 340  # the most characters of a keyword, a key or a word
_NUMBER: Final = lazy_regex(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}
_FLAT: Final = {quote: lazy_regex(rf"(?:[^{quote}\\\n\ud800-\udfff]++|\\[\\'\"abfnrtv])*+") for quote in "'\""}
"""Text and escapes of one letter. Surrogates are excluded: the value may join two halves."""
_PLAIN: Final = {quote: lazy_regex(rf"[^{quote}\\\n\ud800-\udfff]*+") for quote in "'\""}
_CLOSERS: Final = {"[": "]", "{": "}"}


class PythonPreview:
    """Follows the calls that begin at `start`. `drafts` has the first call, once its name is certainly a tool's."""

    __slots__ = (
        "_at",
        "_awake",
        "_emitted",
        "_keywords",
        "_next",
        "_open",
        "_paused",
        "_quote",
        "_reading",
        "_separator",
        "_text_open",
        "drafts",
    )

    def __init__(self, reading: Reading, at: int, start: int, dialect: str) -> None:
        self._reading = reading
        self.drafts: list[Draft] = []
        self._emitted: list[str] = []
        self._open: list[str] = []  # brackets
        self._quote = ""  # the quote of the open literal
        self._text_open = False  # adjacent literals are one string
        self._separator = "{"
        self._keywords: set[str] = set()
        self._next: Callable[[PythonPreview], bool] = PythonPreview._keyword
        self._paused = False
        self._at: int = start
        head = _FIRST.match(reading.src.text, start)
        if (
            head is not None
            and reading.known(head[1])
            and not head[1].startswith("default_api.")
            and len(head[1]) <= reading.limits.name
        ):
            self.drafts.append(reading.begin(at, head[1], dialect))
            self._at = head.end()
        if not self.drafts or not reading.listening:
            self._pause()

    def advance(self) -> None:
        """Emit the text that has arrived."""
        emitted = len(self._emitted)
        while self._next(self):
            pass
        if emitted < len(self._emitted):
            self._reading.delta(self.drafts[0], "".join(self._emitted[emitted:]))

    def skim(self, more: str) -> bool:
        """Emit more of the arguments. Returns False at their end, and after `NAP` characters, so that the call is read again."""
        length, quote = len(self._reading.src.text), self._quote
        if quote and self._at + len(more) == length and _PLAIN[quote[0]].fullmatch(more):
            self._emit_text(more)
            self._reading.delta(self.drafts[0], self._emitted[-1])
            self._at = length
        else:
            self.advance()
        return not self._paused and length - self._awake < NAP

    def sleeps(self) -> bool:
        """Whether the function that reads the call may leave the next text to `skim`."""
        self._awake = len(self._reading.src.text)
        return not self._paused

    def finish(self, arguments: dict[str, Any] | None) -> None:
        """The first call is read: emit the rest of its arguments, if the emitted text is their beginning."""
        emitted = "".join(self._emitted)
        if emitted and (written := as_json(arguments)).startswith(emitted):
            self._reading.delta(self.drafts[0], written[len(emitted) :])

    def _emit(self, json: str) -> None:
        self._emitted.append(self._separator + json)
        self._separator = ""

    def _emit_text(self, text: str) -> None:
        self._emitted.append(encode_basestring(text)[1:-1])

    # Each step returns whether to go on with `_next`. False means that more text is needed.

    def _pause(self) -> bool:
        self._next, self._paused = PythonPreview._pause, True
        return False

    def _wait(self) -> bool:
        """Wait for more text at `_at`. If enough has arrived, stop emitting: something else stands there."""
        return False if len(self._reading.src.text) - self._at < _REACH else self._pause()

    def _ahead(self) -> str:
        """Move `_at` past layout and return the next character; "" if it has not arrived."""
        text = self._reading.src.text
        self._at = past(_LAYOUT, text, self._at)
        return text[self._at : self._at + 1]

    def _keyword(self) -> bool:
        self._ahead()
        found = _KEYWORD.match(self._reading.src.text, self._at)
        if found is None:
            return self._wait()
        if found[1] in self._keywords:
            return self._pause()
        self._keywords.add(found[1])
        return self._emit_key(found[1], found.end())

    def _member(self) -> bool:
        if self._ahead() == "}":
            return self._after()
        found = _KEY.match(self._reading.src.text, self._at)
        return self._wait() if found is None else self._emit_key(found[found.lastindex or 0], found.end())

    def _emit_key(self, key: str, end: int) -> bool:
        self._emit(f"{encode_basestring(key)}: ")
        self._at, self._next = end, PythonPreview._value
        return True

    def _value(self) -> bool:
        char = self._ahead()
        if not char:
            return False
        if char in "'\"":
            return self._literal()
        if char in "[{":  # emitted with the first item: a brace may open a set
            self._separator += char
            self._open.append(char)
            self._at += 1
            self._next = PythonPreview._value if char == "[" else PythonPreview._member
            return True
        if char == "]":
            return self._after()
        return self._word()

    def _word(self) -> bool:
        found = _WORD.match(self._reading.src.text, self._at)
        if found is None:
            return self._wait()
        text = _LITERALS.get(found[1]) or _number(found[1], self._reading.limits.digits)
        if text is None:
            return self._pause()
        self._emit(text)
        self._at, self._next = found.end(), PythonPreview._after
        return True

    def _after(self) -> bool:
        """Read what follows a value, or an opening bracket without items."""
        char = self._ahead()
        if not char:
            return False
        if char == ",":
            self._separator = ", "
            in_list = self._open and self._open[-1] == "["
            inside = PythonPreview._value if in_list else PythonPreview._member
            self._next = inside if self._open else PythonPreview._keyword
        elif self._open and char == _CLOSERS[self._open[-1]]:
            self._open.pop()
            self._separator = self._separator.removesuffix(", ")
            self._emit(char)
            self._next = PythonPreview._after
        else:
            return self._pause()
        self._at += 1
        return True

    def _literal(self) -> bool:
        """Read the quote of a string: one character, or three."""
        quotes = self._reading.src.text[self._at : self._at + 3]
        if len(quotes) < 3 and quotes == quotes[0] * len(quotes):
            return False
        self._quote = quotes if quotes == quotes[0] * 3 else quotes[0]
        if not self._text_open:
            self._emit('"')
            self._text_open = True
        self._at += len(self._quote)
        self._next = PythonPreview._inside
        return True

    def _inside(self) -> bool:
        text, quote = self._reading.src.text, self._quote
        end = past(_FLAT[quote[0]], text, self._at)
        if end > self._at:
            self._emit_text(decode(text[self._at : end], python=True).value)
            self._at = end
        char = text[end : end + 1]
        if not char:
            return False
        if char == "\\":
            return self._escape()
        if char == quote[0]:
            if text.startswith(quote, end):
                self._quote, self._at, self._next = "", end + len(quote), PythonPreview._behind_literal
                return True
            if quote.startswith(text[end:]):
                return False
        elif len(quote) == 1 or 0xD800 <= ord(char) <= 0xDFFF:
            return self._pause()
        self._emit_text(char)
        self._at += 1
        return True

    def _escape(self) -> bool:
        found = python_escape_at(self._reading.src.text, self._at)
        if found is None:
            return False
        text, end = found
        if text is None or any(0xD800 <= ord(char) <= 0xDFFF for char in text):
            return self._pause()
        self._emit_text(text)
        self._at = end
        return True

    def _behind_literal(self) -> bool:
        char = self._ahead()
        if not char:
            return False
        if char in "'\"":
            return self._literal()
        if char not in ",)]}":
            return self._pause()
        self._emit('"')
        self._text_open, self._next = False, PythonPreview._after
        return True


def _number(word: str, digits: int) -> str | None:
    """A number as JSON writes it. None for any other word."""
    if _NUMBER.fullmatch(word) is None or len(word) > digits:
        return None
    try:
        value = parsed_strictly(word)
    except UNSOUND:
        return None
    return None if isinstance(value, float) and math.isinf(value) else as_json(value)
