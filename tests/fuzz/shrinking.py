"""Makes a failing case as small as it gets while it fails in the same way."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

from tests.fuzz import oracle
from tests.fuzz.case import Case

__all__ = ["failure", "shrink"]

Judge = Callable[[Case], object]


def failure(judge: Judge, case: Case) -> str | None:
    """What kind of failure it is: the error's type, and where it was raised or the beginning of what was asserted. None = it holds."""
    try:
        judge(case)
    except AssertionError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{frame.name}: {str(error)[:24].strip() or frame.line}"
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != oracle.__file__]
        return f"{type(error).__name__} in {frames[-1].name}" if frames else type(error).__name__
    return None


def _settled(judge: Judge, case: Case, kind: str) -> Case:
    """Without the settings that the failure does not need."""
    plain = Case(case.text)
    for name in Case.__slots__:
        if name != "text" and getattr(case, name) != getattr(plain, name):
            values = {key: getattr(case, key) for key in Case.__slots__}
            simpler = Case(**{**values, name: getattr(plain, name)})
            case = simpler if failure(judge, simpler) == kind else case
    return case


def shrink(judge: Judge, case: Case, tries: int = 3_000, seconds: float = 90) -> Case:
    """Cut out stretches, large ones first, as long as `judge` fails in the same way. What comes slowly is cut for `seconds`."""
    until = time.monotonic() + seconds
    kind = failure(judge, case)
    if kind is None:
        return case
    case = _settled(judge, case, kind)
    size = max(1, len(case.text) // 2)
    while tries > 0 and time.monotonic() < until:
        at, shorter = 0, False
        while at < len(case.text) and tries > 0 and time.monotonic() < until:
            attempt = case.with_text(case.text[:at] + case.text[at + size :])
            tries -= 1
            if failure(judge, attempt) == kind:
                case, shorter = attempt, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2) if not shorter or size > 1 else 1
    return case
