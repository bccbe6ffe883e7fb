"""Facts shared through a file."""

from __future__ import annotations

import asyncio
import fcntl
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import DAY, CapabilityStore, Fact, FileFacts
from llmcore.types import ConfigError

pytestmark = pytest.mark.anyio

LOCAL = Endpoint(provider="openai_compatible", model="qwen3-8b", base_url="http://127.0.0.1:1/v1")


async def test_another_process_knows_what_one_learnt(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "facts.json"
    one, other = CapabilityStore(backend=path), CapabilityStore(backend=path)
    assert await other.refresh()  # there is no file yet
    one.record_failure(LOCAL, "native_tools")
    assert await one.publish()
    assert await other.refresh()
    assert other.learnt(LOCAL) == {"native_tools": False}
    assert sorted(file.name for file in path.parent.iterdir()) == ["facts.json", "facts.json.lock"]


async def test_of_two_facts_the_later_one_stands_whoever_saves_last(tmp_path: Path) -> None:
    facts, now = FileFacts(tmp_path / "f"), time.time()
    await facts.save({"k": {"images": Fact(True, now - 1)}})
    await facts.save({"k": {"images": Fact(False, now - 2), "streaming": Fact(False, now)}})
    assert await facts.load() == {"k": {"images": Fact(True, now - 1), "streaming": Fact(False, now)}}


async def test_whether_it_is_proven_goes_along(tmp_path: Path) -> None:
    facts, now = FileFacts(tmp_path / "f"), time.time()
    seen_once, proven = Fact(False, now - 0.5, proven=False), Fact(False, now)
    await facts.save({"k": {"native_tools": seen_once, "images": seen_once}})
    await facts.save({"k": {"native_tools": proven, "images": Fact(False, now - 1)}})
    assert await facts.load() == {"k": {"native_tools": proven, "images": seen_once}}


async def test_it_is_bounded_and_old_facts_go(tmp_path: Path) -> None:
    facts, now = FileFacts(tmp_path / "f", maxsize=3), time.time()
    await facts.save(
        {f"k{at}": {"images": Fact(True, now - 10 + at)} for at in (4, 1, 3, 2, 5)} | {"x" * 3000: {"images": Fact(True, now)}}
    )
    assert sorted(await facts.load()) == ["k4", "k5"]  # a key without bounds is none
    await facts.save({"old": {"images": Fact(True, now - DAY - 1)}})
    assert "old" not in (tmp_path / "f").read_text("utf-8")


def _learn(path: str, number: int) -> None:
    for at in range(10):
        asyncio.run(FileFacts(path).save({f"{number}-{at}": {"images": Fact(True, time.time())}}))


@pytest.mark.sweep
async def test_several_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_learn, args=(str(tmp_path / "f"), number)) for number in range(4)]
    for process in processes:
        process.start()
    seen = 0
    while any(process.is_alive() for process in processes):
        found = len(await FileFacts(tmp_path / "f").load())  # never half a file
        assert found >= seen
        seen = found
        await asyncio.sleep(0.005)
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(await FileFacts(tmp_path / "f").load()) == 40


@pytest.mark.parametrize("content", ["llm: {models: {}}", "[]", '{"facts": {}}', "{", '{"llmcore_capabilities": 2}'])
async def test_a_file_that_holds_something_else_is_never_written_over(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "f"
    path.write_text(content, "utf-8")
    store = CapabilityStore(backend=path)
    store.record_failure(LOCAL, "images")
    assert not await store.refresh()
    assert not await store.publish()
    assert path.read_text("utf-8") == content
    assert len(caplog.records) == 1
    assert "name another file" in caplog.text


async def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = FileFacts(tmp_path / "f")
    await facts.save({"k": {"images": Fact(True, time.time())}})
    (tmp_path / "f").chmod(0o444)
    before = (tmp_path / "f").read_bytes()

    def refused(*_: object) -> bool:  # as for anybody but root
        return False

    with monkeypatch.context() as patch:
        patch.setattr("os.access", refused)
        with pytest.raises(PermissionError, match="may not be written"):
            await facts.save({"k": {"streaming": Fact(True, time.time())}})
    assert (tmp_path / "f").read_bytes() == before
    await facts.save({"k": {"streaming": Fact(True, time.time())}})
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o444


async def test_entries_that_are_no_facts_are_left_out(tmp_path: Path) -> None:
    now = time.time()
    facts = {"k": {"images": [True, now], "streaming": [1, now], "reasoning": [True], "json_schema": [True, "x"]}, "l": 7}
    (tmp_path / "f").write_text(json.dumps({"llmcore_capabilities": 1, "facts": facts}), "utf-8")
    assert await FileFacts(tmp_path / "f").load() == {"k": {"images": Fact(True, now)}}


async def test_a_lock_that_is_not_given_back_ends_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = CapabilityStore(backend=tmp_path / "f")
    store.record_failure(LOCAL, "images")
    with (tmp_path / "f.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not await store.publish()
    assert "another process holds the lock" in caplog.text
    assert await store.publish()


async def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    facts = FileFacts(tmp_path / "f")
    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(PermissionError):
        await facts.save({"k": {"images": Fact(True, time.time())}})
    assert [file.name for file in tmp_path.iterdir()] == ["f.lock"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="folder"):
        FileFacts(tmp_path)


async def test_an_entry_of_a_broken_clock_gives_way(tmp_path: Path) -> None:
    facts, now = FileFacts(tmp_path / "facts.json"), time.time()
    await facts.save({"k": {"images": Fact(False, now + 1e6)}})
    await facts.save({"k": {"images": Fact(True, now)}})
    assert (await facts.load())["k"]["images"] == Fact(True, now)


@pytest.mark.parametrize("setting", [{"maxsize": 0}, {"maxsize": "9"}, {"ttl": -1}, {"clock": 5}], ids=str)
def test_a_setting_that_is_none(setting: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=next(iter(setting))):
        FileFacts(tmp_path / "facts.json", **setting)
