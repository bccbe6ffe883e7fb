"""Fault: LiteLLM writes warnings and tracebacks of its own code to stderr, and these may quote the model's words.

- It dumps models of replies, OpenAI's and its own, whose fields hold anything. pydantic then warns, quotes the reply, and names
  no class that a filter could recognise.
- It logs the traceback of what goes wrong in a call. llmcore raises an error for that, in its own words. So LiteLLM shows the
  traceback of a call of ours at DEBUG only.
- pydantic warns of LiteLLM's models. LiteLLM filters that at its import, but test runners reset the filters for each test. If
  warnings are errors, a stream then breaks inside LiteLLM.

Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import logging
import re
import warnings
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch

__all__ = ["PATCHES", "filter_warnings"]

_IGNORED = tuple(
    ("ignore", re.compile(message, re.IGNORECASE), UserWarning, None, 0)
    for message in (
        r"items? .* on typeddict class '(\w+' (is|are) using the `readonly` qualifier|chatcompletion|standardlog)",
        r"pydantic serializer warnings:[\s\S]*(chatcompletion|_tokens|usage)",
    )
)
"""What pydantic says of LiteLLM's models, as entries of `warnings.filters`."""


def filter_warnings() -> None:
    """Put these filters first, unless they are there: a change of the list makes Python forget which warnings it has shown."""
    for entry in _IGNORED:
        if entry not in warnings.filters:
            warnings.filterwarnings("ignore", entry[1].pattern, UserWarning)


def _without_warnings(dump: Any) -> Any:
    @wraps(dump)
    def model_dump(self: Any, **options: Any) -> Any:
        return dump(self, **{"warnings": False, **options})

    return model_dump


def _without_tracebacks(handle: Any) -> Any:
    logger = handle.__self__

    @wraps(handle)
    def shown(record: logging.LogRecord) -> None:
        if not record.exc_info or current_watch() is None or logger.isEnabledFor(logging.DEBUG):
            handle(record)

    return shown


PATCHES = (
    Patch("openai.types.chat", "ChatCompletion", "model_dump", _without_warnings),
    Patch("litellm", "ModelResponse", "model_dump", _without_warnings),
    Patch("litellm._logging", "verbose_logger", "handle", _without_tracebacks),
)
