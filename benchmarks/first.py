"""What is paid once: by a new set of tools, by a new process, and by a call behind much prose.

    python -m benchmarks.first [--rounds 40]

- a new set: five tools never seen before, as plain dicts; the first reply over the second, compilation included.
- a new process: CPU of importing llmcore and a first `normalize`, of a sentence and a call, or of importing what a run needs
  (`Orchestrator`, `tool`, `FakeModel`), over that of importing pydantic and defining one model of five fields; each in processes of its
  own.
- replies of a process: CPU of the first three, each with a sentence and values of its own.
- behind prose: a call behind 4 KB of prose over both alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import llmcore
from benchmarks.texts import PROSE as CUT_PROSE
from benchmarks.texts import TOOL_DICTS, TOOLS, call, sentence
from benchmarks.timing import best_of, conditions, no_gc, slowness, table

__all__ = ["main"]

PROSE = CUT_PROSE[: CUT_PROSE.rfind(".") + 1]
_SENTENCE = "I will look that up.\n\n"
_DIALECTS = ("hermes", "kimi_k2", "glm45", "qwen3_coder", "pythonic")
_PROCESS = """
import time
start = time.process_time()
{work}
print(time.process_time() - start)
"""
_NORMALIZE = """
import llmcore
llmcore.normalize({reply!r}, {tools!r})
"""
_ORCHESTRATOR = """
import llmcore
llmcore.Orchestrator, llmcore.tool, llmcore.FakeModel
"""
_MODEL = """
import pydantic
class Weather(pydantic.BaseModel):
    city: str
    days: int = 3
    units: str | None = None
    hourly: bool = False
    places: list[str] = pydantic.Field(default_factory=list)
"""


def _five_tools(n: int) -> list[dict[str, Any]]:
    """Five tools whose names no set had before."""
    properties = {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "places": {"type": "array", "items": {"type": "string"}},
    }
    names = [f"tool_{n}_{letter}" for letter in "abcde"]
    parameters = {"type": "object", "properties": properties, "required": ["city"]}
    return [
        {"type": "function", "function": {"name": name, "description": f"Tool {name}.", "parameters": parameters}}
        for name in names
    ]


def _reply(n: int) -> str:
    arguments = json.dumps({"city": "Oslo", "days": 3})
    return f'{_SENTENCE}<tool_call>\n{{"name": "tool_{n}_c", "arguments": {arguments}}}\n</tool_call>'


def _new_sets(rounds: int) -> Sequence[str]:
    """Microseconds of the first reply of a set, of the second, and of what the first costs more: of the quarter of rounds that
    others disturbed least, the slowest. A first reply finds no warm cache, so a neighbour's work doubles it."""
    llmcore.normalize(_reply(0), _five_tools(0))
    firsts: list[float] = []
    seconds: list[float] = []
    clock = time.thread_time
    with no_gc():
        for n in range(1, rounds + 1):
            tools, reply = _five_tools(n), _reply(n)
            before = slowness()
            start = clock()
            llmcore.normalize(reply, tools)
            middle = clock()
            llmcore.normalize(reply, tools)
            end = clock()
            slower = (before + slowness()) / 2
            firsts.append((middle - start) / slower)
            seconds.append((end - middle) / slower)
    more = [first - second for first, second in zip(firsts, seconds, strict=True)]
    return [f"{statistics.quantiles(one, n=4)[0] * 1e6:.0f}" for one in (firsts, seconds, more)]


def _new_processes(rounds: int) -> list[list[str]]:
    """Milliseconds of CPU until a first `normalize` is done, or the names of a run are there, and until a model is defined; and the
    median of their ratio."""

    def spent(work: str) -> float:
        code = _PROCESS.format(work=work)
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=keeps)
        return float(done.stdout)

    works = {"the first normalize": _NORMALIZE.format(reply=_reply(0), tools=_five_tools(0)), "Orchestrator": _ORCHESTRATOR}
    keeps = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    rows: list[list[str]] = []
    for name, work in works.items():
        spent(work), spent(_MODEL)  # which leave their bytecode, as an installation does
        pairs = [(spent(work), spent(_MODEL)) for _ in range(max(5, rounds // 4))]
        ratio = statistics.median(ours / model for ours, model in pairs)
        rows.append([name, *(f"{statistics.median(one) * 1e3:.0f}" for one in zip(*pairs, strict=True)), f"{ratio:.2f}"])
    return rows


_REPLIES = """
import time
import llmcore
for reply in {replies!r}:
    start = time.process_time()
    llmcore.normalize(reply, {tools!r})
    print(time.process_time() - start)
"""


def _replies(rounds: int) -> list[list[str]]:
    """Milliseconds of CPU of the first, the second and the third reply of a process, and of what the second costs more."""
    draw = random.Random(14)  # reproducible, no secret
    rows: list[list[str]] = []
    for dialect in _DIALECTS:
        spent: list[list[float]] = []
        for _ in range(max(5, rounds // 4)):
            replies = [f"{sentence(draw)}\n\n{call(dialect, 300, draw=draw)[0]}" for _ in range(3)]
            code = _REPLIES.format(replies=replies, tools=TOOL_DICTS)
            done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
            spent.append([float(line) for line in done.stdout.split()])
        first, second, third = (statistics.median(one) * 1e3 for one in zip(*spent, strict=True))
        rows.append([dialect, *(f"{one:.2f}" for one in (first, second, third, second - third))])
    return rows


def _behind_prose(rounds: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for dialect in _DIALECTS:
        written, _ = call(dialect, 1000)
        texts = {"together": f"{PROSE}\n\n{written}", "prose": PROSE, "call": written}
        best = best_of({name: lambda text=text: llmcore.normalize(text, TOOLS) for name, text in texts.items()}, rounds)
        alone = best["prose"] + best["call"]
        rows.append([dialect, f"{best['together'] * 1e6:.1f}", f"{alone * 1e6:.1f}", f"{best['together'] / alone:.2f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    print(conditions(), end="\n\n")
    print(
        table(["a new set of five tools, us", "first", "second", "more"], [["a sentence and a call", *_new_sets(rounds)]]),
        end="\n\n",
    )
    print(table(["a new process, ms of CPU", "ours", "a model", "ratio"], _new_processes(rounds)), end="\n\n")
    print(table(["replies of a process, ms of CPU", "first", "second", "third", "more"], _replies(rounds)), end="\n\n")
    print(table(["a call behind 4 KB of prose, us", "together", "both alone", "ratio"], _behind_prose(rounds)))


if __name__ == "__main__":
    main()
