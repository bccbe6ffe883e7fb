"""Reads registry files: YAML, one file or a folder of them (a ConfigMap mount), with `${ENV}` filled in.

Every mistake raises a `ConfigError` that names the file, the key and the fix. No message quotes a value: it may be a
secret. Reading is bounded in time and memory for any file, and raises only `ConfigError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from llmcore.adapters.base import Prices
from llmcore.adapters.providers.names import check_provider_names
from llmcore.models.config import ModelConfig
from llmcore.models.deployment import Deployment
from llmcore.support.code.suggestions import nearest
from llmcore.support.values.bounds import FROM_TEXT
from llmcore.tools.config import ToolConfig
from llmcore.types import ConfigError, RetryConfig
from llmcore.types.limits import REGISTRY_LIMITS

__all__ = [
    "Document",
    "build_models",
    "document_of",
    "files_of",
    "gateway_section",
    "parse_file",
    "read_document",
    "read_file",
]

_REFERENCE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_MAX_FILES = 200
_MAX_MODELS = 2000
_MAX_OVERRIDES = 200
_MAX_NAME = 256
_MAX_FILLED = 65_536
"""Characters of one value after its variables are filled in."""
_NAMES_SHOWN = 20
_SUFFIXES = frozenset({".yaml", ".yml", ".json", ""})
_SECTIONS = ("defaults", "models", "overrides")
_OTHER_SECTION = "gateway"
"""A section beside `llm` that the registry does not read: `gateway_section` does."""
_FIELDS = sorted(set(ModelConfig.model_fields) - {"alias"})
_INNER = {
    "deployments": Deployment.model_fields,
    "prices": Prices.model_fields,
    "tools": ToolConfig.model_fields,
    "tools.retry": RetryConfig.model_fields,
}
"""The keys of nested settings."""


@dataclass(slots=True)
class Document:
    """The raw settings of one or several files, merged, with the source of each model for messages."""

    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    models: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    sources: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, other: Document) -> None:
        """Merge another file's content over this one. Raises `ConfigError` for an alias that both define."""
        for alias in other.models:
            if alias in self.models:
                raise ConfigError(
                    f"{other.sources[alias]}: llm.models.{alias}: "
                    f"the alias is already defined in {self.sources[alias]}; rename one"
                )
        self.defaults = _merged(self.defaults, other.defaults)
        self.overrides |= other.overrides
        self.models |= other.models
        self.sources |= other.sources


def files_of(path: Path) -> list[Path]:
    """The files of a registry: the file itself, or a folder's files by name, without dot files (Kubernetes' `..data`).

    Raises `ConfigError` if there is none.
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
        raise ConfigError(f"{path}: the folder has no .yaml or .yml file")
    if len(files) > _MAX_FILES:
        raise ConfigError(f"{path}: the folder has {len(files)} files, the limit is {_MAX_FILES}")
    return files


def read_file(path: Path) -> str:
    """The text of one file. Raises `ConfigError` if it is too large, is not UTF-8, or cannot be read."""
    limit = REGISTRY_LIMITS.size
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ConfigError(f"{path}: larger than {limit} bytes; is it a registry?")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_document(text: str, source: str, environ: Mapping[str, str]) -> Document:
    """Parse one file's text. Raises `ConfigError`."""
    return document_of(parse_file(text, source), source, environ)


def parse_file(text: str, source: str) -> Any:
    """The data of one file's text. Raises `ConfigError`."""
    from llmcore.yaml_data import YamlProblem, load_yaml  # PyYAML is imported only if there is a file to read

    try:
        return load_yaml(text, REGISTRY_LIMITS)
    except YamlProblem as problem:
        place = source if problem.line is None else f"{source}:{problem.line}"
        raise ConfigError(f"{place}: not a valid registry file: {problem.message}") from None


def gateway_section(data: Any, source: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """The section `gateway` of a file's data, with its variables filled in. Raises `ConfigError`."""
    section = _mapping(_mapping(data, source, "").get(_OTHER_SECTION), source, _OTHER_SECTION)
    return {name: _Filling(source, environ).value(value, f"{_OTHER_SECTION}.{name}", 1) for name, value in section.items()}


def document_of(data: Any, source: str, environ: Mapping[str, str]) -> Document:
    """The settings in the data of a file or caller: `defaults`, `models` and `overrides`, under `llm` or at the top.
    Copies `data` and does not change it. Raises `ConfigError`."""
    llm = _sections_of(_mapping(data, source, ""), source)
    filled = _Filling(source, environ)
    llm = {key: filled.value(value, f"llm.{key}", 1) for key, value in llm.items()}
    parts: dict[str, dict[str, Any]] = {name: _mapping(llm.get(name, {}), source, f"llm.{name}") for name in _SECTIONS}
    _known_keys(parts["defaults"], _FIELDS, source, "llm.defaults")
    for name in ("models", "overrides"):
        for key, settings in parts[name].items():
            parts[name][key] = _mapping(settings, source, f"llm.{name}.{key}")
            _known_keys(parts[name][key], _FIELDS, source, f"llm.{name}.{key}")
    document = Document(parts["defaults"], parts["overrides"], parts["models"], dict.fromkeys(parts["models"], source))
    _few_enough(document, source)
    return document


def _sections_of(root: dict[str, Any], source: str) -> dict[str, Any]:
    """The sections, under `llm` or at the top. Raises `ConfigError` for any other key there."""
    root.pop(_OTHER_SECTION, None)
    if "llm" not in root:
        _known_keys(root, ("llm", *_SECTIONS), source)
        return root
    _known_keys(root, ("llm",), source, hint=f"everything belongs under `llm:`, in {', '.join(_SECTIONS)}")
    llm = _mapping(root["llm"], source, "llm")
    _known_keys(llm, _SECTIONS, source, "llm")
    return llm


def _few_enough(document: Document, source: str) -> None:
    """Each override is compared with each model, so their numbers bound the time."""
    for what, found, limit in (
        ("models", len(document.models), _MAX_MODELS),
        ("overrides", len(document.overrides), _MAX_OVERRIDES),
    ):
        if found > limit:
            raise ConfigError(f"{source}: llm.{what}: {found} entries, the limit is {limit}")


def build_models(document: Document) -> dict[str, ModelConfig]:
    """The models in file order. A model's settings override the defaults. Overrides whose glob matches its alias, model
    name or `provider/model` override both. Raises `ConfigError`."""
    _few_enough(document, next(iter(document.sources.values()), "the registry"))
    models = {alias: _build(alias, document) for alias in document.models}
    for alias, config in models.items():
        if not alias or alias != alias.strip():
            raise ConfigError(
                f"{document.sources[alias]}: llm.models: the alias {_short(alias)!r} is empty or has blanks at its ends"
            )
        for target in config.escalates_to:
            if target == alias:
                raise ConfigError(
                    f"{document.sources[alias]}: llm.models.{alias}.escalates_to: names the model itself; name another, or leave "
                    "it out"
                )
            if target not in models:
                raise ConfigError(
                    f"{document.sources[alias]}: llm.models.{alias}.escalates_to: there is no model {_short(target)!r}; "
                    f"there are {_listed(models)}"
                )
    return models


def _build(alias: str, document: Document) -> ModelConfig:
    source, where = document.sources[alias], f"llm.models.{alias}"
    settings = _merged(document.defaults, document.models[alias])
    names = (alias, str(settings.get("model")), f"{settings.get('provider')}/{settings.get('model')}")
    for pattern, override in document.overrides.items():
        if any(fnmatchcase(name, pattern) for name in names):
            settings = _merged(settings, override)
    try:
        config = ModelConfig.model_validate({**settings, "alias": alias}, context=FROM_TEXT)
        for place in map(config.at, config.places):
            check_provider_names(place.provider, place.model, place.base_url)
        return config
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        key = ".".join([where, *(_short(str(part)) for part in problem["loc"])])
        hint = f"add `{problem['loc'][-1]}:`" if problem["type"] == "missing" else problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            hint = f"unknown key; {_nearest(problem['loc'])}"
        if problem["type"] == "literal_error" and (near := _nearest_value(error, problem["msg"])):
            hint += f"; did you mean {near!r}?"
        raise ConfigError(f"{source}: {key}: {hint}") from None  # the cause would quote the input
    except ConfigError as error:
        raise ConfigError(f"{source}: {where}: {error}") from None


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both else value
    return merged


def _mapping(value: Any, source: str, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: {where or 'the file'}: expected keys with values, got a {type(value).__name__}")
    settings = cast("Mapping[object, Any]", value)
    for key in settings:
        if not isinstance(key, str):
            raise ConfigError(f"{source}: {where or 'the file'}: the key {key!r} is not text; put it in quotes")
        if any("\ud800" <= sign <= "\udfff" for sign in key):
            raise ConfigError(f"{source}: {where or 'the file'}: the key {key!a} holds half of a surrogate pair")
        if len(key) > _MAX_NAME:
            raise ConfigError(f"{source}: {where or 'the file'}: the key {_short(key)!r} is longer than {_MAX_NAME} characters")
    return dict(cast("Mapping[str, Any]", settings))


def _known_keys(
    settings: Mapping[str, Any], known: tuple[str, ...] | list[str], source: str, where: str = "", *, hint: str = ""
) -> None:
    for key in settings:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ConfigError(f"{source}: {where}{'.' if where else ''}{_short(key)}: unknown key; {hint or fix}")


def _nearest(where: tuple[str | int, ...]) -> str:
    """The known key nearest to an unknown one inside a model's settings."""
    *outer, key = [str(part) for part in where if isinstance(part, str)]  # a number is an index of a list
    known = list(_INNER.get(".".join(outer), ()))
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def _nearest_value(error: ValidationError, words: str) -> str | None:
    """The allowed value in `words` nearest to the input of the first problem. The input itself is not shown."""
    given = error.errors(include_url=False)[0]["input"]
    return nearest(given, re.findall(r"'([^']+)'", words), 0.5) if isinstance(given, str) else None


def _short(text: str) -> str:
    return text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}..."


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _NAMES_SHOWN
    return ", ".join(every[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


class _Filling:
    """Copies settings with `${NAME}` and `${NAME:-default}` replaced in every text; `$${` means a literal `${`.

    An empty variable gets the default. Each value is counted, so data that repeats or contains itself raises a
    `ConfigError`.
    """

    def __init__(self, source: str, environ: Mapping[str, str]) -> None:
        self._source = source
        self._environ = environ
        self._count = 0

    def value(self, value: object, where: str, depth: int) -> Any:
        self._count += 1
        limits = REGISTRY_LIMITS
        if self._count > limits.values or depth > limits.depth:
            raise self._problem(where, f"more than {limits.values} values or {limits.depth} levels")
        if isinstance(value, Mapping):
            settings = _mapping(value, self._source, where)
            return {key: self.value(inner, f"{where}.{key}", depth + 1) for key, inner in settings.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner, where, depth + 1) for inner in cast("list[object]", value)]
        return self._text(value, where) if isinstance(value, str) and "${" in value else value

    def _text(self, text: str, where: str) -> str:
        """One pass over the text: each `${` is read once, whatever follows it."""
        rest, *references = text.split("${")
        parts = [rest]
        length = len(rest)
        for piece in references:
            if rest.endswith("$"):
                parts[-1] = parts[-1][:-1]
                parts.append("${")
                rest = piece
            else:
                inside, closer, rest = piece.partition("}")
                parts.append(self._variable(inside if closer else None, where))
            parts.append(rest)
            length += len(parts[-2]) + len(rest)
            if length > _MAX_FILLED:
                raise self._problem(where, f"longer than {_MAX_FILLED} characters after its variables are filled in")
        return "".join(parts)

    def _variable(self, inside: str | None, where: str) -> str:
        reference = _REFERENCE.fullmatch(inside) if inside is not None else None
        if reference is None:
            raise self._problem(
                where,
                "a `${` without a variable; write ${NAME} or ${NAME:-default} with a plain-text default; $${ gives `${`",
            )
        name, default = reference.groups()
        found = self._environ.get(name) or default
        if found is None:
            raise self._problem(
                where, f"the environment variable {_short(name)} is not set; set it, or write ${{{_short(name)}:-default}}"
            )
        return found

    def _problem(self, where: str, what: str) -> ConfigError:
        return ConfigError(f"{self._source}: {where}: {what}")
