"""A reply that was cut off, wherever: a call that was whole stays whole, and more text never makes fewer calls (P10)."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.engine import normalize
from llmcore.normalizer.registry import DIALECTS
from llmcore.types.tools import ToolSet

from .helpers import TOOLS

_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Oslo", "days": 3}),
    ("read_file", {"path": "a/b"}),
    ("ping", {}),
]
_TOLD_APART_BY_THE_END = frozenset({"bare_call"})
"""With tools not told a bare form is one only if the message holds nothing else."""


def _written(name: str) -> str:
    row = DIALECTS[name]
    return row.write(_CALLS[:1] if row.single else _CALLS)


@pytest.mark.parametrize("tools", [TOOLS, None], ids=["told", "not told"])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_more_text_never_makes_fewer_calls(name: str, tools: ToolSet | None) -> None:
    if tools is None and name in _TOLD_APART_BY_THE_END:
        pytest.skip("the rest of the message decides")
    text = _written(name)
    calls = whole = 0
    for end in range(1, len(text) + 1):
        found = normalize(text[:end], tools, finish_reason="length").tool_calls
        pairs = [(call.name, call.arguments) for call in found if call.complete]
        assert len(found) >= calls, f"a call is lost at {text[:end][-24:]!r}"
        assert pairs[:whole] == _CALLS[:whole], f"a whole call is not whole any more at {text[:end][-24:]!r}"
        calls = len(found)
        while whole < len(pairs) and pairs[whole] == _CALLS[whole]:
            whole += 1
    if tools is not None:  # else values that are plain text in the dialect are texts
        assert whole == len(_CALLS[:1] if DIALECTS[name].single else _CALLS)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<tool_call>[{"name": "ping", "arguments": {}}, {"na', ["ping"]),
        ('[TOOL_CALLS][{"name": "ping", "arguments": {}}, {', ["ping"]),
        ('{"tool_calls": [{"name": "ping", "arguments": {}}, {"name"', ["ping"]),
        ('[{"ping": {}}, {"read_file": ', ["ping"]),
        ("```python\nping()\nread_fi", ["ping"]),
        ('```json\n{"name": "ping", "arguments": {}}\n`', ["ping"]),
        ('```json\n{"name": "ping", "arguments": {}}\n``', ["ping"]),
        ("[TOOL_CALLS]ping[AR", ["ping"]),
        ("<tool_call>ping<arg_k", ["ping"]),
        ("<function=ping><para", ["ping"]),
        ('<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n<tool_c', ["ping"]),
        ('<function_calls>\n<invoke name="pi', []),
    ],
)
def test_what_was_begun_and_cut_off_is_no_text_for_the_user(text: str, calls: list[str]) -> None:
    envelope = normalize(text, TOOLS, finish_reason="length")
    assert [call.name for call in envelope.tool_calls] == calls
    assert not envelope.content
    assert envelope.truncated is ("`" not in text[-2:])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<tool_call>ping</tool_call>\n<b", "\n<b"),
        ("a < b, and so <", "a < b, and so <"),
        ("the token is <tool_c", "the token is <tool_c"),
        ("</think>a <tool_c", "a <tool_c"),
        ("```python\nping()\nprint('x')", "```python\nping()\nprint('x')"),
    ],
)
def test_what_may_be_anything_is_text(text: str, content: str) -> None:
    assert normalize(text, TOOLS).content.strip() == content.strip()


def test_a_long_text_behind_a_call_is_text_whatever_it_begins_with() -> None:
    text = "<tool_call>ping</tool_call>" + "<|" + "words and words " * 100
    assert normalize(text, TOOLS).content == text.removeprefix("<tool_call>ping</tool_call>")
