"""Finding texts that look like keys (API keys, cloud keys, passwords in URLs), also unknown ones, and hiding them.

Placeholders for servers without keys (`sk-no-key-required`, `ollama`) and texts that are too short or too plain are no keys. The
search is linear in the text: every pattern is bounded and has no adjacent repeats of the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["HIDDEN", "is_placeholder", "keys_in", "without_keys"]

HIDDEN = "[secret]"
_MIN_LENGTH = 8
_MIN_UNMIXED_LENGTH = 16
"""A shorter text is a key only if it mixes letters with digits, or both cases."""
_PLACEHOLDER_WORD = re.compile(
    "a|abc|abc123|an|any|anything|api|apikey|bar|bearer|change|changeme|cpp|demo|dummy|empty|example|fake|foo|free|here|ignored"
    "|insert|is|keys?|llama|llamacpp|lm|local|localhost|me|mock|my|na|needed|no|none|not|nothing|null|ollama|openai|optional|pk"
    "|placeholder|random|replace|required|sample|secret|sk|some|string|studio|test|testing|this|token|undefined|unset|unused"
    "|use|vllm|with|xyz|you|your"
)
_DIGITS_IN_ORDER = "01234567890123456789"
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_DIGIT_OR_MASK = re.compile(r"[0-9*]")
_UNCONDITIONAL, _ONLY_MIXED = False, True
_PATTERNS = (
    (re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,512}"), _ONLY_MIXED),
    (re.compile(r"(?i)([?&](?:key|api[_-]?key|access_token|token|sig|signature)=)[^&\s\"'<>]{1,512}"), _UNCONDITIONAL),
    (re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|ghp|glpat)[-_][A-Za-z0-9_*-]{6,512}"), _ONLY_MIXED),
    (re.compile(r"()\bAIza[A-Za-z0-9_-]{20,60}"), _UNCONDITIONAL),
    (re.compile(r"()\b(?:AKIA|ASIA)[A-Z0-9]{12,32}\b"), _UNCONDITIONAL),
    (re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{1,15}://)[^\s/?#@:\"'<>]{0,256}:[^\s/?#@\"'<>]{1,512}(?=@)"), _UNCONDITIONAL),
)
"""Patterns of keys, whose first group is no part of the key. If ordinary words match too ("basic arithmetic",
"hf_hub_download"), only a match that mixes characters as keys do counts."""


def is_placeholder(text: str) -> bool:
    """Whether it is a placeholder for a key, or too short or too plain to be a key."""
    if len(text) < _MIN_LENGTH or len(set(text)) < 3:
        return True
    words = [word for word in _NO_WORD.split(text.lower()) if word]
    if all(_PLACEHOLDER_WORD.fullmatch(word) or word in _DIGITS_IN_ORDER or len(set(word)) == 1 for word in words):
        return True
    return len(text) < _MIN_UNMIXED_LENGTH and not _is_mixed(text)


def _is_mixed(text: str) -> bool:
    """Whether it has letters and digits, or letters of both cases beyond one capitalised word, or stars of a masked key."""
    if _DIGIT_OR_MASK.search(text):
        return not text.isdigit()
    return text[1:] not in (text[1:].lower(), text[1:].upper())


def keys_in(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each part that looks like a key. They may overlap."""
    for pattern, only_mixed in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.end(1), match.end()
            if not only_mixed or (_is_mixed(text[start:end]) and not is_placeholder(text[start:end])):
                yield start, end


def without_keys(text: str) -> str:
    """The text, with `HIDDEN` in place of anything that looks like a key."""
    end, parts = 0, list[str]()
    for start, stop in sorted(keys_in(text)):
        if stop <= end:
            continue
        parts += [text[end:start], HIDDEN] if start >= end else []
        end = stop
    return "".join([*parts, text[end:]]) if parts else text
