"""What `json_repair` is not asked: texts that hold tokens of a notation, of which it makes values."""

from __future__ import annotations

import pytest

from llmcore.types import ToolSet
from llmcore.validator.coercion.last_resort import repaired_arguments

_PARAMETERS = {"type": "object", "properties": {"title": {"type": "string"}, "text": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ('{"title": "A" "text": "B"}', {"title": "A", "text": "B"}),
        ('{title:<|"|>A<|"|> B,text:<|"|>C<|"|>}', None),
        ("{title:<escape>A<escape> B,text:<escape>C<escape>}", None),
        ('{"title": "A<｜tool▁call▁end｜>" "text": "B"}', None),
    ],
)
def test_tokens_of_a_notation_are_not_repaired(raw: str, found: dict[str, str] | None) -> None:
    tool = ToolSet([{"name": "save_note", "parameters": _PARAMETERS}]).get("save_note")
    assert tool is not None
    repaired = repaired_arguments(raw, tool)
    assert (None if repaired is None else repaired[0]) == found
