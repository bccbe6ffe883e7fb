"""The models a program may use, by alias, from YAML or from names. File order is the order of selection.

A registry reads its files again when they change (it checks at most once a second). It logs a change that it cannot
read, and keeps the last good state. Thread-safe: a caller sees either all old models or all new ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.names import check_provider_names, is_provider_name
from llmcore.models.config import ModelConfig
from llmcore.models.reading import Document, build_models, document_of, files_of, read_document, read_file
from llmcore.models.selection import Needs, select
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.suggestions import describe_value
from llmcore.types import ConfigError, ModelNotFound
from llmcore.types.input.argument_errors import in_words, with_readable_errors
from llmcore.types.logs import logger

__all__ = ["ModelRegistry"]

_log = logger("models")
_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_BETWEEN_TRIES = 30.0
"""An unreadable change is tried again after this time, even if the files have not changed."""

Fingerprint = tuple[tuple[str, int, int, int], ...]


_SHORT_NAMES = {"local": "local/SmolLM2-135M-Instruct"}
"""Names of models that need no provider."""
_ADD = "add `llm: {models: {NAME: {provider: ..., model: ...}}}`"


def _shown(config: ModelConfig) -> Capabilities:
    return config.told


def _is_path(text: str) -> bool:
    """Does the text look like a path? The file need not exist."""
    return text.startswith((".", "/", "~", "\\")) or text.lower().endswith((".yaml", ".yml", ".json", "/"))


def _some(models: dict[str, ModelConfig], source: str) -> dict[str, ModelConfig]:
    if not models:
        raise ConfigError(f"{source}: there are no models in it; {_ADD}")
    return models


@in_words(only=("__init__",))
class ModelRegistry:
    """Models by alias. Make one with `load`, `from_yaml`, or from `ModelConfig`s."""

    def __init__(self, models: Iterable[ModelConfig] = ()) -> None:
        self._models: dict[str, ModelConfig] = {}
        if isinstance(models, str | os.PathLike | Mapping) or not hasattr(models, "__iter__"):
            raise ConfigError(
                "ModelRegistry takes ModelConfigs; ModelRegistry.load(...) reads a file, settings or a model's name"
            )
        for config in models:
            if not isinstance(config, ModelConfig):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
                raise ConfigError(
                    f"ModelRegistry takes ModelConfigs, not {type(config).__name__}; ModelRegistry.from_dict reads settings"
                )
            if config.alias in self._models:
                raise ConfigError(f"two models have the alias {config.alias!r}; rename one")
            self._models[config.alias] = config
        self._lock = ForkSafeLock()
        self._path: Path | None = None
        self._environ: Mapping[str, str] = os.environ
        self._seen: Fingerprint = ()
        self._looked = 0.0
        self._refused: Fingerprint | None = None
        self._tried = 0.0
        self._complaint: str | None = None

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str], *, environ: Mapping[str, str] | None = None) -> ModelRegistry:
        """Read a file or a folder of files: the sections `models`, `defaults` and `overrides`, under `llm:` or at the top.
        `${NAME}` comes from `environ` (default: the process's).

        Raises `ConfigError` that names file, key and fix, for an unknown or duplicate key or alias, a missing variable,
        or a bad value.
        """
        made = cls()
        made._path = Path(path)
        made._environ = os.environ if environ is None else environ
        made._seen = made._fingerprint()
        made._models = _some(made._read(), str(made._path))
        made._looked = time.monotonic()
        return made

    @classmethod
    @with_readable_errors
    def from_dict(cls, llm: Mapping[str, Any], *, environ: Mapping[str, str] | None = None) -> ModelRegistry:
        """The same from data in the form of a file: `{"models": {alias: {...}}, "defaults": ..., "overrides": ...}`,
        under `llm` or at the top."""
        if not isinstance(llm, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise ConfigError(
                f"ModelRegistry.from_dict takes a dict as {{'models': {{alias: {{...}}}}}}, not {describe_value(llm)}"
            )
        document = document_of(llm, "the given settings", os.environ if environ is None else environ)
        return cls(_some(build_models(document), "the given settings").values())

    @classmethod
    def load(
        cls, given: ModelRegistry | Mapping[str, Any] | str | os.PathLike[str], *, base_url: str | None = None
    ) -> ModelRegistry:
        """A registry from a registry, settings, a path to YAML, or a model as `provider/model`. The last gives a
        registry of one model, whose alias is that name. `local` is the model in this process (the extra `local`).

        `base_url`: where that model is served. If given, a name without a known provider (`qwen3`, `org/qwen3`) means a
        model on an OpenAI-compatible server.

        Raises `ConfigError`, also for a registry without models.
        """
        if isinstance(given, ModelRegistry):
            if not len(given):
                raise ConfigError(f"the registry has no models; {_ADD}")
            return given
        if isinstance(given, Mapping):
            return cls.from_dict(given)
        if not os.fspath(given).strip():
            raise ConfigError("the registry's name is empty; give a path to YAML, settings, or a model like 'openai/gpt-4o'")
        path = Path(given)
        if not isinstance(given, str) or (base_url is None and given not in _SHORT_NAMES and (_is_path(given) or path.exists())):
            return cls.from_yaml(path)
        provider, slash, model = _SHORT_NAMES.get(given, given).partition("/")
        if base_url is not None and (not model or not is_provider_name(provider)):
            provider, slash, model = "openai_compatible", "/", given
        if not (provider and slash and model):
            raise ConfigError(f"{given!r} is neither a file nor a model name with its provider; write it like 'openai/{given}'")
        config = ModelConfig(alias=given, provider=provider, model=model, base_url=base_url)
        try:
            check_provider_names(provider, model, base_url)
        except ConfigError as error:
            raise ConfigError(f"{given!r} is neither a file nor a model: {error}") from None
        return cls([config])

    @property
    def aliases(self) -> list[str]:
        return list(self._current())

    def get(self, alias: str) -> ModelConfig:
        """The model of an alias. Raises `ModelNotFound` that lists the aliases."""
        models = self._current()
        if alias not in models:
            near = get_close_matches(alias, models, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ModelNotFound(f"there is no model {alias!r}; {hint}the registry has: {', '.join(models) or 'none'}")
        return models[alias]

    def select(
        self,
        model: str | None = None,
        *,
        needs: Needs | None = None,
        capabilities: Callable[[ModelConfig], Capabilities] = _shown,
    ) -> ModelConfig:
        """The named model; without a name, the first in file order that meets `needs`.

        `capabilities` returns what a model can do, by default only what the registry says.
        Raises `ModelNotFound` that says what each model lacks.
        """
        return self.get(model) if model is not None else select(self, needs or Needs(), capabilities)

    def refresh(self) -> bool:
        """Check the files now, and apply a change. True if there was one. Raises `ConfigError` for a bad one."""
        if self._path is None:
            return False
        fingerprint = self._fingerprint()
        if fingerprint == self._seen:
            return False
        models = self._read()
        if self._models and not models:
            raise ConfigError(f"{self._path}: there are no models in it any more; is it still being written?")
        self._models, self._seen = models, fingerprint
        return True

    def _current(self) -> dict[str, ModelConfig]:
        if self._path is not None and time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            with self._lock:
                if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
                    self._reload_if_changed()
                    self._looked = time.monotonic()
        return self._models

    def _reload_if_changed(self) -> None:
        """Apply a change. Log an unreadable one once, and keep the last good state."""
        try:
            fingerprint = self._fingerprint()
            tried = self._refused == fingerprint and time.monotonic() - self._tried < _SECONDS_BETWEEN_TRIES
            if tried:
                return
            self._refused, self._tried = fingerprint, time.monotonic()
            self.refresh()
            self._refused = self._complaint = None
        except Exception as error:  # no request fails because the files are bad now
            complaint = f"{type(error).__name__}: {error}"
            if complaint != self._complaint:
                _log.warning("the registry's change was not applied, the last good state stays in use: %s", complaint)
            self._complaint = complaint

    def _files(self) -> list[Path]:
        assert self._path is not None  # called only for registries with files
        return files_of(self._path)

    def _fingerprint(self) -> Fingerprint:
        try:
            stats = [(str(file), file.stat()) for file in self._files()]
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be read: {error}") from error
        return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in stats)

    @with_readable_errors
    def _read(self) -> dict[str, ModelConfig]:
        merged = Document()
        for file in self._files():
            merged.add(read_document(read_file(file), str(file), self._environ))
        return build_models(merged)

    def __iter__(self) -> Iterator[ModelConfig]:
        return iter(list(self._current().values()))

    def __len__(self) -> int:
        return len(self._current())

    def __contains__(self, alias: object) -> bool:
        return alias in self._current()

    def __repr__(self) -> str:
        return f"ModelRegistry({list(self._models)})"
