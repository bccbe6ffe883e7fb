"""Finds the provider of a URL, and whether its host is this machine or in a private network."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["is_local", "provider_of_host"]

_PROVIDERS = (  # the host itself, or its ending after a dot
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("aiplatform.googleapis.com", "vertex"),
    ("amazonaws.com", "bedrock"),
    ("groq.com", "groq"),
    ("mistral.ai", "mistral"),
    ("cohere.com", "cohere"),
    ("cohere.ai", "cohere"),
    ("openrouter.ai", "openrouter"),
    ("deepseek.com", "deepseek"),
    ("together.xyz", "together"),
    ("fireworks.ai", "fireworks"),
    ("x.ai", "xai"),
    ("cerebras.ai", "cerebras"),
    ("huggingface.co", "huggingface"),
    ("snowflakecomputing.com", "snowflake"),
)
_REGIONAL = ("-aiplatform.googleapis.com", "vertex")  # us-central1-aiplatform.googleapis.com
_OLLAMA_PORT = 11434
_LOCAL_ENDINGS = (".local", ".localhost", ".internal", ".test")


def provider_of_host(url: str) -> str:
    """The provider's name in the registry; the host itself if its provider is unknown."""
    place = urlsplit(url)
    host = place.hostname or ""
    for ending, provider in _PROVIDERS:
        if host == ending or host.endswith("." + ending):
            return provider
    if host.endswith(_REGIONAL[0]):
        return _REGIONAL[1]
    return "ollama" if place.port == _OLLAMA_PORT else host


def is_local(url: str) -> bool:
    """Is the host this machine, in a private network, or a name without a public domain?"""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
