"""Secrets out of what the HTTP clients beneath us log.

At DEBUG, LiteLLM, openai and others log whole requests, headers and bodies included. A filter on their loggers takes what
the process knows of secrets out of each record; other loggers are left alone. It costs nothing at levels that are not
logged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from llmcore.adapters.secrets.known_secrets import process_scrubber, remember

__all__ = ["filter_clients", "hide_in_logs"]

_CLIENTS = frozenset({"LiteLLM", "aiohttp", "anthropic", "botocore", "httpcore", "httpx", "litellm", "openai", "urllib3"})
"""The first parts of the names of the clients' loggers."""
_loggers_seen = 0


class _SecretFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        try:
            text = record.getMessage()
        except Exception:
            return True  # logging itself reports arguments that do not fit
        scrubber = process_scrubber()
        clean = scrubber.text(text)
        if clean != text:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_text is None:
            trace = logging.Formatter().formatException(record.exc_info)
            clean = scrubber.text(trace)
            if clean != trace:
                record.exc_info, record.exc_text = None, clean
        return True


_filter = _SecretFilter()


def hide_in_logs(secrets: Iterable[str]) -> None:
    """From now on, take these secrets out of what the clients log."""
    remember(secrets)
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
