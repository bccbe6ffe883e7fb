"""Running one tool call to its outcome, with a time limit and retries.

- Whatever a tool raises or returns becomes an outcome, never an exception. Only a cancellation of the run and its deadline are
  raised.
- A tool runs again only by the retry policy, and only after its last try has ended.
- A sync tool runs in a thread with the caller's context variables. So do the validators of its arguments, and the `__str__`,
  serializers and errors of its result. Of an async tool only the latter run in a thread.
- A tool that does not end when it is cancelled is abandoned, and its value is dropped. A thread cannot be cancelled at all.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from llmcore.support.code.test_failures import test_failure_in
from llmcore.support.code.threads import Raised, ThreadCall
from llmcore.support.values.copies import copied, updated
from llmcore.tools.config import ToolConfig
from llmcore.tools.context import RunContext, TryState, tool_call_id
from llmcore.tools.definition.tool import Tool
from llmcore.tools.execution.abandonment import AbandonableTask, Abandoned, is_keyboard_interrupt
from llmcore.tools.execution.generators import run_generator
from llmcore.tools.results.inspection import UnwritableResult, is_plain_data
from llmcore.tools.results.outcome import Outcome, failed, failed_with, is_readable_error, unfinished, without_secrets
from llmcore.tools.results.rendering import error_text_of, escaped, rendered, result_text
from llmcore.tools.schema.signature import ArgumentsError
from llmcore.types import (
    Repair,
    RetryConfig,
    RetryTool,
    TerminateLoop,
    TextBlock,
    Timeout,
    ToolCall,
    ToolError,
)
from llmcore.types.exception_groups import unwrap_group

__all__ = ["CallSuspended", "run_call"]


class CallSuspended(Exception):
    """Raised by a tool that has no outcome yet, because calls of the run that it started wait for the caller.

    `error`: why the caller's answers to these calls do not fit; None if the caller has not answered.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__("calls within it wait")
        self.error = error


def _outcome_when_stopped(call: ToolCall, ran: bool, remains: str, measures: Mapping[str, Any]) -> Outcome:
    """The outcome of an unfinished call, with the fields of `measures`."""
    return replace(unfinished(call, ran=ran, remains=remains), **measures)


def _retry_of(tool: Tool, config: ToolConfig) -> RetryConfig | None:
    """The retry policy of a tool: its own, else the run's. If its own is a number, the waits are the run's."""
    retries = tool.options.retries
    if retries is None:
        return config.retry if config.errors == "retry" else None
    return updated(config.retry, {"max_retries": retries}) if isinstance(retries, int) else retries


def _no_deadline() -> float | None:
    return None


def _ignore(*told: object) -> None:
    """A callback that does nothing."""


async def run_call(
    call: ToolCall,
    tool: Tool,
    context: RunContext[Any],
    config: ToolConfig,
    seconds_left: Callable[[], float | None] = _no_deadline,
    cut_short: Callable[[Callable[[], Outcome]], object] = _ignore,
    on_retry: Callable[[Outcome, int, float], object] = _ignore,
) -> Outcome:
    """Run one call to its outcome, with the retries of the tool or of the run.

    `seconds_left()`: seconds until the run's deadline; None if there is none.
    `cut_short(function)` receives a function that returns the outcome of the call if the run ends now. It is called from the
    tool's thread before the tool's code starts, and again when the end of the run has stopped or abandoned the tool.
    `on_retry(outcome, n, seconds)` is called after try `n`, counted from 1, has failed and before the wait for the next one.

    Raises `Timeout` when the run's deadline passes, and `CancelledError` if the run is cancelled.
    """
    retry = _retry_of(tool, config)
    tries = 1 + (retry.max_retries if retry else 0)
    started, tries_started, trying = time.perf_counter(), 0, None
    on_start = partial(cut_short, partial(unfinished, call, ran=True))
    summary = tool.summary_of(call.arguments) if tool.options.summary is not None else ""
    try:
        for attempt in range(tries):
            began = time.perf_counter()
            trying = _Try(call, tool, _context_of(call, context, attempt), config, seconds_left(), on_start)
            try:
                outcome = await trying.outcome()
            finally:
                tries_started += trying.has_started
            outcome.duration, outcome.retries, outcome.ran = time.perf_counter() - started, attempt, tries_started > 0
            outcome.summary = summary
            if outcome.error is None or outcome.error.type == "validation" or not retry or attempt + 1 == tries:
                return outcome
            if context.enclosing_run is not None and context.enclosing_run.is_over:
                return outcome
            delay, left = retry.delay(attempt + 1, random.random()), seconds_left()  # jitter, not secrecy
            wait = delay if left is None else min(delay, max(left, 0))
            on_retry(replace(outcome, duration=time.perf_counter() - began), attempt + 1, wait)
            await asyncio.sleep(wait)
            if trying.is_running:
                return _without_retry(outcome)
    except BaseException:
        measures = {"duration": time.perf_counter() - started, "retries": max(tries_started - 1, 0), "summary": summary}
        cut_short(partial(_outcome_when_stopped, call, tries_started > 0, "" if trying is None else trying.remains, measures))
        raise
    raise AssertionError("there is at least one try")


def _context_of(call: ToolCall, context: RunContext[Any], retry: int) -> RunContext[Any]:
    """The context of a try: the given one, if it is already that of the call's first try."""
    fits = not retry and not context.retry and (context.tool_call_id, context.tool_name) == (call.id, call.name)
    return context if fits else context.for_call(call.id, call.name, retry)


class _Try:
    """One try of a call, in a task of its own, and for a sync tool also in a thread."""

    def __init__(
        self,
        call: ToolCall,
        tool: Tool,
        context: RunContext[Any],
        config: ToolConfig,
        seconds_left: float | None,
        on_start: Callable[[], object],
    ) -> None:
        self._call = call
        self._tool = tool
        self._dropped_keys: list[Repair] = []
        self._context = context
        self._max_chars = config.max_result_chars
        self._timeout = tool.options.timeout or config.timeout
        self._seconds_left = seconds_left
        self._on_start = on_start
        self.has_started = False
        self._is_over = False
        self._state = TryState()
        context.start_try(self._state)
        self._task: AbandonableTask[Outcome] | None = None
        self._thread_call: ThreadCall | None = None

    @property
    def is_running(self) -> bool:
        """Whether the tool still runs after it was abandoned."""
        return any(part is not None and part.is_running for part in (self._task, self._thread_call))

    async def outcome(self) -> Outcome:
        timeout, left = self._timeout, self._seconds_left
        if left is not None and left <= 0:
            raise _deadline_error()
        self._task = AbandonableTask(self._answer(), self._on_abandoned)
        try:
            seconds = timeout if left is None else left if timeout is None else min(timeout, left)
            result = await self._task.wait(seconds, self._context.seconds_uncounted)
        except Abandoned as abandoned:
            self._is_over = True
            if timeout is None or (left is not None and left < timeout):
                raise _deadline_error() from None
            return self._failure(abandoned)
        except BaseException:
            self._is_over = True
            raise
        self._state.is_over = True
        outcome = self._outcome_of(result) if isinstance(result, Raised) else result
        if (failure := test_failure_in(outcome.raised)) is not None:
            raise failure
        return outcome

    def _on_abandoned(self) -> None:
        self._state.cancel()

    async def _answer(self) -> Outcome:
        """Run preprocess, function, postprocess and the rendering of the value; those of a sync tool in a thread."""
        tool_call_id.set(self._call.id)
        tool, options = self._tool, self._tool.options
        if tool.function is None:
            raise TypeError(f"tool {tool.name!r} has no function")
        steps: deque[Callable[[Any], Any]] = deque((self._call_function,))
        if options.preprocess is not None:
            steps.appendleft(self._preprocessed)
        if options.postprocess is not None:
            steps.append(options.postprocess)
        value: Any = copied(self._call.arguments or {})
        while True:
            if tool.is_async:
                value = _run_steps(steps, value)
            else:
                value = await self._in_thread(partial(self._resumed_outcome, steps, value))
            if isinstance(value, _Finished):
                return value.outcome
            if isinstance(value, _Pending):
                value = await _await_value(value.awaitable)
                if steps:
                    continue
            if _is_cheap_to_render(value):
                return self._outcome_of(value)
            outcome: Outcome = await self._in_thread(partial(self._outcome_of, value))
            return outcome

    async def _in_thread(self, function: Callable[[], Any]) -> Any:
        self._thread_call, self._state.in_thread = ThreadCall(function), True
        value = await self._thread_call.result()
        self._state.in_thread = False
        return value

    def _call_function(self, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):  # so the function does not start
            self.has_started = False
            raise TypeError(_preprocess_error(self._tool.name, arguments))
        self._dropped_keys.clear()
        keywords = self._tool.keywords(cast("Mapping[str, Any]", arguments), self._dropped_keys, self._call.repairs)
        positional: tuple[Any, ...] = ()
        if self._tool.takes_all_arguments:
            positional, keywords = (keywords,), {}
        if self._tool.context_parameter:
            keywords[self._tool.context_parameter] = self._context
        self._start()
        made: Any = self._tool(*positional, **keywords)
        return run_generator(made, self._context) if self._tool.yields else made

    def _start(self) -> None:
        """Called before the tool's code runs, perhaps in a thread. Raises `Abandoned` if the time of the try is over."""
        self.has_started = True  # before `_is_over` is read: whoever sets that reads this afterwards
        if self._is_over:
            raise Abandoned
        self._on_start()

    def _preprocessed(self, arguments: Any) -> Any:
        preprocess = self._tool.options.preprocess
        assert preprocess is not None
        self._start()
        made = preprocess(arguments)
        return _preprocess_result(made, arguments) if inspect.isawaitable(made) else arguments if made is None else made

    def _resumed_outcome(self, steps: deque[Callable[[Any], Any]], value: Any) -> _Pending | _Finished:
        value = _run_steps(steps, value)
        return value if isinstance(value, _Pending) else _Finished(self._outcome_of(value))

    def _outcome_of(self, value: Any) -> Outcome:
        """The outcome of a value that the tool returned or raised. It runs code of the value, and never raises."""
        try:
            if isinstance(value, Raised):
                return self._failure(value.error)
            if isinstance(value, BaseException):
                return self._failure(value)
            return Outcome(self._call, rendered(value, self._max_chars), copied(value), repairs=(*self._dropped_keys,))
        except BaseException as error:
            if is_keyboard_interrupt(error):
                raise
            return self._failure(error if isinstance(error, UnwritableResult) else TypeError("its result cannot be shown"))

    def _failure(self, error: BaseException) -> Outcome:
        error = unwrap_group(error, CallSuspended)
        outcome = self._failed_by(error)
        outcome.raised = _raised_by_tool(error)
        return outcome

    def _failed_by(self, error: BaseException) -> Outcome:
        """The outcome of a call whose tool raised `error`."""
        call, max_chars = self._call, self._max_chars
        if isinstance(error, TerminateLoop):
            text = result_text(error.value) if error.value is not None else "The run was ended by this tool."
            return Outcome(call, rendered(error.set_text(text), max_chars), copied(error.value), ended=error)
        if isinstance(error, CallSuspended):
            return Outcome(call, [], suspended=True)
        if isinstance(error, ToolError) and is_readable_error(error):
            return failed(call, error, max_chars)
        if isinstance(error, Abandoned):
            message = f"{call.name} did not answer within {self._timeout:g} s{self.remains}"
            return failed_with(call, message, "timeout", error, max_chars)
        if isinstance(error, ArgumentsError):
            problems = [without_secrets(escaped(problem)) for problem in error.problems]
            message = f"the arguments do not fit: {'; '.join(problems)}"
            return failed_with(call, message, "validation", error, max_chars, problems)
        if isinstance(error, RetryTool):
            message = error_text_of(error).partition(": ")[2] or "call it again with other arguments"
            return failed_with(call, without_secrets(message), "validation", error, max_chars)
        message = str(error) if isinstance(error, UnwritableResult) else error_text_of(error)
        return failed_with(call, without_secrets(message), "execution", error, max_chars)

    @property
    def remains(self) -> str:
        """What still runs after the call was abandoned, as the end of a sentence; empty if nothing does."""
        if self._thread_call is not None and self._thread_call.is_running:
            return "; its thread cannot be stopped and may still be running"
        return "; it ignores its cancellation and may still be running" if self.is_running else ""


def _preprocess_error(name: str, given: object) -> str:
    kind = type(given).__name__
    return (
        f"the preprocess of tool {name!r} returned {kind}; it returns a dict of arguments, or None where it changed them in place"
    )


def _is_cheap_to_render(value: Any) -> bool:
    """Whether rendering the value is quick and runs no code of the value."""
    if not isinstance(value, Raised):
        return is_plain_data(value)
    error = value.error
    shown = error.value if isinstance(error, TerminateLoop) else error.args
    return type(error).__str__ is BaseException.__str__ and is_plain_data(shown)


class _Pending:
    """A step returned an awaitable, which is awaited before the next step."""

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.awaitable = awaitable


class _Finished:
    """The outcome, in a class that no tool can return."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


async def _preprocess_result(made: Awaitable[Any], arguments: Any) -> Any:
    """The arguments that an async preprocess returned. None means that it changed the given ones in place."""
    changed = await made
    return arguments if changed is None else changed


def _run_steps(steps: deque[Callable[[Any], Any]], value: Any) -> Any:
    """Run the steps up to an awaitable or the last value. Returns `_Pending`, the value, or `Raised`."""
    try:
        if isinstance(value, Raised):
            raise value.error
        while steps:
            value = steps.popleft()(value)
            if inspect.isawaitable(value):
                return _Pending(value)
    except BaseException as error:
        if is_keyboard_interrupt(error):
            raise
        steps.clear()
        return Raised(error)
    return value


async def _await_value(awaitable: Awaitable[Any]) -> Any:
    """The value of the awaitable, or `Raised`. A cancellation of the current task is raised."""
    try:
        return await awaitable
    except BaseException as error:
        is_its_own = isinstance(error, asyncio.CancelledError) and _current_task_is_cancelled()
        if is_its_own or isinstance(error, GeneratorExit) or is_keyboard_interrupt(error):
            raise
        return Raised(error)


def _current_task_is_cancelled() -> bool:
    """Whether somebody has cancelled the current task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _deadline_error() -> Timeout:
    return Timeout("the run's deadline has passed", status=None)


def _raised_by_tool(error: BaseException) -> BaseException | None:
    """The exception that the tool raised; None for one that this module made or that controls the run."""
    if isinstance(error, CallSuspended):
        return error.error
    return None if isinstance(error, TerminateLoop | Abandoned | ArgumentsError | UnwritableResult) else error


def _without_retry(outcome: Outcome) -> Outcome:
    error = outcome.error
    assert error is not None  # only a failure is tried again
    message = f"{error.message}, so it was not tried again"
    made = ToolError(message, tool_name=error.tool_name, tool_id=error.tool_id, type="timeout")  # nothing else leaves it running
    made.__cause__ = error.__cause__
    return replace(outcome, error=made, content=[TextBlock(text=message)])
