"""Small mistakes of callers: each works as meant, or its error names the fix."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, Orchestrator
from llmcore.types import Request


def test_one_stop_text_is_a_list_of_one() -> None:
    assert Request.model_validate({"messages": "Hi", "stop": "END"}).stop == ["END"]
    Orchestrator(FakeModel("Hi.")).run_sync("Hi", stop="END")


def test_a_timeout_is_reported_which_there_are() -> None:
    wrong: dict[str, Any] = {"timeout": 3}
    with pytest.raises(ConfigError, match="set `deadline` for the run, `timeout` in the registry"):
        Orchestrator(FakeModel("Hi.")).run_sync("Hi", **wrong)


@pytest.mark.parametrize("name", ["", "  "])
def test_nothing_names_no_registry(name: str) -> None:
    with pytest.raises(ConfigError, match="the registry's name is empty"):
        Orchestrator(name)
