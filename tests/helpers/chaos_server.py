"""A model server on loopback that is often sick, for tests of what happens then.

It plays one conversation on the wires of OpenAI chat, Anthropic and Gemini: two parallel calls of `step`, one call of `flaky`, then
a final answer. The prompt names the run; what was done is read from the results in the request, so any number of runs may talk at
once, whole or streamed, natively or in text. A share of the requests meets a fault, drawn from the seed, the run and the count of
the run's requests alone.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Self

from tests.helpers.wires import WIRES, Turn, Wire, frames

__all__ = ["FAULTS", "SOUND", "ChaosServer", "answer_of", "prompt_of", "result_of"]

_PROMPT = re.compile(r"run (\d+): do the steps")
_STALL = 30.0
_TOOL_OF_STEP = {1: "step", 2: "step", 3: "flaky"}


def prompt_of(run: int) -> str:
    return f"run {run}: do the steps, then answer"


def result_of(run: int, step: int) -> str:
    """What the tools return; the server looks for it."""
    return f"result-{run}-{step}-done"


def answer_of(run: int) -> str:
    """The only right answer. No part of it is it."""
    return f"Run {run} is over: the three steps were done in order and nothing is left to do. End of run {run}."


@dataclass
class _Asked:
    """One request, and who answers it how."""

    wire: Wire
    name: str
    run: int
    body: dict[str, Any]
    streamed: bool
    draw: random.Random
    writer: asyncio.StreamWriter

    @property
    def turn(self) -> Turn:
        text = json.dumps(self.body)
        done = {step for step in _TOOL_OF_STEP if result_of(self.run, step) in text}
        due = [step for step in (1, 2) if step not in done] or [step for step in (3,) if step not in done]
        calls = [(_TOOL_OF_STEP[step], {"run": self.run, "step": step}) for step in due]
        if not calls:
            return Turn(answer_of(self.run))
        if self.body.get("tools"):
            return Turn("Let me see.", calls=[*calls])
        written = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
        return Turn("".join(f"<tool_call>\n{call}\n</tool_call>\n" for call in written))

    def parts(self, turn: Turn | None = None) -> list[bytes]:
        """The reply's body: in one piece, or an event a piece."""
        turn = turn or self.turn
        return list(frames(self.wire, turn)) if self.streamed else [json.dumps(self.wire.body(turn)).encode()]

    @property
    def content_type(self) -> str:
        return "text/event-stream" if self.streamed else "application/json"

    async def whole(self, body: bytes, status: int = 200, content_type: str = "application/json", **headers: str) -> None:
        head = {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}
        await self._send(_head(status, head) + body)

    async def chunked(self, parts: list[bytes], end: bool = True) -> None:
        await self._send(_head(200, {"Content-Type": self.content_type, "Transfer-Encoding": "chunked"}))
        for part in parts:
            await self._send(b"%x\r\n%b\r\n" % (len(part), part))
        if end:
            await self._send(b"0\r\n\r\n")

    async def _send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_closed(self, data: bytes) -> None:
        """A body without a length: the end of the connection is its end."""
        await self._send(_head(200, {"Content-Type": self.content_type, "Connection": "close"}) + data)
        self.writer.close()

    def reset(self) -> None:
        """The connection is torn down at once, by RST."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def error(self, status: int, word: str, message: str, **headers: str) -> None:
        bodies = {
            "anthropic": {"type": "error", "error": {"type": word, "message": message}},
            "gemini": {"error": {"code": status, "message": message, "status": word.upper()}},
        }
        body = bodies.get(self.name, {"error": {"message": message, "type": word, "code": word}})
        await self.whole(json.dumps(body).encode(), status, **headers)


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _cut(asked: _Asked) -> bytes:
    """Some of the reply's bytes, at least one and never all of its sense."""
    data = b"".join(asked.parts()[:-2] if asked.streamed else asked.parts())
    return data[: asked.draw.randint(1, max(1, len(data) - 3))]


# --- faults -----------------------------------------------------------------------------------------------------------

Fault = Callable[[_Asked], Coroutine[Any, Any, None]]


async def _rate_limit(asked: _Asked) -> None:
    await asked.error(429, "rate_limit_error", "too many requests", retry_after=asked.draw.choice(["0", "0.1", "1"]))


async def _server_error(asked: _Asked) -> None:
    await asked.error(500, "api_error", "internal error")


async def _unavailable(asked: _Asked) -> None:
    await asked.error(503, "unavailable", "try again later")


async def _overloaded(asked: _Asked) -> None:
    await asked.error(529, "overloaded_error", "overloaded")


async def _refused(asked: _Asked) -> None:
    """Tools or a format are refused, whichever was asked for."""
    if asked.body.get("tools"):
        await asked.error(400, "invalid_request_error", "this model does not support tools")
    elif asked.body.get("response_format"):
        message = "'response_format' of type 'json_schema' is not supported with this model"
        await asked.error(400, "invalid_request_error", message)
    else:
        await _server_error(asked)


async def _reset_before(asked: _Asked) -> None:
    asked.reset()


async def _reset_in_the_middle(asked: _Asked) -> None:
    await asked.chunked([_cut(asked)], end=False)
    await asyncio.sleep(0.01)
    asked.reset()


async def _early_end(asked: _Asked) -> None:
    """The transport ends in order; the reply does not."""
    parts = asked.parts()
    await asked.chunked(parts[: asked.draw.randrange(len(parts) - 2)] if asked.streamed and len(parts) > 2 else [_cut(asked)])


async def _cut_event(asked: _Asked) -> None:
    await asked.chunked([_cut(asked)])


async def _cut_body(asked: _Asked) -> None:
    """Fewer bytes than the header promised."""
    data = _cut(asked)
    head = {"Content-Type": asked.content_type, "Content-Length": str(len(data) + 200)}
    asked.writer.write(_head(200, head) + data)
    await asked.writer.drain()
    asked.writer.close()


async def _cut_and_closed(asked: _Asked) -> None:
    await asked.until_closed(_cut(asked))


async def _html(asked: _Asked) -> None:
    page = b"<!DOCTYPE html><html><head><title>Sorry</title></head><body><h1>It works!</h1></body></html>"
    await asked.whole(page, content_type="text/html; charset=utf-8")


async def _empty(asked: _Asked) -> None:
    await asked.whole(b"", content_type=asked.content_type)


async def _stall(asked: _Asked) -> None:
    await asyncio.sleep(_STALL)


async def _stall_in_the_middle(asked: _Asked) -> None:
    await asked.chunked([_cut(asked)], end=False)
    await asyncio.sleep(_STALL)


async def _garbage(asked: _Asked) -> None:
    noise = [b"data: {not json\n\n", b"\x00\xff\xfe\n", b"event: nonsense\ndata: []\n\n", b"data: 17\n\n"]
    await asked.chunked(asked.draw.sample(noise, 3))


async def _one_index(asked: _Asked) -> None:
    """All calls of a reply under one index, as several servers write them."""
    turn = asked.turn
    turn.one_index = True
    await _reply(asked, asked.parts(turn))


async def _without_ids(asked: _Asked) -> None:
    await _reply(asked, [re.sub(rb'"id": "(?:call|toolu)_\w+"(, )?', b"", part) for part in asked.parts()])


async def _without_finish(asked: _Asked) -> None:
    """No finish reason; the stream has its terminator, the body its end."""
    if asked.name == "gemini" and asked.streamed:
        await _reply(asked, asked.parts())  # there the finish reason is the terminator
        return
    word = rb'"(finish_reason|stop_reason|finishReason)": "\w+"'
    await _reply(asked, [re.sub(word, rb'"\1": null', part) for part in asked.parts()])


async def _reply(asked: _Asked, parts: list[bytes]) -> None:
    if asked.streamed:
        await asked.chunked(parts)
    else:
        await asked.whole(b"".join(parts))


SOUND: dict[str, Fault] = {"one index": _one_index, "no ids": _without_ids, "no finish reason": _without_finish}
"""Odd replies that say everything."""
FAULTS: dict[str, Fault] = {
    "429": _rate_limit,
    "500": _server_error,
    "503": _unavailable,
    "529": _overloaded,
    "refused": _refused,
    "reset before": _reset_before,
    "reset in the middle": _reset_in_the_middle,
    "clean early end": _early_end,
    "cut event": _cut_event,
    "cut body": _cut_body,
    "cut and closed": _cut_and_closed,
    "HTML": _html,
    "empty 200": _empty,
    "stall": _stall,
    "stall in the middle": _stall_in_the_middle,
    "garbage": _garbage,
    **SOUND,
}


class ChaosServer:
    """Enter it to serve, in a thread and an event loop of its own. `share` of the requests meet a fault; `met` counts them."""

    def __init__(self, seed: int, share: float) -> None:
        self.met: Counter[str] = Counter()
        self.requests = 0
        self._seed = seed
        self._share = share
        self._asked: Counter[int] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self.root = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connected, "127.0.0.1", 0), self._loop
        ).result()
        self.root = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _wind_up(self) -> None:
        assert self._server is not None
        self._server.close()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"(?i)content-length: *(\d+)", head)
                body = json.loads(await reader.readexactly(int(length[1])) if length else b"{}")
                await self._answer(head.split(" ", 2)[1], body, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client hung up, or the server stops
        finally:
            writer.close()

    async def _answer(self, path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        name = "anthropic" if "/messages" in path else "gemini" if "enerateContent" in path else "openai-chat"
        found = _PROMPT.search(json.dumps(body))
        run = int(found[1]) if found else -1
        self.requests += 1
        self._asked[run] += 1
        draw = random.Random(f"{self._seed}:{run}:{self._asked[run]}")
        streamed = bool(body.get("stream")) or "streamGenerateContent" in path
        asked = _Asked(WIRES[name], name, run, body, streamed, draw, writer)
        if draw.random() < self._share:
            fault = draw.choice(list(FAULTS))
            self.met[fault] += 1
            await FAULTS[fault](asked)
        else:
            await _reply(asked, asked.parts())
