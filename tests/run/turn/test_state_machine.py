"""A conversation of many runs, with models and tools that fail, hang, are cancelled and return junk: after each run, however it ended,
the history is valid for the next request on every wire, each call has one result, budgets are kept, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.conversation.messages import render_messages
from llmcore.adapters.request.names import NameMap
from llmcore.orchestrator import Orchestrator
from llmcore.run import Answer, Approve, CallAnswer, Deny, Interjections, RunResult
from llmcore.run.results.history import open_calls
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from llmcore.types import (
    Block,
    Budget,
    CallerError,
    Finished,
    LLMCoreError,
    Message,
    Overloaded,
    RemoteServerError,
    Request,
    RetryTool,
    TerminateLoop,
    ToolError,
    ToolResultBlock,
    Usage,
)
from tests.run.support import FAST, assert_valid

WIRES = [
    Endpoint(provider=provider, model=model, alias="m")
    for provider, model in (
        ("openai", "gpt-4o"),
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-pro"),
        ("bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("mistral", "mistral-large-latest"),
        ("ollama", "qwen3"),
        ("cohere", "command-r"),
    )
]

begun: Counter[str] = Counter()


class Junk:
    """A value that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


async def work(word: str, how: str = "well") -> Any:
    """Do something, well or badly."""
    begun[word] += 1
    await asyncio.sleep(0)
    if how == "hangs":
        await asyncio.sleep(60)
    if how == "is cancelled":
        raise asyncio.CancelledError
    given: dict[str, Any] = {"junk": Junk(), "surrogates": "\ud800", "nan": [float("nan")], "long": "x" * 2000, "nothing": None}
    raised: dict[str, BaseException] = {
        "badly": ValueError("no\udfff"),
        "tool error": ToolError("no", tool_name="x", tool_id="y", type="execution"),
        "again": RetryTool("other words"),
        "last": TerminateLoop("enough"),
        "last, with junk": TerminateLoop(Junk()),
    }
    if how in raised:
        raise raised[how]
    return given.get(how, word)


careful = tool(work, name="careful", requires_approval=True)
USUAL = ["well", "badly", "again", "junk", "surrogates", "nan", "long", "nothing", "last"]
RARE = ["tool error", "last, with junk", "is cancelled", "hangs"]
Call = tuple[str, Any]


def _working(given: tuple[str, str]) -> Call:
    return "work", {"word": given[0], "how": given[1]}


def _body(made: list[Call]) -> Any:
    return tool_call_body(made, None, 0)


words = st.integers(0, 10**9).map(str)
good = st.tuples(words, st.sampled_from([*USUAL, *USUAL, *RARE])).map(_working)
approved = st.tuples(words, st.sampled_from(USUAL)).map(lambda given: ("careful", _working(given)[1]))
WRONG: list[Call] = [("work", {}), ("work", '{"word": "cut'), ("nope", {"x": 1}), ("remote", {}), ("work", [])]
wrong = st.sampled_from(WRONG)
calls = st.lists(st.one_of(good, good, approved, wrong), min_size=1, max_size=4)
said = st.sampled_from([Approve(), Approve(), Deny(), Deny("no\udfff"), Answer("done"), Answer([1], is_error=True), None])
JUNK: list[Any] = [
    "",
    "Words.",
    "<tool_call>{",
    '<tool_call>{"name": "work", "arguments": {"word": "told"}}</tool_call>',
    {"choices": []},
    {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "content_filter"}]},
    Overloaded("busy"),
    RemoteServerError("broken off"),
    KeyError("a foreign error"),
]
replies = st.one_of(calls.map(_body), st.sampled_from(JUNK))
budgets = st.builds(
    Budget,
    requests=st.sampled_from([None, 1, 3, 8]),
    tool_calls=st.sampled_from([None, 0, 1, 3]),
    tokens=st.sampled_from([None, 50, 10_000]),
)
options = st.fixed_dictionaries(
    {
        "max_tool_turns": st.integers(0, 4),
        "max_parallel_tools": st.integers(1, 3),
        "tool_errors": st.sampled_from(["continue", "continue", "abort"]),
        "parallel_tool_calls": st.sampled_from([None, None, False]),
        "output_type": st.sampled_from([None, None, int]),
    }
)
REMOTE: dict[str, Any] = {"type": "function", "function": {"name": "remote", "parameters": {"type": "object"}}}


class Conversation(RuleBasedStateMachine):
    """Runs that go on from each other's results."""

    def __init__(self) -> None:
        super().__init__()
        begun.clear()
        self.last = RunResult()
        self.recorded: Counter[str] = Counter()
        self.words = 0

    @rule(
        script=st.lists(replies, max_size=5),
        budget=budgets,
        more=options,
        way=st.sampled_from(["run", "stream", "iterate"]),
        cut=st.sampled_from([None, None, None, 0, 1, 2, 5, 12]),
        saved=st.booleans(),
        interjected=st.booleans(),
    )
    def go_on(self, script: Any, budget: Budget, more: Any, way: str, cut: int | None, saved: bool, interjected: bool) -> None:
        fake = FakeModel(*script, default="The end.").usage(input_tokens=10, output_tokens=5)
        if saved:
            self.last = RunResult.model_validate_json(self.last.model_dump_json())
        given = list(self.last.messages)
        box = Interjections()
        if interjected:
            box.add("besides")
        orchestrator = Orchestrator(fake, [work, careful, REMOTE], strategies=FAST, tool_timeout=0.02, budget=budget)
        self.words += 1
        question = f"question {self.words}"
        result = asyncio.run(
            _ended(orchestrator, way, cut, question, {**more, "message_history": self.last, "interjections": box})
        )
        self._judge(result, given, question, fake, budget, more["output_type"] is not None)
        self.last = result

    @precondition(lambda self: self.last.pending)
    @rule(
        script=st.lists(replies, max_size=3),
        said=st.lists(said, min_size=8, max_size=8),
        cut=st.sampled_from([None, None, 0, 3, 9]),
    )
    def answer(self, script: Any, said: list[CallAnswer | None], cut: int | None) -> None:
        """Go on with what is said of the calls that wait, in another process."""
        before = RunResult.model_validate_json(self.last.model_dump_json())
        waiting = {call.id: call for call in before.open_calls}
        given = zip(waiting.values(), said, strict=False)
        answers = {one.id: answer for one, answer in given if answer is not None}
        for call_id in list(answers):
            if waiting[call_id].stage == "elsewhere" and isinstance(answers[call_id], Approve):
                answers[call_id] = Answer("elsewhere")
        saved: list[RunResult] = []
        fake = FakeModel(*script, default="The end.").usage(input_tokens=10, output_tokens=5)
        orchestrator = Orchestrator(fake, [work, careful, REMOTE], strategies=FAST, tool_timeout=0.02, checkpoint=saved.append)
        result = asyncio.run(_ended(orchestrator, "run", cut, before, {"answers": answers}))
        assert fake.call_count == 0 or waiting.keys() == answers.keys()
        assert _told(result.messages, before)[: len(_told(before.messages, before))] == _told(before.messages, before)
        self.recorded.update(record.arguments["word"] for record in result.tool_results if record.ran and record.arguments)
        assert begun == self.recorded
        for state in saved:
            assert_valid(state.messages, [use.id for use in open_calls(state.messages)])
        self.last = result

    def _judge(
        self, result: RunResult, given: list[Message], question: str, fake: FakeModel, budget: Budget, typed: bool
    ) -> None:
        """Nothing given is lost, everything that ran is recorded once, and the budget is kept."""
        asked = next(at for at, message in enumerate(result.messages) if message.text == question)
        assert _told(result.messages[:asked], self.last) == _told(given, self.last)
        assert len(result.attempts) == fake.call_count
        assert budget.requests is None or fake.call_count <= budget.requests
        ran = [record for record in result.tool_results if record.ran]
        assert budget.tool_calls is None or len(ran) <= budget.tool_calls
        self.recorded.update(record.arguments["word"] for record in ran if record.arguments)
        assert begun == self.recorded
        assert result.usage == sum((attempt.usage for attempt in result.attempts), Usage())
        if budget.tokens is not None:
            before_last = sum(attempt.usage.total_tokens for attempt in result.attempts[:-1])
            assert before_last < budget.tokens
        results = {one.tool_use_id for message in result.new_messages for one in message.tool_results}
        in_history = {record.id for record in result.tool_results if not record.id.endswith("_not_run")}
        assert in_history <= results
        assert typed or not result.has_output

    @invariant()
    def the_history_is_valid_for_the_next_request_on_every_wire(self) -> None:
        messages = self.last.messages
        waiting = [use.id for message in messages for use in message.tool_uses if not _answered(messages, use.id)]
        assert_valid(messages, waiting)
        assert {call.id for call in self.last.pending} <= set(waiting)
        request = Request(messages=[*messages, Message.model_validate({"role": "user", "content": "next"})])
        for endpoint in WIRES:
            rendered = render_messages(ModelCall(endpoint=endpoint, request=request), provider_of(endpoint), NameMap((), None))
            _judge_wire(rendered)


def _told(messages: list[Message], before: RunResult) -> list[Block]:
    """All blocks but the results that calls which waited were given when the conversation went on."""
    waited = {call.id for call in before.pending}
    blocks = [block for message in messages for block in message.content]
    return [block for block in blocks if not (isinstance(block, ToolResultBlock) and block.tool_use_id in waited)]


def _answered(messages: list[Message], call_id: str) -> bool:
    return any(one.tool_use_id == call_id for message in messages for one in message.tool_results)


def _judge_wire(rendered: list[dict[str, Any]]) -> None:
    """Right after each assistant's calls stand their results, one each and in their order; no result stands elsewhere."""
    due: list[str] = []
    for turn in rendered:
        if turn["role"] == "tool":
            assert due
            assert turn["tool_call_id"] == due.pop(0)
            continue
        assert not due
        assert turn["content"] or turn.get("tool_calls")
        due = [call["id"] for call in turn.get("tool_calls", ())]
        assert len(due) == len(set(due))
    assert not due


async def _ended(orchestrator: Orchestrator, way: str, cut: int | None, question: Any, options: dict[str, Any]) -> RunResult:
    """The run's result, whole or partial, whatever ends it; `cut`: cancelled after so many turns of the event loop."""
    task = asyncio.create_task(_taken(orchestrator, way, question, options))
    if cut is not None:
        for _ in range(cut + 1):
            await asyncio.sleep(0)
        task.cancel()
    try:
        return await task
    except (LLMCoreError, KeyError, asyncio.CancelledError) as error:
        if isinstance(error, CallerError) and "budget" not in str(error):
            raise
        return _partial(error)


def _partial(error: Any) -> RunResult:
    """Every error that ends a run has it."""
    partial: RunResult = error.partial
    assert isinstance(partial, RunResult)
    return partial


async def _taken(orchestrator: Orchestrator, way: str, question: Any, options: dict[str, Any]) -> RunResult:
    if way == "run":
        return await orchestrator.run(question, **options)
    if way == "iterate":
        async with orchestrator.iterate(question, **options) as steps:
            async for step in steps:
                if step.turn == 2 and step.kind == "reply":
                    break
        return steps.result
    events = [event async for event in orchestrator.stream(question, **options)]
    assert isinstance(events[-1], Finished)
    return events[-1].result


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=min(25, settings().max_examples), stateful_step_count=5)
