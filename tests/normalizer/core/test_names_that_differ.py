"""A header names one tool and the body another: which of them counts cannot be told, and the call is a guess."""

from __future__ import annotations

import json

import pytest

from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.envelope import ToolCall
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_OFFERED = [tool("add_note", ["title"], title="string"), tool("purge_cache", scope="string"), tool("ping"), tool("read")]
_TOOLS = ToolSet(_OFFERED)
_BODY = json.dumps({"name": "purge_cache", "arguments": {"scope": "all"}})
_FORMS = {
    "harmony": f"<|channel|>commentary to=functions.add_note <|constrain|>json<|message|>{_BODY}<|call|>",
    "harmony, recipient first": f" to=add_note<|channel|>commentary<|message|>{_BODY}<|call|>",
    "harmony and invoke": ' to=add_note<|channel|>commentary<|message|><invoke name="purge_cache"></invoke>',
    "harmony and a wrapper": '<|start|>assistant to=add_note<|message|><x:function_calls>\n<x:invoke name="purge_cache">\n</x:invoke>\n</x:function_calls><|eom|>',
    "harmony and a tool call": f"<|start|>assistant to=functions.add_note<|message|><tool_call>{_BODY}</tool_call><|call|>",
    "function": f"<function=add_note>{_BODY}</function>",
    "invoke": f'<invoke name="add_note">{_BODY}</invoke>',
    "invoke, arguments": f'<invoke name="add_note"><arguments>{_BODY}</arguments></invoke>',
    "tool call with a name": f'<tool_call name="add_note">{_BODY}</tool_call>',
    "tool call with a name, invoke": '<tool_call name="add_note"><invoke name="purge_cache"></invoke></tool_call>',
    "mistral": f"[TOOL_CALLS]add_note[ARGS]{_BODY}",
    "kimi": f"<|tool_calls_section_begin|><|tool_call_begin|>functions.add_note:0<|tool_call_argument_begin|>{_BODY}<|tool_call_end|><|tool_calls_section_end|>",
    "deepseek": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add_note<｜tool▁sep｜>{_BODY}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "a line": f"<tool_call>add_note\n{_BODY}</tool_call>",
    "a bare line": f"add_note\n{_BODY}",
    "a fence": f"```add_note\n{_BODY}\n```",
    "react": f"Action: add_note\nAction Input: {_BODY}",
    "python": f"add_note({_BODY})",
    "solar": f"<|tool_calls|><|tool_call:begin|>c<|tool_call:name|>add_note<|tool_call:args|>{_BODY}<|tool_call:end|>",
    "tool's tag": f"<add_note>{_BODY}</add_note>",
    "dsml": f'<｜DSML｜invoke name="add_note">{_BODY}</｜DSML｜invoke>',
    "step3": '<｜tool_calls_begin｜><｜tool_call_begin｜>add_note<｜tool_sep｜><steptml:invoke name="purge_cache"><steptml:parameter name="scope">all</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    "name beside an object": json.dumps({"name": "add_note", "function": json.loads(_BODY)}),
    "name beside a call": json.dumps({"name": "add_note", "tool_call": json.loads(_BODY)}),
    "tool beside an object, in a list": json.dumps([{"tool": "add_note", "function": json.loads(_BODY)}]),
    "name beside a list": json.dumps({"name": "add_note", "tool_calls": [json.loads(_BODY)]}),
    "name beside a list, in a tag": f'<tool_call>{{"name": "add_note", "tool_calls": [{_BODY}]}}</tool_call>',
    "name beside an envelope": json.dumps({"name": "add_note", "toolCalls": [json.loads(_BODY)], "content": ""}),
    "object in an object": json.dumps({"name": "add_note", "arguments": json.loads(_BODY)}),
}  # fmt: skip


def _runs(call: ToolCall) -> bool:
    return call.complete and call.arguments is not None and not any(repair.safety == "guess" for repair in call.repairs)


@pytest.mark.parametrize("form", _FORMS)
def test_a_call_whose_header_and_body_name_different_tools_is_a_guess(form: str) -> None:
    (call,) = read_every_way(_FORMS[form], _TOOLS, chunkings=2).tool_calls
    assert not _runs(call)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_in_the_place_of_its_arguments_runs_in_no_row(name: str) -> None:
    envelope = read_every_way(DIALECTS[name].write([("add_note", json.loads(_BODY))]), _TOOLS, chunkings=1)
    assert not any(map(_runs, envelope.tool_calls))


@pytest.mark.parametrize(
    "text",
    [
        '<|start|>assistant to=ping<|message|><x:function_calls><x:invoke name="ping"></x:invoke></x:function_calls><|eom|>',
        '<｜tool_calls_begin｜><｜tool_call_begin｜>ping<｜tool_sep｜><steptml:invoke name="ping"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
        '{"name": "ping", "function": {"name": "ping", "arguments": {}}}',
        '{"type": "function", "tool": "functions.ping", "function": {"name": "ping", "arguments": {}}}',
        '{"name": "ping", "tool_calls": [{"name": "ping", "arguments": {}}]}',
        '<|start|>assistant to=read.read<|message|><x:function_calls><x:invoke name="read"></x:invoke></x:function_calls><|eom|>',
        '<|start|>assistant to=add_note<|message|>Later.<|eom|><|start|>assistant to=ping<|message|><x:function_calls><x:invoke name="ping"></x:invoke></x:function_calls><|eom|>',
    ],
)  # fmt: skip
def test_a_header_and_a_body_that_agree_are_no_guess(text: str) -> None:
    assert _runs(read_every_way(text, _TOOLS, chunkings=2).tool_calls[-1])


_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "parameters": {"type": "object"}}}


def test_arguments_that_a_tool_has_are_its_own() -> None:
    tools = ToolSet([{"name": "define", "parameters": _SCHEMA}, tool("purge_cache")])
    text = '<function=define>{"name": "purge_cache", "parameters": {}}</function>'
    (call,) = read_every_way(text, tools, chunkings=2).tool_calls
    assert (call.name, _runs(call)) == ("define", True)


def test_the_payload_of_inkling_counts() -> None:
    text = '<|message_model|>add_note<|content_invoke_tool_json|>{"name":"purge_cache","args":{"scope":"all"}}<|end_message|>'
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert (call.name, call.arguments, _runs(call)) == ("purge_cache", {"scope": "all"}, True)
