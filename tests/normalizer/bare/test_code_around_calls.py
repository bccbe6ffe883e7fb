"""Python around a call that is no list of calls: the call is code, or a guess, and nothing of it is dropped unseen."""

from __future__ import annotations

import pytest

from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [tool("shut_gate", ["gate"], gate="string"), tool("ring", ["bell"], bell={"type": "string", "enum": ["big", "small"]})]
)


def _read(text: str) -> Envelope:
    return read_every_way(text, _TOOLS, chunkings=1)


_LISTS = [
    '[shut_gate(gate="west") for g in gates]',
    '[shut_gate(gate="a") if ok else shut_gate(gate="b")]',
    '[shut_gate(gate="west") or ring(bell="big")]',
    '[shut_gate(gate="west").done]',
    '[shut_gate(gate="west"), "text"]',
    '[shut_gate(gate="west") OOPS]',
]


@pytest.mark.parametrize("code", _LISTS)
def test_a_list_that_holds_more_than_calls_is_code(code: str) -> None:
    found = _read(code)
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["unreadable"])
    assert found.content == code


@pytest.mark.parametrize("code", _LISTS)
@pytest.mark.parametrize(
    "form", ["<|tool_call_start|>{}<|tool_call_end|>", "<|python_start|>{}<|python_end|>", "<tool_call>{}</tool_call>"]
)
def test_between_markers_what_is_dropped_makes_it_a_guess(form: str, code: str) -> None:
    calls = _read(form.format(code)).tool_calls
    assert calls
    assert all([(one.kind, one.safety) for one in call.repairs] == [("text_dropped", "guess")] for call in calls)


@pytest.mark.parametrize(
    "head",
    [
        "if confirmed: ",
        "elif gates > 2: ",
        "for g in gates: ",
        "while True: ",
        "else: ",
        "def f(): ",
        "lambda: ",
        "with lock: ",
        "try: ",
        "case 1: ",
        "# TODO: ",
        "In [1]: ",
    ],
)
def test_behind_the_head_of_a_statement_a_call_is_code(head: str) -> None:
    found = _read(head + 'shut_gate(gate="west")')
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["quoted"])


@pytest.mark.parametrize("words", ["Sure: ", "Now I shut it: ", "For the gate in the west: "])
def test_a_lead_in_is_no_statement(words: str) -> None:
    assert [call.repairs for call in _read(words + 'shut_gate(gate="west")').tool_calls] == [[]]


@pytest.mark.parametrize("form", ["{}", "[{}]", "<|tool_call_start|>[{}]<|tool_call_end|>"])
def test_the_name_of_a_variable_is_a_guess(form: str) -> None:
    (call,) = _read(form.format("shut_gate(gate=west)")).tool_calls
    assert (call.arguments, [(one.kind, one.safety) for one in call.repairs]) == ({"gate": "west"}, [("bare_word", "guess")])
    (call,) = _read(form.format("ring(bell=big)")).tool_calls
    assert (call.arguments, [one.safety for one in call.repairs]) == ({"bell": "big"}, ["coerced"])


def test_a_tool_s_call_as_a_value_is_its_source_text() -> None:
    (call,) = _read('shut_gate(gate=ring(bell="big"))').tool_calls
    assert (call.arguments, [one.kind for one in call.repairs]) == ({"gate": 'ring(bell="big")'}, ["expression"])
