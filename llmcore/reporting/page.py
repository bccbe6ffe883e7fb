"""`HtmlReport`: writes a replay as one HTML page that needs no network, and what does not fit into it as JSON Lines."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TextIO

import llmcore
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.reporting.failures import failure_data
from llmcore.reporting.files import check_writable
from llmcore.support.values.json_data import as_json
from llmcore.transcripts import Outcome, ScoreReport

__all__ = ["MAX_FAILURES", "HtmlReport"]

MAX_FAILURES = 500
"""The most failed transcripts in a page. The others go to a JSON Lines file beside it."""
_SLOWEST = 10


class HtmlReport:
    """Writes the page to `path`. `rest` is the file of the failed transcripts that are not in the page: `report.html` has
    `report.rest.jsonl`, which `llmcore replay` reads. Each line is a transcript, with its place as `source`.

    Secrets are masked in both files. Raises `CallerError` if a file cannot be written or is one of the `inputs`.
    """

    def __init__(self, path: Path, inputs: Iterable[Path] = ()) -> None:
        inputs = [*inputs]
        self.path = check_writable(path, inputs)
        self.rest = check_writable(path.with_suffix(".rest.jsonl"), inputs)
        self.rest_count = 0
        self._failures: list[str] = []
        self._slowest: list[tuple[float, int, str]] = []
        self._count = 0
        self._file: TextIO | None = None

    def add(self, outcome: Outcome) -> None:
        """Take one replayed run."""
        self._count += 1
        slow = (outcome.seconds, self._count, outcome.transcript.label)
        (heapq.heappush if len(self._slowest) < _SLOWEST else heapq.heappushpop)(self._slowest, slow)
        if not outcome.failed:
            return
        if len(self._failures) < MAX_FAILURES:
            self._failures.append(_script_text(failure_data(outcome)))
        else:
            self._add_to_rest(outcome)

    def _add_to_rest(self, outcome: Outcome) -> None:
        run = outcome.transcript
        if self._file is None:
            self._file = self.rest.open("w", encoding="utf-8")
        data = run.model_dump(mode="json", exclude_unset=True)
        if run.path is not None:
            data["source"] = f"{run.path}:{run.line}" if run.line else str(run.path)
        self._file.write(as_json(process_scrubber().value(data), ascii_only=True) + "\n")
        self.rest_count += 1

    def finish(self, report: ScoreReport, *, skipped: int = 0) -> None:
        """Write the page. `skipped`: how many entries could not be read. A file of an earlier rest is removed if it is empty
        now."""
        if self._file is not None:
            self._file.close()
        else:
            self.rest.unlink(missing_ok=True)
        figures = {
            **report.model_dump(mode="json", exclude={"unmet", "reasks"}),
            "skipped": skipped,
            "version": llmcore.__version__,
            "written": datetime.now(UTC).isoformat(timespec="minutes"),
            "rest": {"count": self.rest_count, "file": self.rest.name},
            "slowest": [{"label": label, "seconds": seconds} for seconds, _, label in sorted(self._slowest, reverse=True)],
        }
        masked = _script_text(process_scrubber().value(figures))
        page = Template(_resource("page.html")).substitute(
            style=_resource("page.css"), script=_resource("page.js"), figures=masked, failures=",\n".join(self._failures)
        )
        self.path.write_text(page, encoding="utf-8")


def _resource(name: str) -> str:
    return files("llmcore.reporting").joinpath(name).read_text(encoding="utf-8")


def _script_text(data: Any) -> str:
    """JSON that cannot end the script element that holds it. `<` and all characters beyond ASCII are escapes."""
    return json.dumps(data).replace("<", "\\u003c")
