"""Runs with hooks, and everything that they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.types import (
    ConfigError,
    Request,
)
from tests.run.support import add, assert_valid

ran: list[str] = []


def note(text: str) -> str:
    """Write a note."""
    ran.append(text)
    return f"noted {text}"


async def run(fake: FakeModel, hooks: Hooks, tools: Any = (note, add), **options: Any) -> RunResult:
    result: RunResult = await Orchestrator(fake, tools, hooks=hooks).run("go", **options)
    assert_valid(result.messages, pending=[call.id for call in result.pending])
    return result


async def refused(hooks: Hooks, fake: FakeModel | None = None, **options: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        await run(fake or FakeModel().tool_call("note", {"text": "a"}).text("done"), hooks, **options)
    assert_valid(caught.value.partial.messages)
    return caught.value


def everything_in(result: RunResult, fake: FakeModel) -> str:
    """Whatever a result shows and a model was sent."""
    shown = [result.model_dump_json(), result.envelope.source, str(result.envelope.blocks), str(result.envelope.segments)]
    return "\n".join([*shown, *(str(request) for request in fake.requests)])


def without(name: str) -> Callable[[Request], Request]:
    return lambda request: request.model_copy(update={"tools": tuple(tool for tool in request.tools if tool.name != name)})
