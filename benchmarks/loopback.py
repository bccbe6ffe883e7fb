"""A scripted model server for benchmarks, in a process of its own: what it costs is not counted as ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from llmcore.models import ModelConfig, ModelRegistry

__all__ = ["KEY", "MODEL", "registry", "served"]

_SERVER = """
import sys
from tests.helpers.wire_server import WireServer, demo
from tests.helpers.wires import Turn
with WireServer({script}) as server:
    print(server.base_url("openai"), flush=True)
    sys.stdin.read()
"""
KEY, MODEL = "sk-loopback", "some-model"


@contextmanager
def served(script: str = "demo") -> Generator[str]:
    """The base URL of a server of the OpenAI wire. `script`: the expression of a `tests.helpers.wire_server` script, by default
    one that calls the first tool with an example of its arguments, then answers with a text."""
    command = [sys.executable, "-c", _SERVER.format(script=script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def registry(base_url: str) -> ModelRegistry:
    return ModelRegistry([ModelConfig(alias="m", provider="openai", model=MODEL, base_url=base_url, api_key=KEY)])
