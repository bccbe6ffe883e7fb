"""Every row of the registry, as its own writer writes it, in every place that a call may stand in: no reader has a way of its own.

A new row is here by being in the registry. The table is told by how a form is written: special tokens, tags, or no marker.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from llmcore.normalizer.core.rows import Calls
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.trust.judging import form_of

from .helpers import read_every_way

_ON_LINES_OF_THEIR_OWN = ("functionary_v32", "labelled_lines", "name_line_tags", "react", "yaml_in_tag")
"""Forms that begin with a line of their own: in the middle of another nothing tells that they are one."""
_NAMES_ITSELF = ("fenced_function_call", "labelled_block")
_CALLS: Calls = [("get_weather", {"city": "Oslo"})]
CALL, GUESS, SHOWN, EITHER = "call", "guess", "shown", "guess or shown"


class Place(NamedTuple):
    """`around`: where the call stands is `{}`; `each`: what its lines begin with there; then what each form is."""

    around: str
    token: str
    tag: str
    bare: str
    each: str = ""


PLACES = {
    "a prohibition": Place("Do not run this:\n{}", GUESS, SHOWN, SHOWN),
    "a prohibition, prose behind": Place("Bitte nicht ausführen:\n\n{}\n\nDanke.", GUESS, SHOWN, SHOWN),
    "a form": Place("A call looks like this:\n\n{}\n", GUESS, SHOWN, SHOWN),
    "a form in Chinese": Place("格式如下：\n{}", GUESS, SHOWN, SHOWN),  # noqa: RUF001 # full-width is meant
    "an example": Place("For example:\n{}", CALL, GUESS, GUESS),
    "an element of code": Place("It rained.\n<code>\n{}\n</code>\nThat is all.", SHOWN, SHOWN, SHOWN),
    "an element in capitals": Place("It rained.\n<PRE>\n{}\n</PRE>\nThat is all.", SHOWN, SHOWN, SHOWN),
    "an element on the line": Place("It rained. <CODE>{}</CODE>\nThat is all.", SHOWN, SHOWN, SHOWN),
    "indented": Place("It rained.\n\n{}\n\nThat is all.", CALL, SHOWN, SHOWN, each="    "),
    "a fence between sentences": Place("It rained.\n\n~~~~~\n{}\n~~~~~\n\nThat is all.", SHOWN, SHOWN, EITHER),
    "a block quote": Place("It rained.\n\n{}\n\nThat is all.", SHOWN, SHOWN, SHOWN, each="> "),
    "quotation marks": Place("He typed “\n{}\n” and left.", CALL, SHOWN, SHOWN),
    "a line of its own": Place("It rained.\n\n{}\n\nThat is all.", CALL, CALL, CALL),
    "an announcement": Place("I look that up now:\n{}", CALL, CALL, CALL),
}


_OF_A_FENCE = {"an example": SHOWN, "a fence between sentences": SHOWN, "a line of its own": GUESS, "indented": GUESS}
"""A row that is a fence stands in one: what a fence with text on both sides is, and one behind a lead-in."""


def _expected(name: str, place: str, written: str) -> str:
    if written.startswith("```") and place in _OF_A_FENCE and name not in _NAMES_ITSELF:
        return _OF_A_FENCE[place]
    where = PLACES[place]
    if name == "labelled_lines" and where.bare == CALL:  # lines of YAML without a fence
        return GUESS
    if DIALECTS[name].trust == "bare":
        return where.bare
    return where.token if form_of(written) == "token" else where.tag


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_the_place_decides(name: str, place: str) -> None:
    written = DIALECTS[name].write(_CALLS).strip()
    where = PLACES[place]
    lines = "\n".join(where.each + line for line in written.split("\n"))
    text = where.around.replace("{}", lines)
    envelope = read_every_way(text, chunkings=1)
    expected = _expected(name, place, written)
    if not envelope.tool_calls:
        assert expected in (SHOWN, EITHER)
        assert "get_weather" in envelope.content
        assert "Oslo" in envelope.content
        said = {miss.reason for miss in envelope.near_misses}
        assert said & {"quoted", "example"} or (place == "an element on the line" and name in _ON_LINES_OF_THEIR_OWN)
        return
    (call,) = envelope.tool_calls
    assert (call.name, call.complete) == ("get_weather", True)
    assert call.arguments is not None
    assert call.arguments["city"].strip() == "Oslo"
    guessed = any(repair.safety == "guess" for repair in call.repairs)
    assert (GUESS if guessed else CALL) in expected


_BEGUN_BEFORE = {
    "token": [
        'functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
        'get_weather<|tool_sep|>{"city": "Oslo"}',
    ],
    "tag": [
        'court\n<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>',
        "get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>",
        'Action:\n```json\n[{"tool_name": "get_weather", "parameters": {"city": "Oslo"}}]\n```',
    ],
    "bare": [
        "get_weather:\n<city>Oslo</city>\n</get_weather>",
        '<tool-use>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool-use>',
        'assistant to=functions.get_weather commentary json\n{"city": "Oslo"}',
        '<get_weather city="Oslo"/>',
        '<get_weather>{"city": "Oslo"}</get_weather>',
        "<get_weather\ncity: Oslo\n/>",
    ],
}
"""Forms whose marker, or the bracket by which they are found, is not where they begin, and others that no writer writes."""


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("a block quote", "an element on the line")])
@pytest.mark.parametrize(("form", "written"), [(form, written) for form, all_of in _BEGUN_BEFORE.items() for written in all_of])
def test_a_call_that_begins_before_its_marker(form: str, written: str, place: str) -> None:
    where = PLACES[place]
    expected = getattr(where, form)
    text = where.around.replace("{}", "\n".join(where.each + line for line in written.split("\n")))
    envelope = read_every_way(text, chunkings=1)
    if not envelope.tool_calls:
        assert expected in (SHOWN, EITHER)
        assert envelope.content == text
        assert {miss.reason for miss in envelope.near_misses} & {"quoted", "example"}
        return
    (call,) = envelope.tool_calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo"})
    assert (GUESS if any(repair.safety == "guess" for repair in call.repairs) else CALL) in expected


def test_a_lead_in_in_reasoning_leads_to_no_call_in_a_frame() -> None:
    text = (
        "<|channel|>analysis<|message|>For example, do not run this:<|end|>"
        '<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city": "Oslo"}<|call|>'
    )
    (call,) = read_every_way(text).tool_calls
    assert not call.repairs


def test_a_doubtful_frame_passes_its_doubt_to_the_next() -> None:
    text = "Do not run this:\n" + DIALECTS["kimi_k3"].write([*_CALLS, ("get_weather", {"city": "Rom"})])
    calls = read_every_way(text).tool_calls
    assert [[repair.kind for repair in call.repairs] for call in calls] == [["example_lead_in"]] * 2
