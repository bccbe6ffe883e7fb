"""Many runs of a tool loop at once against a server that is often sick, and a judge of how each of them ended.

What must hold: a run ends in the one right answer, or in a classified error or a result marked `degraded`, with its attempts; no
tool runs twice for one call but by its own retries; nothing runs past its deadline by more than a second; a cancelled run ends at
once; the history is valid at every end; no task, socket or thread is left.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from llmcore import Budget, CapabilityStore, FallbackExhausted, LLMCoreError, ModelRegistry, Orchestrator, RunResult, tool
from llmcore.adapters.litellm.engine import close_clients, litellm
from llmcore.fallback import EscalateModel, OtherMode, Retry, TextOnly
from llmcore.support.code.threads import idle
from llmcore.types import Finished, InternalError, RetryConfig
from tests.helpers.chaos_server import ChaosServer, answer_of, prompt_of, result_of
from tests.run.support import assert_valid

__all__ = ["Chaos", "Ended", "chaos"]

_MODELS = {
    "openai": ("openai_compatible", "local-model", "/v1"),
    "anthropic": ("anthropic", "claude-sonnet-4-5", ""),
    "gemini": ("gemini", "gemini-2.5-pro", "/v1beta"),
}
_STRATEGIES = (Retry(RetryConfig(max_retries=2, base=0.02)), OtherMode(), EscalateModel(), TextOnly())
_LATE = 1.0


@dataclass
class Ended:
    """How one run ended: `answer`, `degraded`, `cancelled` or the error's class; and what was wrong with that."""

    run: int
    how: str
    seconds: float
    attempts: int
    wrong: list[str] = field(default_factory=list[str])


@dataclass
class Chaos:
    """All runs, what they met, and what was left behind."""

    ended: list[Ended] = field(default_factory=list[Ended])
    met: Counter[str] = field(default_factory=Counter[str])
    requests: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    left: list[str] = field(default_factory=list[str])

    @property
    def wrong(self) -> list[str]:
        return [f"run {each.run} ({each.how}): {problem}" for each in self.ended for problem in each.wrong] + self.left

    @property
    def counts(self) -> Counter[str]:
        return Counter(each.how for each in self.ended)


class _Runs:
    """The runs of one storm."""

    def __init__(self, root: str, seed: int, deadline: float, timeout: float) -> None:
        self._root = root
        self._seed = seed
        self._deadline = deadline
        self._timeout = timeout
        self._ran: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()

        @tool
        def step(run: int, step: int) -> str:
            """Do a step."""
            self._count(run, step)
            return result_of(run, step)

        @tool(retries=1)
        async def flaky(run: int, step: int) -> str:
            """Do a step that fails the first time."""
            if self._count(run, step) == 1:
                raise OSError("the first time never works")
            await asyncio.sleep(0)
            return result_of(run, step)

        self._tools = [step, flaky]
        self._allowed = {"step": 1, "flaky": 2}

    def _count(self, run: int, step: int) -> int:
        with self._lock:
            self._ran[run, step] += 1
            return self._ran[run, step]

    def _orchestrator(self, run: int) -> Orchestrator:
        """One of its own for each run, so that what a fault taught one of them does not change the others."""
        names = list(_MODELS)
        first = names[run % len(names)]
        second = names[(run + 1) % len(names)]
        models = {
            name: {
                "provider": provider,
                "model": model,
                "base_url": self._root + path,
                "api_key": "sk-chaos-0123456789",
                "timeout": self._timeout,
                "escalates_to": [second] if name == first else [],
            }
            for name, (provider, model, path) in _MODELS.items()
            if name in (first, second)
        }
        registry = ModelRegistry.from_dict({"models": {name: models[name] for name in (first, second)}})
        budget = Budget(attempts=8, deadline=self._deadline)
        return Orchestrator(registry, self._tools, budget=budget, strategies=_STRATEGIES, capabilities=CapabilityStore())

    async def one(self, run: int, cancel_after: float | None) -> Ended:
        """Carry out a run, streamed for every second, and judge its end."""
        orchestrator, streamed = self._orchestrator(run), run % 2 == 1
        task = asyncio.create_task(self._streamed(orchestrator, run) if streamed else orchestrator.run(prompt_of(run)))
        started, asked_to_stop = time.perf_counter(), None
        if cancel_after is not None:
            await asyncio.wait([task], timeout=cancel_after)
            asked_to_stop = time.perf_counter()
            task.cancel()
        await asyncio.wait([task])
        seconds = time.perf_counter() - started
        ended = self._judged(run, task, seconds)
        if seconds > self._deadline + _LATE:
            ended.wrong.append(f"took {seconds:.1f} s under a deadline of {self._deadline:g} s")
        if asked_to_stop is not None and started + seconds - asked_to_stop > _LATE:
            ended.wrong.append(f"ended {started + seconds - asked_to_stop:.1f} s after it was cancelled")
        for number, name in ((1, "step"), (2, "step"), (3, "flaky")):
            if self._ran[run, number] > self._allowed[name]:
                ended.wrong.append(f"{name} ran {self._ran[run, number]} times for one call")
        return ended

    async def _streamed(self, orchestrator: Orchestrator, run: int) -> RunResult:
        result: RunResult | None = None
        async for event in orchestrator.stream(prompt_of(run)):
            if isinstance(event, Finished):
                result = event.result
        assert result is not None
        return result

    def _judged(self, run: int, task: asyncio.Task[RunResult], seconds: float) -> Ended:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            result = task.result()
            ended = Ended(run, "degraded" if result.degraded else "answer", seconds, len(result.attempts))
            if not result.degraded and result.content != answer_of(run):
                ended.wrong.append(f"{result.content!r} passed for the answer")
            self._check_history(result, ended)
            return ended
        if task.cancelled():
            return Ended(run, "cancelled", seconds, 0)
        ended = Ended(run, type(error).__name__, seconds, 0)
        if not isinstance(error, LLMCoreError):
            ended.wrong.append(f"an unclassified error: {error!r}")
            return ended
        ended.attempts = len(error.attempts)
        failures = [attempt.failure for attempt in error.attempts if attempt.failure is not None]
        if isinstance(error, InternalError) or any(isinstance(failure, InternalError) for failure in failures):
            ended.wrong.append(f"blamed on the library: {error}")
        if not error.attempts or (isinstance(error, FallbackExhausted) and not failures):
            ended.wrong.append("its attempts do not tell why")
        if type(error.partial) is not RunResult:
            ended.wrong.append("it carries no partial result")
        else:
            self._check_history(error.partial, ended)
        return ended

    def _check_history(self, result: RunResult, ended: Ended) -> None:
        try:
            assert_valid(result.messages)
        except AssertionError as problem:
            ended.wrong.append(f"the history is not valid: {problem}")


def chaos(
    *,
    runs: int,
    concurrency: int,
    cancellations: int,
    share: float = 0.3,
    seed: int = 0,
    deadline: float = 15.0,
    timeout: float = 1.0,
) -> Chaos:
    """The storm: so many runs, the last `cancellations` of them cancelled at a random moment. `timeout`: seconds for each read."""
    threads, sockets = set(threading.enumerate()), _sockets()
    with ChaosServer(seed, share) as server:
        told = asyncio.run(_storm(server, runs, concurrency, cancellations, seed, deadline, timeout))
        told.met, told.requests = server.met, server.requests
    told.left += _left_behind(threads, sockets)
    return told


async def _storm(
    server: ChaosServer, runs: int, concurrency: int, cancellations: int, seed: int, deadline: float, timeout: float
) -> Chaos:
    await litellm()  # on a busy machine its import alone takes the deadline of the runs that begin together
    made, room = _Runs(server.root, seed, deadline, timeout), asyncio.Semaphore(concurrency)
    started, cpu = time.perf_counter(), time.process_time()

    async def one(run: int) -> Ended:
        draw = random.Random(f"{seed}:cancel:{run}")
        async with room:
            return await made.one(run, draw.uniform(0, 1.5) if run >= runs - cancellations else None)

    told = Chaos(list(await asyncio.gather(*map(one, range(runs)))))
    told.seconds, told.cpu = time.perf_counter() - started, time.process_time() - cpu
    await close_clients()
    told.left += [f"a task is left: {task.get_coro()}" for task in asyncio.all_tasks() if _is_ours(task)]
    return told


def _is_ours(task: asyncio.Task[object]) -> bool:
    """Not the one that asks, nor LiteLLM's logging worker, which ends with the loop."""
    return task is not asyncio.current_task() and "LoggingWorker" not in str(task.get_coro())


def _sockets() -> int:
    links = (os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
    return sum(os.path.islink(link) and os.readlink(link).startswith("socket:") for link in links)


def _left_behind(threads: set[threading.Thread], sockets: int) -> list[str]:
    """What still stands. LiteLLM keeps the threads that it logs with, and threads of tools wait for the next call.

    A thread that was told to end has ten seconds for it: AnyIO tells its workers so (OpenAI's library asks one for the platform)
    when the loop ends, and waits for none.
    """
    kept = ("litellm-logging", "llmcore-tool")
    new = [thread for thread in threading.enumerate() if thread not in threads and not thread.name.startswith(kept)]
    until = time.monotonic() + 10
    for thread in new:
        thread.join(max(0.0, until - time.monotonic()))
    left = [f"a thread is left: {thread.name}" for thread in new if thread.is_alive()]
    running = sum(thread.name == "llmcore-tool" for thread in threading.enumerate()) - len(idle)
    left += [f"{running} tools still run"] * (running > 0)
    more = _sockets() - sockets
    return left + [f"{more} sockets are left"] * (more > 0)
