"""Calls on several event loops, one after the other, leave nothing behind of which Python would tell."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from llmcore.adapters.litellm import loop_ends
from tests.packaging.tree import ROOT

_ON_THREE_LOOPS = """
import asyncio, gc, logging, sys
from llmcore import Orchestrator
from tests.support.wire_server import WireServer
logging.getLogger("asyncio").setLevel(logging.ERROR)  # -X dev also tells of slow steps, as the import of LiteLLM is one
PROVIDER, LISTENING = sys.argv[1], sys.argv[2] == "listening"
MODELS = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5"}
heard = []
with WireServer(["Hi"]) as server:
    model = {"provider": PROVIDER, "model": MODELS[PROVIDER], "base_url": server.base_url(PROVIDER), "api_key": "k"}
    orchestrator = Orchestrator({"models": {"m": model}})
    async def streamed():
        async for _ in orchestrator.stream("x"):
            pass
    orchestrator.run_sync("x")
    if LISTENING:
        import litellm
        async def hear(*given):
            heard.append(given)
        litellm.success_callback.append(hear)
    for _ in range(2):
        orchestrator.run_sync("x")
        asyncio.run(orchestrator.run("x"))
        asyncio.run(orchestrator.run("x"))
        gc.collect()
    asyncio.run(streamed())
    gc.collect()
assert not LISTENING or len(heard) >= 6, len(heard)
"""


@pytest.mark.sweep
@pytest.mark.parametrize(("provider", "listening"), [("openai", "listening"), ("anthropic", "alone")])
def test_runs_on_one_loop_after_the_other_are_quiet(provider: str, listening: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", _ON_THREE_LOOPS, provider, listening],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_a_loop_that_was_only_closed_is_forgotten() -> None:
    async def never() -> None:
        raise AssertionError

    loop = asyncio.new_event_loop()
    loop.run_until_complete(loop_ends.at_loop_end(never))
    loop.close()
    closed: list[int] = []

    async def close() -> None:
        closed.append(1)

    async def twice() -> None:
        await loop_ends.at_loop_end(close)
        await loop_ends.at_loop_end(close)

    asyncio.run(twice())
    assert closed == [1]
    assert loop not in loop_ends._ends  # pyright: ignore[reportPrivateUsage]  # nothing public tells it
