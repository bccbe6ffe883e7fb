"""Whatever a model does, the history stays valid, no tool runs twice, and each request has a reason."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import RunContext
from llmcore.tools.results.outcome import Outcome
from llmcore.types import (
    Budget,
    CapabilityRefused,
    Envelope,
    Finished,
    LLMCoreError,
    Overloaded,
    RetryTool,
    TerminateLoop,
    ToolCall,
)
from tests.run.support import FAST, assert_valid

ran: Counter[str] = Counter()


async def work(word: str, how: str = "well") -> str:
    """Do something, well or badly."""
    ran[word] += 1
    await asyncio.sleep(0)
    endings: dict[str, BaseException] = {
        "badly": ValueError("no"),
        "again": RetryTool("other words"),
        "last": TerminateLoop("enough"),
    }
    if how in endings:
        raise endings[how]
    return word


words = st.integers(0, 10**9).map(str)
Call = tuple[str, Any]


def _working(given: tuple[str, str]) -> Call:
    return "work", {"word": given[0], "how": given[1]}


def _body(calls: list[Call]) -> dict[str, Any]:
    return tool_call_body(calls, None, 0)


def _dialect(word: str) -> str:
    return f'So. <tool_call>{{"name": "work", "arguments": {{"word": "{word}"}}}}</tool_call>'


WRONG: list[Call] = [
    ("work", {}),
    ("work", {"word": "\ud800"}),
    ("work", {"w\udfff": "\ud83d"}),
    ("work", '{"word": "cut'),
    ("work", []),
    ("nothing", {"x": 1}),
    ("remote", {}),
]
good = st.tuples(words, st.sampled_from(["well", "well", "badly", "again"])).map(_working)
ending = st.tuples(words, st.just("last")).map(_working)
calls = st.one_of(good, good, st.sampled_from(WRONG), ending)
native = st.lists(calls, min_size=1, max_size=4).map(_body)
dialect = words.map(_dialect)
failures = st.sampled_from(
    [Overloaded("busy"), CapabilityRefused("no", capability="native_tools"), CapabilityRefused("no", capability="stop")]
)
unsound = st.sampled_from(["a\ud800", tool_call_body([("work", {"word": "1"})], "\udfff", 0)])
replies = st.lists(st.one_of(native, native, dialect, st.text(max_size=20), unsound, failures), max_size=8)


def _fewer_calls(envelope: Envelope) -> Envelope:
    return envelope.model_copy(update={"tool_calls": envelope.tool_calls[1:], "content": "hidden"})


def _other_call(call: ToolCall, context: RunContext[Any]) -> ToolCall:
    name = "nothing" if call.arguments == {"word": "1"} else call.name
    return call.model_copy(update={"name": name, "arguments": {**(call.arguments or {}), "how": "badly"}})


def _end(call: ToolCall, outcome: Outcome) -> None:
    outcome.ended = TerminateLoop("by the hook")


hooks = st.sampled_from(
    [
        Hooks(),
        Hooks(on_response=_fewer_calls),
        Hooks(before_tool_run=_other_call),
        Hooks(after_tool_run=_end),
        Hooks(before_request=lambda request: request.model_copy(update={"tools": request.tools[:1]})),
    ]
)


async def outcome(script: list[Any], streamed: bool, policy: str, hooks: Hooks) -> RunResult:
    fake = FakeModel(*script, default="the end")
    remote = {"name": "remote", "parameters": {"type": "object"}}
    orchestrator = Orchestrator(fake, [work, remote], strategies=FAST, budget=Budget(attempts=3, reasks=1), hooks=hooks)
    options: dict[str, Any] = {"max_tool_turns": 3, "tool_errors": policy}
    result = RunResult()
    try:
        if not streamed:
            return await orchestrator.run("go", **options)
        async for event in orchestrator.stream("go", **options):
            if isinstance(event, Finished):
                result = event.result
    except LLMCoreError as error:
        result = error.partial
    return result


@given(script=replies, streamed=st.booleans(), policy=st.sampled_from(["continue", "abort"]), hooks=hooks)
def test_the_history_is_valid_after_any_run(script: list[Any], streamed: bool, policy: str, hooks: Hooks) -> None:
    ran.clear()
    result = asyncio.run(outcome(script, streamed, policy, hooks))
    assert_valid(result.messages, pending=[call.id for call in result.pending])
    asked = Counter(
        use.input["word"] for message in result.messages for use in message.tool_uses if use.input and use.name == "work"
    )
    assert not ran - asked
    assert all(attempt.detail or attempt.reason in ("first", "turn") for attempt in result.attempts)
    assert [attempt.n for attempt in result.attempts] == list(range(1, len(result.attempts) + 1))
    again = RunResult.model_validate_json(result.model_dump_json(exclude={"attempts"}))
    assert again.messages == result.messages
