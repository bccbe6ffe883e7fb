"""`llmcore verify`: reports what an endpoint does to tool calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from llmcore.cli.helpers.model_choice import RegistryOption, completed_model, endpoint_of
from llmcore.cli.helpers.progress import steps
from llmcore.cli.output import EXIT_UNMET, as_json_text, exit_with_error, note, shortened_line, write

if TYPE_CHECKING:
    from llmcore.models import ModelConfig
    from llmcore.verifying import VerifyReport

__all__ = ["verify_command"]

_DETAIL = "the rule, or what was wrong first"
_TITLES = {"invalid_json": "InvalidJson", "unknown_name": "UnknownName", "schema_mismatch": "SchemaMismatch"}


def verify_command(
    endpoint: Annotated[
        str,
        typer.Argument(
            help="MODEL@URL of an OpenAI-compatible server, PROVIDER/MODEL, or an alias.",
            metavar="ENDPOINT",
            autocompletion=completed_model,
        ),
    ],
    reference: Annotated[
        str | None, typer.Option(help="An endpoint that gets the same questions, for the trigger F1.", metavar="ENDPOINT")
    ] = None,
    models: RegistryOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole report as JSON, with every reply, to send to the vendor.")
    ] = False,
) -> None:
    """Report what an endpoint does to tool calls: which rules it breaks, and how often, whole and streamed.

    Each case is asked whole and streamed: single and parallel calls, none, nested and non-ASCII arguments, no arguments, a forced
    tool, a result of a tool, reasoning. The command says beforehand how many requests it sends. It takes less than ten minutes.

    The rates InvalidJson, UnknownName and SchemaMismatch stand twice: of calls as they were sent, and after llmcore's repairs.
    With --reference, the trigger F1 says how well the endpoint agrees with the reference on when to call.

    Exit code 0: every rule holds; 1: a rule is broken, or the endpoint cannot be asked; 2: the command or its configuration is
    wrong.
    """
    import asyncio

    from llmcore.types import ConfigError, LLMCoreError
    from llmcore.verifying import request_count, time_limit

    config = endpoint_of(endpoint, models)
    other = endpoint_of(reference, models) if reference is not None else None
    total = request_count() * (1 if other is None else 2)
    places = " and ".join(each.endpoint.key.replace("|", " ") for each in (config, other) if each is not None)
    note(f"{total} requests to {places}, {time_limit() / 60:.0f} minutes at most")
    try:
        with steps("asking", total) as done:
            report = asyncio.run(_verified(config, other, done))
    except ConfigError:
        raise
    except LLMCoreError as error:
        exit_with_error(f"{endpoint} cannot be asked: {type(error).__name__}: {error}", EXIT_UNMET)
    if as_json:
        write(as_json_text(report.as_data(), indent=2))
    else:
        _print(report)
    if report.broken:
        raise typer.Exit(EXIT_UNMET)


async def _verified(config: ModelConfig, other: ModelConfig | None, done: Callable[[], None]) -> VerifyReport:
    from llmcore.adapters.litellm.adapter import LiteLLMAdapter
    from llmcore.verifying import verify

    adapter = LiteLLMAdapter()
    try:
        return await verify(config, adapter, reference=None if other is None else (other, adapter), done=done)
    finally:
        await adapter.close()


def _print(report: VerifyReport) -> None:
    from llmcore.cli.tables import plain, report_table
    from llmcore.verifying.rules import RULES

    table = report_table(("rule", "whole", "streamed", "holds", _DETAIL), left={"rule", "holds", _DETAIL})
    for name, result in report.rules.items():
        whole, streamed = (f"{kept}/{asked}" if asked else "-" for kept, asked in (result.whole, result.streamed))
        detail = shortened_line(result.example) if result.example else RULES[name].words
        table.add_row(name, whole, streamed, "yes" if result.holds else "no", plain(detail))
    write(table)
    write("")
    rates = report_table(("calls with an error", "raw", "repaired"), left={"calls with an error"})
    for error, (raw, left) in report.error_counts.items():
        rates.add_row(_TITLES[error], _share(raw, report.calls), _share(left, report.calls))
    write(rates)
    write("")
    if report.trigger is not None:
        write(f"trigger F1 against the reference: {report.trigger[0]:.2f} raw, {report.trigger[1]:.2f} as llmcore reads it")
    write(f"broken: {', '.join(report.broken) or 'nothing'}")
    usage = report.usage
    tokens = f"{usage.input_tokens} + {usage.output_tokens} tokens"
    write(f"{report.requests} requests, {report.calls} calls, {tokens}, {report.seconds:.1f} seconds")


def _share(count: int, of: int) -> str:
    return f"{count}/{of} ({100 * count / of:.0f}%)" if of else "-"
