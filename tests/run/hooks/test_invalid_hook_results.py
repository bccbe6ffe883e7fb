"""If a hook returns an invalid value, at any depth, the error names the hook and is llmcore's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, Hooks, Orchestrator, Veto
from tests.run.support import add, called

pytestmark = pytest.mark.anyio


def _with(model: Any, **changes: Any) -> Any:
    return model.model_copy(update=changes)


def _blocks(message: Any, **changes: Any) -> Any:
    return _with(message, content=[_with(block, **changes) for block in message.content])


def _calls(envelope: Any, **changes: Any) -> Any:
    return _with(envelope, tool_calls=[_with(call, **changes) for call in envelope.tool_calls])


def _texts(message: Any) -> Any:
    blocks = [_with(block, content=[_with(text, text=7) for text in block.content]) for block in message.content]
    return _with(message, content=blocks)


def _outcome(outcome: Any, content: list[Any]) -> Any:
    outcome.content = content
    return outcome


def _own(model: Any, **changes: Any) -> Any:
    return _with(model, blocks=[_with(block, **changes) for block in model.blocks])


def _set(outcome: Any, **changes: Any) -> Any:
    for name, value in changes.items():
        setattr(outcome, name, value)
    return outcome


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


_UNSOUND: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "no content of a message": ("before_request", lambda r: _with(r, messages=[_with(m, content=5) for m in r.messages])),
    "no text of a block": ("before_request", lambda r: _with(r, messages=[_blocks(m, text=None) for m in r.messages])),
    "no messages": ("before_request", lambda r: _with(r, messages=None)),
    "no tool": ("before_request", lambda r: _with(r, tools=[5])),
    "no content": ("on_response", lambda e: _with(e, content=None)),
    "no list of calls": ("on_response", lambda e: _with(e, tool_calls=None)),
    "no name of a call": ("on_response", lambda e: _calls(e, name=5)),
    "no id of a call": ("on_response", lambda e: _calls(e, id=None)),
    "no arguments of a call": ("on_response", lambda e: _calls(e, arguments="{}")),
    "no name of a block": ("on_response", lambda e: _own(e, name=5)),
    "no id of a block": ("on_response", lambda e: _own(e, id={})),
    "no mark of a block": ("on_response", lambda e: _own(e, cache_control=["x"])),
    "arguments that hold themselves": ("on_response", lambda e: _calls(e, arguments={"a": _endless()})),
    "a body that holds itself": ("before_request", lambda r: _with(r, extra_body={"a": _endless()})),
    "no content of a result": ("on_tool_response", lambda m: _blocks(m, content=None)),
    "no text in a result": ("on_tool_response", _texts),
}
_UNSOUND_OF_TOOLS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "no call": ("before_tool_run", lambda call, context: 5),
    "no arguments": ("before_tool_run", lambda call, context: _with(call, arguments=5)),
    "no reason": ("before_tool_run", lambda call, context: Veto(None)),  # type: ignore[arg-type]  # that it is refused is the test
    "changed arguments that hold themselves": ("before_tool_run", lambda call, context: _with(call, arguments={"a": _endless()})),
    "no summary": ("after_tool_run", lambda call, outcome: _set(outcome, summary=5)),
    "no time": ("after_tool_run", lambda call, outcome: _set(outcome, duration=float("nan"))),
    "no count": ("after_tool_run", lambda call, outcome: _set(outcome, retries=10**5000)),
    "no outcome": ("after_tool_run", lambda call, outcome: 5),
    "no text of an outcome": ("after_tool_run", lambda call, one: _outcome(one, [_with(b, text=None) for b in one.content])),
}


@pytest.mark.parametrize("what", [*_UNSOUND, *_UNSOUND_OF_TOOLS])
async def test_what_cannot_be_is_refused_and_the_hook_named(what: str) -> None:
    unsound: dict[str, tuple[str, Any]] = {**_UNSOUND, **_UNSOUND_OF_TOOLS}
    name, hook = unsound[what]
    model = FakeModel(called("add", {"a": 1, "b": 2}), "done")
    with pytest.raises(ConfigError, match="Veto" if what == "no reason" else name):
        await Orchestrator(model, [add], hooks=Hooks(**{name: hook})).run("go")


async def test_what_is_no_hooks_to_say_stays() -> None:
    model = FakeModel(called("add", {"a": 1, "b": 2}), "done")
    hooks = Hooks(after_tool_run=lambda call, outcome: _set(outcome, ran=["a"], suspended="x", raised=5))
    (record,) = (await Orchestrator(model, [add], hooks=hooks).run("go")).tool_results
    assert record.ran is True
    assert record.error is None


async def test_text_in_place_of_blocks_is_one_block_of_text() -> None:
    model = FakeModel(called("add", {"a": 1, "b": 2}), "done")
    hooks = Hooks(
        before_request=lambda r: _with(r, messages=[_with(r.messages[0], content="Go on."), *r.messages[1:]]),
        on_tool_response=lambda m: _blocks(m, content="hidden"),
    )
    result = await Orchestrator(model, [add], hooks=hooks).run("go")
    assert [record.content for record in result.tool_results] == ["hidden"]
    assert [request.messages[0].text for request in model.requests] == ["Go on.", "Go on."]
