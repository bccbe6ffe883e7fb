"""`llmcore models`: lists the models of a registry, in the order of selection. It never shows a key, only whether there
is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmcore.cli.output import as_json_text, write
from llmcore.support.code.suggestions import dollars

if TYPE_CHECKING:
    from llmcore.models import ModelConfig

__all__ = ["models"]

_COLUMNS = ("alias", "model", "modes", "tools", "web search", "window", "prices", "key", "escalates to")


def models(
    path: Annotated[
        Path,
        typer.Argument(help="The registry: a YAML file or a folder of them.", metavar="PATH", envvar="LLMCORE_MODELS"),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the models as JSON.")] = False,
) -> None:
    """List the models of a registry.

    Exit code 0; 2: the registry cannot be read.
    """
    from llmcore.models import ModelRegistry

    registry = ModelRegistry.from_yaml(path)
    if as_json:
        write(as_json_text([_as_data(config) for config in registry], indent=2))
        return
    _print_table(list(registry))


def _as_data(config: ModelConfig) -> dict[str, Any]:
    """Everything except the key and the headers, which may contain a key."""
    return {
        **config.model_dump(mode="json", exclude={"api_key", "extra_headers"}),
        "modes": list(config.modes),
        "has_api_key": config.api_key is not None,
        "deployments": [
            one.model_dump(mode="json", exclude={"api_key", "extra_headers"}) | {"has_api_key": one.api_key is not None}
            for one in config.deployments
        ],
    }


def _print_table(configs: list[ModelConfig]) -> None:
    from llmcore.cli.tables import plain, report_table

    table = report_table(_COLUMNS, left=set(_COLUMNS) - {"window", "prices"})
    for config in configs:
        table.add_row(*map(plain, _cells(config)))
    write(table)


def _cells(config: ModelConfig) -> tuple[str, ...]:
    prices = config.prices
    return (
        config.alias,
        f"{config.provider}/{config.model}{_where(config)}",
        ", ".join(config.modes),
        _capability_lines(config.supports_tools),
        _capability_lines(config.supports_web_search),
        f"{config.context_window:,}" if config.context_window else "-",
        f"{_price(prices.input)} / {_price(prices.output)}" if prices else "-",
        "yes" if config.api_key is not None else "-",
        ", ".join(config.escalates_to) or "-",
    )


def _where(config: ModelConfig) -> str:
    if config.deployments:
        return f" at {', '.join(config.places)}"
    return f" at {config.endpoint.shown_url}" if config.base_url else ""


def _capability_lines(known: bool | None) -> str:
    return "-" if known is None else "yes" if known else "no"


def _price(price: float | None) -> str:
    return "?" if price is None else dollars(price)
