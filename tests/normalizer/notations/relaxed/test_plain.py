"""Plain objects of other notations: where the fast reader answers, the whole reader says the same and repairs nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.notations import python
from llmcore.normalizer.notations.relaxed.plain import plain_arguments, plain_braces
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.types.limits import Limits

_TEXT = st.text(st.sampled_from("ab 1'\"\\\n\t{}[]():,=#é😀<|>-"), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_KEYWORDS = st.dictionaries(st.sampled_from(["a", "key", "_x1", "None_", "größe"]), _VALUES, max_size=4)
_PIECES = [
    "a=", "b =", "'x'", '"y"', "'\\n'", "'\\d'", "'it\\'s'", "1", "-2.5", "1e5", "01", "1_0", ".5", "True", "None", "true", "x", "f(", ")",
    "(", "[", "]", "{", "}", "'k':", "k:", ",", " ", "\n", "#", "r'a'", "'''", "**", "=", "==", "'a' 'b'", "é", "\\",
]  # fmt: skip
_BRACE_PIECES = [
    "key:",
    "k-1:",
    "<q>",
    "a b",
    "1",
    "-2.5",
    "1e5",
    "true",
    "null",
    "None",
    "word",
    "{",
    "}",
    "[",
    "]",
    ",",
    " ",
    '"',
    "'",
    ":",
    "\\",
]


def whole(text: str) -> python.PythonCall | None:
    """What the whole reader makes of `f` and the text."""
    calls = python.read_python_calls("f" + text).calls
    return calls[0] if calls else None


def _never(text: str, opening: int, limits: Limits) -> None:
    """As if nothing was plain."""


def assert_same_call(text: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    plain = plain_arguments(text, 0)
    if plain is None:
        return False
    with monkeypatch.context() as patched:
        patched.setattr(python, "plain_arguments", _never)
        call = whole(text)
    assert call is not None
    assert (call.arguments, call.span[1] - 1, call.repairs, call.positional, call.complete) == (*plain, [], [], True)
    assert repr(call.arguments) == repr(plain[0])  # 1 is not 1.0, nor True
    assert call.raw == text[1 : plain[1] - 1]
    return True


@given(given=_KEYWORDS)
def test_python_arguments_are_plain(given: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert_same_call("(" + ", ".join(f"{key}={value!r}" for key, value in given.items()) + ") and more", monkeypatch)


@given(text=st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_what_looks_like_python_is_read_alike(text: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert_same_call(f"(a={text})", monkeypatch)
        assert_same_call(f"({text})", monkeypatch)


@given(text=st.lists(st.sampled_from(_BRACE_PIECES), max_size=12).map("".join))
def test_what_looks_like_braces_is_read_alike(text: str) -> None:
    for body in ("{" + text + "}", "{key:" + text + "}", "{key:<q>" + text + "<q>}"):
        plain = plain_braces(body, "<q>")
        if plain is not None:
            reading = read_relaxed(body, 0, len(body), string_delimiters=("<q>",))
            assert (reading.value, reading.repairs, reading.end) == (plain, [], len(body))
            assert repr(reading.value) == repr(plain)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("()", {}),
        ("(a=1, b='x')", {"a": 1, "b": "x"}),
        ('(a=\'say "hi"\', b="it\'s")', {"a": 'say "hi"', "b": "it's"}),
        (r"(a='one\ntwo\\three\'s')", {"a": "one\ntwo\\three's"}),
        ("(rows=[{'n': 1, 'ok': True}, {'n': None}])", {"rows": [{"n": 1, "ok": True}, {"n": None}]}),
        ("(a='f(b=1)')", {"a": "f(b=1)"}),
    ],
)
def test_plain_calls(text: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain_arguments(text, 0) == (arguments, len(text))
    assert assert_same_call(text, monkeypatch)


@pytest.mark.parametrize(
    "text",
    [
        *("(1)", "(a=b)", "(a=f())", "(a=1, a=2)", "(a={b=1})", "('a': 1)", "(a=(1, 2))", "(a='x' 'y')", "(a=r'x')", "(a=1,)"),
        *("(a=1", "(a='x)", "(a=1_000)", "(a=0x1F)", "(a=true)", "(a=1 # one\n)", "(a='\\u00e9')", "(**{'a': 1})", "(a=1e999)"),
    ],
)
def test_text_that_needs_the_full_reader(text: str) -> None:
    assert plain_arguments(text, 0) is None


def test_plain_braces() -> None:
    body = '{title:<q>He said: "x"\n<q>,n:[1,-2.5],deep:{ok:true,none:null},<q>odd key<q>:<q><q>}'
    assert plain_braces(body, "<q>") == {
        "title": 'He said: "x"\n',
        "n": [1, -2.5],
        "deep": {"ok": True, "none": None},
        "odd key": "",
    }
    assert plain_braces("{city:Paris}", "<q>") is None
    assert plain_braces("{a:1,a:2}", "<q>") is None
    assert plain_braces(body + "}", "<q>") is None
    assert plain_braces(json.dumps({"a": "x" * 100}), "<q>", Limits(arguments=50)) is None
