"""Running calls: each exactly once to an outcome, in parallel up to a limit, with timeout, retries and an error policy.

Rules: an error of a tool is an outcome, not an exception, unless the policy is `abort`. Every call given gets exactly
one outcome, also after `TerminateLoop`, an abort or cancellation (then a synthetic one for those that had not
finished; the outcomes of finished siblings are kept). A tool runs again only by the retry policy, and only after its
last try has ended. Sync tools run in a thread with the caller's context variables; a thread cannot be stopped, so on
timeout it is left to end by itself and the error says so.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from llmcore.tools.config import ToolConfig
from llmcore.tools.context import RunContext, tool_call_id
from llmcore.tools.results import as_text, rendered
from llmcore.tools.signature import ArgumentsError
from llmcore.tools.tool import Tool
from llmcore.types import (
    ImageBlock,
    RetryTool,
    TerminateLoop,
    TextBlock,
    ToolCall,
    ToolError,
    ToolResult,
    ToolResultBlock,
)

__all__ = ["Outcome", "ToolRun", "call_tool", "run_call", "synthetic"]

_GRACE = 5.0
"""Seconds a cancelled tool has to end; one that ignores its cancellation is left behind."""


@dataclass(slots=True)
class Outcome:
    """What became of one call. `value` is what the tool returned; `error` is set when it failed; `ended` when it
    asked the run to end. `duration` is in seconds over all tries; `retries` counts those after the first."""

    call: ToolCall
    content: list[TextBlock | ImageBlock]
    value: Any = None
    error: ToolError | None = None
    duration: float = 0.0
    retries: int = 0
    ended: TerminateLoop | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    def block(self) -> ToolResultBlock:
        """The outcome as it stands in the history."""
        call = self.call
        return ToolResultBlock(tool_use_id=call.id, name=call.name, content=self.content, is_error=self.error is not None)

    def event(self) -> ToolResult:
        error = str(self.error) if self.error else None
        return ToolResult(self.call.id, self.call.name, self.text, error, self.duration, self.retries, self.value)


def failed(call: ToolCall, error: ToolError, duration: float = 0.0, retries: int = 0) -> Outcome:
    return Outcome(call, [TextBlock(text=error.message)], None, error, duration, retries)


def synthetic(call: ToolCall, reason: str) -> Outcome:
    """The outcome of a call that did not run to its end, so that the history stays valid."""
    return failed(call, ToolError(reason, tool_name=call.name, tool_id=call.id, type="execution"))


async def call_tool(tool: Tool, arguments: dict[str, Any], context: RunContext[Any]) -> Any:
    """Run a tool once: preprocess, the function (in a thread unless async), postprocess. What they raise passes
    through.

    Raises `ArgumentsError` when the arguments do not fit the annotated types.
    """
    if tool.function is None:
        raise TypeError(f"tool {tool.name!r} has no function")
    if tool.options.preprocess is not None:
        arguments = await _awaited(tool.options.preprocess(dict(arguments)))
    keywords = tool.keywords(arguments)
    if tool.context_parameter:
        keywords[tool.context_parameter] = context
    if tool.is_async:
        value = await tool(**keywords)
    else:
        value = await _awaited(await asyncio.to_thread(tool, **keywords))
    if tool.options.postprocess is not None:
        value = await _awaited(tool.options.postprocess(value))
    return value


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def run_call(call: ToolCall, tool: Tool, context: RunContext[Any], config: ToolConfig) -> Outcome:
    """Run one call to its outcome, retrying where the tool or the policy says so. Only cancellation passes through."""
    retry = tool.retry or (config.retry if config.errors == "retry" else None)
    tries = 1 + (retry.max_retries if retry else 0)
    started = time.perf_counter()
    outcome = None
    for attempt in range(tries):
        if attempt and retry:
            await asyncio.sleep(retry.delay(attempt, random.random()))  # jitter, not secrecy
        outcome = await _try(call, tool, context.for_call(call.id, call.name, attempt), config)
        outcome.duration, outcome.retries = time.perf_counter() - started, attempt
        if outcome.error is None or outcome.error.type == "validation":
            break
    assert outcome is not None  # at least one try
    return outcome


async def _try(call: ToolCall, tool: Tool, context: RunContext[Any], config: ToolConfig) -> Outcome:
    timeout = tool.options.timeout or config.timeout
    token = tool_call_id.set(call.id)
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            value = await call_tool(tool, call.arguments or {}, context)
    except TerminateLoop as ended:
        said = as_text(ended.value) if ended.value is not None else "The run was ended by this tool."
        return Outcome(call, rendered(said, config.max_result_chars), ended.value, ended=ended)
    except Exception as error:  # a tool may raise anything; it is told, not raised
        return failed(call, _error_of(call, tool, error, timeout if limit.expired() else None))
    finally:
        tool_call_id.reset(token)
    return Outcome(call, rendered(value, config.max_result_chars), value)


def _error_of(call: ToolCall, tool: Tool, error: Exception, timeout: float | None) -> ToolError:
    known: dict[str, Any] = {"tool_name": call.name, "tool_id": call.id}
    if isinstance(error, ToolError):
        return error
    if isinstance(error, TimeoutError) and timeout is not None:
        left = "" if tool.is_async else "; its thread cannot be stopped and may still be running"
        made = ToolError(f"{call.name} did not answer within {timeout:g} s{left}", type="timeout", **known)
    elif isinstance(error, ArgumentsError):
        made = ToolError(f"the arguments do not fit: {error}", type="validation", details=error.problems, **known)
    elif isinstance(error, RetryTool):
        made = ToolError(str(error) or "call it again with other arguments", type="validation", **known)
    else:
        made = ToolError(f"{type(error).__name__}: {error}", type="execution", **known)
    made.__cause__ = error
    return made


class ToolRun:
    """The calls of one turn. `run` gives the outcomes as they come; `outcomes` has them all, in call order, at any end.

    `runner(call)` gives a call's outcome; it is asked once per call. With `abort` the first error is raised after the
    others were stopped (arguments the model can correct are no such error); a `TerminateLoop` stops them too and is
    found in its outcome.
    """

    def __init__(self, calls: Sequence[ToolCall], runner: Callable[[ToolCall], Awaitable[Outcome]], config: ToolConfig) -> None:
        self._calls = list(calls)
        self._runner = runner
        self._config = config
        self._done: dict[int, Outcome] = {}

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each call, in call order; synthetic for those that did not finish."""
        return [
            self._done.get(index) or synthetic(call, f"{call.name} was stopped before it finished.")
            for index, call in enumerate(self._calls)
        ]

    async def run(self) -> AsyncGenerator[Outcome, None]:
        """Run them, once; close the generator to stop them."""
        if len(self._calls) == 1:  # no task: 10 us less
            yield self._keep(0, await self._runner(self._calls[0]))
        else:
            async with aclosing(self._in_parallel()) as outcomes:
                async for outcome in outcomes:
                    yield outcome

    async def _in_parallel(self) -> AsyncGenerator[Outcome, None]:
        room = asyncio.Semaphore(self._config.max_parallel)

        async def run(call: ToolCall) -> Outcome:
            async with room:
                return await self._runner(call)

        tasks = {asyncio.create_task(run(call)): index for index, call in enumerate(self._calls)}
        try:
            while tasks:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.__getitem__):
                    outcome = self._keep(tasks.pop(task), task.result())
                    yield outcome
                    if outcome.ended:
                        return
        finally:
            await self._stop(tasks)

    async def _stop(self, tasks: dict[asyncio.Task[Outcome], int]) -> None:
        """Cancel what still runs; keep the outcome of what had ended unseen."""
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=_GRACE)
        for task, index in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                self._done[index] = task.result()

    def _keep(self, index: int, outcome: Outcome) -> Outcome:
        self._done[index] = outcome
        error = outcome.error
        if error is not None and error.type != "validation" and self._config.errors == "abort":
            raise error
        return outcome
