"""The figures of a verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from llmcore.about import build_info
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.models import ModelConfig
from llmcore.types import Usage
from llmcore.verifying.observation import CALL_ERRORS, CallError, Observation
from llmcore.verifying.rules import RULES, broken_rules, rule_applies

__all__ = ["RuleResult", "VerifyReport"]

_FORMAT = "llmcore-verify-1"


class RuleResult(NamedTuple):
    """How often a rule was kept. A pair is (kept, asked): of whole replies, and of streamed ones. `example`: the first breach."""

    whole: tuple[int, int]
    streamed: tuple[int, int]
    example: str

    @property
    def holds(self) -> bool:
        return self.whole[0] == self.whole[1] and self.streamed[0] == self.streamed[1]


@dataclass(frozen=True)
class VerifyReport:
    """The observations of a verification, and the figures derived from them.

    `reference`: another endpoint that got the same questions, and its observations. `seconds`: how long the verification took.
    """

    config: ModelConfig
    observations: Sequence[Observation]
    reference: tuple[ModelConfig, Sequence[Observation]] | None
    seconds: float

    @cached_property
    def rules(self) -> dict[str, RuleResult]:
        """The results of the rules that apply to an observation, by the rule's name."""
        found = [(one, broken_rules(one)) for one in self.observations]
        return {name: result for name in RULES if (result := _result(name, found)) is not None}

    @property
    def broken(self) -> list[str]:
        return [name for name, result in self.rules.items() if not result.holds]

    @cached_property
    def calls(self) -> int:
        """The number of calls, native and in text."""
        return sum(len(one.envelope.tool_calls) for one in self.observations)

    @cached_property
    def error_counts(self) -> dict[CallError, tuple[int, int]]:
        """By error: how many calls had it as they were sent, and how many after llmcore's repairs."""
        raw, repaired = Counter[CallError](), Counter[CallError]()
        for one in self.observations:
            for as_written, left in one.errors:
                raw.update(as_written)
                repaired.update(left)
        return {error: (raw[error], repaired[error]) for error in CALL_ERRORS}

    @cached_property
    def trigger(self) -> tuple[float, float] | None:
        """The F1 score of whether a call came, against the reference: of native calls, and of all calls that llmcore reads.

        None without a reference, and if no question was answered by both with a call from either.
        """
        if self.reference is None:
            return None
        pairs = [pair for pair in zip(self.observations, self.reference[1], strict=True) if not any(one.error for one in pair)]
        scores = [_f1(((bool(read(own)), bool(other.envelope.tool_calls)) for own, other in pairs)) for read in _READINGS]
        return None if scores[0] is None or scores[1] is None else (scores[0], scores[1])

    @property
    def requests(self) -> int:
        return len(self.observations) + (len(self.reference[1]) if self.reference is not None else 0)

    @property
    def usage(self) -> Usage:
        """The tokens and the cost of the endpoint, without those of the reference."""
        return sum((one.usage for one in self.observations), Usage())

    def as_data(self) -> dict[str, Any]:
        """Everything as JSON data without secrets, for the one who runs the endpoint."""
        data = {
            "format": _FORMAT,
            "llmcore": str(build_info()),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "endpoint": self.config.endpoint.key,
            "reference": self.reference[0].endpoint.key if self.reference is not None else None,
            "requests": self.requests,
            "seconds": round(self.seconds, 1),
            "usage": self.usage.model_dump(mode="json"),
            "rules": {name: _rule_data(name, result) for name, result in self.rules.items()},
            "calls": self.calls,
            "errors": {error: {"raw": raw, "repaired": left} for error, (raw, left) in self.error_counts.items()},
            "trigger_f1": None if self.trigger is None else {"raw": self.trigger[0], "repaired": self.trigger[1]},
            "observations": [_observation_data(one) for one in self.observations],
        }
        scrubbed: dict[str, Any] = process_scrubber().value(data)
        return scrubbed


_READINGS: tuple[Callable[[Observation], object], ...] = (lambda one: one.native, lambda one: one.envelope.tool_calls)


def _result(name: str, found: Iterable[tuple[Observation, dict[str, str]]]) -> RuleResult | None:
    counts, example = {False: [0, 0], True: [0, 0]}, ""
    for one, broken in found:
        if not rule_applies(name, one):
            continue
        pair = counts[one.question.streamed]
        pair[0] += name not in broken
        pair[1] += 1
        if name in broken and not example:
            example = f"{one.question.case.name}: {broken[name]}"
    if not counts[False][1] + counts[True][1]:
        return None
    return RuleResult((counts[False][0], counts[False][1]), (counts[True][0], counts[True][1]), example)


def _f1(pairs: Iterable[tuple[bool, bool]]) -> float | None:
    """2 TP / (2 TP + FP + FN). `pairs`: whether the endpoint called, and whether the reference did."""
    counts = Counter(pairs)
    hits, misses = counts[True, True], counts[True, False] + counts[False, True]
    return 2 * hits / (2 * hits + misses) if hits or misses else None


def _rule_data(name: str, result: RuleResult) -> dict[str, Any]:
    pairs = {"whole": result.whole, "streamed": result.streamed}
    shares = {mode: {"kept": kept, "asked": asked} for mode, (kept, asked) in pairs.items()}
    return {"rule": RULES[name].words, "holds": result.holds, **shares, "example": result.example}


def _observation_data(one: Observation) -> dict[str, Any]:
    question = one.question
    return {
        "case": question.case.name,
        "prompt": question.case.prompts[question.prompt],
        "streamed": question.streamed,
        "tools": [tool.name for tool in question.tools],
        "tool_choice": question.case.tool_choice,
        "reply": list(one.pieces),
        "error": None if one.error is None else {"type": type(one.error).__name__, "message": str(one.error)},
        "calls": [{"name": call.name, "arguments": call.arguments, "dialect": call.dialect} for call in one.envelope.tool_calls],
        "broken": broken_rules(one),
        "seconds": round(one.seconds, 3),
    }
