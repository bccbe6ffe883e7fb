"""Values out of prose: the right one or none, never another number, sign, size or choice than was meant."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from llmcore.types import OutputParseError
from llmcore.validator import parse
from llmcore.validator.coercion.scalars import boolean_in_prose, choice_in_prose, number_in_prose
from tests.helpers.growth import assert_linear


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("about 5", 5), ("$1,234", 1234), ("-5", -5), ("\u22125", -5), ("it is \u22125 degrees", -5), ("$-5", -5), ("+5", 5),
        ("5 apples", 5), ("5km", 5), ("5th", 5), ("5 \u20ac", 5), ("~5", 5), ("1/5", 0.2), ("5e3 units", 5000), ("5.", 5),
        ("No, 5", 5), ("no. 5", 5), ("5 or so", 5), ("It is 5. Yes, 5!x", None), ("5, that is 5", 5), ("It is 2.5, I think.", 2.5),
    ],
)  # fmt: skip
def test_a_number_that_nothing_changes_is_named(text: str, number: float | None) -> None:
    assert number_in_prose(text) == number


@pytest.mark.parametrize(
    "text",
    [
        # signs
        "minus 5", "negative 5", "- 5", "-$5", "\u2212 5", "\u20135", "temp-5", "temp\u22125", "($5)", "5 below zero",
        # sizes
        "3k", "3 k", "1.5 million", "5 million", "5bn", "$3M", "3 dozen", "5 hundred", "twenty 5", "5\u4e07", "5 lakh", "2 Millionen",
        # notations
        "0x1F", "0b11", "0o17", "10^3", "2\u00b2", "5\u00bd", "5 1/2", "5 and a half", "5!", "5 x 5", "5 * 5", "5 + 5", "1 000", "5 005",
        "1'000", "1\u202f000", "1,5", "1.2.3", "12:12", "007", "\u0663\u0663 5 5", "5**2",
        # bounds and denials
        "less than 5", "over 5", "at least 5", "up to 5", ">5", "\u22645", "\u00b15", "5 or more", "5+", "not 5", "isn't 5", "half of 5",
        "twice 5", "5 percent", "5%", "nicht 5",
    ],
)  # fmt: skip
def test_a_number_that_may_be_another_is_none(text: str) -> None:
    assert number_in_prose(text) is None
    for output_type in (int, float):
        with pytest.raises(OutputParseError):
            parse(text, output_type, strictness="lenient")


CHOICES = ["urgent", "normal"]


@pytest.mark.parametrize(
    "text",
    [
        "urgent", "Very urgent!", "It is urgent.", "the urgent one", "The customer cannot log in. It is urgent.",
        "urgent: the server is down", "No. It is urgent.",
    ],
)  # fmt: skip
def test_a_choice_that_nothing_denies_is_named(text: str) -> None:
    assert choice_in_prose(text, CHOICES) == "urgent"


@pytest.mark.parametrize(
    "text",
    [
        "not urgent", "non-urgent", "hardly urgent", "isn't urgent", "isn\u2019t really urgent", "not at all urgent", "barely urgent",
        "not so very much urgent", "far from urgent", "anything but urgent", "less urgent", "no longer urgent", "semi-urgent", "un-urgent",
        "urgent-ish", "sub-normal", "urgent? no", "urgent is wrong", "urgent (not really)", "rather than urgent", "nicht urgent",
        "pas urgent", "no es urgent", "n\u00e3o urgent", "urgent or normal", "\u4e0durgent", "without being urgent", "if urgent", "unlike urgent",
    ],
)  # fmt: skip
def test_a_choice_that_something_denies_or_weakens_is_none(text: str) -> None:
    assert choice_in_prose(text, CHOICES) is None
    with pytest.raises(OutputParseError):
        parse(text, Literal["urgent", "normal"], strictness="lenient")


@pytest.mark.parametrize(
    ("text", "choices", "named"),
    [
        ("NOT_SPAM", ["SPAM", "NOT_SPAM"], "NOT_SPAM"),
        ("it is not spam.", ["SPAM", "NOT_SPAM"], "NOT_SPAM"),
        ("I say no!", ["yes", "no"], "no"),
        ("The answer is: don't know", ["know", "don't know"], "don't know"),
    ],
)
def test_a_choice_may_be_a_denial_itself(text: str, choices: list[str], named: str) -> None:
    assert choice_in_prose(text, choices) == named


@pytest.mark.parametrize(
    ("text", "truth"), [("I think it is true", True), ("no, false", None), ("hardly true", None), ("No", False)]
)
def test_a_truth_that_something_denies_is_none(text: str, truth: bool | None) -> None:
    assert boolean_in_prose(text) is truth


@pytest.mark.parametrize("piece", ["not urgent ", "urgent. ", "5 k ", "- 5 ", "1 0", "n't ", "un-"])
def test_prose_is_read_in_linear_time(piece: str) -> None:
    def read(size: int) -> Any:
        text = piece * (size // len(piece))
        return choice_in_prose(text, CHOICES), number_in_prose(text), boolean_in_prose(text)

    assert_linear(read, 5000)


@pytest.mark.parametrize("text", ["1e", "1e-", "it is 2E+"])
def test_a_number_whose_exponent_is_cut_off_is_none(text: str) -> None:
    assert number_in_prose(text) is None
