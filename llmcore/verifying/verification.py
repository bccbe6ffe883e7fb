"""Asks an endpoint every question, several at once, and observes what comes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from llmcore.adapters.base import Adapter, ModelCall
from llmcore.adapters.capabilities import LEARNABLE, CapabilityStore
from llmcore.models import ModelConfig
from llmcore.normalizer import Normalizer, normalize
from llmcore.support.values.narrowing import object_in
from llmcore.types import CallerError, LLMCoreError, Timeout, ToolSet, Usage
from llmcore.verifying.cases import Question, questions
from llmcore.verifying.observation import Observation
from llmcore.verifying.report import VerifyReport

__all__ = ["request_count", "time_limit", "verify"]

_AT_ONCE = 4
_SECONDS = 45.0
"""The time of one request. With the number of requests, it bounds the whole verification."""


def request_count() -> int:
    """How many requests one endpoint gets."""
    return len(questions())


def time_limit() -> float:
    """The most seconds that a verification takes, without the import of LiteLLM."""
    return (1 + math.ceil((request_count() - 1) / _AT_ONCE)) * _SECONDS


async def verify(
    config: ModelConfig,
    adapter: Adapter,
    *,
    reference: tuple[ModelConfig, Adapter] | None = None,
    done: Callable[[], None] = lambda: None,
) -> VerifyReport:
    """Ask the model every question, whole and streamed.

    `reference` is asked at the same time. `done` is called after each request. A failed request is an observation, too. Raises an
    error of the first request if it says that no request can succeed: a `CallerError`, such as a missing key, or no answer.
    """
    started = time.monotonic()
    asked = [_all(config, adapter, done), *([_all(*reference, done)] if reference is not None else [])]
    seen, *others = await asyncio.gather(*asked)
    other = (reference[0], others[0]) if reference is not None else None
    return VerifyReport(config, tuple(seen), other, time.monotonic() - started)


async def _all(config: ModelConfig, adapter: Adapter, done: Callable[[], None]) -> Sequence[Observation]:
    calls = [_call(config, question) for question in questions()]
    warm_up = getattr(adapter, "warm_up", None)
    if warm_up is not None:
        await warm_up(calls[0])
    first = await _observed(questions()[0], calls[0], adapter, raises=True)
    done()
    lanes = asyncio.Semaphore(_AT_ONCE)

    async def ask(question: Question, call: ModelCall) -> Observation:
        async with lanes:
            seen = await _observed(question, call, adapter)
        done()
        return seen

    return [first, *await asyncio.gather(*map(ask, questions()[1:], calls[1:]))]


def _call(config: ModelConfig, question: Question) -> ModelCall:
    """The call, with everything that the question needs, whatever is believed of the endpoint."""
    can = CapabilityStore().can(config.endpoint)
    return ModelCall(
        endpoint=config.endpoint,
        request=question.request,
        tools=question.tools,
        capabilities=can.model_copy(update=dict.fromkeys(LEARNABLE)),
        streamed=question.streamed,
        timeout=min(config.timeout, _SECONDS),
        reasoning_open=config.reasoning_open,
        reason="first",
        detail=f"verify: {question.case.name}",
    )


async def _observed(question: Question, call: ModelCall, adapter: Adapter, *, raises: bool = False) -> Observation:
    """What came. `raises`: a `CallerError` is raised, and so is an error that no server sent."""
    pieces: list[object] = []
    started = time.monotonic()
    tools = ToolSet(question.tools)
    normalizer = Normalizer(tools, reasoning_open=call.reasoning_open, listening=False)
    try:
        async with asyncio.timeout(_SECONDS):
            if not question.streamed:
                reply = await adapter.complete(call)
                raw: object = reply.raw
                pieces = list(cast("tuple[object, ...]", raw)) if isinstance(raw, tuple) else [raw]
                return Observation(question, pieces, normalize(reply, tools), None, reply.usage, time.monotonic() - started)
            usage = Usage()
            stream: Any = adapter.stream(call)
            async with aclosing(stream) as events:
                event: object
                async for event in events:
                    summary = object_in(object_in(event).get("llmcore"))
                    usage = Usage.model_validate(summary["usage"]) if summary.get("usage") else usage
                    if not summary:
                        pieces.append(event)
                    normalizer.feed(event)
            normalizer.finish()
            return Observation(question, pieces, normalizer.envelope, None, usage, time.monotonic() - started)
    except TimeoutError:
        error: LLMCoreError = Timeout(f"no whole reply within {_SECONDS:g} seconds")
    except LLMCoreError as failed:
        if raises and (isinstance(failed, CallerError) or failed.status is None):
            raise
        error = failed
    return Observation(question, pieces, error=error, seconds=time.monotonic() - started)
