"""A user's project under `mypy --strict` and pyright strict: it passes without an ignore, and wrong programs fail in both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

PROJECT = '''
from __future__ import annotations

from dataclasses import dataclass
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from llmcore import (
    Budget, FakeModel, Finished, Hooks, LLMCoreError, Message, ModelRegistry, Orchestrator, PartialOutput, RateLimited,
    Request, RunContext, RunResult, TextDelta, Tool, ToolCall, ToolDefinition, ToolRegistry, Veto, parse, parse_detailed, tool,
)


@dataclass
class Deps:
    base: int


class City(BaseModel):
    name: str


@tool
def add(a: Annotated[int, Field(ge=0)], b: int = 1) -> int:
    """Add."""
    return a + b


@tool(timeout=3, tags=["x"], examples=[{"a": 1}])
async def slow(ctx: RunContext[Deps], a: int) -> str:
    return str(ctx.deps.base + a)


@tool
def bare(ctx: RunContext, a: int) -> str:
    return ctx.tool_call_id


class Things:
    @tool
    def look(self, what: str) -> str:
        return what


def guard(call: ToolCall, context: RunContext[Deps]) -> Veto | None:
    return Veto("no") if call.name == "rm" else None


registry = ToolRegistry([add, slow])


@registry.register
def mul(a: int, b: int) -> int:
    return a * b


three: int = add(1, 2)
six: int = mul(2, b=3)
seen: str = Things().look("x")
things: Tool = Things().look


async def main() -> None:
    said: str = await slow(RunContext(Deps(1)), 2)
    model = FakeModel(chunk_size=4).tool_call("add", {"a": 1}).text("2").default_text(said)
    history = [Message(role="user", content="x")]
    orchestrator = Orchestrator(
        model, [add, slow, Things().look, registry], system="s", hooks=Hooks(before_tool_run=guard), budget=Budget(requests=5), deps=Deps(1)
    )
    plain: RunResult = await orchestrator.run("q", temperature=0.1, tool_choice="auto", message_history=history)
    print(plain.content, plain.usage.total_tokens, [record.value for record in plain.tool_results])
    typed = await orchestrator.run("q", output_type=City)
    name: str = typed.value.name
    city: City = await orchestrator.execute("q", City, max_tool_turns=3)
    many: list[City] = await orchestrator.execute("q", list[City])
    either: City | int = await orchestrator.execute("q", City | int)
    data = await orchestrator.execute("q", {"type": "object"})
    print(city.name, many, either, data["x"], parse("{}", City).name, name)
    async for event in orchestrator.stream(Request(messages="q", max_tokens=3), City):
        if isinstance(event, TextDelta):
            print(event.text)
        elif isinstance(event, PartialOutput):
            print(event.value.name)
        elif isinstance(event, Finished):
            print(event.result.value.name)
    async with orchestrator.iterate("q", City) as steps:
        async for step in steps:
            print(step.kind)
    stepped: RunResult[City] = steps.result
    print(stepped.value.name)
    try:
        orchestrator.run_sync([{"role": "user", "content": "x"}], tool_choice={"name": "add"})
    except RateLimited as error:
        print(error.retry_after)
    except LLMCoreError as error:
        print(error.partial, error.attempts[0].model)


class Shelf:
    lent: list[str]

    @tool(params={"title": {"type": "string", "enum": lambda self: self.lent}})
    def give_back(self, title: str) -> str:
        return title


class Desk:
    @classmethod
    @tool
    def load(cls, key: int) -> str:
        return str(key)

    @classmethod
    @tool(name="load_all")
    def load_many(cls, keys: list[int]) -> list[str]:
        return [cls.load(key) for key in keys]

    @staticmethod
    @tool
    def close(key: int) -> str:
        return str(key)


loaded: str = Desk.load(1) + Desk().load(key=2) + Desk.close(3)
several: list[str] = Desk.load_many([1])


def in_order(*, first: int, second: int) -> str:
    return str(first + second)


def lambdas(orchestrator: Orchestrator, given: ToolDefinition) -> None:
    Orchestrator(FakeModel(), lambda: [add], output_validators=lambda value: None, checkpoint=lambda result: print(result.id))
    Orchestrator(FakeModel(), lambda context: [add], output_validators=[lambda value, context: None, judged, judged_first])
    orchestrator.run_sync("q", checkpoint=lambda result: print(result.id), interjections=lambda: None)
    tool(add, requires_approval=lambda arguments: bool(arguments["a"] > 3), summary=lambda arguments: "adds")
    print(Tool.from_definition(given, lambda city: city), Tool.from_definition(given, lambda city, unit: unit))
    print(Tool.from_definition(given, in_order))


def judged(value: str, *, most: int = 3) -> None:
    print(value, most)


async def judged_first(context: RunContext[Deps], value: str) -> None:
    print(value, context.deps)


class Guard(Hooks):
    async def before_tool_run(self, call: ToolCall, context: RunContext[Deps]) -> Veto | None:
        return Veto("no") if (call.arguments or {}).get("a") == context.deps.base else None

    def before_request(self, request: Request) -> Request:
        return request


def values(orchestrator: Orchestrator, kind: type[Any]) -> None:
    numbers: Sequence[int] = orchestrator.execute_sync("q", list[int])
    perhaps: int | None = orchestrator.execute_sync("q", int)
    either: int | str = orchestrator.execute_sync("q", int | str)
    word: str = orchestrator.execute_sync("q", Literal["a", "b"])
    small: int = parse("3", Annotated[int, Field(lt=9)])
    data: dict[str, Any] = orchestrator.execute_sync("q", {"type": "object"})
    whatever: Any = orchestrator.execute_sync("q", kind)
    print(numbers, perhaps, either, word, small, data, whatever)


def models(more: dict[str, Any]) -> ModelRegistry:
    return ModelRegistry.from_dict({"models": {"m": {"provider": "custom", "model": "m", **more}}})
'''

HEAD = """
from pydantic import BaseModel
from llmcore import (
    Agent, Budget, FakeModel, Finished, Hooks, Message, Orchestrator, PartialOutput, Request, RunContext, ToolCall, ToolRegistry,
    parse, parse_detailed, tool,
)

class City(BaseModel):
    name: str

@tool
def add(a: int) -> int:
    return a

registry = ToolRegistry()

@registry.register
def mul(a: int) -> int:
    return a

o = Orchestrator(FakeModel("x"))

"""
WRONG = {
    "a misspelt name": "from llmcore import Orchestratr",
    "a misspelt name of a layer": "from llmcore.normalizer import normalise",
    "misspelt option": 'o.run_sync("q", temprature=1)',
    "text for a number": 'o.run_sync("q", temperature="hot")',
    "misspelt choice": 'o.run_sync("q", tool_choice="requird")',
    "unknown strictness": 'o.run_sync("q", strictness="strict")',
    "history of a number": 'o.run_sync("q", message_history=3)',
    "a value of another type": 'x: list[str] = o.execute_sync("q", list[int])',
    "a value of another type, awaited": """
async def f() -> None:
    x: list[str] = await o.execute("q", list[int])""",
    "a chat's value of another type": 'x: list[str] = Agent(FakeModel("x")).chat_sync("q", list[int])',
    "what was parsed as another type": 'x: list[str] = parse("[]", list[int])',
    "a hook's wrong result": """
class Guard(Hooks):
    async def before_tool_run(self, call: ToolCall, context: RunContext) -> str:
        return call.name""",
    "a wrong result of a function that is a hook": """
def check(call: ToolCall, context: RunContext) -> str:
    return call.name

Hooks(before_tool_run=check)""",
    "misspelt option of a stream": 'o.stream("q", max_tool_turn=3)',
    "text for a tool's number": 'add("text")',
    "a tool without its argument": "add()",
    "text for the number of a class's tool": """
class Desk:
    @classmethod
    @tool
    def load(cls, key: int) -> int:
        return key

Desk.load("text")""",
    "a validator of three": "Orchestrator(FakeModel(), output_validators=lambda value, context, more: None)",
    "a tool's result as another type": "x: str = add(1)",
    "a registered tool's argument": 'mul("text")',
    "no field of the value": 'o.run_sync("q", output_type=City).value.nam',
    "no field of the output": 'o.run_sync("q", output_type=City).output.nam',
    "no field of what was parsed in detail": 'parse_detailed("{}", City).value.nam',
    "no field of what was parsed": 'parse("{}", City).nam',
    "misspelt field of a request": 'Request(messages="q", temprature=1)',
    "a number as a message": 'Message(role="user", content=3)',
    "misspelt budget": "Budget(token=3)",
    "no field of a partial": """
async def f() -> None:
    async for event in o.stream("q", City):
        if isinstance(event, PartialOutput):
            print(event.value.nam)""",
    "no field of the end": """
async def f() -> None:
    async for event in o.stream("q", City):
        if isinstance(event, Finished):
            print(event.result.contnt)""",
    "no field of what steps end in": """
async def f() -> None:
    steps = o.iterate("q", City)
    print(steps.result.value.nam)""",
}


def _checked(folder: Path, checker: str) -> str:
    """What a checker says of the files of a folder."""
    bin_ = Path(sys.executable).parent
    commands = {
        "mypy": [
            str(bin_ / "mypy"),
            "--strict",
            "--no-error-summary",
            "--cache-dir",
            str(folder / ".mypy"),
            *map(str, sorted(folder.glob("*.py"))),
        ],
        "pyright": [str(bin_ / "pyright"), "--project", str(folder)],
    }
    link = folder / "site"
    config = f'{{"typeCheckingMode": "strict", "extraPaths": ["{link}"], "pythonVersion": "3.11", "include": ["*.py"], "reportUnusedExpression": false, "reportUnusedImport": false, "reportUnusedCoroutine": false}}'
    (folder / "pyrightconfig.json").write_text(config, "utf-8")
    env = {
        "PATH": f"{bin_}:/usr/bin:/bin",
        "MYPYPATH": str(link),
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
        "HOME": str(Path.home()),
    }
    done = subprocess.run(commands[checker], cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a project, and beside it the package as a wheel lays it out."""
    package = tmp_path / "site" / "llmcore"
    package.mkdir(parents=True)
    for path in (ROOT / "llmcore").iterdir():
        (package / path.name).symlink_to(path)
    for layer in ("adapters", "normalizer", "validator", "fallback"):
        (package / layer).symlink_to(ROOT / layer)
    return tmp_path


@pytest.mark.sweep
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_users_project_passes_and_wrong_programs_do_not(folder: Path, checker: str) -> None:
    (folder / "project.py").write_text(PROJECT, "utf-8")
    (folder / "head.py").write_text(HEAD, "utf-8")
    (folder / "star.py").write_text("from llmcore import *\n\nsaid: str = Agent(FakeModel('x')).chat_sync('?')\n", "utf-8")
    names = {f"wrong{number}": title for number, title in enumerate(WRONG)}
    for name, title in names.items():
        (folder / f"{name}.py").write_text(HEAD + WRONG[title] + "\n", "utf-8")
    errors = [line for line in _checked(folder, checker).splitlines() if "error" in line and ".py:" in line]
    assert [line for line in errors if "wrong" not in line] == []
    assert [title for name, title in names.items() if not any(f"{name}.py" in line for line in errors)] == []
