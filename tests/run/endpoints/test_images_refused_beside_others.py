"""A server refuses images and names another part. The run learns of the images when another run meets the same refusal."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.types import ImageBlock, Message, TextBlock
from tests.helpers.wire_server import Failure, Seen, WireServer
from tests.run.endpoints.test_refused_parts import PIXEL, has_image
from tests.run.support import FAST

pytestmark = pytest.mark.anyio

PICTURE = Message(role="user", content=[TextBlock(text="What is it?"), ImageBlock(data=PIXEL, media_type="image/png")])


@pytest.mark.parametrize(
    "words", ["Neither streaming nor images are supported by this model", "Streams? Pictures? The lite plan!"]
)
async def test_they_are_learnt_though_streams_are_named(words: str) -> None:
    def lite(seen: Seen) -> Any:
        is_refused = has_image(seen) or seen.body.get("stream")
        return Failure(400, {"error": {"message": words}}) if is_refused else "Good day."

    with WireServer(lite) as server, WireServer(lambda seen: "A dot.") as sees:
        places = {
            alias: {"provider": "openai_compatible", "model": alias, "base_url": at.base_url("openai_compatible"), "api_key": "k"}
            for alias, at in (("m", server), ("s", sees))
        }
        refused: list[int] = []
        async with Orchestrator(
            {"models": {"m": {**places["m"], "escalates_to": ["s"]}, "s": places["s"]}}, strategies=FAST
        ) as orchestrator:
            for _ in range(3):
                before = len(server.requests)
                async with orchestrator.stream([PICTURE]) as events:
                    async for _ in events:
                        pass
                assert events.result.content == "A dot."
                refused.append(len(server.requests) - before)
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert refused[1:] == [2, 0]
    assert learnt == {"images": False}
