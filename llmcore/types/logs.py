"""The library's loggers, of the standard library's `logging`. Silent until the application configures them.

| logger | what it tells |
|---|---|
| `llmcore.run` | each request and reply (DEBUG), re-asks and what was learnt of an endpoint (INFO) |
| `llmcore.fallback` | waits, retries, other output modes and other models (INFO) |
| `llmcore.adapters` | what a provider does not take and was left out (WARNING) |
| `llmcore.capabilities` | that what was learnt of endpoints cannot be shared (WARNING, once until it can again) |
| `llmcore.tools` | what tools leave behind |
| `llmcore.agent` | how each chat ended (DEBUG), callbacks that fail (WARNING) |
| `llmcore.models` | a registry's change that could not be taken over (WARNING) |

A warning is for what someone must act on. What ends a run is raised, not logged. No line of any level holds a prompt,
a reply, an argument or a secret: failures stand in them by their class and HTTP status.

    logging.basicConfig(level=logging.INFO)
    logging.getLogger("llmcore").setLevel(logging.DEBUG)
"""

from __future__ import annotations

import logging

__all__ = ["failure_name", "logger"]

logging.getLogger("llmcore").addHandler(logging.NullHandler())  # else warnings go to stderr where nothing is configured


def logger(room: str) -> logging.Logger:
    """The logger of a room: `llmcore.<room>`."""
    return logging.getLogger(f"llmcore.{room}")


def failure_name(failure: BaseException) -> str:
    """A failure as it may stand in a log: its class, and the HTTP status where there was one. Its message may quote
    what the user or the model wrote."""
    status: int | None = getattr(failure, "status", None)
    return type(failure).__name__ if status is None else f"{type(failure).__name__} {status}"
