"""The library's loggers, of the standard library's `logging`. Silent until the application configures them.

| logger | what it tells |
|---|---|
| `llmcore.run` | each run, request, reply and repair (DEBUG), re-asks, failures and what was learnt of an endpoint (INFO) |
| `llmcore.fallback` | waits, retries, other output modes and other models (INFO) |
| `llmcore.tools` | each call of a tool (DEBUG), those that failed (INFO); what tools leave behind |
| `llmcore.adapters` | what a provider does not take and was left out (WARNING) |
| `llmcore.capabilities` | that what was learnt of endpoints cannot be shared (WARNING, once until it can again) |
| `llmcore.agent` | how each chat ended (DEBUG), callbacks that fail (WARNING) |
| `llmcore.models` | a registry's change that could not be taken over (WARNING) |
| `llmcore.content` | what was said (DEBUG), only where this logger's own level is set: an opt-in |

DEBUG is for details, INFO for what changed the course of a run, WARNING for what someone must act on. What ends a run is raised.
No line of the others holds a prompt, a reply, an argument, a result or a secret: failures stand in them by their class and HTTP
status, exceptions of tools with their traceback and without their words.

    logging.basicConfig(level=logging.INFO)
    logging.getLogger("llmcore").setLevel(logging.DEBUG)

Every record has the fields of `FIELDS` that apply, and always `run_id` ("" outside of a run).
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import Literal

__all__ = ["FIELDS", "content_logger", "current_run", "failure_name", "logger"]

FIELDS = (
    "run_id",
    "parent_id",
    "attempt",
    "model",
    "mode",
    "reason",
    "failure",
    "status",
    "wait",
    "tool",
    "call_id",
    "turn",
    "retries",
    "duration",
    "input_tokens",
    "output_tokens",
    "cost",
)
"""What records may have as attributes (`extra`)."""

current_run: ContextVar[str] = ContextVar("llmcore_run", default="")
"""The id of the run that this code belongs to: an adapter, a hook, a tool with all it begins; "" outside of a run."""

logging.getLogger("llmcore").addHandler(logging.NullHandler())  # else warnings go to stderr where nothing is configured
"""Every logger of the library comes from `logger`, so a process in which nothing can be logged need not load any."""


class _OfTheRun(logging.Filter):
    """Gives each record the run it belongs to."""

    def filter(self, record: logging.LogRecord) -> Literal[True]:
        if not hasattr(record, "run_id"):
            record.run_id = current_run.get()
        return True


_of_the_run = _OfTheRun()


def logger(room: str) -> logging.Logger:
    """The logger of a room: `llmcore.<room>`."""
    made = logging.getLogger(f"llmcore.{room}")
    made.addFilter(_of_the_run)  # the same filter twice counts once
    return made


def content_logger() -> logging.Logger | None:
    """The logger of what was said; None where nobody asked for it by a level of its own: that of `llmcore` is not enough."""
    made = logger("content")
    return made if 0 < made.level <= logging.DEBUG else None


def failure_name(failure: BaseException) -> str:
    """A failure as it may stand in a log: its class, and the HTTP status where there was one. Its message may quote
    what the user or the model wrote."""
    status: int | None = getattr(failure, "status", None)
    return type(failure).__name__ if status is None else f"{type(failure).__name__} {status}"
