"""Every failure of a model or its server ends in a result or a classified error, and each request has its recorded reason."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.types import (
    Attempt,
    AuthenticationFailed,
    CapabilityRefused,
    ContextOverflow,
    FallbackExhausted,
    InternalError,
    LLMCoreError,
    ModelError,
    Overloaded,
    RateLimited,
    Refused,
    RemoteServerError,
    RequestTooLarge,
    Timeout,
    Truncated,
)
from tests.run.support import FAST, add, assert_valid, called, calls_in, get_weather, stack

pytestmark = pytest.mark.anyio

GOOD = {"a": 1, "b": 2}
NO_TOOLS = CapabilityRefused("this model does not support tools", capability="native_tools")
ANSWER = '{"toolCalls": [], "content": "3", "needsMoreWork": false}'
ENVELOPE = '{"toolCalls": [{"name": "add", "arguments": {"a": 1, "b": 2}}], "content": "", "needsMoreWork": true}'
AS_TEXT = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'


def steps(attempts: list[Attempt]) -> list[tuple[str, str]]:
    """(mode, reason) of each; and no request without a recorded reason."""
    for attempt in attempts:
        assert attempt.detail or attempt.reason in ("first", "turn")
    return [(attempt.mode, attempt.reason) for attempt in attempts]


async def run(fake: FakeModel, **options: Any) -> RunResult:
    result: RunResult = await Orchestrator(fake, [add, get_weather], strategies=FAST).run("go", **options)
    assert_valid(result.messages)
    assert len(result.attempts) == fake.call_count
    return result


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
async def test_an_envelope_with_nothing_but_content_is_its_text(mode: str) -> None:
    can = Capabilities(native_tools=False, json_schema=mode == "json_schema")
    fake = FakeModel(ENVELOPE, '{"content": "3"}', capabilities=can)
    result = await Orchestrator(fake, [add], strategies=FAST).run("go")
    assert (result.content, {attempt.mode for attempt in result.attempts}) == ("3", {mode})


async def test_a_server_that_refuses_tools_is_asked_in_another_mode_and_remembered() -> None:
    fake = FakeModel(NO_TOOLS, ENVELOPE, ANSWER, "later")
    orchestrator = Orchestrator(fake, [add], strategies=FAST)
    result = await orchestrator.run("go")
    assert result.content == "3"
    assert steps(result.attempts) == [("native_tools", "first"), ("json_schema", "mode"), ("json_schema", "turn")]
    assert result.attempts[0].failure is NO_TOOLS
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"native_tools": False}
    assert steps((await orchestrator.run("again")).attempts) == [("json_schema", "first")]


async def test_a_server_that_ignores_a_json_mode_is_remembered() -> None:
    fake = FakeModel("Just words.", "More.", capabilities=Capabilities(native_tools=False))
    orchestrator = Orchestrator(fake, [add])
    assert (await orchestrator.run("go")).content == "Just words."
    assert orchestrator.capabilities.learnt(fake.endpoint) == {"json_schema": False}
    assert steps((await orchestrator.run("again")).attempts) == [("json_object", "first")]


async def test_a_server_that_takes_only_text_is_taught_a_dialect() -> None:
    refusals = [CapabilityRefused(mode, capability=mode) for mode in ("native_tools", "json_schema", "json_object")]
    fake = FakeModel(*refusals, AS_TEXT, "3", capabilities=Capabilities(text_dialect="hermes"))
    result = await run(fake)
    assert steps(result.attempts)[3:] == [("text", "mode"), ("text", "turn")]
    writer = fake.calls[3].writer
    assert writer is not None
    assert writer("add", GOOD).strip() == '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
    assert fake.calls[0].writer is None


async def test_a_table_that_names_an_unknown_dialect_falls_back_to_the_default_one() -> None:
    fake = FakeModel("ok", capabilities=Capabilities(native_tools=False, json_schema=False, json_object=False, text_dialect="x"))
    await run(fake)
    writer = fake.calls[0].writer
    assert writer is not None
    assert writer.dialect == "hermes"


async def test_bad_arguments_twice_are_asked_again_twice_without_growing_the_history() -> None:
    fake = FakeModel().tool_call("add", {"a": 1}).tool_call("add", {"a": 1, "b": "x"}).tool_call("add", GOOD).text("3")
    result = await run(fake)
    assert steps(result.attempts) == [("native_tools", reason) for reason in ("first", "reask", "reask", "turn")]
    assert "b" in result.attempts[1].detail
    assert [len(request.messages) for request in fake.requests] == [1, 2, 2, 3]
    assert calls_in(result.messages) == [("add", GOOD)]
    assert [made.name for made in fake.requests[1].tools] == ["add"]


async def test_good_calls_of_a_bad_turn_are_kept_and_run_once() -> None:
    ran: list[str] = []

    def note(word: str) -> None:
        ran.append(word)

    fake = FakeModel().tool_calls(("note", {"word": "kept"}), ("add", {"a": 1})).tool_call("add", GOOD).text("done")
    result = await Orchestrator(fake, [note, add]).run("go")
    assert ran == ["kept"]
    assert calls_in(result.messages) == [("note", {"word": "kept"}), ("add", GOOD)]
    assert_valid(result.messages)


async def test_bad_arguments_for_ever_end_in_an_error_or_the_best_text() -> None:
    bad = FakeModel(*(called("add", {"a": n}) for n in range(9)))
    with pytest.raises(FallbackExhausted) as caught:
        await run(bad)
    assert steps(list(caught.value.attempts)) == [
        ("native_tools", "first"),
        ("native_tools", "reask"),
        ("native_tools", "reask"),
        ("json_schema", "mode"),
        ("json_object", "mode"),
        ("text", "mode"),
    ]
    assert isinstance(caught.value.__cause__, ModelError)
    assert_valid(caught.value.partial.messages)
    talking = [called("add", {"a": n}, text=f"Try {n}.") for n in range(9)]
    degraded = await run(FakeModel(*talking))
    assert (degraded.content, degraded.degraded) == ("Try 5.", True)
    assert calls_in(degraded.messages) == []


async def test_a_model_that_repeats_itself_is_not_asked_for_ever() -> None:
    fake = FakeModel(default=called("add", {"a": 1}))
    with pytest.raises(FallbackExhausted):
        await run(fake)
    assert [attempt.reason for attempt in _attempts(fake)] == ["first", "reask", "mode", "reask", "mode", "mode"]


def _attempts(fake: FakeModel) -> list[Any]:
    class Reason:
        def __init__(self, call: Any, before: Any) -> None:
            changed = before is not None and call.mode != before.mode
            self.reason = "first" if before is None else "mode" if changed else "reask"

    return [Reason(call, fake.calls[index - 1] if index else None) for index, call in enumerate(fake.calls)]


async def test_an_unknown_tool_is_never_run_and_the_model_gets_the_names() -> None:
    fake = FakeModel().tool_call("subtract", GOOD).tool_call("add", GOOD).text("3")
    result = await run(fake)
    assert "add" in fake.requests[1].messages[-1].text
    assert calls_in(result.messages) == [("add", GOOD)]


async def test_words_instead_of_a_corrected_call_are_an_answer() -> None:
    result = await run(FakeModel().tool_call("add", {"a": 1}).text("I cannot add that."))
    assert (result.content, result.degraded) == ("I cannot add that.", False)
    assert calls_in(result.messages) == []


async def test_a_required_call_that_does_not_come_is_asked_for() -> None:
    fake = FakeModel("I would rather talk.", capabilities=Capabilities(native_tools=True)).tool_call("add", GOOD).text("3")
    result = await run(fake, tool_choice="required")
    assert steps(result.attempts)[1] == ("native_tools", "reask")
    assert fake.requests[1].tool_choice == "required"
    wrong = FakeModel().tool_call("get_weather", {"city": "Rome"}).tool_call("add", GOOD).text("3")
    assert calls_in((await run(wrong, tool_choice={"name": "add"})).messages) == [("add", GOOD)]


async def test_a_server_that_is_down_ends_in_a_classified_error_with_its_attempts() -> None:
    down = RemoteServerError("connection refused", status=502)
    fake = FakeModel(default=down)
    with pytest.raises(FallbackExhausted, match="connection refused") as caught:
        await run(fake)
    assert caught.value.__cause__ is down
    assert steps(list(caught.value.attempts)) == [("native_tools", reason) for reason in ("first", "retry", "retry")]
    assert caught.value.partial.messages[0].text == "go"


async def test_a_rate_limit_is_waited_for_in_the_same_mode() -> None:
    result = await run(FakeModel(RateLimited("slow down", retry_after=0.01), "ok"))
    assert steps(result.attempts) == [("native_tools", "first"), ("native_tools", "retry")]
    assert "slow down" in result.attempts[1].detail
    assert result.attempts[1].n == 2


async def test_a_bad_key_stops_at_once() -> None:
    fake = FakeModel(AuthenticationFailed("bad key"), "never")
    with pytest.raises(AuthenticationFailed) as caught:
        await run(fake)
    assert fake.call_count == 1
    assert len(caught.value.attempts) == 1
    assert isinstance(caught.value.partial, RunResult)


@pytest.mark.parametrize(
    ("failure", "reached"),
    [
        (Overloaded("busy"), ["small", "small", "large"]),
        (Refused("no"), ["small", "large"]),
        (ContextOverflow("too long"), ["small", "large"]),
        (RequestTooLarge("413"), ["small", "large"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, LLMCoreError) else "",
)
async def test_another_model_answers_where_that_may_help(failure: LLMCoreError, reached: list[str]) -> None:
    fakes = {"small": FakeModel(default=failure), "large": FakeModel(default="ok")}
    settings = {"small": {"context_window": 1000}, "large": {"context_window": 9000}}
    try:
        result = await stack(fakes, [add], settings=settings).run("go")
        attempts = result.attempts
    except FallbackExhausted as error:
        attempts = list(error.attempts)
    assert [attempt.model for attempt in attempts] == reached
    steps(attempts)


async def test_later_turns_stay_with_the_model_and_mode_that_worked() -> None:
    small = FakeModel(default=ModelError("bad"), capabilities=Capabilities(json_schema=False, json_object=False))
    large = FakeModel(NO_TOOLS).text(AS_TEXT).text("3")
    settings = {"small": {"preferred_modes": ["native_tools"]}, "large": {"preferred_modes": ["native_tools", "text"]}}
    result = await stack({"small": small, "large": large}, [add], settings=settings).run("go")
    assert [(a.model, a.mode, a.reason) for a in result.attempts] == [
        ("small", "native_tools", "first"),
        ("large", "native_tools", "model"),
        ("large", "text", "mode"),
        ("large", "text", "turn"),
    ]


async def test_the_registrys_retries_and_modes_bound_a_model() -> None:
    settings = {"m": {"max_retries": 1, "preferred_modes": ["native_tools", "text"]}}
    fake = FakeModel(default=ModelError("bad"))
    with pytest.raises(FallbackExhausted):
        await stack({"m": fake}, [add], settings=settings).run("go")
    assert [call.mode for call in fake.calls] == ["native_tools", "text"]
    fixed = FakeModel(default=ModelError("bad"))
    with pytest.raises(FallbackExhausted):
        await stack({"m": fixed}, [add], settings={"m": {"retry_with_different_format": False}}).run("go")
    assert fixed.call_count == 1


async def test_a_cut_call_never_runs_and_is_asked_for_with_more_room() -> None:
    cut = called("add", '{"a": 1, "b"')
    cut["choices"][0]["finish_reason"] = "length"
    fake = FakeModel(cut).tool_call("add", GOOD).text("3")
    result = await run(fake, max_tokens=100)
    assert calls_in(result.messages) == [("add", GOOD)]
    assert [request.max_tokens for request in fake.requests] == [100, 200, 100]
    with pytest.raises(Truncated, match="no re-ask is left"):
        await run(FakeModel(default=cut))


async def test_a_call_that_needed_a_guess_runs_only_on_read_only_tools() -> None:
    broken = '{"a": 1 "b": 2}'
    asked = FakeModel().tool_call("add", broken).tool_call("add", GOOD).text("3")
    assert [attempt.reason for attempt in (await run(asked)).attempts] == ["first", "reask", "turn"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}, ModelError),
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, ModelError),
    ],
    ids=["empty", "malformed"],
)
async def test_replies_that_hold_nothing_are_failures(body: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(FakeModel(default=body), [add], strategies=()).run("go")
    assert type(caught.value.__cause__) is kind


EMPTY: list[Any] = [
    "",
    " \n",
    {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": None, "reasoning_content": "Hm."}, "finish_reason": "stop"}]},
]


@pytest.mark.parametrize("empty", EMPTY)
async def test_no_empty_reply_passes_for_an_answer(empty: Any) -> None:
    result = await Orchestrator(FakeModel(empty, "Here I am."), strategies=FAST).run("go")
    assert (result.content, [attempt.reason for attempt in result.attempts]) == ("Here I am.", ["first", "retry"])
    with pytest.raises(FallbackExhausted, match="the reply is empty") as caught:
        await Orchestrator(FakeModel(default=empty), strategies=FAST).run("go")
    assert isinstance(caught.value.__cause__, ModelError)


async def test_an_empty_reply_that_the_callers_stop_made_is_an_answer() -> None:
    result = await Orchestrator(FakeModel(EMPTY[2]), strategies=FAST).run("go", stop=["END"])
    assert (result.content, len(result.attempts)) == ("", 1)


async def test_an_adapter_that_breaks_its_contract_is_an_internal_error() -> None:
    class Broken(FakeModel):
        lets_exceptions_through = False

        async def complete(self, call: Any) -> Any:
            raise ZeroDivisionError("bug")

    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(Broken(), strategies=()).run("go")
    assert isinstance(caught.value.__cause__, InternalError)
    assert isinstance(caught.value.__cause__.__cause__, ZeroDivisionError)


async def test_a_run_with_failed_attempts_is_json_and_back() -> None:
    fake = FakeModel(
        RateLimited("slow", retry_after=0.0),
        called("get_weather", {"town": 3}),
        called("get_weather", {"city": "Oslo"}),
        "Sunny.",
    )
    result = await stack({"a": fake}, [get_weather]).run("Weather?")
    assert len(result.attempts) == 4
    text = result.model_dump_json()
    back = RunResult.model_validate_json(text)
    assert back.model_dump_json() == text
    assert isinstance(back.attempts[0].failure, RateLimited)
    assert back.messages == result.messages


async def test_the_result_of_a_corrected_call_stands_where_the_call_stands() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1}), ("get_weather", {"city": "Rome"})).tool_call("add", GOOD).text("done")
    result = await run(fake)
    assert {name for name, _ in calls_in(result.messages)} == {"add", "get_weather"}


async def test_results_stand_in_call_order_where_the_final_result_was_called_first() -> None:
    fake = FakeModel().tool_calls(("final_result", {"result": 3}), ("add", GOOD))
    result = await run(fake, output_type=int)
    results = result.messages[-1].tool_results
    assert (result.output, [block.is_error for block in results]) == (3, [False, False])
    assert results[0].text == "The final result was accepted."


@pytest.mark.parametrize(
    "failure", [RateLimited("wait"), RemoteServerError("down"), Timeout("late")], ids=lambda one: type(one).__name__
)
async def test_words_before_a_call_are_no_answer_to_what_the_call_gave(failure: LLMCoreError) -> None:
    with pytest.raises(type(failure)) as caught:
        await run(FakeModel(called("add", GOOD, text="Let me."), default=failure))
    assert caught.value.partial is not None
    assert [message.role for message in caught.value.partial.messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("told", [float("inf"), float("nan"), -1.0])
async def test_a_wait_that_never_ends_was_not_reported(told: float) -> None:
    fake = FakeModel(RateLimited("busy", retry_after=told), Overloaded("busy", retry_after=told), "ok")
    assert (await Orchestrator(fake, strategies=FAST).run("go")).content == "ok"
