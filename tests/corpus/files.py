"""The files of `fixtures/dialects`: which rows stand in which."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tests.normalizer.helpers import sample_files
from tests.packaging.tree import ROOT

from .from_samples import rows_of_samples
from .row import Row
from .scenes import SOURCES

__all__ = ["FOLDER", "contents", "rows"]

FOLDER = ROOT / "fixtures" / "dialects"


@cache
def rows() -> dict[str, list[Row]]:
    """All rows by the names of their files, without `.jsonl`."""
    found: dict[str, Iterator[Row]] = {file: rows_of_samples(file) for file in sample_files()}
    return {file: list(source) for file, source in (found | {file: write() for file, write in SOURCES.items()}).items()}


def contents() -> dict[str, str]:
    """The text of each file by its name."""
    return {f"{file}.jsonl": "".join(f"{row.line}\n" for row in of_file) for file, of_file in rows().items()}
