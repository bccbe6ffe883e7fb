"""What must hold however a text is read. `judge` raises an `AssertionError` that says what does not; anything else it raises is
what the engine raised.

- an envelope comes, whose segments tile the text;
- the same one for every cut of the text (whole, single characters, random chunks), and the events tell of it;
- no text is a call when no tools were offered;
- the validator takes it, and it can be written as plain data;
- no feed runs away: its time is bounded by a constant for each character that has come so far, and one for each that looks which
  come to nothing may cost (`Limits.looks`).
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType

import llmcore
from llmcore.normalizer.api import Normalizer, normalize
from llmcore.types.envelope import Envelope
from llmcore.types.events import NormalizerEvent
from tests.fuzz.case import TOOLS, Case
from tests.normalizer.helpers import assert_same, assert_tiled, assert_told, cuts

__all__ = ["HangsError", "judge"]

_SLACK = 0.03
_SECONDS_A_CHARACTER = 4e-5
"""Far above what any reader needs (readers/python: 3e-7), far below what is quadratic in a few thousand characters."""
_SECONDS_A_LOOK = 1e-6
"""Brackets and markers may each cost `Limits.looks` characters before they are passed over, at 3e-7 to 6e-7 each."""
_PATIENCE = 3
_HANGS = 10.0


class HangsError(Exception):
    """The engine did not come back."""


def _raise_hangs(signum: int, frame: FrameType | None) -> None:
    raise HangsError


@contextmanager
def _watched(seconds: float) -> Generator[None]:
    """`HangsError` after so many seconds of this process's CPU time."""
    before = signal.signal(signal.SIGVTALRM, _raise_hangs)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(case: Case, *, chunkings: int = 2, patience: float = 1.0) -> Envelope:
    """The envelope of a case that holds everything. `patience`: multiplies the time allowed (instrumented code is slow)."""
    with _watched(_HANGS * patience):
        return _judge(case, chunkings, patience)


def _judge(case: Case, chunkings: int, patience: float) -> Envelope:
    whole = _read_whole(case, patience)
    assert_tiled(whole, case.text)
    assert all(call.name.strip() for call in whole.tool_calls), "a call without a name"
    assert len(whole.tool_calls) <= case.settings["limits"].calls, "more calls than the limit allows"
    if case.tools == "none offered":
        assert not whole.tool_calls, "a call although no tools were offered"
    for chunks in cuts(case.text, chunkings):
        normalizer, events = _read(case, chunks, patience)
        assert_same(normalizer.envelope, whole, chunks)
        assert_told(events, whole)
    whole.model_dump()
    report = llmcore.validate(whole, case.tool_set or TOOLS, strictness="lenient")
    assert len(report.calls) == len(whole.tool_calls), "the validator invented a call or lost one"
    return whole


def _slack(case: Case) -> float:
    looks: int = case.settings["limits"].looks
    return _SLACK + _SECONDS_A_LOOK * looks


def _read_whole(case: Case, patience: float) -> Envelope:
    """Read at once. Too slow counts only when it is so every time: another process may have had the core's caches."""
    allowed = (_slack(case) + _SECONDS_A_CHARACTER * len(case.text)) * patience
    spent = 0.0
    for _ in range(_PATIENCE):
        start = time.thread_time()
        envelope = normalize(case.text, case.tool_set, finish_reason=case.finish_reason, **case.settings)
        spent = time.thread_time() - start
        if spent <= allowed:
            return envelope
    raise AssertionError(f"reading at once runs away: {spent:.2f} s for {len(case.text)} characters")


def _read(case: Case, chunks: Sequence[str], patience: float) -> tuple[Normalizer, list[NormalizerEvent]]:
    slowest, slack = "", _slack(case)
    for _ in range(_PATIENCE):
        normalizer = Normalizer(case.tool_set, **case.settings)
        events: list[NormalizerEvent] = []
        came, slowest, total = 0, "", 0.0
        for chunk in chunks:
            came += len(chunk)
            start = time.thread_time()
            events += normalizer.feed(chunk)
            spent = time.thread_time() - start
            total += spent
            if spent > (slack + _SECONDS_A_CHARACTER * came) * patience:
                slowest = f"a feed runs away: {spent:.2f} s after {came} characters"
        start = time.thread_time()
        events += normalizer.finish(case.finish_reason)
        total += time.thread_time() - start
        allowed = (slack + 2 * _SECONDS_A_CHARACTER * came + 1e-4 * len(chunks)) * patience
        if not slowest and total > allowed:
            slowest = f"{len(chunks)} feeds run away: {total:.2f} s for {came} characters"
        if not slowest:
            return normalizer, events
    raise AssertionError(slowest)
