"""Lists that are written as plain text: their items where the structure is clear, and nothing where it is not."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed


class Book(BaseModel):
    tags: list[str]


@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        ("- Rome\n- Oslo", list[str], ["Rome", "Oslo"]),
        ("* Rome\n* Oslo\n", list[str], ["Rome", "Oslo"]),
        ("• Rome", list[str], ["Rome"]),
        ("1. Rome\n2. Oslo", list[str], ["Rome", "Oslo"]),
        ("1) Rome\n2) Oslo", list[str], ["Rome", "Oslo"]),
        ("Cities:\n\n- Rome, the old one\n- Oslo", list[str], ["Rome, the old one", "Oslo"]),
        ("Rome, Oslo, Paris", list[str], ["Rome", "Oslo", "Paris"]),
        ("red, green, blue.", list[str], ["red", "green", "blue"]),
        ("New York, Los Angeles", list[str], ["New York", "Los Angeles"]),
        ("```\n- Rome\n- Oslo\n```", list[str], ["Rome", "Oslo"]),
        ("- 1\n- 2", list[int], [1, 2]),
        ("1, 2, 3", list[int], [1, 2, 3]),
        ("1.5, -2", list[float], [1.5, -2.0]),
        ("red, blue", list[Literal["red", "blue"]], ["red", "blue"]),
        ("red, blue", set[str], {"red", "blue"}),
        ("Rome, 3", tuple[str, int], ("Rome", 3)),
        ("\u7f57\u9a6c\u3001\u5965\u65af\u9646", list[str], ["\u7f57\u9a6c", "\u5965\u65af\u9646"]),
        ('{"tags": "- a\\n- b"}', Book, Book(tags=["a", "b"])),
        ('{"tags": "a, b"}', Book, Book(tags=["a", "b"])),
        ('{"result": "- Rome\\n- Oslo"}', list[str], ["Rome", "Oslo"]),
        ('{"result": "Rome, Oslo"}', list[str], ["Rome", "Oslo"]),
        ('Here: {"result": "1. Rome\\n2. Oslo"}', list[str], ["Rome", "Oslo"]),
        ('"- Rome\\n- Oslo"', list[str], ["Rome", "Oslo"]),
        ('{"tags": {"all": "- a\\n- b"}}', Book, Book(tags=["a", "b"])),
    ],
)
def test_a_list_in_plain_text_becomes_its_items(text: str, output_type: Any, value: Any) -> None:
    detail = parse_detailed(text, output_type, strictness="lenient")
    assert detail.value == value
    assert ("items_of_text", "coerced") in [(repair.kind, repair.safety) for repair in detail.repairs]


@pytest.mark.parametrize(
    "text",
    [
        "I like Rome.",
        "Rome and Oslo are cities.",
        "I like Rome, Oslo and Paris.",
        "Rome, Oslo, and Paris",
        "Yes, Rome.",
        "- Rome\nOslo",
        "- Rome\n  - Oslo",
        "- Rome\n* Oslo",
        "3. Rome\n4. Oslo",
        "Rome\nOslo",
        "Rome, ",
        "-",
        "",
    ],
)
@pytest.mark.parametrize("shape", ["bare", "string", "object"])
def test_a_text_that_is_not_clearly_a_list_is_refused(text: str, shape: str) -> None:
    """Also as a JSON string, and as the only value of a JSON object."""
    written = {"bare": text, "string": json.dumps(text), "object": json.dumps({"result": text})}[shape]
    with pytest.raises(OutputParseError):
        parse(written, list[str], strictness="lenient")


@pytest.mark.parametrize("text", ["- Rome\n- Oslo", "Rome, Oslo"])
def test_only_lenient_reads_a_list_in_plain_text(text: str) -> None:
    with pytest.raises(OutputParseError):
        parse(text, list[str])


def test_a_single_word_is_one_item_and_so_are_words_in_a_field() -> None:
    assert parse("Rome", list[str], strictness="lenient") == ["Rome"]
    assert parse('{"result": "Rome"}', list[str], strictness="lenient") == ["Rome"]
    assert parse('{"tags": "great book"}', Book, strictness="lenient") == Book(tags=["great book"])
    with pytest.raises(OutputParseError):
        parse('{"tags": "Well, this is no list, I fear."}', Book, strictness="lenient")
    assert parse("1,234", list[int], strictness="lenient") == [1234]
