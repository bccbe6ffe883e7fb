"""Secrets out of what the HTTP clients beneath us log.

At DEBUG, LiteLLM, openai and others log whole requests, headers and bodies included. A filter on their loggers takes the
secrets of the latest requests out of each record; other loggers are left alone. It costs nothing at levels that are not
logged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from llmcore.adapters.secrets import Scrubber

__all__ = ["filter_clients", "hide_in_logs"]

_CLIENTS = frozenset({"LiteLLM", "aiohttp", "anthropic", "botocore", "httpcore", "httpx", "litellm", "openai", "urllib3"})
"""The first parts of the names of the clients' loggers."""
_KEPT = 128
"""Secrets that are remembered, the latest ones."""

_lock = threading.Lock()
_known: dict[str, None] = {}
_scrubber = Scrubber()
_loggers_seen = 0


class _SecretFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        try:
            text = record.getMessage()
        except Exception:
            return True  # logging itself reports arguments that do not fit
        clean = _scrubber.text(text)
        if clean != text:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_text is None:
            trace = logging.Formatter().formatException(record.exc_info)
            clean = _scrubber.text(trace)
            if clean != trace:
                record.exc_info, record.exc_text = None, clean
        return True


_filter = _SecretFilter()


def hide_in_logs(secrets: Iterable[str]) -> None:
    """From now on, take these secrets out of what the clients log."""
    global _scrubber
    with _lock:
        before = list(_known)
        for secret in secrets:
            _known.pop(secret, None)
            _known[secret] = None
        for secret in list(_known)[:-_KEPT]:
            del _known[secret]
        if list(_known) != before:
            _scrubber = Scrubber(_known)
    filter_clients()


def filter_clients() -> None:
    """Put the filter on every logger of a client that there is by now. A logger's filter does not hold for the loggers
    below it, so each gets it."""
    global _loggers_seen
    loggers = logging.root.manager.loggerDict
    if len(loggers) == _loggers_seen:
        return
    _loggers_seen = len(loggers)
    for name, logger in list(loggers.items()):
        if isinstance(logger, logging.Logger) and name.replace(" ", ".").partition(".")[0] in _CLIENTS:
            logger.addFilter(_filter)  # the same filter twice counts once
