"""What an endpoint can do: told by the user, learnt at run time, or known beforehand.

Order of trust: override > learnt (per endpoint, forgotten after 24 hours) > our provider table > LiteLLM's table >
optimistic defaults (None = try it). Capabilities belong to the endpoint (base URL and model), not to the model: two
servers of the same model differ.

Reads are synchronous, of this process only, and cost a few dict look-ups. `refresh` and `publish` share what was learnt
with other processes through any `SharedFacts` backend. Safe to use from several threads.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from cachetools import TLRUCache

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.providers import DEFAULT_DIALECT, provider_of, text_dialect
from llmcore.adapters.providers.model_table import litellm_entry, table_capabilities
from llmcore.types import ConfigError
from llmcore.types.locks import ForkSafeLock

__all__ = ["LEARNABLE", "CapabilityStore", "Fact", "SharedFacts", "known_capabilities"]

DAY = 86_400.0
LEARNABLE = frozenset(name for name, field in Capabilities.model_fields.items() if field.annotation == (bool | None))
"""The yes/no capabilities. Any other name given to `record_failure` is a request parameter that the endpoint
refuses."""


class Fact(NamedTuple):
    """One thing learnt of an endpoint. `learnt_at` is wall-clock time in seconds, so that processes can compare."""

    value: bool
    learnt_at: float


class SharedFacts(Protocol):
    """A backend that several processes learn through (Redis, a database): endpoint key -> capability -> fact."""

    async def load(self) -> Mapping[str, Mapping[str, Fact]]: ...

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None: ...


def _given(capabilities: Capabilities) -> dict[str, Any]:
    return capabilities.model_dump(exclude_unset=True, exclude_none=True)


def known_capabilities(endpoint: Endpoint) -> Capabilities:
    """What is known of an endpoint without asking it: the endpoint's own figures, our table, then LiteLLM's."""
    provider = provider_of(endpoint)
    ours = provider.capabilities
    row = provider.row(endpoint.model)
    merged = _given(table_capabilities(endpoint)) | _given(ours) | (_given(row.capabilities) if row else {})
    if provider.schema_flag and litellm_entry(endpoint).get(provider.schema_flag) is not True:
        merged |= {"json_schema": False, "schema_with_tools": False}
    figures = {"context_window": endpoint.context_window, "max_output_tokens": endpoint.max_output_tokens}
    merged |= {name: value for name, value in figures.items() if value is not None}
    merged.setdefault("text_dialect", text_dialect(endpoint.model) or DEFAULT_DIALECT)
    return Capabilities(**merged)


class CapabilityStore:
    """The one place that knows what endpoints can do.

    `table` gives what is known beforehand (an adapter's `capabilities`, by default our tables); `ttl` is in seconds;
    `backend` shares what is learnt. `clock` gives wall-clock seconds.
    """

    def __init__(
        self,
        *,
        table: Callable[[Endpoint], Capabilities] = known_capabilities,
        ttl: float = DAY,
        maxsize: int = 10_000,
        backend: SharedFacts | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table = table
        self._clock = clock
        self._backend = backend
        self._lock = ForkSafeLock()
        self._overrides: dict[str, Capabilities] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)  # of the facts, by endpoint key

        def expiry(key: tuple[str, str], fact: Fact, now: float) -> float:
            return fact.learnt_at + ttl

        self._facts: TLRUCache[tuple[str, str], Fact] = TLRUCache(maxsize=maxsize, ttu=expiry, timer=clock)

    def get(self, endpoint: Endpoint) -> Capabilities:
        """Everything known of an endpoint, the most trusted source first."""
        known, learnt = self._table(endpoint), self._learnt_capabilities(endpoint)
        merged = known.updated(learnt).model_copy(
            update={"unsupported_parameters": known.unsupported_parameters | learnt.unsupported_parameters}
        )
        with self._lock:
            override = self._overrides.get(endpoint.key) or self._overrides.get(endpoint.alias or endpoint.model)
        return merged.updated(override) if override else merged

    def override(self, endpoint: Endpoint | str, capabilities: Capabilities | None = None, **fields: Any) -> None:
        """Tell what an endpoint can do (also by its alias, model name or `Endpoint.key`), above everything known and
        learnt.

        Raises `ConfigError` for a field that is no capability.
        """
        unknown = fields.keys() - Capabilities.model_fields.keys()
        if unknown:
            raise ConfigError(
                f"no such capability: {', '.join(sorted(unknown))}; there are {', '.join(Capabilities.model_fields)}"
            )
        key = endpoint if isinstance(endpoint, str) else endpoint.key
        told = (capabilities or Capabilities()).updated(Capabilities(**fields))
        with self._lock:
            self._overrides[key] = self._overrides.get(key, Capabilities()).updated(told)

    def record_success(self, endpoint: Endpoint, capability: str) -> None:
        """The endpoint was seen to do it."""
        self._learn(endpoint, capability, True)

    def record_failure(self, endpoint: Endpoint, capability: str) -> None:
        """The endpoint refused it, or ignored it. A name outside `LEARNABLE` is a request parameter it refuses."""
        self._learn(endpoint, capability, False)

    def learnt(self, endpoint: Endpoint) -> dict[str, bool]:
        """What was learnt of an endpoint and is not yet forgotten, by capability or parameter."""
        with self._lock:
            found = ((name, self._facts.get((endpoint.key, name))) for name in self._names.get(endpoint.key, ()))
            return {name: fact.value for name, fact in found if fact is not None}

    def forget(self, endpoint: Endpoint) -> None:
        """Drop what was learnt of an endpoint; overrides stay."""
        with self._lock:
            for name in self._names.pop(endpoint.key, ()):
                self._facts.pop((endpoint.key, name), None)

    async def refresh(self) -> None:
        """Take over what other processes learnt; of two facts the later one stands. Does nothing without a backend."""
        if self._backend is None:
            return
        for key, facts in (await self._backend.load()).items():
            for name, fact in facts.items():
                self._keep((key, name), Fact(*fact))

    async def publish(self) -> None:
        """Give what was learnt here to other processes. Does nothing without a backend."""
        if self._backend is None:
            return
        shared: dict[str, dict[str, Fact]] = {}
        for (key, name), fact in self._snapshot():
            shared.setdefault(key, {})[name] = fact
        await self._backend.save(shared)

    def _learn(self, endpoint: Endpoint, capability: str, value: bool) -> None:
        self._keep((endpoint.key, capability), Fact(value, self._clock()))

    def _keep(self, key: tuple[str, str], fact: Fact) -> None:
        with self._lock:
            known = self._facts.get(key)
            if known is None or known.learnt_at <= fact.learnt_at:
                self._facts[key] = fact
                self._names[key[0]].add(key[1])

    def _snapshot(self) -> list[tuple[tuple[str, str], Fact]]:
        with self._lock:
            self._facts.expire()
            return list(self._facts.items())

    def _learnt_capabilities(self, endpoint: Endpoint) -> Capabilities:
        facts = self.learnt(endpoint)
        known: dict[str, Any] = {name: value for name, value in facts.items() if name in LEARNABLE}
        refused = frozenset(name for name, value in facts.items() if name not in LEARNABLE and not value)
        if refused:
            known["unsupported_parameters"] = refused
        return Capabilities(**known)
