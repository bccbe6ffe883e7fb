"""`llmcore probe`: asks a model small questions in every output mode and shows what works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmcore.cli.helpers.model_choice import BaseUrlOption, ModelArgument, RegistryOption, chosen_model
from llmcore.cli.helpers.progress import spinner
from llmcore.cli.output import as_json_text, exit_with_error, inline, note, shortened_line, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llmcore import CapabilityStore
    from llmcore.models import ModelConfig, ModelRegistry
    from llmcore.run.asking.probing import ProbeFinding, ProbeReport

__all__ = ["probe_command"]

_EXIT_NOT_ASKED = 1
_SHOWN = 300


def probe_command(
    model: ModelArgument,
    models: RegistryOption = None,
    base_url: BaseUrlOption = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds for each request, once it can be sent. Default: the model's timeout.", metavar="SECONDS", min=0.001
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    save: Annotated[bool, typer.Option("--save", help="Save what was learnt in the store of --store.")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            help="The store that runs share: a file, or a Redis URL.", metavar="FILE|URL", envvar="LLMCORE_CAPABILITIES"
        ),
    ] = None,
) -> None:
    """Ask a model small questions in every output mode, and show what works: eight requests of a few tokens each.

    If an alias has several deployments, each is asked.

    Exit code 0; 1: the model or one of its deployments could not be asked, or the results could not be saved; 2: the
    command or its configuration is wrong.
    """
    import asyncio

    if save and store is None:
        exit_with_error(
            "--save needs --store FILE|URL (or $LLMCORE_CAPABILITIES): the store that the programs with this model read"
        )
    from llmcore import CapabilityStore

    shared = CapabilityStore(backend=store if save else None)
    registry, config = chosen_model(model, models, base_url)
    with spinner(f"asking {inline(config.alias)}"):
        asked = _asked_or_failed(registry, config, shared, timeout)
    found = {place: report for place, report in asked.items() if not isinstance(report, str)}
    saved = save and asyncio.run(_saved(list(found.values()), shared))
    saved_to = store if saved else None
    if as_json:
        write(
            as_json_text(
                _as_data(found[""], saved_to) if config.places == ("",) else _of_places(config, asked, saved_to), indent=2
            )
        )
    else:
        _print_all(config, asked, saved_to)
    if save and not saved:
        exit_with_error("what was learnt could not be saved", _EXIT_NOT_ASKED)
    if len(found) < len(asked):
        exit_with_error(
            f"{len(asked) - len(found)} of {len(asked)} deployments of {config.alias} could not be asked", _EXIT_NOT_ASKED
        )


def _asked_or_failed(
    registry: ModelRegistry, config: ModelConfig, store: CapabilityStore, timeout: float | None
) -> dict[str, ProbeReport | str]:
    import asyncio

    from llmcore import CallerError, LLMCoreError

    try:
        return asyncio.run(_asked(registry, config, store, timeout))
    except CallerError:
        raise
    except LLMCoreError as error:
        exit_with_error(f"{config.alias} cannot be asked: {type(error).__name__}: {error}", _EXIT_NOT_ASKED)


async def _asked(
    registry: ModelRegistry, config: ModelConfig, store: CapabilityStore, timeout: float | None
) -> dict[str, ProbeReport | str]:
    """The report of each place of the model, by the name of its deployment; for a failure, the error as text."""
    from llmcore import LLMCoreError, Orchestrator

    asked: dict[str, ProbeReport | str] = {}
    async with Orchestrator(registry, capabilities=store) as orchestrator:
        for place in config.places:
            try:
                asked[place] = await orchestrator.probe(config.alias, deployment=place or None, timeout=timeout)
            except LLMCoreError as error:
                if not config.deployments:
                    raise
                asked[place] = f"{type(error).__name__}: {error}"
    return asked


async def _saved(reports: Sequence[ProbeReport], store: CapabilityStore) -> bool:
    for report in reports:
        report.record(store)
    return await store.publish()


def _of_places(config: ModelConfig, asked: Mapping[str, ProbeReport | str], saved_to: str | None) -> dict[str, Any]:
    places: list[dict[str, Any]] = []
    for place, report in asked.items():
        error = {"endpoint": config.at(place).endpoint.key, "error": report}
        places.append({"deployment": place, **(error if isinstance(report, str) else _as_data(report, saved_to))})
    return {"model": config.alias, "deployments": places, "saved": saved_to is not None}


def _as_data(report: ProbeReport, saved_to: str | None) -> dict[str, Any]:
    return {
        "model": report.config.alias,
        "endpoint": report.config.endpoint.key,
        "findings": [_finding(finding) for finding in report.findings],
        "modes": list(report.modes),
        "learnt": report.facts,
        "requests": report.requests,
        "usage": report.usage.model_dump(mode="json"),
        "saved": saved_to is not None,
    }


def _finding(finding: ProbeFinding) -> dict[str, Any]:
    return {
        "question": finding.question,
        "holds": finding.verdict,
        "detail": finding.detail,
        "asked": finding.asked,
        "learnt": finding.facts,
        "usage": finding.usage.model_dump(mode="json"),
    }


def _print_all(config: ModelConfig, asked: Mapping[str, ProbeReport | str], saved_to: str | None) -> None:
    for number, (place, report) in enumerate(asked.items(), 1):
        if config.deployments:
            write(f"{config.alias}, deployment {place} ({number} of {len(asked)}), at {config.at(place).endpoint.place}:")
        if isinstance(report, str):
            note(f"{config.alias}, deployment {place} cannot be asked: {report}")
        else:
            _print(report, saved_to)
        if number < len(asked):
            write("")


def _print(report: ProbeReport, saved_to: str | None) -> None:
    from llmcore.cli.tables import plain, report_table

    table = report_table(("question", "holds", "what came"), left={"question", "holds", "what came"})
    for finding in report.findings:
        table.add_row(*map(plain, (finding.question, finding.verdict, shortened_line(finding.detail, _SHOWN))))
    write(table)
    write("")
    learnt = (f"{name} {'yes' if holds else 'no'}" for name, holds in sorted(report.facts.items()))
    write(f"output modes that hold: {', '.join(report.modes) or 'none'}")
    write(f"learnt: {', '.join(learnt) or 'nothing'}{' (saved)' if saved_to else ''}")
    write(_cost(report))


def _cost(report: ProbeReport) -> str:
    usage = report.usage
    cost = "the cost is unknown (no price of this model is known)" if usage.cost is None else f"${usage.cost:.6f}"
    return f"{report.requests} requests, {usage.input_tokens} + {usage.output_tokens} tokens, {cost}"
