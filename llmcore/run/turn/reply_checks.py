"""Checks of a whole reply that no validator makes: broken off, refused, empty, or unusable after all re-asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmcore.adapters.base import NOTHING_SENT
from llmcore.normalizer import normalize
from llmcore.run.results.result import RunResult
from llmcore.run.turn.calls_left_out import CALL_NOT_ALLOWED
from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import object_in
from llmcore.types import (
    CallerError,
    CallsPending,
    ContextOverflow,
    Envelope,
    FallbackExhausted,
    FinishReason,
    LLMCoreError,
    ModelError,
    ModelNotFound,
    NearMiss,
    OutputParseError,
    Refused,
    RemoteServerError,
    Repair,
    ToolCall,
    ToolSet,
    Truncated,
)
from llmcore.validator import CorrectionResult
from llmcore.validator.correction.loop import FAILED_CALL_WORDS
from llmcore.validator.schema.problems import Problem, cut

__all__ = [
    "NO_ANSWER",
    "always_raises",
    "broken_reply_failure",
    "empty_reply_failure",
    "failure_cause",
    "first_call_alone",
    "forced_calls_alone",
    "missing_call_failure",
    "no_json_failure",
    "no_output_error",
    "unusable_reply_failure",
    "with_truncation_shown",
    "without_calls",
    "without_failed_call",
]

NO_ANSWER = Problem(kind="no_value", expected="an answer", got="reasoning alone", message="the reply holds no answer")
_UNEXPECTED = "UNEXPECTED_TOOL_CALL"
"""Gemini's finish reason for a call that it discarded."""
_PAUSED = "pause_turn"
"""Anthropic's stop reason for a turn whose server-side searches are not over."""
_MAX_QUOTED = 300
"""Characters of a failed call that the re-ask quotes."""
_BAD_JSON = frozenset({"json_validate_failed"})
"""The finish word for text that is no JSON although JSON was required."""


_ORDINARY = frozenset({"stop", "completed"})
"""The finish words of a complete reply."""

_BROKEN: dict[FinishReason, tuple[type[LLMCoreError], str]] = {
    "error": (RemoteServerError, "the provider says that it failed in the middle of the reply"),
    "cancelled": (RemoteServerError, "the provider says that the reply was cancelled"),
    "content_filter": (Refused, "the provider's content filter withheld the reply"),
}
"""The finish reasons after which no part of the reply may run or be the answer."""


def broken_reply_failure(envelope: Envelope) -> LLMCoreError | None:
    """The failure of a reply whose finish reason says that the model did not finish; None for any other reply.

    If the provider could not read a call and the normaliser can, the reply counts as finished. Otherwise it is asked for
    again.
    """
    word = envelope.finish_word
    if word in FAILED_CALL_WORDS or (word == _UNEXPECTED and envelope.tool_calls):
        return None
    if word == _UNEXPECTED:
        return ModelError(f"the model's call could not be read by its provider ({word})")
    if word == _PAUSED:
        return Truncated(f"the provider paused the model's turn, so this is no whole answer ({word})")
    found = _BROKEN.get(envelope.finish_reason) if envelope.finish_reason else None
    if found is None:
        return None
    kind, words = found
    if envelope.finish_reason == "content_filter" and word in _ORDINARY:  # the model's own refusal, in the field for refusals
        return kind(f"the model refused: {cut(envelope.content.strip(), _MAX_QUOTED)!r}")
    return kind(f"{words} ({word})" if word else words)


def with_truncation_shown(envelope: Envelope, *, broken: bool = False) -> Envelope:
    """The envelope with `truncated` set, if a limit ended the reply or it is `broken`. Results show the reply so."""
    if envelope.truncated or not (broken or envelope.finish_reason == "length"):
        return envelope
    return envelope.model_copy(update={"truncated": True})


def empty_reply_failure(envelope: Envelope, *, answer_due: bool) -> ModelError | None:
    """The failure of a reply that holds nothing although an answer was due; None for any other reply.

    A failed call, or one that stands in the reasoning, does not count as empty: a re-ask follows.
    """
    if any(miss.reason == "in_reasoning" for miss in envelope.near_misses):
        return None
    if envelope.content.strip() or envelope.tool_calls or envelope.finish_word in FAILED_CALL_WORDS:
        return None
    if answer_due and envelope.finish_reason != "length":
        dropped = [object_in(repair.before).get("name") for repair in envelope.repairs if repair.kind == CALL_NOT_ALLOWED]
        if dropped:
            return ModelError(
                f"the reply is a call of {cut(str(dropped[0]), 80)} and nothing else, and none is allowed (tool_choice, or tools "
                "disabled)"
            )
        return ModelError("the reply is empty")
    return None


def unusable_reply_failure(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """The failure of a turn whose re-asks did not help."""
    problems = list(result.problems or result.report.problems or (result.corrections[-1].problems if result.corrections else ()))
    how = {"repeated": "it repeated itself when asked again", "spent": "no re-ask is left"}.get(result.outcome, "it was stopped")
    problem_text = "; ".join(str(problem) for problem in problems[:3]) or "it cannot be read"
    if result.envelope.truncated or result.envelope.finish_reason == "length":
        return Truncated(f"the reply was cut short and {how}: {problem_text}")
    if typed and not result.envelope.tool_calls:
        return _parse_error(f"the answer does not fit the output type and {how}: {problem_text}", problems, result)
    failed = ModelError(f"the reply cannot be used and {how}: {problem_text}")
    failed.__cause__ = result.cause
    return failed


def no_json_failure(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """The failure of a JSON-mode reply that is text, raised before any re-ask."""
    return _ignored_request(
        "the reply is text although JSON was asked for: the endpoint seems to ignore the output format", result, typed
    )


def missing_call_failure(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """The failure of a reply that is text although a call was required, raised before any re-ask."""
    return _ignored_request("the reply is text although a call was required: the endpoint seems to ignore tools", result, typed)


def _ignored_request(words: str, result: CorrectionResult, typed: bool) -> LLMCoreError:
    words = "; ".join((words, *(str(problem) for problem in result.problems[:1])))
    return _parse_error(words, result.problems, result) if typed else ModelError(words)


def _parse_error(words: str, problems: Sequence[Problem], result: CorrectionResult) -> OutputParseError:
    failed = OutputParseError(words, problems, result.envelope.content)
    failed.__cause__ = result.cause
    return failed


def failure_cause(error: FallbackExhausted) -> LLMCoreError:
    """The error that ends the run when no strategy is left.

    If every reply was cut or refused, that is the last failure: only more tokens, or the caller, could help. The same holds
    for a history that is too long, or that holds media which no model takes.
    """
    if isinstance(error.__cause__, ContextOverflow | ModelNotFound) and str(error.__cause__).endswith(NOTHING_SENT):
        return error.__cause__
    last = error.attempts[-1].error if error.attempts else None
    alike = all(isinstance(one, Truncated | Refused) for one in error.failures)
    return last if alike and last is not None else error


def always_raises(failure: LLMCoreError) -> bool:
    """Whether the failure ends the run even if some text could stand in for an answer. Only the caller can fix refusals and
    overflows."""
    failures = failure.failures if isinstance(failure, FallbackExhausted) else [failure]
    return all(isinstance(one, Refused | ContextOverflow) for one in failures)


def no_output_error(result: RunResult, output_type: Any) -> CallerError | CallsPending:
    """The error of `execute` for a run that ended well without a value. It carries the result."""
    name = getattr(output_type, "__name__", None) or repr(output_type)
    if result.pending:
        calls = ", ".join(f"{call.name} ({call.id})" for call in result.pending)
        why = f"calls are pending: {calls}. Go on from error.partial, or use run(), and give `answers=` by their ids: "
        why += "Approve(), Deny(...), or Answer(...) for tools without a function"
    else:
        why = f"a tool or hook ended the run with a value that is no {name}. End it with one that is, or use run()"
    kind = CallsPending if result.pending else CallerError
    error = kind(f"execute() has no value of {name}: {why}")
    error.with_partial(result, result.attempts)
    return error


def without_failed_call(envelope: Envelope, *, typed: bool) -> Envelope:
    """The envelope of a reply that its provider could not read as a call. If the normaliser could not either, its text is a near
    miss instead of an answer.

    If the normaliser read calls, a repair records each of them. If there is an output type, bad JSON is left for that type to
    judge. Any other envelope is returned as it is.
    """
    words = FAILED_CALL_WORDS - _BAD_JSON if typed else FAILED_CALL_WORDS
    if envelope.finish_word not in words:
        return envelope
    if envelope.tool_calls:
        notes = [_recovered_call(call, envelope.finish_word) for call in envelope.tool_calls]
        return updated(envelope, {"repairs": [*envelope.repairs, *notes]})
    text = cut(envelope.content.strip(), _MAX_QUOTED)
    miss = NearMiss(span=(0, len(envelope.source)), name=None, reason=f"failed_at_provider: {text!r}")
    changed = updated(envelope, {"content": "", "near_misses": [miss, *envelope.near_misses]})
    return changed.attach(envelope.source, envelope.segments, [])


def without_calls(envelope: Envelope, tools: ToolSet) -> Envelope:
    """The envelope of a reply whose request allows no calls (`tool_choice` none, or no tools), without the calls that it made.
    Repairs record them.

    Calls of `tools` that the text holds are dropped, too. If one of those may only be an example, or a frame marks it as the
    answer, the text stays as it is.
    """
    read = normalize(envelope.content, tools) if len(tools) and not envelope.tool_calls else None
    framed = read is not None and bool(read.tool_calls) and not normalize(envelope.source, tools).tool_calls
    if read is None or framed or any(_is_guess(call) for call in read.tool_calls):
        calls, content = envelope.tool_calls, envelope.content
    else:
        calls, content = read.tool_calls, read.content
    if not calls:
        return envelope
    notes = [*envelope.repairs, *map(_not_allowed, calls)]
    changed = updated(envelope, {"tool_calls": [], "content": content, "needs_more_work": None, "repairs": notes})
    return changed if content == envelope.content else changed.attach(envelope.source, envelope.segments, [])


def _is_guess(call: ToolCall) -> bool:
    return any(repair.safety == "guess" for repair in call.repairs)


def forced_calls_alone(envelope: Envelope, name: str) -> Envelope:
    """The envelope with the calls of the forced tool `name` alone. Repairs record the others.

    If the reply does not call that tool, the envelope stays as it is: a re-ask follows.
    """
    wanted = [call for call in envelope.tool_calls if call.name == name]
    others = [call for call in envelope.tool_calls if call.name != name]
    if not wanted or not others:
        return envelope
    changed = updated(envelope, {"tool_calls": wanted, "repairs": [*envelope.repairs, *map(_not_allowed, others)]})
    return changed.attach(envelope.source, envelope.segments, envelope.blocks)


def first_call_alone(envelope: Envelope) -> Envelope:
    """The envelope with its first call alone (`parallel_tool_calls` False, which not every provider knows or keeps). Repairs
    record the others. The model repeats them when it has the first result."""
    if len(envelope.tool_calls) < 2:
        return envelope
    notes = list(map(_not_allowed, envelope.tool_calls[1:]))
    changed = updated(envelope, {"tool_calls": envelope.tool_calls[:1], "repairs": [*envelope.repairs, *notes]})
    return changed.attach(envelope.source, envelope.segments, envelope.blocks)


def _recovered_call(call: ToolCall, word: str) -> Repair:
    return Repair(kind="failed_at_provider", before=word, after={"name": call.name, "arguments": call.raw_arguments})


def _not_allowed(call: ToolCall) -> Repair:
    before = {"id": call.id, "name": call.name, "arguments": call.raw_arguments}
    return Repair(kind=CALL_NOT_ALLOWED, before=before, after=None, safety="guess")  # a dropped call is lost
