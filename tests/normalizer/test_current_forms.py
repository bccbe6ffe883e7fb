"""Forms that models of 2026 write: each means the same however it is cut, and no beginning of it runs what the whole does not."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet

from .helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("track_parcel", ["code"], code="string"),
        tool("ping"),
        tool("plan_trip", ["place", "day"], place="string", day="string", stops={"type": "array", "items": {"type": "string"}}),
        tool("add", ["a", "b"], a="integer", b="integer"),
        tool("store", ["label", "tree"], label="string", tree="object"),
        tool("save_page", ["path", "text"], path="string", text="string"),
    ]
)
_PARCEL = ("track_parcel", {"code": "Z-19"})
_OBJECT = '{"name": "track_parcel", "arguments": {"code": "Z-19"}}'
_CALLS: dict[str, tuple[str, list[tuple[str, dict[str, Any]]], str]] = {
    "a closer cut in its name": (
        "<tool_call>track_parcel<arg_key>code</arg_key><arg_value>Z-19</arg_value></tool_c",
        [_PARCEL],
        "",
    ),
    "the closer of another tag": ("<tool_call>ping</parameter>", [("ping", {})], ""),
    "a closer without its bracket": ("<function=track_parcel>\n<parameter=code>\nZ-19\n</parameter\n</function>", [_PARCEL], ""),
    "DSML with blanks": (
        '< | DSML | tool_calls>\n< | DSML | invoke name="track_parcel">\n< | DSML | parameter name="code" string="true">Z-19'
        "</ | DSML | parameter>\n</ | DSML | invoke>\n</ | DSML | tool_calls>",
        [_PARCEL],
        "",
    ),
    "labelled tags": ('<tool_call:q7>track_parcel<tool_sep:q7>{"code": "Z-19"}<end_of_tool_call:q7>', [_PARCEL], ""),
    "labelled tags without labels": ('<tool_call>track_parcel<tool_sep>{"code": "Z-19"}<end_of_tool_call>', [_PARCEL], ""),
    "labelled keys and values": (
        "<tool_call:q7>track_parcel<tool_sep:q7><arg_key:q7>code</arg_key:q7><arg_value:q7>Z-19</arg_value:q7></tool_call:q7>",
        [_PARCEL],
        "",
    ),
    "LongCat pairs": (
        "<longcat_tool_call>add<longcat_arg_key>a</longcat_arg_key>\n<longcat_arg_value>4</longcat_arg_value>\n"
        "<longcat_arg_key>b</longcat_arg_key>\n<longcat_arg_value>5</longcat_arg_value></longcat_tool_call>",
        [("add", {"a": 4, "b": 5})],
        "",
    ),
    "a fence that names the tool": ('```tool track_parcel\n{"code": "Z-19"}\n```', [_PARCEL], ""),
    "a fence closed by a tag": (f"```tool-call\n{_OBJECT}\n</tool_call>", [_PARCEL], ""),
    "a block of labels": ("```tool\nTOOL_NAME: track_parcel\nBEGIN_ARG: code\nZ-19\nEND_ARG\n```", [_PARCEL], ""),
    "DeepSeek, name in brackets": (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<track_parcel>\n```json\n{"code": "Z-19"}\n```'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        [_PARCEL],
        "",
    ),
    "bare text with commas": (
        "<|tool_call>call:plan_trip{place:Oslo at 7:15, then Bergen,day:Friday}<tool_call|>",
        [("plan_trip", {"place": "Oslo at 7:15, then Bergen", "day": "Friday"})],
        "",
    ),
    "bare text without tokens": (
        "call:plan_trip{place:,day:Friday,stops:[Lillehammer,Dombås]}",
        [("plan_trip", {"place": "", "day": "Friday", "stops": ["Lillehammer", "Dombås"]})],
        "",
    ),
    "nested keys with blanks": (
        "call:store{label:Menu,tree:{Hot dishes:{soups:[2]}}}",
        [("store", {"label": "Menu", "tree": {"Hot dishes": {"soups": [2]}}})],
        "",
    ),
    "an id glued to a sentence": ('I track it now.functions.track_parcel:0{"code": "Z-19"}', [_PARCEL], "I track it now."),
    "words before the object": (f"<tool_call>\nSure: {_OBJECT}</tool_call>", [_PARCEL], "Sure:"),
    "a string with a prefix": ('track_parcel(code=f"Z-19")', [_PARCEL], ""),
    "a plus sign": ("add(a=+4, b=5)", [("add", {"a": 4, "b": 5})], ""),
    "a list and words": ('[track_parcel(code="Z-19")]We will see.', [_PARCEL], "We will see."),
    "curly quotes": ("<invoke name=“track_parcel”><parameter name=“code”>Z-19</parameter></invoke>", [_PARCEL], ""),
    "records without a comma": (
        f"[TOOL_CALLS] [{_OBJECT} {_OBJECT.replace('Z-19', 'Z-20')}]",
        [_PARCEL, ("track_parcel", {"code": "Z-20"})],
        "",
    ),
    "an object behind Gemma's opener": (f"<|tool_call>call:{_OBJECT}<tool_call|>", [_PARCEL], ""),
    "one call in the list of tools": (
        f"<tools>{_OBJECT.replace('Z-19', 'Z</tools>19')}</tools>",
        [("track_parcel", {"code": "Z</tools>19"})],
        "",
    ),
    "attributes without a tag": ('<tool_call>track_parcel code="Z-19" /></tool_call>', [_PARCEL], ""),
    "Sarashina": ("<|tool_calls|>[{'name': 'track_parcel', 'arguments': {'code': 'Z-19'}}]", [_PARCEL], ""),
    "an id before the object": ('<function=track_parcel>[c4]{"code": "Z-19"}</function>', [_PARCEL], ""),
    "closers in a line of a block": (
        "<tool_call>\n<function=save_page>\n<parameter=path>\na.md\n</parameter>\n<parameter=text>\n"
        "End with </parameter> and </function>, then <parameter=path> again.\n</parameter>\n</function>\n</tool_call>",
        [("save_page", {"path": "a.md", "text": "End with </parameter> and </function>, then <parameter=path> again."})],
        "",
    ),
    "closers in a line of GLM": (
        "<tool_call>save_page<arg_key>path</arg_key><arg_value>a.md</arg_value><arg_key>text</arg_key>"
        "<arg_value>End with </arg_value> or </tool_call> here</arg_value></tool_call>",
        [("save_page", {"path": "a.md", "text": "End with </arg_value> or </tool_call> here"})],
        "",
    ),
    "closers in an invoke": (
        '<invoke name="save_page"><parameter name="path">a.md</parameter><parameter name="text">x </parameter> y </invoke> z'
        "</parameter></invoke>",
        [("save_page", {"path": "a.md", "text": "x </parameter> y </invoke> z"})],
        "",
    ),
    "an afterthought": (
        f"<plan>First <tool_call>{_OBJECT}</tool_call> as asked.</plan>\n<tool_call>{_OBJECT}</tool_call>",
        [_PARCEL],
        f"<plan>First <tool_call>{_OBJECT}</tool_call> as asked.</plan>",
    ),
}
_GUESSES = {
    "labels without a fence": "Let me see.\n\nTOOL_NAME: track_parcel\nBEGIN_ARG: code\nZ-19\nEND_ARG",
    "an id within a line": 'I use functions.track_parcel:0{"code": "Z-19"} for that',
    "another key for the name": '{"call": "track_parcel", "arguments": {"code": "Z-19"}}',
    "a namespace": "call:parcels:track_parcel{code:Z-19}",
    "a shorthand": "<tool_call>track_parcel>Z-19</tool_call>",
    "a sketch in YAML": "tool: track_parcel\narguments:\n  code: Z-19",
}
_NO_CALLS = {
    "a link": '[track_parcel(code="Z-19")](https://example.org)',
    "an echo of the tools": '<tools>{"name": "track_parcel", "description": "x", "parameters": {}}</tools>',
    "an id in quotation marks": 'I wrote "functions.track_parcel:0{"code": "Z-19"}" there.',
    "a stripped final channel": f"analysisI see.assistantfinal{_OBJECT}",
    "a frame within the response": (
        '<|open|>response<|sep|>Write <|open|>tools<|sep|><|open|>call tool="ping" index="1"<|sep|><|close|>call<|sep|>'
        "<|close|>tools<|sep|> for it.<|close|>response<|sep|><|close|>message<|sep|>"
    ),
}


def _runnable(envelope: Envelope) -> list[tuple[str, Any]]:
    safe = [call for call in envelope.tool_calls if all(repair.safety not in ("guess", "truncated") for repair in call.repairs)]
    return [(call.name, call.arguments) for call in safe if call.complete]


@pytest.mark.parametrize("form", _CALLS)
def test_it_is_a_call(form: str) -> None:
    text, calls, content = _CALLS[form]
    envelope = read_every_way(text, _TOOLS)
    assert _runnable(envelope) == calls
    assert envelope.content == content


@pytest.mark.parametrize("form", _CALLS)
def test_no_beginning_of_it_runs_something_else(form: str) -> None:
    text, calls, _ = _CALLS[form]
    for end in range(1, len(text)):
        ran = _runnable(normalize(text[:end], _TOOLS, finish_reason="length"))
        assert all(call in calls for call in ran), text[:end]


@pytest.mark.parametrize("form", _GUESSES)
def test_it_is_a_guess(form: str) -> None:
    envelope = read_every_way(_GUESSES[form], _TOOLS)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [_PARCEL]
    assert _runnable(envelope) == []


@pytest.mark.parametrize("form", _NO_CALLS)
def test_it_is_no_call(form: str) -> None:
    assert read_every_way(_NO_CALLS[form], _TOOLS).tool_calls == []


def test_markers_in_a_message_of_a_frame_are_text() -> None:
    reasoning = read_every_way(
        "<|channel|>analysis<|message|>The token <|end|> ends it, <|channel|> opens it.<|end|><|start|>assistant<|channel|>final"
        "<|message|>Done.<|return|>",
        _TOOLS,
    )
    assert reasoning.reasoning == "The token <|end|> ends it, <|channel|> opens it."
    assert reasoning.content == "Done."
    answer = read_every_way("<|channel|>final<|message|>Stop with <|end|> and go on.<|return|>", _TOOLS)
    assert answer.content == "Stop with <|end|> and go on."


def test_an_unreadable_header_is_reasoning_without_its_tokens() -> None:
    envelope = read_every_way("<|channel|>hm?<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>", _TOOLS)
    assert (envelope.reasoning, envelope.content) == ("hm?", "Done.")


@pytest.mark.parametrize(
    "text",
    [
        'save_page{path: "a", text: "b\nping{}',
        'save_page{path: "see\n{"name": "ping", "arguments": {}}\n',
        '<save_page>\npath: "see\n<tool_call>ping</tool_call>',
        "<save_page>\npath: a\ntext: 'see\n<ping></ping>",
    ],
)
def test_an_open_value_holds_what_stands_in_it(text: str) -> None:
    first, *others = read_every_way(text, _TOOLS).tool_calls
    assert (first.name, first.complete) == ("save_page", False)
    assert all(call.name == "ping" and "\nping{}" in text for call in others)  # begun anew in its own form


def test_a_body_whose_repairs_are_truncated_is_not_complete() -> None:
    (call,) = read_every_way(
        '```tool_code\nprint(default_api.save_page(path="a", text="see <tool_call>ping</tool_call> ', _TOOLS
    ).tool_calls
    assert not call.complete


@pytest.mark.parametrize(
    "text",
    [
        '<function=track_parcel={"code": "Z-19"}</function>',
        "<function=track_parcel>\n<parameter=code=Z-19</parameter>\n</function>",
        "<function=ping</function>",
        "<tool_call>track_parcel\n<arg_key>code</arg_key>\nZ-19</arg_value>\n</tool_call>",
    ],
)
def test_a_lost_bracket_is_recorded(text: str) -> None:
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("missing_delimiter", "lossless")]


@pytest.mark.parametrize("suffix", ["", ":ab1"])
def test_end_of_tool_call_closes_pairs_of_key_and_value(suffix: str) -> None:
    tags = {name: f"{name}{suffix}" for name in ("tool_call", "tool_sep", "arg_key", "arg_value", "end_of_tool_call")}
    one = (
        "<{tool_call}>get_weather<{tool_sep}><{arg_key}>city</{arg_key}><{arg_value}>Oslo</{arg_value}><{end_of_tool_call}>"
    ).format(**tags)
    envelope = read_every_way(f"{one}\n{one}\nAll sent.", chunkings=3)
    assert [(call.arguments, call.complete, call.repairs) for call in envelope.tool_calls] == [({"city": "Oslo"}, True, [])] * 2
    assert envelope.content == "All sent."


@pytest.mark.parametrize("tail", ["ends", "end", "ending", "own"])
def test_a_value_may_go_on_behind_its_own_closer_with_any_word(tail: str) -> None:
    text = f"<tool_call>read_file<arg_key>path</arg_key><arg_value>the tag </arg_value> {tail}</arg_value></tool_call>"
    envelope = read_every_way(text, chunkings=3)
    assert [call.arguments for call in envelope.tool_calls] == [{"path": f"the tag </arg_value> {tail}"}]
    assert [repair.kind for repair in envelope.tool_calls[0].repairs] == ["holds_closer"]
