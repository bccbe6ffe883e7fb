"""CPU a chunk of the gateway's process, beside a pass-through of bytes and beside LiteLLM, at the same load.

    python -m benchmarks.gateway [--streams 10] [--rounds 7] [--pause 4]
    python -m benchmarks.gateway --soak 600

Each contender is a process of its own behind uvicorn. All of them ask one model server, which sends an event every `--pause`
milliseconds to each stream. In each round every contender serves the same number of streams at once. What counts is the median of
the rounds' ratios. With `--pause 0` several events arrive at once; with a pause, waking up for each costs more than the event.
Needs the extra `gateway`.

`--soak SECONDS` serves streams for so long instead, of which clients leave every third one early. It prints the memory and the open files
of the gateway's process each tenth of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.texts import TOOL_DICTS
from benchmarks.timing import conditions, table
from benchmarks.wire import streams

__all__ = ["main"]

PATH = "/v1/chat/completions"
REQUEST = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "How is the weather?"}],
    "tools": [{"type": "function", "function": tool} for tool in TOOL_DICTS],
}
KINDS = ("prose", "a sentence and a call")
MODEL, BYTES, GATEWAY, LITELLM = "model", "bytes passed through", "llmcore serve", "litellm.acompletion"
CONTENDERS = (BYTES, GATEWAY, LITELLM)
BARS = {BYTES: 4.0, LITELLM: 0.25}
"""The most that the gateway may cost, as a factor of each."""
_PAUSE = "LLMCORE_BENCHMARK_PAUSE"
"""The variable that tells the model's server how long it waits between two events, in seconds."""
_SEVERAL = 32
"""How many different streams of each kind the model's server has."""


def _chunks(kind: str) -> list[list[bytes]]:
    draw = random.Random(kind)  # reproducible texts, no secret
    return [streams("openai chat", kind, 4, draw) for _ in range(_SEVERAL)]


class _Model:
    """A model's server. The request's field `kind` picks what it streams."""

    def __init__(self) -> None:
        self._streams = {kind: _chunks(kind) for kind in KINDS}
        self._pause = float(os.environ[_PAUSE])
        self._asked = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = json.loads((await receive())["body"])
        several = self._streams[body["kind"]]
        self._asked += 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for chunk in several[self._asked % len(several)]:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await asyncio.sleep(self._pause)
        await send({"type": "http.response.body", "body": b""})


def _bytes_app(base_url: str) -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))

    async def passed(request: Request) -> StreamingResponse:
        asked = client.build_request("POST", f"{base_url}/chat/completions", content=await request.body())
        response = await client.send(asked, stream=True)

        async def parts() -> AsyncIterator[bytes]:
            async for part in response.aiter_raw():
                yield part
            await response.aclose()

        return StreamingResponse(parts(), media_type="text/event-stream")

    return Starlette(routes=[Route(PATH, passed, methods=["POST"])])


def _gateway_app(base_url: str) -> Any:
    from llmcore.gateway import create_app

    return create_app({"models": {"m": {"provider": "vllm", "model": "m", "base_url": base_url}}})


def _litellm_app(base_url: str) -> Any:
    import litellm
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    async def completed(request: Request) -> StreamingResponse:
        body = await request.json()
        reply: Any = await litellm.acompletion(
            model="openai/m",
            api_base=base_url,
            api_key="none",
            messages=body["messages"],
            tools=body["tools"],
            stream=True,
            extra_body={"kind": body["kind"]},
        )

        async def parts() -> AsyncIterator[str]:
            async for chunk in reply:
                yield f"data: {chunk.model_dump_json()}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(parts(), media_type="text/event-stream")

    return Starlette(routes=[Route(PATH, completed, methods=["POST"])])


_APPS = {BYTES: _bytes_app, GATEWAY: _gateway_app, LITELLM: _litellm_app}


class _Measured:
    """An application that also tells what its process takes: CPU seconds, bytes of memory, open files."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/taken":
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            files = len(os.listdir("/proc/self/fd"))
            taken = {"cpu": time.process_time(), "memory": pages * os.sysconf("SC_PAGE_SIZE"), "files": files}
            body = json.dumps(taken).encode()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})
        else:
            await self._inner(scope, receive, send)


def _serve(name: str, base_url: str) -> None:
    """The program of a contender's process. Prints its port."""
    import socket

    import uvicorn

    app = _Model() if name == MODEL else _APPS[name](base_url)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(listener.getsockname()[1], flush=True)
    lifespan = "on" if name != MODEL else "off"
    config = uvicorn.Config(_Measured(app), log_config=None, access_log=False, lifespan=lifespan)
    uvicorn.Server(config).run([listener])


@contextmanager
def _process(name: str, base_url: str = "") -> Generator[str]:
    command = [sys.executable, "-m", "benchmarks.gateway", "--serve", name, base_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


async def _round(url: str, kind: str, count: int) -> tuple[float, int]:
    """The CPU seconds of the contender for so many streams at once, and how many chunks the model's server sent them."""
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=httpx.Limits(max_connections=None)) as client:

        async def one() -> int:
            async with client.stream("POST", PATH, json={**REQUEST, "kind": kind}) as response:
                parts = [part async for part in response.aiter_raw()]
            data = b"".join(parts)
            assert response.status_code == 200, data[:500]
            assert data.endswith(b"[DONE]\n\n"), data[-500:]
            return len(data)

        before = (await client.get("/taken")).json()
        await asyncio.gather(*(one() for _ in range(count)))
        return (await client.get("/taken")).json()["cpu"] - before["cpu"], count


def _measured(urls: Mapping[str, str], kind: str, count: int, rounds: int) -> dict[str, list[float]]:
    """Microseconds a chunk, by contender and round. Rounds take turns, so that all see the same machine."""
    a_stream = statistics.mean(map(len, _chunks(kind)))
    taken: dict[str, list[float]] = {name: [] for name in urls}
    for turn in range(rounds + 1):
        for name, url in urls.items():
            seconds, served = asyncio.run(_round(url, kind, count))
            if turn:  # the first round warms up
                taken[name].append(seconds / (served * a_stream) * 1e6)
    return taken


async def _soak(url: str, seconds: float, count: int) -> list[list[str]]:
    """The memory and the open files over time, with so many clients at once."""
    rows: list[list[str]] = []
    served = 0
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=httpx.Limits(max_connections=None)) as client:

        async def one() -> None:
            nonlocal served
            while time.monotonic() - began < seconds:
                async with client.stream("POST", PATH, json={**REQUEST, "kind": KINDS[served % 2]}) as response:
                    served += 1
                    leaves = served % 3 == 0
                    async for _ in response.aiter_raw():
                        if leaves:
                            break

        clients = [asyncio.ensure_future(one()) for _ in range(count)]
        for tenth in range(11):
            await asyncio.sleep(max(0.0, began + seconds * tenth / 10 - time.monotonic()))
            taken = (await client.get("/taken")).json()
            rows.append([f"{time.monotonic() - began:.0f} s", str(served), f"{taken['memory'] / 1e6:.1f}", str(taken["files"])])
        await asyncio.gather(*clients)
    await asyncio.sleep(1)
    async with httpx.AsyncClient(base_url=url) as client:
        taken = (await client.get("/taken")).json()
    return [*rows, ["all clients gone", str(served), f"{taken['memory'] / 1e6:.1f}", str(taken["files"])]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, default=10, help="streams at once")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pause", type=float, default=4.0, help="milliseconds between two events of a stream")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="watch memory and open files instead")
    parser.add_argument("--serve", nargs=2, metavar=("NAME", "URL"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        _serve(*given.serve)
        return
    os.environ[_PAUSE] = str(given.pause / 1000)
    print(conditions(), end="\n\n")
    rows: list[list[str]] = []
    with ExitStack() as stack:
        base_url = stack.enter_context(_process(MODEL)) + "/v1"
        if given.soak:
            url = stack.enter_context(_process(GATEWAY, base_url))
            soaked = asyncio.run(_soak(url, given.soak, given.streams))
            print(table(["after", "streams", "memory, MB", "open files"], soaked))
            return
        urls = {name: stack.enter_context(_process(name, base_url)) for name in CONTENDERS}
        for kind in KINDS:
            taken = _measured(urls, kind, given.streams, given.rounds)
            for name in CONTENDERS:
                ratios = [ours / theirs for ours, theirs in zip(taken[GATEWAY], taken[name], strict=True)]
                ratio, bar = statistics.median(ratios), BARS.get(name)
                verdict = "" if bar is None else f"{bar:g}" if ratio <= bar else f"{bar:g}: over"
                rows.append([f"{name}, {kind}", f"{statistics.median(taken[name]):.0f}", f"{ratio:.2f}", verdict])
    print(table(["contender", "us/chunk", "gateway / contender", "bar"], rows))


if __name__ == "__main__":
    main()
