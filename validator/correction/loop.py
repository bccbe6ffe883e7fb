"""Self-correction: asks the model again about an invalid turn, a bounded number of times.

Rules
- If the report is ok, nothing is asked. `CorrectionResult.corrections` keeps every problem that was found.
- A correction *replaces* the invalid turn. Its one message follows the history before that turn, and a second correction
  replaces the first. So the history does not grow.
- The message holds the failing call as the model wrote it, its problems as `path: expected ..., got ...`, and the schema of its
  tool. Valid calls of the same turn are named as kept and are not asked for again.
- If a turn was cut, no call of it stays, and all are asked for again. If the answer has no calls, it becomes the answer of the
  turn, and the kept calls do not run either.
- Each call that does not run is reported with the reason (`CorrectionResult.dropped`).
- The loop ends if a reply repeats an earlier one, if no re-ask is left, or if the model answers in words.
- A guess is asked about once, whether the call or its arguments are doubtful. If the next reply is no better, its call counts as
  only shown, and the reply is the answer, with its whole text. If other calls of the turn may run, only the guess is dropped.
- A cut turn is asked for again with a larger `max_tokens`. A limit may also end the reply in words after the last call, which may
  take the call back. It may end a typed answer that is not closed: `12` may be half of 1234. Both count as cut.
- Near misses are asked about only if a call was required.

`CorrectionLoop` does no I/O: `next()` returns what to ask, and `receive()` accepts the answer. It knows no adapter, clock or
budget, apart from the number of re-asks. An envelope read from Groq's `failed_generation` is corrected like any other. If that
text already holds a valid call, nothing is asked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from llmcore.normalizer.scanning.words import TURN_TOKENS
from llmcore.types import (
    CallerError,
    Envelope,
    JsonSchema,
    Message,
    NearMiss,
    OutputParseError,
    Segment,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolSet,
    ToolUseBlock,
)
from llmcore.types.finish_reasons import INCOMPLETE
from llmcore.types.near_misses import SHOWN
from llmcore.validator.coercion.coercer import Strictness
from llmcore.validator.correction.reask_prompt import correction_prompt
from llmcore.validator.correction.turns import (
    CorrectionTurn,
    DroppedCall,
    dropped_call,
    merge_answer,
    with_all_withdrawn,
    without_failing,
)
from llmcore.validator.output.parsing import ParseDetail
from llmcore.validator.report import ValidationReport, cut_off_problem, validate_calls
from llmcore.validator.schema.problems import Problem, shown_value, summary

__all__ = [
    "DEFAULT_REASK_TOKENS",
    "FAILED_CALL_WORDS",
    "Correction",
    "CorrectionLoop",
    "CorrectionResult",
    "Outcome",
    "TypedOutput",
]

Outcome = Literal["ok", "answered", "repeated", "spent", "stopped"]
"""`ok`: every call may run, and the value fits. `answered`: the model answered in words although no call was required, or
repeated a guess; the turn's calls do not run. `repeated`: a reply equals an earlier one. `spent`: no re-ask is left.
`stopped`: the correction could not be sent."""

FAILED_CALL_WORDS = frozenset({"tool_use_failed", "json_validate_failed", "MALFORMED_FUNCTION_CALL"})
"""Finish words of replies in which the provider (Groq, Gemini) could not read what was asked for."""

DEFAULT_REASK_TOKENS = 8192
"""`max_tokens` for a re-ask of a cut turn, if the request had none. Otherwise its own is doubled."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One re-ask, as data.

    Send the request again with `messages` appended to the history *before the invalid turn*. Replace the request's `tools`,
    `tool_choice` and, if not None, `max_tokens`.

    `n` counts from 1. `tools` are usually those of the failing calls. They are all tools if a name was unknown, no call was
    made, or calls were cut. They are empty if only the typed output failed, unless it may still need them. `detail` is for
    `Attempt.detail`; `problems` is what the correction is about.
    """

    n: int
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    tool_choice: ToolChoice
    max_tokens: int | None
    problems: tuple[Problem, ...]

    @property
    def detail(self) -> str:
        return summary(self.problems)


@dataclass(slots=True)  # not frozen: one is made for each reply, and that triples what it costs
class CorrectionResult:
    """The turn after correction.

    `envelope` holds the kept calls and the corrected ones, in the places of the failing ones. `report` is its report. `value`
    (and `detail`) is the typed output, if there is an `output` and the turn is a final answer that fits. `corrections`
    are the re-asks, oldest first.
    """

    envelope: Envelope
    report: ValidationReport
    outcome: Outcome
    corrections: tuple[Correction, ...] = ()
    problems: tuple[Problem, ...] = ()
    """The problems that remain in the calls or the typed output. Empty if `ok`."""
    detail: ParseDetail | None = None
    cause: BaseException | None = None
    """The exception of the output type's own validators, if that is the problem."""
    dropped: tuple[DroppedCall, ...] = ()
    """The calls of the invalid turn and of earlier answers that are not in `envelope`. They do not run."""

    @property
    def ok(self) -> bool:
        return self.outcome in ("ok", "answered")

    @property
    def value(self) -> Any:
        return self.detail.value if self.detail else None


@dataclass(slots=True)  # not frozen: that triples the cost of making one
class _Review:
    """The report of a turn's calls and, for a final answer, the typed value or its problems."""

    report: ValidationReport
    detail: ParseDetail | None
    problems: tuple[Problem, ...]
    cause: BaseException | None = None


class TypedOutput(Protocol):
    """What the loop needs of an output type."""

    @property
    def schema(self) -> JsonSchema: ...

    def read(self, text: str, strictness: Strictness) -> ParseDetail:
        """The value in an answer. Raises `OutputParseError`."""
        ...


class CorrectionLoop:
    """The correction loop without its I/O.

        loop = CorrectionLoop(envelope, tools, reasks=2)
        while (correction := loop.next()) is not None:
            loop.receive(send(correction))          # the normalized reply
        loop.result

    `reasks` is how many re-asks are left. `required`: the request forced a call, so a reply in words is a problem.
    `output`: it must be able to read a turn without calls. `may_call`: no tool was called yet. If the model then answers
    without a value, it may need a tool, so the tools are offered again.

    `max_tokens` is the request's own. `strictness` is that of `validate` and `parse`. Raises `CallerError` for negative `reasks`.
    """

    def __init__(
        self,
        envelope: Envelope,
        tools: ToolSet,
        *,
        reasks: int = 2,
        required: bool = False,
        may_call: bool = False,
        strictness: Strictness = "safe",
        output: TypedOutput | None = None,
        max_tokens: int | None = None,
    ) -> None:
        if reasks < 0:
            raise CallerError(f"reasks must be 0 or more, got {reasks}")
        self._tools, self._required, self._may_call = tools, required, may_call
        self._strictness: Strictness = strictness
        self._output, self._max_tokens, self._left = output, max_tokens, reasks
        self._corrections: list[Correction] = []
        self._envelope = envelope
        self._review = self._judge(envelope, required)
        self._seen: set[str] = set()
        if self._review.problems:
            self._seen.add(_signature(envelope, self._review))
        self._refused: set[str] = set()
        self._outcome: Outcome | None = None if self._review.problems else "ok"
        self._dropped: list[DroppedCall] = []

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to ask."""
        return self._outcome is not None

    def next(self) -> Correction | None:
        """Return what to ask now, None if the loop has ended."""
        if self._outcome is None and self._left <= 0:
            self._outcome = "spent"
        if self._outcome is not None:
            return None
        self._left -= 1
        correction = self._correction()
        self._corrections.append(correction)
        return correction

    def receive(self, answer: Envelope | None, tools: ToolSet | None = None) -> None:
        """Accept the normalized reply to the last correction. None means that the request could not be sent, and ends the
        loop.

        If other tools were offered than the correction named, pass them as `tools`: the turn is then validated against them.
        """
        self._tools = self._tools if tools is None else tools
        if self._outcome is not None:
            return
        if answer is None:
            self._outcome = "stopped"
            return
        call_due = self._required or bool(self._envelope.tool_calls)
        were_guesses = self._is_guessed()
        is_cut = answer.finish_reason == "length" and not answer.content.strip()  # a cut answer in words
        reply = self._judge(answer, required=self._required)
        in_words = not answer.tool_calls and not _has_near_misses(answer) and not reply.problems and not is_cut
        if call_due and not self._required and in_words:
            self._set_turn(with_all_withdrawn(self._turn, answer))
            self._review = self._judge(self._envelope, required=False)
            self._outcome = "answered"
            return
        if _continues_after_last_call(answer):  # the merged turn no longer has these words
            answer = answer.model_copy(update={"truncated": True})
        before = self._envelope
        self._set_turn(merge_answer(self._turn, answer, reply.report, self._tools))
        self._review = self._judge(self._envelope, required=call_due)
        is_untouched = self._envelope is before  # the answer only repeats kept calls, which is no repeated mistake
        self._outcome = None if is_untouched else self._outcome_for(_signature(self._envelope, self._review))
        if were_guesses and self._is_guessed() and not self._required:
            self._accept_guesses(answer)

    def refuse(self, problem: Problem, cause: BaseException | None = None) -> None:
        """Record that the caller's own validator refused the answer. The next correction asks for it again."""
        self._review, self._may_call = _Review(self._review.report, None, (problem,), cause), False
        words = self._envelope.content.strip()
        self._outcome = "repeated" if words in self._refused else None
        self._refused.add(words)

    def _is_guessed(self) -> bool:
        """Whether the turn's only problems are calls that are guesses. A cut turn does not count: it may end differently next
        time."""
        failing = self._review.report.failing
        return (
            bool(failing)
            and not self._cut_short
            and all(problem.kind in ("doubtful", "untrusted") for problem in self._review.problems)
            and all(any(repair.safety == "guess" for repair in call.repairs) for call in failing)
        )

    def _accept_guesses(self, answer: Envelope) -> None:
        """End the loop after a reply with guesses, since guesses are asked about only once."""
        if self._review.report.runnable:
            self._set_turn(without_failing(self._turn))
        elif answer.source and self._output is None:
            self._set_turn((_as_text_answer(answer), self._all_dropped()))
        else:
            return
        self._review = self._judge(self._envelope, required=False)
        self._outcome = "ok" if self._envelope.tool_calls else "answered"

    @property
    def _turn(self) -> CorrectionTurn:
        return CorrectionTurn(self._envelope, self._review.report, self._kept_indexes, self._review.problems)

    def _set_turn(self, made: tuple[Envelope, Sequence[DroppedCall]]) -> None:
        """Set the current turn, and add the calls that it no longer holds to the dropped ones."""
        self._envelope = made[0]
        self._dropped += made[1]

    def _all_dropped(self) -> list[DroppedCall]:
        turn = self._turn
        return [dropped_call(turn, at) for at in range(len(self._envelope.tool_calls))]

    @property
    def all_dropped(self) -> list[DroppedCall]:
        """The calls that do not run if the turn is given up now: all its calls, and those dropped before."""
        return [*self._dropped, *self._all_dropped()]

    @property
    def report(self) -> ValidationReport:
        """The report of the current turn."""
        return self._review.report

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the current turn, in the calls or the typed output."""
        return self._review.problems

    @property
    def result(self) -> CorrectionResult:
        """The current turn. It is final once `next()` has returned None."""
        return CorrectionResult(
            envelope=self._envelope,
            report=self._review.report,
            outcome=self._outcome or "stopped",
            corrections=tuple(self._corrections),
            problems=self._review.problems,
            detail=self._review.detail,
            cause=self._review.cause,
            dropped=tuple(self._dropped),
        )

    def _outcome_for(self, signature: str) -> Outcome | None:
        if not self._review.problems:
            return "ok"
        if signature in self._seen and not self._cut_short:  # with more tokens it may end differently
            return "repeated"
        self._seen.add(signature)
        return None

    def _judge(self, envelope: Envelope, required: bool) -> _Review:
        due = required or _call_failed(envelope)
        report = validate_calls(envelope, self._tools, strictness=self._strictness, required=due)
        if report.ok and envelope.tool_calls and (_ends_inside_a_call(envelope) or _continues_after_last_call(envelope)):
            return _Review(report, None, (cut_off_problem(),))
        if report.problems or envelope.tool_calls or self._output is None or envelope.needs_more_work is True:
            return _Review(report, None, tuple(report.problems))
        try:
            detail = self._output.read(envelope.content, self._strictness)
        except OutputParseError as error:
            return _Review(report, None, tuple(error.problems), error.__cause__)
        last_kind = next((segment.kind for segment in reversed(envelope.segments) if segment.kind != "markup"), "content")
        may_be_cut = last_kind == "reasoning" or not detail.closed or _continues_after_last_call(envelope)
        if envelope.finish_reason == "length" and may_be_cut:
            return _Review(report, None, (_incomplete_value_problem(envelope.content),))
        return _Review(report, detail, ())

    def _correction(self) -> Correction:
        problems = self._review.problems
        calls = self._review.report.calls if self._cut_short else self._review.report.failing
        offered = self._offered(calls, problems)
        text = correction_prompt(
            self._envelope, calls, problems, offered, self._output_schema(calls), self._cut_short, kept_calls=self._kept_calls
        )
        return Correction(
            n=len(self._corrections) + 1,
            messages=(Message(role="user", content=[TextBlock(text=text)]),),
            tools=offered,
            tool_choice=self._choice(calls, offered),
            max_tokens=self._next_max_tokens(),
            problems=problems,
        )

    def _offered(self, calls: Sequence[ToolCall], problems: Sequence[Problem]) -> tuple[ToolDefinition, ...]:
        """The tools of the failing calls, or all tools if it is open which call was meant."""
        unnamed = ("unknown_tool", "no_call", "near_miss")
        cut = self._cut_short and (self._envelope.truncated or bool(calls))
        is_silent = not calls and not self._envelope.content.strip()
        open_choice = (
            cut or is_silent or any(problem.kind in unnamed for problem in problems) or (not calls and self._may_need_tools)
        )
        if open_choice:
            return tuple(self._tools)
        names = {problem.tool for problem in problems} | {call.name for call in calls}
        return tuple(tool for tool in self._tools if tool.name in names)

    @property
    def _may_need_tools(self) -> bool:
        """Whether the model answered in words without a value, although it had called no tool yet."""
        words = self._envelope.content
        return self._may_call and self._output is not None and bool(words.strip()) and not ("{" in words or "[" in words)

    def _choice(self, calls: Sequence[ToolCall], offered: Sequence[ToolDefinition]) -> ToolChoice:
        """Forced only if the request forced a call. The model must stay free to say that it cannot make one."""
        if not offered:
            return "none"
        if not self._required:
            return "auto"
        return {"name": offered[0].name} if len(offered) == 1 and calls else "required"

    def _output_schema(self, calls: Sequence[ToolCall]) -> JsonSchema | None:
        return self._output.schema if self._output is not None and not calls else None

    @property
    def _kept_indexes(self) -> list[int]:
        """The indexes of the calls that stay while the failing ones are corrected. Empty for a cut turn."""
        failing = self._review.report.failing_indexes
        return [] if self._cut_short else [at for at in range(len(self._envelope.tool_calls)) if at not in failing]

    @property
    def _kept_calls(self) -> list[ToolCall]:
        return [self._envelope.tool_calls[at] for at in self._kept_indexes]

    @property
    def _cut_short(self) -> bool:
        return (
            self._envelope.truncated
            or self._envelope.finish_reason == "length"
            or any(problem.kind == "incomplete" for problem in self._review.problems)
        )

    def _next_max_tokens(self) -> int | None:
        """More tokens for a cut turn, doubled each time; None keeps the request's own."""
        if self._cut_short:
            self._max_tokens = 2 * self._max_tokens if self._max_tokens else DEFAULT_REASK_TOKENS
            return self._max_tokens
        return None


# --- turns ------------------------------------------------------------------------------------------------------------


def _signature(envelope: Envelope, review: _Review) -> str:
    """Equal for turns that fail in the same way: the failing calls, or the whole text."""
    failing = [
        [call.name, call.arguments, "" if call.arguments is not None else call.raw_arguments] for call in review.report.failing
    ]
    text = "" if failing else envelope.content.strip()
    return json.dumps([failing, text], sort_keys=True, default=str)


def _incomplete_value_problem(text: str) -> Problem:
    got = f"one that a limit ended: {shown_value(text.strip())}"
    return Problem(kind="incomplete", expected="a whole value", got=got, message="the value may be half of what was meant")


def _has_near_misses(envelope: Envelope) -> bool:
    """Whether the reply holds text that may be meant as a call. A call that is only shown does not count."""
    return any(miss.reason not in SHOWN for miss in envelope.near_misses)


def _call_failed(envelope: Envelope) -> bool:
    """Whether the model tried to call a tool but the provider could not read the call, or the call stood in its reasoning.

    The reply then has no words, only near misses.
    """
    nothing_said = not envelope.tool_calls and not envelope.content.strip()
    in_reasoning = any(miss.reason == "in_reasoning" for miss in envelope.near_misses)
    return nothing_said and bool(envelope.near_misses) and (in_reasoning or envelope.finish_word in FAILED_CALL_WORDS)


def _ends_inside_a_call(envelope: Envelope) -> bool:
    """Whether the reply ended inside a call after complete calls.

    If the server reports that the model was done, it did not. If it reports an incomplete reply without a reason, any call
    may be cut.
    """
    if not envelope.tool_calls:
        return False
    word = (envelope.finish_word or "").lower()
    return word == INCOMPLETE or (envelope.truncated and envelope.finish_reason in ("length", None))


def _continues_after_last_call(envelope: Envelope) -> bool:
    """Whether a limit ended the reply in words or reasoning after its last call. They may have been about to take it back."""
    if envelope.finish_reason != "length":
        return False
    words = [block for block in envelope.blocks if not isinstance(block, TextBlock) or block.text.strip()]
    if not any(isinstance(block, ToolUseBlock) for block in words):
        return False
    return isinstance(words[-1], TextBlock | ThinkingBlock)


def _as_text_answer(answer: Envelope) -> Envelope:
    """The reply as an answer in words, where its calls are text. Reasoning stays reasoning."""
    source, old_segments = answer.source, list(answer.segments)
    kinds = ["", *(segment.kind for segment in old_segments), ""]
    segments = [
        Segment(segment.start, segment.end, "content")
        if segment.kind == "call" or (segment.kind == "markup" and _is_call_markup(source[segment.start :], before, after))
        else segment
        for segment, before, after in zip(old_segments, kinds, kinds[2:], strict=False)
    ]
    content = "".join(source[segment.start : segment.end] for segment in segments if segment.kind == "content").strip()
    misses = [NearMiss(span=call.span, name=call.name, reason="example") for call in answer.tool_calls if call.span is not None]
    shown_only = answer.model_copy(
        update={"tool_calls": [], "content": content, "needs_more_work": None, "near_misses": [*answer.near_misses, *misses]}
    )
    other_blocks = [block for block in answer.blocks if not isinstance(block, ToolUseBlock | TextBlock)]
    return shown_only.attach(source, segments, [*other_blocks, TextBlock(text=content)])


def _is_call_markup(markup: str, before: str, after: str) -> bool:
    """Whether the markup opens or closes a wrapper around calls. Markup of reasoning, and tokens that end a turn, do not
    count."""
    if after == "call" and before != "reasoning":
        return True
    closer = markup.lstrip()
    ends_turn = closer.startswith(TURN_TOKENS)
    return before == "call" and after != "reasoning" and closer.startswith(_CLOSERS) and not ends_turn


_CLOSERS = ("</", "<|", "<｜", "[/", "]<]")
