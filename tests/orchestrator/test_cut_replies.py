"""Replies that were cut off: asked again with more room, and never taken for an answer."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Budget, TextDelta, Truncated
from tests.orchestrator.support import add, called

pytestmark = pytest.mark.anyio


def body(text: str, finish: str | None = "length") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]}


CUT = [
    body('Let me look.\n<tool_call>\n{"nam'),
    body("Let me look.\n<tool_call>\n"),
    body("Let me look.\n<tool_c"),
    body('```json\n{"name": "ad'),
    body('{"name": "ad'),
    body('Let me look.\n<tool_call>\n{"nam', None),
    body("Let me look.\n<function=ad", None),
    body(""),
    body("<think>hm"),
]
WHOLE = FakeModel().tool_call("add", {"a": 1, "b": 2})


async def result_of(orchestrator: Orchestrator, streamed: bool, **options: Any) -> Any:
    if not streamed:
        return await orchestrator.run("go", **options)
    result = None
    async for event in orchestrator.stream("go", **options):
        result = getattr(event, "result", result)
    return result


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cut", CUT, ids=lambda cut: repr(cut["choices"][0]["message"]["content"]))
async def test_a_reply_cut_before_a_calls_name_is_asked_again_with_more_room(cut: Any, streamed: bool) -> None:
    fake = FakeModel(cut, called("add", {"a": 1, "b": 2}), "It is 3.")
    result = await result_of(Orchestrator(fake, [add]), streamed, max_tokens=100)
    assert result.content == "It is 3."
    assert [request.max_tokens for request in fake.requests] == [100, 200, 100]
    assert [tool.name for tool in fake.requests[1].tools] == ["add"]
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert [attempt.report is not None for attempt in result.attempts] == [True, True, True]
    assert not any("<tool_c" in str(message.model_dump()) for message in result.messages)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cut", CUT, ids=lambda cut: repr(cut["choices"][0]["message"]["content"]))
async def test_a_reply_that_is_cut_again_and_again_ends_the_run_as_truncated(cut: Any, streamed: bool) -> None:
    fake = FakeModel(default=cut)
    with pytest.raises(Truncated) as caught:
        await result_of(Orchestrator(fake, [add]), streamed)
    assert [request.max_tokens for request in fake.requests] == [None, 8192, 16384]
    assert caught.value.partial.envelope.truncated
    assert len(caught.value.attempts) == len(caught.value.partial.attempts) == 3
    assert not caught.value.partial.degraded


async def test_where_no_reask_is_left_a_cut_reply_is_no_answer_either() -> None:
    with pytest.raises(Truncated):
        await Orchestrator(FakeModel(CUT[0]), [add], budget=Budget(reasks=0)).run("go")


async def test_no_markup_of_a_cut_call_is_told() -> None:
    orchestrator = Orchestrator(FakeModel(CUT[0], "Done.", chunk_size=1), [add])
    said = "".join([event.text async for event in orchestrator.stream("go") if isinstance(event, TextDelta)])
    assert "<" not in said
    assert '"nam' not in said


@pytest.mark.parametrize("tools", [[], [add]], ids=["no tools", "tools"])
async def test_plain_words_that_a_limit_cut_are_an_answer_that_says_so(tools: list[Any]) -> None:
    result = await Orchestrator(FakeModel(body("It is cold in Os")), tools).run("go", max_tokens=5)
    assert (result.content, result.envelope.finish_reason, result.envelope.truncated) == ("It is cold in Os", "length", False)
    assert len(result.attempts) == 1


async def test_without_tools_an_empty_reply_that_a_limit_cut_is_asked_again() -> None:
    result = await Orchestrator(FakeModel(body(""), "Here I am.")).run("go")
    assert result.content == "Here I am."


async def test_a_whole_call_before_one_that_was_cut_runs() -> None:
    text = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>\n<tool_call>\n{"nam'
    result = await Orchestrator(FakeModel(body(text), "It is 3."), [add]).run("go")
    assert (result.content, len(result.attempts)) == ("It is 3.", 2)
