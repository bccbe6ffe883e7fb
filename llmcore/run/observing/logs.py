"""Writes a run's log lines: an observer that is active only while the loggers are enabled (see `types.logs`).

No line holds content. If a tool raised, its line has the traceback and the causes without their messages, which may quote an
argument or a key. If `llmcore.content` is enabled, its lines hold prompts, replies, arguments and results, and tracebacks have
their messages. Secrets that the process knows of are removed there, too.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.request.call_scrubber import call_scrubber
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.run.logged_errors import without_content
from llmcore.run.observing.events import ObservedRun, ToolRetry
from llmcore.run.observing.observers import Observer
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.support.code.quoted_words import MAX_MESSAGE, clipped_words
from llmcore.support.values.json_data import json_data
from llmcore.tools.results.rendering import escaped
from llmcore.types import Attempt, Envelope, ToolStarted
from llmcore.types.logs import content_logger, failure_name, logger

__all__ = ["Logbook"]

_log, _tools = logger("run"), logger("tools")
_MAX_NAME = 100
"""The longest name or id in a log line, in characters: a model may have made it up."""


class Logbook(Observer):
    """Writes the lines of the loggers `llmcore.run`, `llmcore.tools` and `llmcore.content`."""

    def run_started(self, run: ObservedRun) -> None:
        extra = {"run_id": run.id, "parent_id": run.parent_id, "model": run.model}
        _log.debug("run begins: %s%s", run.model, f", in a tool of {run.parent_id}" if run.parent_id else "", extra=extra)

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None) -> None:
        failed = error is not None and not isinstance(error, GeneratorExit)
        outcome = "ended" if error is None else f"failed ({failure_name(error)})" if failed else "was left"
        _log.log(
            logging.INFO if failed else logging.DEBUG,
            "run %s after %.2f s: %d requests, %d tool calls, %d + %d tokens",
            outcome,
            result.duration,
            len(result.attempts),
            sum(record.ran for record in result.tool_results),
            result.usage.input_tokens,
            result.usage.output_tokens,
            extra={
                "run_id": run.id,
                "model": run.model,
                "duration": result.duration,
                **_usage(result),
                **_failure(error),
            },
        )

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall) -> None:
        level = logging.INFO if attempt.reason == "reask" else logging.DEBUG
        line = "request %d: %s (%s), %s"
        _log.log(level, line, attempt.n, _place(attempt), attempt.mode, attempt.reason, extra=_labels(run, attempt))
        sent = partial(call.request.model_dump, mode="json", exclude_none=True)
        _log_content("request %d: %s", attempt.n, sent, _labels(run, attempt), partial(call_scrubber, call))

    def attempt_ended(self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None) -> None:
        extra = {
            **_labels(run, attempt),
            "duration": attempt.duration,
            **_usage(attempt),
            **_failure(error),
        }
        if error is not None or reply is None:
            failure = failure_name(error) if error is not None else "no reply"
            _log.debug("request %d failed after %.2f s: %s", attempt.n, attempt.duration, failure, extra=extra)
        else:
            _log.debug(
                "reply %d after %.2f s: %s, %d calls, %d + %d tokens",
                attempt.n,
                attempt.duration,
                reply.finish_reason,
                len(reply.tool_calls),
                attempt.usage.input_tokens,
                attempt.usage.output_tokens,
                extra=extra,
            )
        if reply is not None:
            _log_content("reply %d: %s", attempt.n, lambda: reply.model_dump(mode="json"), extra)

    def repaired(self, run: ObservedRun, repair: RepairRecord) -> None:
        extra = {"run_id": run.id, "attempt": repair.attempt, **({"call_id": _name(repair.call_id)} if repair.call_id else {})}
        one = repair.repair
        where = f"reply {repair.attempt}, {repair.of}" if repair.attempt else repair.of
        _log.debug("%s repaired: %s (%s)", where, one.kind, one.safety, extra=extra)

    def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
        name, call_id = _name(tool.name), _name(tool.tool_use_id)
        extra = {"run_id": run.id, "tool": name, "call_id": call_id, "turn": tool.turn}
        _tools.debug("tool %s (%s) begins", name, call_id, extra=extra)
        _log_content("tool %s is called with %s", name, lambda: tool.arguments, extra)

    def tool_retried(self, run: ObservedRun, retry: ToolRetry, raised: BaseException | None) -> None:
        name, call_id, error = _name(retry.name), _name(retry.tool_use_id), retry.error
        extra: dict[str, Any] = {"run_id": run.id, "tool": name, "call_id": call_id, "turn": retry.turn, "retries": retry.n}
        _tools.info(
            "tool %s (%s) failed in try %d after %.3f s: %s; it is tried again in %.2f s",
            name,
            call_id,
            retry.n,
            retry.duration,
            f"{error.type}, {error.exception}" if error.exception else error.type,
            retry.wait,
            extra={**extra, "duration": retry.duration, "wait": retry.wait, "failure": error.exception or error.type},
            exc_info=None if raised is None else without_content(raised),
        )

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
        error, call_id = record.error, _name(record.id)
        name = "of an unknown name" if error is not None and error.type == "not_found" else _name(record.name)
        extra: dict[str, Any] = {"run_id": run.id, "tool": name, "call_id": call_id, "turn": record.turn}
        extra |= {"retries": record.retries, "duration": record.duration}
        if error is None:
            _tools.debug("tool %s (%s) ended after %.3f s", name, call_id, record.duration, extra=extra)
        else:
            words = f"{error.type}, {error.exception}" if error.exception else error.type
            outcome = "failed" if record.ran else "was not carried out"
            _tools.info(
                "tool %s (%s) %s after %.3f s: %s",
                name,
                call_id,
                outcome,
                record.duration,
                words,
                extra={**extra, "failure": error.exception or error.type},
                exc_info=None if raised is None else without_content(raised),
            )
        _log_content("tool %s gave %s", name, lambda: record.content, extra)


def _log_content(
    line: str, which: object, what: Any, extra: dict[str, Any], scrubber: Callable[[], Scrubber] = process_scrubber
) -> None:
    """Log a line of content, if that is enabled. `what` makes the content, and `scrubber` removes its secrets."""
    log = content_logger()
    if log is not None:
        shown = scrubber().value(json_data(what()))
        log.debug(line, which, clipped_words(json.dumps(shown, ensure_ascii=False), MAX_MESSAGE), extra=extra)


def _place(attempt: Attempt) -> str:
    return f"{attempt.model}@{attempt.deployment}" if attempt.deployment else attempt.model


def _name(text: str) -> str:
    """A model's name or id, in one line."""
    return escaped(text if text.isprintable() else ascii(text))[:_MAX_NAME]


def _labels(run: ObservedRun, attempt: Attempt) -> dict[str, Any]:
    return {"run_id": run.id, "attempt": attempt.n, "model": attempt.model, "mode": attempt.mode, "reason": attempt.reason}


def _usage(on: Attempt | RunResult[Any]) -> dict[str, Any]:
    return {"input_tokens": on.usage.input_tokens, "output_tokens": on.usage.output_tokens, "cost": on.usage.cost}


def _failure(error: BaseException | None) -> dict[str, Any]:
    return {} if error is None else {"failure": type(error).__name__, "status": getattr(error, "status", None)}
