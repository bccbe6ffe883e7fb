"""What compiled code must not say: mypyc 2.4.1 compiles it, to something else than Python does (docs/compiled.md, "Rules"). And what
scripts/throw_into.c mends of it."""

from __future__ import annotations

import ast
import asyncio
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator
from tests.packaging.tree import module_name, modules, source_files

_WAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NEVER_WAIT_AT_THEIR_END = {"_timed": "asyncio.timeout()"}
"""Coroutines with an `async with`, and what it is of."""


def _broken(source: str) -> list[str]:
    """The rules that the source breaks, each with its line."""
    tree = ast.parse(source)
    return [f"line {at.lineno}: {rule}" for node in ast.walk(tree) for rule, at in _broken_by(node)]


def _broken_by(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Raise) and node.cause is not None:
        yield "`raise ... from` loses its cause: raise_from", node
    if isinstance(node, ast.ClassDef) and node.bases and ast.unparse(node.bases[0]) != "Protocol":
        yield from (
            ("a derived class has a __call__ of its own", one) for one in node.body if getattr(one, "name", "") == "__call__"
        )
    if isinstance(node, _FUNCTIONS):
        inner = [one for one in ast.walk(node) if one is not node and isinstance(one, _FUNCTIONS)]
        if isinstance(node, ast.AsyncFunctionDef):
            yield from (("a function stands in a coroutine", one) for one in inner)
        else:
            yield from (("a coroutine stands in a function", one) for one in inner if isinstance(one, ast.AsyncFunctionDef))
    if isinstance(node, ast.Try):
        handlers = [*node.handlers, *node.finalbody]
        yield from (("a handler waits", one) for one in handlers if any(isinstance(each, _WAITS) for each in ast.walk(one)))
    if isinstance(node, ast.AsyncFunctionDef) and node.name not in _NEVER_WAIT_AT_THEIR_END:
        yield from (("`async with` may wait in a handler", one) for one in ast.walk(node) if isinstance(one, ast.AsyncWith))


@pytest.mark.parametrize("name", modules("compiled"))
def test_compiled_code_keeps_the_rules(name: str) -> None:
    path = next(path for path in source_files() if module_name(path) == name)
    assert _broken(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("def f():\n    raise A from b", "line 2: `raise ... from` loses its cause: raise_from"),
        ("def f():\n    raise A from None", "line 2: `raise ... from` loses its cause: raise_from"),
        ("class A(B):\n    def __call__(self): ...", "line 2: a derived class has a __call__ of its own"),
        ("async def f():\n    return lambda: 1", "line 2: a function stands in a coroutine"),
        ("def f():\n    async def g(): ...", "line 2: a coroutine stands in a function"),
        ("async def f():\n    try: ...\n    except A:\n        await b", "line 3: a handler waits"),
        ("async def f():\n    try: ...\n    finally:\n        await b", "line 4: a handler waits"),
        ("async def f():\n    async with a: ...", "line 2: `async with` may wait in a handler"),
    ],
)
def test_what_breaks_a_rule_is_found(source: str, rule: str) -> None:
    assert _broken(source) == [rule]


def test_what_keeps_the_rules_is_let_through() -> None:
    assert (
        _broken("async def f():\n    try:\n        await a\n    except B as error:\n        raise\n    finally:\n        c()")
        == []
    )
    assert _broken("class A:\n    def __call__(self): ...\ndef f():\n    return lambda: 1") == []


@pytest.mark.anyio
async def test_what_a_tool_has_handled_is_no_longer_handled() -> None:
    seen: list[BaseException | None] = []

    async def fetch() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(1)
        except TimeoutError:
            seen.append(sys.exc_info()[1])
        seen.append(sys.exc_info()[1])
        raise LookupError("no such page")

    with pytest.raises(Exception, match="no such page") as caught:
        await Orchestrator(FakeModel().tool_call("fetch"), [fetch], tool_errors="abort").run("go")
    assert [type(error) for error in seen] == [TimeoutError, type(None)]
    cause = caught.value.__cause__
    assert isinstance(cause, LookupError)
    assert cause.__context__ is None


@pytest.mark.anyio
async def test_the_traceback_of_a_cancellation_names_each_coroutine_once() -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    run = asyncio.create_task(Orchestrator(FakeModel().tool_call("hang"), [hang]).run("go"))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await run
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__) if "llmcore/run" in frame.filename]
    assert {"out", "_turns", "_run_call"} <= {*names}
    assert [name for name in names if names.count(name) > 1] in ([], ["_carried_out"] * 2)  # raised once more at the run's end


@pytest.mark.anyio
async def test_who_looks_at_the_tasks_of_tools_sees_their_names_and_stacks() -> None:
    seen: dict[str, int] = {}

    async def look() -> None:
        for task in asyncio.all_tasks():
            seen[getattr(task.get_coro(), "__qualname__", "")] = len(task.get_stack())

    await Orchestrator(FakeModel().tool_calls(("look", {}), ("look", {})).text("done"), [look]).run("go")
    assert all(name and depth for name, depth in seen.items()), seen
