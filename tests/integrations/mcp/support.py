"""The program as a server over stdio or HTTP, and runs whose model calls its tools."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, RunResult
from llmcore.integrations.mcp import McpServers

__all__ = ["PROGRAMS", "HttpProgram", "LegacyHttpProgram", "Program", "StdioProgram", "opened", "run_calls"]

PROGRAM = Path(__file__).parent / "program.py"
_SECONDS_TO_START = 20.0
Call = tuple[str, dict[str, Any]]


class Program:
    """The program, whose processes share a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def config(self) -> dict[str, Any]:
        raise NotImplementedError

    def kill(self) -> None:
        """Kill the newest process, and wait until its parent has noticed."""
        process = int(self.lines("pids")[-1])
        os.kill(process, signal.SIGKILL)
        until = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < until:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return
            time.sleep(0.02)
        pytest.fail(f"process {process} was killed and still exists")

    def restart(self) -> None:
        raise NotImplementedError

    def lines(self, file: str) -> list[str]:
        path = self.folder / file
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def close(self) -> None:
        """End what was started."""


class StdioProgram(Program):
    """The client starts it, so it starts it again too."""

    @property
    def config(self) -> dict[str, Any]:
        return {"command": sys.executable, "args": [str(PROGRAM), "stdio", str(self.folder)]}

    def restart(self) -> None:
        self.kill()


class HttpProgram(Program):
    """It runs by itself, on one port."""

    protocol = "auto"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._start()

    @property
    def config(self) -> dict[str, Any]:
        return {"url": f"http://127.0.0.1:{self.port}/mcp", "protocol": self.protocol}

    def restart(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        self._process.kill()
        self._process.wait(10)

    def _start(self) -> None:
        command = [sys.executable, str(PROGRAM), "http", str(self.folder), str(self.port)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.5).close()
                return
            except OSError:
                time.sleep(0.02)  # it may still be starting
        pytest.fail(f"the server did not start; its exit code is {self._process.poll()}")


class LegacyHttpProgram(HttpProgram):
    """As clients of the protocols before 2026-07-28 see it: with a session, which a restart ends."""

    protocol = "legacy"


PROGRAMS = {"stdio": StdioProgram, "http": HttpProgram, "legacy http": LegacyHttpProgram}


@asynccontextmanager
async def opened(program: Program, **options: Any) -> AsyncGenerator[McpServers, None]:
    """The program's tools, as `p_...`."""
    async with McpServers({"p": program.config}, **options) as servers:
        yield servers


async def run_calls(servers: McpServers, *turns: Call | Callable[[], object]) -> RunResult:
    """A run whose model makes one call a turn. A function among the turns is called before the model's next reply."""
    model, actions, calls = FakeModel(), dict[int, Callable[[], object]](), 0
    for turn in turns:
        if callable(turn):
            actions[calls] = turn
        else:
            model.tool_call(*turn)
            calls += 1
    number = count()

    async def act(request: object) -> None:
        if (action := actions.get(next(number))) is not None:
            await asyncio.to_thread(action)

    model.on_request(act).text("Done.")
    return await Orchestrator(model, tool_timeout=30).run("Go.", tools=servers.tools())
