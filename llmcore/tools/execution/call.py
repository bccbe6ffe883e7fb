"""Running calls: each exactly once to an outcome, in parallel up to a limit, with timeout, retries and an error policy.

Rules: whatever a tool raises, returns or ignores is an outcome and never an exception, unless the policy is `abort`;
only a cancellation of the run itself, and its deadline, pass through. Every call given gets exactly one outcome, also
after `TerminateLoop`, an abort or cancellation (then a synthetic one for those that had not finished; the outcomes of
finished siblings are kept). A tool runs again only by the retry policy, and only after its last try has ended. Sync
tools run in a thread with the caller's context variables, and so does all code that belongs to one: validators of its
arguments, and `__str__`, serializers and errors of what it gave; of an async tool only the latter. What does not end
when it is told to (a thread cannot, an async tool may refuse) is left behind at once; its late value never counts.
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
from llmcore.support.values.copies import copied, updated
from llmcore.tools.config import ToolConfig
from llmcore.tools.context import RunContext, TryState, tool_call_id
from llmcore.tools.definition.tool import Tool
from llmcore.tools.execution.abandonment import Errand, LeftBehind, Raised, is_ctrl_c
from llmcore.tools.execution.generators import carried_through
from llmcore.tools.execution.threads import ThreadCall
from llmcore.tools.results.inspection import UnwritableResult, is_plain_data
from llmcore.tools.results.outcome import Outcome, failed, failed_with, is_sound, unfinished, without_secrets
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
    """Raised by a tool that has no outcome yet: calls of the run that it made wait for the caller. `error`: what is wrong with
    what the caller said of them."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__("calls within it wait")
        self.error = error


def _stopped(call: ToolCall, ran: bool, remains: str, took: Mapping[str, Any]) -> Outcome:
    """As `unfinished`, with what it `took` until then."""
    return replace(unfinished(call, ran=ran, remains=remains), **took)


def _retry_of(tool: Tool, config: ToolConfig) -> RetryConfig | None:
    """The tool's own; where that says only how often, with the waits of the run's."""
    own = tool.options.retries
    if own is None:
        return config.retry if config.errors == "retry" else None
    return updated(config.retry, {"max_retries": own}) if isinstance(own, int) else own


def _endless() -> float | None:
    """There is no deadline."""
    return None


def _unheard(*told: object) -> None:
    """Nobody wants to know."""


async def run_call(
    call: ToolCall,
    tool: Tool,
    context: RunContext[Any],
    config: ToolConfig,
    seconds_left: Callable[[], float | None] = _endless,
    cut_short: Callable[[Callable[[], Outcome]], object] = _unheard,
    tried: Callable[[Outcome, int, float], object] = _unheard,
) -> Outcome:
    """Run one call to its outcome, retrying where the tool or the policy says so.

    `seconds_left`: until the run's deadline, None = there is none. Raises `Timeout` when the deadline passes; apart from
    that only cancellation passes through. `cut_short` is given what tells the outcome that then holds: when the tool's own
    code is about to run, from its thread, and when the run's end has stopped or left it. `tried` is told of each try that
    failed and another may follow: its outcome, which one it was, from 1, and the seconds until the next.
    """
    retry = _retry_of(tool, config)
    tries = 1 + (retry.max_retries if retry else 0)
    started, tries_begun, trying = time.perf_counter(), 0, None
    begun = partial(cut_short, partial(unfinished, call, ran=True))
    summary = tool.summary_of(call.arguments) if tool.options.summary is not None else ""
    try:
        for attempt in range(tries):
            began = time.perf_counter()
            trying = _Try(call, tool, _context_of(call, context, attempt), config, seconds_left(), begun)
            try:
                outcome = await trying.outcome()
            finally:
                tries_begun += trying.has_begun
            outcome.duration, outcome.retries, outcome.ran = time.perf_counter() - started, attempt, tries_begun > 0
            outcome.summary = summary
            if outcome.error is None or outcome.error.type == "validation" or not retry or attempt + 1 == tries:
                return outcome
            if context.within is not None and context.within.is_over:
                return outcome
            delay, left = retry.delay(attempt + 1, random.random()), seconds_left()  # jitter, not secrecy
            wait = delay if left is None else min(delay, max(left, 0))
            tried(replace(outcome, duration=time.perf_counter() - began), attempt + 1, wait)
            await asyncio.sleep(wait)
            if trying.is_running:
                return _not_tried_again(outcome)
    except BaseException:
        took = {"duration": time.perf_counter() - started, "retries": max(tries_begun - 1, 0), "summary": summary}
        cut_short(partial(_stopped, call, tries_begun > 0, "" if trying is None else trying.remains, took))
        raise
    raise AssertionError("there is at least one try")


def _context_of(call: ToolCall, context: RunContext[Any], retry: int) -> RunContext[Any]:
    """The context of a try; the given one, where it is of the first one already."""
    is_its = not retry and not context.retry and (context.tool_call_id, context.tool_name) == (call.id, call.name)
    return context if is_its else context.for_call(call.id, call.name, retry)


class _Try:
    """One try of a call, in a task of its own; a sync tool in a thread besides."""

    def __init__(
        self,
        call: ToolCall,
        tool: Tool,
        context: RunContext[Any],
        config: ToolConfig,
        seconds_left: float | None,
        begun: Callable[[], object],
    ) -> None:
        self._call = call
        self._tool = tool
        self._ignored: list[Repair] = []
        self._context = context
        self._max_chars = config.max_result_chars
        self._timeout = tool.options.timeout or config.timeout
        self._seconds_left = seconds_left
        self._begun = begun
        self.has_begun = False
        self._is_over = False
        self._state = TryState()
        context.begins(self._state)
        self._errand: Errand[Outcome] | None = None
        self._thread_call: ThreadCall | None = None

    @property
    def is_running(self) -> bool:
        """Does the tool still run, left behind? A thread cannot be stopped, and a task may refuse to."""
        return any(part is not None and part.is_running for part in (self._errand, self._thread_call))

    async def outcome(self) -> Outcome:
        timeout, left = self._timeout, self._seconds_left
        if left is not None and left <= 0:
            raise _deadline_passed()
        self._errand = Errand(self._answer(), self._left)
        try:
            seconds = timeout if left is None else left if timeout is None else min(timeout, left)
            settled = await self._errand.wait(seconds, self._context.seconds_uncounted)
        except LeftBehind as late:
            self._is_over = True
            if timeout is None or (left is not None and left < timeout):
                raise _deadline_passed() from None
            return self._failure(late)
        except BaseException:
            self._is_over = True
            raise
        self._state.is_over = True
        outcome = self._outcome_of(settled) if isinstance(settled, Raised) else settled
        if (failure := test_failure_in(outcome.raised)) is not None:
            raise failure
        return outcome

    def _left(self) -> None:
        """Nobody waits for it any more."""
        self._state.cancel()

    async def _answer(self) -> Outcome:
        """Preprocess, function, postprocess, and in the end the value in words: in a thread, where the tool is sync."""
        tool_call_id.set(self._call.id)
        tool, options = self._tool, self._tool.options
        if tool.function is None:
            raise TypeError(f"tool {tool.name!r} has no function")
        steps: deque[Callable[[Any], Any]] = deque((self._called,))
        if options.preprocess is not None:
            steps.appendleft(self._preprocessed)
        if options.postprocess is not None:
            steps.append(options.postprocess)
        value: Any = copied(self._call.arguments or {})
        while True:
            if tool.is_async:
                value = _carried_on(steps, value)
            else:
                value = await self._in_thread(partial(self._resumed_outcome, steps, value))
            if isinstance(value, _Returned):
                return value.outcome
            if isinstance(value, _Awaited):
                value = await _awaited(value.awaitable)
                if steps:
                    continue
            if _is_quick(value):
                return self._outcome_of(value)
            told: Outcome = await self._in_thread(partial(self._outcome_of, value))
            return told

    async def _in_thread(self, function: Callable[[], Any]) -> Any:
        self._thread_call, self._state.in_thread = ThreadCall(function), True
        value = await self._thread_call.result()
        self._state.in_thread = False
        return value

    def _called(self, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):  # so the function is not begun
            self.has_begun = False
            raise TypeError(_no_arguments(self._tool.name, arguments))
        self._ignored.clear()
        keywords = self._tool.keywords(cast("Mapping[str, Any]", arguments), self._ignored, self._call.repairs)
        if self._tool.context_parameter:
            keywords[self._tool.context_parameter] = self._context
        self._starts()
        made: Any = self._tool(**keywords)
        return carried_through(made, self._context) if self._tool.yields else made

    def _starts(self) -> None:
        """Code of the tool's own begins, perhaps in a thread; not where validators outlived the time of the try."""
        self.has_begun = True  # first: whoever ends the try looks at it after saying so
        if self._is_over:
            raise LeftBehind
        self._begun()

    def _preprocessed(self, arguments: Any) -> Any:
        preprocess = self._tool.options.preprocess
        assert preprocess is not None
        self._starts()
        made = preprocess(arguments)
        return _made_or_changed(made, arguments) if inspect.isawaitable(made) else arguments if made is None else made

    def _resumed_outcome(self, steps: deque[Callable[[Any], Any]], value: Any) -> _Awaited | _Returned:
        value = _carried_on(steps, value)
        return value if isinstance(value, _Awaited) else _Returned(self._outcome_of(value))

    def _outcome_of(self, value: Any) -> Outcome:
        """What the tool gave or raised, as its outcome. It asks the value's own code, and raises nothing."""
        try:
            if isinstance(value, Raised):
                return self._failure(value.error)
            if isinstance(value, BaseException):
                return self._failure(value)
            return Outcome(self._call, rendered(value, self._max_chars), copied(value), repairs=(*self._ignored,))
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            return self._failure(error if isinstance(error, UnwritableResult) else TypeError("its result cannot be shown"))

    def _failure(self, error: BaseException) -> Outcome:
        error = unwrap_group(error, CallSuspended)
        outcome = self._failed_by(error)
        outcome.raised = _own(error)
        return outcome

    def _failed_by(self, error: BaseException) -> Outcome:
        """What the tool raised, as its outcome."""
        call, max_chars = self._call, self._max_chars
        if isinstance(error, TerminateLoop):
            text = result_text(error.value) if error.value is not None else "The run was ended by this tool."
            return Outcome(call, rendered(error.written_as(text), max_chars), copied(error.value), ended=error)
        if isinstance(error, CallSuspended):
            return Outcome(call, [], held=True)
        if isinstance(error, ToolError) and is_sound(error):
            return failed(call, error, max_chars)
        if isinstance(error, LeftBehind):
            said = f"{call.name} did not answer within {self._timeout:g} s{self.remains}"
            return failed_with(call, said, "timeout", error, max_chars)
        if isinstance(error, ArgumentsError):
            problems = [without_secrets(escaped(problem)) for problem in error.problems]
            said = f"the arguments do not fit: {'; '.join(problems)}"
            return failed_with(call, said, "validation", error, max_chars, problems)
        if isinstance(error, RetryTool):
            said = error_text_of(error).partition(": ")[2] or "call it again with other arguments"
            return failed_with(call, without_secrets(said), "validation", error, max_chars)
        said = str(error) if isinstance(error, UnwritableResult) else error_text_of(error)
        return failed_with(call, without_secrets(said), "execution", error, max_chars)

    @property
    def remains(self) -> str:
        """What still runs, as the end of a sentence."""
        if self._thread_call is not None and self._thread_call.is_running:
            return "; its thread cannot be stopped and may still be running"
        return "; it ignores its cancellation and may still be running" if self.is_running else ""


def _no_arguments(name: str, given: object) -> str:
    kind = type(given).__name__
    return (
        f"the preprocess of tool {name!r} returned {kind}; it returns a dict of arguments, or None where it changed them in place"
    )


def _is_quick(value: Any) -> bool:
    """Is it told of without any code of its own?"""
    if not isinstance(value, Raised):
        return is_plain_data(value)
    error = value.error
    shown = error.value if isinstance(error, TerminateLoop) else error.args
    return type(error).__str__ is BaseException.__str__ and is_plain_data(shown)


class _Awaited:
    """What a step gave is to be awaited before the next."""

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.awaitable = awaitable


class _Returned:
    """The outcome, told apart from whatever a tool may return."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


async def _made_or_changed(made: Awaitable[Any], arguments: Any) -> Any:
    """What was made of the arguments; they themselves where that is None, for they may have been changed in place."""
    changed = await made
    return arguments if changed is None else changed


def _carried_on(steps: deque[Callable[[Any], Any]], value: Any) -> Any:
    """Step by step up to something to await, to the last value, or to an error: all of them values."""
    try:
        if isinstance(value, Raised):
            raise value.error
        while steps:
            value = steps.popleft()(value)
            if inspect.isawaitable(value):
                return _Awaited(value)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        steps.clear()
        return Raised(error)
    return value


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    """What it gave, or `Raised`. A cancellation of the task that waits passes through, and the end of one whose loop is gone."""
    try:
        return await awaitable
    except BaseException as error:
        is_its_own = isinstance(error, asyncio.CancelledError) and _is_cancelled()
        if is_its_own or isinstance(error, GeneratorExit) or is_ctrl_c(error):
            raise
        return Raised(error)


def _is_cancelled() -> bool:
    """Is the task that runs?"""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _deadline_passed() -> Timeout:
    return Timeout("the run's deadline has passed", status=None)


def _own(error: BaseException) -> BaseException | None:
    """The tool's own exception in it, None where there is none."""
    if isinstance(error, CallSuspended):
        return error.error
    return None if isinstance(error, TerminateLoop | LeftBehind | ArgumentsError | UnwritableResult) else error


def _not_tried_again(outcome: Outcome) -> Outcome:
    error = outcome.error
    assert error is not None  # only a failure is tried again
    said = f"{error.message}, so it was not tried again"
    made = ToolError(said, tool_name=error.tool_name, tool_id=error.tool_id, type="timeout")  # nothing else leaves it running
    made.__cause__ = error.__cause__
    return replace(outcome, error=made, content=[TextBlock(text=said)])
