"""Removes secrets from the logs of the HTTP clients that llmcore uses.

At DEBUG, LiteLLM, openai and others log whole requests with headers and bodies. A filter on their loggers removes the
process's known secrets from each record. Other loggers are not changed. Levels that are not logged cost nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from llmcore.adapters.secrets.known_secrets import process_scrubber, remember

__all__ = ["filter_clients", "hide_in_logs"]

_CLIENTS = frozenset({"LiteLLM", "aiohttp", "anthropic", "botocore", "httpcore", "httpx", "litellm", "openai", "urllib3"})
"""The first parts of the client loggers' names."""
_loggers_seen = 0


class _SecretFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        try:
            text = record.getMessage()
        except Exception:
            return True  # logging reports mismatched arguments itself
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
    """Remove these secrets from the clients' logs from now on."""
    remember(secrets)
    filter_clients()


def filter_clients() -> None:
    """Add the filter to every existing logger of a client. Each needs it, since a logger's filter does not apply to child
    loggers."""
    global _loggers_seen
    loggers = logging.root.manager.loggerDict
    if len(loggers) == _loggers_seen:
        return
    _loggers_seen = len(loggers)
    for name, logger in list(loggers.items()):
        if isinstance(logger, logging.Logger) and name.replace(" ", ".").partition(".")[0] in _CLIENTS:
            logger.addFilter(_filter)  # adding the same filter twice has no effect
