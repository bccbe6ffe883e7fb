"""What must hold of any text at all: P1 chunks, P2 tiling, P5 never raises, P6 linear, P7 tools not offered, P8 monotone."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.types.events import ArgumentsDelta, NormalizerEvent, ReasoningDelta, Reclassified, TextDelta, ToolCallFinished
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear

from .helpers import TOOLS, Sample, assert_tiled, cuts, folded, read_every_way, samples

_OPENERS = sorted({opener for row in DIALECTS.values() for marker in row.markers for opener in marker.openers})
_EVERY_MARKER = sorted(marker_table(None).literals)
_PIECES = [
    *_EVERY_MARKER, "get_weather", "ping", "city", "Paris", '{"name": "ping", "arguments": {}}', '{"city": "Paris"}', "(city='Paris')",
    '{"name": "get_weather", "arguments": {', "<invoke name=\"ping\">", '<parameter name="city">', "<parameter=city>", "call:ping{", "to=",
    "functions.ping", "<get_weather>", "</get_weather>", "<city>", "</city>", "]<]minimax[>[", "<｜DSML｜invoke", "<think:x>", "</think:x>",
    "Action: ping\nAction Input: ", "```json\n", "```", "`", "\n", " ", ",", ":", "{", "}", "[", "]", "(", ")", '"', "'", "\\", "<", ">", "|",
    "</", "<|", "|>", "｜", "▁", "--a ", "=> ", "é", "\U0001f600", "\ud83d", "\udc00", "\x00", "\ufeff", "\u2028", "print(", "None", "all\n",
    "analysisWe", "assistantfinal", "</s>", "commentary to=functions.ping json",
]  # fmt: skip
_SOUP = st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=24).map("".join)
_TEXT = _SOUP | st.text(max_size=200)


@given(text=_TEXT, tools=st.sampled_from([TOOLS, ToolSet(), None]))
@settings(max_examples=2 * settings.default.max_examples if settings.default else 200)
def test_any_text_reads_the_same_however_it_is_cut(text: str, tools: ToolSet | None) -> None:
    """P1, P2, P5 and P9: nothing raises, segments tile, events and envelope agree, for any text and any cut."""
    envelope = read_every_way(text, tools, chunkings=2)
    if tools is not None and not len(tools):
        assert not envelope.tool_calls


@given(text=_TEXT, reasoning_open=st.booleans(), forced=st.sampled_from([None, "get_weather"]))
def test_what_the_caller_said_changes_no_rule(text: str, reasoning_open: bool, forced: str | None) -> None:
    read_every_way(text, TOOLS, chunkings=1, reasoning_open=reasoning_open, forced_tool=forced)


@given(text=_TEXT)
def test_a_call_of_no_tool_is_not_known(text: str) -> None:
    """P7: a call outside the tools given says so."""
    for call in normalize(text, TOOLS).tool_calls:
        assert call.known is (call.name in TOOLS)


@given(text=_SOUP)
def test_what_was_told_is_never_taken_back(text: str) -> None:
    """P8: every event adds; what a listener heard before stays the beginning of what it hears after."""
    for chunks in cuts(text, 2):
        normalizer = Normalizer(TOOLS)
        events: list[NormalizerEvent] = []
        said = ""
        for chunk in [*chunks, None]:
            events += normalizer.finish() if chunk is None else normalizer.feed(chunk)
            now = "".join(event.text for event in events if isinstance(event, TextDelta | ReasoningDelta))
            assert now.startswith(said)
            said = now
        reach = [event.end for event in events if isinstance(event, Reclassified)]
        assert all(end <= len(text) for end in reach)
        folded(events)


@pytest.mark.parametrize("sample", samples("catalogue"), ids=lambda sample: sample.id)
def test_limits_have_recorded_outcomes(sample: Sample) -> None:
    """Small limits change what is read, never that it is read without loss."""
    tight = Limits(text=200, arguments=40, depth=2, digits=2, calls=1, name=12, repairs=1, near_misses=1)
    envelope = normalize(sample.text, TOOLS, limits=tight)
    assert_tiled(envelope, sample.text)
    assert len(envelope.tool_calls) <= 1
    assert len(envelope.near_misses) <= 1


_PREFIX_DECIDED = sorted(name for name, row in DIALECTS.items() if row.trust != "bare" and name != "fenced_function_call")
"""A fence is decided by what follows it."""


@pytest.mark.parametrize("name", _PREFIX_DECIDED)
def test_a_call_is_told_and_finished_when_its_closer_has_come(name: str) -> None:
    """One character at a time. A call waits for a few characters behind it, never for the end of the reply."""
    text = "I'll read it.\n" + DIALECTS[name].write([("read_file", {"path": "lorem <b>ipsum</b>"})])
    normalizer = Normalizer(TOOLS)
    events = [event for character in text + "\nOne moment. " for event in normalizer.feed(character)]
    told = "".join(event.json for event in events if isinstance(event, ArgumentsDelta))
    assert json.loads(told) == {"path": "lorem <b>ipsum</b>"}
    assert [event.call.name for event in events if isinstance(event, ToolCallFinished)] == ["read_file"]
    assert not any(isinstance(event, ToolCallFinished) for event in normalizer.finish())


_TOLD_WHOLE = frozenset({"yaml_in_tool_call", "sarashina"})
"""In YAML, indentation and folding rest on later lines: no part of a value is sure before them. Of Python's strings, no part is
emitted."""


@pytest.mark.parametrize("name", [name for name in _PREFIX_DECIDED if name not in _TOLD_WHOLE])
def test_a_listener_waits_no_longer_than_the_limit(name: str) -> None:
    """Something is told at least every `Limits.held` characters while a long argument comes."""
    text = DIALECTS[name].write([("read_file", {"path": "lorem ipsum dolor " * 400})])
    normalizer, waited, longest, step = Normalizer(TOOLS), 0, 0, 16
    for at in range(0, len(text), step):
        waited = 0 if normalizer.feed(text[at : at + step]) else waited + step
        longest = max(longest, waited)
    assert longest <= Limits().held
    normalizer.finish()
    assert normalizer.envelope.tool_calls[0].name == "read_file"


# ---------------------------------------------------------------------- P6

_HOSTILE: dict[str, Callable[[str, int], str]] = {
    "openers": lambda opener, n: opener * (n // len(opener)),
    "opened objects": lambda opener, n: f'{opener}{{"name": "ping", "arguments": {{"a": "' * (n // (len(opener) + 37)),
    "named openers": lambda opener, n: f"{opener}get_weather " * (n // (len(opener) + 12)),
    "one opener, then white space": lambda opener, n: opener + " " * n,
    "one opener, then brackets": lambda opener, n: opener + "[" * n,
}
_NO_OPENER = {
    "braces": "{",
    "brackets": "[",
    "quotes": '{"a": "',
    "calls": "ping(",
    "lists of calls": "[ping(",
    "ticks": "`",
    "fences": "```\n",
    "actions": "Action: ping\n",
    "closers": "</think>",
    "angle brackets": "<",
    "tool tags": "<ping>",
    "spaces": " ",
    "line breaks": "\n",
    "recipients": " to=functions.ping ",
    "json lines": '{"name": "ping", "arguments": {}}\n',
    "data": '{"id": 1, "x": [1, 2]}\n',
}
_NUMBERED = {
    "children that the tool does not have": ("<get_weather>\n", "<k{0}>x</k{0}>\n", "</get_weather>"),
    "one child over and over": ("<get_weather>\n", "<k>x</k>\n", "</get_weather>"),
    "keys": ('<invoke name="get_weather">', "<k{0}>x</k{0}>", "</invoke"),
    "namespaces": ("", '<x{0}:invoke name="ping"><x{0}:parameter name="a">x</x{0}:parameter></x{0}:invoke>', ""),
    "tags": ("", '<t{0} name="ping"><parameter name="a">x</parameter></t{0}>', ""),
    "suffixes": ("", "<tool_call:{0}>ping<arg_key:{0}>a</arg_key:{0}><arg_value:{0}>x</arg_value:{0}></tool_call:{0}>", ""),
    "keys lost": ("", "<tool_call>pingk{0}</arg_key><arg_value>x</arg_value>", ""),
    "tool tags, never closed": ("", "<get_weather>\n<city>", ""),
    "yaml in tool tags, never closed": ("", "<get_weather>\ncity: ", ""),
    "calls in a section": ("<tool_calls>\n", '{{"name": "ping", "arguments": {{"n": {0}}}}}\n', "</tool_calls>"),
    "closers behind a call": ('<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>', "\n</tool_call>", ""),
    "letters before a call on one line": ("", "<start_function_call>call:ping{{a:<escape>", ""),
}
"""What comes before, what comes over and over with a number in it, what comes behind."""
_COSTLY = {"keys lost": 1_500, "namespaces": 3_000}
"""Characters of floods in which each name costs a look at the words before it, or an expression of its own."""
_SHORT, _PIECE = 4_000, 512


def _assert_linear(make: Callable[[int], str], piece: int, size: int = _SHORT, **bounds: float) -> None:
    def read(size: int) -> None:
        text = make(size)
        normalizer = Normalizer(TOOLS)
        for at in range(0, len(text), piece):
            normalizer.feed(text[at : at + piece])
        normalizer.finish()

    assert_linear(read, size, **bounds)


@pytest.mark.sweep
@pytest.mark.parametrize("opener", _OPENERS)
def test_floods_of_openers_cost_linear_time(opener: str) -> None:
    for shape in _HOSTILE.values():
        _assert_linear(partial(shape, opener), _PIECE)


@pytest.mark.parametrize("piece", [16, 1 << 20])
@pytest.mark.parametrize("unit", _NO_OPENER.values(), ids=_NO_OPENER)
def test_floods_without_openers_cost_linear_time(unit: str, piece: int) -> None:
    _assert_linear(lambda n: unit * (n // len(unit)), piece)


@pytest.mark.parametrize("piece", [16, 1 << 20])
@pytest.mark.parametrize("flood", _NUMBERED)
def test_floods_of_names_cost_linear_time(flood: str, piece: int) -> None:
    before, unit, behind = _NUMBERED[flood]
    numbers = count(100_000)  # no text comes twice: what is kept of a short one would make the long one look slow

    def make(size: int) -> str:
        return before + "".join(unit.format(next(numbers)) for _ in range(size // len(unit))) + behind

    _assert_linear(make, piece, _COSTLY.get(flood, 12_000), ratio=9.0)
