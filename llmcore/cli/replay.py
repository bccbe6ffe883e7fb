"""`llmcore replay`: replays recorded transcripts through the normaliser and the validator, and prints the results as
tables or JSON, and writes reports."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llmcore.cli.output import EXIT_UNMET, EXIT_UNREADABLE, as_json_text, exit_with_error, note, terminal, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from llmcore.reporting.baseline import Comparison
    from llmcore.transcripts import ScoreReport, TranscriptReader

__all__ = ["replay"]

_LONG_INPUT = 2_000_000
"""Input of this many bytes or more gets a progress bar."""


class _OnError(StrEnum):
    fail = "fail"
    skip = "skip"


def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files (.jsonl, VCR cassettes in .yaml or .json, .txt, .sse) or folders of them.", metavar="PATH..."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    dialects: Annotated[bool, typer.Option(help="Show the table of calls by dialect.")] = True,
    on_error: Annotated[
        _OnError,
        typer.Option(help="How unreadable lines and files are reported: as errors with exit code 2, or in the report."),
    ] = _OnError.fail,
    show: Annotated[int, typer.Option(min=0, help="How many findings of each kind to list.")] = 10,
    html: Annotated[
        Path | None,
        typer.Option(help="Write the report as one HTML page. Failed transcripts after the first 500 go to FILE.rest.jsonl."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, with a test case for each transcript.")] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Compare with what an earlier `replay --json` printed. Exit code 1: something is worse.")
    ] = None,
) -> None:
    """Replay recorded transcripts and show success rates by model family and by dialect.

    It reports the place of each unreadable entry, and replays everything else.

    Exit code 0; 1: an expectation is not met, or with --baseline: something became worse; 2: an input cannot be read.
    """
    from llmcore.reporting.baseline import Baseline
    from llmcore.reporting.junit import JunitReport
    from llmcore.reporting.page import HtmlReport
    from llmcore.transcripts import Score, TranscriptError, read_transcripts

    reader = read_transcripts(*paths, on_error="skip")
    page = HtmlReport(html, reader.files) if html else None
    cases = JunitReport(junit, reader.files) if junit else None
    earlier = Baseline(baseline) if baseline else None
    receivers = [receiver for receiver in (page, cases, earlier) if receiver is not None]
    failed: list[str] = []
    score = Score(keep=show)
    with _progress(reader) as advance:
        for transcript in reader:
            try:
                outcome = score.add(transcript)
            except TranscriptError as error:
                reader.unusable(error)
            else:
                for receiver in receivers:
                    receiver.add(outcome)
                if as_json and outcome.failed:
                    failed.append(transcript.label)
            advance()
    report = score.report()
    comparison = earlier.finish(report) if earlier else None
    if page:
        page.finish(report, skipped=reader.skipped_count)
    if cases:
        cases.finish(reader.skipped, unlisted=reader.skipped_count - len(reader.skipped))
    if as_json:
        write(as_json_text(_as_data(report, reader, failed, comparison), indent=2))
    _print(report, reader, comparison, as_json=as_json, dialects=dialects, on_error=on_error, show=show)
    if page and page.rest_count:
        note(f"llmcore: {page.rest_count} failed transcripts that are not in {page.path} are in {page.rest}")
    if on_error is _OnError.fail and reader.skipped_count:
        raise typer.Exit(EXIT_UNREADABLE)
    if not report.runs:
        exit_with_error("nothing could be read: every run was skipped" if reader.skipped_count else "the files contain no runs")
    if comparison.is_worse if comparison else report.unmet_expectations:
        raise typer.Exit(EXIT_UNMET)


def _print(
    report: ScoreReport,
    reader: TranscriptReader,
    comparison: Comparison | None,
    *,
    as_json: bool,
    dialects: bool,
    on_error: _OnError,
    show: int,
) -> None:
    from llmcore.cli.tables import print_comparison, print_report, report_skipped

    if not as_json and (report.runs or on_error is _OnError.skip):
        print_report(report, dialects=dialects)
        if comparison:
            print_comparison(comparison, show)
    as_errors = on_error is _OnError.fail
    if as_errors or not as_json:
        report_skipped(reader, as_errors=as_errors)


def _as_data(
    report: ScoreReport, reader: TranscriptReader, failed: list[str], comparison: Comparison | None
) -> dict[str, object]:
    skipped = [{"path": str(error.path), "line": error.line, "message": error.message} for error in reader.skipped]
    data: dict[str, object] = {**report.model_dump(), "failed": failed, "skipped_count": reader.skipped_count, "skipped": skipped}
    return data if comparison is None else {**data, "comparison": comparison.model_dump()}


@contextmanager
def _progress(reader: TranscriptReader) -> Generator[Callable[[], None]]:
    """A progress bar for long input, if standard error is a terminal."""
    console = terminal(err=True)
    if reader.bytes_total < _LONG_INPUT or not console.is_terminal:
        yield lambda: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("replaying"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("replay", total=reader.bytes_total)
        yield lambda: progress.update(task, completed=reader.bytes_read)
