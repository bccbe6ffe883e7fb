"""A history that another program broke is repaired so that every wire takes it. Each repair is recorded, and nothing is
lost."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore import Interjections, Observer
from llmcore.adapters.request.conversation.history import NO_RESULT, repaired_history, sound_history
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.run.results.result import RepairRecord
from llmcore.testing import FakeModel
from llmcore.types import CallerError, ImageBlock, Message, Role, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio

IMAGE = ImageBlock(data="AAAA", media_type="image/png")


def use(call_id: str) -> ToolUseBlock:
    return ToolUseBlock(id=call_id, name=f"tool_{call_id}", input={})


def result(call_id: str, text: str = "ok") -> ToolResultBlock:
    return ToolResultBlock(tool_use_id=call_id, name=f"tool_{call_id}", content=[TextBlock(text=text)])


def says(role: Any, *blocks: Any) -> Message:
    return Message(role=role, content=[TextBlock(text=block) if isinstance(block, str) else block for block in blocks])


HI, BYE = says("user", "hi"), says("user", "bye")


async def gone_on(history: list[Message], **options: Any) -> tuple[list[Message], list[str]]:
    """The messages as they were sent, and the kinds of repairs."""
    fake = FakeModel("ok")
    done = await Orchestrator(fake).run(message_history=history, **options)
    read = RunResult.model_validate_json(done.model_dump_json())
    assert read.repairs == done.repairs
    assert all((record.of, record.attempt) == ("history", 0) for record in done.repairs)
    assert_valid(done.messages)
    sent = fake.requests[0].messages
    assert sent == done.messages[:-1]
    assert repaired_history(sent) == (sent, [])
    assert [_block for message in sound_history(sent) for _block in message.content if not _is_text(_block)] == [
        _block for message in sent for _block in message.content if not _is_text(_block)
    ]
    return sent, [record.repair.kind for record in done.repairs]


@pytest.mark.parametrize("raw", ['{"a": 1, "b":', "[1]", "", "not JSON"])
async def test_arguments_that_cannot_be_read_are_reported(raw: str) -> None:
    broken = ToolUseBlock(id="a", name="tool_a", input=None, raw_input=raw)
    fake = FakeModel("ok", "ok")
    done = await Orchestrator(fake).run("?", message_history=[HI, says("assistant", "so", broken), says("tool", result("a"))])
    (record,) = done.repairs
    assert (record.of, record.repair.kind, record.repair.before) == ("history", "unreadable_arguments", raw)
    assert record.repair.path == "messages[1]"
    (use_,) = fake.requests[0].messages[1].tool_uses
    assert (use_.id, use_.input) == ("a", {"INVALID_JSON": raw})
    assert broken.input is None
    again = await Orchestrator(fake).run("??", message_history=done)
    assert again.repairs == []


async def test_openai_messages_with_broken_arguments_are_reported() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a": 1,'}}
    history: list[dict[str, Any]] = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "3"},
    ]
    done = await Orchestrator(FakeModel("ok")).run("?", message_history=[{"role": "user", "content": "hi"}, *history])
    assert [record.repair.kind for record in done.repairs] == ["unreadable_arguments"]


@pytest.mark.parametrize("odd", ["", "  ", "a\nb", "\x00", "x" * 300])
async def test_an_id_that_cannot_be_sent_is_another_one(odd: str) -> None:
    history = [
        HI,
        says("assistant", use("call_2")),
        says("tool", result("call_2")),
        says("assistant", use(odd), use("b"), use(odd)),
        says("tool", result(odd, "first"), result("b", "second"), result(odd, "third")),
    ]
    sent, kinds = await gone_on(history, request="?")
    assert kinds == ["call_id", "call_id"]
    uses, results = sent[3].tool_uses, sent[4].tool_results
    assert [one.id for one in uses] == [one.tool_use_id for one in results]
    assert len({one.id for message in sent for one in message.tool_uses}) == 4
    assert [one.text for one in results] == ["first", "second", "third"]
    assert all(one.id.isidentifier() for one in uses)


def _is_text(block: Any) -> bool:
    return isinstance(block, TextBlock)


BROKEN: dict[str, tuple[list[Message], list[Message], list[str]]] = {
    "a call without a result": (
        [HI, says("assistant", use("a")), BYE],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a", NO_RESULT).model_copy(update={"is_error": True})),
            BYE,
        ],
        ["result_made_up"],
    ),
    "a call without a result at the end": (
        [HI, says("assistant", use("a"))],
        [HI, says("assistant", use("a")), says("tool", result("a", NO_RESULT).model_copy(update={"is_error": True}))],
        ["result_made_up"],
    ),
    "a result without a call": (
        [HI, says("tool", ToolResultBlock(tool_use_id="ghost", content=[TextBlock(text="boo"), IMAGE])), BYE],
        [HI, says("user", "Result of the tool call 'ghost': boo", IMAGE), BYE],
        ["result_without_call"],
    ),
    "results in another order": (
        [HI, says("assistant", use("a"), use("b")), says("tool", result("b"), result("a")), BYE],
        [HI, says("assistant", use("a"), use("b")), says("tool", result("a"), result("b")), BYE],
        ["result_moved"],
    ),
    "results split over messages in another order": (
        [HI, says("assistant", use("a"), use("b")), says("tool", result("b")), says("tool", result("a")), BYE],
        [HI, says("assistant", use("a"), use("b")), says("tool", result("a"), result("b")), BYE],
        ["result_moved"],
    ),
    "results with words between them": (
        [HI, says("assistant", use("a"), use("b")), says("tool", result("a")), BYE, says("tool", result("b")), BYE],
        [HI, says("assistant", use("a"), use("b")), says("tool", result("a"), result("b")), BYE, BYE],
        ["result_moved"],
    ),
    "a result before its call": (
        [HI, says("tool", result("a")), says("assistant", use("a")), BYE],
        [HI, says("assistant", use("a")), says("tool", result("a")), BYE],
        ["result_moved"],
    ),
    "a result twice": (
        [HI, says("assistant", use("a")), says("tool", result("a")), says("tool", result("a")), BYE],
        [HI, says("assistant", use("a")), says("tool", result("a")), BYE],
        ["result_twice"],
    ),
    "two results that differ": (
        [HI, says("assistant", use("a")), says("tool", result("a"), result("a", "no")), BYE],
        [HI, says("assistant", use("a")), says("tool", result("a")), says("user", "Result of the tool call 'a': no"), BYE],
        ["result_without_call"],
    ),
    "one id for two calls": (
        [HI, says("assistant", use("a")), says("tool", result("a")), says("assistant", use("a")), says("tool", result("a", "2"))],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a")),
            says("assistant", use("a").model_copy(update={"id": "a_2"})),
            says("tool", result("a", "2").model_copy(update={"tool_use_id": "a_2"})),
        ],
        ["call_id"],
    ),
    "one id for two calls, the first without a result": (
        [HI, says("assistant", use("a")), says("assistant", "again", use("a")), says("tool", result("a", "2")), BYE],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a", NO_RESULT).model_copy(update={"is_error": True})),
            says("assistant", "again", use("a").model_copy(update={"id": "a_2"})),
            says("tool", result("a", "2").model_copy(update={"tool_use_id": "a_2"})),
            BYE,
        ],
        ["call_id", "result_made_up"],
    ),
    "one id for two calls of messages that stand together": (
        [HI, says("assistant", use("a")), says("assistant", use("a")), says("tool", result("a"), result("a", "2"))],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a")),
            says("assistant", use("a").model_copy(update={"id": "a_2"})),
            says("tool", result("a", "2").model_copy(update={"tool_use_id": "a_2"})),
        ],
        ["call_id", "result_moved"],
    ),
    "one id for two calls, and the first one's result comes late": (
        [
            HI,
            says("assistant", use("a")),
            BYE,
            says("assistant", use("a")),
            says("tool", result("a", "2"), "so"),
            says("tool", result("a", "1")),
        ],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a", "1")),
            BYE,
            says("assistant", use("a").model_copy(update={"id": "a_2"})),
            says("tool", result("a", "2").model_copy(update={"tool_use_id": "a_2"})),
            says("user", "so"),
        ],
        ["call_id", "result_moved"],
    ),
    "a call among the results before it": (
        [HI, says("assistant", use("a")), says("tool", result("a"), use("b")), says("tool", result("b")), BYE],
        [HI, says("assistant", use("a")), says("tool", result("a")), says("assistant", use("b")), says("tool", result("b")), BYE],
        ["call_of_no_assistant"],
    ),
    "a call of the same id among the results before it": (
        [HI, says("assistant", use("a")), says("tool", result("a"), use("a")), says("tool", result("a", "2")), BYE],
        [
            HI,
            says("assistant", use("a")),
            says("tool", result("a")),
            says("assistant", use("a").model_copy(update={"id": "a_2"})),
            says("tool", result("a", "2").model_copy(update={"tool_use_id": "a_2"})),
            BYE,
        ],
        ["call_id", "call_of_no_assistant"],
    ),
    "a result behind the user": (
        [HI, says("assistant", use("a")), BYE, says("tool", result("a"))],
        [HI, says("assistant", use("a")), says("tool", result("a")), BYE],
        ["result_moved"],
    ),
    "empty messages": (
        [HI, says("assistant"), says("user", ""), BYE],
        [HI, BYE],
        ["empty_message", "empty_message"],
    ),
    "two systems": (
        [says("system", "Be brief."), says("system", "Be brief."), says("system", "Be kind."), HI],
        [says("system", "Be brief."), says("system", "Be kind."), HI],
        ["system_twice"],
    ),
    "the assistant first": (
        [says("system", "Be brief."), says("assistant", "Hello."), BYE],
        [says("system", "Be brief."), says("user", "(The conversation began before this.)"), says("assistant", "Hello."), BYE],
        ["user_turn_added"],
    ),
    "a call of the user": (
        [says("user", "hi", use("a")), says("tool", result("a")), BYE],
        [HI, says("assistant", use("a")), says("tool", result("a")), BYE],
        ["call_of_no_assistant"],
    ),
    "a result in the assistant's message": (
        [HI, says("assistant", "Let me see.", use("a"), result("a")), BYE],
        [HI, says("assistant", "Let me see.", use("a")), says("tool", result("a")), BYE],
        ["result_moved"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_broken_is_repaired_and_recorded(name: str) -> None:
    broken, sound, kinds = BROKEN[name]
    before = [message.model_dump() for message in broken]
    assert await gone_on(broken) == (sound, kinds)
    assert [message.model_dump() for message in broken] == before


async def test_openais_dicts_are_repaired_as_well() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "and?"},
        {"role": "tool", "tool_call_id": "c", "content": "late"},
    ]
    sent, kinds = await gone_on(history)
    assert [message.role for message in sent] == ["user", "assistant", "tool", "user"]
    assert kinds == ["result_moved"]


async def test_what_the_system_says_already_is_not_said_again() -> None:
    sent, kinds = await gone_on([says("system", "Be brief."), HI], system="Be brief.")
    assert (sent, kinds) == ([HI], ["system_twice"])


async def test_a_sound_history_is_left_as_it_is() -> None:
    history = [
        says("system", "Be brief."),
        HI,
        says("assistant", "", use("a"), use("b")),
        says("user", result("a"), result("b"), "and this"),
        says("assistant", "ok"),
        says("user", "more"),
        says("user", "and more"),
    ]
    assert repaired_history(history) == (history, [])


async def entered(history: list[Any]) -> tuple[list[Message], list[str]]:
    done = await Orchestrator(FakeModel("ok")).run(message_history=history)
    assert_valid(done.messages)
    return done.messages[:-1], [record.repair.kind for record in done.repairs]


def turns(names: list[str]) -> list[Any]:
    """A turn as OpenAI's API has it: a result in each message."""
    calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
    answers = [{"role": "tool", "tool_call_id": name, "content": name} for name in names]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]


async def test_whole_histories_of_parallel_calls_are_not_called_broken() -> None:
    history = [{"role": "user", "content": "hi"}, *turns(["a", "b", "c"]), *turns(["d"]), {"role": "user", "content": "so?"}]
    sent, kinds = await entered([*history, *turns(["e", "f"])])
    assert kinds == []
    assert [one.tool_use_id for message in sent for one in message.tool_results] == ["a", "b", "c", "d", "e", "f"]
    done = await Orchestrator(FakeModel("ok")).run(message_history=history)
    again = await Orchestrator(FakeModel("ok")).run("?", message_history=done.messages_as_openai())
    assert again.repairs == []


def ollamas(*calls: tuple[str, int]) -> dict[str, Any]:
    made = [{"function": {"name": name, "arguments": {"n": number}}} for name, number in calls]
    return {"role": "assistant", "content": "", "tool_calls": made}


async def test_calls_without_ids_are_answered_in_their_order_or_by_name() -> None:
    """As Ollama's own API has them."""
    history: list[Any] = [
        {"role": "user", "content": "hi"},
        ollamas(("f", 1), ("g", 2), ("f", 3)),
        {"role": "tool", "tool_name": "f", "content": "1"},
        {"role": "tool", "content": "2"},
        {"role": "tool", "name": "f", "content": "3"},
        ollamas(("g", 4)),  # whose program died
        {"role": "user", "content": "go on"},
        ollamas(("g", 5)),
        {"role": "tool", "content": "5"},
    ]
    sent, kinds = await entered(history)
    assert kinds == ["result_made_up"]
    told = {one.tool_use_id: one.text for message in sent for one in message.tool_results}
    asked = {one.id: (one.input or {})["n"] for message in sent for one in message.tool_uses}
    assert {asked[call_id]: text for call_id, text in told.items()} == {1: "1", 2: "2", 3: "3", 4: NO_RESULT, 5: "5"}
    with pytest.raises(CallerError, match="no `tool_call_id` that says which"):
        await entered([*history, {"role": "tool", "content": "one too many"}])


@pytest.mark.parametrize("given", ["", " \n", [says("user")], [HI, says("user", " ")], [{"role": "assistant", "content": None}]])
async def test_an_empty_prompt_is_refused(given: Any) -> None:
    fake = FakeModel("ok")
    with pytest.raises(CallerError, match="has no content but blanks; give text"):
        await Orchestrator(fake).run(given)
    with pytest.raises(CallerError, match="the user message that ends it has no content"):
        await Orchestrator(fake).run(" ", message_history=[HI, says("assistant", "Hi.")])
    with pytest.raises(CallerError, match="an interjection is empty"):
        Interjections().add("")
    assert fake.call_count == 0


async def test_what_is_reported_in_openais_form_has_nothing_to_repair() -> None:
    thoughts = says("assistant", ThinkingBlock(thinking="Hm."))
    result = RunResult[Any](messages=[HI, thoughts, says("user", "Well?"), says("assistant", "Yes.")])
    assert [one["content"] for one in result.messages_as_openai()] == ["hi", "Well?", "Yes."]
    assert not (await Orchestrator(FakeModel("ok")).run("?", message_history=result.messages_as_openai())).repairs


async def test_what_is_said_anew_must_answer_a_call() -> None:
    history = [HI, says("assistant", use("a"))]
    with pytest.raises(CallerError, match=r"holds a result for 'b'.*calls that are without one: 'a'"):
        await Orchestrator(FakeModel("ok")).run([says("tool", result("b"))], message_history=history)


def test_many_turns_of_one_id_are_distinguished_in_linear_time() -> None:
    begun = time.perf_counter()
    turns_ = [says("assistant", use("same")) for _ in range(3000)]
    late = [one for number in range(3000) for one in (says("tool", result("same", str(number))), BYE)]
    messages, repairs = repaired_history([HI, *turns_, *late])
    assert sum(len(message.tool_results) for message in messages) == 3000
    assert {repair.kind for repair in repairs} == {"call_id", "result_moved"}
    assert time.perf_counter() - begun < 5


def test_ids_that_many_calls_share_are_distinguished_in_linear_time() -> None:
    calls = says("assistant", *(use("same") for _ in range(3000)))
    results = says("tool", *(result("same", str(number)) for number in range(4000)))
    messages, repairs = repaired_history([HI, calls, results])
    assert len({one.id for one in messages[1].tool_uses}) == 3000
    assert [one.text for one in messages[2].tool_results] == [str(number) for number in range(3000)]
    assert len(repairs) == 2999 + 1000


IDS = st.sampled_from(["a", "b", "c"])
ROLES: st.SearchStrategy[Role] = st.sampled_from(["system", "user", "assistant", "tool"])
BLOCKS = st.builds(use, IDS) | st.builds(result, IDS, st.text(max_size=3)) | st.builds(TextBlock, text=st.text(max_size=3))
MESSAGES = st.builds(Message, role=ROLES, content=st.lists(BLOCKS, max_size=4))


@given(st.lists(MESSAGES, max_size=6), st.booleans())
def test_any_history_is_repaired_once_and_loses_nothing_unseen(history: list[Message], open_end: bool) -> None:
    made, repairs = repaired_history(history, open_end=open_end)
    assert repaired_history(made, open_end=open_end) == (made, [])
    told = sorted(
        block.text for message in history for block in [*message.content] if isinstance(block, TextBlock) and block.text
    )
    kept = sorted(block.text for message in made for block in message.content if isinstance(block, TextBlock))
    systems = [str(repair.before) for repair in repairs if repair.kind == "system_twice"]
    assert all(text in kept or any(text in said for said in systems) for text in told)
    answers = [one for message in history for one in message.tool_results]
    twice = sum(repair.kind == "result_twice" for repair in repairs)
    as_text = sum(repair.kind == "result_without_call" for repair in repairs)
    made_up = sum(repair.kind == "result_made_up" for repair in repairs)
    assert sum(len(message.tool_results) for message in made) == len(answers) - twice - as_text + made_up
    ids = [one.id for message in made for one in message.tool_uses]
    assert len(ids) == len(set(ids)) == sum(len(message.tool_uses) for message in history)
    if not open_end:
        assert_valid([message for message in made if message.content])


async def test_repairs_of_a_given_history_are_logged_and_told_to_observers(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[str, str]] = []

    class Told(Observer):
        def repaired(self, run: Any, repair: RepairRecord) -> None:
            told.append((repair.of, repair.repair.kind))

    caplog.set_level("DEBUG", logger="llmcore.run")
    broken = [Message(role="user", content="hi"), Message(role="assistant", content=[use("a")])]
    await Orchestrator(FakeModel("ok"), observers=Told()).run("And now?", message_history=broken)
    assert told == [("history", "result_made_up")]
    assert "history repaired: result_made_up" in caplog.text
