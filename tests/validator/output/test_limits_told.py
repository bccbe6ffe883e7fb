"""A value that is not read because it is too large is refused by the name of the limit."""

from __future__ import annotations

import json

import pytest

from llmcore.types import DEFAULT_LIMITS, OutputParseError
from llmcore.validator import parse

_BEYOND = {
    "arguments": json.dumps([{"a": "x" * 100}] * 12_000),
    "depth": "[" * (DEFAULT_LIMITS.depth + 1) + "]" * (DEFAULT_LIMITS.depth + 1),
    "digits": f"[1{'0' * DEFAULT_LIMITS.digits}]",
    "text": "[" + " " * DEFAULT_LIMITS.text + "]",
}


@pytest.mark.parametrize("limit", _BEYOND)
def test_the_limit_is_named(limit: str) -> None:
    with pytest.raises(OutputParseError, match=rf"beyond `Limits\.{limit}` \([0-9,]+\)"):
        parse(_BEYOND[limit], list[dict[str, str]])
