"""The collector's pause: no pass begins within, and the program's own settings come through."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from llmcore.support.code.collector_pause import paused_collector
from tests.packaging.tree import ROOT

OWN = (701, 11, 12)


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before, enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(*OWN)
    yield
    gc.set_threshold(*before)
    (gc.enable if enabled else gc.disable)()


def test_no_pass_begins_within() -> None:
    passes: list[str] = []

    def note(phase: str, _: object) -> None:
        passes.append(phase)

    gc.callbacks.append(note)
    try:
        with paused_collector():
            passes.clear()
            held = [[number] for number in range(50_000)]
            seen = [*passes]
        assert seen == []
        assert held
    finally:
        gc.callbacks.remove(note)
    assert gc.get_threshold() == OWN


def test_what_was_made_within_is_no_work_for_the_next_quick_pass() -> None:
    program = """
import gc
from llmcore.support.code.collector_pause import paused_collector
from tests.packaging.tree import ROOT
with paused_collector():
    held = [[number] for number in range(50_000)]
assert gc.get_count()[0] < 1000 and gc.get_freeze_count() == 0, gc.get_count()
"""
    subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, check=True)


def test_a_program_that_collects_by_itself_goes_on_to() -> None:
    gc.disable()
    with paused_collector():
        pass
    assert not gc.isenabled()
    gc.enable()
    with paused_collector():
        gc.disable()  # by another thread, as it may be
    assert not gc.isenabled()


def test_thresholds_that_are_changed_meanwhile_stay() -> None:
    with paused_collector():
        gc.set_threshold(5000, 5, 5)
    assert gc.get_threshold() == (5000, 5, 5)


def test_an_error_ends_the_pause() -> None:
    with pytest.raises(ImportError), paused_collector():
        raise ImportError
    assert gc.get_threshold() == OWN


def test_pauses_of_several_threads_end_with_the_last_one() -> None:
    inside, first_is_out = threading.Event(), threading.Event()
    seen: list[int] = []

    def second() -> None:
        with paused_collector():
            inside.set()
            first_is_out.wait(30)
            seen.append(gc.get_threshold()[0])

    thread = threading.Thread(target=second)
    with paused_collector():
        thread.start()
        assert inside.wait(30)
    first_is_out.set()
    thread.join()
    assert seen == [0]
    assert gc.get_threshold() == OWN


def test_what_the_program_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with paused_collector():
            pass
        assert gc.get_freeze_count() > frozen / 2 > 0, "some of them end meanwhile"
    finally:
        gc.unfreeze()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_meanwhile_collects() -> None:
    with paused_collector():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.get_threshold() == OWN else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
