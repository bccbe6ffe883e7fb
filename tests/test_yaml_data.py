"""YAML as plain data: what is read, what is refused with its line, and that one bad item costs no other."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.limits import RECORDING_LIMITS, FileLimits
from llmcore.yaml_data import YamlProblem, load_yaml, yaml_items

SMALL = FileLimits(depth=4, values=25, aliased=10, number=10)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("# nothing", None),
        ("a: [1, 2.5, true, ~, text, '1', 2026-02-30]", {"a": [1, 2.5, True, None, "text", "1", "2026-02-30"]}),
        ("on: off\n1: 0x10\n~: .inf", {"on": False, "1": 16, "~": float("inf")}),
        ("[1:30, 12:30:45, 1:30.5, -1:30]", ["1:30", "12:30:45", "1:30.5", "-1:30"]),
        ("[0, 0.5, -0.0, 0o7, '010']", [0, 0.5, 0.0, "0o7", "010"]),
        ("a: !!str 1\nb: !!int '2'\nc: !!map {d: !!seq []}", {"a": "1", "b": 2, "c": {"d": []}}),
        ("a: &a [1]\nb: *a\n&k c: *k", {"a": [1], "b": [1], "c": "c"}),
        ("a: &a {x: 1, y: 1}\nb: {y: 2, <<: *a, z: 3}\n'<<': 4", {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2, "z": 3}, "<<": 4}),
    ],
)
def test_plain_data_is_read(text: str, data: Any) -> None:
    assert load_yaml(text, SMALL) == data


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: [[[[1]]]]", 2, "deeper than 4 levels"),
        ("- a\n" * 30, 25, "more than 25 values"),
        ("a: &a [1, 2, 3]\nb: [*a, *a]\nc: *a", 3, "aliases repeat more than 10 values"),
        ("a: 1\nb: 12345678901", 2, "a number of more than 10 characters"),
        ("a: *a", 1, "names nothing before it"),
        ("a: &a [*a]", 1, "is inside the value that it names"),
        ("a: 1\n\na: 2", 3, "'a' is given twice"),
        ("1: a\n'1': b", 2, "'1' is given twice"),
        ("{a: 1}: b", 1, "a key that is not plain text"),
        ("a: !!binary aGk=", 1, "the tag 'tag:yaml.org,2002:binary'"),
        ("a: 1\n---\nb: 2", 2, "a second document"),
        ("a: 1\nb: \x07", 2, "control character|special characters"),
        ("a: [\n1", 2, "at the end of the text"),
        ("a: 1\nb: \ud800", 2, "surrogate"),
        ("a: 1\nb: 010", 2, "not all YAML readers read '010' as the same number"),
        ("a: !!int 1:30", 1, "not all YAML readers read '1:30' as the same number"),
        ("<<: 3", 1, "needs a mapping"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(YamlProblem, match=problem) as caught:
        load_yaml(text, SMALL)
    assert caught.value.line == line


def test_a_bad_item_costs_only_itself() -> None:
    text = "version: 1\ninteractions:\n- a\n- {x: [1, {y: 1, y: 2}, 3], z: 4}\n- &b !!binary aGk=\n- *b\n- !!python/x [1, [2]]\n- last\n"
    found = list(yaml_items(text, "interactions", RECORDING_LIMITS))
    assert [item for _, item in found if not isinstance(item, YamlProblem)] == ["a", b"hi", b"hi", "last"]
    assert [(line, item.line) for line, item in found if isinstance(item, YamlProblem)] == [(4, 4), (7, 7)]


def test_items_are_counted_one_by_one() -> None:
    text = "interactions:\n" + "- [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" * 50
    assert len(list(yaml_items(text, "interactions", SMALL))) == 50


@pytest.mark.parametrize(
    ("text", "problem"), [("- a\n" * 9, "more than 8 interactions"), (f"- [{'a, ' * 99}]\n- b", "more than 25 values")]
)
def test_too_much_ends_the_reading(text: str, problem: str) -> None:
    with pytest.raises(YamlProblem, match=problem):
        list(yaml_items("interactions:\n" + text, "interactions", FileLimits(values=25, exchanges=8)))


def test_items_before_a_mistake_are_given() -> None:
    items = yaml_items("interactions:\n- a\n- ]", "interactions", SMALL)
    assert next(items) == (2, "a")
    with pytest.raises(YamlProblem):
        next(items)


@pytest.mark.parametrize("text", ["", "a: 1", "- a", "interactions: {}", "interactions: text"])
def test_a_text_without_the_list_is_refused(text: str) -> None:
    with pytest.raises(YamlProblem, match="a list `interactions`"):
        list(yaml_items(text, "interactions", SMALL))


def test_a_key_at_the_top_stands_once() -> None:
    for text in ("a: 1\ninteractions: [x]\na: 2", "a: 1\ninteractions: [x]\ninteractions: [y]"):
        items = yaml_items(text, "interactions", SMALL)
        assert next(items) == (2, "x")
        with pytest.raises(YamlProblem, match="is given twice") as caught:
            next(items)
        assert caught.value.line == 3
