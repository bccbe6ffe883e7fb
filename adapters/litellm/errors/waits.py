"""How long a server asks clients to wait, in LiteLLM's exception or in the message."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import objects_in

__all__ = ["retry_after", "wait_in_words"]

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = r"(\d{1,6}(?:\.\d{1,9})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?![a-z])"
_SPANS = rf"(?:about |another |at least |for )?((?:{_SPAN}[ ,]*(?:and )?)+)"
_AGAIN = lazy_regex(
    rf"\b(?:try(?:ing)? again|retry(?:ing)?)\b[^.;\n\d]{{0,40}}?\b(?:in|after) {_SPANS}"
    rf"|\b(?:please wait|wait for|resets?(?: in| after)|available again in) {_SPANS}"
    r"|\bretry[-_ ]after['\"]?[:=] ?['\"]?(\d{1,6}(?:\.\d{1,9})?)\b"
)
"""OpenAI: "Please try again in 1m30.5s"; Azure: "Please retry after 26 seconds"; Gemini: "Please retry in 13.04s"; gateways:
"Please wait 3 seconds", "Quota resets in 45s", "retry-after: 2"."""
_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")
_RESETS = (
    ("x-ratelimit-remaining-{}", "x-ratelimit-reset-{}"),
    ("anthropic-ratelimit-{}-remaining", "anthropic-ratelimit-{}-reset"),
)
"""Headers with the rest of a limit and the time of its reset."""


def retry_after(error: BaseException, body: Mapping[str, Any], status: int | None = None) -> float | None:
    """Return the seconds that the provider asks to wait, from its header (seconds or an HTTP date) or Gemini's `RetryInfo`.
    None without one."""
    given: Any = getattr(error, "litellm_response_headers", None) or getattr(
        error, "headers", None
    )  # `error.response` is made up by LiteLLM
    headers: Any = given if hasattr(given, "get") else {}
    milliseconds = _finite(headers.get("retry-after-ms"))  # OpenAI's and Azure's, the more precise header
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    for detail in objects_in(body.get("details")):
        value = value or str(detail.get("retryDelay", "")).removesuffix("s")
    return _seconds(value) if value or (status or getattr(error, "status_code", None)) != _TOO_OFTEN else _until_reset(headers)


_TOO_OFTEN = 429


def _until_reset(headers: Mapping[str, Any]) -> float | None:
    """Seconds until all used-up limits reset, in OpenAI's (a span) or Anthropic's (a date) headers. None without such
    headers."""
    waits = [
        _span(str(reset))
        for left, until in _RESETS
        for limit in _LIMITS
        if (reset := headers.get(until.format(limit))) and str(headers.get(left.format(limit), "0")) == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _span(text: str) -> float | None:
    """The seconds of a span (`1m30.5s`), or until a date. None for other texts."""
    if re.fullmatch(rf"(?:{_SPAN})+", text):
        return _sum(text)
    with suppress(ValueError):
        return max(0.0, datetime.fromisoformat(text).timestamp() - time.time())
    return None


def _sum(spans: str) -> float:
    return sum(float(number) * _in_seconds(unit) for number, unit in re.findall(_SPAN, spans))


def wait_in_words(text: str) -> float | None:
    """Return the seconds that a server's message (lower case) asks to wait, None if it does not."""
    found = _AGAIN.search(text)
    if found is None:
        return None
    spans = next((part for part in (found[1], found[4]) if part), "")
    return _sum(spans) if spans else float(found[7])


def _in_seconds(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _seconds(value: Any) -> float | None:
    """The seconds in a number, or until an HTTP date. None for other values (`inf`, `1e400`)."""
    if (number := _finite(value)) is not None:
        return number
    try:
        return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
