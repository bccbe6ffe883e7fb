"""What llmcore believes of an endpoint, with the source of each belief. Computed on demand, never for a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.providers import provider_of
from llmcore.support.values.copies import Value

__all__ = ["Beliefs", "Layer", "Source", "ToolLimit", "beliefs_of"]

Source = Literal["registry", "override", "learnt", "adapter", "table", "litellm", "default"]
"""`registry`: the model's own settings. `override`: `CapabilityStore.override`. `learnt`: the endpoint's replies, or
`record_success` and `record_failure`. `adapter`: your own adapter. `table`: llmcore's table of providers. `litellm`:
LiteLLM's table of models. `default`: unknown, so it is tried."""

Layer = tuple[Source, Mapping[str, Any]]
"""What one source says: the fields of `Capabilities` that it knows."""

_REFUSED = "unsupported_parameters"
_SEARCH = "web_search"


class ToolLimit(Value):
    """A provider's limit on the tools of one request: a number of `tools`, or the `bytes` of their definitions.

    If `enforced`, the limit is verified, and larger requests are refused before they are sent (`enforce_limits=True` does so
    for other limits). `source` names where the figure comes from.
    """

    what: Literal["tools", "bytes"]
    most: int
    enforced: bool
    source: str


class Beliefs(Capabilities):
    """What llmcore believes of an endpoint. The fields of `Capabilities` hold the values that runs use.

    `sources` names the source of each field and of each refused parameter. `limits` are the limits on tools. `system_tools`
    are tools that the provider runs itself (`web_search`). `on_trial` are beliefs that rest on one reply; they are tried
    again after `CapabilityStore(trial=...)` seconds.
    """

    sources: Mapping[str, Source] = Field(default_factory=dict[str, Source])
    limits: tuple[ToolLimit, ...] = ()
    system_tools: tuple[str, ...] = ()
    on_trial: frozenset[str] = frozenset()


def beliefs_of(endpoint: Endpoint, believed: Capabilities, layers: Sequence[Layer], on_trial: Iterable[str]) -> Beliefs:
    """Return the believed values, each with the most trusted layer that says so. `layers` begins with the least trusted."""
    values = {name: getattr(believed, name) for name in Capabilities.model_fields}

    def source_of(name: str) -> Source:
        for source, says in reversed(layers):
            if name in says and says[name] == values[name]:
                return source
        return "default"

    def refuser_of(parameter: str) -> Source:
        for source, says in reversed(layers):
            if parameter in says.get(_REFUSED, ()):
                return source
        return "default"

    sources: dict[str, Source] = {name: source_of(name) for name in values if name != _REFUSED}
    sources |= {parameter: refuser_of(parameter) for parameter in sorted(believed.unsupported_parameters)}
    return Beliefs(
        **values,
        sources=sources,
        limits=_limits(endpoint, believed, sources["max_tools"]),
        system_tools=(_SEARCH,) if believed.web_search else (),
        on_trial=frozenset(on_trial),
    )


def _limits(endpoint: Endpoint, believed: Capabilities, source: Source) -> tuple[ToolLimit, ...]:
    found = [] if believed.max_tools is None else [ToolLimit(what="tools", most=believed.max_tools, enforced=True, source=source)]
    for one in provider_of(endpoint).serving(endpoint.model).limits:
        figures: tuple[tuple[Literal["tools", "bytes"], int | None], ...] = (
            ("tools", one.max_tools),
            ("bytes", one.max_tools_bytes),
        )
        for what, most in figures:
            if most is not None:
                found.append(ToolLimit(what=what, most=most, enforced=one.verified, source=one.source or "table"))
    return tuple(found)
