"""The library's `logging` loggers. They are silent until the application configures them.

| logger | what it logs |
|---|---|
| `llmcore.run` | each run, request, reply and repair (DEBUG); re-asks, failures and new facts about an endpoint (INFO) |
| `llmcore.fallback` | waits, retries, other output modes and other models (INFO) |
| `llmcore.tools` | each tool call (DEBUG); failed ones (INFO); what tools leave behind; unusable tools of MCP servers (WARNING) |
| `llmcore.adapters` | parts of a request that a provider does not accept and llmcore left out (WARNING) |
| `llmcore.capabilities` | facts about endpoints that cannot be shared (WARNING, once until sharing works again) |
| `llmcore.agent` | how each chat ended (DEBUG); callbacks that fail (WARNING) |
| `llmcore.models` | a change of a registry file that could not be loaded (WARNING) |
| `llmcore.wire` | how many calls of a rewritten reply were handed out, and why others were not (DEBUG) |
| `llmcore.gateway` | each request to the gateway, with its outcome (INFO); what the gateway failed at (ERROR) |
| `llmcore.content` | prompts and replies (DEBUG), only if this logger's own level is set: an opt-in |

DEBUG is for details, INFO for what changed the course of a run, WARNING for what someone must act on. What ends a run is raised.
No record of the other loggers has a prompt, a reply, an argument, a result or a secret. Failures appear by their class and HTTP
status, exceptions of tools with their traceback and without their message.

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
"""The attributes that a record may have (`extra`)."""

current_run: ContextVar[str] = ContextVar("llmcore_run", default="")
"""The id of the current run, also in its adapters, hooks and tools and the tasks that they start; "" outside of a run."""

logging.getLogger("llmcore").addHandler(logging.NullHandler())  # else warnings go to stderr where nothing is configured


class _RunIdFilter(logging.Filter):
    """Adds the id of the current run to each record."""

    def filter(self, record: logging.LogRecord) -> Literal[True]:
        if not hasattr(record, "run_id"):
            record.run_id = current_run.get()
        return True


_run_id_filter = _RunIdFilter()


def logger(name: str) -> logging.Logger:
    """The logger `llmcore.<name>`."""
    made = logging.getLogger(f"llmcore.{name}")
    made.addFilter(_run_id_filter)  # adding it twice has no effect
    return made


def content_logger() -> logging.Logger | None:
    """The logger of prompts and replies; None unless its own level is set. The level of `llmcore` does not count."""
    made = logger("content")
    return made if 0 < made.level <= logging.DEBUG else None


def failure_name(failure: BaseException) -> str:
    """A failure for a log: its class, and its HTTP status if it has one. Its message may quote the user or the model."""
    status: int | None = getattr(failure, "status", None)
    return type(failure).__name__ if status is None else f"{type(failure).__name__} {status}"
