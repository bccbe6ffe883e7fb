"""Checks of the files that a report is written to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from llmcore.types import CallerError

__all__ = ["check_writable"]


def check_writable(path: Path, inputs: Iterable[Path]) -> Path:
    """The path. Raises `CallerError` if it is a folder or one of the inputs, if its folder does not exist, or if this process may
    not write there."""
    if path.is_dir():
        raise CallerError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise CallerError(f"{path}: there is no folder {path.parent}; create it, or name another file")
    if path.exists() and any(path.samefile(one) for one in inputs if one.exists()):
        raise CallerError(f"{path}: is read by this replay and would be overwritten; name another file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CallerError(f"{path}: this process may not write there; name another file")
    return path
