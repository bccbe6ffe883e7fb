"""Judgements about a whole reply that are no validator's: broken off, refused, empty, or not to be used after all re-asks."""

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
    "broken_off",
    "cut_shown",
    "emptiness",
    "failure_cause",
    "first_call_alone",
    "forced_calls_alone",
    "no_json",
    "no_output",
    "required_call_missing",
    "unusable_after_reasks",
    "without_calls",
    "without_failed_call",
]

NO_ANSWER = Problem(kind="no_value", expected="an answer", got="reasoning alone", message="the reply holds no answer")
_UNEXPECTED = "UNEXPECTED_TOOL_CALL"
"""Gemini's word for a call that it threw away."""
_PAUSED = "pause_turn"
"""Anthropic's word for a turn of its own searches that is not over."""
_MAX_SAID = 300
"""Characters of a failed call that the re-ask quotes."""
_BAD_JSON = frozenset({"json_validate_failed"})
"""Of these words, the one for text that is not the JSON it was to be."""


_ORDINARY = frozenset({"stop", "completed"})
"""Finish words of a reply that came to its end."""

_BROKEN: dict[FinishReason, tuple[type[LLMCoreError], str]] = {
    "error": (RemoteServerError, "the provider says that it failed in the middle of the reply"),
    "cancelled": (RemoteServerError, "the provider says that the reply was cancelled"),
    "content_filter": (Refused, "the provider's content filter held the reply back"),
}
"""Ends after which nothing of a reply may run or be the answer, whatever came before."""


def broken_off(envelope: Envelope) -> LLMCoreError | None:
    """What a reply's end says, where it says that this is not all that the model meant to say; else None. A call that its
    provider could not read is no such end where we can read it; else it is asked for again."""
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
    if envelope.finish_reason == "content_filter" and word in _ORDINARY:  # the model said it, in its wire's part for refusals
        return kind(f"the model refused: {cut(envelope.content.strip(), _MAX_SAID)!r}")
    return kind(f"{words} ({word})" if word else words)


def cut_shown(envelope: Envelope, *, broken: bool = False) -> Envelope:
    """The envelope with `truncated` set, if a limit ended the reply or it is `broken` off: as a result shows it, where
    nothing is judged any more."""
    if envelope.truncated or not (broken or envelope.finish_reason == "length"):
        return envelope
    return envelope.model_copy(update={"truncated": True})


def emptiness(envelope: Envelope, *, answer_due: bool) -> ModelError | None:
    """What is wrong with a reply that holds nothing although an answer was due; None for any other. A failed call, and one that
    stands in the reasoning, are no empty reply: they are asked for again."""
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


def unusable_after_reasks(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """Why a turn is given up after its re-asks."""
    problems = list(result.problems or result.report.problems or (result.corrections[-1].problems if result.corrections else ()))
    how = {"repeated": "it repeated itself when asked again", "spent": "no re-ask is left"}.get(result.outcome, "it was stopped")
    said = "; ".join(str(problem) for problem in problems[:3]) or "it cannot be read"
    if result.envelope.truncated or result.envelope.finish_reason == "length":
        return Truncated(f"the reply was cut short and {how}: {said}")
    if typed and not result.envelope.tool_calls:
        return _no_value(f"the answer does not fit the output type and {how}: {said}", problems, result)
    failed = ModelError(f"the reply cannot be used and {how}: {said}")
    failed.__cause__ = result.cause
    return failed


def no_json(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """Why a turn is given up before its re-asks where JSON mode gave words."""
    return _ignored("words came where JSON was asked for: the endpoint seems to ignore the output format", result, typed)


def required_call_missing(result: CorrectionResult, *, typed: bool) -> LLMCoreError:
    """Why a turn is given up before its re-asks where a call was required and words came."""
    return _ignored("a call was required and words came: the endpoint seems to ignore tools", result, typed)


def _ignored(words: str, result: CorrectionResult, typed: bool) -> LLMCoreError:
    words = "; ".join((words, *(str(problem) for problem in result.problems[:1])))
    return _no_value(words, result.problems, result) if typed else ModelError(words)


def _no_value(words: str, problems: Sequence[Problem], result: CorrectionResult) -> OutputParseError:
    failed = OutputParseError(words, problems, result.envelope.content)
    failed.__cause__ = result.cause
    return failed


def failure_cause(error: FallbackExhausted) -> LLMCoreError:
    """What ends the run when nothing is left to try: where every reply was cut or refused, the last of them as itself, since only
    more room would have helped, or the caller can do something about it. So is a history that has grown too long."""
    if isinstance(error.__cause__, ContextOverflow) and str(error.__cause__).endswith(NOTHING_SENT):
        return error.__cause__
    last = error.attempts[-1].error if error.attempts else None
    alike = all(isinstance(one, Truncated | Refused) for one in error.failures)
    return last if alike and last is not None else error


def always_raises(failure: LLMCoreError) -> bool:
    """Does such a failure end the run also where some text could stand in for an answer? The refusals and the overflows do,
    which only the caller can do something about."""
    failures = failure.failures if isinstance(failure, FallbackExhausted) else [failure]
    return all(isinstance(one, Refused | ContextOverflow) for one in failures)


def no_output(result: RunResult, output_type: Any) -> CallerError | CallsPending:
    """Why `execute` has no value to return of a run that ended well; the result rides on it."""
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
    """The envelope of a reply that its provider could not read as a call, and neither could we: what it says is no
    answer, but a near miss. With a typed output bad JSON is left to the type to judge.

    Calls that we could read are noted. Any other envelope is returned as it is.
    """
    words = FAILED_CALL_WORDS - _BAD_JSON if typed else FAILED_CALL_WORDS
    if envelope.finish_word not in words:
        return envelope
    if envelope.tool_calls:
        notes = [_read_by_us(call, envelope.finish_word) for call in envelope.tool_calls]
        return updated(envelope, {"repairs": [*envelope.repairs, *notes]})
    said = cut(envelope.content.strip(), _MAX_SAID)
    miss = NearMiss(span=(0, len(envelope.source)), name=None, reason=f"failed_at_provider: {said!r}")
    changed = updated(envelope, {"content": "", "near_misses": [miss, *envelope.near_misses]})
    return changed.attach(envelope.source, envelope.segments, [])


def without_calls(envelope: Envelope, tools: ToolSet) -> Envelope:
    """The envelope of a reply that may not hold calls (`tool_choice` none, no tools in the request): those it made anyway are
    dropped, recorded. So are calls of `tools`, the run's, that it wrote as text, be they all that it says; where one of those may
    only be shown, or that a frame says to be the answer, the text stays as it is."""
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
    """The envelope of a reply that was to call the tool `name` (`tool_choice`): where it does, its calls of others are dropped,
    recorded. A reply that does not call it stays as it is: it is asked for again."""
    wanted = [call for call in envelope.tool_calls if call.name == name]
    others = [call for call in envelope.tool_calls if call.name != name]
    if not wanted or not others:
        return envelope
    changed = updated(envelope, {"tool_calls": wanted, "repairs": [*envelope.repairs, *map(_not_allowed, others)]})
    return changed.attach(envelope.source, envelope.segments, envelope.blocks)


def first_call_alone(envelope: Envelope) -> Envelope:
    """The envelope of a reply that may hold one call (`parallel_tool_calls` False, which not every provider knows or keeps): the
    others are dropped, recorded. The model makes them again when it has the first one's result."""
    if len(envelope.tool_calls) < 2:
        return envelope
    notes = list(map(_not_allowed, envelope.tool_calls[1:]))
    changed = updated(envelope, {"tool_calls": envelope.tool_calls[:1], "repairs": [*envelope.repairs, *notes]})
    return changed.attach(envelope.source, envelope.segments, envelope.blocks)


def _read_by_us(call: ToolCall, word: str) -> Repair:
    return Repair(kind="failed_at_provider", before=word, after={"name": call.name, "arguments": call.raw_arguments})


def _not_allowed(call: ToolCall) -> Repair:
    before = {"id": call.id, "name": call.name, "arguments": call.raw_arguments}
    return Repair(kind=CALL_NOT_ALLOWED, before=before, after=None, safety="guess")  # what is dropped is lost
