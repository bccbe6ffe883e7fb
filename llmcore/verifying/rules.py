"""The rules that an endpoint keeps or breaks, as a table. A check returns what is wrong, or "" if nothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from llmcore.support.code.quoted_words import clipped_words
from llmcore.types import RemoteServerError
from llmcore.verifying.observation import CallError, Observation, SentCall

__all__ = ["RULES", "Rule", "broken_rules", "rule_applies"]

_SHOWN = 120


class Rule(NamedTuple):
    """A rule. `applies`: whether an observation without an error keeps or breaks it. `check`: what is wrong with one."""

    words: str
    applies: Callable[[Observation], bool]
    check: Callable[[Observation], str]


def broken_rules(seen: Observation) -> dict[str, str]:
    """What is wrong, by the name of the rule that is broken."""
    found = {name: rule.check(seen) for name, rule in RULES.items() if rule_applies(name, seen)}
    return {name: problem for name, problem in found.items() if problem}


def rule_applies(name: str, seen: Observation) -> bool:
    """Whether an observation keeps or breaks a rule. One that ended in an error can break only the rules about errors."""
    return RULES[name].applies(seen) and (seen.error is None or name in _OF_ERRORS)


def _always(seen: Observation) -> bool:
    return True


def _is_streamed(seen: Observation) -> bool:
    return seen.question.streamed


def _has_calls(seen: Observation) -> bool:
    return bool(seen.envelope.tool_calls)


def _wants_calls(seen: Observation) -> bool:
    return seen.question.case.calls > 0


def _wants_several(seen: Observation) -> bool:
    return seen.question.case.calls > 1


def _has_streamed_calls(seen: Observation) -> bool:
    return seen.question.streamed and _has_calls(seen)


def _wants_words(seen: Observation) -> bool:
    return seen.question.case.calls == 0 and not seen.question.case.history


def _has_result(seen: Observation) -> bool:
    return bool(seen.question.case.history)


def _is_forced(seen: Observation) -> bool:
    return seen.question.case.tool_choice not in ("auto", "none")


def _wants_values(seen: Observation) -> bool:
    return seen.question.arguments is not None and _has_calls(seen)


def _shown(text: str) -> str:
    return clipped_words(" ".join(text.split()), _SHOWN)


def _answered(seen: Observation) -> str:
    if seen.error is None or _is_cut(seen):
        return ""
    return f"{type(seen.error).__name__}: {_shown(str(seen.error))}"


def _stream_ends(seen: Observation) -> str:
    return f"the stream was cut: {_shown(str(seen.error))}" if _is_cut(seen) else ""


def _is_cut(seen: Observation) -> bool:
    return seen.question.streamed and isinstance(seen.error, RemoteServerError) and bool(seen.pieces)


def _calls(seen: Observation) -> str:
    if seen.envelope.tool_calls:
        return ""
    return f"no call came: {_shown(seen.envelope.content) or 'the reply is empty'}"


def _native(seen: Observation) -> str:
    if seen.as_text:
        return f"the call stands in the text ({seen.as_text[0].dialect})"
    misses = seen.envelope.near_misses if _wants_calls(seen) and not seen.native else ()
    return f"text that looks like a call came ({misses[0].reason})" if misses else ""


def _not_asked(seen: Observation) -> str:
    names = [call.name for call in seen.envelope.tool_calls]
    return f"called {', '.join(names)} without need" if names else ""


def _choice(seen: Observation) -> str:
    wanted, names = set(seen.question.case.names), [call.name for call in seen.envelope.tool_calls]
    if names and set(names) <= wanted:
        return ""
    return f"called {', '.join(names) or 'nothing'} where {', '.join(wanted)} was forced"


def _parallel(seen: Observation) -> str:
    count = len(seen.envelope.tool_calls)
    return f"one call in place of {seen.question.case.calls}" if count == 1 else ""


def _without_error(error: CallError) -> Callable[[Observation], str]:
    def check(seen: Observation) -> str:
        for call, (as_written, _) in zip(seen.envelope.tool_calls, seen.errors, strict=True):
            if error in as_written:
                return f"{_shown(call.name)} {_shown(call.raw_arguments) or '(empty text)'}"
        return ""

    return check


def _exact(seen: Observation) -> str:
    wanted: Mapping[str, Any] = seen.question.arguments or {}
    calls = [call for call in seen.envelope.tool_calls if call.arguments is not None]
    if not calls or any(wanted == call.arguments for call in calls):
        return ""
    return f"expected {dict(wanted)!r}, got {_shown(repr(calls[0].arguments))}"


def _ids(seen: Observation) -> str:
    ids = [call.id for call in seen.sent_calls or ()]
    if not all(ids):
        return "a call has no id"
    return "" if len(set(ids)) == len(ids) else f"two calls have the id {_shown(ids[0])}"


def _index(seen: Observation) -> str:
    sent: list[SentCall] = seen.sent_calls or []
    if any(not isinstance(call.index, int) for call in sent):
        return "a part of a call has no index"
    if any(len(call.ids) > 1 for call in sent):
        return "several calls have one index"
    return "" if all(call.name for call in sent) else "a call has no name"


def _finish(seen: Observation) -> str:
    wanted = "tool_calls" if seen.native else "stop"
    word = seen.envelope.finish_word
    if not word:
        return "no finish reason came"
    if word in _CALL_WORDS if wanted == "tool_calls" else word not in _CALL_WORDS:
        return ""
    return f"{_shown(word)} where {'calls came' if seen.native else 'no call came'}"


_CALL_WORDS = frozenset({"tool_calls", "tool_use", "function_call", "TOOL_CALL"})


def _needs_finish(seen: Observation) -> bool:
    return not _is_forced(seen)  # with a forced tool, OpenAI itself says `stop`


def _after_result(seen: Observation) -> str:
    if seen.envelope.tool_calls:
        return f"called {seen.envelope.tool_calls[0].name} again"
    answer = seen.question.case.answer
    return "" if answer in seen.envelope.content else f"the answer does not use the result: {_shown(seen.envelope.content)}"


def _reasoning_apart(seen: Observation) -> str:
    spans = [each for each in seen.envelope.segments if each.kind == "reasoning"]
    if not spans or not seen.envelope.source[spans[0].start : spans[0].end].strip():
        return ""
    return f"reasoning stands in the text: {_shown(seen.envelope.source[spans[0].start :])}"


RULES: Mapping[str, Rule] = {
    "answered": Rule("The request is answered without an error.", _always, _answered),
    "stream_ends": Rule("A stream is not cut.", _is_streamed, _stream_ends),
    "call_made": Rule("A request that needs a call gets one.", _wants_calls, _calls),
    "native_calls": Rule("A call stands in the field for calls, not in the text.", _always, _native),
    "no_needless_call": Rule("A request that needs or allows no call gets none.", _wants_words, _not_asked),
    "tool_choice": Rule("The forced tool is called.", _is_forced, _choice),
    "parallel_calls": Rule("Several calls fit in one reply.", _wants_several, _parallel),
    "valid_json": Rule("The arguments are valid JSON, an object.", _has_calls, _without_error("invalid_json")),
    "known_name": Rule("The name is that of an offered tool.", _has_calls, _without_error("unknown_name")),
    "fits_schema": Rule("The arguments fit the tool's schema.", _has_calls, _without_error("schema_mismatch")),
    "exact_arguments": Rule("Arguments arrive as they were asked for, in any alphabet.", _wants_values, _exact),
    "call_ids": Rule("Each call has an id of its own.", _has_calls, _ids),
    "stream_index": Rule("In a stream, each call has an index and a name.", _has_streamed_calls, _index),
    "finish_reason": Rule("The finish reason says whether calls came.", _needs_finish, _finish),
    "uses_results": Rule("A result of a tool is used in the answer.", _has_result, _after_result),
    "reasoning_apart": Rule("Reasoning stands in its own field.", _always, _reasoning_apart),
}
"""Every rule, by its name in reports."""

_OF_ERRORS = frozenset({"answered", "stream_ends"})
