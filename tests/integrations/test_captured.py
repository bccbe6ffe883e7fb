"""What was said stays JSON in an attribute, however long it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import AudioBlock, Block, FileBlock, ImageBlock, Message, Request
from llmcore.integrations.captured import captured_run
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH


@pytest.mark.parametrize("messages", [['"x\n' * 100_000], ["word"] * 5_000, ["a" * 30_000] * 5], ids=["one", "many", "some"])
def test_what_is_too_long_is_cut_in_its_texts(messages: list[str]) -> None:
    request = Request(messages=[Message(role="user", content=text) for text in messages])
    for value in captured_run(request).values():
        told: Any = value
        assert len(told) <= MAX_LOOKED_THROUGH
        assert json.loads(told)


def test_media_are_described_without_their_data() -> None:
    data = "c2VjcmV0IHBpY3R1cmU="
    blocks: list[Block] = [
        ImageBlock(url=f"data:image/png;base64,{data}"),
        FileBlock(data=data, media_type="application/pdf"),
        AudioBlock(url="https://example.com/a.wav"),
    ]
    (told,) = captured_run(Request(messages=[Message(role="user", content=blocks)])).values()
    assert data not in told
    assert [(part["type"], part["modality"]) for part in json.loads(told)[0]["parts"]] == [
        ("blob", "image"),
        ("blob", "file"),
        ("uri", "audio"),
    ]
