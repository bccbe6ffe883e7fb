"""Counts a replay: success by family and model, errors and repairs of calls, and the expectations that are not met.

Rules (docs/transcripts.md, "What replay counts"): a *unit* is a reply in which a call or a value was due, together
with the exchanges that it caused (re-asks, other modes, other models, repeated requests). The last one decides. A unit
succeeds, needs a re-ask that the recording does not have, or is wrong: valid, but not as expected. No files, no
terminal. Memory is bounded, and time is linear in the length of the replay.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from time import perf_counter

from llmcore.transcripts.model import Transcript
from llmcore.transcripts.scoring.families import family_of, is_real_provider
from llmcore.transcripts.scoring.judging import Judgement, judge
from llmcore.transcripts.scoring.report import FamilyRow, Finding, ModelRow, ScoreReport
from llmcore.transcripts.scoring.tallies import DialectTally, Tally, error_counts, repair_rows
from llmcore.transcripts.scoring.units import Outcome, units_of

__all__ = ["Score"]

_MAX_MODELS = 500
_OTHER_MODELS = "(other models)"
_MAX_ATTEMPTS = 10


class Score:
    """Counts runs: `add` each, then `report`. `keep` is how many findings of each kind the report has."""

    def __init__(self, *, keep: int = 20) -> None:
        self._keep = keep
        self._families: defaultdict[tuple[str, bool], Tally] = defaultdict(Tally)
        self._models: defaultdict[tuple[str, bool, str], Tally] = defaultdict(Tally)
        self._dialects: defaultdict[str, DialectTally] = defaultdict(DialectTally)
        self._replies = DialectTally()
        self._attempts: Counter[int] = Counter()
        self._near_misses: Counter[str] = Counter()
        self._unmet: list[Finding] = []
        self._reasks: list[Finding] = []
        self._unmet_count = 0
        self._exchanges = 0
        self._unreadable_events = 0

    def add(self, transcript: Transcript) -> Outcome:
        """Judge and count one run. Raises `TranscriptError` if its tools or its output schema cannot be used."""
        start = perf_counter()
        judgements = [judge(transcript, index) for index in range(len(transcript.exchanges))]
        return self.add_judged(transcript, judgements, perf_counter() - start)

    def add_judged(self, transcript: Transcript, judgements: Sequence[Judgement], seconds: float = 0.0) -> Outcome:
        """Count one run that is already judged."""
        outcome = Outcome(transcript, judgements, [*units_of(transcript, judgements)], seconds)
        for tally in self._tallies(transcript):
            tally.runs += 1
            tally.several_exchanges |= len(transcript.exchanges) > 1
            for unit in outcome.units:
                tally.add_unit(unit, reasoned=not transcript.flat)
            for judgement in judgements:
                tally.add_calls(judgement)
        for unit in outcome.units:
            self._attempts[min(unit.attempts, _MAX_ATTEMPTS)] += 1
            for name in {call.dialect for call in unit.last.calls}:
                self._dialects[name].units += 1
                self._dialects[name].succeeded += unit.succeeded
            if unit.needs_reask:
                self._note(self._reasks, transcript, "; ".join(unit.last.problems[:3]))
        for index, judgement in enumerate(judgements):
            self._count_reply(judgement)
            for mismatch in judgement.mismatches:
                self._unmet_count += 1
                where = f"exchanges[{index}]: {mismatch.what}" if len(judgements) > 1 else mismatch.what
                self._note(self._unmet, transcript, where, mismatch.expected, mismatch.got)
        return outcome

    def report(self) -> ScoreReport:
        """The figures so far."""
        tallies = [*self._families.values()]
        return ScoreReport(
            runs=sum(tally.runs for tally in tallies),
            exchanges=self._exchanges,
            units=sum(tally.units for tally in tallies),
            succeeded=sum(tally.succeeded for tally in tallies),
            needs_reask=sum(tally.needs_reask for tally in tallies),
            wrong=sum(tally.wrong for tally in tallies),
            calls=sum(tally.calls for tally in tallies),
            errors=error_counts(tallies),
            families=[
                FamilyRow(family=family, real_provider=real, **tally.figures())
                for (family, real), tally in sorted(self._families.items())
            ],
            models=[
                ModelRow(family=family, real_provider=real, model=model, **tally.figures())
                for (family, real, model), tally in sorted(self._models.items())
            ],
            dialects=[tally.row(name) for name, tally in sorted(self._dialects.items())],
            repairs=repair_rows({**self._dialects, "": self._replies}),
            attempts=dict(sorted(self._attempts.items())),
            near_misses=dict(self._near_misses.most_common()),
            unreadable_events=self._unreadable_events,
            unmet_expectations=self._unmet_count,
            unmet=list(self._unmet),
            reasks=list(self._reasks),
        )

    def _tallies(self, transcript: Transcript) -> tuple[Tally, Tally]:
        family, real = family_of(transcript.provider, transcript.model), is_real_provider(transcript.provenance)
        model = (family, real, transcript.model)
        if model not in self._models and len(self._models) >= _MAX_MODELS:
            model = ("", False, _OTHER_MODELS)
        return self._families[family, real], self._models[model]

    def _count_reply(self, judgement: Judgement) -> None:
        self._exchanges += 1
        self._unreadable_events += judgement.unreadable_events
        if judgement.envelope is not None:
            self._near_misses.update(miss.reason for miss in judgement.envelope.near_misses)
            self._replies.add_repairs(judgement.envelope.repairs)
        for index, call in enumerate(judgement.calls):
            self._dialects[call.dialect].add_call(call, refused=index in judgement.refused)

    def _note(self, kept: list[Finding], transcript: Transcript, what: str, expected: object = None, got: object = None) -> None:
        if len(kept) < self._keep:
            path = str(transcript.path) if transcript.path else None
            kept.append(Finding(id=transcript.id, path=path, line=transcript.line, what=what, expected=expected, got=got))
