"""Both builds of the one source: what a user sees of a module does not tell whether it is compiled."""

from __future__ import annotations

import ast
import copy
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import llmcore
from llmcore.normalizer import DIALECTS
from llmcore.types import Limits
from tests.helpers.builds import COMPILED
from tests.helpers.processes import sent
from tests.packaging.tree import ROOT, module_name, modules, pyproject, source_files

WEATHER = llmcore.ToolSet(
    [{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
)
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bonn"}}\n</tool_call>'


def test_the_info_tells_the_build() -> None:
    info = llmcore.build_info()
    assert info.version == llmcore.__version__
    packages = sorted({".".join(name.split(".")[:2]) for name in modules("compiled")})
    assert packages == ["llmcore.normalizer", "llmcore.types"]
    assert info.compiled == (tuple(packages) if COMPILED else ())
    assert (f"compiled: {', '.join(packages)};" if COMPILED else "pure Python;") in str(info)
    assert info.python.split()[0] in {"CPython", "PyPy"}


def test_what_the_table_names_is_there() -> None:
    assert len(modules("compiled")) > 100
    assert len(modules("interpreted")) == len(pyproject()["tool"]["llmcore"]["compiled"]["interpreted"])


@pytest.mark.skipif(not COMPILED, reason="make test-compiled")
@pytest.mark.parametrize("name", modules("compiled"))
def test_a_module_of_the_table_is_compiled(name: str) -> None:
    """Its file is an extension; its source, which tracebacks and type checkers read, stands beside it."""
    origin = import_module(name).__file__ or ""
    assert not origin.endswith(".py"), origin
    folder, _, stem = origin.rpartition("/")
    assert os.path.isfile(f"{folder}/{stem.partition('.')[0]}.py")
    assert not origin.startswith(str(ROOT / "normalizer"))


@pytest.mark.parametrize("name", modules("interpreted"))
def test_an_interpreted_module_is_python(name: str) -> None:
    assert (import_module(name).__file__ or "").endswith(".py")


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
PACKAGES = sorted({"llmcore", *(name.rpartition(".")[0] for name in map(module_name, source_files()) if "." in name)})


def _defined(body: list[ast.stmt]) -> dict[str, Definition]:
    """By name; of overloads the last one, which is the function itself, of a property what reads it."""
    found = [node for node in body if isinstance(node, Definition)]
    return {node.name: node for node in found if not any(ast.unparse(one).endswith(".setter") for one in node.decorator_list)}


@cache
def _source_of(module: str) -> dict[str, Definition]:
    return _defined(ast.parse(next(path for path in source_files() if module_name(path) == module).read_text("utf-8")).body)


def _exported() -> Iterator[tuple[str, Any, Definition]]:
    """The classes and functions of our own that a package exports, with their definitions."""
    for package in PACKAGES:
        if package == "llmcore.integrations.litellm":  # its names import LiteLLM, which is slow, and are not compiled
            continue
        module = import_module(package)
        for name in vars(module).get("__all__", ()):
            thing: Any = getattr(module, name)
            origin = str(getattr(thing, "__module__", ""))
            if not (inspect.isclass(thing) or callable(thing)) or not origin.startswith("llmcore."):
                continue
            if (node := _source_of(origin).get(getattr(thing, "__name__", ""))) is not None:
                yield f"{package}.{name}", thing, node


@pytest.mark.parametrize(("thing", "node"), [pytest.param(thing, node, id=name) for name, thing, node in _exported()])
def test_what_a_package_exports_says_what_it_takes_and_what_it_is(thing: Any, node: Definition) -> None:
    """The docstring, the signature and whether it waits are those of the source on both builds, of each method as well."""
    assert inspect.getdoc(thing) or not ast.get_docstring(node)
    if not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        assert inspect.signature(thing) is not None
    if not isinstance(node, ast.ClassDef):
        _assert_is_as_written(thing, node)
        return
    for name, method in _defined(node.body).items():
        if not name.startswith("_") and not isinstance(method, ast.ClassDef):
            _assert_is_as_written(inspect.getattr_static(thing, name), method)


def _assert_is_as_written(found: Any, written: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    assert inspect.cleandoc(found.__doc__ or "") == (ast.get_docstring(written) or ""), written.name
    if not written.decorator_list:
        own = inspect.unwrap(found)
        waits = inspect.iscoroutinefunction(own) or inspect.isasyncgenfunction(own)
        assert waits == isinstance(written, ast.AsyncFunctionDef), written.name
        assert inspect.signature(found) is not None


@pytest.mark.parametrize("name", modules("compiled"))
def test_a_module_s_functions_take_what_its_source_says(name: str) -> None:
    """Functions, and methods of classes; their docstrings are not compiled (docs/compiled.md)."""
    module = import_module(name)
    path = next(path for path in source_files() if module_name(path) == name)
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in module.__all__:
            _assert_takes_what_is_written(getattr(module, node.name), node)


def _assert_takes_what_is_written(thing: Any, node: ast.AST) -> None:
    if isinstance(node, ast.ClassDef):
        if COMPILED and issubclass(thing, tuple):
            return  # a NamedTuple is no class of mypyc's own: its methods are objects that tell no signature
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not method.decorator_list:
                _assert_takes_what_is_written(getattr(thing, method.name), method)
    elif isinstance(node, ast.FunctionDef):
        given = node.args
        if COMPILED and not all(
            isinstance(default, ast.Constant) for default in [*given.defaults, *given.kw_defaults] if default
        ):
            return  # mypyc writes no signature where a default is no literal (get_text_signature in mypyc/doc_generation)
        named = [one.arg for one in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
        assert [one for one in inspect.signature(thing).parameters if one not in _starred(given)] == named, node.name


def _starred(given: ast.arguments) -> set[str]:
    return {one.arg for one in (given.vararg, given.kwarg) if one is not None}


def test_nothing_warns_while_it_is_loaded_and_used() -> None:
    """Of what is loaded before pytest makes errors of warnings."""
    code = f"from llmcore import *; normalize({CALL!r}, [{{'name': 'weather', 'parameters': {{'type': 'object'}}}}])"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd="/")


def test_a_release_builds_for_every_python_that_is_promised() -> None:
    release = pyproject()["tool"]["cibuildwheel"]
    promised = [kind.rpartition(" ")[2] for kind in pyproject()["project"]["classifiers"] if "Python :: 3." in kind]
    assert {f"cp{version.replace('.', '')}-*" for version in promised} <= set(release["build"].split())
    assert release["environment"] == {"LLMCORE_COMPILE": "1"}


def test_a_release_s_check_of_a_wheel_tells_the_builds_apart(tmp_path: Path) -> None:
    command = pyproject()["tool"]["cibuildwheel"]["test-command"]
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    ran = subprocess.run(command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, check=False, capture_output=True)
    assert (ran.returncode == 0) == COMPILED, ran.stderr


def test_results_are_pickled_copied_and_shown_alike() -> None:
    envelope = llmcore.normalize(f"Right away.\n\n{CALL}", WEATHER)
    report = llmcore.validate(envelope, WEATHER)
    for value in (envelope, envelope.segments, envelope.tool_calls[0], report):
        assert sent(value) == value
        assert copy.deepcopy(value) == value
        assert repr(copy.copy(value)) == repr(value)
        assert "mypyc" not in repr(value)


class Timed(llmcore.TextDelta):
    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.at = at


def test_what_is_derived_from_a_delta_is_copied_with_what_it_adds() -> None:
    timed = Timed("a", 2)
    for one in (sent(timed), copy.copy(timed), copy.deepcopy(timed)):
        assert (one.text, one.at, type(one)) == ("a", 2, Timed)


def test_a_delta_has_the_state_that_either_build_reads() -> None:
    assert llmcore.ArgumentsDelta(1, "{").__reduce_ex__(4)[2] == (None, {"index": 1, "json": "{"})


def test_keys_that_are_no_texts_end_nothing() -> None:
    """No JSON has them; a dict that was made by hand may."""
    body = {"choices": [{"message": {"role": "assistant", "content": "Hi", None: "x"}, "finish_reason": "stop"}]}
    assert llmcore.normalize(body).content == "Hi"
    llmcore.normalize({"candidates": [{"content": {"parts": [{1: 2}]}}]})
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "object"}}}}
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {"a": {1: 2, None: [3]}}}
    envelope = llmcore.normalize({"content": [use]}, [tool])
    assert not llmcore.validate(envelope, [tool]).problems


class Marked(str):
    """Text of a class of its own, as templates and enums have it."""

    def __getitem__(self, key: Any) -> str:
        return "?"


@pytest.mark.parametrize("streamed", [False, True])
def test_text_of_a_derived_class_is_read_as_the_text_that_it_holds(streamed: bool) -> None:
    given, plain = Marked(f"Right away.\n\n{CALL}"), llmcore.normalize(f"Right away.\n\n{CALL}", WEATHER)
    if streamed:
        reading = llmcore.Normalizer(WEATHER)
        events = [*reading.feed(given), *reading.finish()]
        assert {type(event.text) for event in events if isinstance(event, llmcore.TextDelta)} == {str}
        envelope = reading.envelope
    else:
        envelope = llmcore.normalize(given, WEATHER)
    assert envelope == plain
    assert type(envelope.content) is str


def test_text_of_a_derived_class_in_a_body_is_read_as_text() -> None:
    function = {"name": Marked("weather"), "arguments": Marked('{"city": "Bonn"}')}
    message = {"role": "assistant", "content": Marked("Hi"), "tool_calls": [{"id": Marked("a"), "function": function}]}
    envelope = llmcore.normalize({"choices": [{"message": message, "finish_reason": Marked("stop")}]}, WEATHER)
    (call,) = envelope.tool_calls
    texts = (envelope.content, envelope.finish_word, call.id, call.name, call.raw_arguments)
    assert texts == ("Hi", "stop", "a", "weather", '{"city": "Bonn"}')
    assert {*map(type, texts)} == {str}


def test_an_orchestrator_and_a_dialect_are_copied() -> None:
    def weather(city: str) -> str:
        return f"22 degrees in {city}"

    allowed = llmcore.ToolConfig(allowed={"weather"})
    made = llmcore.Orchestrator(llmcore.FakeModel(CALL, "Sunny."), llmcore.ToolRegistry([weather]), tool_config=allowed)
    for one in (copy.deepcopy(made), made):  # each has its own model, with the whole script
        result = one.run_sync("How is Bonn?")
        assert (result.content, [ran.value for ran in result.tool_results]) == ("Sunny.", ["22 degrees in Bonn"])
    assert copy.deepcopy(DIALECTS) == DIALECTS


@pytest.mark.anyio
async def test_a_run_with_a_tool_is_streamed() -> None:
    def weather(city: str) -> str:
        return f"22 degrees in {city}"

    events = [one async for one in llmcore.Orchestrator(llmcore.FakeModel(CALL, "Sunny."), [weather]).stream("How is Bonn?")]
    assert [one.content for one in events if isinstance(one, llmcore.ToolResult)] == ["22 degrees in Bonn"]
    assert isinstance(last := events[-1], llmcore.Finished)
    assert last.result.content == "Sunny."


@pytest.mark.parametrize("part", ["Hello <tool_call>{", {"choices": [{"delta": {"content": "Hello"}}]}], ids=["text", "event"])
def test_a_normalizer_is_copied_before_and_after_a_reply(part: object) -> None:
    reading = llmcore.Normalizer(WEATHER)
    assert copy.deepcopy(reading).feed("x")
    reading.feed(part)
    for copied in (copy.copy, copy.deepcopy, sent):
        with pytest.raises(llmcore.CallerError, match="in the middle of a reply"):
            copied(reading)
    reading.finish()
    assert sent(reading).envelope == copy.deepcopy(reading).envelope == reading.envelope


def test_users_subclass_the_normalizer() -> None:
    class Loud(llmcore.Normalizer):
        def feed(self, part: object) -> list[llmcore.NormalizerEvent]:
            return super().feed(part.upper() if isinstance(part, str) else part)

    loud = Loud(WEATHER)
    loud.feed("hello")
    loud.finish()
    assert loud.envelope.content == "HELLO"


def test_a_mistake_is_the_same_error() -> None:
    with pytest.raises(llmcore.CallerError, match="takes a ToolSet or None, not int"):
        import_module("llmcore.normalizer").normalize("x", 3)
    unsure: Any = None
    assert llmcore.normalize("a</think>b", reasoning_open=unsure) == llmcore.normalize("a</think>b")
    wrong: Any = 0
    with pytest.raises(llmcore.CallerError, match="as a text"):
        llmcore.Normalizer().finish(wrong)
    unplaced: Any = "0"
    with pytest.raises(llmcore.CallerError, match="character offset"):
        llmcore.Normalizer().withheld_text(unplaced)
    with pytest.raises(llmcore.ConfigError, match="nosuch"):
        llmcore.normalize("x", WEATHER, dialects=["nosuch"])


def test_threads_read_at_the_same_time() -> None:
    """What is learnt in the first replies (shapes, expressions) is learnt once, whoever comes first."""
    expected = llmcore.normalize(CALL, WEATHER).model_dump_json()
    seen: set[str] = set()

    def read() -> None:
        for _ in range(50):
            seen.add(llmcore.normalize(CALL, WEATHER, limits=Limits()).model_dump_json())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {expected}
