"""Self-correction: ask the model again about a bad turn, focused, a bounded number of times.

Rules
- Nothing is asked while the report is ok; the first problem is never hidden (`CorrectionResult.corrections` keeps
  them all).
- A correction *replaces* the bad turn: its one message stands after the history as it was before that turn, and a
  second correction replaces the first. The history does not grow.
- It says only what is needed: the failing call as the model wrote it, the problems as `path: expected ..., got ...`,
  and the schema of that tool. Calls of the same turn that are fine are kept, and named as kept; they are not asked for again.
- What runs is what the model was told: of a turn that was cut nothing is kept, and every call of it is asked for again; an
  answer without calls takes back the kept ones too, and is the answer.
- Each call that a reply made and that does not run is told, with the reason (`CorrectionResult.dropped`).
- It stops when an attempt repeats an earlier one, when the budget is spent, or when the model answers in words instead.
- A guess is asked about once, whether it is doubtful that the call is meant or what its arguments are: if the next reply
  holds nothing better, whatever it says, the call is only shown, and the reply is the answer, its text whole. Beside calls that
  may run it is taken back.
- A cut turn is asked again with more room. So is one whose words behind the last call a limit ended, and a typed answer that a
  limit ended, unless it is a value closed by a bracket of its own and nothing else: `12` may be half of 1234, `dark` of
  dark-blue, a text of a longer one, and what stands around a value, or behind a call, may be about to take it back.
- Near misses are asked about only where a call was required.

`CorrectionLoop` is the sans-IO core (`next()` gives what to ask, `receive()` takes the answer); `correct` drives it
with a callable it is given. Neither knows an adapter, a clock or a budget object beyond the number of re-asks that
are left. An envelope read from Groq's `failed_generation` is corrected like any other: give it first, so that nothing
is asked when that text already holds a good call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
from llmcore.validator.correction.turns import CorrectionTurn, DroppedCall, dropped, merged, with_all_withdrawn, without_failing
from llmcore.validator.output.parsing import ParseDetail, json_schema, parse_detailed
from llmcore.validator.report import ValidationReport, cut_short, validate
from llmcore.validator.schema.problems import Problem, shown_value, summary

__all__ = ["FAILED_CALL_WORDS", "MORE_ROOM", "Correction", "CorrectionLoop", "CorrectionResult", "Outcome", "correct"]

Outcome = Literal["ok", "answered", "repeated", "spent", "stopped"]
"""`ok`: every call may run and the value fits. `answered`: the model gave words where no call was required, or made a
guess once more; the turn's calls are withdrawn. `repeated`: an attempt equalled an earlier one. `spent`: no
re-ask is left. `stopped`: `ask` returned None."""

FAILED_CALL_WORDS = frozenset({"tool_use_failed", "json_validate_failed", "MALFORMED_FUNCTION_CALL"})
"""Finish words of a reply that its provider (Groq, Gemini) could not read as what was asked for."""

MORE_ROOM = 8192
"""Tokens given to the re-ask of a cut turn when the request had set no `max_tokens`; a given one is doubled."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One re-ask, as data. Send the request again with `messages` appended to the history *as it was before the bad
    turn*, and with `tools`, `tool_choice` and, where not None, `max_tokens` in place of the request's own.

    `n` counts from 1. `tools` are the failing calls' tools only, or all of them when a name was unknown, no call
    came or calls were cut, or none when only the typed output failed (all, where they may still be
    needed for it). `detail` is for `Attempt.detail`; `problems` is what it is about.
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
    """The turn as it stands after correction. `envelope` is the corrected turn: kept calls in their places, corrected
    ones in place of the failing ones. `report` is that envelope's; `value` (with `detail`) is the typed output when
    an `output_type` was given and the turn is a final answer that fits. `corrections` are the re-asks that were made,
    oldest first."""

    envelope: Envelope
    report: ValidationReport
    outcome: Outcome
    corrections: tuple[Correction, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What is still wrong, with the calls or with the typed output; empty when `ok`."""
    detail: ParseDetail | None = None
    cause: BaseException | None = None
    """What the output type's own validators raised, where that is wrong with the typed output."""
    dropped: tuple[DroppedCall, ...] = ()
    """The calls of the bad turn, and of earlier answers, that `envelope` holds no more: they do not run."""

    @property
    def ok(self) -> bool:
        return self.outcome in ("ok", "answered")

    @property
    def value(self) -> Any:
        return self.detail.value if self.detail else None


@dataclass(slots=True)  # not frozen: that triples the cost of making one
class _Review:
    """A turn judged: the report of its calls and, for a final answer, the typed value or why there is none."""

    report: ValidationReport
    detail: ParseDetail | None
    problems: tuple[Problem, ...]
    cause: BaseException | None = None


class CorrectionLoop:
    """The loop without its I/O.

        loop = CorrectionLoop(envelope, tools, reasks=2)
        while (correction := loop.next()) is not None:
            loop.receive(send(correction))          # the normalised reply
        loop.result

    `reasks`: how many are left of the budget. `required`: the request forced a call, so words or near misses are no
    answer. `output_type`: when given, a turn without calls must parse as it (`llmcore.parse` takes the same).
    `may_call`: no tool was called yet, so words without a value may come from a model that needs one: it is offered them
    again. `max_tokens`: the request's own. `strictness`: as for `validate` and `parse`. `read`: how the typed output is read
    from a text, for a caller that asks for it in a form of its own; it raises `OutputParseError`. None = `parse`.
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
        output_type: Any = None,
        max_tokens: int | None = None,
        read: Callable[[str], ParseDetail] | None = None,
    ) -> None:
        if reasks < 0:
            raise CallerError(f"reasks must be 0 or more, got {reasks}")
        self._tools, self._required, self._may_call = tools, required, may_call
        self._strictness: Strictness = strictness
        self._output_type, self._max_tokens, self._left = output_type, max_tokens, reasks
        self._read = read
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
        """Is there nothing to ask about?"""
        return self._outcome is not None

    def next(self) -> Correction | None:
        """What to ask now, or None when the loop has ended."""
        if self._outcome is None and self._left <= 0:
            self._outcome = "spent"
        if self._outcome is not None:
            return None
        self._left -= 1
        correction = self._correction()
        self._corrections.append(correction)
        return correction

    def receive(self, answer: Envelope | None, tools: ToolSet | None = None) -> None:
        """Take the normalised reply to the last correction; None means that it could not be sent, and ends the loop.

        `tools`: what the turn is judged by from now on, where other tools were offered than the correction said.
        """
        self._tools = self._tools if tools is None else tools
        if self._outcome is not None:
            return
        if answer is None:
            self._outcome = "stopped"
            return
        call_due = self._required or bool(self._envelope.tool_calls)
        asked_about_guesses = self._is_guessed()
        is_half = answer.finish_reason == "length" and not answer.content.strip()  # of an answer in words
        reply = self._judge(answer, required=self._required)
        in_words = not answer.tool_calls and not _missed(answer) and not reply.problems and not is_half
        if call_due and not self._required and in_words:
            self._become(with_all_withdrawn(self._turn, answer))
            self._review = self._judge(self._envelope, required=False)
            self._outcome = "answered"
            return
        if _goes_on_behind_a_call(answer):  # in the merged turn its words stand no more
            answer = answer.model_copy(update={"truncated": True})
        before = self._envelope
        self._become(merged(self._turn, answer, reply.report, self._tools))
        self._review = self._judge(self._envelope, required=call_due)
        is_untouched = self._envelope is before  # the answer makes kept calls again, and corrects none: it repeats no mistake
        self._outcome = None if is_untouched else self._after(_signature(self._envelope, self._review))
        if asked_about_guesses and self._is_guessed() and not self._required:
            self._accept_guesses(answer)

    def refuse(self, problem: Problem, cause: BaseException | None = None) -> None:
        """A judge of the caller's refuses the answer, which the loop found fine: it is asked for again."""
        self._review, self._may_call = _Review(self._review.report, None, (problem,), cause), False
        said = self._envelope.content.strip()
        self._outcome = "repeated" if said in self._refused else None
        self._refused.add(said)

    def _is_guessed(self) -> bool:
        """Is all that is wrong with the turn that calls of it are guesses? With more room a cut one may yet end elsewhere."""
        failing = self._review.report.failing
        return (
            bool(failing)
            and not self._cut_short
            and all(problem.kind in ("doubtful", "untrusted") for problem in self._review.problems)
            and all(any(repair.safety == "guess" for repair in call.repairs) for call in failing)
        )

    def _accept_guesses(self, answer: Envelope) -> None:
        """The reply holds guesses once more, which are not asked about again."""
        if self._review.report.runnable:
            self._become(without_failing(self._turn))
        elif answer.source and self._output_type is None:
            self._become((_as_shown(answer), self._all_dropped()))
        else:
            return
        self._review = self._judge(self._envelope, required=False)
        self._outcome = "ok" if self._envelope.tool_calls else "answered"

    @property
    def _turn(self) -> CorrectionTurn:
        return CorrectionTurn(self._envelope, self._review.report, self._kept_indexes, self._review.problems)

    def _become(self, made: tuple[Envelope, Sequence[DroppedCall]]) -> None:
        """This is the turn from now on, and these calls are in it no more."""
        self._envelope = made[0]
        self._dropped += made[1]

    def _all_dropped(self) -> list[DroppedCall]:
        turn = self._turn
        return [dropped(turn, at) for at in range(len(self._envelope.tool_calls))]

    @property
    def given_up(self) -> list[DroppedCall]:
        """What does not run where the turn is given up as it stands: all its calls, and those that it holds no more."""
        return [*self._dropped, *self._all_dropped()]

    @property
    def report(self) -> ValidationReport:
        """That of the turn as it stands now."""
        return self._review.report

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with it, with the calls or with the typed output."""
        return self._review.problems

    @property
    def result(self) -> CorrectionResult:
        """The turn as it stands now; final once `next()` has returned None."""
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

    def _after(self, signature: str) -> Outcome | None:
        if not self._review.problems:
            return "ok"
        if signature in self._seen and not self._cut_short:  # with more room it may yet end elsewhere
            return "repeated"
        self._seen.add(signature)
        return None

    def _judge(self, envelope: Envelope, required: bool) -> _Review:
        due = required or _call_failed(envelope)
        report = validate(envelope, self._tools, strictness=self._strictness, required=due)
        if report.ok and envelope.tool_calls and (_ends_in_a_call(envelope) or _goes_on_behind_a_call(envelope)):
            return _Review(report, None, (cut_short(),))
        if report.problems or envelope.tool_calls or self._output_type is None or envelope.needs_more_work is True:
            return _Review(report, None, tuple(report.problems))
        try:
            detail = self._parsed(envelope.content)
        except OutputParseError as error:
            return _Review(report, None, tuple(error.problems), error.__cause__)
        said_last = next((segment.kind for segment in reversed(envelope.segments) if segment.kind != "markup"), "content")
        may_go_on = said_last == "reasoning" or not detail.closed or _goes_on_behind_a_call(envelope)
        if envelope.finish_reason == "length" and may_go_on:
            return _Review(report, None, (_perhaps_half(envelope.content),))
        return _Review(report, detail, ())

    def _parsed(self, text: str) -> ParseDetail:
        if self._read is not None:
            return self._read(text)
        return parse_detailed(text, self._output_type, strictness=self._strictness)

    def _correction(self) -> Correction:
        problems = self._review.problems
        calls = self._review.report.calls if self._cut_short else self._review.report.failing
        offered = self._offered(calls, problems)
        text = correction_prompt(
            self._envelope, calls, problems, offered, self._output_schema(calls), self._cut_short, kept=self._kept
        )
        return Correction(
            n=len(self._corrections) + 1,
            messages=(Message(role="user", content=[TextBlock(text=text)]),),
            tools=offered,
            tool_choice=self._choice(calls, offered),
            max_tokens=self._room(),
            problems=problems,
        )

    def _offered(self, calls: Sequence[ToolCall], problems: Sequence[Problem]) -> tuple[ToolDefinition, ...]:
        """The failing calls' tools; all of them where it is open which call was meant."""
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
        """Did the model say something, and not one value, where it was to give one and had looked nothing up?"""
        words = self._envelope.content
        return self._may_call and self._output_type is not None and bool(words.strip()) and not ("{" in words or "[" in words)

    def _choice(self, calls: Sequence[ToolCall], offered: Sequence[ToolDefinition]) -> ToolChoice:
        """Forced only where the request had forced a call: a model must stay free to say that it cannot make one."""
        if not offered:
            return "none"
        if not self._required:
            return "auto"
        return {"name": offered[0].name} if len(offered) == 1 and calls else "required"

    def _output_schema(self, calls: Sequence[ToolCall]) -> JsonSchema | None:
        return json_schema(self._output_type) if self._output_type is not None and not calls else None

    @property
    def _kept_indexes(self) -> list[int]:
        """The calls that stand while the failing ones are corrected, as the correction says. None of a turn that was cut: nobody
        knows what else it would have said of them."""
        failing = self._review.report.failing_indexes
        return [] if self._cut_short else [at for at in range(len(self._envelope.tool_calls)) if at not in failing]

    @property
    def _kept(self) -> list[ToolCall]:
        return [self._envelope.tool_calls[at] for at in self._kept_indexes]

    @property
    def _cut_short(self) -> bool:
        return (
            self._envelope.truncated
            or self._envelope.finish_reason == "length"
            or any(problem.kind == "incomplete" for problem in self._review.problems)
        )

    def _room(self) -> int | None:
        """More tokens for a cut turn, doubled each time; otherwise the request's own stand."""
        if self._cut_short:
            self._max_tokens = 2 * self._max_tokens if self._max_tokens else MORE_ROOM
            return self._max_tokens
        return None


async def correct(
    envelope: Envelope,
    tools: ToolSet,
    ask: Callable[[Correction], Awaitable[Envelope | None]],
    *,
    reasks: int = 2,
    required: bool = False,
    strictness: Strictness = "safe",
    output_type: Any = None,
    max_tokens: int | None = None,
) -> CorrectionResult:
    """Drive a `CorrectionLoop` with `ask`, which sends one correction (drawing on the caller's budget, recording its
    `Attempt`) and returns the normalised reply, or None when no request may be made any more.

    What `ask` raises passes through. Makes no request when the turn is fine as it is.
    """
    loop = CorrectionLoop(
        envelope,
        tools,
        reasks=reasks,
        required=required,
        strictness=strictness,
        output_type=output_type,
        max_tokens=max_tokens,
    )
    while (correction := loop.next()) is not None:
        loop.receive(await ask(correction))
    return loop.result


# --- turns ------------------------------------------------------------------------------------------------------------


def _signature(envelope: Envelope, review: _Review) -> str:
    """Equal for turns that fail in the same way: what is wrong, and what the failing calls (or the whole text) say."""
    failing = [
        [call.name, call.arguments, "" if call.arguments is not None else call.raw_arguments] for call in review.report.failing
    ]
    text = "" if failing else envelope.content.strip()
    return json.dumps([failing, text], sort_keys=True, default=str)


def _perhaps_half(text: str) -> Problem:
    got = f"one that a limit ended: {shown_value(text.strip())}"
    return Problem(kind="incomplete", expected="a whole value", got=got, message="the value may be half of what was meant")


def _missed(envelope: Envelope) -> bool:
    """Does the reply hold what may have been meant as a call? One that is only shown was not."""
    return any(miss.reason not in SHOWN for miss in envelope.near_misses)


def _call_failed(envelope: Envelope) -> bool:
    """The model made a call that its provider could not read, or made it in its reasoning: the reply holds no words, only near
    misses."""
    nothing_said = not envelope.tool_calls and not envelope.content.strip()
    in_reasoning = any(miss.reason == "in_reasoning" for miss in envelope.near_misses)
    return nothing_said and bool(envelope.near_misses) and (in_reasoning or envelope.finish_word in FAILED_CALL_WORDS)


def _ends_in_a_call(envelope: Envelope) -> bool:
    """Did the reply break off inside a call behind whole ones? Where its server says that it was done, a loose end is none; where
    it calls the reply incomplete and gives no reason, any call may be."""
    if not envelope.tool_calls:
        return False
    word = (envelope.finish_word or "").lower()
    return word == INCOMPLETE or (envelope.truncated and envelope.finish_reason in ("length", None))


def _goes_on_behind_a_call(envelope: Envelope) -> bool:
    """Did a limit end the reply in words or thoughts behind its last call? They may have been about to take it back."""
    if envelope.finish_reason != "length":
        return False
    said = [block for block in envelope.blocks if not isinstance(block, TextBlock) or block.text.strip()]
    if not any(isinstance(block, ToolUseBlock) for block in said):
        return False
    return isinstance(said[-1], TextBlock | ThinkingBlock)


def _as_shown(answer: Envelope) -> Envelope:
    """The reply as an answer in words: what its calls were is text. Reasoning stays what it is."""
    source, told = answer.source, list(answer.segments)
    kinds = ["", *(segment.kind for segment in told), ""]
    segments = [
        Segment(segment.start, segment.end, "content")
        if segment.kind == "call" or (segment.kind == "markup" and _is_of_a_call(source[segment.start :], before, after))
        else segment
        for segment, before, after in zip(told, kinds, kinds[2:], strict=False)
    ]
    content = "".join(source[segment.start : segment.end] for segment in segments if segment.kind == "content").strip()
    misses = [NearMiss(span=call.span, name=call.name, reason="example") for call in answer.tool_calls if call.span is not None]
    shown_only = answer.model_copy(
        update={"tool_calls": [], "content": content, "needs_more_work": None, "near_misses": [*answer.near_misses, *misses]}
    )
    kept = [block for block in answer.blocks if not isinstance(block, ToolUseBlock | TextBlock)]
    return shown_only.attach(source, segments, [*kept, TextBlock(text=content)])


def _is_of_a_call(markup: str, before: str, after: str) -> bool:
    """Is it the opener or the closer of a wrapper round calls: no reasoning's, and no token that ends a turn?"""
    if after == "call" and before != "reasoning":
        return True
    closer = markup.lstrip()
    ends_turn = closer.startswith(TURN_TOKENS)
    return before == "call" and after != "reasoning" and closer.startswith(_CLOSERS) and not ends_turn


_CLOSERS = ("</", "<|", "<｜", "[/", "]<]")
