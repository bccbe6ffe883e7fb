"""One alias's model at several places: the settings of each place."""

from __future__ import annotations

from pydantic import ConfigDict, Field, field_validator

from llmcore.adapters.base import ApiKey, BaseUrl, SecretHeaders
from llmcore.support.values.copies import Value

__all__ = ["Deployment"]


class Deployment(Value):
    """One entry of an alias's `deployments`; llmcore asks them in order. A field left out has the alias's value. For key,
    URL and headers, this holds only if the provider is the same: no other provider gets the key. `name`: its name in
    attempts and logs; None = its number in the list, from 1."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False, hide_input_in_errors=True
    )

    name: str | None = Field(default=None, min_length=1, max_length=64)
    provider: str | None = Field(default=None, min_length=1)
    model: str | None = Field(default=None, min_length=1)
    api_key: ApiKey | None = Field(default=None, repr=False)
    base_url: BaseUrl | None = Field(default=None, repr=False)
    extra_headers: SecretHeaders | None = Field(default=None, repr=False)

    @field_validator("api_key", "base_url", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value
