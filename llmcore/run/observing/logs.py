"""What a run writes into the log: an observer like any other, there only while somebody listens (see `types.logs`).

No line holds what anybody wrote. What a tool raised stands in its line with its traceback and its causes, without their words,
which may quote an argument or a key. Where `llmcore.content` is switched on, its lines tell prompts, replies, arguments and
results, and the tracebacks their words; secrets that the process knows of are taken out there too.
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
_MOST_NAME = 100
"""Characters of a name or an id, which may be a model's own."""


class Logbook(Observer):
    """The lines of the loggers `llmcore.run`, `llmcore.tools` and `llmcore.content`."""

    def run_started(self, run: ObservedRun) -> None:
        extra = {"run_id": run.id, "parent_id": run.parent_id, "model": run.model}
        _log.debug("run begins: %s%s", run.model, f", in a tool of {run.parent_id}" if run.parent_id else "", extra=extra)

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None) -> None:
        failed = error is not None and not isinstance(error, GeneratorExit)
        became = "ended" if error is None else f"failed ({failure_name(error)})" if failed else "was left"
        _log.log(
            logging.INFO if failed else logging.DEBUG,
            "run %s after %.2f s: %d requests, %d tool calls, %d + %d tokens",
            became,
            result.duration,
            len(result.attempts),
            sum(record.ran for record in result.tool_results),
            result.usage.input_tokens,
            result.usage.output_tokens,
            extra={"run_id": run.id, "model": run.model, "duration": result.duration, **_spent(result), **_why(error)},
        )

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall) -> None:
        level = logging.INFO if attempt.reason == "reask" else logging.DEBUG
        line = "request %d: %s (%s), %s"
        _log.log(level, line, attempt.n, _place(attempt), attempt.mode, attempt.reason, extra=_of(run, attempt))
        sent = partial(call.request.model_dump, mode="json", exclude_none=True)
        _say("request %d: %s", attempt.n, sent, _of(run, attempt), partial(call_scrubber, call))

    def attempt_ended(self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None) -> None:
        extra = {**_of(run, attempt), "duration": attempt.duration, **_spent(attempt), **_why(error)}
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
            _say("reply %d: %s", attempt.n, lambda: reply.model_dump(mode="json"), extra)

    def repaired(self, run: ObservedRun, repair: RepairRecord) -> None:
        extra = {"run_id": run.id, "attempt": repair.attempt, **({"call_id": _name(repair.call_id)} if repair.call_id else {})}
        one = repair.repair
        where = f"reply {repair.attempt}, {repair.of}" if repair.attempt else repair.of
        _log.debug("%s repaired: %s (%s)", where, one.kind, one.safety, extra=extra)

    def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
        name, call_id = _name(tool.name), _name(tool.tool_use_id)
        extra = {"run_id": run.id, "tool": name, "call_id": call_id, "turn": tool.turn}
        _tools.debug("tool %s (%s) begins", name, call_id, extra=extra)
        _say("tool %s is called with %s", name, lambda: tool.arguments, extra)

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
            became = "failed" if record.ran else "was not carried out"
            _tools.info(
                "tool %s (%s) %s after %.3f s: %s",
                name,
                call_id,
                became,
                record.duration,
                words,
                extra={**extra, "failure": error.exception or error.type},
                exc_info=None if raised is None else without_content(raised),
            )
        _say("tool %s gave %s", name, lambda: record.content, extra)


def _say(line: str, which: object, what: Any, extra: dict[str, Any], scrubber: Callable[[], Scrubber] = process_scrubber) -> None:
    """A line of content, where it was asked for; `what` makes it, without what `scrubber` takes out."""
    log = content_logger()
    if log is not None:
        shown = scrubber().value(json_data(what()))
        log.debug(line, which, clipped_words(json.dumps(shown, ensure_ascii=False), MAX_MESSAGE), extra=extra)


def _place(attempt: Attempt) -> str:
    return f"{attempt.model}@{attempt.deployment}" if attempt.deployment else attempt.model


def _name(text: str) -> str:
    """A name or an id of a model's in one line."""
    return escaped(text if text.isprintable() else ascii(text))[:_MOST_NAME]


def _of(run: ObservedRun, attempt: Attempt) -> dict[str, Any]:
    return {"run_id": run.id, "attempt": attempt.n, "model": attempt.model, "mode": attempt.mode, "reason": attempt.reason}


def _spent(on: Attempt | RunResult[Any]) -> dict[str, Any]:
    return {"input_tokens": on.usage.input_tokens, "output_tokens": on.usage.output_tokens, "cost": on.usage.cost}


def _why(error: BaseException | None) -> dict[str, Any]:
    return {} if error is None else {"failure": type(error).__name__, "status": getattr(error, "status", None)}
