"""A word is found in a text however it is written down."""

from __future__ import annotations

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.secrets.spellings import Words, found, unescaped, united

WORD = "tok-A1b2/C3+d4=e5F6 g7"
KEY = "sk-Zq9/xY+7wV=pLm3Nb8Tr"


def wrapped(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


SPELLINGS = {
    "plain": WORD,
    "capitals": WORD.upper(),
    "small letters": WORD.lower(),
    "broken": KEY[:9] + "\n    " + KEY[9:],
    "broken, escaped": json.dumps(KEY[:9] + "\r\n" + KEY[9:]),
    "url": quote(WORD, safe=""),
    "url, part of it": quote(WORD),
    "url, small digits": quote(WORD, safe="").replace("%2F", "%2f"),
    "url, every character": "".join(f"%{ord(letter):02X}" for letter in WORD),
    "url, twice": quote(quote(WORD, safe="")),
    "form": quote_plus(WORD),
    "old javascript": "".join(f"%u{ord(letter):04x}" for letter in WORD),
    "json": json.dumps(WORD).replace("/", "\\/"),
    "json, every character": "".join(f"\\u{ord(letter):04X}" for letter in WORD),
    "json in json": json.dumps(json.dumps("".join(f"\\u{ord(letter):04x}" for letter in WORD))),
    "python": "".join(f"\\x{ord(letter):02x}" for letter in WORD),
    "octal": "".join(f"\\{ord(letter):03o}" for letter in WORD),
    "shell": WORD.replace("-", "\\-").replace(" ", "\\ "),
    "html": html.escape(WORD),
    "html, decimal": "".join(f"&#{ord(letter)};" for letter in WORD),
    "html, hexadecimal": "".join(f"&#x{ord(letter):X};" for letter in WORD),
    "html, named": WORD.replace("+", "&plus;").replace("/", "&sol;").replace("=", "&equals;"),
    "hexadecimal": WORD.encode().hex(),
    "hexadecimal, capitals": WORD.encode().hex().upper(),
    "hexadecimal, parted": WORD.encode().hex(":"),
    "hexadecimal, list": ", ".join(f"0x{byte:02X}" for byte in WORD.encode()),
    "bytes": str(list(WORD.encode())),
    "bytes, indented": json.dumps(list(WORD.encode()), indent=2),
    "base64, parts": base64.b64encode(f"user:{WORD}@x".encode()).decode(),
    "base64, lines": wrapped("x" * 50 + WORD),
    "base64, lines in json": json.dumps(wrapped("x" * 50 + WORD)),
    "base64 in a url": quote(base64.b64encode(WORD.encode()).decode(), safe=""),
    "base64, twice": base64.b64encode(base64.b64encode(f"a:{WORD}".encode())).decode(),
    "base64 of the url": base64.b64encode(quote(WORD, safe="").encode()).decode(),
    "hexadecimal of base64": base64.b64encode(WORD.encode()).hex(),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_is_found(spelling: str) -> None:
    text = f"the server says {spelling!s} and more"
    ((start, end),) = found(text, Words([WORD, KEY]))
    assert text.startswith("the server says ", 0, start + 1)
    assert len(text) - end >= len("and more")


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.b32encode])
@given(before=st.binary(max_size=7), word=st.text("abcXYZ019-_?~", min_size=6, max_size=40), after=st.binary(max_size=7))
def test_a_word_inside_a_longer_encoded_text(encode: Callable[[bytes], bytes], before: bytes, word: str, after: bytes) -> None:
    text = encode(before + word.encode() + after).decode()
    assert found(text, Words([word])) != []


def test_what_stands_around_stays() -> None:
    text = "%41%42 key=%73ecret-1, &lt;b&gt;"
    ((start, end),) = found(text, Words(["secret-1"]))
    assert text[start:end] == "%73ecret-1"


def test_other_text_holds_nothing() -> None:
    assert found("no such thing; %zz \\q & 100%", Words(["secret-1"])) == []
    assert found("secret-1", Words()) == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [("a &amp;amp; b", "a & b"), ("100% \\q &none", "100% \\q &none"), ("\\\\u0041", "A"), ("gr%C3%BC%C3%9Fe", "grüße")],
)
def test_escapes_are_taken_out(text: str, plain: str) -> None:
    assert unescaped(text) == plain


def test_many_words_are_found_as_each_alone() -> None:
    words = [f"k{number:02}-Zq9/xW{number * 7919:07}" for number in range(40)]
    text = " ".join(
        f"{word} {quote(word, safe='')} {word.encode().hex()} {base64.b64encode(word.encode()).decode()}" for word in words
    )
    alone = united(span for word in words for span in found(text, Words([word])))
    assert found(text, Words(words)) == alone
    assert len(alone) >= 40


def test_the_cost_does_not_grow_with_the_words() -> None:
    text = "m" * 100_000

    def cost(number: int) -> float:
        words = Words(f"k{one:04}-Zq9/xW{one * 7919:09}" for one in range(number))
        started = time.process_time()
        found(text, words)
        return time.process_time() - started

    assert min(cost(120) for _ in range(3)) < 12 * min(cost(12) for _ in range(3))


def test_a_word_that_left_is_found_no_more_and_others_stay() -> None:
    words = Words([WORD, KEY])
    words.discard(WORD)
    words.discard("never there")
    assert found(f"{WORD} {KEY}", words) == found(f"{WORD} {KEY}", Words([KEY]))
    words.discard(KEY)
    assert (len(words), found(f"{WORD} {KEY}", words)) == (0, [])


def test_words_that_share_their_forms_leave_one_by_one() -> None:
    words = Words(["Abcdef-1234", "abcdef-1234"])  # each is a form of the other in small letters
    words.discard("Abcdef-1234")
    assert found("abcdef-1234", words) == [(0, 11)]
