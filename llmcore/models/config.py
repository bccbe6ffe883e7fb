"""One model of the registry: where it is, what it can do, how it is asked, and which models follow if it fails.

Field names are the keys of the YAML file. Unknown keys are errors. API keys are `SecretStr` and are never printed.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from llmcore.adapters.base import ApiKey, BaseUrl, Capabilities, Endpoint, Prices, SecretHeaders
from llmcore.models.deployment import Deployment
from llmcore.support.values.bounds import Count, PositiveAmount, PositiveCount, Switch
from llmcore.support.values.copies import Value, made
from llmcore.tools.config import ToolConfig
from llmcore.types import ConfigError, OutputMode
from llmcore.types.requests import TextCalls

__all__ = ["DEFAULT_MODES", "ModelConfig"]

DEFAULT_MODES: tuple[OutputMode, ...] = get_args(OutputMode)
"""The order in which output modes are tried: native_tools, json_schema, json_object, text."""

_ONLY_PLACE = ("",)
_NOTHING_DECLARED = Capabilities()
_PLACE_FIELDS = ("provider", "model", "api_key", "base_url", "extra_headers")


def _check_dialect(name: str) -> None:
    """Raises `ConfigError`, with the nearest name, for an unknown dialect."""
    from llmcore.normalizer import dialect  # imported only if a dialect is named

    try:
        dialect(name)
    except ConfigError as error:
        raise ConfigError(f"text_dialect: {error}") from None


class ModelConfig(Value):
    """One entry of `llm.models`. If you leave a capability None, the capability store decides, optimistically.

    `prices`: US dollars per million tokens. `preferred_modes`: the output modes to use, in this order.
    `prefer_native_tools` puts that mode first; `force_text_mode` leaves only `text`. `expect_xml`: the model writes
    calls as text although tools were offered. If no field above sets an order, llmcore tries `text` before
    `native_tools`. `max_retries`: requests to this model in one turn after the first, without re-asks (None = the
    budget's). `retry_with_different_format` False = no change of mode. `strict_json_instructions`: the prompt says
    what not to write ("no XML"). `escalates_to`: aliases, in order. `text_dialect`: the dialect to teach in the
    prompted modes. `timeout`: seconds for each read. `first_token_timeout`: seconds until the first piece of a stream
    (None = only `timeout`). `reasoning_open`: the chat template opens the reasoning, so replies start inside it.
    `neutralise_tokens`: a zero-width joiner breaks special tokens in outgoing text (`<|im_start|>` in a tool's result),
    and is removed from replies. None = only if the provider's row says that its servers tokenise them.
    `deployments`: places that serve the same model (see `Deployment`), asked in this order. If one fails by a fault or
    limit of its own, the next is asked.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False, hide_input_in_errors=True
    )

    alias: str
    provider: str = Field(min_length=1)
    model: str = Field(min_length=1)
    api_key: ApiKey | None = Field(default=None, repr=False)
    base_url: BaseUrl | None = Field(default=None, repr=False)
    supports_tools: Switch | None = None
    supports_web_search: Switch | None = None
    supports_images: Switch | None = None
    supports_files: Switch | None = None
    supports_audio: Switch | None = None
    context_window: PositiveCount | None = None
    max_output_tokens: PositiveCount | None = None
    prices: Prices | None = None
    preferred_modes: tuple[OutputMode, ...] = Field(default=DEFAULT_MODES, min_length=1)
    prefer_native_tools: Switch = False
    force_text_mode: Switch = False
    expect_xml: Switch = False
    max_retries: Count | None = None
    retry_with_different_format: Switch = True
    strict_json_instructions: Switch = False
    escalates_to: tuple[str, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    tools: ToolConfig = ToolConfig()
    text_dialect: str | None = None
    reasoning_open: Switch = False
    neutralise_tokens: Switch | None = None
    text_calls: TextCalls | None = None
    timeout: PositiveAmount = 60.0
    first_token_timeout: PositiveAmount | None = None
    extra_headers: SecretHeaders = Field(default_factory=dict[str, str], repr=False)

    @field_validator("api_key", "base_url", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("text_dialect")
    @classmethod
    def _dialect_exists(cls, name: str | None) -> str | None:
        """Raises `ConfigError` for an unknown dialect."""
        if name is not None:
            _check_dialect(name)
        return name

    @field_validator("provider", "model")
    @classmethod
    def _without_blanks(cls, value: str) -> str:
        if value != value.strip():
            raise PydanticCustomError("blanks", "has blanks at its ends; write the name without them")
        return value

    @field_validator("escalates_to", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("deployments")
    @classmethod
    def _check_names_differ(cls, value: tuple[Deployment, ...]) -> tuple[Deployment, ...]:
        names = _names(value)
        if len(set(names)) < len(names):
            raise ValueError("two deployments have one name; rename one")
        return value

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the deployments, in order; one empty name if there are none."""
        return _names(self.deployments) if self.deployments else _ONLY_PLACE

    def at(self, place: str) -> ModelConfig:
        """The model at the named place, without the other places. An unknown name means the first place."""
        if not self.deployments:
            return self
        names = _names(self.deployments)
        one = self.deployments[names.index(place) if place in names else 0]
        changes: dict[str, Any] = {name: getattr(one, name) for name in _PLACE_FIELDS if getattr(one, name) is not None}
        if one.provider not in (None, self.provider):
            changes = {"api_key": None, "base_url": None, "extra_headers": dict[str, str](), **changes}
        return self.model_copy(update={**changes, "deployments": ()})

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The output modes in the order of preference."""
        if self.force_text_mode:
            return ("text",)
        if self.prefer_native_tools:
            first: Literal["native_tools"] = "native_tools"
            return (first, *(mode for mode in self.preferred_modes if mode != first))
        return self.preferred_modes

    @property
    def orders_modes(self) -> bool:
        """Does the user set the order in which modes are tried?"""
        return self.force_text_mode or self.prefer_native_tools or "preferred_modes" in self.model_fields_set

    @property
    def endpoint(self) -> Endpoint:
        """What an adapter needs to reach the model, at its first place if it has several."""
        if self.deployments:
            return self.at("").endpoint
        return made(  # this model already checked each field
            Endpoint,
            provider=self.provider,
            model=self.model,
            alias=self.alias,
            api_key=self.api_key,
            base_url=self.base_url,
            context_window=self.context_window,
            max_output_tokens=self.max_output_tokens,
            prices=self.prices,
            extra_headers=dict(self.extra_headers),
        )

    @property
    def told(self) -> Capabilities:
        """What the user says the endpoint can do. It overrides what llmcore knows or learns."""
        if _CAPABILITY_FIELDS.isdisjoint(self.__pydantic_fields_set__):
            return _NOTHING_DECLARED
        fields = {
            "native_tools": self.supports_tools,
            "web_search": self.supports_web_search,
            "images": self.supports_images,
            "files": self.supports_files,
            "audio": self.supports_audio,
            "context_window": self.context_window,
            "max_output_tokens": self.max_output_tokens,
            "emits_text_calls": self.expect_xml or None,
            "text_dialect": self.text_dialect,
        }
        declared = {name: value for name, value in fields.items() if value is not None}
        return Capabilities.model_validate(declared) if declared else _NOTHING_DECLARED


_CAPABILITY_FIELDS = frozenset(
    {
        "supports_tools",
        "supports_web_search",
        "supports_images",
        "supports_files",
        "supports_audio",
        "context_window",
        "max_output_tokens",
        "expect_xml",
        "text_dialect",
    }
)
"""The fields that say what the endpoint can do."""


def _names(deployments: tuple[Deployment, ...]) -> tuple[str, ...]:
    return tuple(one.name or str(number) for number, one in enumerate(deployments, 1))
