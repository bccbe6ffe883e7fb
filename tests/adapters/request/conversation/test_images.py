"""An image that nobody can see is an error before anything is sent."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.conversation.unsendable import check_images
from llmcore.types import CallerError, ImageBlock, Message, Request
from tests.adapters.conftest import call_of

PIXEL = "iVBORw0KGgo="


def check(image: ImageBlock, provider: str) -> None:
    endpoint = Endpoint(provider=provider, model="m")
    call = call_of(endpoint, Request(messages=[Message(role="user", content=[image])]))
    check_images(call, provider_of(endpoint))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(
    ("image", "words"),
    [
        (ImageBlock(url="notaurl"), "is no URL"),
        (ImageBlock(url="file:///etc/passwd"), "is not read from"),
        (ImageBlock(url="data:text/plain;base64,aGk="), "data:image/"),
        (ImageBlock(url="data:image/png;base64,???"), "data:image/"),
        (ImageBlock(data="no base64!", media_type="image/png"), "no base64"),
    ],
    ids=["no URL", "file", "text", "bad URL data", "bad data"],
)
def test_an_image_that_is_none_is_refused(provider: str, image: ImageBlock, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        check(image, provider)


@pytest.mark.parametrize(
    ("image", "provider"),
    [
        (ImageBlock(url="https://x.example/a.png"), "openai"),
        (ImageBlock(url=f"data:image/png;base64,{PIXEL}"), "ollama"),
        (ImageBlock(data=PIXEL, media_type="image/png"), "anthropic"),
        (ImageBlock(data=f"{PIXEL}\n", media_type="image/png"), "openai"),
        (ImageBlock(url="gs://bucket/a.png"), "gemini"),
        (ImageBlock(url="file:///srv/images/a.png"), "vllm"),
    ],
    ids=str,
)
def test_any_other_is_let_through(image: ImageBlock, provider: str) -> None:
    check(image, provider)
