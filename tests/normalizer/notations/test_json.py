"""The ladder: strict JSON untouched, several values, limits, and what stands around a value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer.notations.json import JsonReading, read_json, read_json_value
from llmcore.normalizer.notations.strict import sound_object
from llmcore.types.limits import Limits

# RFC 8259 cases: y_ must be read and left alone, n_ must be refused or carry a repair, i_ is free but must not raise.
VALID = {
    "y_array_empty": "[]",
    "y_array_with_spaces": "[ ]",
    "y_array_heterogeneous": '[null, 1, "1", {}]',
    "y_number_negative_zero": "[-0]",
    "y_number_exponent": "[1E+2]",
    "y_number_fraction_exponent": "[123.456e-78]",
    "y_number_big_integer": "[9007199254740993123456789]",
    "y_object_empty_key": '{"": 0}',
    "y_object_escaped_null_in_key": '{"a\\u0000b": 42}',
    "y_object_long_strings": json.dumps({"x": [{"id": "x" * 40}], "id": "y" * 40}),
    "y_object_duplicated_key": '{"a": "b", "a": "c"}',
    "y_string_accepted_surrogate_pair": '["\\ud801\\udc37"]',
    "y_string_all_escapes": '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
    "y_string_comments_inside": '["a/*b*/c//d#e"]',
    "y_string_nonCharacter": '["\uffff"]',
    "y_string_u2028": '["\u2028"]',
    "y_string_backslash_and_u_escaped_zero": '["\\\\u0000"]',
    "y_structure_lonely_string": '"asd"',
    "y_structure_lonely_int": "42",
    "y_structure_lonely_null": "null",
    "y_structure_whitespace": " \t\r\n[] \n",
    "y_string_dollar_and_delete": '["$ \x7f"]',
}
INVALID = {
    "n_array_1_true_without_comma": "[1 true]",
    "n_array_extra_close": '["x"]]',
    "n_array_extra_comma": '["",]',
    "n_array_double_comma": "[1,,2]",
    "n_array_just_comma": "[,]",
    "n_array_unclosed": '[""',
    "n_array_colon": '["": 1]',
    "n_array_star": "[*]",
    "n_number_plus": "[+1]",
    "n_number_leading_zero": "[012]",
    "n_number_dot_5": "[.5]",
    "n_number_5_dot": "[5.]",
    "n_number_hex": "[0x1F]",
    "n_number_infinity": "[Infinity]",
    "n_number_minus_infinity": "[-Infinity]",
    "n_number_nan": "[NaN]",
    "n_number_two_dots": "[1.2.3]",
    "n_number_with_alpha": "[1.2a-3]",
    "n_number_fullwidth_digit": "[\uff11]",
    "n_object_bad_value": '["x", truth]',
    "n_object_bracket_key": "{[: 1}",
    "n_object_comma_instead_of_colon": '{"x", null}',
    "n_object_double_colon": '{"x"::"b"}',
    "n_object_missing_colon": '{"a" 1}',
    "n_object_missing_key": '{:"b"}',
    "n_object_missing_value": '{"a":',
    "n_object_non_string_key": "{1: 1}",
    "n_object_single_quotes": "{'a': 0}",
    "n_object_trailing_comma": '{"id": 0,}',
    "n_object_trailing_comment": '{"a": "b"/**/}',
    "n_object_unquoted_key": '{a: "b"}',
    "n_string_unescaped_newline": '["new\nline"]',
    "n_string_unescaped_tab": '["\t"]',
    "n_string_unescaped_null": '["a\x00a"]',
    "n_string_invalid_escape": '["\\x00"]',
    "n_string_incomplete_escape": '["\\"]',
    "n_string_one_quote": '["asd]',
    "n_structure_bom": "\ufeff{}",
    "n_structure_capitalised_true": "[True]",
    "n_structure_empty": "",
    "n_structure_no_data": " ",
    "n_structure_unclosed_object": '{"asd": "asd"',
    "n_structure_nbsp": "[\u00a0]",
    "n_structure_bare_word": "hello",
    "n_structure_prose": "I am sorry, I cannot do that.",
    "n_structure_100000_opening_arrays": "[" * 100_000,
    "n_multidigit_then_dot": "[1.]",
}
FREE = {
    "i_number_huge_exponent": "[0.4e00669999999999999999999999999999999999999999999999]",
    "i_number_overflow": "[1e400]",
    "i_string_lone_surrogate_escape": '["\\ud800"]',
    "i_string_inverted_surrogates": '["\\udd1e\\ud834"]',
    "i_string_holding_a_lone_surrogate": '["\ud800"]',
    "i_structure_500_nested_arrays": "[" * 500 + "]" * 500,
    "i_number_5000_digits": "[" + "7" * 5000 + "]",
}


@pytest.mark.parametrize("name", VALID)
def test_valid_json_is_untouched(name: str) -> None:
    reading = read_json(VALID[name])
    assert reading.values == [json.loads(VALID[name])]
    assert (reading.complete, reading.error, reading.end) == (True, None, len(VALID[name].rstrip()))
    assert [repair.kind for repair in reading.repairs] == (["duplicate_key"] if "duplicated" in name else [])


@pytest.mark.parametrize("name", INVALID)
def test_invalid_json_is_never_passed_silently(name: str) -> None:
    reading = read_json(INVALID[name])
    assert reading.error or reading.repairs
    assert bool(reading.error) == (not reading.values)


@pytest.mark.parametrize("name", FREE)
def test_what_the_standard_leaves_open(name: str) -> None:
    reading = read_json(FREE[name])
    assert reading.error or json.dumps(reading.values)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[1e400]", "unreadable"),
        ('{"a": -1e999}', "unreadable"),
        ("[" + "1" * 400 + ".0]", "unreadable"),
        ("[" * 65 + "]" * 65, "depth_limit"),
        ('{"a":' * 65 + "1" + "}" * 65, "depth_limit"),
        ("[" * 100_000, "depth_limit"),
        ("[" + "7" * 4301 + "]", "digits_limit"),
        ("7" * 1_000_000, "digits_limit"),
        ("[0x" + "f" * 3600 + "]", "digits_limit"),  # 4,335 decimal digits
        ('"' + "x" * 1_000_000 + '"', "arguments_limit"),
        ("NaN", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_limits_have_names(text: str, error: str) -> None:
    reading = read_json(text)
    assert (reading.values, reading.error) == ([], error)


def test_at_the_limits_all_is_well() -> None:
    deep = "[" * 64 + "]" * 64
    assert read_json(deep).values == [json.loads(deep)]
    assert read_json("[" + "7" * 4300 + "]").values == [[int("7" * 4300)]]
    assert read_json(deep, limits=Limits(depth=63)).error == "depth_limit"
    assert json.dumps(read_json("[0x" + "f" * 3571 + "]").values)
    assert read_json("[1234567]", limits=Limits(digits=6)).error == "digits_limit"
    assert read_json("[10000000000]", limits=Limits(digits=10)).error == "digits_limit"  # as many bits as ten digits may have
    assert read_json("[1, 2]", limits=Limits(arguments=5)).error == "arguments_limit"
    assert read_json("{a: 1, b: +1, c: +2}", limits=Limits(repairs=2)).error == "repairs_limit"
    assert read_json("[" * 256 + "1,]" + "]" * 255, limits=Limits(depth=256)).error is None


@pytest.mark.parametrize(
    ("text", "values", "end"),
    [
        ('{"a": 1}{"a": 2}', [{"a": 1}, {"a": 2}], 16),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}], 17),
        ('{"a": 1}, {"a": 2}; {"a": 3}', [{"a": 1}, {"a": 2}, {"a": 3}], 28),
        ('{"a": 1}{a: 2}', [{"a": 1}, {"a": 2}], 14),
        ("{'a': 1}{\"a\": 2,}", [{"a": 1}, {"a": 2}], 17),
        ('[1][2] {"b": 3}', [[1], [2], {"b": 3}], 15),
        ('"a" "b"', ["a", "b"], 7),
        ('{"a": 1} and so on', [{"a": 1}], 8),
        ("[1] and [2]", [[1]], 3),
        ("5 apples", [5], 1),
    ],
)
def test_several_values_and_what_follows(text: str, values: list[Any], end: int) -> None:
    reading = read_json(text)
    assert (reading.values, reading.end, reading.complete, reading.error) == (values, end, True, None)


def test_a_second_value_that_cannot_be_read_costs_the_first_nothing() -> None:
    reading = read_json('{"a": 1}{"b": NaN}')
    assert (reading.values, reading.end, reading.error) == ([{"a": 1}], 8, "unreadable")


def test_members_after_a_superfluous_bracket_are_not_left_behind() -> None:
    reading = read_json('{"a": {"b": 1}}, "c": 2}')
    assert (reading.values, reading.end) == ([{"a": {"b": 1}, "c": 2}], 24)
    assert [(repair.kind, repair.safety) for repair in reading.repairs] == [("extra_closer", "guess")]


def test_a_cut_second_value_leaves_the_first_whole() -> None:
    reading = read_json('{"a": 1}{"b": [2, 3', cut=True)
    assert (reading.values, reading.complete) == ([{"a": 1}, {"b": [2]}], False)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('```json\n{"a": 1}\n```', ["code_fence"]),
        ('```\n{"a": 1}', ["code_fence"]),
        ('\ufeff{"a": 1}', ["byte_order_mark"]),
        ('{"a": 1}}', ["extra_closer"]),
        ('{"a": 1}\n}]\n', ["extra_closer"]),
    ],
)
def test_layout_around_the_value(text: str, kinds: list[str]) -> None:
    reading = read_json(text)
    assert reading.values == [{"a": 1}]
    assert text[reading.end :].strip() == ""
    assert [(repair.kind, repair.safety) for repair in reading.repairs] == [(kind, "lossless") for kind in kinds]


@pytest.mark.parametrize("text", ["12", "-1", "1.5", "tr", "nul", "+4"])
def test_a_cut_scalar_at_the_end_is_not_passed(text: str) -> None:
    for reading in (read_json(text, cut=True), read_json_value(text, cut=True)):
        assert (reading.values, reading.complete, reading.error) == ([], False, "unreadable")


def test_a_whole_literal_at_the_end_of_a_cut_text_stands() -> None:
    assert read_json("true", cut=True).values == [True]
    assert read_json('"Paris"', cut=True).values == ["Paris"]


@pytest.mark.parametrize(
    ("text", "delimited"),
    [
        ('{"a": {"b": "x"', True),
        ('{"a": [true', True),
        ('{"a": [1]', True),
        ('{"a": 1', False),
        ('{"a": "x", ', False),
        ('{"a": "x", "b":', False),
        ('{"a": "x', False),
        ('{"a": {', False),
    ],
)
def test_whether_the_last_value_shows_its_own_end(text: str, delimited: bool) -> None:
    assert read_json(text).delimited is delimited
    assert read_json(text, cut=True).delimited is (delimited and not text.endswith("1"))


def test_duplicate_keys_are_recorded_and_the_last_one_stands() -> None:
    reading = read_json('{"url": "http://x", "b": {"k": 1, "k": [2]}}')
    assert reading.values == [{"url": "http://x", "b": {"k": [2]}}]
    assert [(repair.kind, repair.path, repair.before, repair.after) for repair in reading.repairs] == [
        ("duplicate_key", "k", 1, [2])
    ]


@pytest.mark.parametrize("text", ['{"t": "10:30", "u": "a\\": b"}', '{"a" : {"b" :1}}', '{"x":{"y":{"z":"::"}}}'])
def test_colons_elsewhere_are_no_duplicates(text: str) -> None:
    assert read_json(text).repairs == []


def test_read_value_stops_at_the_end_of_the_value() -> None:
    text = 'x = {"a": [1, "}"]} and {"b": 2}'
    assert read_json_value(text, 4) == JsonReading([{"a": [1, "}"]}], [], True, 19)
    relaxed = read_json_value("f {'a': 1,} tail", 2)
    assert (relaxed.values, relaxed.end) == ([{"a": 1}], 11)
    assert read_json_value("see {this}", 4).error == "unreadable"


def test_big_integers_stay_exact() -> None:
    big = 2**200 + 1
    assert read_json(json.dumps({"id": big})).values == [{"id": big}]
    assert read_json(f"{{id: {big},}}").values == [{"id": big}]


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ('{"a": {"b": [1, 2.5, "x", null]}}', True),
        ('{"a": 1e999}', False),
        ('{"a": [{"b": -1e400}]}', False),
        ('{"a": 1.5, "a": 1.5}', False),
        ('{"a": {"b": 1, "b": 2}}', False),
        ('{"a": "b: c", "d": "e\\": f"}', True),
        ('{"a": "b", "a": "c: d"}', False),
        ('{"a": ' + "9" * 4301 + "}", False),
        ("[1]", False),
        ('{"a": 1', False),
    ],
)
def test_sound_objects_need_no_repair(text: str, sound: bool) -> None:
    found = sound_object(text)
    assert (found is not None) is sound
    assert found is None or found == json.loads(text)


def test_a_float_that_rounds_its_number_is_recorded_once() -> None:
    text = '{"a": 1.10, "b": [12345678901234567890.12, 12345678901234567890.12, 2e3], "c": 2.5}'
    assert sound_object(text) is None
    reading = read_json(text)
    assert reading.values == [json.loads(text)]
    (repair,) = reading.repairs
    assert (repair.kind, repair.before, repair.safety) == ("rounded_number", "12345678901234567890.12", "coerced")


def test_brackets_around_a_sound_value_count_as_depth() -> None:
    deep = '{"a":' * 60 + "1" + "}" * 60
    assert sound_object(deep, inside=4) is not None
    assert sound_object(deep, inside=5) is None
    assert sound_object("{}", Limits(depth=3), inside=4) is None
