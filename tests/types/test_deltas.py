"""The events that are compiled on the compiled build: what users do with them goes alike on both."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import llmcore
from llmcore.types import deltas
from tests.packaging.tree import ROOT

MADE = [llmcore.TextDelta("more"), llmcore.ReasoningDelta("why"), llmcore.ArgumentsDelta(1, '{"a": ')]
EACH = pytest.mark.parametrize("event", MADE, ids=lambda event: type(event).__name__)


@EACH
def test_they_are_dataclasses(event: Any) -> None:
    kind: Any = event.__class__
    values = dataclasses.astuple(event)
    names = [field.name for field in dataclasses.fields(kind)]
    assert list(kind.__match_args__) == list(kind.__slots__) == names == list(inspect.signature(kind).parameters)
    assert kind(*values) == kind(**dict(zip(names, values, strict=True))) == event == dataclasses.replace(event)
    assert repr(event) == f"{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in zip(names, values, strict=True))})"
    with pytest.raises(TypeError, match=names[-1]):
        kind(*values[:-1])


@EACH
def test_they_are_sent_to_other_processes_and_copied(event: Any) -> None:
    here, there = Pipe()
    with here, there:
        here.send(event)
        assert there.recv() == event
    assert copy.copy(event) == event == copy.deepcopy(event)


@EACH
def test_pydantic_reads_and_writes_them(event: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(event.__class__)
    assert adapter.validate_json(adapter.dump_json(event)) == event
    assert adapter.validate_python(event) is event


@EACH
def test_they_may_be_subclassed_and_changed_and_hold_nothing_else(event: Any) -> None:
    class Mine(type(event)):  # type: ignore[misc]  # a base that the test is given
        pass

    mine = Mine(*dataclasses.astuple(event))
    assert isinstance(mine, type(event))
    changed = copy.copy(event)
    setattr(changed, event.__slots__[-1], "other")
    assert changed != event
    with pytest.raises(AttributeError):
        changed.elsewhere = 1


def test_they_say_what_their_source_says() -> None:
    tree = ast.parse(Path(ROOT, "llmcore/types/deltas.py").read_text("utf-8"))
    written = {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)}
    assert written.keys() == {*deltas.__all__}
    assert {name: inspect.getdoc(getattr(deltas, name)) for name in written} == written
    assert {getattr(llmcore, name) for name in written} == {getattr(deltas, name) for name in written}
