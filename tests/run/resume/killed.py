"""A run with parallel calls, a re-ask, an approval and a hook that changes a call, which saves itself at each point; and the same
run killed by SIGKILL at each of them and gone on with from what was saved. `python -m tests.run.resume.killed FOLDER`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmcore import normalize, validate
from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run import Approve, RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import current_tool_call_id, tool
from llmcore.types import Request, ToolCall

__all__ = ["NAMES", "Point", "orchestrator", "to_the_end"]

TURNS: list[Any] = [
    [("work", {"word": "a"}), ("slow", {"word": "b"}), ("pay", {"word": "c"}), ("again", {"word": "d"})],
    [("work", {"wrong": 1})],  # asked for again
    [("work", {"word": "changed"}), ("pay", {"word": "e"})],
    "done",
]
NAMES = ["work", "slow", "pay", "again", "work", "pay"]
"""The tools of the calls, in the order in which they stand in the history."""
Ran = Callable[[str], object]


def _reply(request: Request) -> Any:
    """By the history alone, so that it does not matter which process asks."""
    made = [message for message in request.messages if message.role == "assistant" and message.tool_uses]
    asked_again = request.messages[-1].role == "user" and len(request.messages) > 1
    turn = 0 if not made else 3 if len(made) == 2 else 2 if asked_again else 1
    given = TURNS[turn]
    return given if isinstance(given, str) else tool_call_body(given, None, turn)


def orchestrator(ran: Ran, checkpoint: Callable[[RunResult], object]) -> Orchestrator:
    def note() -> str:
        ran(current_tool_call_id() or "")
        return "ok"

    @tool
    async def work(word: str) -> str:
        """Do something."""
        await asyncio.sleep(0)
        return note()

    @tool
    def slow(word: str) -> str:
        """Do something in a thread."""
        return note()

    @tool(requires_approval=True)
    def pay(word: str) -> str:
        """Pay."""
        return note()

    @tool(idempotent=True)
    async def again(word: str) -> str:
        """Do something that may be done again."""
        return note()

    def changed(call: ToolCall, context: Any) -> ToolCall | None:
        if call.arguments != {"word": "changed"}:
            return None
        return call.model_copy(update={"arguments": {"word": "by the hook"}})

    async def save(result: RunResult) -> None:
        checkpoint(result)

    hooks = Hooks(before_tool_run=changed)
    return Orchestrator(FakeModel(default=_reply), [work, slow, pay, again], hooks=hooks, checkpoint=save)


async def to_the_end(runner: Orchestrator, saved: RunResult | None = None) -> RunResult:
    """Whatever waits is approved."""
    while True:
        if saved is not None and saved.ended and not saved.pending:
            return saved
        answers = {call.id: Approve() for call in saved.pending} if saved is not None and saved.pending else None
        saved = await runner.run("go" if saved is None else saved, answers=answers)


class Point(Exception):
    """Where a run is stopped."""


def _child(work: Callable[[], object]) -> int:
    """Do it in a process of its own; the signal that ended that, 0 = none."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _run(folder: Path, dies_at: int | None, before: bool) -> None:
    """From what is saved there, if anything, to the end, or to the point at which the process is killed: before or after that point
    is saved."""
    state, log, count = folder / "state.json", folder / "log", 0

    def ran(call_id: str) -> None:
        with log.open("a") as out:
            out.write(f"{call_id}\n")

    def save(result: RunResult) -> None:
        nonlocal count
        if count == dies_at and before:
            os.kill(os.getpid(), signal.SIGKILL)
        part = folder / "part.json"
        part.write_text(result.model_dump_json(), "utf-8")
        part.replace(state)
        if count == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1

    saved = RunResult.model_validate_json(state.read_text("utf-8")) if state.exists() else None
    asyncio.run(to_the_end(orchestrator(ran, save), saved))


def _main(folder: Path) -> None:
    orchestrator(print, print)  # the children need not import
    validate(normalize(tool_call_body([("f", {})], None, 0)), [])
    for point in range(1000):
        for before in (True, False):
            place = folder / f"{point}-{'before' if before else 'after'}"
            place.mkdir()
            ended_by = _child(lambda: _run(place, point, before))  # noqa: B023  # it is called here
            if ended_by != signal.SIGKILL:
                print(json.dumps({"points": point}))
                return
            assert _child(lambda: _run(place, None, False)) == 0  # noqa: B023  # it is called here


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
