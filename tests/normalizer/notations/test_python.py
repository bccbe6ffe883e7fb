"""Python call expressions as models write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.notations.python import PythonCall, PythonReading, read_python_calls
from llmcore.types.limits import Limits


def only(reading: PythonReading) -> PythonCall:
    (call,) = reading.calls
    return call


def safeties(call: PythonCall) -> list[tuple[str, str]]:
    return [(repair.kind, repair.safety) for repair in call.repairs]


CALLS: list[tuple[str, list[tuple[str, dict[str, Any]]]]] = [
    ("[get_weather(city='Paris')]", [("get_weather", {"city": "Paris"})]),
    ("[f(a=1), g.h(b='x')]", [("f", {"a": 1}), ("g.h", {"b": "x"})]),
    ("f(a=1)", [("f", {"a": 1})]),
    ("f(a=1)\ng(b=2)\n", [("f", {"a": 1}), ("g", {"b": 2})]),
    ("f(a=1); g(b=2);", [("f", {"a": 1}), ("g", {"b": 2})]),
    ("f() # first\n# more\ng()", [("f", {}), ("g", {})]),
    ("['f(x=\"a\")', \"g(y='b')\"]", [("f", {"x": "a"}), ("g", {"y": "b"})]),
    ("['get_weather'](city=\"Paris\")", [("get_weather", {"city": "Paris"})]),
    ("[\n  f(\n    a=1,\n    b=[1,\n 2],\n  ),\n]", [("f", {"a": 1, "b": [1, 2]})]),
    ("mcp__a__b-c(x=1)", [("mcp__a__b-c", {"x": 1})]),
    ("functions.f:0(x=1)", [("functions.f:0", {"x": 1})]),
    ("météo(ville='Orléans')", [("météo", {"ville": "Orléans"})]),
    ("f (a=1)", [("f", {"a": 1})]),
]


@pytest.mark.parametrize(("text", "calls"), CALLS)
def test_calls(text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    reading = read_python_calls(text)
    assert [(call.name, call.arguments) for call in reading.calls] == calls
    assert (reading.complete, reading.error, reading.repairs) == (True, None, [])
    assert text[reading.end :].strip() == ""
    assert all(call.repairs == [] and call.complete and call.error is None for call in reading.calls)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("True", True),
        ("null", None),
        ("-1.5e3", -1500.0),
        ("12345678901234567890123", 12345678901234567890123),
        ("(1, 2)", [1, 2]),
        ("(1)", 1),
        ("{1, 'a'}", [1, "a"]),
        ("{}", {}),
        ("{'a': {'b': [None]}}", {"a": {"b": [None]}}),
        ("{1: 2}", {"1": 2}),
        (r"'\x41\u00e9\U0001F600\N{BULLET}\101\t\'\"'", "A\u00e9\U0001f600\u2022A\t'\""),
        (r"'\d\_\/'", r"\d\_\/"),
        (r"r'C:\new\''", r"C:\new\'"),
        ("'''it's\n\"so\"'''", 'it\'s\n"so"'),
        ('"""a \\""" b"""', 'a """ b'),
        ("''", ""),
        ("'a\\\nb'", "ab"),
        ("'a), b=('", "a), b=("),
    ],
)
def test_python_literals_need_no_repair(written: str, value: Any) -> None:
    call = only(read_python_calls(f"f(x={written}, y=1)"))
    assert call.arguments == {"x": value, "y": 1}
    assert [repair.kind for repair in call.repairs] in ([], ["unquoted_key"])


@pytest.mark.parametrize(
    ("text", "arguments", "repairs"),
    [
        ("f(a: 1, b: 'x')", {"a": 1, "b": "x"}, [("keyword_colon", "lossless")]),
        ("f('a'='x')", {"a": "x"}, [("quoted_keyword", "lossless")]),
        ("f(a=>1)", {"a": 1}, [("key_separator", "guess")]),
        ("f(x='a\nb')", {"x": "a\nb"}, [("control_character", "lossless")]),
        ("f(x=2*5, y=1/6)", {"x": 10, "y": 1 / 6}, [("arithmetic", "coerced"), ("arithmetic", "coerced")]),
        ("f(x=foo)", {"x": "foo"}, [("bare_word", "guess")]),
        ("f(x=2024-01-15)", {"x": "2024-01-15"}, [("bare_word", "guess")]),
        ('f(x="say "hi" now", y=1)', {"x": 'say "hi" now', "y": 1}, [("inner_quotes", "guess")]),
        ("f(x='it's', y='b')", {"x": "it's", "y": "b"}, [("inner_quotes", "guess")]),
        ("f(x='a' y='b')", {"x": "a", "y": "b"}, [("missing_comma", "guess")]),
        ("f(x='a' \"b\"\n'c')", {"x": "abc"}, [("joined_strings", "guess")]),
        ("f(x=1, x=2)", {"x": 2}, [("duplicate_key", "guess")]),
        ("f(x=1, x=1)", {"x": 1}, [("duplicate_key", "lossless")]),
        ("f(x='C:\\Users\\new')", {"x": r"C:\Users\new"}, [("windows_path", "guess")]),
        ("f(x={a: 1})", {"x": {"a": 1}}, [("unquoted_key", "lossless")]),
        ("f(a=1", {"a": 1}, [("missing_closer", "lossless")]),
        ("f(a=[1, 2)", {"a": [1, 2]}, [("missing_closer", "lossless")]),
        ("[f(a=1]", {"a": 1}, [("missing_closer", "lossless")]),
        ("get\\_weather(a='b\\_c')", {"a": "b\\_c"}, [("markdown_escape", "lossless")]),
        ('f({"a": 1})', {"a": 1}, []),
        ("f(**{'a': 1})", {"a": 1}, []),
    ],
)
def test_repaired_arguments(text: str, arguments: dict[str, Any], repairs: list[tuple[str, str]]) -> None:
    reading = read_python_calls(text)
    call = only(reading)
    assert (call.arguments, call.positional, call.error) == (arguments, [], None)
    assert safeties(call) == repairs
    assert call.complete
    assert reading.complete


def test_markdown_escapes_of_names_and_brackets() -> None:
    reading = read_python_calls("\\[calculate\\_gcd(a=4, b=6)\\]")
    assert only(reading).name == "calculate_gcd"
    assert [repair.kind for repair in reading.repairs] == ["markdown_escape"]


def test_positional_arguments_are_the_callers() -> None:
    call = only(read_python_calls("f('Paris', 3, unit='C')"))
    assert (call.arguments, call.positional) == ({"unit": "C"}, ["Paris", 3])
    call = only(read_python_calls("f({'a': 1}, {'b': 2})"))
    assert (call.arguments, call.positional) == ({}, [{"a": 1}, {"b": 2}])


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        ("x=g(1)", "nested_call"),
        ("x=[g()]", "nested_call"),
        ("x={'a': datetime.now()}", "nested_call"),
        ("g(1)", "nested_call"),
        ("x=", "unreadable"),
        ("x=NaN", "unreadable"),
        ("x=1e400", "unreadable"),
        ("x=b'a'", "unreadable"),
        ("x=f'{a}'", "unreadable"),
        ("x=lambda: 1", "unreadable"),
        ("x=a[0]", "unreadable"),
        ("x=1 y=2", "unreadable"),
        ("**{'a': 1}, b=2", "unreadable"),
        ("x=" + "[" * 64 + "]" * 64, "depth_limit"),
        ("x=" + "7" * 4301, "digits_limit"),
    ],
)
def test_a_bad_call_costs_no_good_one(argument: str, error: str) -> None:
    reading = read_python_calls(f"[f({argument}), good(a=1)]")
    bad, good = reading.calls
    assert (bad.name, bad.arguments, bad.error, bad.raw, bad.repairs) == ("f", None, error, argument, [])
    assert (good.name, good.arguments) == ("good", {"a": 1})
    assert reading.complete


def test_nothing_is_executed() -> None:
    text = "f(x=__import__('os').system('true'))"
    assert only(read_python_calls(text)).arguments is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[Unfortunately, I cannot]",
        "[text](https://x.y)",
        "[1]",
        "def f(x): pass",
        "hello",
        '[{"name": "f"}]',
        "['a', 'b']",
        "x = f(a=1)",
        "(a=1)",
    ],
)
def test_no_calls(text: str) -> None:
    reading = read_python_calls(text)
    assert (reading.calls, reading.error) == ([], "unreadable")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("f(a=1) and so on", 6),
        ("f(a=1)\nThen I will wait.", 6),
        ("f(a=1).g()", 6),
        ("[f(a=1)] because", 8),
        ("f(a=1); g", 7),
    ],
)
def test_what_follows_is_the_callers(text: str, end: int) -> None:
    reading = read_python_calls(text)
    assert (len(reading.calls), reading.end, reading.complete) == (1, end, True)


def test_spans_and_raw_text() -> None:
    text = ">> [f(a=1), 'g(b=2)'] <<"
    reading = read_python_calls(text, 3, 21)
    assert [text[slice(*call.span)] for call in reading.calls] == ["f(a=1)", "'g(b=2)'"]
    assert [call.raw for call in reading.calls] == ["a=1", "b=2"]
    assert reading.end == 21


@pytest.mark.parametrize(
    ("text", "arguments", "complete"),
    [
        ("[f(a=1), g(b='x', c=10", [{"a": 1}, {"b": "x"}], [True, False]),
        ("[f(a=1), g(b='x", [{"a": 1}, {"b": "x"}], [True, False]),
        ("[f(a=1), g(b=", [{"a": 1}, {}], [True, False]),
        ("[f(a=1), g", [{"a": 1}], [True]),
        ("[f(a=1), ", [{"a": 1}], [True]),
        ("[f(a=1)", [{"a": 1}], [True]),
        ("f(a=1)\ng(b=[2, 3", [{"a": 1}, {"b": [2]}], [True, False]),
        ("[get_wea", [], []),
    ],
)
def test_cut_text(text: str, arguments: list[dict[str, Any]], complete: list[bool]) -> None:
    reading = read_python_calls(text, cut=True)
    assert [call.arguments for call in reading.calls] == arguments
    assert [call.complete for call in reading.calls] == complete
    assert not reading.complete
    assert all(repair.safety == "truncated" for repair in reading.repairs)


def test_a_missing_last_bracket_of_a_text_that_is_not_cut() -> None:
    reading = read_python_calls("[f(a='x'), g(b=2)")
    assert reading.complete
    assert [(repair.kind, repair.safety) for repair in reading.repairs] == [("missing_closer", "lossless")]


def test_limits() -> None:
    assert read_python_calls("f" * 300 + "(a=1)").calls == []
    assert only(read_python_calls("f(a='xxxx')", limits=Limits(arguments=4))).error == "arguments_limit"
    many = read_python_calls("f();" * 100, limits=Limits(calls=2))
    assert (len(many.calls), many.error, many.end) == (16, "calls_limit", 64)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["a", "city_2", "été"]), values, max_size=3), min_size=1, max_size=3))
def test_what_python_writes_is_read_back(written: list[dict[str, Any]]) -> None:
    text = "[" + ", ".join(f"tool({', '.join(f'{k}={v!r}' for k, v in given.items())})" for given in written) + "]"
    reading = read_python_calls(text)
    assert [call.arguments for call in reading.calls] == written
    assert [call.repairs for call in reading.calls] == [[]] * len(written)
    assert (reading.end, reading.complete) == (len(text), True)
