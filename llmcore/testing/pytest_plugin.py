"""The pytest plugin: tests that record a model once and replay it offline, and snapshots of replies and results.

    @pytest.mark.llmcore_cassette
    def test_weather() -> None:
        assert "sunny" in my_program.ask("Weather in Paris?")

`pytest --llmcore-record` asks the real model and writes the cassette. Without the option, the cassette answers. docs/testing.md
shows the plugin.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

__all__ = ["Cassette"]

_MARK = "llmcore_cassette"
_SAFE = re.compile(r"[^\w.-]+")
_TRAJECTORY: pytest.StashKey[Callable[[], str]] = pytest.StashKey()
_PASSED: pytest.StashKey[bool] = pytest.StashKey()


class Cassette:
    """The cassette of a test. `is_recording`: whether the real model is asked."""

    def __init__(self, path: Path, *, is_recording: bool) -> None:
        self.path, self.is_recording = path, is_recording


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--llmcore-record`."""
    parser.getgroup("llmcore").addoption(
        "--llmcore-record", action="store_true", help="Ask the real models, and write cassettes and snapshots anew."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    words = "replay the model's replies from a file; --llmcore-record writes it. Default: cassettes/MODULE/TEST.jsonl"
    config.addinivalue_line("markers", f"{_MARK}(path=None): {words}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the trajectory to the report of a failed test."""
    report = yield
    trajectory = item.stash.get(_TRAJECTORY, None)
    if report.failed and trajectory is not None:
        report.sections.append(("llmcore trajectory", trajectory()))
    return report


@pytest.fixture(autouse=True)
def _llmcore_marked(request: pytest.FixtureRequest) -> None:  # pyright: ignore[reportUnusedFunction]  # pytest finds it
    if request.node.get_closest_marker(_MARK) is not None:
        request.getfixturevalue(_MARK)


@pytest.fixture
def llmcore_cassette(request: pytest.FixtureRequest) -> Generator[Cassette]:
    """Replay the runs of this test from its cassette, or record them with `--llmcore-record`.

    The marker `llmcore_cassette(path)` names another file, relative to the test's folder. The file may also be a VCR cassette,
    which is only replayed. A test that leaves a part of its cassette unused fails. If a test fails while it records, its old
    cassette stays.
    """
    import llmcore
    from llmcore.testing import replaying

    path = _path(request)
    if request.config.getoption("--llmcore-record") and path.suffix == ".jsonl":
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as folder:
            new = Path(folder, path.name)
            with llmcore.record(new):
                yield Cassette(path, is_recording=True)
            if request.node.stash.get(_PASSED, True) and new.exists():
                new.replace(path)
        return
    if not path.exists():
        pytest.fail(f"there is no cassette {path}; run: pytest --llmcore-record '{request.node.nodeid}'", pytrace=False)
    with replaying(path) as replay:
        request.node.stash[_TRAJECTORY] = replay.trajectory
        yield Cassette(path, is_recording=False)
    if not replay.finished and request.node.stash.get(_PASSED, True):
        pytest.fail(f"the test made fewer requests than {path} holds\n{replay.trajectory()}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Note whether the test itself passed: a failed test need not use its whole cassette."""
    try:
        yield
    except BaseException:
        item.stash[_PASSED] = False
        raise


@pytest.fixture
def llmcore_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`llmcore_snapshot(value, name="")`: the value equals the one of the last `--llmcore-record`.

    `value`: an `Envelope`, a `RunResult`, another pydantic model, or JSON data. Of a `RunResult`, the content, the output, the
    calls with their results, and the repairs count. The file is `snapshots/MODULE/TEST[-NAME].json` in the test's folder.
    """

    def check(value: object, name: str = "") -> None:
        path = _file(request, "snapshots", f"-{_SAFE.sub('_', name)}.json" if name else ".json")
        written = json.dumps(_stable(value), indent=2, ensure_ascii=False, default=str) + "\n"
        if request.config.getoption("--llmcore-record"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written, "utf-8")
            return
        if not path.exists():
            pytest.fail(f"there is no snapshot {path}; run: pytest --llmcore-record '{request.node.nodeid}'", pytrace=False)
        before = path.read_text("utf-8")
        if before != written:
            lines = difflib.unified_diff(before.splitlines(), written.splitlines(), str(path), "now", lineterm="")
            pytest.fail("\n".join(["the snapshot differs:", *lines]), pytrace=False)

    return check


def _path(request: pytest.FixtureRequest) -> Path:
    mark = request.node.get_closest_marker(_MARK)
    given = (*mark.args, *mark.kwargs.values()) if mark is not None else ()
    return request.path.parent / given[0] if given else _file(request, "cassettes", ".jsonl")


def _file(request: pytest.FixtureRequest, folder: str, ending: str) -> Path:
    return request.path.parent / folder / request.path.stem / f"{_SAFE.sub('_', request.node.name)}{ending}"


def _stable(value: object) -> Any:
    """The value as JSON data, without what differs from run to run."""
    if hasattr(value, "tool_results") and hasattr(value, "attempts"):  # a RunResult
        result: Any = value
        return {
            "content": result.content,
            "output": _plain(result.output),
            "calls": [{"name": one.name, "arguments": one.arguments, "value": one.value} for one in result.tool_results],
            "repairs": _plain(result.repairs),
        }
    return _plain(value)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value  # pyright: ignore[reportUnknownVariableType]
