"""What a replay counts, on judged runs: units, retries, fallbacks, targets, dialects and findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmcore.transcripts import FamilyRow, Judgement, Mismatch, Score, ScoreReport, Transcript, units_of
from llmcore.types import Envelope, NearMiss, Repair, ToolCall
from llmcore.validator import ProblemKind
from tests.transcripts.runs import CALL, chat, hermes, run

NOTHING = Judgement(Envelope())
GOOD = Judgement(Envelope(), due=True)
BAD = Judgement(Envelope(), due=True, problems=("guess",))
WRONG = Judgement(Envelope(), due=True, mismatches=(Mismatch("calls", [], []),))


def attempts(*reasons: str, **fields: Any) -> Transcript:
    return run(*({"text": "", "attempt": {"reason": reason}} for reason in reasons), **fields)


def scored(*given: tuple[Transcript, list[Judgement]], keep: int = 20) -> ScoreReport:
    score = Score(keep=keep)
    for transcript, judgements in given:
        score.add_judged(transcript, judgements)
    return score.report()


def row(*given: tuple[Transcript, list[Judgement]]) -> FamilyRow:
    (only,) = scored(*given).families
    return only


@pytest.mark.parametrize(
    ("reasons", "judgements", "units"),
    [
        (["first"], [NOTHING], []),
        (["first"], [GOOD], [(True, False, 0, False)]),
        (["first"], [BAD], [(False, True, 0, False)]),
        (["first"], [WRONG], [(False, False, 0, False)]),
        (["first", "reask"], [BAD, GOOD], [(True, False, 1, False)]),
        (["first", "reask", "reask"], [BAD, BAD, BAD], [(False, True, 2, False)]),
        (["first", "mode"], [BAD, GOOD], [(True, False, 1, True)]),
        (["first", "reask", "model"], [BAD, BAD, GOOD], [(True, False, 2, True)]),
        (["first", "retry"], [BAD, GOOD], [(True, False, 0, False)]),
        (["first", "turn"], [GOOD, BAD], [(True, False, 0, False), (False, True, 0, False)]),
        (["first", "turn", "reask"], [GOOD, BAD, GOOD], [(True, False, 0, False), (True, False, 1, False)]),
        (["first", "turn"], [GOOD, NOTHING], [(True, False, 0, False)]),
        (["first", "reask"], [BAD, NOTHING], [(True, False, 1, False)]),
    ],
)
def test_units_and_what_follows_them(reasons: list[str], judgements: list[Judgement], units: list[Any]) -> None:
    found = units_of(attempts(*reasons), judgements)
    assert [(unit.succeeded, unit.needs_reask, unit.retries, unit.fallback) for unit in found] == units


def test_every_unit_is_one_of_three() -> None:
    found = row(*((attempts("first"), [judgement]) for judgement in (GOOD, BAD, WRONG, NOTHING)))
    assert (found.runs, found.units, found.succeeded, found.needs_reask, found.wrong) == (4, 3, 1, 1, 1)
    assert found.success_rate == pytest.approx(1 / 3)


def test_a_mismatch_with_a_problem_is_asked_again_not_wrong() -> None:
    both = Judgement(Envelope(), due=True, problems=("guess",), mismatches=(Mismatch("calls", [], []),))
    found = row((attempts("first"), [both]))
    assert (found.needs_reask, found.wrong) == (1, 0)


def test_retries_and_fallbacks_are_unknown_without_runs_of_several_exchanges() -> None:
    found = row((attempts("first"), [GOOD]))
    assert (found.retries_per_call, found.fallback_share) == (None, None)


def test_retries_per_successful_call_and_the_share_of_fallbacks() -> None:
    found = row(
        (attempts("first", "reask", "mode"), [BAD, BAD, GOOD]),
        (attempts("first"), [GOOD]),
        (attempts("first"), [GOOD]),
        (attempts("first", "reask"), [BAD, BAD]),
    )
    assert found.retries_per_call == pytest.approx(3 / 3)
    assert found.fallback_share == pytest.approx(1 / 4)


def test_single_replies_do_not_water_down_retries() -> None:
    single = Transcript.model_validate({"text": ""}).placed(Path("x"), 1, flat=True)
    found = row((attempts("first", "reask"), [BAD, GOOD]), (single, [GOOD]))
    assert (found.units, found.retries_per_call, found.fallback_share) == (2, 1.0, 0.0)


def test_families_and_local_recordings_have_separate_rows() -> None:
    report = scored(
        (attempts("first", model="gpt-4o"), [GOOD]),
        (attempts("first", model="claude-opus-4-6"), [GOOD]),
        (attempts("first", model="claude-opus-4-6", provenance="local: aimock"), [BAD]),
    )
    assert [(found.family, found.real_provider) for found in report.families] == [
        ("claude", False),
        ("claude", True),
        ("openai", True),
    ]
    assert (report.units, report.succeeded, report.needs_reask) == (3, 2, 1)


@pytest.mark.parametrize(
    ("model", "good", "bad", "met"),
    [
        ("gpt-4o", 99, 1, True),
        ("gpt-4o", 98, 2, False),
        ("claude-opus-4-6", 95, 5, True),
        ("claude-opus-4-6", 94, 6, False),
        ("llama-3.3-70b", 85, 15, True),
        ("llama-3.3-70b", 84, 16, False),
    ],
)
def test_success_targets(model: str, good: int, bad: int, met: bool) -> None:
    one = attempts("first", model=model)
    (verdict,) = row(*[(one, [GOOD])] * good, *[(one, [BAD])] * bad).targets
    assert (verdict.metric, verdict.met) == ("success", met)


def test_targets_for_retries_and_fallbacks() -> None:
    plain, retried, fallen = (attempts("first", *more) for more in ([], ["reask"], ["mode"]))
    at_most = row(*[(plain, [GOOD])] * 80, *[(retried, [BAD, GOOD])] * 20)
    assert [(verdict.metric, verdict.met) for verdict in at_most.targets] == [
        ("retries per call", True),
        ("fallback", True),
    ]
    too_many = row(*[(plain, [GOOD])] * 79, *[(retried, [BAD, GOOD])] * 21)
    assert [verdict.met for verdict in too_many.targets] == [False, True]
    exactly = row(*[(plain, [GOOD])] * 95, *[(fallen, [BAD, GOOD])] * 5)
    assert [verdict.met for verdict in exactly.targets] == [True, False]  # fallbacks stay below five per cent


def test_local_recordings_are_not_judged() -> None:
    assert row((attempts("first", "mode", model="gpt-4o", provenance="local"), [BAD, GOOD])).targets == []


def call(dialect: str, *safeties: Any, complete: bool = True, known: bool | None = True) -> ToolCall:
    repairs = [Repair(kind="x", safety=safety) for safety in safeties]
    return ToolCall(id="1", name="f", arguments={}, dialect=dialect, complete=complete, known=known, repairs=repairs)


def test_dialects_count_each_call_once_by_its_worst_repair() -> None:
    calls = (
        call("hermes"),
        call("hermes", "lossless"),
        call("hermes", "lossless", "coerced"),
        call("hermes", "guess", "coerced"),
        call("hermes", "truncated", complete=False),
        call("hermes", known=False),
        call("native"),
    )
    refused: dict[int, ProblemKind] = {4: "incomplete", 5: "unknown_tool"}
    report = scored(
        (attempts("first"), [Judgement(Envelope(toolCalls=[*calls]), calls, refused, due=True, problems=("x",))]),
        (attempts("first"), [Judgement(Envelope(toolCalls=[call("native")]), (call("native"),), due=True)]),
    )
    hermes_row, native_row = report.dialects
    assert hermes_row.model_dump() == {
        "dialect": "hermes",
        "calls": 6,
        "as_written": 2,
        "lossless": 1,
        "coerced": 1,
        "guess": 1,
        "truncated": 1,
        "invalid": 1,
        "units": 1,
        "succeeded": 0,
    }
    assert (native_row.calls, native_row.units, native_row.succeeded) == (2, 2, 1)


def test_near_misses_are_counted_by_reason() -> None:
    envelope = Envelope(near_misses=[NearMiss(span=(0, 1), name=None, reason="mid_line")])
    assert scored((attempts("first"), [Judgement(envelope, due=True, problems=("x",))])).near_misses == {"mid_line": 1}


def test_findings_are_bounded_and_counted() -> None:
    placed = attempts("first", id="a").placed(Path("runs.jsonl"), 7, flat=False)
    report = scored(*[(placed, [WRONG])] * 5, *[(placed, [BAD])] * 4, keep=2)
    assert (report.unmet_expectations, len(report.unmet), report.needs_reask, len(report.reasks)) == (5, 2, 4, 2)
    assert report.unmet[0].where == "runs.jsonl:7 (a)"
    assert report.reasks[0].what == "guess"


def test_an_expectation_of_an_earlier_exchange_is_judged_by_itself() -> None:
    report = scored((attempts("first", "reask"), [WRONG, GOOD]))
    assert (report.unmet_expectations, report.succeeded, report.unmet[0].what) == (1, 1, "exchanges[0]: calls")


def test_real_replies_from_judging_to_the_report() -> None:
    score = Score()
    reask = {"attempt": {"reason": "reask"}, "response": chat()}
    score.add(run({"text": hermes({"days": 1})}, reask, model="gpt-4o", expect={"calls": [CALL]}))
    score.add(run({"text": hermes()}, model="gpt-4o", expect={"calls": [{**CALL, "arguments": {"city": "Rome"}}]}))
    score.add(run({"text": hermes()[:40]}, model="gpt-4o"))
    report = score.report()
    (openai,) = report.families
    assert (openai.units, openai.succeeded, openai.needs_reask, openai.wrong) == (3, 1, 1, 1)
    assert (openai.retries_per_call, openai.fallback_share, report.exchanges) == (1.0, 0.0, 4)
    assert {found.dialect: found.calls for found in report.dialects} == {"hermes": 3, "native": 1}
    assert report.unmet_expectations == 1


def test_rows_of_models_are_bounded() -> None:
    report = scored(*((attempts("first", model=f"gpt-4-{number}"), [GOOD]) for number in range(510)))
    assert len(report.models) == 501
    assert report.models[0].model_dump()["model"] == "(other models)"
    assert (report.models[0].runs, sum(row.runs for row in report.models)) == (10, 510)


def test_repairs_by_kind_and_dialect_and_attempts_of_units() -> None:
    calls = (call("hermes", "lossless", "lossless"), call("native", "coerced"))
    envelope = Envelope(toolCalls=[*calls], repairs=[Repair(kind="y")])
    report = scored(
        (attempts("first", "reask"), [BAD, Judgement(envelope, calls, due=True)]),
        (attempts(*["first"], *["reask"] * 20), [BAD] * 21),
        (attempts("first"), [GOOD]),
    )
    assert [(row.kind, row.safety, row.dialect, row.count) for row in report.repairs] == [
        ("x", "lossless", "hermes", 2),
        ("x", "coerced", "native", 1),
        ("y", "lossless", "", 1),
    ]
    assert report.attempts == {1: 1, 2: 1, 10: 1}


def test_an_outcome_says_why_its_run_failed() -> None:
    score = Score()
    assert not score.add_judged(attempts("first", "reask"), [BAD, GOOD]).failed
    assert score.add_judged(attempts("first"), [BAD]).reasons == ["guess"]
    missed = score.add_judged(attempts("first"), [WRONG])
    assert (missed.failed, missed.needs_reask, missed.reasons) == (True, False, ["not as expected: calls"])
