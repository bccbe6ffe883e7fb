"""Both builds of the one source: what a user sees of a module does not tell whether it is compiled."""

from __future__ import annotations

import copy
import inspect
import os
import threading
from importlib import import_module

import pytest

import llmcore
from llmcore.types import Limits
from tests.packaging.tree import ROOT, module_name, pyproject, source_files
from tests.support.builds import COMPILED
from tests.support.processes import sent

TABLE = pyproject()["tool"]["llmcore"]["compiled"]
WEATHER = llmcore.ToolSet(
    [{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
)
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bonn"}}\n</tool_call>'


def _modules(build: str) -> list[str]:
    """The modules that the table names: those `compiled`, or those left `interpreted`."""
    interpreted = {path.removesuffix(".py").replace("/", ".") for path in TABLE["interpreted"]}
    groups = tuple(pattern.partition("**")[0].replace("/", ".") for pattern in TABLE["modules"])
    names = [module_name(path) for path in source_files() if path.name != "__init__.py" and module_name(path).startswith(groups)]
    return [name for name in names if (name in interpreted) == (build == "interpreted")]


def test_the_info_tells_the_build() -> None:
    info = llmcore.build_info()
    assert info.version == llmcore.__version__
    assert info.compiled == (("llmcore.normalizer",) if COMPILED else ())
    assert ("compiled: llmcore.normalizer" if COMPILED else "pure Python") in str(info)
    assert info.python.split()[0] in {"CPython", "PyPy"}


def test_what_the_table_names_is_there() -> None:
    assert len(_modules("compiled")) > 100
    assert len(_modules("interpreted")) == len(TABLE["interpreted"])


@pytest.mark.skipif(not COMPILED, reason="make test-compiled")
@pytest.mark.parametrize("name", _modules("compiled"))
def test_a_module_of_the_table_is_compiled(name: str) -> None:
    """Its file is an extension; its source, which tracebacks and type checkers read, stands beside it."""
    origin = import_module(name).__file__ or ""
    assert not origin.endswith(".py"), origin
    folder, _, stem = origin.rpartition("/")
    assert os.path.isfile(f"{folder}/{stem.partition('.')[0]}.py")
    assert not origin.startswith(str(ROOT / "normalizer"))


@pytest.mark.parametrize("name", _modules("interpreted"))
def test_an_interpreted_module_is_python(name: str) -> None:
    assert (import_module(name).__file__ or "").endswith(".py")


PUBLIC = [
    name for name in llmcore.__all__ if inspect.isclass(getattr(llmcore, name)) or inspect.isfunction(getattr(llmcore, name))
]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_it_takes_and_what_it_is(name: str) -> None:
    """`inspect.signature` and the docstring are those of the source on both builds."""
    thing = getattr(llmcore, name)
    assert inspect.getdoc(thing)
    if not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        assert inspect.signature(thing) is not None


def test_results_are_pickled_copied_and_shown_alike() -> None:
    envelope = llmcore.normalize(f"Right away.\n\n{CALL}", WEATHER)
    report = llmcore.validate(envelope, WEATHER)
    for value in (envelope, envelope.segments, envelope.tool_calls[0], report):
        assert sent(value) == value
        assert copy.deepcopy(value) == value
        assert repr(copy.copy(value)) == repr(value)
        assert "mypyc" not in repr(value)


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
