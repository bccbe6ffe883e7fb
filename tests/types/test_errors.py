"""Errors can be copied, sent to another process and written as JSON."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llmcore.run.results.result import RunResult
from llmcore.transcripts.errors import TranscriptError
from llmcore.types import (
    Attempt,
    CapabilityRefused,
    FallbackExhausted,
    LLMCoreError,
    OutputParseError,
    RateLimited,
    RetryTool,
    TerminateLoop,
    ToolError,
    errors,
)
from llmcore.validator import Problem, ValidationReport
from tests.helpers.processes import sent

PROBLEM = Problem(kind="type", path="city", expected="str", got="int", message="wrong")
CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LLMCoreError)]
SPECIAL: dict[type[LLMCoreError], LLMCoreError] = {
    OutputParseError: OutputParseError("m", [PROBLEM], "text"),
    RateLimited: RateLimited("m", retry_after=3.5),
    CapabilityRefused: CapabilityRefused("m", capability="native_tools"),
    ToolError: ToolError("m", tool_name="f", tool_id="1", type="timeout", details={"a": [1]}),
    FallbackExhausted: FallbackExhausted("m", [Attempt(n=1, model="a")]),
}


WAYS: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, sent]


def made(kind: type[LLMCoreError]) -> LLMCoreError:
    return copy.copy(SPECIAL[kind]) if kind in SPECIAL else kind("m")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_survives(kind: type[LLMCoreError], way: Callable[[Any], Any]) -> None:
    error = made(kind)
    error.add_note("a note")
    error.__cause__ = OSError(2, "no such host")
    got = way(error.with_partial(RunResult(attempts=[Attempt(n=1, model="a")])))
    assert type(got) is kind
    assert got is not error
    assert vars(got) == vars(error)
    assert (str(got), got.args) == (str(error), error.args)
    assert (type(got.__cause__), str(got.__cause__)) == (FileNotFoundError, "[Errno 2] no such host")
    assert got.__suppress_context__


@pytest.mark.parametrize("way", [copy.deepcopy, sent])
def test_an_error_that_stands_in_its_own_partial_result(way: Callable[[Any], Any]) -> None:
    error = RateLimited("slow")
    error.with_partial(RunResult(attempts=[Attempt(n=1, model="a", failure=error)]))
    got = way(error)
    assert got.partial.attempts[0].failure is got


@pytest.mark.parametrize("way", WAYS)
def test_errors_of_other_rooms_survive_as_well(way: Callable[[Any], Any]) -> None:
    got = way(TranscriptError("a.jsonl", 3, "broken"))
    assert (str(got), got.path, got.line) == ("a.jsonl:3: broken", Path("a.jsonl"), 3)
    ended = way(TerminateLoop({"a": 1}))
    assert ended.value == {"a": 1}
    assert str(way(RetryTool("again"))) == "again"


class Foreign(Exception):
    """Cannot be made from its `args`, as many clients' exceptions cannot."""

    def __init__(self, message: str, *, response: object) -> None:
        super().__init__(message)
        self.response = response


def test_a_cause_that_cannot_be_sent_leaves_its_name_and_text() -> None:
    error = RateLimited("slow")
    error.__cause__ = Foreign("429", response=object())
    assert copy.copy(error).__cause__ is copy.deepcopy(error).__cause__ is error.__cause__
    got = sent(error)
    assert (type(got.__cause__), str(got.__cause__)) == (RuntimeError, "Foreign: 429")


@pytest.mark.parametrize("kind", CLASSES)
def test_an_attempt_with_a_failure_is_json_and_back(kind: type[LLMCoreError]) -> None:
    error = made(kind)
    result = RunResult(attempts=[Attempt(n=1, model="a", failure=error, report=ValidationReport(problems=[PROBLEM]))])
    text = result.model_dump_json()
    got = RunResult.model_validate_json(text).attempts[0]
    assert type(got.failure) is kind
    assert str(got.failure) == "m"
    assert got.failure.as_data() == error.as_data()
    assert got.report == ValidationReport(problems=[PROBLEM])
    assert RunResult.model_validate_json(text).model_dump_json() == text
    assert RunResult.model_validate(result.model_dump()).attempts[0].failure is error


def test_what_an_error_is_as_data() -> None:
    assert SPECIAL[RateLimited].as_data() == {"type": "RateLimited", "message": "m", "status": 429, "retry_after": 3.5}
    assert SPECIAL[ToolError].as_data() == {
        "type": "ToolError",
        "message": "m",
        "tool_name": "f",
        "tool_id": "1",
        "kind": "timeout",
        "details": {"a": [1]},
    }
    assert type(LLMCoreError.from_data({"type": "NoSuchError", "message": "x"})) is LLMCoreError


def test_a_failed_run_is_json() -> None:
    error = OutputParseError("m", [PROBLEM], "text")
    error.with_partial(RunResult(attempts=[Attempt(n=1, model="a", failure=error)]), [Attempt(n=1, model="a", failure=error)])
    assert '"failure":{"type":"OutputParseError"' in error.partial.model_dump_json()


_NAMES = {"error", "failure", "ours", "refusal", "refused", "exception", "part", "spent", "caught", "one"}
"""What the source calls an exception."""


def assigned(path: Path) -> Iterator[tuple[str, str, int]]:
    """The attributes that a module sets: of what, which, and where."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        each = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
        for one in each:
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
                yield one.value.id, one.attr, one.lineno


def test_no_code_outside_its_class_sets_a_field_of_an_error() -> None:
    source = Path(errors.__file__).parents[1]
    fields = {name for _, name, _ in assigned(Path(errors.__file__)) if not name.startswith("__")}
    fields |= {"facts", "partial", "attempts", "dropped", "sent_as"}
    places = [*source.rglob("*.py"), *source.parent.glob("adapters/**/*.py"), *source.parent.glob("fallback/**/*.py")]
    found = [
        f"{path.name}: {owner}.{name}"
        for path in places
        if path != Path(errors.__file__)
        for owner, name, _ in assigned(path)
        if owner in _NAMES and name in fields
    ]
    assert found == []
