"""What lenient readers do silently and wrongly: here it comes out right, is refused, or is tagged so that nothing
runs.
"""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.notations.json import JsonReading, read_json

RUNS = ("lossless", "coerced")


def runs(reading: JsonReading) -> bool:
    """Would a call with these arguments run on any tool?"""
    return bool(reading.values) and reading.complete and all(repair.safety in RUNS for repair in reading.repairs)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"city": "Paris"}\n{"city": "Rome"}', [{"city": "Paris"}, {"city": "Rome"}]),
        (
            '{"name":"f","arguments":{"a":1}}\n{"name":"f","arguments":{"a":2}}',
            [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}],
        ),
        ("{'city': 'Paris'} {'city': 'Rome'}", [{"city": "Paris"}, {"city": "Rome"}]),
    ],
)
def test_parallel_values_are_not_lost(text: str, values: list[Any]) -> None:
    assert read_json(text).values == values


@pytest.mark.parametrize(
    "text",
    [
        '{"cmd": "echo "x", "sudo": true, "y": "z"", "n": 1}',
        '{"cmd": "echo "x", "sudo": true}',
        '{"cmd": "d = {"k": "v", "sudo": "yes"}", "n": 1}',
        '{"cmd": \'a\', "sudo": \'b\', "n": "c "d", "e": 1}',
    ],
)
def test_a_key_inside_a_string_never_becomes_an_argument_that_runs(text: str) -> None:
    reading = read_json(text)
    assert not runs(reading)


def test_the_injected_key_is_refused_outright() -> None:
    assert read_json('{"cmd": "echo "x", "sudo": true, "y": "z"", "n": 1}').values == []


@pytest.mark.parametrize(
    "text", ["I think [maybe] we should {not} do it", "See [1] and [2].", "I am sorry, I cannot help with that."]
)
def test_prose_is_no_value(text: str) -> None:
    assert read_json(text).values == []


@pytest.mark.parametrize("text", ['{"delete": fals', '{"confirm": t', '{"a": 1, "b":', '{"amount": 100'])
def test_missing_text_is_not_invented(text: str) -> None:
    reading = read_json(text, cut=True)
    assert not reading.complete
    assert reading.values in ([{}], [{"a": 1}])


@pytest.mark.parametrize("word", ["+49 170 123", "$5", "50%", "00501", "12/25/2024", "1.2.3"])
def test_text_that_is_no_number(word: str) -> None:
    reading = read_json('{"a": ' + word + "}")
    assert reading.values == [{"a": word}]
    assert not runs(reading)


def test_digit_groups_are_not_cut_short() -> None:
    assert read_json('{"amount": 1,000}').values == []
    assert not runs(read_json("[1,000]"))
    assert read_json('{"n": 0x1F}').values == [{"n": 31}]


@pytest.mark.parametrize("text", ['{"a": 1e400}', '{"a": NaN, "b": 1,}', "[-Infinity]", '{"a": 1e400,}'])
def test_no_infinite_numbers(text: str) -> None:
    assert read_json(text).values == []


def test_no_newline_in_a_path() -> None:
    reading = read_json(r'{"path": "C:\Users\new"}')
    assert reading.values == [{"path": r"C:\Users\new"}]
    assert not runs(reading)


def test_merged_arguments_are_unreadable() -> None:
    assert read_json('{"a": 1{"a": 2, "a": 3}').values == []
    assert read_json('{"city": "Paris"{"city": "Rome"}').values == []


@pytest.mark.parametrize("text", ["{'" + '""\n"' + "```json[```", "[" * 100_000, '{"a": "' + "x," * 50_000])
def test_text_that_crashed_other_readers(text: str) -> None:
    assert not runs(read_json(text))
