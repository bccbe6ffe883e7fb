"""A reply that was cut off, wherever: a call that was whole stays whole, and more text never makes fewer calls (P10)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet

from .helpers import TOOLS

_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Oslo", "days": 3}),
    ("read_file", {"path": "a/b"}),
    ("ping", {}),
]
_TOLD_APART_BY_THE_END = frozenset({"bare_call"})
"""With tools not told a bare form is one only if the message holds nothing else."""
_TOLD_APART_BY_A_TOOL = frozenset({"yaml_in_tool_call"})
"""With tools not told it is text, but as long as it is no more than a word that may be the name of a cut call of GLM's."""


def _written(name: str) -> str:
    row = DIALECTS[name]
    return row.write(_CALLS[:1] if row.single else _CALLS)


@pytest.mark.parametrize("tools", [TOOLS, None], ids=["told", "not told"])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_more_text_never_makes_fewer_calls(name: str, tools: ToolSet | None) -> None:
    if tools is None and name in _TOLD_APART_BY_THE_END | _TOLD_APART_BY_A_TOOL:
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
def test_a_call_that_was_cut_off_is_no_content(text: str, calls: list[str]) -> None:
    envelope = normalize(text, TOOLS, finish_reason="length")
    assert [call.name for call in envelope.tool_calls] == calls
    assert not envelope.content
    assert envelope.truncated is ("`" not in text[-2:])


_MARKER = re.compile(r"[<\[][|｜‖]?/?[\w:▁.|｜‖-]{4,}[>\]|｜‖]")


@pytest.mark.parametrize("finish_reason", ["length", None, "stop"])
@pytest.mark.parametrize("lead", ["", "Let me look.\n"])
@pytest.mark.parametrize("name", sorted(name for name in DIALECTS if DIALECTS[name].trust == "delimited"))
def test_no_marker_of_a_call_that_was_cut_off_is_left_for_the_user(name: str, lead: str, finish_reason: str | None) -> None:
    text = DIALECTS[name].write(_CALLS[:1])
    for end in range(1, len(text)):
        envelope = normalize(lead + text[:end], TOOLS, finish_reason=finish_reason)
        said = envelope.content.removeprefix("Thought: I need a tool.").removeprefix(lead.strip())
        assert _MARKER.search(said) is None, f"{said!r} of {text[:end]!r}"
        if not envelope.tool_calls and _MARKER.search(text[:end]) and finish_reason == "length":
            assert envelope.truncated, text[:end]
            assert not said.strip() or len(said) < 5, f"{said!r} of {text[:end]!r}"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('<tool_call>\n{"nam', ""),
        ('Let me look.\n<tool_call>\n{"arguments": {"path": "some/where', "Let me look."),
        ("<tool_call>", ""),
        ("Sure. <tool_call>read_f", "Sure."),
        ('```json\n{"name": "read_fi', ""),
        ('So:\n```\n<tool_call>\n{"na', "So:"),
        ('{"name": "read_fi', ""),
        ('{"content": "One moment.", "toolCalls": [', "One moment."),
        ('{"toolCalls": [', ""),
        ("Action: read_fi", ""),
        ("One moment.\n[read_fil", "One moment."),
        ("One moment.\n<tool_c", "One moment."),
        ("<|python_tag|>ping.", ""),
        ("<|python_tag|>ping.cal", ""),
        ("Thought: go\nAction: ", "Thought: go"),
        ("Thought: go\nActi", "Thought: go"),
        ("One moment.\nAction:", "One moment."),
        ('Action: ```json\n[{"', ""),
        ('Action: ```json\n[{"tool_name": "', ""),
        ('{"name": "', ""),
        ('One moment.\n{"nam', "One moment."),
        ('{"tool_calls": [{"id": "a", "type": "function", "function": {"name":', ""),
        ('{"tool_cal', ""),
        ("One moment.\n```tool_co", "One moment."),
        ("", ""),
        ("<think>hm, I could", ""),
    ],
)
def test_a_reply_that_a_limit_cut_before_a_calls_name_is_truncated_and_shows_no_markup(text: str, content: str) -> None:
    for envelope in (normalize(text, TOOLS, finish_reason="length"), _streamed(text, "length")):
        assert (envelope.content, envelope.tool_calls, envelope.truncated) == (content, [], True)
        if text.strip() and not text.startswith("<think>") and 'One moment."' not in text:
            assert [repair.safety for repair in envelope.repairs] == ["truncated"]
            assert text.endswith(envelope.repairs[0].before)


def _streamed(text: str, finish_reason: str) -> Envelope:
    normalizer = Normalizer(TOOLS)
    for character in text:
        normalizer.feed(character)
    normalizer.finish(finish_reason)
    return normalizer.envelope


@pytest.mark.parametrize(
    "text",
    [
        "Models write <tool_call> tags around JSON.",
        "The opener is `<tool_call>`",
        "<tool_call> is the opener that Hermes uses",
        "<tool_call>\nI think that",
        '> <tool_call>\n> {"na',
        'He said "<tool_call>',
        "```python\nprint('x')\n",
        '{"name": "Bob", "age": ',
        "So:\n```\n<tool_call>\n```\nis the opener",
        "It is cold in Os",
        '{"people": [{"name": "',
        '{"name": "Ann',
        '{"na',
        "```too",
        "Take Action:",
        "Action: take the",
        "The plan.\nAct",
        "It is at ping.cal",
    ],
)
def test_text_about_calls_and_other_text_that_a_limit_cut_stays_an_answer(text: str) -> None:
    envelope = normalize(text, TOOLS, finish_reason="length")
    assert (envelope.content, envelope.truncated, envelope.finish_reason) == (text, False, "length")


@pytest.mark.parametrize(
    "text", ['Let me look.\n<tool_call>\n{"nam', "<tool_call>", '{"name": "read_fi', '{"name": ', "Action: "]
)
def test_where_no_tools_were_offered_text_stays_text(text: str) -> None:
    assert normalize(text, ToolSet([]), finish_reason="length").content == text


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
def test_an_ambiguous_beginning_is_content(text: str, content: str) -> None:
    assert normalize(text, TOOLS).content.strip() == content.strip()


def test_a_long_text_behind_a_call_is_text_whatever_it_begins_with() -> None:
    text = "<tool_call>ping</tool_call>" + "<|" + "words and words " * 100
    assert normalize(text, TOOLS).content == text.removeprefix("<tool_call>ping</tool_call>")


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("Action: ping\nAction Input:", False),
        ("Action: read_file\nAction Input: a/b", False),
        ('Action: read_file\nAction Input: "a/b', False),
        ('Action: read_file\nAction Input: "a/b"', True),
        ("Action: read_file\nAction Input: ```\na/b", False),
        ("Action: read_file\nAction Input: ```\na/b\n```", True),
        ('Action: read_file\nAction Input: {"path": "a/b"}', True),
        ("tool: get_weather\narguments:\n  city: Oslo\n", False),
    ],
)
def test_a_value_that_does_not_show_its_end_is_cut_by_a_limit(text: str, complete: bool) -> None:
    (cut,) = normalize(text, TOOLS, finish_reason="length").tool_calls
    assert cut.complete is complete
    (whole,) = normalize(text, TOOLS, finish_reason="stop").tool_calls
    assert whole.complete


def test_an_empty_object_before_a_limit_may_be_all_that_is_there_of_the_arguments() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    for finish, complete in (("length", False), ("tool_calls", True)):
        (found,) = normalize({"choices": [{"message": message, "finish_reason": finish}]}, TOOLS).tool_calls
        assert found.complete is complete


def test_a_call_of_coheres_is_cut_whose_message_began_with_an_empty_content() -> None:
    start: dict[str, Any] = {"type": "message-start", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": ""}}}
    function = {"name": "ping", "arguments": ""}
    call: dict[str, Any] = {"tool_calls": {"id": "c", "type": "function", "function": function}}
    reader = Normalizer(TOOLS)
    events: list[dict[str, Any]] = [
        start,
        {"type": "tool-call-start", "index": 0, "delta": {"message": call}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": ""}}}}},
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}},
    ]
    for event in events:
        reader.feed(event)
    reader.finish()
    assert [call.complete for call in reader.envelope.tool_calls] == [False]
    assert reader.envelope.content == ""
