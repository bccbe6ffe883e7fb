"""A saved run is resumed once: it is claimed, in this process or in a store, and its open calls are those that it was saved
with."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from llmcore import (
    Agent,
    Answer,
    Approve,
    AuthenticationFailed,
    CallerError,
    ConfigError,
    Deny,
    FakeModel,
    FileStore,
    Orchestrator,
    RunResult,
    RunStore,
    ToolError,
    tool,
)

pytestmark = pytest.mark.anyio
KEY = "a key of the test, 32 bytes long"
SENT: list[tuple[str, float]] = []


@tool(requires_approval=True)
def send(to: str, amount: float) -> str:
    """Send money."""
    SENT.append((to, amount))
    return f"sent {amount} to {to}"


def look() -> str:
    """Look around."""
    return "nothing new"


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


def bank(*replies: Any, **options: Any) -> Orchestrator:
    return Orchestrator(FakeModel(*replies) if replies else FakeModel(default="done"), [send, look], **options)


def asking(**options: Any) -> Orchestrator:
    model = FakeModel().tool_calls(("send", {"to": "Ann", "amount": 5}), ("send", {"to": "Bob", "amount": 7.5}))
    return Orchestrator(model, [send, look], **options)


def approved(result: RunResult[Any]) -> dict[str, Any]:
    return {call.id: Approve() for call in result.pending}


def read_back(text: str) -> RunResult[Any]:
    return RunResult.model_validate_json(text)


class Killed(BaseException):
    """The process ends."""


class Dicts(RunStore):
    """A store in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def add(self, key: str, text: str) -> bool:
        return self.texts.setdefault(key, text) is text

    async def get(self, key: str) -> str | None:
        return self.texts.get(key)

    async def replace(self, key: str, text: str) -> None:
        self.texts[key] = text


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return FileStore(tmp_path / "runs") if request.param == "file" else Dicts()


# Claims


async def test_a_result_is_resumed_once_in_a_process() -> None:
    waiting = await asking().run("Go.")
    done = await bank().run(waiting, answers=approved(waiting))
    with pytest.raises(CallerError, match=f"resumed already, by run {done.id}"):
        await bank().run(waiting, answers=approved(waiting))
    with pytest.raises(CallerError, match=done.id):
        await bank().run(message_history=waiting, answers={call.id: Deny() for call in waiting.pending})
    assert sorted(SENT) == [("Ann", 5), ("Bob", 7.5)]


async def test_what_runs_nothing_claims_nothing() -> None:
    waiting = await asking().run("Go.")
    with pytest.raises(CallerError, match="waits for an answer"):
        await bank().run(waiting, answers={"another": Approve()})
    assert len((await bank().run(waiting)).pending) == 2  # nothing is answered
    assert (await bank().run("Never mind.", message_history=waiting)).content == "done"
    await bank().run(waiting, answers=approved(waiting))
    assert len(SENT) == 2


async def test_a_store_lets_one_of_many_resume(store: RunStore) -> None:
    waiting = (await asking(run_store=store).run("Go.")).model_dump_json()
    states = [read_back(waiting) for _ in range(8)]
    runs = [bank(run_store=store).run(state, answers=approved(state)) for state in states]
    ended = await asyncio.gather(*runs, return_exceptions=True)
    (done,) = [one for one in ended if isinstance(one, RunResult)]
    refused = [one for one in ended if isinstance(one, CallerError)]
    assert len(refused) == 7
    assert all(done.id in str(one) for one in refused)
    assert len(SENT) == 2


async def test_a_state_that_was_saved_without_a_store_is_claimed_in_one(store: RunStore) -> None:
    waiting = (await asking().run("Go.")).model_dump_json()
    done = await bank(run_store=store).run(read_back(waiting), answers=approved(read_back(waiting)))
    with pytest.raises(CallerError, match=done.id):
        await bank(run_store=store).run(read_back(waiting), answers=approved(read_back(waiting)))
    assert len(SENT) == 2


async def test_after_a_crash_the_newest_checkpoint_is_resumed(store: RunStore) -> None:
    first = await asking(run_store=store).run("Go.")
    text = first.model_dump_json()

    def kill(state: RunResult[Any]) -> None:
        if any(record.name == "send" for record in state.tool_results):
            raise Killed

    runner = bank(run_store=store, checkpoint=kill, max_parallel_tools=1)
    with pytest.raises(Killed):
        await runner.run(read_back(text), answers=approved(first))
    assert SENT == [("Ann", 5)]
    with pytest.raises(CallerError, match=r"run_store\.newest"):
        await bank(run_store=store).run(read_back(text), answers=approved(first))
    newest = await store.newest(first.id)
    assert newest is not None
    assert [call.stage for call in newest.open_calls] == ["ready"]
    done = await bank(run_store=store).run(newest)
    assert SENT == [("Ann", 5), ("Bob", 7.5)]
    assert [record.content for record in done.tool_results] == ["sent 5.0 to Ann", "sent 7.5 to Bob"]
    last = await store.newest(first.id)
    assert last is not None
    assert (last.id, last.ended) == (done.id, True)


async def test_denied_calls_stay_denied_after_a_crash(store: RunStore) -> None:
    waiting = await asking(run_store=store).run("Go.")
    ann, bob = [call.id for call in waiting.pending]

    def kill(state: RunResult[Any]) -> None:
        if any(call.stage == "started" for call in state.open_calls):
            raise Killed

    runner = bank(run_store=store, checkpoint=kill)
    with pytest.raises(Killed):
        await runner.run(waiting, answers={ann: Deny("no"), bob: Approve()})
    newest = await store.newest(waiting.id)
    assert newest is not None
    done = await bank(run_store=store).run(newest)
    assert SENT == []
    assert [record.content[:26] for record in done.tool_results] == ["The call was not approved:", "The outcome of this call i"]


async def test_a_run_whose_checkpoint_was_resumed_starts_nothing_more(store: RunStore) -> None:
    others: list[RunResult[Any]] = []

    async def look_twice() -> str:
        """Somebody takes this run for dead."""
        state = await store.newest(next(iter(ids)))
        assert state is not None
        others.append(await bank(run_store=store).run(state))
        return "looked"

    ids: dict[str, None] = {}
    model = FakeModel().tool_call("look_twice").tool_call("look").text("never")
    runner = Orchestrator(model, [look, tool(look_twice, idempotent=False)], run_store=store)
    with pytest.raises(CallerError, match="has resumed what it had saved last") as raised:
        await runner.run("Go.", checkpoint=lambda state: ids.setdefault(state.id))
    assert others[0].id in str(raised.value)
    assert model.call_count == 1


async def test_an_older_checkpoint_is_refused(store: RunStore) -> None:
    states: list[str] = []
    model = FakeModel().tool_call("look").text("done")
    result = await Orchestrator(model, [look], run_store=store).run(
        "Go.", checkpoint=lambda state: states.append(state.model_dump_json())
    )
    assert len(states) == 4
    for state in states[:-1]:
        with pytest.raises(CallerError, match=rf"newest one is run_store.newest\('{result.id}'\)"):
            await bank(run_store=store).run(read_back(state))


async def test_a_partial_result_goes_on_once(store: RunStore) -> None:
    def fail() -> str:
        """Fail."""
        raise ValueError("no")

    with pytest.raises(ToolError, match="no") as raised:
        await Orchestrator(FakeModel().tool_call("fail"), [fail], run_store=store, tool_errors="abort").run("Go.")
    partial: RunResult[Any] | None = raised.value.partial
    assert partial is not None
    assert (await bank(run_store=store).run("And now?", message_history=partial)).content == "done"


def teller(model: FakeModel, **options: Any) -> Agent:
    return Agent(model, name="teller", tools=[send], **options)


@pytest.mark.parametrize("given", ["to run", "as messages", "loaded"])
async def test_without_a_store_the_same_object_goes_on_once_in_agents_too(given: str) -> None:
    state = await asking().run("Go.")

    async def go_on() -> str:
        if given == "to run":
            return (await teller(FakeModel(default="done")).run(state, answers=approved(state))).content
        agent = teller(FakeModel(default="done"), **({"messages": state} if given == "as messages" else {}))
        if given == "loaded":
            agent.load_messages(state)
        return str(await agent.chat(answers=approved(state)))

    assert await go_on() == "done"
    assert len(SENT) == 2
    for again in (go_on, go_on, partial(bank().run, state, answers=approved(state))):
        with pytest.raises(CallerError, match="was resumed already"):
            await again()
    assert len(SENT) == 2


async def test_an_agent_that_was_refused_is_refused_again() -> None:
    state = await asking().run("Go.")
    agent = teller(FakeModel(default="done"), messages=state)
    await bank().run(state, answers=approved(state))
    for _ in range(2):
        with pytest.raises(CallerError, match="was resumed already"):
            await agent.chat(answers=approved(state))
    assert len(SENT) == 2


async def test_a_chat_that_failed_before_anything_was_done_goes_on_in_its_agent() -> None:
    state = await asking().run("Go.")
    agent = teller(FakeModel().error(AuthenticationFailed("no")).text("done"), messages=state)
    denied = {call.id: Deny() for call in state.pending}
    with pytest.raises(AuthenticationFailed):
        await agent.chat(answers=denied)
    assert await agent.chat(answers=denied) == "done"


@pytest.mark.parametrize("key", [None, KEY])
async def test_an_agent_and_those_within_it_go_on_once(store: RunStore, key: str | None) -> None:
    def teller(model: FakeModel, inner: FakeModel) -> Agent:
        helper = Agent(inner, name="helper", tools=[send], run_store=store, signing_key=key)
        return Agent(model, name="teller", tools=[helper], run_store=store, signing_key=key)

    asking = FakeModel().tool_call("send", {"to": "Ann", "amount": 5})
    waiting = await teller(FakeModel().tool_call("helper", {"message": "Pay."}), asking).run("Go.")
    saved = waiting.model_dump_json()
    again = teller(FakeModel("Paid."), FakeModel("Done."))
    again.load_messages(saved)
    assert await again.chat(answers=approved(waiting)) == "Paid."
    once_more = teller(FakeModel("Paid."), FakeModel("Done."))
    once_more.load_messages(saved)
    with pytest.raises(CallerError, match="resumed already"):
        await once_more.chat(answers=approved(waiting))
    assert SENT == [("Ann", 5)]


async def test_nothing_is_known_of_a_run_that_was_never_saved(store: RunStore) -> None:
    assert await store.newest("0123") is None
    assert await store.newest("../../etc/passwd") is None


async def test_an_id_that_somebody_wrote_is_no_path(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "runs")
    waiting = await asking().run("Go.")
    data = json.loads(waiting.model_dump_json()) | {"id": "../../outside", "digest": ""}
    await bank(run_store=store).run(RunResult.model_validate(data), answers=approved(waiting))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    with pytest.raises(CallerError, match="resumed already"):
        await bank(run_store=store).run(RunResult.model_validate(data), answers=approved(waiting))


async def test_files_are_their_owners_and_grow_with_the_run_alone(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    model = FakeModel()
    for _ in range(6):
        model.tool_call("look")
    result = await Orchestrator(model.text("done"), [look], run_store=store).run("Go.")
    files = sorted(tmp_path.iterdir(), key=lambda path: int(path.name.split(".")[1]))
    assert [path.name for path in files] == [f"{result.id}.{number}.json" for number in range(1, 20)]
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert {path.read_text() for path in files[:-1]} == {"{}"}
    assert json.loads(files[-1].read_text())["state"]["ended"]
    assert result.saved_as == f"{result.id}/19"


RESUMES = """
import sys
from llmcore import Approve, CallerError, FakeModel, FileStore, Orchestrator, RunResult, tool

@tool(requires_approval=True)
def send(to: str, amount: float) -> str:
    with open(sys.argv[3], "a") as file:
        file.write(f"{to}\\n")
    return "sent"

state = RunResult.model_validate_json(open(sys.argv[2]).read())
sys.stdin.readline()
try:
    Orchestrator(FakeModel("done"), [send], run_store=FileStore(sys.argv[1])).run_sync(
        state, answers={call.id: Approve() for call in state.pending}
    )
except CallerError:
    print("refused")
else:
    print("resumed")
"""


@pytest.mark.sweep
def test_of_several_processes_one_resumes(tmp_path: Path) -> None:
    folder, state, sent = tmp_path / "runs", tmp_path / "state.json", tmp_path / "sent"
    state.write_text(asking(run_store=FileStore(folder)).run_sync("Go.").model_dump_json())
    command = [sys.executable, "-c", RESUMES.replace("\\\\n", "\\n"), str(folder), str(state), str(sent)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [process.communicate("go\n")[0].strip() for process in started]
    assert sorted(told) == ["refused", "refused", "resumed"]
    assert sent.read_text().split() == ["Ann", "Bob"]


def test_an_option_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="run_store"):
        bank(run_store="runs")
    with pytest.raises(ConfigError, match="at least 16 bytes"):
        bank(signing_key="short one")
    with pytest.raises(ConfigError, match="text or bytes, not int") as raised:
        bank(signing_key=1234567890123456789)
    assert "1234567890123456789" not in str(raised.value)


# Digests


def _argument(data: dict[str, Any]) -> None:
    for call in (data["pending"][0], data["open_calls"][0]):
        call["arguments"]["to"] = "Eve"
    data["messages"][1]["content"][0]["input"]["to"] = "Eve"


def _amount(data: dict[str, Any]) -> None:
    for call in (data["pending"][1], data["open_calls"][1]):
        call["arguments"]["amount"] = 7.25
    data["messages"][1]["content"][1]["input"]["amount"] = 7.25


def _added(data: dict[str, Any]) -> None:
    call = data["messages"][1]["content"][0] | {"id": "more"}
    data["messages"][1]["content"].append(call)


def _ready(data: dict[str, Any]) -> None:
    data["open_calls"][0]["stage"] = "ready"


def _approved(data: dict[str, Any]) -> None:
    data["open_calls"][0] |= {"approved": True}


def _unasked(data: dict[str, Any]) -> None:
    data["pending"], data["open_calls"] = [], []


def _another_place(data: dict[str, Any]) -> None:
    data["saved_as"] = "ab/1"


CHANGES: list[Callable[[dict[str, Any]], None]] = [_argument, _amount, _added, _ready, _approved, _unasked, _another_place]


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("change", CHANGES)
async def test_a_file_whose_calls_were_changed_is_refused(change: Callable[[dict[str, Any]], None], key: str | None) -> None:
    waiting = await asking(signing_key=key).run("Go.")
    data = json.loads(waiting.model_dump_json())
    change(data)
    for answers in (approved(waiting), {}):
        with pytest.raises(CallerError, match="changed"):
            await bank(signing_key=key).run(RunResult.model_validate(data), answers=answers)
    assert SENT == []


@pytest.mark.parametrize("key", [None, KEY, KEY.encode()])
async def test_a_file_that_was_rewritten_is_the_same(key: Any) -> None:
    numbers = {"to": "\u00e9\ud83d\ude00", "amount": 2.0}
    model = FakeModel().tool_calls(("send", numbers), ("send", {"to": "Bob", "amount": 1e21}))
    waiting = await Orchestrator(model, [send], signing_key=key).run("Go.")
    data = json.loads(
        waiting.model_dump_json(), parse_float=lambda text: int(float(text)) if float(text).is_integer() else float(text)
    )
    text = json.dumps(data, sort_keys=True, indent=1, ensure_ascii=True)
    await bank(signing_key=key).run(read_back(text), answers=approved(waiting))
    assert sorted(SENT) == [("Bob", 1e21), ("\u00e9\U0001f600", 2.0)]


@pytest.mark.parametrize("change", CHANGES[:1])
async def test_a_key_makes_the_digest_a_protection(change: Callable[[dict[str, Any]], None]) -> None:
    unsigned = json.loads((await asking().run("Go.")).model_dump_json())
    signed = json.loads((await asking(signing_key=KEY).run("Go.")).model_dump_json())
    for data in (unsigned, unsigned | {"digest": ""}, signed | {"digest": ""}, signed | {"digest": unsigned["digest"]}):
        with pytest.raises(CallerError, match="not signed"):
            await bank(signing_key=KEY).run(RunResult.model_validate(data), answers=approved(RunResult.model_validate(data)))
    with pytest.raises(CallerError, match="signed by another key"):
        await bank(signing_key=KEY[::-1]).run(RunResult.model_validate(signed))
    with pytest.raises(CallerError, match="give the run the `signing_key`"):
        await bank().run(RunResult.model_validate(signed))
    assert SENT == []


async def test_a_file_of_an_earlier_release_goes_on() -> None:
    data = json.loads((await asking().run("Go.")).model_dump_json())
    old = {name: value for name, value in data.items() if name not in ("digest", "saved_as")}
    state = RunResult.model_validate(old)
    await bank().run(state, answers=approved(state))
    assert len(SENT) == 2


async def test_the_key_stands_nowhere(tmp_path: Path) -> None:
    said: list[str] = []

    def save(state: RunResult[Any]) -> None:
        said.append(repr(state))

    runner = asking(signing_key=KEY, run_store=FileStore(tmp_path), checkpoint=save)
    waiting = await runner.run("Go.")
    said += [repr(runner), repr(vars(runner)), waiting.model_dump_json(), *(path.read_text() for path in tmp_path.iterdir())]
    with pytest.raises(CallerError) as raised:
        await bank(signing_key=KEY[::-1]).run(waiting, answers=approved(waiting))
    said += [str(raised.value), repr(raised.value)]
    assert not [text for text in said if KEY in text or KEY[::-1] in text or KEY.encode().hex() in text]
    assert waiting.digest.startswith("hmac-sha256:")


async def test_a_run_that_has_nothing_open_has_no_digest() -> None:
    assert (await bank("done", signing_key=KEY).run("Go.")).digest == ""
    waiting = await asking(signing_key=KEY).run("Go.")
    ann, bob = [call.id for call in waiting.pending]
    again = await bank(signing_key=KEY).run(waiting, answers={ann: Answer("by hand")})
    done = await bank(signing_key=KEY).run(again, answers={bob: Approve()})
    assert (done.digest, SENT) == ("", [("Bob", 7.5)])
