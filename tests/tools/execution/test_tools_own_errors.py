"""A tool raises a `ToolError` of its own: what it leaves open is filled in, and what it says is kept."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, RunResult, ToolError

DETAILS = {"limit": 5, "names": ["a", "b"]}
USED = ToolError("the quota is used", details=DETAILS)


def spend() -> str:
    raise ToolError("the quota is used", details=DETAILS)


async def spend_later() -> str:
    raise ToolError("the quota is used", details=DETAILS)


def spend_by_the_same() -> str:
    raise USED


class Own(ToolError):
    def __init__(self, left: int) -> None:
        super().__init__(f"only {left} left", details={"left": left}, type="timeout")


def spend_own() -> str:
    raise Own(2)


@pytest.mark.parametrize("tool", [spend, spend_later, spend_by_the_same])
def test_an_error_of_a_tools_own_names_it_and_keeps_its_details(tool: Any) -> None:
    model = FakeModel().tool_call(tool.__name__, {}).text("Done.")
    result = Orchestrator(model, [tool]).run_sync("?")
    (record,) = result.tool_results
    assert record.error is not None
    assert (record.error.type, record.error.message, record.error.exception) == ("execution", "the quota is used", "ToolError")
    assert record.error.details == DETAILS
    assert record.content == "the quota is used"
    assert RunResult[Any].model_validate_json(result.model_dump_json()).tool_results[0].error == record.error


def test_a_class_of_a_tools_own_is_kept() -> None:
    (record,) = Orchestrator(FakeModel().tool_call("spend_own", {}).text("Done."), [spend_own]).run_sync("?").tool_results
    assert record.error is not None
    assert (record.error.type, record.error.details, record.error.exception) == ("timeout", {"left": 2}, "Own")


@pytest.mark.parametrize("tool", [spend, spend_by_the_same])
def test_the_error_that_ends_a_run_names_the_tool_and_the_call(tool: Any) -> None:
    for times in range(2):
        orchestrator = Orchestrator(FakeModel().tool_call(tool.__name__, {}), [tool], tool_errors="abort")
        with pytest.raises(ToolError, match="the quota is used") as caught:
            orchestrator.run_sync("?")
        partial = caught.value.partial
        assert (caught.value.tool_name, caught.value.details) == (tool.__name__, DETAILS), times
        assert caught.value.tool_id == partial.tool_results[0].id
    assert USED.tool_name == ""


def test_details_that_are_no_json_stand_as_text() -> None:
    def spend_strangely() -> str:
        raise ToolError("no", details={"at": {1, 2}, "of": 1j})

    result = Orchestrator(FakeModel().tool_call("spend_strangely", {}).text("Done."), [spend_strangely]).run_sync("?")
    error = result.tool_results[0].error
    assert error is not None
    assert error.details == {"at": [1, 2], "of": "1j"}
