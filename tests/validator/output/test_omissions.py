"""A value beside a comment that says that something is missing is not all that was meant."""

from __future__ import annotations

import pytest

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed

_MISSING = [
    "// and more",
    "// ... and 10 more items",
    "// truncated for brevity",
    "/* rest omitted */",
    "# etc.",
    "// …",
    "// remaining cities here",
    "// continues",
]
_SAYS_NOTHING_OF_IT = ["// the first", "// more than 5 people live there", "/* rested */", "# checked"]


@pytest.mark.parametrize("comment", _MISSING)
def test_a_list_that_its_comment_calls_unfinished_is_a_guess(comment: str) -> None:
    text = f'["Oslo", "Rome" {comment}\n]'
    with pytest.raises(OutputParseError):
        parse(text, list[str])
    found = parse_detailed(text, list[str], strictness="lenient")
    assert found.value == ["Oslo", "Rome"]
    assert ("omission", "guess") in [(repair.kind, repair.safety) for repair in found.repairs]


@pytest.mark.parametrize("comment", _SAYS_NOTHING_OF_IT)
def test_any_other_comment_is_passed_over(comment: str) -> None:
    assert parse(f'["Oslo", "Rome" {comment}\n]', list[str]) == ["Oslo", "Rome"]
