"""A Decimal argument has every digit that was on the wire, and the model sees the same digits again: over real sockets."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.recording.recorder import Recorder
from llmcore.hooks import Hooks
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run import Approve, RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import CallerError, Message, Request, TextBlock, ToolCall, ToolUseBlock
from llmcore.types.numbers import exact_json, exact_loads
from tests.orchestrator.support import FAST
from tests.support.wire_server import Raw, Turn, WireServer
from tests.support.wires import WIRES, frames

pytestmark = pytest.mark.anyio

NUMBERS = {"long": "12345678901234567890.12", "scale": "1.10", "power": "1e5"}
EXACT = {name: Decimal(literal) for name, literal in NUMBERS.items()}
PROVIDERS = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro", "ollama": "llama3.1"}
_WIRE_OF = {"openai": "openai-chat"}
_STAND_INS = {"long": 770001, "scale": 770002, "power": 770003}


class Bill(BaseModel):
    long: Decimal
    scale: Decimal
    power: Decimal


def _with_numbers(data: bytes) -> bytes:
    for name, number in _STAND_INS.items():
        data = data.replace(str(number).encode(), NUMBERS[name].encode())
    return data


def _calling(provider: str, name: str, *, streamed: bool = False) -> Raw:
    wire = WIRES[_WIRE_OF.get(provider, provider)]
    turn = Turn(calls=[(name, _STAND_INS)], chunk=1000)
    if streamed:
        return Raw([_with_numbers(frame) for frame in frames(wire, turn)], content_type="text/event-stream")
    return Raw([_with_numbers(json.dumps(wire.body(turn)).encode())])


async def test_what_a_tool_gives_back_has_the_digits_that_it_was_given() -> None:
    def echo(data: dict[str, Any]) -> dict[str, Any]:
        return {"given": data, "twice": (data, data), "infinite": float("inf")}

    raw = '{"data": {"long": 12345678901234567890.12, "scale": 1.10}}'
    call = {"id": "c", "type": "function", "function": {"name": "echo", "arguments": raw}}
    body = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    result = await Orchestrator(FakeModel(body, "done"), [echo]).run("go")
    given = '{"long":12345678901234567890.12,"scale":1.10}'
    shown = result.messages[-2].tool_results[0].text
    assert shown == f'{{"given":{given},"twice":[{given},{given}],"infinite":"Infinity"}}'


@pytest.fixture
async def made() -> AsyncIterator[list[Orchestrator]]:
    stacks: list[Orchestrator] = []
    yield stacks
    for one in stacks:
        await one.aclose()


def _stack(server: WireServer, provider: str, tools: list[Any]) -> Orchestrator:
    model = {
        "provider": provider,
        "model": PROVIDERS[provider],
        "base_url": server.base_url(provider),
        "api_key": "sk-test-0123456789",
    }
    return Orchestrator(ModelRegistry.from_dict({"models": {"m": model}}), tools, strategies=FAST)


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_tool_gets_every_digit_and_the_provider_gets_them_back(provider: str, made: list[Orchestrator]) -> None:
    paid: list[dict[str, Decimal]] = []

    @tool
    def pay(long: Decimal, scale: Decimal, power: Decimal) -> str:
        paid.append({"long": long, "scale": scale, "power": power})
        return "paid"

    with WireServer([_calling(provider, "pay"), Turn("Done.")]) as server:
        orchestrator = _stack(server, provider, [pay])
        made.append(orchestrator)
        result = await orchestrator.run("pay")
    assert [list(map(str, one.values())) for one in paid] == [[str(value) for value in EXACT.values()]]
    sent_back = server.requests[-1].sent.decode()
    for name, literal in NUMBERS.items():
        assert f'"{name}": {literal}' in sent_back.replace('\\"', '"').replace('":', '": ').replace(":  ", ": ")
    assert "llmcore-number" not in sent_back
    history = Message.model_validate_json(result.messages[1].model_dump_json())
    assert history == result.messages[1]
    assert exact_json(history.tool_uses[0].input) == exact_json(result.messages[1].tool_uses[0].input)
    assert NUMBERS["long"] in exact_json(history.tool_uses[0].input)


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_streamed_call_keeps_every_digit(provider: str, made: list[Orchestrator]) -> None:
    paid: list[dict[str, str]] = []

    @tool
    def pay(long: Decimal, scale: Decimal, power: Decimal) -> str:
        paid.append({"long": str(long), "scale": str(scale), "power": str(power)})
        return "paid"

    with WireServer([_calling(provider, "pay", streamed=True), Turn("Done.")]) as server:
        orchestrator = _stack(server, provider, [pay])
        made.append(orchestrator)
        events = [event async for event in orchestrator.stream("pay")]
    assert paid == [{name: str(value) for name, value in EXACT.items()}]
    assert "llmcore-number" not in repr(events)
    assert NUMBERS["long"] in server.requests[-1].sent.decode()


def _whole_at_its_start() -> Raw:
    """A streamed call in Anthropic's form whose input stands in the start of its block; no delta follows."""
    sent = _calling("anthropic", "pay", streamed=True).frames
    whole = f'"input": {{{", ".join(f"{json.dumps(name)}: {number}" for name, number in NUMBERS.items())}}}'.encode()
    frames_left = [frame for frame in sent if b"input_json_delta" not in frame]
    return Raw([re.sub(rb'"input": ?{}', whole, frame) for frame in frames_left], content_type="text/event-stream")


@pytest.mark.slow
async def test_an_input_that_comes_whole_in_a_stream_keeps_every_digit(made: list[Orchestrator]) -> None:
    paid: list[dict[str, Decimal]] = []

    @tool
    def pay(long: Decimal, scale: Decimal, power: Decimal) -> str:
        paid.append({"long": long, "scale": scale, "power": power})
        return "paid"

    with WireServer([_whole_at_its_start(), Turn("Done.")]) as server:
        orchestrator = _stack(server, "anthropic", [pay])
        made.append(orchestrator)
        _ = [event async for event in orchestrator.stream("pay")]
    assert [{name: str(value) for name, value in each.items()} for each in paid] == [
        {name: str(value) for name, value in EXACT.items()}
    ]
    assert NUMBERS["long"] in server.requests[-1].sent.decode()


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_call_of_the_output_tool_keeps_every_digit(provider: str, made: list[Orchestrator]) -> None:
    with WireServer([_calling(provider, "final_result")]) as server:
        orchestrator = _stack(server, provider, [])
        made.append(orchestrator)
        bill = await orchestrator.execute("bill", Bill)
    assert {name: str(value) for name, value in bill} == {name: str(value) for name, value in EXACT.items()}


@pytest.mark.slow
async def test_a_recording_shows_the_numbers_and_no_marks() -> None:
    recorder = Recorder(provenance="test")
    adapter = LiteLLMAdapter(observer=recorder.observe)
    use = ToolUseBlock(id="toolu_1", name="pay", input={"long": exact_loads(NUMBERS["long"])})
    history = [Message(role="user", content=[TextBlock(text="pay")]), Message(role="assistant", content=[use])]
    with WireServer([Turn("Done.")]) as server:
        base_url = server.base_url("anthropic")
        endpoint = Endpoint(
            provider="anthropic", model=PROVIDERS["anthropic"], base_url=base_url, api_key=SecretStr("sk-test-0123456789")
        )
        await adapter.complete(ModelCall(endpoint=endpoint, request=Request(messages=history), mode="native_tools"))
        assert NUMBERS["long"] in server.requests[0].sent.decode()
    await adapter.close()
    line = exact_json(recorder.line(id="run"))
    assert "llmcore-number" not in line
    assert NUMBERS["long"] in line


async def test_a_history_that_was_stored_is_sent_with_every_digit() -> None:
    @tool
    def pay(amount: Decimal) -> str:
        return "paid"

    reply = f'<tool_call>{{"name": "pay", "arguments": {{"amount": {NUMBERS["long"]}}}}}</tool_call>'
    first = await Orchestrator(FakeModel(reply, "done"), [pay]).run("pay")
    stored = [Message.model_validate_json(message.model_dump_json()) for message in first.messages]
    assert stored == first.messages
    again = FakeModel("fine")
    await Orchestrator(again, [pay]).run("again", message_history=stored)
    use = next(use for message in again.last_request.messages for use in message.tool_uses)
    assert exact_json(use.input) == f'{{"amount": {NUMBERS["long"]}}}'


WRITTEN = {
    "sound": '{"amount": N}',
    "another quote": "{'amount': N}",
    "a trailing comma": '{"amount": N,}',
    "a comment": '{"amount": N /* dollars */}',
    "another spelling": '{"Amount": N}',
    "in a wrapper": '{"arguments": {"amount": N}}',
    "beside half a pair": '{"amount": N, "note": "a\\ud800"}',
    "as Python": "[pay(amount=N)]",
    "as elements": "<function=pay>\n<parameter=amount>\nN\n</parameter>\n</function>",
}


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("number", ["12345678901234567890.12", "1.10"])
@pytest.mark.parametrize("how", WRITTEN)
def test_a_call_that_was_stored_runs_with_the_digits_that_were_shown(how: str, number: str, hooked: bool) -> None:
    paid: list[Decimal] = []

    def pay(amount: Decimal, note: str = "") -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    def with_note(call: ToolCall, _context: object) -> ToolCall:
        return call.model_copy(update={"arguments": {**(call.arguments or {}), "note": "checked"}})

    text = WRITTEN[how].replace("N", number)
    hooks = Hooks(before_tool_run=with_note) if hooked else None
    asked = FakeModel(text) if "pay" in text else FakeModel().tool_call("pay", text)
    tools = [tool(pay, requires_approval=True)]
    waiting = Orchestrator(asked, tools, hooks=hooks).run_sync("Pay")
    stored = RunResult.model_validate_json(waiting.model_dump_json())
    assert repr(stored.pending[0].arguments) == repr(waiting.pending[0].arguments)
    answers = {call.id: Approve() for call in stored.approvals}
    going_on = FakeModel("Done.")
    done = Orchestrator(going_on, tools, hooks=hooks).run_sync(stored, answers=answers)
    assert list(map(str, paid)) == [number]
    sent = going_on.last_request.messages[1].tool_uses[0].input
    assert sent is not None
    assert str(sent["amount"]) == number
    told = RunResult.model_validate_json(done.model_dump_json()).tool_results[0].arguments
    assert told is not None
    assert str(told["amount"]) == number


@pytest.mark.parametrize("lost_of", ["pending", "open_calls", "both"])
@pytest.mark.parametrize("how", ["sound", "another quote"])
def test_digits_that_were_lost_on_the_way_are_those_of_the_history(how: str, lost_of: str) -> None:
    """A result that was saved by a version that did not write them, or went through a program that does not know them."""
    paid: list[Decimal] = []

    def pay(amount: Decimal) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    tools = [tool(pay, requires_approval=True)]
    asked = FakeModel().tool_call("pay", WRITTEN[how].replace("N", NUMBERS["long"]))
    waiting = Orchestrator(asked, tools).run_sync("Pay")
    assert waiting.approvals[0].summary == f"pay(amount={NUMBERS['long']})"
    data = json.loads(waiting.model_dump_json())
    for name in ("pending", "open_calls"):
        if lost_of in (name, "both"):
            del data[name][0]["exact"]
    stored = RunResult.model_validate(data)
    Orchestrator(FakeModel("Done."), tools).run_sync(stored, answers={call.id: Approve() for call in stored.approvals})
    assert list(map(str, paid)) == [NUMBERS["long"]]


def test_a_call_that_is_shown_with_other_digits_than_the_history_holds_is_refused() -> None:
    def pay(amount: Decimal) -> str:
        """Pay."""
        return "paid"

    tools = [tool(pay, requires_approval=True)]
    asked = FakeModel().tool_call("pay", WRITTEN["sound"].replace("N", NUMBERS["long"]))
    data = json.loads(Orchestrator(asked, tools).run_sync("Pay").model_dump_json())
    data["pending"][0]["exact"]["arguments"] = data["pending"][0]["exact"]["arguments"].replace(".12", ".99")
    stored = RunResult.model_validate(data)
    with pytest.raises(CallerError, match="other arguments than its history holds"):
        Orchestrator(FakeModel("Done."), tools).run_sync(stored, answers={stored.approvals[0].id: Approve()})
