"""What was said stays JSON in an attribute, however long it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Message, Request
from llmcore.integrations.captured import captured_run
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH


@pytest.mark.parametrize("messages", [['"x\n' * 100_000], ["word"] * 5_000, ["a" * 30_000] * 5], ids=["one", "many", "some"])
def test_what_is_too_long_is_cut_in_its_texts(messages: list[str]) -> None:
    request = Request(messages=[Message(role="user", content=text) for text in messages])
    for value in captured_run(request).values():
        told: Any = value
        assert len(told) <= MAX_LOOKED_THROUGH
        assert json.loads(told)
