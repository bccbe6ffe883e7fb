"""Every sample means what it says, however it is cut, and no part of one runs that the whole would not run."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.tools import ToolSet

from .helpers import TOOLS, Sample, read_every_way, samples, tool

CATALOGUE = samples("catalogue")
ALL = [
    *CATALOGUE,
    *(
        sample
        for name in ("drift", "policies", "damage", "traps", "reasoning", "envelopes", "python", "tokens")
        for sample in samples(name)
    ),
]
POSITIVE = [sample for sample in CATALOGUE if sample.calls]

ONLY_BY_NAME = frozenset({"A10", "D6", "E13", "H2", "N2", "N3", "H3", "J3", "L4", "L12", "N1", "N1/wrapper"})
"""Nothing but a tool's name tells these from data."""


def _id(sample: Sample) -> str:
    return sample.id


def _runs(call: ToolCall) -> bool:
    return call.complete and call.arguments is not None


def _assert_calls(envelope: Envelope, sample: Sample) -> None:
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == sample.pairs
    for call, want in zip(envelope.tool_calls, sample.calls, strict=True):
        facts: dict[str, Any] = {"complete": True, "known": None if sample.tools == "untold" else True, **want.facts}
        if (kinds := facts.pop("repairs", None)) is not None:
            assert [repair.kind for repair in call.repairs] == kinds
        if (safety := facts.pop("safety", None)) is not None:
            assert safety in {repair.safety for repair in call.repairs}
        assert {name: getattr(call, name) for name in facts} == facts


@pytest.mark.parametrize("sample", ALL, ids=_id)
def test_sample(sample: Sample) -> None:
    envelope = read_every_way(sample.text, sample.toolset, finish_reason=sample.finish)
    _assert_calls(envelope, sample)
    assert envelope.content == sample.content
    assert envelope.reasoning == sample.reasoning
    assert envelope.truncated == sample.more.get("truncated", any(not call.complete for call in envelope.tool_calls))
    if "needs_more_work" in sample.more:
        assert envelope.needs_more_work is sample.more["needs_more_work"]
    if "near" in sample.more:
        assert [miss.reason for miss in envelope.near_misses] == sample.more["near"]
    if "repaired" in sample.more:
        assert [repair.kind for repair in envelope.repairs] == sample.more["repaired"]
    if sample.dialect:
        assert {call.dialect for call in envelope.tool_calls} == set(sample.dialect.split("/"))


def test_every_kind_of_expectation_is_checked() -> None:
    assert {key for sample in ALL for key in sample.more} <= {"truncated", "needs_more_work", "near", "repaired"}


@pytest.mark.parametrize("sample", CATALOGUE, ids=_id)
def test_sample_with_tools_not_told(sample: Sample) -> None:
    envelope = read_every_way(sample.text, None)
    if sample.id in ONLY_BY_NAME:
        assert not envelope.tool_calls
        assert envelope.content
    else:
        assert [(call.name, call.arguments) for call in envelope.tool_calls] == sample.pairs
        assert all(call.known is None for call in envelope.tool_calls)


@pytest.mark.parametrize("sample", CATALOGUE, ids=_id)
def test_sample_is_no_call_where_no_tools_were_offered(sample: Sample) -> None:
    assert not read_every_way(sample.text, ToolSet()).tool_calls


@pytest.mark.parametrize("sample", POSITIVE, ids=_id)
def test_text_around_a_sample_is_content(sample: Sample) -> None:
    if "bare" in {DIALECTS[name].trust if name in DIALECTS else "bare" for name in sample.dialect.split("/")}:
        pytest.skip("text around a bare form decides whether it is a call")
    if sample.id in ("L3", "B7", "L9"):
        pytest.skip("what follows on the same line belongs to it")
    envelope = read_every_way(sample.text + "\n\nThat is all.", TOOLS)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == sample.pairs
    assert envelope.content.endswith("That is all.")


@pytest.mark.parametrize("finish", [None, "length"])
@pytest.mark.parametrize("sample", POSITIVE, ids=_id)
def test_no_prefix_runs_what_the_whole_does_not(sample: Sample, finish: str | None) -> None:
    """A cut call is never run: what is complete in a prefix is a call of the whole text."""
    whole = [(call.name, call.arguments) for call in normalize(sample.text, TOOLS).tool_calls]
    for length in range(len(sample.text)):
        cut = normalize(sample.text[:length], TOOLS, finish_reason=finish)
        runnable = [(call.name, call.arguments) for call in cut.tool_calls if _runs(call)]
        assert runnable == whole[: len(runnable)], f"{sample.text[:length]!r} runs {runnable}"


@pytest.mark.parametrize("name", ["notify", "None_such", "null_check", "n"])
def test_a_list_of_calls_may_begin_like_an_empty_one(name: str) -> None:
    tools = ToolSet([tool(name, a="integer")])
    for text in (f"[{name}(a=1)]", f"Sure:\n[ {name}(a=1)]"):
        assert [call.name for call in read_every_way(text, tools).tool_calls] == [name]
    assert not read_every_way("[None]", tools).content
