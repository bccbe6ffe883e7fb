"""`JunitReport`: writes a replay as JUnit XML, with a test case for each transcript."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from xml.etree.ElementTree import Element, SubElement, tostring

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.reporting.files import check_writable
from llmcore.transcripts import Outcome, TranscriptError

__all__ = ["JunitReport"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_TEXT = 10_000


class JunitReport:
    """Writes the report to `path`. A failed transcript is a failure, and an entry that cannot be read an error.

    Secrets are masked. Raises `CallerError` if the file cannot be written or is one of the `inputs`.
    """

    def __init__(self, path: Path, inputs: Iterable[Path] = ()) -> None:
        self.path = check_writable(path, inputs)
        # The root element, which comes first, has the counts.
        self._cases = TemporaryFile()  # noqa: SIM115  # `finish` closes it
        self._count = 0
        self._failed = 0
        self._seconds = 0.0

    def add(self, outcome: Outcome) -> None:
        """Take one replayed run."""
        self._seconds += outcome.seconds
        run = outcome.transcript
        case = self._case(run.path, run.label, outcome.seconds)
        if outcome.failed:
            self._failed += 1
            reasons = [_clean(reason) for reason in outcome.reasons]
            kind = "needs_reask" if outcome.needs_reask else "wrong"
            SubElement(case, "failure", type=kind, message=reasons[0]).text = "\n".join(
                [f"{_clean(str(run.path))}:{run.line}" if run.line else _clean(str(run.path or "-")), *reasons]
            )
        self._write(case)

    def finish(self, skipped: Sequence[TranscriptError] = (), *, unlisted: int = 0) -> None:
        """Write the file. `skipped`: the entries that could not be read. `unlisted`: how many more there are."""
        for error in skipped:
            case = self._case(error.path, f"{error.path}:{error.line}" if error.line else str(error.path), 0.0)
            SubElement(case, "error", type="unreadable", message=_clean(error.message))
            self._write(case)
        if unlisted:
            case = self._case(None, "more entries", 0.0)
            SubElement(case, "error", type="unreadable", message=f"{unlisted} more entries cannot be read")
            self._write(case)
        errors = len(skipped) + bool(unlisted)
        counts = f'tests="{self._count}" failures="{self._failed}" errors="{errors}" time="{self._seconds:.3f}"'
        with self.path.open("wb") as file, self._cases:
            file.write(
                f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n<testsuite name="llmcore replay" {counts}>\n'.encode()
            )
            self._cases.seek(0)
            shutil.copyfileobj(self._cases, file)
            file.write(b"</testsuite>\n</testsuites>\n")

    def _case(self, path: Path | None, name: str, seconds: float) -> Element:
        return Element("testcase", classname=_clean(str(path or "-")), name=_clean(name), time=f"{seconds:.6f}")

    def _write(self, case: Element) -> None:
        self._count += 1
        self._cases.write(tostring(case, encoding="utf-8", xml_declaration=False) + b"\n")


def _clean(text: str) -> str:
    """The text without secrets. Characters that XML does not have are escapes."""
    masked = process_scrubber().text(text[:_MAX_TEXT])
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), masked)
