"""What becomes of a value on its way to another process."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

__all__ = ["sent"]


def sent(value: Any) -> Any:
    """As a process pool sends it."""
    loads: Callable[[object], Any] = vars(ForkingPickler)["loads"]
    return loads(ForkingPickler.dumps(value))
