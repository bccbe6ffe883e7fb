"""How long a server asks to be left alone: as an exception of LiteLLM tells it, or in the words of its message."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from llmcore.types.narrowing import objects_in

__all__ = ["retry_after", "wait_in_words"]

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = r"(\d{1,6}(?:\.\d{1,9})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?![a-z])"
_AGAIN = re.compile(
    rf"\b(?:try(?:ing)? again|retry(?:ing)?)\b[^.;\n\d]{{0,40}}?\b(?:in|after) (?:about )?((?:{_SPAN}[ ,]*(?:and )?)+)"
)
"""OpenAI: "Please try again in 1m30.5s"; Azure: "Please retry after 26 seconds"; Gemini: "Please retry in 13.04s"."""


def retry_after(error: BaseException, body: Mapping[str, Any]) -> float | None:
    """Seconds the provider asks to wait, from its header (seconds or an HTTP date) or Gemini's `RetryInfo`; None if
    unsaid."""
    headers: Any = getattr(error, "litellm_response_headers", None) or {}  # `error.response` is a fake
    milliseconds = _finite(headers.get("retry-after-ms"))  # OpenAI's and Azure's, the more exact of the two
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    for detail in objects_in(body.get("details")):
        value = value or str(detail.get("retryDelay", "")).removesuffix("s")
    return _seconds(value)


def wait_in_words(text: str) -> float | None:
    """The seconds after which the words of a server (lower case) ask to come again; None if unsaid."""
    found = _AGAIN.search(text)
    if found is None:
        return None
    return sum(float(number) * _in_seconds(unit) for number, unit in re.findall(_SPAN, found[1]))


def _in_seconds(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _seconds(value: Any) -> float | None:
    """Of a number or an HTTP date; None for what is neither (`inf`, `1e400`)."""
    if (number := _finite(value)) is not None:
        return number
    try:
        return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
