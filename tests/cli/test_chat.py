"""`llmcore chat`: scripted input against a server on loopback, and Ctrl-C in a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmcore import Message, Orchestrator
from llmcore.testing import FakeModel
from tests.cli.conftest import ROOT, Invoke
from tests.helpers.wire_server import Failure, Raw, Seen, Step, WireServer
from tests.helpers.wires import WIRES, Turn, frames

TOOLS = '''
from llmcore import tool

@tool
def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"{city} is sunny."

@tool(requires_approval=True)
def pay(to: str) -> str:
    """Pays somebody."""
    return f"{to} is paid."

tools = [get_weather, pay]
'''


def script(seen: Seen) -> Step:
    """What the model answers, by the last message."""
    last = seen.body["messages"][-1]
    if last["role"] == "tool":
        return Turn(f"The tool says: {last['content']}", reasoning="A result came.")
    match last["content"].split()[0]:
        case "weather":
            return Turn(calls=[("get_weather", '{"city": "Paris", "days": "3",}')])
        case "pay":
            return Turn(calls=[("pay", {"to": "Ann"})])
        case "fail":
            return Failure(401, {"error": {"message": "Incorrect API key provided."}})
        case "long":
            return Raw(list(frames(WIRES["openai-chat"], Turn("once upon a time ")))[:3], "text/event-stream", hang=30)
        case _:
            return Turn(f"You said {sum(each['role'] == 'user' for each in seen.body['messages'])} things.")


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(script) as made:
        yield made


def chat(invoke: Invoke, server: WireServer, *lines: str, options: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """What the chat prints for these lines, and on standard error."""
    result = invoke("chat", "m", "--base-url", f"{server.root}/v1", *options, stdin="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0
    return result.stdout.splitlines(), result.stderr


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    (tmp_path / "chat_tools.py").write_text(TOOLS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return ("--tools", "chat_tools:tools")


def test_the_history_grows_and_undo_removes_the_last_turn(invoke: Invoke, server: WireServer) -> None:
    printed, _ = chat(invoke, server, "hello", "hello", "/undo", "hello", "/undo", "/undo", "/undo", "hello")
    assert [line for line in printed if line.startswith("You said")] == [f"You said {count} things." for count in (1, 2, 2, 1)]
    assert printed[1] == "1 request, 21 + 9 tokens"


def test_a_call_its_repairs_and_its_result_are_shown(invoke: Invoke, server: WireServer, tools: tuple[str, ...]) -> None:
    printed, _ = chat(invoke, server, "weather please", options=tools)
    assert printed[:3] == [
        'call     get_weather {"city": "Paris", "days": "3",}',
        'repair   trailing_comma (lossless): ",}" -> "}"',
        'repair   number_from_text (coerced) at days: "3" -> 3',
    ]
    assert printed[3].startswith("result   get_weather: Paris is sunny. (")
    assert printed[4:6] == ["A result came.", "The tool says: Paris is sunny."]


@pytest.mark.parametrize(("answer", "result"), [("y", "Ann is paid."), ("n", "The call was not approved.")])
def test_a_call_that_needs_approval_is_asked_about(
    invoke: Invoke, server: WireServer, tools: tuple[str, ...], answer: str, result: str
) -> None:
    printed, errors = chat(invoke, server, "pay", answer, options=tools)
    assert 'run pay {"to": "Ann"}? [y/N]' in errors
    assert printed[1].startswith(f"result   pay: {result}")


def test_an_end_of_the_input_denies_nothing_and_runs_nothing(invoke: Invoke, server: WireServer, tools: tuple[str, ...]) -> None:
    printed, errors = chat(invoke, server, "pay", options=tools)
    assert printed == ['call     pay {"to": "Ann"}']
    assert errors.endswith("stopped\n")


def test_a_wait_and_a_failure_are_shown_and_the_chat_goes_on(invoke: Invoke) -> None:
    limited = Failure(429, {"error": {"message": "Rate limit reached."}}, {"retry-after": "0.01"})
    with WireServer([limited, "Now.", Failure(401, {"error": {"message": "Incorrect API key provided."}}), "Again."]) as server:
        printed, errors = chat(invoke, server, "one", "two", "three")
    assert printed[0].startswith("failed   m: RateLimited: ")
    assert printed[1].startswith("waiting  ")
    assert printed[2:4] == ["asking   m, mode native_tools (retry)", "Now."]
    assert "AuthenticationFailed: " in errors
    assert "Again." in printed
    assert [message["content"] for message in server.requests[-1].body["messages"]] == ["one", "Now.", "three"]


def test_the_saved_messages_are_a_history(invoke: Invoke, server: WireServer, tools: tuple[str, ...], tmp_path: Path) -> None:
    _, errors = chat(invoke, server, "weather", "/save chat.json", "/save chat.json", "/save", options=tools)
    assert "saved 4 messages in chat.json\nchat.json exists; give another name\n/save needs a file: /save chat.json\n" in errors
    saved = json.loads((tmp_path / "chat.json").read_text("utf-8"))
    result = Orchestrator(FakeModel("Yes.")).run_sync("Again?", message_history=saved)
    assert [message.role for message in result.messages[:4]] == ["user", "assistant", "tool", "assistant"]
    assert isinstance(result.messages[0], Message)


def test_an_unknown_command_is_told_with_the_nearest_one(invoke: Invoke, server: WireServer) -> None:
    _, errors = chat(invoke, server, "/hlp", "/help", "/quit", "hello")
    assert "there is no command /hlp; did you mean '/help'?\n/help  show these commands\n" in errors
    assert server.requests == []


def test_as_json_each_event_is_a_line(invoke: Invoke, server: WireServer) -> None:
    printed, _ = chat(invoke, server, "hello", "fail", options=("--json",))
    types = [json.loads(line)["type"] for line in printed]
    assert (types[0], types[-1]) == ("attempt_started", "error")
    assert "".join(event.get("text", "") for event in map(json.loads, printed)) == "You said 1 things."


def test_ctrl_c_stops_the_reply_and_not_the_chat(server: WireServer) -> None:
    screen, stdio = pty.openpty()
    command = [sys.executable, "-m", "llmcore", "chat", "m", "--base-url", f"{server.root}/v1"]
    with subprocess.Popen(command, cwd=ROOT, stdin=stdio, stdout=stdio, stderr=stdio, start_new_session=True) as process:
        try:
            for prompt, until in (("long", "once"), ("", "stopped"), ("hello", "You said 2")):
                if prompt:
                    _read_until(screen, "you> ")
                    os.write(screen, f"{prompt}\r".encode())
                else:
                    process.send_signal(signal.SIGINT)
                _read_until(screen, until)
            _read_until(screen, "you> ")
            os.write(screen, b"/quit\r")
            assert process.wait(30) == 0
        finally:
            process.kill()
            os.close(screen)
            os.close(stdio)


def _read_until(screen: int, wanted: str) -> None:
    seen = ""
    while wanted not in seen:
        seen += os.read(screen, 1).decode("latin-1")
