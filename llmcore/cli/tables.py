"""A replay's figures as tables for people. Text from recordings is shown as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from llmcore.cli.output import inline, note, shortened_line, write

if TYPE_CHECKING:
    from llmcore.reporting.baseline import Comparison
    from llmcore.transcripts import DialectRow, FamilyRow, Finding, ScoreReport, TranscriptReader
    from llmcore.transcripts.scoring.report import TargetVerdict

__all__ = ["plain", "print_comparison", "print_report", "report_skipped", "report_table"]

_FAMILY_COLUMNS = (
    "family",
    "runs",
    "units",
    "success",
    "needs a re-ask",
    "wrong",
    "retries/call",
    "fallback",
    "target",
)
_DIALECT_COLUMNS = (
    "dialect", "calls", "as written", "lossless", "coerced", "guess", "cut", "invalid", "units", "success",
)  # fmt: skip
_MAX_SHOWN_ERRORS = 10


def print_report(report: ScoreReport, *, dialects: bool) -> None:
    """Print the tables and findings of a replay to standard output."""
    write(_families(report))
    if dialects and report.dialects:
        write("")
        write(_dialects(report.dialects))
    if report.calls:
        write("")
        write(_errors(report))
    write("")
    if report.near_misses:
        _print_line("near misses (kept as content): " + _counts(report.near_misses))
    if report.unreadable_events:
        _print_line(f"pieces of streams that are not events, left out: {report.unreadable_events}")
    _print_findings("units that need a re-ask", report.reasks, report.needs_reask)
    _print_findings("expectations not met", report.unmet, report.unmet_expectations)


def print_comparison(comparison: Comparison, show: int) -> None:
    """Print what became worse and better since the baseline: `show` transcripts of each kind, and every figure."""
    if not (comparison.is_worse or comparison.passing or comparison.better):
        _print_line("compared with the baseline: nothing changed", style="bold")
        return
    for title, labels in (("fail now", comparison.failing), ("do not fail any more", comparison.passing)):
        if labels:
            _print_line(f"transcripts that {title}: {len(labels)}", style="bold")
            for label in labels[:show]:
                _print_line(f"  {label}")
            _print_more(len(labels[:show]) and len(labels) - show)
    for title, changes in (("worse", comparison.worse), ("better", comparison.better)):
        if changes:
            _print_line(f"{title} than the baseline", style="bold")
        for change in changes:
            _print_line(f"  {change.figure}: {change.before:.4f} -> {change.now:.4f}")


def report_skipped(reader: TranscriptReader, *, as_errors: bool) -> None:
    """Print what could not be read, as errors to standard error or as a part of the report."""
    if not as_errors and reader.skipped_count:
        _print_line(f"not read, skipped: {reader.skipped_count}", style="bold")
    for error in reader.skipped[:_MAX_SHOWN_ERRORS]:
        if as_errors:
            note(f"llmcore: error: {error}")
        else:
            _print_line(f"  {error}")
    more = reader.skipped_count - _MAX_SHOWN_ERRORS
    if as_errors and more > 0:
        note(f"llmcore: error: and {more} more")
    elif not as_errors:
        _print_more(more)


def _families(report: ScoreReport) -> Table:
    table = report_table(_FAMILY_COLUMNS, left={"family", "target"})
    for row in report.families:
        figures = (row.runs, row.units, _percent(row.success_rate), row.needs_reask, row.wrong)
        retries = "-" if row.retries_per_call is None else f"{row.retries_per_call:.2f}"
        table.add_row(plain(row.family), *map(str, figures), retries, _percent(row.fallback_share), _target(row))
    if len(report.families) > 1:
        table.add_section()
        success = _percent(report.succeeded / report.units if report.units else None)
        table.add_row("all", str(report.runs), str(report.units), success, str(report.needs_reask), str(report.wrong))
    return table


def _dialects(rows: Sequence[DialectRow]) -> Table:
    table = report_table(_DIALECT_COLUMNS, left={"dialect"})
    for row in rows:
        figures = (
            row.calls,
            row.as_written,
            row.lossless,
            row.coerced,
            row.guess,
            row.truncated,
            row.invalid,
            row.units,
        )
        success = _percent(row.succeeded / row.units if row.units else None)
        table.add_row(plain(row.dialect), *map(str, figures), success)
    return table


def _errors(report: ScoreReport) -> Table:
    table = report_table(("errors of calls", "as written", "after repairs"), left={"errors of calls"})
    for error, count in report.errors.items():
        table.add_row(error.replace("_", " "), *(_percent(part / report.calls) for part in (count.raw, count.repaired)))
    return table


def report_table(columns: Sequence[str], left: Container[str]) -> Table:
    """A table without a frame. The columns in `left` have words, the others figures."""
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right")
    return table


def _target(row: FamilyRow) -> Text:
    if not row.real_provider:
        return Text("local recording", style="dim")
    if not row.targets:
        return Text("-")
    missed = [_missed(verdict) for verdict in row.targets if not verdict.met]
    return Text("missed: " + ", ".join(missed), style="red") if missed else Text(_bars_met(row.targets), style="green")


def _bars_met(verdicts: Sequence[TargetVerdict]) -> str:
    success = next((verdict for verdict in verdicts if verdict.at_least), None)
    return f"met ({success.target:.0%})" if success else "met"


def _missed(verdict: TargetVerdict) -> str:
    target = f"{verdict.target:.1f}" if verdict.metric == "retries per call" else f"{verdict.target:.0%}"
    return f"{verdict.metric} {'<' if verdict.at_least else '>'} {target}"


def _percent(share: float | None) -> str:
    """The share rounded down to a tenth, so that 99.97 % does not become 100 %."""
    return "-" if share is None else f"{int(share * 1000 + 1e-9) / 10:.1f}%"


def _print_findings(title: str, findings: Sequence[Finding], count: int) -> None:
    if not count:
        return
    _print_line(f"{title}: {count}", style="bold")
    for finding in findings:
        _print_line(f"  {finding.where}")
        if finding.expected is None and finding.got is None:
            _print_line(f"    {shortened_line(finding.what)}")
        else:
            _print_line(f"    {finding.what}: expected {shortened_line(finding.expected)}")
            _print_line(f"    {' ' * len(finding.what)}  got      {shortened_line(finding.got)}")
    if findings:
        _print_more(count - len(findings))


def _print_more(more: int) -> None:
    if more > 0:
        _print_line(f"  and {more} more")


def _print_line(text: str, style: str = "") -> None:
    """Print one line without breaking it: the terminal wraps it, and a reader of a pipe can grep it."""
    write(Text(inline(text), style=style), wrap=False)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())


def plain(text: str) -> Text:
    """A cell with plain text: no markup, and control characters as escapes."""
    return Text(inline(text))
