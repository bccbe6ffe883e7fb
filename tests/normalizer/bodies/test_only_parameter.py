"""A text without a key that is taken for the only parameter: one rule and one trust in every form."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("shut_gate", ["gate"], gate="string"), tool("jot", ["title"], title="string", text="string")])


def _safeties(text: str) -> list[tuple[str, str]]:
    (call,) = read_every_way(text, _TOOLS, chunkings=1).tool_calls
    return [(one.kind, one.safety) for one in call.repairs]


@pytest.mark.parametrize(
    "form",
    [
        "<|channel|>commentary to=functions.{f}<|message|>{text}<|call|>",
        "<tool>{f}</tool>\n<tool_input>{text}</tool_input>",
        "<function={f}>{text}</function>",
        "<{f}>{text}</{f}>",
    ],
)
@pytest.mark.parametrize("name", ["shut_gate", "jot"])
def test_a_text_that_nobody_named_is_a_guess(form: str, name: str) -> None:
    assert _safeties(form.format(f=name, text="west side")) == [("only_parameter", "guess")]


@pytest.mark.parametrize(
    ("name", "text", "safety"),
    [
        ("shut_gate", "west side", "coerced"),
        ("shut_gate", '"west"', "coerced"),
        ("shut_gate", "https://gates.example/west", "coerced"),
        ("jot", "Shopping", "guess"),
        ("shut_gate", "gate: west", "guess"),
        ("shut_gate", "gate=west", "guess"),
        ("shut_gate", "west\nside", "guess"),
        ("shut_gate", "<gate>west</gate>", "guess"),
        ("shut_gate", "I should ask first.", "guess"),
    ],
)
def test_a_react_input_is_a_bare_text_by_convention(name: str, text: str, safety: str) -> None:
    assert _safeties(f"Action: {name}\nAction Input: {text}") == [("only_parameter", safety)]
