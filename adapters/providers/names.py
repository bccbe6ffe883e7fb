"""Is a provider, a model, a base URL one that can be reached? Asked when a registry is loaded, so that a misspelt name is an
error there and not at the first request.

A name is known when our table or LiteLLM's list has it; the list is a file of this package (`scripts/litellm_names.py` makes it),
so that nothing is imported for it. Models are judged only where a provider serves its own at its own URL: by the beginning of
their names, and by their words. A name that could be a new model's is let through; where it differs from a known one by a letter,
or by how its parts are put together, a warning names that one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from llmcore.adapters.base import OWN_ADAPTER
from llmcore.adapters.providers import ALIASES, PROVIDERS, canonical, is_host_of
from llmcore.adapters.providers.provider import Provider
from llmcore.types import ConfigError
from llmcore.types.logs import logger

__all__ = ["check_provider_names", "is_provider_name", "litellm_names"]

_log = logger("models")

_MEANT = {
    "google": "gemini",
    "claude": "anthropic",
    "chatgpt": "openai",
    "gpt": "openai",
    "aws": "bedrock",
    "amazon": "bedrock",
    "grok": "xai",
    "x.ai": "xai",
    "microsoft": "azure",
    "llamacpp": "llama_cpp",
    "local": "openai_compatible",
}
"""What is often written for a provider, and how it is called here."""


_ASKED = ("/chat/completions", "/completions", "/responses", "/v1/messages", "/api/chat", "/api/generate")
"""Paths of single requests, as they stand in the examples of providers' documentation."""
_WORD = re.compile(r"[a-z]{4,}")
_OPEN = re.compile(r"/|^(?:ft|arn):")
"""What stands in the names of models of a user's own or of somebody else's: their words may be any."""
_SAME_MODELS = {"cohere": "cohere_chat", "ai21_chat": "ai21"}
"""Providers without a row whose models are listed with another's."""
_FEW = 6
_PART = re.compile(r"[a-z]+|[0-9]+")
_LOOKS_LIKE = str.maketrans("0li", "o11")
_SHORTEST = 3
"""Letters of a word that may be another one with a slip: shorter ones are versions."""
_NEAR = 0.8
"""How near a word must be to a known one to be taken for that, misspelt."""


@cache
def litellm_names() -> dict[str, Any]:
    """The shipped list: `providers`, and `models` by our name of the provider."""
    text = (files("llmcore.adapters.providers") / "litellm_names.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def check_provider_names(provider: str, model: str, base_url: str | None = None) -> None:
    """Raises `ConfigError`, with the nearest name, for a provider or a model that nobody knows, for a base URL that only looks
    like a provider's, and where one is needed and there is none."""
    name = canonical(provider)
    if base_url:
        _check_host(base_url)
    if name in OWN_ADAPTER:
        return
    if base_url:
        _check_path(base_url)
    row = PROVIDERS.get(name)
    if row is None:
        _check_litellms(provider)
        if not base_url:
            _check_listed(_SAME_MODELS.get(name, name), model)
        return
    if row.needs_url and not base_url and not os.environ.get(row.url_variable):
        variable = f" (or the variable {row.url_variable})" if row.url_variable else ""
        raise ConfigError(f"the provider {provider!r} needs a `base_url`{variable}, for example {row.needs_url}")
    if base_url or model in _models(row.name):
        return
    if not row.may_serve(model) or (row.names_of_models and _misspelt(row.name, model)):
        raise ConfigError(_unknown_model(row, model))
    if row.names_of_models and not _OPEN.search(model) and (near := _slip_away(row.name, model)):
        _warn(row.name, model, near)


def _check_listed(provider: str, model: str) -> None:
    """Of a provider without a row the beginnings of names are not known: what is like none of its models is asked for, with a
    warning."""
    known = _models(provider)
    if not known or model in known or _OPEN.search(model):
        return
    near = _nearest(model.lower(), known) or ""
    if _misspelt(provider, model):
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known[:_FEW])}"
        raise ConfigError(f"{provider} has no model {model[:200]!r}; {hint} (With a `base_url` any name goes)")
    if (slip := _slip_away(provider, model)) or _parts(model)[:1] not in [_parts(name)[:1] for name in known]:
        _warn(provider, model, slip or near)


def is_provider_name(name: str) -> bool:
    """Is it the name of a provider that the table or LiteLLM knows, or of an adapter of the caller's?"""
    plain = canonical(name)
    return plain in OWN_ADAPTER or plain in PROVIDERS or plain in litellm_names()["providers"]


def check_provider(provider: str) -> None:
    """Raises `ConfigError`, with the nearest name, for a provider that nobody knows."""
    name = canonical(provider)
    if name not in OWN_ADAPTER and name not in PROVIDERS:
        _check_litellms(provider)


def _check_host(base_url: str) -> None:
    """A host that begins like a provider's and ends as somebody else's gets no key."""
    host = (urlsplit(base_url).hostname or "").lower()
    for row in PROVIDERS.values():
        for domain in row.hosts:
            if not is_host_of(host, domain) and re.search(rf"(?:^|[.-]){re.escape(domain)}[.-]", host):
                raise ConfigError(
                    f"base_url: the host {host!r} looks like {row.name}'s ({domain}) and belongs to somebody else; "
                    f"write one that ends in {domain!r}, or reach the other server by another name"
                )


def _check_path(base_url: str) -> None:
    """The client adds the path of what it asks for: one that stands there already would be there twice."""
    path = urlsplit(base_url).path.rstrip("/")
    found = next((ending for ending in _ASKED if path.endswith(ending)), None)
    if found:
        kept = path.removesuffix(found) or "/"
        raise ConfigError(f"base_url: leave out {found!r} at its end, which is added to each request; its path is then {kept!r}")


def _check_litellms(provider: str) -> None:
    routed = litellm_names()["providers"]
    if provider in routed or provider.lower().replace("-", "_") in routed:
        return
    plain = provider.lower().replace("-", "_")
    near = _MEANT.get(plain) or _nearest(plain, (*PROVIDERS, *ALIASES, *routed))
    hint = f"did you mean {near!r}? " if near else ""
    raise ConfigError(
        f"there is no provider {provider!r}; {hint}There are {', '.join(PROVIDERS)}, and what LiteLLM routes; a server that "
        "speaks OpenAI's API is 'openai_compatible' with a `base_url`, an adapter of your own is 'custom'"
    )


def _models(provider: str) -> list[str]:
    found: list[str] = litellm_names()["models"].get(provider, [])
    return found


@cache
def _words(name: str) -> frozenset[str]:
    """The words in the names of a provider's models."""
    row = PROVIDERS.get(name)
    beginnings = () if row is None else row.names_of_models
    return frozenset(word for text in (*_models(name), *beginnings) for word in _WORD.findall(text.lower()))


def _swapped(word: str) -> Iterable[str]:
    """The word with two neighbouring letters exchanged."""
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))


def _misspelt(provider: str, model: str) -> bool:
    """Does a name of the right beginning hold a word that is nearly one of its provider's? The next version of a family has
    another number, and a new family a new word; neither is nearly an old word."""
    if _OPEN.search(model):
        return False
    known = _words(provider)
    unknown: set[str] = {*_WORD.findall(model.lower())} - known
    return any(not known.isdisjoint(_swapped(word)) or get_close_matches(word, known, n=1, cutoff=_NEAR) for word in unknown)


def _slip_away(provider: str, model: str) -> str | None:
    """The known model whose name is this one but for separators, zeros before a number and letters that look like a digit, or
    has the same parts in other places, or all but one, in which one letter is missing, too much, another or in the wrong place.
    Other numbers are another model."""
    parts, shape = _parts(model), _shape(model)
    for name in _models(provider):
        if _shape(name) == shape:
            return name
        others = _parts(name)
        if len(others) != len(parts):
            continue
        pairs = [(part, other) for part, other in zip(parts, others, strict=True) if part != other]
        if (len(pairs) == 1 and _is_one_slip(*pairs[0])) or sorted(parts) == sorted(others):
            return name
    return None


def _parts(name: str) -> list[str]:
    return [part.lstrip("0") or "0" for part in _PART.findall(name.lower())]


def _shape(name: str) -> str:
    return "".join(_parts(name)).translate(_LOOKS_LIKE)


def _is_one_slip(word: str, other: str) -> bool:
    if not (word.isalpha() and other.isalpha()) or min(len(word), len(other)) < _SHORTEST:
        return False
    if len(word) > len(other):
        word, other = other, word
    at = next((at for at, letter in enumerate(word) if letter != other[at]), len(word))
    if len(word) < len(other):
        return word[at:] == other[at + 1 :]
    return word[at + 1 :] == other[at + 1 :] or other in _swapped(word)


@cache
def _warn(provider: str, model: str, near: str) -> None:
    hint = f"; is it {near!r}?" if near else "."
    _log.warning("%s: the model %r is not known%s It is asked for as it is written", provider, model[:200], hint)


def _unknown_model(row: Provider, model: str) -> str:
    near = _nearest(model.lower(), _models(row.name))
    hint = f"did you mean {near!r}?" if near else f"its models are called {', '.join(row.names_of_models)}"
    return (
        f"{row.name} has no model {model[:200]!r}; {hint} (A model that is served by somebody else needs its `provider`, or a "
        "`base_url`)"
    )


def _nearest(name: str, names: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name, list(names), n=1)), None)
