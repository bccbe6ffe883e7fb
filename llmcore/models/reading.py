"""Registry files as data: YAML, one file or a folder of them (a ConfigMap mount), with `${ENV}` filled in.

Everything wrong is a `ConfigError` that names the file, the key and the fix. No value of a key is quoted: it may be a
secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from llmcore.models.config import ModelConfig
from llmcore.types import ConfigError

__all__ = ["Document", "build_models", "files_of", "read_document"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SUFFIXES = frozenset({".yaml", ".yml", ".json", ""})
_SECTIONS = ("defaults", "models", "overrides")
_FIELDS = sorted(set(ModelConfig.model_fields) - {"alias"})


@dataclass(slots=True)
class Document:
    """One or several files, merged: raw settings with their source for messages."""

    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    models: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    sources: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, other: Document) -> None:
        """Lay another file's content on top. Raises `ConfigError` for an alias that both define."""
        for alias in other.models.keys() & self.models.keys():
            raise ConfigError(
                f"{other.sources[alias]}: llm.models.{alias}: the alias is already defined in {self.sources[alias]}; rename one"
            )
        self.defaults = _laid_over(self.defaults, other.defaults)
        self.overrides |= other.overrides
        self.models |= other.models
        self.sources |= other.sources


def files_of(path: Path) -> list[Path]:
    """The files of a registry: the file itself, or a folder's by name. Kubernetes' `..data` and other dot files are
    skipped.

    Raises `ConfigError` when there is none.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ConfigError(f"{path}: no such file or folder; give the registry's YAML file, or a model as provider/model")
    found = sorted(
        (entry for entry in path.iterdir() if not entry.name.startswith(".") and entry.is_file()),
        key=lambda entry: entry.name,
    )
    files = [entry for entry in found if entry.suffix.lower() in _SUFFIXES]
    if not files:
        raise ConfigError(f"{path}: the folder holds no .yaml or .yml file")
    return files


def read_document(text: str, source: str, environ: Mapping[str, str]) -> Document:
    """Parse one file's text. Raises `ConfigError`."""
    from llmcore.models.yaml_loading import load_yaml  # PyYAML only where there is a file to read

    root = _mapping(load_yaml(text, source), source, "")
    llm = _mapping(root.get("llm", {}), source, "llm")
    if unknown := sorted(root.keys() - {"llm"}):
        raise ConfigError(f"{source}: {unknown[0]}: unknown key; everything stands under `llm:` with {', '.join(_SECTIONS)}")
    _known_keys(llm, _SECTIONS, source, "llm")
    llm = {key: _filled(value, source, f"llm.{key}", environ) for key, value in llm.items()}
    parts: dict[str, dict[str, Any]] = {name: _mapping(llm.get(name, {}), source, f"llm.{name}") for name in _SECTIONS}
    _known_keys(parts["defaults"], _FIELDS, source, "llm.defaults")
    for name in ("models", "overrides"):
        for key, settings in parts[name].items():
            parts[name][key] = _mapping(settings, source, f"llm.{name}.{key}")
            _known_keys(parts[name][key], _FIELDS, source, f"llm.{name}.{key}")
    return Document(parts["defaults"], parts["overrides"], parts["models"], dict.fromkeys(parts["models"], source))


def build_models(document: Document) -> dict[str, ModelConfig]:
    """The models in file order: defaults, below the model's own settings, below the overrides whose glob fits its
    alias, its model name or `provider/model`. Raises `ConfigError`."""
    models = {alias: _build(alias, document) for alias in document.models}
    for alias, config in models.items():
        for target in config.escalates_to:
            if target not in models:
                raise ConfigError(
                    f"{document.sources[alias]}: llm.models.{alias}.escalates_to: there is no model {target!r}; "
                    f"there are {', '.join(models)}"
                )
    return models


def _build(alias: str, document: Document) -> ModelConfig:
    source, where = document.sources[alias], f"llm.models.{alias}"
    settings = _laid_over(document.defaults, document.models[alias])
    names = (alias, str(settings.get("model")), f"{settings.get('provider')}/{settings.get('model')}")
    for pattern, override in document.overrides.items():
        if any(fnmatchcase(name, pattern) for name in names):
            settings = _laid_over(settings, override)
    try:
        return ModelConfig.model_validate({**settings, "alias": alias})
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        key = ".".join([where, *map(str, problem["loc"])])
        hint = f"add `{problem['loc'][-1]}:`" if problem["type"] == "missing" else problem["msg"]
        raise ConfigError(f"{source}: {key}: {hint}") from None  # the cause would quote the input
    except ConfigError as error:
        raise ConfigError(f"{source}: {where}: {error}") from None


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _laid_over(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both else value
    return merged


def _mapping(value: Any, source: str, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{source}: {where or 'the file'}: expected keys with values, got a {type(value).__name__}")
    return {str(key): inner for key, inner in cast("dict[object, Any]", value).items()}


def _known_keys(settings: Mapping[str, Any], known: tuple[str, ...] | list[str], source: str, where: str) -> None:
    for key in settings:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ConfigError(f"{source}: {where}.{key}: unknown key; {hint}")


def _filled(value: object, source: str, where: str, environ: Mapping[str, str]) -> Any:
    """The value with `${NAME}` and `${NAME:-default}` replaced in every string."""
    if isinstance(value, dict):
        return {key: _filled(inner, source, f"{where}.{key}", environ) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(inner, source, where, environ) for inner in cast("list[object]", value)]
    if not isinstance(value, str):
        return value

    def fill(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = environ.get(name) or default
        if found is None:
            raise ConfigError(
                f"{source}: {where}: the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
        return found

    return _VARIABLE.sub(fill, value)
