"""What models wrote, on a terminal and in JSON."""

from __future__ import annotations

import json

import pytest

from llmcore.cli.output import inline, json_text, shortened
from llmcore.types import Repair


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\u202etxt", "\\u202etxt"),
        ("\x9b", "\\x9b"),
    ],
)
def test_inline(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_json_text_keeps_what_it_can_and_escapes_the_rest() -> None:
    assert json_text({"a": "é"}) == '{"a": "é"}'
    assert json_text({"a": "\ud83d"}) == '{"a": "\\ud83d"}'
    assert json.loads(json_text([Repair(kind="k", before="x")]))[0]["kind"] == "k"
    assert json_text({"a": {1}}) == '{"a": "{1}"}'


def test_shortened() -> None:
    assert shortened({"a": 1}) == '{"a": 1}'
    assert shortened("x" * 400, 10) == "xxxxxxxxxx... (400 characters)"
