"""Checks provider names, model names and base URLs when a registry is loaded, so that a misspelling fails there and not at
the first request.

A name is known if llmcore's table or LiteLLM's list has it. The list is a file of this package (`scripts/litellm_names.py`
makes it), so nothing is imported. Models are checked only if a provider serves its own models at its own URL: by the
beginnings of their names and by their words. A name that could be a new model's is accepted. If it differs from a known one
by a letter, or by the order of its parts, a warning names the known one.
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
from llmcore.adapters.providers import ALIASES, IN_PROCESS, PROVIDERS, canonical, is_host_of, row_of
from llmcore.adapters.providers.provider import Provider
from llmcore.types import ConfigError
from llmcore.types.logs import logger

__all__ = ["check_provider_names", "is_provider_name", "litellm_names"]

_log = logger("models")

_COMMON_NAMES = {
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
}
"""Common names of providers, and the names in the table."""


_REQUEST_PATHS = ("/chat/completions", "/completions", "/responses", "/v1/messages", "/api/chat", "/api/generate")
"""Paths of single requests, as in the examples of providers' documentation."""
_WORD = re.compile(r"[a-z]{4,}")
_CUSTOM_NAME = re.compile(r"/|^(?:ft|arn):")
"""Marks a user's own model, or one of another owner. Its words may be any."""
_SAME_MODELS = {"cohere": "cohere_chat", "ai21_chat": "ai21"}
"""Providers without a row whose models are listed under another provider."""
_MAX_LISTED = 6
_PART = re.compile(r"[a-z]+|[0-9]+")
_SIMILAR_CHARACTERS = str.maketrans("0li", "o11")
_MIN_WORD_LENGTH = 3
"""The fewest letters of a word that may be a misspelling. Shorter words are versions."""
_SIMILARITY = 0.8
"""How similar a word must be to a known one to count as its misspelling."""


@cache
def litellm_names() -> dict[str, Any]:
    """Return the shipped list: `providers`, and `models` by llmcore's name of the provider."""
    text = (files("llmcore.adapters.providers") / "litellm_names.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def check_provider_names(provider: str, model: str, base_url: str | None = None) -> None:
    """Check a provider, a model and a base URL.

    Raises `ConfigError`, with the nearest name, for an unknown provider or model, for a base URL that only resembles a
    provider's, and for a missing base URL.
    """
    name = canonical(provider)
    if base_url:
        _check_host(base_url)
    if name in OWN_ADAPTER:
        return
    if base_url:
        _check_path(base_url)
    if base_url and name in IN_PROCESS:
        raise ConfigError(
            f"the provider {name!r} is a model in this process and has no `base_url`; a server of your own is "
            "'openai_compatible', 'llama_cpp' or 'ollama'"
        )
    row = row_of(name, None)
    if row is None:
        _check_litellm_provider(provider)
        if not base_url:
            _check_listed(_SAME_MODELS.get(name, name), model)
        return
    if row.needs_url and not base_url and not os.environ.get(row.url_variable):
        variable = f" (or the variable {row.url_variable})" if row.url_variable else ""
        raise ConfigError(f"the provider {provider!r} needs a `base_url`{variable}, for example {row.needs_url}")
    if base_url or model in _models(row.name):
        return
    if not row.may_serve(model) or (row.model_names and _misspelt(row.name, model)):
        raise ConfigError(_unknown_model(row, model))
    if row.model_names and not _CUSTOM_NAME.search(model) and (near := _near_model(row.name, model)):
        _warn(row.name, model, near)


def _check_listed(provider: str, model: str) -> None:
    """Check a model of a provider without a row. If it resembles none of the known models, warn; the beginnings of names are
    unknown."""
    known = _models(provider)
    if not known or model in known or _CUSTOM_NAME.search(model):
        return
    near = _nearest(model.lower(), known) or ""
    if _misspelt(provider, model):
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known[:_MAX_LISTED])}"
        raise ConfigError(f"{provider} has no model {model[:200]!r}; {hint} (With a `base_url` any name goes)")
    if (slip := _near_model(provider, model)) or _parts(model)[:1] not in [_parts(name)[:1] for name in known]:
        _warn(provider, model, slip or near)


def is_provider_name(name: str) -> bool:
    """Return whether the table, LiteLLM or an adapter of the caller's has this provider name."""
    plain = canonical(name)
    return plain in OWN_ADAPTER or plain in PROVIDERS or plain in IN_PROCESS or plain in litellm_names()["providers"]


def check_provider(provider: str) -> None:
    """Raises `ConfigError`, with the nearest name, for an unknown provider."""
    name = canonical(provider)
    if name not in OWN_ADAPTER and row_of(name, None) is None:
        _check_litellm_provider(provider)


def _check_host(base_url: str) -> None:
    """Refuse a host that begins like a provider's but belongs to another owner, so that no key is sent to it."""
    host = (urlsplit(base_url).hostname or "").lower()
    for row in PROVIDERS.values():
        for domain in row.hosts:
            if not is_host_of(host, domain) and re.search(rf"(?:^|[.-]){re.escape(domain)}[.-]", host):
                raise ConfigError(
                    f"base_url: the host {host!r} looks like {row.name}'s ({domain}) and belongs to another owner; "
                    f"write a host that ends in {domain!r}, or use another name for the other server"
                )


def _check_path(base_url: str) -> None:
    """Refuse a path that the client appends itself. It would be there twice."""
    path = urlsplit(base_url).path.rstrip("/")
    found = next((ending for ending in _REQUEST_PATHS if path.endswith(ending)), None)
    if found:
        path_left = path.removesuffix(found) or "/"
        raise ConfigError(
            f"base_url: leave out {found!r} at its end, which is added to each request; its path is then {path_left!r}"
        )


def _check_litellm_provider(provider: str) -> None:
    routed = litellm_names()["providers"]
    if provider in routed or provider.lower().replace("-", "_") in routed:
        return
    plain = provider.lower().replace("-", "_")
    near = _COMMON_NAMES.get(plain) or _nearest(plain, (*PROVIDERS, *ALIASES, *routed))
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
    beginnings = () if row is None else row.model_names
    return frozenset(word for text in (*_models(name), *beginnings) for word in _WORD.findall(text.lower()))


def _swapped(word: str) -> Iterable[str]:
    """The word with two neighbouring letters exchanged, for each pair."""
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))


def _misspelt(provider: str, model: str) -> bool:
    """Whether a name with a correct beginning has a misspelling of one of its provider's words.

    A new version has another number, and a new family a new word. Neither resembles a known word.
    """
    if _CUSTOM_NAME.search(model):
        return False
    known = _words(provider)
    unknown: set[str] = {*_WORD.findall(model.lower())} - known
    return any(
        not known.isdisjoint(_swapped(word)) or get_close_matches(word, known, n=1, cutoff=_SIMILARITY) for word in unknown
    )


def _near_model(provider: str, model: str) -> str | None:
    """The known model whose name differs only slightly: by separators, leading zeros or similar characters, by the order of
    its parts, or by one letter of one part. Other numbers are another model."""
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
    return "".join(_parts(name)).translate(_SIMILAR_CHARACTERS)


def _is_one_slip(word: str, other: str) -> bool:
    if not (word.isalpha() and other.isalpha()) or min(len(word), len(other)) < _MIN_WORD_LENGTH:
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
    _log.warning("%s: the model %r is not known%s It is requested by this name", provider, model[:200], hint)


def _unknown_model(row: Provider, model: str) -> str:
    near = _nearest(model.lower(), _models(row.name))
    hint = f"did you mean {near!r}?" if near else f"its models are called {', '.join(row.model_names)}"
    return f"{row.name} has no model {model[:200]!r}; {hint} (A model of another server needs its `provider`, or a `base_url`)"


def _nearest(name: str, names: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name, list(names), n=1)), None)
