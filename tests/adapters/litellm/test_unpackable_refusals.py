"""A refusal whose body cannot be unpacked is one by its status; where a proxy unpacked it and kept the header, its words are read."""

from __future__ import annotations

import gzip

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.wire.inflating import ErrorInflater
from llmcore.types import CapabilityRefused, LLMCoreError, RequestRefused
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Failure, WireServer

pytestmark = pytest.mark.anyio
WORDS = '{"error": {"message": "tools are not supported"}}'


async def failed(adapter: LiteLLMAdapter, body: str, encoding: str) -> LLMCoreError:
    with WireServer(lambda _: Failure(400, body, {"content-encoding": encoding})) as server:
        with pytest.raises(LLMCoreError) as caught:
            await adapter.complete(call_of(endpoint_at(server, "openai_compatible")))
        assert len(server.requests) == 1
    return caught.value


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_words_that_came_unpacked_are_read(adapter: LiteLLMAdapter, encoding: str) -> None:
    assert isinstance(await failed(adapter, WORDS, encoding), CapabilityRefused)


@pytest.mark.parametrize("encoding", ["gzip", "br"])
async def test_of_a_body_that_cannot_be_read_the_status_counts(adapter: LiteLLMAdapter, encoding: str) -> None:
    error = await failed(adapter, "\x01\x02\x03 tools are not supported", encoding)
    assert isinstance(error, RequestRefused)
    assert "the server refused the request (HTTP 400)" in str(error)


def test_a_whole_body_is_unpacked_as_ever() -> None:
    assert b"".join(ErrorInflater("gzip", 8).feed(gzip.compress(WORDS.encode()))) == WORDS.encode()
    packed = ErrorInflater("br", 8)
    assert (
        b"".join(piece for part in (WORDS.encode(), b" and more") for piece in packed.feed(part)) == WORDS.encode() + b" and more"
    )
