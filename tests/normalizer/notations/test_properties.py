"""What holds for any text: valid JSON untouched, idempotence, nothing raised, nothing lost, linear work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.notations import escapes, extent, python
from llmcore.normalizer.notations import json as json_reader
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.json import read_json, read_json_value
from llmcore.normalizer.notations.python import read_python_calls
from llmcore.normalizer.notations.relaxed import closing, state, strings, structure
from llmcore.normalizer.notations.relaxed import lexemes as tokens
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.types.limits import DEFAULT_LIMITS
from tests.helpers.growth import assert_linear

any_character = st.characters(codec=None)  # lone surrogates included
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(any_character, max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(any_character, max_size=6), inner, max_size=4),
    max_leaves=12,
)
pieces = st.sampled_from(
    [
        *"{}[]()\"'`:,=#1a \n",
        *("\\", '\\"', "\\n", "//", "/*", "*/", "=>", '"""', "'''", "True", "null", "fals", "-1.5e3", "2*3", "1e999"),
        *('"k": ', '"v", ', "\u201c", "\u201d", "\uff0c", "\ud83d", "\x00", "\ufeff", "C:\\U", "\\u12", "f(", "x=", "**"),
        *('<|"|>', "```", "--k ", "\u00ab", "r'", "NaN", "it's"),
    ]
)
broken = st.lists(pieces, max_size=30).map("".join)


@given(values, st.booleans(), st.sampled_from([None, 2]))
def test_valid_json_is_untouched(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for reading in (read_json(text), read_json_value(text)):
        assert reading.values == [json.loads(text)]
        assert (reading.repairs, reading.complete, reading.end, reading.error) == ([], True, len(text), None)


@given(values.filter(lambda value: isinstance(value, list | dict)), st.booleans())
def test_the_repairer_leaves_valid_json_as_it_is(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    reading = read_relaxed(text, 0, len(text))
    assert (reading.value, reading.end, reading.repairs) == (json.loads(text), len(text), [])


@given(values.filter(lambda value: isinstance(value, list | dict) and "'" not in json.dumps(value)))
def test_what_python_prints_is_read_without_a_guess(value: Any) -> None:
    text = repr(value)
    reading = read_json(text)
    assert reading.values == [json.loads(json.dumps(value))]
    assert {repair.safety for repair in reading.repairs} <= {"lossless"}


@given(st.text(any_character) | broken, st.booleans())
def test_nothing_raises_and_readings_are_idempotent(text: str, cut: bool) -> None:
    for reading in (read_json(text, cut=cut), read_json_value(text, cut=cut)):
        assert 0 <= reading.end <= len(text)
        assert bool(reading.values) or reading.error is not None
        for value in reading.values:
            again = read_json(json.dumps(value))
            assert (again.values, again.repairs) == ([value], [])
    for delimiters in ((), ('<|"|>',)):
        relaxed = read_relaxed(text, 0, len(text), cut=cut, string_delimiters=delimiters)
        assert relaxed.error is None or (relaxed.value, relaxed.repairs) == (None, [])
    calls = read_python_calls("f(" + text, cut=cut)
    assert all((call.arguments is None) == (call.error is not None) for call in calls.calls)
    read_python_calls(text, cut=cut)


@given(st.lists(st.dictionaries(st.text(max_size=4), values, max_size=3), min_size=1, max_size=5), st.data())
def test_values_one_after_the_other_are_all_read(written: list[dict[str, Any]], data: st.DataObject) -> None:
    between = data.draw(st.sampled_from(["", "\n", " ", ", ", ";", ";\n"]))
    text = between.join(json.dumps(value) for value in written)
    reading = read_json(text)
    assert (reading.values, reading.end) == ([json.loads(json.dumps(value)) for value in written], len(text))


@given(st.dictionaries(st.text(max_size=4), values, min_size=1, max_size=4), st.integers(1, 200))
def test_every_prefix_is_known_to_be_cut(value: dict[str, Any], at: int) -> None:
    text = json.dumps(value)
    prefix = text[: min(at, len(text) - 1)]
    reading = read_json(prefix, cut=True)
    assert not reading.complete
    for kept in reading.values:
        for key, member in kept.items():
            whole = value[key]
            assert type(member) is type(whole)
            if isinstance(member, bool | int | float | None):
                assert json.dumps(member) == json.dumps(whole)


HOSTILE: dict[str, Callable[[int], str]] = {
    "inner_quotes_in_a_list": lambda n: "[" + '"a" "b: ' * n,
    "opening_braces": lambda n: "{" * n,
    "opening_brackets": lambda n: "[" * n,
    "commas_in_an_open_string": lambda n: '{"a": "' + "x," * n,
    "closing_candidates": lambda n: '{"a": "' + 'x", ' * n,
    "keys_in_an_open_string": lambda n: '{"a": "' + 'x", "y ' * n,
    "quotes_without_a_partner": lambda n: '{"a": "' + "\", 'x" * n,
    "guillemets_without_a_partner": lambda n: '{"a": "' + '", \u00abx' * n,
    "comments_in_an_open_string": lambda n: '{"a": "' + '"#\n#' * n,
    "escaped_quotes": lambda n: '{"a": "' + '\\",' * n,
    "backslashes": lambda n: '{"a": "' + "\\" * n + '"x',
    "over_escaped": lambda n: "{" + '\\"a\\": \\"b\\\\\\"' * n,
    "digits": lambda n: "[" + "7" * n,
    "long_integers": lambda n: "[" + ("7" * 4000 + ",") * (n // 4000),
    "white_space": lambda n: '{"a": "x"' + " " * n + "y",
    "closing_brackets_in_a_string": lambda n: "[" * 60 + ('"x"' + "}" * 30) * n,
    "commas": lambda n: "[" + "," * n,
    "bare_words": lambda n: "[" + "a, " * n,
    "keys": lambda n: "{" + '"a"' * n,
    "empty_objects": lambda n: "{}" * n,
    "triple_quotes": lambda n: '{"a": """' + 'x"" ' * n,
    "apostrophes": lambda n: "{'a': '" + "it's " * n,
    "lost_delimiters": lambda n: "{a:" + "x,b:" * n + '<|"|>',
    "open_calls": lambda n: "f(x=" * n,
    "bad_calls": lambda n: "f(x=g()),\n" * n,
    "quoted_calls": lambda n: "['" + "f(x=1)', '" * n,
    "lines_of_bare_text": lambda n: "{a: x" + "\n" * n + "y" + ",\nz" * n,
    "names": lambda n: "a." * n,
}
READERS: dict[str, Callable[[str], object]] = {
    "json": read_json,
    "cut json": lambda text: read_json(text, cut=True),
    "delimited": lambda text: read_relaxed(text, 0, len(text), string_delimiters=('<|"|>',)),
    "calls": read_python_calls,
    "arguments": lambda text: read_python_calls("f(x=" + text),
    "extent": lambda text: Extent(0, quotes="\"'", delimiters=("</x>",), comments=True, triple=True).scan(text, True),
}


def _read_made(read: Callable[[str], object], texts: dict[int, str], size: int) -> None:
    read(texts[size])


@pytest.mark.parametrize("attack", HOSTILE)
def test_work_is_linear(attack: str) -> None:
    made = HOSTILE[attack]
    size = 12_000 if attack == "long_integers" else 5_000 // max(1, len(made(40)) // 40)
    texts = {size: made(size), 4 * size: made(4 * size)}
    for read in READERS.values():
        assert_linear(partial(_read_made, read, texts), size)


def test_five_megabytes_are_refused_at_once() -> None:
    for opening, error in (("{", "unreadable"), ("[", "depth_limit"), ("[{a:", "depth_limit")):
        text = opening * (5_000_000 // len(opening))
        assert read_json(text).error == "arguments_limit"
        assert read_relaxed(text).error == error  # to read it would take minutes


def test_looking_for_the_same_mark_again_is_free() -> None:
    def looked(times: int) -> None:
        text = "x" * 10 + "z" + "x" * 100 * times
        ahead = state.State(text, 0, len(text), limits=DEFAULT_LIMITS, cut=False, flavour=state.Flavour())
        assert {ahead.find("y", at) for at in range(times)} == {-1}
        assert [ahead.find("z", at) for at in (0, 9, 10, 11)] == [10, 10, 10, -1]

    assert_linear(looked, 10_000)


def test_an_extent_fed_in_many_pieces_is_linear() -> None:
    def fed(pieces: int) -> None:
        extent, text = Extent(0, delimiters=("</tool_call>",)), '{"a": "'
        for _ in range(pieces):
            text += 'x\\" <' * 8
            extent.scan(text)

    assert_linear(fed, 4_000)


NESTED_QUANTIFIER = re.compile(r"(?<!\\)[*+}]\+?\)(?:[*+]|\{\d*,)")


def test_no_pattern_repeats_a_repetition() -> None:
    modules = (closing, escapes, extent, json_reader, python, state, strings, structure, tokens)
    patterns: list[re.Pattern[str]] = []
    for module in modules:
        for value in vars(module).values():
            candidates = list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else [value]
            patterns += [one for one in candidates if isinstance(one, re.Pattern)]
    assert len(patterns) > 25
    assert [one.pattern for one in patterns if NESTED_QUANTIFIER.search(one.pattern)] == []
    assert NESTED_QUANTIFIER.search("(a+)+")
