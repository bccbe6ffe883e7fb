"""Words for error messages: the model, the place, and where the key comes from. Never a key, or LiteLLM's tips for other
services."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.providers import PROVIDERS, provider_of
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["NO_WORDS", "key_words", "place_words", "provider_words", "server_words", "without_bytes", "without_tips"]

_CLIENT_PREFIX = lazy_regex(
    r"(?:litellm\.\w+: *)?(?:\w*(?:Error|Exception)(?: \w+Error)?(?: - |: *))*(?:Error code: \d{3}(?: - )?)?"
)
"""What LiteLLM and the OpenAI SDK put before a server's message."""


NO_WORDS = "(no words)"
"""Stands for an empty server message."""
_SENTENCES = lazy_regex(r"(?<=[.!?;])\s+|\n+")
_TIP = lazy_regex(r"litellm|drop_params|modify_params|allowed_openai_params|\bproxy\b", re.IGNORECASE)


def server_words(message: str) -> str:
    """Return the message without the clients' prefix. An empty body becomes `NO_WORDS`."""
    found = _CLIENT_PREFIX.match(message) if message.startswith(("litellm.", "Error code: ")) else None
    return message[found.end() :].strip() or NO_WORDS if found else message


_BYTES = lazy_regex(r"""\bb(['"])(.*)\1""", re.DOTALL)


def without_bytes(message: str) -> str:
    """Return the message, where a body shown as Python bytes is text."""
    return _BYTES.sub(lambda found: found[2], message, count=1)


def without_tips(message: str) -> str:
    """Return LiteLLM's own message without sentences about configuring LiteLLM, since the reader uses llmcore."""
    own_sentences = [sentence for sentence in _SENTENCES.split(message) if not _TIP.search(sentence)]
    return " ".join(own_sentences).strip() or message.partition("\n")[0]


def place_words(call: ModelCall | None) -> str:
    """Return `alias at URL`, empty without a call."""
    if call is None:
        return ""
    endpoint = call.endpoint
    name = endpoint.alias or f"{endpoint.provider}/{endpoint.model}"
    return f"{name} at {endpoint.place}"


def key_words(call: ModelCall | None) -> str:
    """Return where the key in use came from."""
    if call is None:
        return ""
    endpoint = call.endpoint
    variable = provider_of(endpoint).api_key_variable
    if endpoint.api_key is not None:
        source = _variable_of(endpoint)
        return (
            f"the key is the model's `api_key`, the value of the variable {source}"
            if source
            else "the key is the model's `api_key`"
        )
    if endpoint.base_url or endpoint.provider == "ollama":
        return "no key was sent, for none was given: give `api_key`"
    return f"the key is the value of the variable {variable}" if variable else "no `api_key` was given"


def _variable_of(endpoint: Endpoint) -> str | None:
    """The environment variable that holds the key, as with `${NAME}` in a registry."""
    assert endpoint.api_key is not None  # the caller checked this
    key = endpoint.api_key.get_secret_value()
    return next((name for name, value in os.environ.items() if value == key), None)


def provider_words(call: ModelCall | None) -> str:
    """Return what to do about an unknown provider."""
    name = call.endpoint.provider if call is not None else ""
    near = get_close_matches(name.lower(), PROVIDERS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return (
        f"there is no provider {name!r}; {hint}llmcore knows {', '.join(sorted(PROVIDERS))}, and LiteLLM some more; "
        "any server that speaks OpenAI's protocol is `openai_compatible` with its base_url"
    )
