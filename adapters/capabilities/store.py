"""`CapabilityStore`: combines everything known about what endpoints can do.

Sources, the most trusted first: overrides by the user, learned facts (per endpoint, for 24 hours), llmcore's table of
providers, LiteLLM's table, and optimistic defaults (None: try it). Capabilities belong to an endpoint (base URL and model),
not to a model, since two servers of one model differ.

A single refusal is believed for some minutes and then tried again: the server may have quoted the user's words, or refused
something else. A second refusal proves it until it is forgotten. A refusal that does not say what is refused only creates a
doubt. The doubt lasts until the same parts are refused again, or the endpoint accepts them.

Reads are synchronous, concern only this process, and cost a few dict look-ups. `refresh` and `publish` share facts with other
processes through a backend. Nothing that a backend does ends a run: the store waits at most `patience` seconds, warns once,
and then does not use the backend for a while. Thread-safe.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from cachetools import TLRUCache, TTLCache

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities.beliefs import Beliefs, Layer, beliefs_of
from llmcore.adapters.capabilities.breaker import Breaker
from llmcore.adapters.capabilities.facts import (
    DAY,
    LEARNABLE,
    MAX_CLOCK_SKEW,
    PARAMETERS,
    TRIAL,
    Fact,
    SharedFacts,
    check_name,
    doubt_fact,
    doubted_capability,
    fact_of,
    is_learnable,
    tool_limit_of,
)
from llmcore.adapters.capabilities.file_facts import FileFacts
from llmcore.adapters.capabilities.known import known_capabilities, known_fields, known_layers
from llmcore.adapters.capabilities.redis_facts import RedisFacts
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.copies import updated
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import Kind, check_kinds, in_words
from llmcore.types.logs import logger

__all__ = ["CapabilityStore", "shared_facts"]

_Name = tuple[str, str]
"""An endpoint's key, and a capability or parameter."""

_RUN_SHARE = 0.25
"""The share of a run's remaining time that one exchange with the backend may take."""
_FAILURE_AFTER = 0.2
"""A backend that takes longer than this many seconds has failed, even if the run had less time."""

_log = logger("capabilities")


def shared_facts(where: str | os.PathLike[str]) -> SharedFacts:
    """Return the backend for a Redis URL, else for the path of a file. Raises `ConfigError`."""
    if isinstance(where, str) and "://" in where:
        return RedisFacts(where)
    return FileFacts(where)


_KINDS = {
    "table": Kind(callable, "a function of an Endpoint that gives its Capabilities"),
    "ttl": Kind(is_amount, "a finite number of seconds of at least 0"),
    "trial": Kind(is_amount, "a finite number of seconds of at least 0"),
    "maxsize": Kind(lambda value: isinstance(value, int) and is_amount(value) and value > 0, "a whole number of at least 1"),
    "fresh_for": Kind(is_amount, "a finite number of seconds of at least 0"),
    "patience": Kind(is_amount, "a finite number of seconds of at least 0"),
    "clock": Kind(callable, "a function that gives wall-clock seconds"),
}


@dataclass(slots=True)
class _Believed:
    """What is believed of an endpoint between two times, unless more is learned."""

    since: float
    until: float
    facts: dict[str, bool]
    _merged: tuple[Capabilities, Capabilities] | None = None
    """The capabilities of the last query, and these combined with the facts."""

    def over(self, known: Capabilities) -> Capabilities:
        """The known capabilities, combined with the learned facts."""
        if not self.facts:
            return known
        merged = self._merged
        if merged is None or merged[0] is not known:
            merged = self._merged = (known, _with_learnt(known, self.facts))
        return merged[1]


@in_words(only=("__init__",))
class CapabilityStore:
    """What endpoints can do.

    `table` returns what is known in advance (an adapter's `capabilities`; by default, llmcore's tables). `ttl` is the age in
    seconds at which a learned fact is forgotten; `trial` is the age at which an unproven one is tried again. `backend` shares
    facts: a `SharedFacts`, a Redis URL (`redis://host/0`) or the path of a file.

    `fresh_for` is how many seconds a run uses what was last read from the backend, and how long a failed backend is not used.
    `patience` is the most seconds for one exchange. `clock` returns wall-clock seconds. Raises `ConfigError` for an invalid
    setting.
    """

    def __init__(
        self,
        *,
        table: Callable[[Endpoint], Capabilities] = known_capabilities,
        ttl: float = DAY,
        trial: float = TRIAL,
        maxsize: int = 10_000,
        backend: SharedFacts | str | os.PathLike[str] | None = None,
        fresh_for: float = 30.0,
        patience: float = 2.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        settings: dict[str, object] = {"table": table, "ttl": ttl, "trial": trial, "maxsize": maxsize}
        check_kinds("CapabilityStore", {**settings, "fresh_for": fresh_for, "patience": patience, "clock": clock}, _KINDS)
        self._table = table
        self._clock = clock
        self._trial, self._ttl = trial, ttl
        self._backend = shared_facts(backend) if isinstance(backend, str | os.PathLike) else backend
        if self._backend is not None and not isinstance(self._backend, SharedFacts):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError("a backend of capabilities has the methods load() and save(facts), or is a Redis URL or a path")
        self._fresh_for, self._patience = fresh_for, patience
        self._lock = ForkSafeLock()
        self._overrides: dict[str, Capabilities] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)  # names of facts, by endpoint key

        def expiry(key: _Name, fact: Fact, now: float) -> float:
            return fact.learnt_at + ttl

        self._facts: TLRUCache[_Name, Fact] = TLRUCache(maxsize=maxsize, ttu=expiry, timer=clock)
        self._forgotten: TTLCache[str, float] = TTLCache(maxsize=maxsize, ttl=ttl, timer=clock)
        self._believed: dict[str, _Believed] = {}  # by endpoint key, only with learned facts
        self._doubted: set[str] = set()  # endpoint keys with doubts
        self._unshared: dict[_Name, Fact] = {}
        self._fresh_until: float | None = None  # by the monotonic clock
        self._breaker = Breaker(fresh_for, _log, time.monotonic)

    def get(self, endpoint: Endpoint | str) -> Beliefs:
        """Return what is believed of an endpoint, with the source of each belief (`Beliefs.sources`), limits and system
        tools.

        Only an orchestrator's store knows the aliases of its registry: `orchestrator.capabilities.get("fast")`. This method
        raises `ConfigError` for a name.
        """
        if not isinstance(endpoint, Endpoint):
            raise ConfigError(
                f"this store knows endpoints, not {endpoint!r}: give an llmcore.adapters.Endpoint, or ask "
                "orchestrator.capabilities, which knows the aliases of its registry"
            )
        return beliefs_of(endpoint, self.can(endpoint), self.layers(endpoint), self.unproven(endpoint))

    def layers(self, endpoint: Endpoint) -> list[Layer]:
        """Return what each source says of an endpoint, the least trusted first."""
        known, table = known_layers(endpoint), known_fields(self._table(endpoint))
        ours: dict[str, Any] = {}
        for _, says in known:
            ours |= says
        own = {name: value for name, value in table.items() if name not in ours or ours[name] != value}
        believed = self._believed_now(endpoint)
        learnt = {} if believed is None else known_fields(believed.over(Capabilities()))
        overrides: list[Layer] = [("override", known_fields(one)) for one in self._overrides_of(endpoint)]
        return [*known, ("adapter", own), ("learnt", learnt), *overrides]

    def can(self, endpoint: Endpoint) -> Capabilities:
        """Return everything known of an endpoint, without the sources. Runs use this."""
        known, believed = self._table(endpoint), self._believed_now(endpoint)
        merged = known if believed is None else believed.over(known)
        for override in self._overrides_of(endpoint):
            merged = merged.updated(override)
        return merged

    def _overrides_of(self, endpoint: Endpoint) -> list[Capabilities]:
        """The overrides that apply to an endpoint, the most specific name last."""
        if not self._overrides:
            return []
        names = (endpoint.model, f"{endpoint.provider}/{endpoint.model}", endpoint.alias, endpoint.key)
        with self._lock:
            return [self._overrides[name] for name in dict.fromkeys(names) if name in self._overrides]

    def override(self, endpoint: Endpoint | str, capabilities: Capabilities | None = None, **fields: Any) -> None:
        """Set what an endpoint can do. This takes precedence over everything known and learned.

        `endpoint` is an endpoint or a name: a model (`gpt-4o`, at every server), `provider/model`, an alias of the registry,
        or an `Endpoint.key`. In this order, a later name takes precedence. Raises `ConfigError` for an unknown capability.
        """
        unknown = fields.keys() - Capabilities.model_fields.keys()
        if unknown:
            near = get_close_matches(min(unknown), Capabilities.model_fields, n=1)
            fix = f"did you mean {near[0]}? There" if near else "there"
            raise ConfigError(
                f"no such capability: {', '.join(sorted(unknown))}; {fix} are {', '.join(Capabilities.model_fields)}"
            )
        key = endpoint if isinstance(endpoint, str) else endpoint.key
        override = (capabilities or Capabilities()).updated(Capabilities(**fields))
        with self._lock:
            self._overrides[key] = self._overrides.get(key, Capabilities()).updated(override)

    # What is learnt

    def record_success(self, endpoint: Endpoint, capability: str, *, proven: bool = True) -> None:
        """Record that the endpoint did this. Raises `ConfigError`, with the nearest name, for an unknown capability."""
        self._learn(endpoint, capability, True, proven)

    def record_failure(self, endpoint: Endpoint, capability: str, *, proven: bool = True) -> None:
        """Record that the endpoint refused or ignored this.

        `capability` is in `LEARNABLE` or `PARAMETERS`; refused parameters are no longer sent. With `proven=False`, it was
        seen once and is believed for `trial` seconds; a second time after that proves it. Raises `ConfigError`, with the
        nearest name, for any other name.
        """
        self._learn(endpoint, capability, False, proven)

    def suppose(self, endpoint: Endpoint, capability: str) -> None:
        """Record that the endpoint will probably refuse this, although it was not asked.

        This is believed for `trial` seconds, unless a fact exists, and it proves nothing. Raises `ConfigError` for an unknown
        name.
        """
        with self._lock:
            is_known = (endpoint.key, capability) in self._facts
        if not is_known:
            self._learn(endpoint, capability, False, proven=False)

    def doubt(self, endpoint: Endpoint, capability: str) -> bool:
        """Record a refusal that does not say what is refused. Return whether the same was refused before and not accepted
        since.

        If True, the refusal should be believed. Raises `ConfigError` for an unknown name.
        """
        check_name(capability)
        known = self.is_doubted(endpoint, capability)
        self._enter((endpoint.key, doubt_fact(capability)), Fact(False, self._clock(), proven=False))
        return known

    def is_doubted(self, endpoint: Endpoint, capability: str) -> bool:
        """Return whether the endpoint refused this before in unclear words, and did not accept it since."""
        with self._lock:
            known = self._facts.get((endpoint.key, doubt_fact(capability)))
        return known is not None and not known.value

    def doubts(self, endpoint: Endpoint) -> list[frozenset[str]]:
        """Return the doubted sets of parts of the endpoint."""
        with self._lock:
            names = [*self._names.get(endpoint.key, ())]
        found = [about for name in names if (about := doubted_capability(name)) is not None]
        return [frozenset(about.split("+")) for about in found if self.is_doubted(endpoint, about)]

    @property
    def has_doubts(self) -> bool:
        return bool(self._doubted)

    def clear(self, endpoint: Endpoint, capabilities: Collection[str]) -> None:
        """Record that the endpoint accepted all these at once. Doubts about them end."""
        key = endpoint.key
        if key not in self._doubted:
            return
        with self._lock:
            known = {name: self._facts.get((key, name)) for name in self._names.get(key, ())}
        for name, fact in known.items():
            about = doubted_capability(name)
            if about is not None and fact is not None and not fact.value and set(about.split("+")) <= set(capabilities):
                self._enter((key, name), Fact(True, self._clock(), proven=False))

    def learnt(self, endpoint: Endpoint) -> dict[str, bool]:
        """Return the learned facts of an endpoint that are believed now, by capability or parameter."""
        believed = self._believed_now(endpoint)
        return {} if believed is None else believed.facts.copy()

    def unproven(self, endpoint: Endpoint) -> set[str]:
        """Return the refusals believed now that were seen only once."""
        refused = {name for name, value in self.learnt(endpoint).items() if not value}
        with self._lock:
            return {name for name in refused if (fact := self._facts.get((endpoint.key, name))) is not None and not fact.proven}

    def _believed_now(self, endpoint: Endpoint) -> _Believed | None:
        """None if nothing was learned of any endpoint."""
        if not self._names:
            return None
        key, now = endpoint.key, self._clock()
        known = self._believed.get(key)
        if known is None or not known.since <= now < known.until:
            with self._lock:
                known = self._believed[key] = self._believed_facts(key, now)
        return known

    def _believed_facts(self, key: str, now: float) -> _Believed:
        names = self._names.get(key, ())
        found = {name: fact for name in names if (fact := self._facts.get((key, name))) is not None}
        if names and not found:
            del self._names[key]
        believed = {
            name: fact
            for name, fact in found.items()
            if (fact.proven or now < fact.learnt_at + self._trial) and doubted_capability(name) is None
        }
        ends = [fact.learnt_at + (self._ttl if fact.proven else min(self._ttl, self._trial)) for fact in believed.values()]
        return _Believed(now, min(ends, default=math.inf), {name: fact.value for name, fact in believed.items()})

    def forget(self, endpoint: Endpoint) -> None:
        """Forget what this process learned of an endpoint. Overrides stay."""
        with self._lock:
            self._forgotten[endpoint.key] = self._clock()
            self._believed.pop(endpoint.key, None)
            self._doubted.discard(endpoint.key)
            for name in self._names.pop(endpoint.key, ()):
                self._facts.pop((endpoint.key, name), None)
                self._unshared.pop((endpoint.key, name), None)

    def _learn(self, endpoint: Endpoint, capability: str, value: bool, proven: bool) -> None:
        if not isinstance(endpoint, Endpoint):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError(
                f"facts are learnt of an llmcore.adapters.Endpoint, not of {endpoint!r}; for a name, use `override`"
            )
        check_name(capability)
        self._enter((endpoint.key, capability), Fact(value, self._clock(), proven))

    def _enter(self, key: _Name, fact: Fact) -> None:
        with self._lock:
            self._store(key, fact)
            if self._backend is not None:
                self._unshared[key] = self._facts.get(key, fact)

    def _store(self, key: _Name, fact: Fact) -> None:
        known = self._facts.get(key)
        if known is None or known.learnt_at <= fact.learnt_at:
            self._facts[key] = fact if known is None else self._with_earlier(known, fact)
            self._believed.pop(key[0], None)
            self._names[key[0]].add(key[1])
            if doubted_capability(key[1]) is not None:
                self._doubted.add(key[0])

    def _with_earlier(self, known: Fact, fact: Fact) -> Fact:
        """The later fact, which is proven if the earlier one says the same.

        Within the trial time, a repetition proves nothing, since it may come from a run that was already under way.
        """
        if fact.proven or known.value != fact.value:
            return fact
        again = fact.learnt_at >= known.learnt_at + self._trial
        return fact._replace(proven=True) if known.proven or again else known

    # What is shared

    async def refresh(self) -> bool:
        """Read what other processes learned; of two facts the later one stays. Return whether the backend could be read.

        Never raises because of the backend. Without a backend, return False.
        """
        return self._backend is not None and await self._refresh(self._backend, self._patience)

    async def publish(self) -> bool:
        """Share what was learned here since the last time. Return whether the backend accepted it.

        Never raises because of the backend. What it did not accept is sent next time. Without a backend, return False.
        """
        return self._backend is not None and await self._publish(self._backend, self._patience)

    async def refresh_if_stale(self, seconds: float | None = None) -> None:
        """Refresh before a run, unless that was done recently. `seconds` is the run's remaining time."""
        if self._backend is None or self._breaker.is_open:
            return
        if self._fresh_until is None or time.monotonic() >= self._fresh_until:
            if self._fresh_until is not None:  # so that other runs do not refresh too
                self._fresh_until = time.monotonic() + self._fresh_for
            await self._refresh(self._backend, self._bounded(seconds))

    async def publish_if_needed(self, seconds: float | None = None) -> None:
        """Publish after a run may have learned something, unless the backend has just failed."""
        if self._backend is not None and self._unshared and not self._breaker.is_open:
            await self._publish(self._backend, self._bounded(seconds))

    def _bounded(self, seconds: float | None) -> float:
        """How long to wait for the backend. Most of a run's remaining time is for its own requests."""
        return self._patience if seconds is None else min(self._patience, max(0.0, seconds) * _RUN_SHARE)

    async def _refresh(self, backend: SharedFacts, patience: float) -> bool:
        async def take_over() -> None:
            shared = await backend.load()
            with self._lock:
                for key, facts in shared.items():
                    for name, entry in facts.items():
                        self._accept_shared((key, name), entry)

        if not await self._succeeded(take_over, patience):
            return False
        self._fresh_until = time.monotonic() + self._fresh_for
        return True

    def _accept_shared(self, key: _Name, entry: object) -> None:
        """Store another process's entry if it is a valid fact. Another version may know more, and its clock may be ahead."""
        fact = fact_of(entry)
        if fact is None or not (is_learnable(key[1]) or doubted_capability(key[1]) is not None):
            return
        now = self._clock()
        if fact.learnt_at > now + MAX_CLOCK_SKEW:
            return
        fact = fact._replace(learnt_at=min(fact.learnt_at, now))
        if fact.learnt_at > self._forgotten.get(key[0], float("-inf")):
            self._store(key, fact)

    async def _publish(self, backend: SharedFacts, patience: float) -> bool:
        with self._lock:
            unshared = dict(self._unshared)
        shared: dict[str, dict[str, Fact]] = {}
        scrubber = process_scrubber()
        for (key, name), fact in unshared.items():
            if scrubber.text(key) == key:  # otherwise the name holds a key
                shared.setdefault(key, {})[name] = fact
        if shared and not await self._succeeded(lambda: backend.save(shared), patience):
            return False
        with self._lock:
            for about, fact in unshared.items():
                if self._unshared.get(about) is fact:  # nothing newer was learned meanwhile
                    del self._unshared[about]
        return True

    async def _succeeded(self, exchange: Callable[[], Awaitable[None]], patience: float) -> bool:
        """Whether an exchange with the backend succeeded in time."""
        try:
            async with asyncio.timeout(patience):
                await exchange()
        except Exception as error:  # a backend may raise anything
            if not isinstance(error, TimeoutError) or patience >= min(
                self._patience, _FAILURE_AFTER
            ):  # otherwise the run had too little time
                self._breaker.failed(f"learnt facts are not shared, since {self._backend!r} failed", error)
            return False
        self._breaker.worked()
        return True


def _with_learnt(known: Capabilities, facts: Mapping[str, bool]) -> Capabilities:
    """The known capabilities combined with learned facts. Refused parameters add up."""
    learnt: dict[str, bool | int] = {name: value for name, value in facts.items() if name in LEARNABLE}
    refused = {name for name, value in facts.items() if not value and (name in PARAMETERS or "+" in name)}
    counts = [count for name, value in facts.items() if not value and (count := tool_limit_of(name)) is not None]
    if counts:
        learnt["max_tools"] = min(counts)
    if learnt.get("parallel_tools") is False:
        refused.add("parallel_tool_calls")  # the parameter by which it was refused
    return updated(known, {**learnt, "unsupported_parameters": known.unsupported_parameters | refused})
