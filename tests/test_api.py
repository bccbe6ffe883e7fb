"""What the functions of the public face take beside what the layers do."""

from __future__ import annotations

import json
from typing import Any

import pytest

import llmcore

BODY = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("given", "content"),
    [
        (json.dumps(BODY).encode(), "hi"),
        (bytearray(json.dumps([BODY]).encode()), "hi"),
        (b"\xef\xbb\xbfwords", "words"),
        (b"broken \xff", "broken \ufffd"),
        (b'{"a": 1}', '{"a": 1}'),
        (b"[" * 100_000, "[" * 100_000),
        (None, ""),
    ],
    ids=range(7),
)
def test_bytes_are_a_body_or_text_and_none_is_empty(given: Any, content: str) -> None:
    assert llmcore.normalize(given).content == content


def test_a_str_is_what_a_model_wrote() -> None:
    text = json.dumps(BODY)
    assert llmcore.normalize(text).content == text
