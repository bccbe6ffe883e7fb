"""What other processes learned is loaded before a run chooses its first model."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmcore import CapabilityStore, Orchestrator
from llmcore.adapters import Endpoint
from llmcore.types import ImageBlock, Message, TextBlock
from tests.helpers.wire_server import WireServer
from tests.run.endpoints.test_refused_parts import PIXEL

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_that_another_process_saw_to_be_blind_is_not_asked_with_images(tmp_path: Path, streamed: bool) -> None:
    file = tmp_path / "facts.json"
    asked = Message(role="user", content=[TextBlock(text="What is it?"), ImageBlock(data=PIXEL, media_type="image/png")])
    with WireServer(lambda seen: "No.") as blind, WireServer(lambda seen: "A dot.") as sees:
        places = {
            alias: {"provider": "openai_compatible", "model": alias, "base_url": at.base_url("openai_compatible"), "api_key": "k"}
            for alias, at in (("m", blind), ("s", sees))
        }
        other = CapabilityStore(backend=file)
        other.record_failure(Endpoint.model_validate({**places["m"], "alias": "m"}), "images")
        assert await other.publish()
        models = {"models": {"m": {**places["m"], "escalates_to": ["s"]}, "s": places["s"]}}
        async with Orchestrator(models, capabilities=CapabilityStore(backend=file)) as orchestrator:
            if streamed:
                async with orchestrator.stream([asked]) as events:
                    async for _ in events:
                        pass
                result = events.result
            else:
                result = await orchestrator.run([asked])
            assert (await orchestrator.run("And in words?")).content == "No.", "what needs no images stays with the first model"
    assert (result.content, [attempt.model for attempt in result.attempts]) == ("A dot.", ["s"])
    assert len(blind.requests) == 1
