"""Hooks change or veto at fixed points of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from llmcore.hooks import HookChain, Hooks, Veto
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import RunContext
from llmcore.tools.results.outcome import Outcome
from llmcore.types import ConfigError, Envelope, Message, Request, TerminateLoop, TextBlock, ToolCall, ToolError
from tests.run.asking.test_cut_streams import finished
from tests.run.support import add, assert_valid, calls_in, get_weather

pytestmark = pytest.mark.anyio


def adding() -> FakeModel:
    return FakeModel().tool_call("add", {"a": 1, "b": 2}).text("done")


async def run(fake: FakeModel, *hooks: Hooks) -> Any:
    result = await Orchestrator(fake, [add, get_weather], hooks=hooks).run("go")
    assert_valid(result.messages)
    return result


async def test_they_are_called_in_order_sync_and_async() -> None:
    seen: list[str] = []

    def note(name: str) -> Any:
        def sync(*_: Any) -> None:
            seen.append(name)

        return sync

    async def late(outcome: Any, call: Any) -> None:
        seen.append("after_tool_run")

    hooks = Hooks(
        before_request=note("before_request"),
        on_response=note("on_response"),
        on_streaming_response=note("never: nothing is streamed"),
        before_tool_run=note("before_tool_run"),
        after_tool_run=late,
        on_tool_response=note("on_tool_response"),
    )
    await run(adding(), hooks)
    turn = ["before_request", "on_response"]
    assert seen == [*turn, "before_tool_run", "after_tool_run", "on_tool_response", *turn]


async def test_before_request_changes_what_is_sent() -> None:
    def fewer(request: Request) -> Request:
        return request.model_copy(update={"tools": request.tools[:1], "temperature": 0.0})

    fake = FakeModel("ok")
    await run(fake, Hooks(before_request=fewer))
    assert ([made.name for made in fake.calls[0].tools], fake.last_request.temperature) == (["add"], 0.0)


async def test_on_response_changes_what_is_judged() -> None:
    def drop(envelope: Envelope) -> Envelope:
        return envelope.model_copy(update={"tool_calls": [], "content": "no calls today", "needs_more_work": None})

    result = await run(adding(), Hooks(on_response=drop))
    assert (result.content, calls_in(result.messages)) == ("no calls today", [])


async def test_a_veto_reaches_the_model_and_the_tool_does_not_run() -> None:
    ran: list[int] = []

    def note(n: int) -> None:
        ran.append(n)

    def forbid(call: ToolCall, context: RunContext[Any]) -> Veto | None:
        return Veto(f"{call.name} is not allowed for {context.deps}") if call.name == "note" else None

    fake = FakeModel().tool_calls(("note", {"n": 1}), ("add", {"a": 1, "b": 1})).text("done")
    result = await Orchestrator(fake, [note, add], hooks=Hooks(before_tool_run=forbid), deps="guests").run("go")
    assert ran == []
    assert [block.text for block in result.messages[2].tool_results] == ["note is not allowed for guests", "2"]
    assert_valid(result.messages)


async def test_calls_outcomes_and_the_results_message_may_be_replaced() -> None:

    def double(call: ToolCall, context: Any) -> ToolCall:
        return call.model_copy(update={"arguments": {"a": 10, "b": 20}, "id": "other"})

    def louder(call: ToolCall, outcome: Outcome) -> Outcome:
        return Outcome(call, [TextBlock(text=f"{outcome.text}!")])

    def signed(message: Message) -> Message:
        block = message.tool_results[0]
        return message.model_copy(
            update={"content": [block.model_copy(update={"content": [TextBlock(text=f"{block.text} (checked)")]})]}
        )

    result = await run(adding(), Hooks(before_tool_run=double), Hooks(after_tool_run=louder, on_tool_response=signed))
    assert result.messages[2].tool_results[0].text == "30! (checked)"


async def test_several_hooks_each_get_what_the_one_before_made() -> None:
    def suffix(word: str) -> Hooks:
        return Hooks(on_response=lambda envelope: envelope.model_copy(update={"content": f"{envelope.content} {word}"}))

    assert (await run(FakeModel("one"), suffix("two"), suffix("three"))).content == "one two three"


@pytest.mark.parametrize("name", ["before_request", "on_response", "before_tool_run", "after_tool_run", "on_tool_response"])
async def test_what_a_hook_raises_ends_the_run_with_the_partial_result(name: str) -> None:
    class OwnError(Exception):
        pass

    def refuse(*_: Any) -> None:
        raise OwnError("no")

    fake = adding()
    with pytest.raises(OwnError) as caught:
        await Orchestrator(fake, [add], hooks=Hooks(**{name: refuse})).run("go")
    partial: RunResult = getattr(caught.value, "partial")  # noqa: B009  (the class itself has none)
    assert_valid(partial.messages)
    assert len(partial.attempts) == fake.call_count == (0 if name == "before_request" else 1)


async def test_a_hook_may_end_the_run_cleanly() -> None:
    def stop(*_: Any) -> None:
        raise TerminateLoop("stopped by policy")

    result = await run(adding(), Hooks(before_tool_run=stop))
    assert result.content == "stopped by policy"


def returning(value: object) -> Any:
    """A function of a caller's without a type checker."""
    return lambda given: value  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]  # it takes anything


async def test_a_hook_that_returns_something_else_is_reported() -> None:
    with pytest.raises(ConfigError, match="before_request must return None or Request, not bool"):
        await run(adding(), Hooks(**{"before_request": returning(True)}))
    wrong: dict[str, Any] = {"on_streaming_response": returning("ho")}
    stream = Orchestrator(FakeModel("hi"), hooks=Hooks(**wrong)).stream("go")
    with pytest.raises(ConfigError, match="on_streaming_response must return None, not str"):
        [event async for event in stream]


# --- hooks as methods of a class --------------------------------------------------------------------------------------


class Guard(Hooks):
    """Forbids some tools; async, with a state of its own."""

    def __init__(self, *forbidden: str) -> None:
        super().__init__()
        self.forbidden = forbidden

    async def before_tool_run(self, call: ToolCall, context: Any) -> Veto | None:
        return Veto(f"no {call.name}") if call.name in self.forbidden else None


class Counting(Guard):
    """A level further down, with the one above asked by `super()`."""

    asked = 0

    async def before_tool_run(self, call: ToolCall, context: Any) -> Veto | None:
        self.asked += 1
        return await super().before_tool_run(call, context)

    @staticmethod
    def on_response(envelope: Envelope) -> Envelope:  # pyright: ignore[reportIncompatibleMethodOverride]  # it needs no object
        return envelope.model_copy(update={"content": f"{envelope.content}!"})


class Signed(Hooks):
    """Has a method, and may be given functions beside it."""

    def __init__(self, sign: str, **functions: Any) -> None:
        super().__init__(**functions)
        self.sign = sign

    def on_response(self, envelope: Envelope) -> Envelope:
        return envelope.model_copy(update={"content": f"{envelope.content}{self.sign}"})


async def test_methods_of_a_class_are_hooks() -> None:
    assert (await run(adding(), Guard("add"))).messages[2].tool_results[0].text == "no add"
    counting = Counting("add")
    result = await run(adding(), counting)
    assert (result.messages[2].tool_results[0].text, counting.asked, result.content) == ("no add", 1, "done!")


async def test_a_method_is_asked_before_a_function_of_the_same_hook() -> None:
    seen: list[str] = []

    def note(envelope: Envelope) -> None:
        seen.append(envelope.content)

    result = await run(FakeModel("well"), Signed("!", on_response=note))
    assert (result.content, seen) == ("well!", ["well!"])


@dataclass
class Polite(Hooks):
    """A dataclass whose own constructor knows nothing of hooks."""

    word: str = "please"

    def on_response(self, envelope: Envelope) -> Envelope:
        return envelope.model_copy(update={"content": f"{self.word} {envelope.content}"})


async def test_a_dataclass_may_have_hooks_for_methods() -> None:
    assert (await run(FakeModel("go"), Polite("do"))).content == "do go"


async def test_a_class_may_take_a_hook_back() -> None:
    lenient = type("Lenient", (Guard,), {"before_tool_run": None})
    assert (await run(adding(), lenient("add"))).messages[2].tool_results[0].text == "3"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("before_tool_rum", "before_tool_run"),
        ("on_request", "before_request"),
        ("onResponse", "on_response"),
        ("after_tool", "after_tool_run"),
        ("on_error", "on_response"),
    ],
)
def test_a_misspelt_hook_is_reported_when_the_class_is_made(name: str, meant: str) -> None:
    mixin = type("Mixin", (), {name: _helper})
    made: list[tuple[tuple[type, ...], dict[str, Any]]] = [
        ((Hooks,), {name: _helper}),
        ((mixin, Hooks), {}),
        ((Hooks,), {name: staticmethod(len)}),
    ]
    for bases, methods in made:
        with pytest.raises(ConfigError, match=f"{name} is no hook; did you mean '{meant}'"):
            type("Mine", bases, methods)


def _helper(self: Any) -> None:
    """No hook."""


def test_helpers_of_a_class_are_no_hooks() -> None:
    made = type("Mine", (Hooks,), {"_on_request": _helper, "allowed": _helper, "before_all": 5})
    assert not HookChain(made()).has("before_tool_run")


def _three(call: Any, context: Any, more: Any) -> None:
    """Wants more than there is."""


def _keyword_only(call: Any, *, context: Any) -> None:
    """Cannot be called by position."""


@pytest.mark.parametrize("wrong", [_helper, _three, _keyword_only, 5, Veto("no")])
def test_a_hook_that_cannot_be_called_is_refused_when_it_is_given(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"the hook before_tool_run .*before_tool_run\(call, context\)"):
        Hooks(before_tool_run=wrong)
    own = type("Mine", (Hooks,), {"before_tool_run": staticmethod(wrong), "__init__": _helper})
    with pytest.raises(ConfigError, match="the hook before_tool_run"):
        Orchestrator(FakeModel(), hooks=own())


async def test_a_function_that_is_given_to_the_hooks_later_is_asked() -> None:
    hooks = Guard("add")
    orchestrator = Orchestrator(FakeModel("one", "two"), hooks=hooks)
    assert (await orchestrator.run("go")).content == "one"
    hooks.on_response = lambda envelope: envelope.model_copy(update={"content": "other"})  # type: ignore[method-assign]  # a hook
    assert (await orchestrator.run("go")).content == "other"


class Underived:
    """A guard that forgot its base class."""

    def before_tool_run(self, call: ToolCall, context: Any) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "fix"),
    [
        (Underived(), r"not Underived; derive it: `class Underived\(llmcore.Hooks\)`"),
        (Underived, "derive it"),
        ([Underived()], "derive it"),
        (5, r"not int; write `Hooks\("),
        ({"before_tool_run": len}, "not dict"),
        ("abc", "not str"),
    ],
)
def test_what_is_no_hooks_is_reported_with_the_fix(wrong: Any, fix: str) -> None:
    with pytest.raises(ConfigError, match=fix):
        Orchestrator(FakeModel(), hooks=wrong)


def test_a_class_in_place_of_an_instance_is_reported() -> None:
    mistakes: list[Any] = [Guard, [Guard]]
    for wrong in mistakes:
        with pytest.raises(ConfigError, match=r"write Guard\(\)"):
            Orchestrator(FakeModel(), hooks=wrong)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_veto_reaches_the_model_whatever_errors_of_tools_do(streamed: bool) -> None:
    hooks = Hooks(before_tool_run=lambda call, context: Veto("not today") if call.arguments == {"a": 1, "b": 2} else None)
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})).text("I may not.")
    orchestrator = Orchestrator(fake, [add], hooks=hooks, tool_errors="abort")
    result = await finished(orchestrator.stream("go")) if streamed else await orchestrator.run("go")
    assert (result.content, [record.ran for record in result.tool_results]) == ("I may not.", [False, True])
    assert "not today" in fake.last_request.messages[-1].tool_results[0].text
    assert_valid(result.messages)


async def test_an_error_of_the_tool_itself_still_ends_the_run() -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    with pytest.raises(ToolError, match="broken"):
        await Orchestrator(FakeModel().tool_call("fail"), [fail], tool_errors="abort").run("go")
