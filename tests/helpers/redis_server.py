"""A real `redis-server` of a test's own, on a free loopback port. It writes a file only if `persistent`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

__all__ = ["client_of", "redis_server", "server", "url"]

_SECONDS_TO_START = 10.0


@contextmanager
def redis_server(
    folder: Path, *, password: str = "", port: int = 0, persistent: bool = False, cluster: bool = False
) -> Generator[str, None, None]:
    """Its URL, for as long as it runs. Skips the test where the binary is missing. `persistent`: each write is on disk.
    `cluster`: it can become a part of a cluster."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("there is no redis-server here (Debian, Ubuntu: apt install redis-server)")
    port = port or _free_port()
    folder.mkdir(exist_ok=True)
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    command += ["--appendonly", "yes", "--appendfsync", "always"] if persistent else ["--appendonly", "no"]
    command += ["--cluster-enabled", "yes", "--cluster-port", str(_free_port())] if cluster else []
    command += ["--requirepass", password] if password else []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield f"redis://{f':{password}@' if password else ''}127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def client_of(url: str, **options: Any) -> Generator[Any, None, None]:
    """A client, to look at what was stored. The package's own types are incomplete."""
    redis: Any = import_module("redis")
    with closing(redis.Redis.from_url(url, **options)) as client:
        yield client


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return
        except OSError:
            time.sleep(0.02)
    pytest.fail("redis-server did not start")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for the tests of a module."""
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    """The URL of the module's server, emptied before each test."""
    with client_of(server) as client:
        client.flushall()
    return server
