"""`llmcore probe`: asks a model small questions in every output mode and shows what holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmcore.cli.output import fail, json_text, shortened, write

if TYPE_CHECKING:
    from llmcore import CapabilityStore
    from llmcore.models import ModelConfig, ModelRegistry
    from llmcore.run.probing import Finding, ProbeReport

__all__ = ["probe"]

_EXIT_NOT_ASKED = 1
_SHOWN = 300


def probe(
    model: Annotated[
        str,
        typer.Argument(
            help="PROVIDER/MODEL, an alias of the registry given by --models, or with --base-url a model's name.", metavar="MODEL"
        ),
    ],
    models: Annotated[
        Path | None, typer.Option(help="The model registry, a YAML file or folder.", envvar="LLMCORE_MODELS")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
    save: Annotated[bool, typer.Option("--save", help="Enter what was learnt in the store given by --store.")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            help="The store that runs share: a file, or the URL of a Redis.", metavar="FILE|URL", envvar="LLMCORE_CAPABILITIES"
        ),
    ] = None,
) -> None:
    """Ask a model small questions in every output mode, and show what holds: eight requests of a few tokens each.

    Exit code 0; 1: the model could not be asked, or what was learnt could not be saved; 2: the command or its configuration
    is wrong.
    """
    import asyncio

    if save and store is None:
        fail("--save needs --store FILE|URL (or $LLMCORE_CAPABILITIES): where the programs that use the model look for it")
    from llmcore import CapabilityStore

    shared = CapabilityStore(backend=store if save else None)
    registry, config = _configured(model, models, base_url)
    report = asyncio.run(_probed(registry, config, shared))
    saved = save and asyncio.run(_saved(report, shared))
    if as_json:
        write(json_text(_as_data(report, store if saved else None), indent=2))
    else:
        _print(report, store if saved else None)
    if save and not saved:
        fail("what was learnt could not be saved", _EXIT_NOT_ASKED)


def _configured(model: str, models: Path | None, base_url: str | None) -> tuple[ModelRegistry, ModelConfig]:
    from llmcore.adapters.providers import PROVIDERS
    from llmcore.models import ModelConfig, ModelRegistry

    if base_url is None:
        registry = ModelRegistry.load(model) if models is None else ModelRegistry.from_yaml(models)
        return registry, registry.get(model)
    if models is not None:
        fail("--base-url goes with a model's name; with --models the registry says where a model is served")
    provider, _, name = model.partition("/")
    if not name or provider.lower().replace("-", "_") not in PROVIDERS:
        provider, name = "openai_compatible", model
    config = ModelConfig(alias=model, provider=provider, model=name, base_url=base_url)
    return ModelRegistry([config]), config


async def _probed(registry: ModelRegistry, config: ModelConfig, store: CapabilityStore) -> ProbeReport:
    from llmcore import CallerError, LLMCoreError
    from llmcore.adapters.litellm.adapter import LiteLLMAdapter
    from llmcore.run.catalog import Catalog
    from llmcore.run.probing import probe as ask

    adapter = LiteLLMAdapter(store)
    try:
        return await ask(config, Catalog(registry, capabilities=store, adapter=adapter))
    except CallerError:
        raise
    except LLMCoreError as error:
        fail(f"{config.alias} cannot be asked: {type(error).__name__}: {error}", _EXIT_NOT_ASKED)
    finally:
        await adapter.close()


async def _saved(report: ProbeReport, store: CapabilityStore) -> bool:
    report.record(store)
    return await store.publish()


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


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "question": finding.question,
        "holds": finding.verdict,
        "detail": finding.detail,
        "asked": finding.asked,
        "learnt": finding.facts,
        "usage": finding.usage.model_dump(mode="json"),
    }


def _print(report: ProbeReport, saved_to: str | None) -> None:
    from llmcore.cli.tables import plain, report_table

    table = report_table(("question", "holds", "what came"), left={"question", "holds", "what came"})
    for finding in report.findings:
        table.add_row(*map(plain, (finding.question, finding.verdict, shortened(finding.detail, _SHOWN))))
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
