"""What notebooks and `help()` tell of a function with options: each by its name, and nothing is made before it is asked for."""

from __future__ import annotations

import copy
import inspect
from typing import Any, cast

import pytest

from llmcore import Agent, FakeModel, Orchestrator, tool
from llmcore.agent.options import AgentOptions
from llmcore.run.setup.options import RunOptions
from llmcore.support.code.option_signatures import show_options
from llmcore.tools.definition.options import OptionsByName
from llmcore.types.input.argument_errors import with_readable_errors

RUNS = ("run", "execute", "stream", "iterate", "run_sync", "execute_sync", "stream_sync")
CHATS = ("chat", "run", "stream", "chat_sync", "run_sync", "stream_sync")
SHOWN: list[tuple[Any, Any]] = [
    *((getattr(Orchestrator, name), RunOptions) for name in RUNS),
    *((getattr(Agent, name), RunOptions) for name in CHATS),
    (getattr(Orchestrator(FakeModel()), "run"), RunOptions),  # noqa: B009  # bound
    (Agent, AgentOptions),
    (Agent.as_tool, OptionsByName),
    (tool, OptionsByName),
]


@pytest.mark.parametrize("index", range(len(SHOWN)))
def test_each_option_is_told(index: int) -> None:
    function, options = SHOWN[index]
    parameters = inspect.signature(function).parameters
    assert options.__annotations__.keys() <= parameters.keys()
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    assert "budget" not in parameters or "budget: 'Budget | None' = ..." in str(inspect.signature(function))


def test_the_output_type_is_among_those_of_run() -> None:
    assert "output_type" in inspect.signature(Orchestrator.run).parameters
    assert next(iter(inspect.signature(Orchestrator(FakeModel()).run).parameters)) == "request"


def test_it_is_a_signature_like_others_and_made_when_it_is_asked_for() -> None:
    class Lazy:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"nobody asked for {name}")

    @with_readable_errors
    def function(given: int, **options: Any) -> int:
        return given

    show_options(function, cast("Any", Lazy()))  # in place of a TypedDict
    assert function(1) == 1
    with pytest.raises(AssertionError, match="nobody asked for __annotations__"):
        str(inspect.signature(function))
    signature = inspect.signature(tool)
    assert signature == copy.copy(signature) == signature.replace()
    assert signature.bind(len, name="n").arguments["name"] == "n"
    assert isinstance(hash(signature), int)
    with pytest.raises(TypeError, match="naem"):
        signature.bind(len, naem="n")
