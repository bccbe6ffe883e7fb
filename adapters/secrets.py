"""Keys out of everything that is shown, logged or written.

`Scrubber` knows the secrets of one endpoint and takes them, and whatever looks like a key, out of text and of JSON
values. Linear in the text: every pattern is bounded and has no adjacent repeats over the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from llmcore.types.narrowing import is_list, is_object

__all__ = ["HIDDEN", "SECRET_HEADERS", "Scrubber"]

HIDDEN = "[secret]"
SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "openai-organization",
        "openai-project",
        "proxy-authorization",
        "set-cookie",
        "x-amz-security-token",
        "x-api-key",
        "x-goog-api-key",
    }
)
"""Headers that are never written, in lower case."""
_SECRET_FIELDS = SECRET_HEADERS | {
    "api_key",
    "apikey",
    "access_token",
    "client_secret",
    "aws_secret_access_key",
    "password",
}
_MIN_LENGTH = 6
"""Shorter keys ("k", "none", "test") are placeholders of local servers; hiding them would mutilate the text."""

_PATTERNS = (
    re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,512}"),
    re.compile(r"(?i)([?&](?:key|api[_-]?key|access_token|token|sig|signature)=)[^&\s\"'<>]{1,512}"),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|ghp|glpat)[-_][A-Za-z0-9_*-]{6,512}"),
    re.compile(r"()\bAIza[A-Za-z0-9_-]{20,60}"),
    re.compile(r"()\b(?:AKIA|ASIA)[A-Z0-9]{12,32}\b"),
)


def _hide(match: re.Match[str]) -> str:
    kept = match[1]
    return f"{kept}{'' if kept.endswith('=') or not kept else ' '}{HIDDEN}"


class Scrubber:
    """Takes given secrets, and what looks like one, out of text and JSON."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        self._secrets = sorted({secret for secret in secrets if secret and len(secret) >= _MIN_LENGTH}, key=len, reverse=True)

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(_hide, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every str scrubbed and the fields that hold secrets hidden; a fresh copy."""
        if isinstance(value, str):
            return self.text(value)
        if is_object(value):
            return {key: self._field(key, item) for key, item in value.items()}
        if is_list(value):
            return [self.value(item) for item in value]
        return value

    def _field(self, key: str, value: Any) -> Any:
        return HIDDEN if isinstance(value, str) and key.lower() in _SECRET_FIELDS else self.value(value)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers without the secret ones."""
        return {name: self.text(value) for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
