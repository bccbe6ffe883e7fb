"""How long a server asks to be left alone, as an exception of LiteLLM tells it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from llmcore.types.narrowing import objects_in

__all__ = ["retry_after"]


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
