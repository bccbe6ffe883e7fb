"""A saved run holds every field of the run, and no key that an exception quotes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from llmcore import (
    Agent,
    CallerError,
    FakeModel,
    Hooks,
    LLMCoreError,
    Orchestrator,
    RateLimited,
    RetryConfig,
    RetryTool,
    RunResult,
    TerminateLoop,
    ToolConfig,
)
from llmcore import tool as as_tool
from llmcore.normalizer import normalize
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Attempt, Envelope, OutputParseError
from llmcore.validator import Problem, ValidationReport
from tests.run.support import FAST, add

KEY = "sk-proj-" + "A1b2C3d4E5f6G7h8I9j0" * 2
AT_ONCE = ToolConfig(retry=RetryConfig(base=0))


class City(BaseModel):
    name: str


def _partial(run: Callable[[], Any]) -> Any:
    with pytest.raises(LLMCoreError) as caught:
        run()
    return caught.value.partial


def _with_a_call() -> Any:
    return Orchestrator(FakeModel().tool_call("add", {"a": 1, "b": 0.10}).text("x"), [add]).run_sync("?")


def _unfit_call() -> Any:
    model = FakeModel().tool_call("add", {"a": "x"}).tool_call("add", {"a": 1, "b": 2}).text("<think>hm</think>x")
    return Orchestrator(model, [add]).run_sync("?")


def _unfit_answer() -> Any:
    return Orchestrator(FakeModel("none", '{"name": 5}'), strategies=FAST).run_sync("?", output_type=dict[str, str])


def _failed() -> Any:
    model = FakeModel(default="none")
    return _partial(lambda: Orchestrator(model, strategies=FAST).execute_sync("?", City))


def _failed_at_the_provider() -> Any:
    model = FakeModel(RateLimited("slow", retry_after=0.0), "x")
    return Orchestrator(model, strategies=FAST).run_sync("?")


def _waiting() -> Any:
    return Orchestrator(FakeModel().tool_call("add", {"a": 1, "b": 2}), [as_tool(add, requires_approval=True)]).run_sync("?")


def _with_runs() -> Any:
    inner = Agent(client=FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3"), tools=[add], name="inner")
    return Orchestrator(FakeModel().tool_call("inner", {"message": "?"}).text("x"), [inner.as_tool()]).run_sync("?")


def _differences(one: Any, other: Any, path: str) -> list[str]:
    if type(one) is not type(other):
        return [f"{path}: {type(one).__name__} came back as {type(other).__name__}"]
    if isinstance(one, BaseModel):
        return [
            d for name in type(one).model_fields for d in _differences(getattr(one, name), getattr(other, name), f"{path}.{name}")
        ]
    if is_list(one) and len(one) == len(other):
        return [d for index, pair in enumerate(zip(one, other, strict=True)) for d in _differences(*pair, f"{path}[{index}]")]
    if isinstance(one, LLMCoreError):
        same = (str(one), one.as_data()) == (str(other), other.as_data())
        fields: dict[str, Any] = {
            name: value for name, value in vars(one).items() if name not in ("partial", "attempts", "failures")
        }
        return ([] if same else [path]) + [
            d for name in fields for d in _differences(fields[name], getattr(other, name, None), f"{path}.{name}")
        ]
    return [] if one == other else [f"{path}: {one!r} came back as {other!r}"]


@pytest.mark.parametrize(
    "run",
    [_with_a_call, _unfit_call, _unfit_answer, _failed, _failed_at_the_provider, _waiting, _with_runs],
    ids=lambda one: one.__name__,
)
def test_every_field_comes_back_as_it_was(run: Callable[[], Any]) -> None:
    result = run()
    for saved in (
        RunResult.model_validate_json(result.model_dump_json()),
        RunResult.model_validate(json.loads(result.model_dump_json())),
    ):
        assert _differences(result, saved, "result") == []
        assert all(isinstance(attempt.report, ValidationReport | None) for attempt in saved.attempts)
        again = RunResult.model_validate_json(saved.model_dump_json())
        assert again == saved or any(attempt.failure for attempt in saved.attempts)


def test_reports_and_problems_are_as_useful_as_before() -> None:
    saved = RunResult.model_validate_json(_unfit_call().model_dump_json())
    report = saved.attempts[0].report
    assert (report.ok, len(report.failing), report.problems[0].kind) == (False, 1, "missing")
    failures = [attempt.failure for attempt in RunResult.model_validate_json(_failed().model_dump_json()).attempts]
    unfit = [failure for failure in failures if isinstance(failure, OutputParseError)]
    assert unfit
    assert all(isinstance(problem, Problem) for failure in unfit for problem in failure.problems)


def test_data_that_is_not_a_report_stays_data() -> None:
    data = _with_a_call().model_dump(mode="json")
    data["attempts"][0]["report"] = {"calls": 5}
    assert RunResult.model_validate(data).attempts[0].report == {"calls": 5}
    assert Attempt.model_validate(data["attempts"][1]).report == {"calls": [], "problems": []}


def _refuse(*_: Any) -> Any:
    raise ValueError(f"refused by service with {KEY}")


def _refuse_to_try(*_: Any) -> Any:
    raise RetryTool(f"again with {KEY}")


def _break(*_: Any) -> Any:
    raise ZeroDivisionError(f"broken with {KEY}")


def _tool(function: Callable[..., Any], **options: Any) -> Any:
    def work(a: int) -> str:
        """Work."""
        return str(function())

    return as_tool(work, **options)


def _checked_type(function: Callable[..., Any]) -> Any:
    make: Any = Annotated
    kind: Any = list
    return kind[make[int, AfterValidator(lambda _: function())]]


def _runs(how: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Runs in which code of the caller's ends as `how` does, by where that code stands."""

    def raises(_: object) -> Any:
        return how()

    def calling(tool: Any) -> Callable[[], Any]:
        model = FakeModel().tool_call("work", {"a": 1}).text("x")
        return lambda: Orchestrator(model, [tool], tool_config=AT_ONCE).run_sync("?")

    numbers, lists, words = FakeModel(default="1"), FakeModel(default="[1]"), FakeModel(default="x")
    return {
        "output validator": lambda: Orchestrator(numbers, output_validators=raises, strategies=FAST).run_sync(
            "?", output_type=int
        ),
        "type": lambda: Orchestrator(lists, strategies=FAST).run_sync("?", output_type=_checked_type(how)),
        "tool": calling(_tool(how)),
        "preprocess": calling(_tool(str, preprocess=raises)),
        "hook": lambda: Orchestrator(words, hooks=Hooks(on_response=raises)).run_sync("?"),
    }


RAISED = {f"{name} {how.__name__}": run for how in (_refuse, _refuse_to_try, _break) for name, run in _runs(how).items()}


@pytest.mark.parametrize("name", RAISED)
def test_no_key_that_an_exception_quotes_is_saved(name: str) -> None:
    try:
        result: Any = RAISED[name]()
    except Exception as error:
        result = getattr(error, "partial", None)
    assert isinstance(result, RunResult)
    assert "A1b2C3d4" not in result.model_dump_json()


def test_an_error_as_data_holds_no_key() -> None:
    problem = Problem(kind="value", message=f"with {KEY}")
    data = OutputParseError("unfit", [problem], f"text with {KEY}").as_data()
    assert "A1b2C3d4" not in json.dumps(data)
    assert is_object(data["problems"][0])


class Town(BaseModel):
    name: str
    people: int


def look(a: int) -> str:
    """Look."""
    if a < 0:
        raise OSError("no disk")
    return str(a)


RUNS: dict[str, tuple[FakeModel, Any, Any]] = {
    "words": (FakeModel("Hello"), None, RunResult),
    "calls": (FakeModel().tool_call("look", {"a": 1}).text("x"), None, RunResult),
    "a tool that fails": (FakeModel().tool_call("look", {"a": -1}).text("x"), None, RunResult),
    "arguments that do not fit": (
        FakeModel().tool_call("look", {"a": "x"}).tool_call("look", {"a": 1}).text("x"),
        None,
        RunResult,
    ),
    "reasoning": (FakeModel("<think>so</think>Hello"), None, RunResult),
    "a request that fails": (FakeModel().error(RateLimited("later", status=429)).text("x"), None, RunResult),
    "a typed value": (FakeModel('{"name": "Oslo", "people": "5"}'), Town, RunResult[Town]),
    "one that is asked for again": (FakeModel('{"name": "Oslo"}').text('{"name": "Oslo", "people": 5}'), Town, RunResult[Town]),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_equals_what_is_read_back(name: str) -> None:
    model, kind, of = RUNS[name]
    orchestrator = Orchestrator(model, [look])
    result: RunResult[Any] = orchestrator.run_sync("?") if kind is None else orchestrator.run_sync("?", output_type=kind)
    read = of.model_validate_json(result.model_dump_json())
    assert read == result
    assert read.envelope == result.envelope
    assert Envelope.model_validate_json(result.envelope.model_dump_json()) == result.envelope
    assert (read.envelope.source, read.envelope.segments) == ("", [])
    other = of.model_validate_json(result.model_dump_json())
    other.attempts[-1] = other.attempts[-1].model_copy(update={"failure": RateLimited("another")})
    assert other != result


def test_replies_are_equal_by_what_they_say() -> None:
    one, other = normalize("Hello"), normalize("Hello")
    assert one == other
    assert one == one.model_copy(update={"source": "elsewhere"})
    assert one != normalize("Hallo")
    assert one != "Hello"


@pytest.mark.parametrize("kind", [Town, int, list[int], int | None])
def test_a_typed_run_without_a_value_is_read_back_as_its_type(kind: Any) -> None:
    @as_tool(requires_approval=True)
    def pay() -> str:
        return "paid"

    def stop() -> None:
        raise TerminateLoop("that is all")

    waiting = Orchestrator(FakeModel().tool_call("pay"), [pay]).run_sync("?", output_type=kind)
    saved: list[str] = []
    model = FakeModel().tool_call("stop")
    orchestrator = Orchestrator(model, [stop], checkpoint=lambda result: saved.append(result.model_dump_json()))
    ended = orchestrator.run_sync("?", output_type=kind)
    for one in (waiting.model_dump_json(), *saved, ended.model_dump_json()):
        read = RunResult[kind].model_validate_json(one)
        assert not read.has_output
        assert read.model_dump_json() == one
    untrue = waiting.model_dump(mode="json") | {"has_output": True, "output": "none"}
    with pytest.raises(CallerError, match=r"RunResult\.output"):
        RunResult[kind].model_validate(untrue)
