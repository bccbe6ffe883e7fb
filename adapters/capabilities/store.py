"""`CapabilityStore`: the one place that knows what endpoints can do.

Order of trust: told by the user > learnt (per endpoint, forgotten after 24 hours) > our provider table > LiteLLM's table >
optimistic defaults (None = try it). Capabilities belong to the endpoint (base URL and model), not to the model: two servers of
the same model differ. What one refusal taught a run is believed for some minutes, then tried again: the server may have quoted
the user's words, or refused something else. What is refused again is proven, and believed until it is forgotten. One refusal in
words that do not say what is refused takes nothing from an endpoint: that is a doubt, kept in mind until the same parts are
refused again, or until the endpoint takes them.

Reads are synchronous, of this process only, and cost a few dict look-ups. `refresh` and `publish` share what was learnt with
other processes through a backend; runs call them by `keep_up` and `publish`. Nothing a backend does or fails to do ends a run:
it is waited for `patience` seconds at most, warned of once, and left alone for a while. Safe to use from several threads.
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
from llmcore.adapters.capabilities.facts import (
    AHEAD,
    DAY,
    LEARNABLE,
    PARAMETERS,
    TRIAL,
    Fact,
    SharedFacts,
    check_name,
    doubt_of,
    doubted_in,
    fact_of,
    is_learnable,
    tool_limit_of,
)
from llmcore.adapters.capabilities.file_facts import FileFacts
from llmcore.adapters.capabilities.known import given, known_capabilities, known_layers
from llmcore.adapters.capabilities.redis_facts import RedisFacts
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.copies import updated
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import Kind, check_kinds, in_words
from llmcore.types.logs import logger

__all__ = ["CapabilityStore", "shared_facts"]

_Name = tuple[str, str]
"""An endpoint's key, and a capability or parameter."""

_SHARE_OF_A_RUN = 0.25
_LONG = 0.2
"""Seconds after which a backend that has not answered counts as failed, however short of time the run was."""

_log = logger("capabilities")


def shared_facts(where: str | os.PathLike[str]) -> SharedFacts:
    """The backend that a text names: a URL of a Redis, else the path of a file. Raises `ConfigError`."""
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
    """What is believed of an endpoint from one time until another, unless more is learnt."""

    since: float
    until: float
    facts: dict[str, bool]
    _merged: tuple[Capabilities, Capabilities] | None = None
    """What was known when it was asked for last, and that with the facts laid over it."""

    def over(self, known: Capabilities) -> Capabilities:
        """What was known, with what was learnt laid over it."""
        if not self.facts:
            return known
        merged = self._merged
        if merged is None or merged[0] is not known:
            merged = self._merged = (known, _with_learnt(known, self.facts))
        return merged[1]


@in_words(only=("__init__",))
class CapabilityStore:
    """What endpoints can do.

    `table` gives what is known beforehand (an adapter's `capabilities`, by default our tables). `ttl`: seconds after which a
    learnt fact is forgotten; `trial`: after which one that was seen once is tried again. `backend` shares what is learnt: a
    `SharedFacts`, the URL of a Redis (`redis://host/0`) or the path of a file. `fresh_for`: seconds for which a run is content
    with what was last read from it; a backend that failed is left alone as long. `patience`: seconds that one exchange with it
    may take. `clock` gives wall-clock seconds. Raises `ConfigError`.
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
        told: dict[str, object] = {"table": table, "ttl": ttl, "trial": trial, "maxsize": maxsize}
        check_kinds("CapabilityStore", {**told, "fresh_for": fresh_for, "patience": patience, "clock": clock}, _KINDS)
        self._table = table
        self._clock = clock
        self._trial, self._ttl = trial, ttl
        self._backend = shared_facts(backend) if isinstance(backend, str | os.PathLike) else backend
        if self._backend is not None and not isinstance(self._backend, SharedFacts):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError("a backend of capabilities has the methods load() and save(facts), or is a Redis URL or a path")
        self._fresh_for, self._patience = fresh_for, patience
        self._lock = ForkSafeLock()
        self._overrides: dict[str, Capabilities] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)  # of the facts, by endpoint key

        def expiry(key: _Name, fact: Fact, now: float) -> float:
            return fact.learnt_at + ttl

        self._facts: TLRUCache[_Name, Fact] = TLRUCache(maxsize=maxsize, ttu=expiry, timer=clock)
        self._forgotten: TTLCache[str, float] = TTLCache(maxsize=maxsize, ttl=ttl, timer=clock)
        self._believed: dict[str, _Believed] = {}  # by endpoint key, of those that something was learnt of
        self._doubted: set[str] = set()  # the endpoint keys of those that something was doubted of
        self._unshared: dict[_Name, Fact] = {}
        self._fresh_until: float | None = None  # by the monotonic clock, as `_left_alone_until`
        self._left_alone_until = 0.0
        self._warned = False

    def get(self, endpoint: Endpoint | str) -> Beliefs:
        """What is believed of an endpoint, and where each belief comes from (`Beliefs.sources`), also limits and system tools.

        An alias of the registry is known to the store of an orchestrator alone: `orchestrator.capabilities.get("fast")`. Raises
        `ConfigError` for a name here.
        """
        if not isinstance(endpoint, Endpoint):
            raise ConfigError(
                f"this store knows endpoints, not {endpoint!r}: give an llmcore.adapters.Endpoint, or ask "
                "orchestrator.capabilities, which knows the aliases of its registry"
            )
        return beliefs_of(endpoint, self.can(endpoint), self.layers(endpoint), self.unproven(endpoint))

    def layers(self, endpoint: Endpoint) -> list[Layer]:
        """What each source says of an endpoint, the least trusted first."""
        known, table = known_layers(endpoint), given(self._table(endpoint))
        ours: dict[str, Any] = {}
        for _, says in known:
            ours |= says
        own = {name: value for name, value in table.items() if name not in ours or ours[name] != value}
        believed = self._believed_now(endpoint)
        learnt = {} if believed is None else given(believed.over(Capabilities()))
        told: list[Layer] = [("override", given(one)) for one in self._declared(endpoint)]
        return [*known, ("adapter", own), ("learnt", learnt), *told]

    def can(self, endpoint: Endpoint) -> Capabilities:
        """Everything known of an endpoint, the most trusted source first: what runs ask for, without the sources."""
        known, believed = self._table(endpoint), self._believed_now(endpoint)
        merged = known if believed is None else believed.over(known)
        for told in self._declared(endpoint):
            merged = merged.updated(told)
        return merged

    def _declared(self, endpoint: Endpoint) -> list[Capabilities]:
        """What was told of an endpoint, the most particular name last."""
        if not self._overrides:
            return []
        names = (endpoint.model, f"{endpoint.provider}/{endpoint.model}", endpoint.alias, endpoint.key)
        with self._lock:
            return [self._overrides[name] for name in dict.fromkeys(names) if name in self._overrides]

    def override(self, endpoint: Endpoint | str, capabilities: Capabilities | None = None, **fields: Any) -> None:
        """Tell what an endpoint can do, above everything known and learnt.

        `endpoint`: itself, or a name: a model (`gpt-4o`, at every place where it is served), `provider/model`, an alias of the
        registry, an `Endpoint.key`. Where several were told of, the more particular one stands, in this order. Raises
        `ConfigError` for a field that is no capability.
        """
        unknown = fields.keys() - Capabilities.model_fields.keys()
        if unknown:
            near = get_close_matches(min(unknown), Capabilities.model_fields, n=1)
            fix = f"did you mean {near[0]}? There" if near else "there"
            raise ConfigError(
                f"no such capability: {', '.join(sorted(unknown))}; {fix} are {', '.join(Capabilities.model_fields)}"
            )
        key = endpoint if isinstance(endpoint, str) else endpoint.key
        told = (capabilities or Capabilities()).updated(Capabilities(**fields))
        with self._lock:
            self._overrides[key] = self._overrides.get(key, Capabilities()).updated(told)

    # What is learnt

    def record_success(self, endpoint: Endpoint, capability: str, *, proven: bool = True) -> None:
        """The endpoint was seen to do it. Raises `ConfigError` for what is no capability, with the nearest one."""
        self._learn(endpoint, capability, True, proven)

    def record_failure(self, endpoint: Endpoint, capability: str, *, proven: bool = True) -> None:
        """The endpoint refused it, or ignored it. `capability`: one of `LEARNABLE`, or of `PARAMETERS`, the request parameters
        that are left out once they were refused. `proven=False`: it was seen once, and is believed for `trial` seconds; a second
        time after these proves it. Raises `ConfigError` for any other name, with the nearest one."""
        self._learn(endpoint, capability, False, proven)

    def suppose(self, endpoint: Endpoint, capability: str) -> None:
        """Nobody asked the endpoint for it, and it is likely to refuse it: that is believed for `trial` seconds, unless something
        was learnt of it before. It proves nothing. Raises `ConfigError` as the others do."""
        with self._lock:
            is_known = (endpoint.key, capability) in self._facts
        if not is_known:
            self._learn(endpoint, capability, False, proven=False)

    def doubt(self, endpoint: Endpoint, capability: str) -> bool:
        """The endpoint refused this, and its words do not say so. Whether it did so before, and was not seen to do it since: then
        it is to be believed. Raises `ConfigError` as the others do."""
        check_name(capability)
        known = self.is_doubted(endpoint, capability)
        self._enter((endpoint.key, doubt_of(capability)), Fact(False, self._clock(), proven=False))
        return known

    def is_doubted(self, endpoint: Endpoint, capability: str) -> bool:
        """Did the endpoint refuse this before in such words, and was not seen to do it since?"""
        with self._lock:
            known = self._facts.get((endpoint.key, doubt_of(capability)))
        return known is not None and not known.value

    def doubts(self, endpoint: Endpoint) -> list[frozenset[str]]:
        """The sets of parts that are doubted of the endpoint."""
        with self._lock:
            names = [*self._names.get(endpoint.key, ())]
        found = [about for name in names if (about := doubted_in(name)) is not None]
        return [frozenset(about.split("+")) for about in found if self.is_doubted(endpoint, about)]

    @property
    def has_doubts(self) -> bool:
        """Was anything doubted, at any endpoint?"""
        return bool(self._doubted)

    def clear(self, endpoint: Endpoint, capabilities: Collection[str]) -> None:
        """The endpoint was seen to do these at once: what was doubted of them is no more."""
        key = endpoint.key
        if key not in self._doubted:
            return
        with self._lock:
            held = {name: self._facts.get((key, name)) for name in self._names.get(key, ())}
        for name, fact in held.items():
            about = doubted_in(name)
            if about is not None and fact is not None and not fact.value and set(about.split("+")) <= set(capabilities):
                self._enter((key, name), Fact(True, self._clock(), proven=False))

    def learnt(self, endpoint: Endpoint) -> dict[str, bool]:
        """What was learnt of an endpoint and is believed at present, by capability or parameter."""
        believed = self._believed_now(endpoint)
        return {} if believed is None else believed.facts.copy()

    def unproven(self, endpoint: Endpoint) -> set[str]:
        """What is believed at present that the endpoint does not do, since it was seen once."""
        refused = {name for name, value in self.learnt(endpoint).items() if not value}
        with self._lock:
            return {name for name in refused if (fact := self._facts.get((endpoint.key, name))) is not None and not fact.proven}

    def _believed_now(self, endpoint: Endpoint) -> _Believed | None:
        """None where nothing was learnt of any endpoint."""
        if not self._names:
            return None
        key, now = endpoint.key, self._clock()
        known = self._believed.get(key)
        if known is None or not known.since <= now < known.until:
            with self._lock:
                known = self._believed[key] = self._looked_up(key, now)
        return known

    def _looked_up(self, key: str, now: float) -> _Believed:
        names = self._names.get(key, ())
        found = {name: fact for name in names if (fact := self._facts.get((key, name))) is not None}
        if names and not found:
            del self._names[key]
        believed = {
            name: fact
            for name, fact in found.items()
            if (fact.proven or now < fact.learnt_at + self._trial) and doubted_in(name) is None
        }
        ends = [fact.learnt_at + (self._ttl if fact.proven else min(self._ttl, self._trial)) for fact in believed.values()]
        return _Believed(now, min(ends, default=math.inf), {name: fact.value for name, fact in believed.items()})

    def forget(self, endpoint: Endpoint) -> None:
        """Drop what was learnt of an endpoint until now, in this process; overrides stay."""
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
                f"facts are learnt of an llmcore.adapters.Endpoint, not of {endpoint!r}; what holds for a name is `override`"
            )
        check_name(capability)
        self._enter((endpoint.key, capability), Fact(value, self._clock(), proven))

    def _enter(self, key: _Name, fact: Fact) -> None:
        with self._lock:
            self._keep(key, fact)
            if self._backend is not None:
                self._unshared[key] = self._facts.get(key, fact)

    def _keep(self, key: _Name, fact: Fact) -> None:
        known = self._facts.get(key)
        if known is None or known.learnt_at <= fact.learnt_at:
            self._facts[key] = fact if known is None else self._with_earlier(known, fact)
            self._believed.pop(key[0], None)
            self._names[key[0]].add(key[1])
            if doubted_in(key[1]) is not None:
                self._doubted.add(key[0])

    def _with_earlier(self, known: Fact, fact: Fact) -> Fact:
        """The later fact, which the earlier one may prove; within the time of a trial runs that were under way say it again."""
        if fact.proven or known.value != fact.value:
            return fact
        again = fact.learnt_at >= known.learnt_at + self._trial
        return fact._replace(proven=True) if known.proven or again else known

    # What is shared

    async def refresh(self) -> bool:
        """Take over what other processes learnt; of two facts the later one stands. Whether the backend could be read: never
        raises for it. Does nothing without a backend."""
        return self._backend is not None and await self._refresh(self._backend, self._patience)

    async def publish(self) -> bool:
        """Give what was learnt here since the last time to other processes. Whether the backend took it: never raises for it,
        and what it did not take goes with the next. Does nothing without a backend."""
        return self._backend is not None and await self._publish(self._backend, self._patience)

    async def keep_up(self, seconds: float | None = None) -> None:
        """What a run does before it asks: refresh, unless that was done lately. `seconds`: that the run has left."""
        if self._backend is None or self._is_left_alone():
            return
        if self._fresh_until is None or time.monotonic() >= self._fresh_until:
            if self._fresh_until is not None:  # other runs need not do it, too
                self._fresh_until = time.monotonic() + self._fresh_for
            await self._refresh(self._backend, self._bounded(seconds))

    async def tell(self, seconds: float | None = None) -> None:
        """What a run does when it may have learnt something: publish it, unless the backend has just failed."""
        if self._backend is not None and self._unshared and not self._is_left_alone():
            await self._publish(self._backend, self._bounded(seconds))

    def _bounded(self, seconds: float | None) -> float:
        """How long to wait for the backend: of the time that a run has left most is for its own requests."""
        return self._patience if seconds is None else min(self._patience, max(0.0, seconds) * _SHARE_OF_A_RUN)

    def _is_left_alone(self) -> bool:
        return time.monotonic() < self._left_alone_until

    async def _refresh(self, backend: SharedFacts, patience: float) -> bool:
        async def take_over() -> None:
            shared = await backend.load()
            with self._lock:
                for key, facts in shared.items():
                    for name, entry in facts.items():
                        self._take((key, name), entry)

        if not await self._done(take_over, patience):
            return False
        self._fresh_until = time.monotonic() + self._fresh_for
        return True

    def _take(self, key: _Name, entry: object) -> None:
        """Take over what another process says, if it is a fact: a later version may know more, and its clock may be ahead."""
        fact = fact_of(entry)
        if fact is None or not (is_learnable(key[1]) or doubted_in(key[1]) is not None):
            return
        now = self._clock()
        if fact.learnt_at > now + AHEAD:
            return
        fact = fact._replace(learnt_at=min(fact.learnt_at, now))
        if fact.learnt_at > self._forgotten.get(key[0], float("-inf")):
            self._keep(key, fact)

    async def _publish(self, backend: SharedFacts, patience: float) -> bool:
        with self._lock:
            unshared = dict(self._unshared)
        shared: dict[str, dict[str, Fact]] = {}
        scrubber = process_scrubber()
        for (key, name), fact in unshared.items():
            if scrubber.text(key) == key:  # else a key stands where only the names of servers and models should
                shared.setdefault(key, {})[name] = fact
        if shared and not await self._done(lambda: backend.save(shared), patience):
            return False
        with self._lock:
            for about, fact in unshared.items():
                if self._unshared.get(about) is fact:  # nothing newer was learnt meanwhile
                    del self._unshared[about]
        return True

    async def _done(self, exchange: Callable[[], Awaitable[None]], patience: float) -> bool:
        """Whether an exchange with the backend went well, in time."""
        try:
            async with asyncio.timeout(patience):
                await exchange()
        except Exception as error:  # whatever a backend raises
            if not isinstance(error, TimeoutError) or patience >= min(self._patience, _LONG):  # else the run was short of time
                self._left_alone_until = time.monotonic() + self._fresh_for
                self._warn(error)
            return False
        self._left_alone_until, self._warned = 0.0, False
        return True

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            words = clipped_words(process_scrubber().text(f"{type(error).__name__}: {error}"))
            _log.warning("what was learnt of endpoints is not shared, %r failed (%s); going on without", self._backend, words)
        self._warned = True


def _with_learnt(known: Capabilities, facts: Mapping[str, bool]) -> Capabilities:
    """What was known, with what was learnt laid over it; the parameters that are refused add up."""
    learnt: dict[str, bool | int] = {name: value for name, value in facts.items() if name in LEARNABLE}
    refused = {name for name, value in facts.items() if not value and (name in PARAMETERS or "+" in name)}
    counts = [count for name, value in facts.items() if not value and (count := tool_limit_of(name)) is not None]
    if counts:
        learnt["max_tools"] = min(counts)
    if learnt.get("parallel_tools") is False:
        refused.add("parallel_tool_calls")  # the parameter by which it was refused
    return updated(known, {**learnt, "unsupported_parameters": known.unsupported_parameters | refused})
