"""Real servers over stdio and HTTP: calls, changes of the list, and servers that are killed in the middle of a run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, Orchestrator
from llmcore.integrations.mcp import McpServers
from tests.integrations.mcp.support import HttpProgram, Program, StdioProgram, opened, run_calls

pytestmark = pytest.mark.anyio


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what a notification brings."""
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def test_a_run_calls_a_servers_tool(program: Program) -> None:
    async with opened(program) as servers:
        result = await run_calls(servers, ("p_add", {"a": 1, "b": "2"}))
    assert [record.value for record in result.tool_results] == [{"result": 3}]
    assert result.content == "Done."


async def test_a_server_that_was_restarted_between_two_calls_answers_the_second(program: Program) -> None:
    async with opened(program) as servers:
        result = await run_calls(servers, ("p_add", {"a": 1, "b": 2}), program.restart, ("p_add", {"a": 3, "b": 4}))
    assert [record.value for record in result.tool_results] == [{"result": 3}, {"result": 7}]
    assert len(program.lines("pids")) == 2


async def test_the_calls_of_one_turn_share_the_new_connection(program: Program) -> None:
    model = FakeModel().tool_calls(*[("p_add", {"a": 1, "b": number}) for number in range(5)]).text("Done.")
    async with opened(program) as servers:
        await asyncio.to_thread(program.restart)
        result = await Orchestrator(model, servers.tools()).run("Go.")
    assert [record.value for record in result.tool_results] == [{"result": 1 + number} for number in range(5)]
    assert len(program.lines("pids")) == 2


async def test_a_call_that_may_have_been_carried_out_is_not_sent_again(program: Program) -> None:
    async with opened(program, trusted=["p"]) as servers:
        result = await run_calls(servers, ("p_crash", {"times": 1}))
    (record,) = result.tool_results
    assert record.error is not None
    assert "may or may not have been carried out" in record.content
    assert program.lines("done") == ["crash"]


@pytest.mark.parametrize(("trusted", "done"), [(["p"], 2), ([], 1)])
async def test_the_call_of_an_idempotent_tool_is_sent_again_if_the_server_is_trusted(
    trusted: list[str], done: int, tmp_path: Path, needs_mcp: None
) -> None:
    program = StdioProgram(tmp_path)
    async with opened(program, trusted=trusted) as servers:
        result = await run_calls(servers, ("p_crash_again", {"times": 1}))
    assert program.lines("done") == ["crash"] * done
    assert (result.tool_results[0].error is None) == bool(trusted)


async def test_a_call_is_sent_again_only_once(tmp_path: Path, needs_mcp: None) -> None:
    program = StdioProgram(tmp_path)
    async with opened(program, trusted=["p"]) as servers:
        result = await run_calls(servers, ("p_crash_again", {"times": 9}), ("p_add", {"a": 1, "b": 1}))
    assert program.lines("done") == ["crash"] * 2
    assert [record.error is None for record in result.tool_results] == [False, True]


async def test_a_server_that_stays_away_is_an_error_for_the_model_until_it_is_back(tmp_path: Path, needs_mcp: None) -> None:
    program = HttpProgram(tmp_path)
    add = ("p_add", {"a": 1, "b": 2})
    try:
        async with opened(program) as servers:
            result = await run_calls(servers, program.close, add, program.restart, add)
    finally:
        program.close()
    lost, back = result.tool_results
    assert lost.content == "MCP server 'p' cannot be reached: no connection could be made (ConnectError)"
    assert back.value == {"result": 3}


async def test_a_changed_list_is_followed_and_what_is_new_waits_for_approval(program: Program) -> None:
    async with opened(program) as servers:
        assert servers.unapproved == []
        await run_calls(servers, ("p_grow", {}))
        await until(lambda: "p_extra" in servers.tools())
        assert servers.unapproved == ["p_add", "p_extra"]

        waiting = await run_calls(servers, ("p_add", {"a": 1}), ("p_extra", {}))
        assert [(request.name, request.reason) for request in waiting.approvals] == [
            ("p_add", "MCP server 'p' changed the definition of 'p_add', which is not approved")
        ]
        servers.approve("p_add", "p_extra")
        done = await run_calls(servers, ("p_add", {"a": 1}), ("p_extra", {}))
        assert [record.value for record in done.tool_results] == [{"result": "1"}, "new"]


async def test_a_restarted_server_with_another_list_is_listed_again(program: Program) -> None:
    async with opened(program) as servers:
        await run_calls(servers, ("p_grow", {}))
        await until(lambda: "p_extra" in servers.tools())
        await run_calls(servers, program.restart, ("p_environment", {}))
        await until(lambda: "p_extra" not in servers.tools())
        assert servers.unapproved == []


async def test_a_program_inherits_only_the_variables_that_are_named(
    tmp_path: Path, needs_mcp: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED_VARIABLE", "1")
    monkeypatch.setenv("OTHER_API_KEY", "sk-secret")
    program = StdioProgram(tmp_path)
    config = {**program.config, "inherit": ["NAMED_VARIABLE"], "env": {"GIVEN": "x"}}
    async with McpServers({"p": config}) as servers:
        result = await run_calls(servers, ("p_environment", {}))
    names = set(result.tool_results[0].value["result"])
    assert {"NAMED_VARIABLE", "GIVEN", "PATH"} <= names
    assert "OTHER_API_KEY" not in names


def test_sync_code_opens_servers_too(program: Program) -> None:
    model = FakeModel().tool_call("p_add", {"a": 1, "b": 2}).text("Done.")
    with McpServers({"p": program.config}) as servers:
        result = Orchestrator(model, servers.tools()).run_sync("Go.")
    assert result.tool_results[0].value == {"result": 3}
    assert list(servers.tools()) == []


async def test_a_run_on_another_loop_reaches_the_servers(program: Program) -> None:
    model = FakeModel().tool_call("p_add", {"a": 1, "b": 2}).text("Done.")
    async with opened(program) as servers:
        result = await asyncio.to_thread(Orchestrator(model, servers.tools()).run_sync, "Go.")
    assert result.tool_results[0].value == {"result": 3}


UNREACHABLE: list[tuple[dict[str, Any], str]] = [
    ({"command": "no-such-program-here"}, "'gone' cannot be opened: FileNotFoundError"),
    ({"command": sys.executable, "args": ["-c", ""]}, "'gone': it ended before it answered"),
    (
        {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"], "connect_timeout": 0.2},
        "'gone': it did not answer within 0.2 s",
    ),
    ({"url": "http://127.0.0.1:9/mcp"}, r"'gone' cannot be opened: no connection could be made \(ConnectError\)"),
]


@pytest.mark.parametrize(("config", "message"), UNREACHABLE)
async def test_a_server_that_cannot_be_opened_is_named(config: dict[str, Any], message: str, needs_mcp: None) -> None:
    with pytest.raises(ConfigError, match=f"MCP server {message}"):
        async with McpServers({"gone": config}):
            pass
