"""If a call beside a final result fails, the final result is not accepted: the model is told, and answers again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from llmcore import Approve, Hooks, RunResult, Veto
from llmcore.adapters.base import Capabilities
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from tests.run.asking.test_cut_streams import finished
from tests.run.support import FAST, assert_valid

pytestmark = pytest.mark.anyio

NATIVE = Capabilities(native_tools=True)
MODES = {
    "native_tools": NATIVE,
    "json_schema": Capabilities(native_tools=False, json_schema=True),
    "json_object": Capabilities(native_tools=False, json_schema=False, json_object=True),
    "text": Capabilities(native_tools=False, json_schema=False, json_object=False),
}


def reply(mode: str, *calls: tuple[str, dict[str, Any]]) -> Any:
    if mode == "native_tools":
        return tool_call_body(list(calls), None, 0)
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    if mode == "text":
        return "\n".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in made)
    return json.dumps({"toolCalls": made, "content": "", "needsMoreWork": False})


@tool
async def save(path: str) -> str:
    """Save it."""
    raise RuntimeError("disk full")


@tool
async def note(path: str) -> str:
    """Note it."""
    return "noted"


def final(value: int) -> tuple[str, dict[str, Any]]:
    return "final_result", {"result": value}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mode", MODES)
async def test_in_each_mode_the_model_answers_again_beside_a_tool_that_raised(mode: str, streamed: bool) -> None:
    fake = FakeModel(
        reply(mode, ("save", {"path": "a"}), ("note", {"path": "a"}), final(1)), reply(mode, final(2)), capabilities=MODES[mode]
    )
    orchestrator = Orchestrator(fake, [save, note], strategies=FAST)
    run = orchestrator.stream("go", int) if streamed else None
    result = await finished(run) if run is not None else await orchestrator.run("go", output_type=int)
    assert (result.output, [attempt.reason for attempt in result.attempts]) == (2, ["first", "turn"])
    assert [record.name for record in result.tool_results] == ["save", "note"]
    assert "disk full" in str(fake.last_request.messages)
    assert "give the final result again" in str(fake.last_request.messages)
    assert_valid(result.messages)


@pytest.mark.parametrize("mode", MODES)
async def test_in_each_mode_it_is_accepted_beside_tools_that_went_well(mode: str) -> None:
    fake = FakeModel(reply(mode, ("note", {"path": "a"}), final(1)), capabilities=MODES[mode])
    result = await Orchestrator(fake, [save, note], strategies=FAST).run("go", output_type=int)
    assert (result.output, fake.call_count) == (1, 1)
    assert_valid(result.messages)


async def hang(path: str) -> str:
    """Hang."""
    await asyncio.sleep(3600)
    return path


@pytest.mark.parametrize("what", ["timeout", "veto", "unknown", "changed to a wrong call"])
async def test_it_is_not_accepted_whatever_became_of_the_call_beside_it(what: str) -> None:
    hooks = {
        "veto": Hooks(before_tool_run=lambda call, context: Veto("no")),
        "changed to a wrong call": Hooks(before_tool_run=lambda call, context: call.model_copy(update={"arguments": {}})),
    }.get(what)
    name = {"timeout": "hang", "unknown": "nope"}.get(what, "note")
    others = [("note", {"path": "a"})] if what == "unknown" else []
    fake = FakeModel(reply("native_tools", *others, (name, {"path": "a"}), final(1)), reply("native_tools", final(2)))
    orchestrator = Orchestrator(fake, [note, hang], hooks=hooks, strategies=FAST, tool_timeout=0.05)
    result = await orchestrator.run("go", output_type=int)
    assert (result.output, fake.call_count) == (2, 2)
    assert_valid(result.messages)


async def test_it_is_not_accepted_when_a_call_that_waited_went_well_and_another_had_failed() -> None:
    @tool(requires_approval=True)
    async def wipe(path: str) -> str:
        return "wiped"

    fake = FakeModel(reply("native_tools", ("save", {"path": "a"}), ("wipe", {"path": "a"}), final(1)), "2")
    orchestrator = Orchestrator(fake, [save, wipe], strategies=FAST)
    waiting = await orchestrator.run("go", output_type=int)
    saved = RunResult.model_validate_json(waiting.model_dump_json())
    result = await orchestrator.run(saved, output_type=int, answers={call.id: Approve() for call in waiting.pending})
    assert ([call.name for call in waiting.pending], result.output) == (["wipe"], 2)
    assert_valid(result.messages)


async def test_it_is_not_accepted_beside_a_call_that_was_left_out() -> None:
    fake = FakeModel(
        reply("native_tools", ("note", {"path": "a"}), ("note", {"path": "b"}), final(1)), reply("native_tools", final(2))
    )
    result = await Orchestrator(fake, [note]).run("go", output_type=int, parallel_tool_calls=False)
    assert (result.output, [record.ran for record in result.tool_results]) == (2, [False, True])
