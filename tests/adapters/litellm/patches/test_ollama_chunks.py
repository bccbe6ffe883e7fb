"""Lines of Ollama's streams: LiteLLM takes tags out of their text and needs each field, and the patched one does neither."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from llmcore.support.values.narrowing import object_in
from tests.adapters.litellm.patches.conftest import Unpatch, watched

pytestmark = pytest.mark.anyio

TEXTS = ["<think>", "Hm.", "</think>", "Hi", ""]
LEAN: list[dict[str, Any]] = [
    {"done": False, "message": {"content": "Hi"}},
    {"model": "m", "message": {"content": "Hi"}},
    {"model": "m", "done": False, "message": None},
    {"model": "m", "done": False},
]


def parsed(*lines: dict[str, Any]) -> list[Any]:
    transformation: Any = import_module("litellm.llms.ollama.chat.transformation")
    reader = transformation.OllamaChatCompletionResponseIterator(streaming_response=iter(()), sync_stream=True)
    return [reader.chunk_parser(line).choices[0].delta for line in lines]


def texts() -> list[str | None]:
    return [delta.content for delta in parsed(*({"model": "m", "done": False, "message": {"content": text}} for text in TEXTS))]


async def test_litellm_takes_the_tags_out_of_the_text(unpatch: Unpatch) -> None:
    unpatch("ollama_chunks")
    with watched():
        assert "<think>" not in texts()
        assert "</think>" not in texts()


@pytest.mark.parametrize("line", LEAN)
async def test_litellm_fails_at_a_line_that_lacks_a_field(unpatch: Unpatch, line: dict[str, Any]) -> None:
    unpatch("ollama_chunks")
    with watched(), pytest.raises(Exception, match=r"unexpected response|NoneType"):
        parsed(line)


@pytest.mark.usefixtures("unpatch")
async def test_in_a_call_of_ours_the_text_stays() -> None:
    with watched():
        assert texts() == [text or None for text in TEXTS]
    assert texts() != [text or None for text in TEXTS]  # of others it is left to LiteLLM


@pytest.mark.usefixtures("unpatch")
@pytest.mark.parametrize("line", LEAN)
async def test_in_a_call_of_ours_a_field_may_be_missing(line: dict[str, Any]) -> None:
    with watched():
        assert [delta.content for delta in parsed(line)] == [object_in(line.get("message")).get("content")]
