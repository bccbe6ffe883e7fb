"""The end of the interpreter: LiteLLM leaves the sockets of the loop that all `run_sync` share open, and the patched one does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.packaging.tree import ROOT

_ONE_RUN = """
import logging, sys
from llmcore import Orchestrator
from llmcore.adapters.litellm import patches
from tests.helpers.wire_server import WireServer
patches.MODULES = tuple(name for name in patches.MODULES if name not in sys.argv[1:])
logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it tells of slow steps, as the import of LiteLLM is one
server = WireServer(["Hi"])
server.__enter__()
model = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.base_url("anthropic"), "api_key": "k"}
Orchestrator({"models": {"m": model}}).run_sync("x")
"""


def run(*unpatched: str) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", _ONE_RUN, *unpatched],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stderr


@pytest.mark.sweep
def test_litellm_leaves_the_sockets_of_a_loop_that_runs_open() -> None:
    assert "ResourceWarning" in run("exit_order")


@pytest.mark.sweep
def test_a_program_that_ends_after_a_run_is_quiet() -> None:
    assert run() == ""
