"""The model that a command's arguments name, and the arguments and options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmcore.cli.output import exit_with_error

if TYPE_CHECKING:
    from llmcore.models import ModelConfig, ModelRegistry

__all__ = [
    "BaseUrlOption",
    "ModelArgument",
    "RegistryOption",
    "SystemOption",
    "ToolsOption",
    "chosen_model",
    "completed_model",
    "endpoint_of",
]


def chosen_model(model: str, models: Path | None, base_url: str | None) -> tuple[ModelRegistry, ModelConfig]:
    """The registry and the model: an alias of the registry at `models`, or a model's name, served at `base_url`."""
    from llmcore.models import ModelRegistry

    if models is not None and base_url is not None:
        exit_with_error("use --base-url with a model's name; with --models the registry says where a model is served")
    registry = ModelRegistry.load(model, base_url=base_url) if models is None else ModelRegistry.from_yaml(models)
    return registry, registry.get(model)


def completed_model(ctx: typer.Context, incomplete: str) -> list[str]:
    """For the shell's completion: the aliases of the registry of `--models` or $LLMCORE_MODELS that begin so."""
    from llmcore.models import ModelRegistry

    given: Any = ctx.params.get("models") or os.environ.get("LLMCORE_MODELS")
    try:
        return [config.alias for config in ModelRegistry.from_yaml(given) if config.alias.startswith(incomplete)] if given else []
    except Exception:  # a shell has no place for an error
        return []


def endpoint_of(given: str, models: Path | None) -> ModelConfig:
    """The model that `given` names: MODEL@URL, an alias of the registry at `models`, or PROVIDER/MODEL.

    Of a model with several deployments, the first.
    """
    model, at, url = given.rpartition("@")
    is_place = bool(at) and url.startswith(("http://", "https://"))
    _, config = chosen_model(model, None, url) if is_place else chosen_model(given, models, None)
    return config.at(config.places[0])


ModelArgument = Annotated[
    str,
    typer.Argument(
        help="PROVIDER/MODEL, `local`, an alias of the registry given by --models, or with --base-url a model's name.",
        metavar="MODEL",
        autocompletion=completed_model,
    ),
]
RegistryOption = Annotated[Path | None, typer.Option(help="The model registry, a YAML file or folder.", envvar="LLMCORE_MODELS")]
BaseUrlOption = Annotated[str | None, typer.Option(help="Where the model is served.")]
ToolsOption = Annotated[
    str | None,
    typer.Option(
        help="The tools to offer. Functions of a module run; tools of a JSON file are only offered.",
        metavar="FILE|MODULE:OBJECT",
    ),
]
SystemOption = Annotated[str | None, typer.Option(help="The system prompt.")]
