"""The section `gateway` of a configuration: keys of clients, limits, and how each model is served.

The section stands in the registry's file, beside `llm`. Unknown keys are errors. Keys are `SecretStr` and are never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.models import ModelRegistry
from llmcore.models.reading import files_of, gateway_section, parse_file, read_file
from llmcore.support.values.bounds import FROM_TEXT, Amount, PositiveAmount, PositiveCount, Switch
from llmcore.support.values.copies import Value
from llmcore.types import Budget, ConfigError

__all__ = ["GatewayLimits", "GatewaySettings", "Mode", "ModelSettings", "load_configuration", "settings_of"]

Mode = Literal["pass_through", "orchestrated"]
"""How requests to a model are answered.

`pass_through`: the request goes to the model's server on the wire that it came on, and the reply is rewritten.
`orchestrated`: an `Orchestrator` answers it, with output modes, corrections, fallback and a budget.
"""
_KEY = re.compile(r"[!-~]+")
_LEAST_KEY = 8
"""Characters of a client's key. A shorter one can be guessed."""


class _Section(Value):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, protected_namespaces=())


class GatewayLimits(_Section):
    """What one worker process accepts.

    `body`: bytes of a request's body, else 413. `messages`: messages or input items of a request, else 400. `in_flight`: requests
    at once, else 429. `requests_per_minute`: of one key, else 429; all of them may come at once. None = no limit.
    `body_timeout`: seconds in which a body must arrive, else 408.
    """

    body: PositiveCount = 32 * 1024 * 1024
    messages: PositiveCount = 10_000
    in_flight: PositiveCount = 512
    requests_per_minute: PositiveCount | None = None
    body_timeout: PositiveAmount = 60.0


class ModelSettings(_Section):
    """How one alias is served.

    `built_in_tools`: whether tools that a provider runs itself (`web_search`) are sent to a pass-through server. None: only to
    hosted providers. A server of your own would refuse the whole request.
    `stream`: how an orchestrated reply is streamed. `live`: text is sent as it comes; if a later attempt replaces it, that
    attempt's text follows. `held`: only text of the accepted attempt is sent, when it has ended.
    """

    mode: Mode = "pass_through"
    built_in_tools: Literal["pass", "drop"] | None = None
    stream: Literal["live", "held"] = "live"


class GatewaySettings(_Section):
    """The whole section.

    `keys`: the keys of clients by their names, which logs show. Without any, every request is accepted, and `llmcore serve`
    listens on loopback only, unless `anonymous` is True.
    `models`: settings by alias. `default`: those of all other aliases.
    `budget`: what each orchestrated request may spend; None = `Budget()`.
    `ping`: seconds between two signs of life in an orchestrated stream that has nothing to send.
    """

    keys: dict[str, SecretStr] = Field(default_factory=dict[str, SecretStr], repr=False)
    anonymous: Switch = False
    limits: GatewayLimits = GatewayLimits()
    models: dict[str, ModelSettings] = Field(default_factory=dict[str, ModelSettings])
    default: ModelSettings = ModelSettings()
    budget: Budget | None = None
    ping: Amount = 10.0

    @field_validator("keys")
    @classmethod
    def _check_keys(cls, keys: dict[str, SecretStr]) -> dict[str, SecretStr]:
        values = [key.get_secret_value() for key in keys.values()]
        remember(values)
        for name, value in zip(keys, values, strict=True):
            if len(value) < _LEAST_KEY:
                raise ValueError(f"the key of {name!r} is shorter than {_LEAST_KEY} characters")
            if not _KEY.fullmatch(value):
                raise ValueError(f"the key of {name!r} must be printable ASCII without blanks, as a header needs it")
        if len(set(values)) < len(values):
            raise ValueError("two names have one key; give each client its own")
        return keys

    def of(self, alias: str) -> ModelSettings:
        """The settings of an alias."""
        return self.models.get(alias, self.default)


def settings_of(section: Mapping[str, Any], aliases: list[str], source: str = "the given settings") -> GatewaySettings:
    """The settings in a section's data. Raises `ConfigError` for a wrong value, an unknown key and an unknown alias."""
    try:
        settings = GatewaySettings.model_validate(dict(section), context=FROM_TEXT)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(["gateway", *map(str, problem["loc"])])
        words = "unknown key" if problem["type"] == "extra_forbidden" else problem["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{source}: {where}: {words}") from None  # the cause would quote the input
    for alias in settings.models:
        if alias not in aliases:
            near = get_close_matches(alias, aliases, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(aliases)}"
            raise ConfigError(f"{source}: gateway.models.{alias}: the registry has no such model; {hint}")
    return settings


def load_configuration(path: str | os.PathLike[str]) -> tuple[ModelRegistry, GatewaySettings]:
    """The registry and the settings of a YAML file, or of a folder of which one file has a section `gateway`.

    Raises `ConfigError` that names the file, the key and the fix.
    """
    registry = ModelRegistry.from_yaml(path)
    found: dict[str, Any] = {}
    source = str(path)
    for file in files_of(Path(path)):
        section = gateway_section(parse_file(read_file(file), str(file)), str(file), os.environ)
        if section and found:
            raise ConfigError(f"{file}: gateway: {source} has this section too; keep one")
        if section:
            found, source = section, str(file)
    return registry, settings_of(found, registry.aliases, source)
