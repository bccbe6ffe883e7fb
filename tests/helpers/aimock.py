"""`@copilotkit/aimock`: a mock of model providers that nobody of this project wrote, so that it catches our own
misreadings.

It is an npm package and never fetched by a test. Install it once, where node and npm are at hand:

    python -m tests.helpers.aimock          # into ~/.cache/llmcore/aimock

or name its command in the environment variable AIMOCK. Without it the tests that need it are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

__all__ = ["VERSION", "Aimock", "find", "install"]

VERSION = "1.43.0"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmcore" / "aimock"
_PATHS = {
    "openrouter": "/api/v1",
    "groq": "/openai/v1",
    "gemini": "/v1beta",
    "anthropic": "",
    "ollama": "",
    "deepseek": "",
}
_STARTUP_SECONDS = 20.0


def find() -> str | None:
    """The command `llmock`, if it is installed and node is there to run it."""
    if shutil.which("node") is None:
        return None
    named, cached = os.environ.get("AIMOCK"), _CACHE / "node_modules" / ".bin" / "llmock"
    return named or (str(cached) if cached.exists() else shutil.which("llmock"))


def install() -> str:
    """Install the pinned version with npm and return the command. Raises `RuntimeError` without npm."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not installed: it comes with node, https://nodejs.org")
    _CACHE.mkdir(parents=True, exist_ok=True)
    package = f"@copilotkit/aimock@{VERSION}"
    command = [npm, "install", "--prefix", str(_CACHE), "--no-fund", "--no-audit", "--silent", package]
    subprocess.run(command, check=True)
    found = find()
    if found is None:
        raise RuntimeError("aimock was installed, but node cannot be found to run it")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Aimock:
    """A running aimock. `fixtures` are in its own format: `{"match": {...}, "response": {...}}`."""

    def __init__(self, fixtures: list[dict[str, Any]], command: str | None = None, chunk_size: int = 12) -> None:
        found = command or find()
        if found is None:
            raise RuntimeError("aimock is not installed: python -m tests.helpers.aimock")
        self._folder = tempfile.TemporaryDirectory(prefix="aimock-")
        (Path(self._folder.name) / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}), "utf-8")
        port = _free_port()
        self.root = f"http://127.0.0.1:{port}"
        options = [
            "-p",
            str(port),
            "-h",
            "127.0.0.1",
            "-f",
            self._folder.name,
            "--strict",
            "--chunk-size",
            str(chunk_size),
        ]
        self._command = [found, *options, "--log-level", "silent"]
        self._process: subprocess.Popen[bytes] | None = None

    def base_url(self, provider: str) -> str:
        """What a client of `provider` is given as its base URL."""
        return self.root + _PATHS.get(provider, "/v1")

    def journal(self) -> list[dict[str, Any]]:
        """The requests it was sent."""
        with urllib.request.urlopen(f"{self.root}/__aimock/journal", timeout=5) as reply:  # loopback
            entries: list[dict[str, Any]] = json.load(reply)
            return entries

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + _STARTUP_SECONDS
        port = int(self.root.rpartition(":")[2])
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                return self
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"aimock did not start within {_STARTUP_SECONDS:.0f} seconds")

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(5)
        self._folder.cleanup()


if __name__ == "__main__":
    print(install())
