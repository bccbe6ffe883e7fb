"""Calls on several event loops, one after the other, leave nothing behind of which Python would tell."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.packaging.tree import ROOT

_ON_THREE_LOOPS = """
import asyncio, gc, logging, sys
from llmcore import Orchestrator
from tests.helpers.wire_server import WireServer
logging.getLogger("asyncio").setLevel(logging.ERROR)  # -X dev also tells of slow steps, as the import of LiteLLM is one
PROVIDER, LISTENING = sys.argv[1], sys.argv[2] == "listening"
from llmcore.adapters.litellm import patches
patches.MODULES = tuple(name for name in patches.MODULES if name not in sys.argv[3:])
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


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", _ON_THREE_LOOPS, *arguments],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stderr, done.stdout


@pytest.mark.sweep
@pytest.mark.parametrize(("provider", "listening"), [("openai", "listening"), ("anthropic", "alone")])
def test_runs_on_one_loop_after_the_other_are_quiet(provider: str, listening: str) -> None:
    assert run(provider, listening) == (0, "", "")


@pytest.mark.sweep
def test_litellm_forgets_the_worker_of_a_loop_on_the_next_one() -> None:
    _, stderr, _ = run("openai", "listening", "logging_worker")
    assert "LoggingWorker" in stderr
