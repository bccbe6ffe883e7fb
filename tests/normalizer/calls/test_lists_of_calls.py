"""Several calls in one: a wrapper that is called `parallel`, and lists that hold calls and data."""

from __future__ import annotations

import ast
import json

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types.events import Reclassified, TextDelta
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way, tool

_USES = (
    '{"tool_uses": [{"recipient_name": "functions.get_weather", "parameters": {"city": "Oslo"}}, '
    '{"recipient_name": "functions.ping", "parameters": {}}]}'
)
_LIST = _USES[_USES.index("[") : -1]
_NAMES = ["parallel", "multi_tool_use.parallel"]
_FORMS = [
    '{"name": "NAME", "arguments": USES}',
    '<tool_call>{"name": "NAME", "arguments": USES}</tool_call>',
    "NAME(USES)",
    "NAME(tool_uses=LIST)",
    "functions.NAME(tool_uses=LIST)",
    "functions.NAME(USES)",
    "[NAME(tool_uses=LIST)]",
    "```python\nNAME(tool_uses=LIST)\n```",
    "functions.NAME:0USES",
    "functions.NAME:0 USES",
    "functions.NAME:0<|tool_call_argument_begin|>USES",
    "<|channel|>commentary to=NAME<|message|>USES<|call|>",
    "<|channel|>commentary to=functions.NAME<|message|>USES<|call|>",
    "[TOOL_CALLS]NAME[ARGS]USES",
    "<function=NAME>USES</function>",
    '<tool_call>{"name": "functions.NAME", "arguments": USES}</tool_call>',
    "<function=NAME>\n<parameter=tool_uses>\nLIST\n</parameter>\n</function>",
    '<invoke name="NAME"><parameter name="tool_uses">LIST</parameter></invoke>',
    '<invoke name="functions.NAME"><tool_uses>LIST</tool_uses></invoke>',
    '<｜DSML｜invoke name="NAME"><｜DSML｜parameter name="tool_uses" string="false">LIST</｜DSML｜parameter></｜DSML｜invoke>',
    "<tool_call>NAME<arg_key>tool_uses</arg_key><arg_value>LIST</arg_value></tool_call>",
    "<|tool_call>call:NAME{tool_uses:LIST}<tool_call|>",
    "<|tool_call_start|>[NAME(tool_uses=LIST)]<|tool_call_end|>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>USES<|tool_call_end|><|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>USES<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
]


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("form", _FORMS)
def test_a_wrapper_of_several_calls_is_unwrapped(form: str, name: str) -> None:
    text = form.replace("NAME", name).replace("USES", _USES).replace("LIST", _LIST)
    calls = read_every_way(text).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("get_weather", {"city": "Oslo"}), ("ping", {})]


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("form", _FORMS)
def test_data_that_a_wrapper_holds_beside_calls_stays_content(form: str, name: str) -> None:
    listed = f'[{{"temperature": 3}}, {_LIST[1:-1]}]'
    text = form.replace("NAME", name).replace("USES", f'{{"tool_uses": {listed}}}').replace("LIST", listed)
    envelope = read_every_way(text)
    assert [call.name for call in envelope.tool_calls] == ["get_weather", "ping"]
    assert json.loads(envelope.content) == {"temperature": 3}


@pytest.mark.parametrize("uses", ["often", "[]", "3", '[{"recipient_name": "functions.ping", "parameters": {'])
def test_what_a_wrapper_holds_that_is_no_list_of_calls_runs_nothing(uses: str) -> None:
    envelope = read_every_way(f"<function=parallel>\n<parameter=tool_uses>\n{uses}\n</parameter>\n</function>")
    assert [(call.name, call.known) for call in envelope.tool_calls] == [("parallel", False)]


_BARE = ["parallel(tool_uses=LIST)", 'functions.parallel:0{"tool_uses": LIST}', 'parallel({"tool_uses": LIST})']


@pytest.mark.parametrize("form", _BARE)
def test_a_bare_wrapper_of_calls_of_no_tool_stays_content(form: str) -> None:
    text = form.replace("LIST", '[{"recipient_name": "functions.jump", "parameters": {"far": 1}}]')
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("form", _BARE[:2])
def test_a_placeholder_in_a_bare_wrapper_makes_its_call_a_guess(form: str) -> None:
    (call, _) = read_every_way(form.replace("LIST", _LIST.replace("Oslo", "<your city>"))).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("placeholder", "guess")]
    assert read_every_way("It is\n" + form.replace("LIST", _LIST.replace("Oslo", "...")) + "\nor so.").tool_calls == []


@pytest.mark.parametrize("text", ["parallel(jobs=4)", 'parallel("x")', "parallel{jobs: 4}", 'run(parallel, {"jobs": 4})'])
def test_code_that_calls_a_function_of_that_name_stays_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content, envelope.near_misses) == ([], text, [])


@pytest.mark.parametrize("name", ["parallel", "multi_tool_use.parallel"])
def test_a_stream_tells_no_word_of_a_bare_wrapper(name: str) -> None:
    normalizer = Normalizer(TOOLS)
    events = [event for sign in f"{name}(tool_uses={_LIST})" for event in normalizer.feed(sign)] + normalizer.finish(None)
    assert not any(isinstance(event, TextDelta | Reclassified) for event in events)


def test_calls_of_a_wrapper_that_is_cut_off_do_not_run() -> None:
    envelope = read_every_way(f'<invoke name="parallel"><parameter name="tool_uses">{_LIST[:-20]}')
    assert not any(call.complete for call in envelope.tool_calls)


@pytest.mark.parametrize("form", ["<function=parallel>\n<parameter=tool_uses>\nLIST\n</parameter>\n</function>", *_BARE])
def test_a_tool_that_has_the_name_of_the_wrapper_is_called(form: str) -> None:
    tools = ToolSet([tool("parallel", [], tool_uses="array"), *(one.definition for one in TOOLS)])
    assert [call.name for call in read_every_way(form.replace("LIST", _LIST), tools).tool_calls] == ["parallel"]


@pytest.mark.parametrize("name", [*_NAMES, *(f"functions.{name}" for name in _NAMES)])
def test_a_native_wrapper_of_several_calls_is_unwrapped(name: str) -> None:
    called = {"id": "a", "type": "function", "function": {"name": name, "arguments": _USES}}
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [called]}, "finish_reason": "tool_calls"}]}
    assert [call.name for call in normalize(body, TOOLS).tool_calls] == ["get_weather", "ping"]
    offered = ToolSet([tool(name, [], tool_uses="array"), *(one.definition for one in TOOLS)])
    assert [call.name for call in normalize(body, offered).tool_calls] == [name]


@pytest.mark.parametrize("name", [*_NAMES, *(f"functions.{name}" for name in _NAMES)])
@pytest.mark.parametrize(
    ("uses", "beside"),
    [
        ('[{"name": "ping", "arguments": {}}, {"city": "Rome"}]', '{"city": "Rome"}'),
        ('[{"recipient_name": "functions.ping", "parameters": {}}, {"city": "Rome"}]', '{"city": "Rome"}'),
        ('[{"recipient_name": "functions.ping", "parameters": {}}], "note": "keep"', "keep"),
    ],
)
def test_a_native_wrapper_that_says_more_is_unwrapped_and_what_it_says_is_recorded(uses: str, beside: str, name: str) -> None:
    called = {"id": "a", "type": "function", "function": {"name": name, "arguments": f'{{"tool_uses": {uses}}}'}}
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [called]}, "finish_reason": "tool_calls"}]}
    (call,) = normalize(body, TOOLS).tool_calls
    assert (call.name, call.arguments, call.complete) == ("ping", {}, True)
    assert [repair.before for repair in call.repairs if repair.kind == "text_dropped"] == [beside]


_CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    "wrapper",
    [
        *("{}", "<tool_call>{}</tool_call>", "[TOOL_CALLS] {}", "```json\n{}\n```"),
        *('{"tool_calls": {}}', '{"actions": {}}', '{"action": {}}', '<tool_call>{"actions": {}}</tool_call>'),
    ],
)
@pytest.mark.parametrize("listed", [f'[{_CALL}, {{"temperature": 3}}]', f'[{{"temperature": 3}}, {_CALL}]'])
def test_the_calls_of_a_mixed_list_are_read_and_its_data_stays_content(listed: str, wrapper: str) -> None:
    envelope = read_every_way(wrapper.replace("{}", listed))
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert json.loads(envelope.content) == {"temperature": 3}


@pytest.mark.parametrize(
    "wrapper", ["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```", '{"tool_calls": {}}', '{"toolCalls": {}}']
)
@pytest.mark.parametrize(
    "before", ["3", "-2.5", "null", "true", '"Oslo"', "[1, 2]", '3 ,\n "a"', "1,null", "{}", "{ }, {}", "[], {}"]
)
def test_the_calls_of_a_list_that_begins_with_data_are_read(before: str, wrapper: str) -> None:
    envelope = read_every_way(wrapper.replace("{}", f"[{before} ,\n {_CALL}, 7]"))
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    said = envelope.content.split("\n\n")
    assert json.dumps(json.loads(f"[{before}, 7]")) == f"[{', '.join(said)}]"


@pytest.mark.parametrize(
    "wrapper",
    [
        *("{}", "```python\n{}\n```", "Let me look:\n{}", "<|tool_call_start|>{}<|tool_call_end|>"),
        *("<|python_start|>{}<|python_end|>", "<function_calls>{}</function_calls>", "<tool_call>{}</tool_call>"),
    ],
)
@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("[ping(), DATA]", ["ping"]),
        ("[get_weather(city='Oslo'), DATA, ping()]", ["get_weather", "ping"]),
        ("[ping(), DATA, DATA]", ["ping"]),
        ("['ping()', DATA]", ["ping"]),
    ],
)
@pytest.mark.parametrize(
    "data", ['{"temperature": 3}', "{'cold': True, 'at': ('a', None, 1)}", "[1, [2]]", "(1, 2)", "7", "None"]
)
def test_the_python_calls_of_a_mixed_list_are_read_and_its_data_stays_content(
    data: str, listed: str, names: list[str], wrapper: str
) -> None:
    if listed.startswith("['") and wrapper.startswith("<"):
        pytest.skip("no model was seen to quote its calls within markup")
    envelope = read_every_way(wrapper.replace("{}", listed.replace("DATA", data), 1), chunkings=2)
    assert [call.name for call in envelope.tool_calls] == names
    assert all(call.complete and not call.repairs for call in envelope.tool_calls)
    said = envelope.content.removeprefix("Let me look:\n").split("\n\n")
    assert [json.loads(one) for one in said] == [json.loads(json.dumps(ast.literal_eval(data)))] * listed.count("DATA")


@pytest.mark.parametrize(
    "text",
    ["['ping()', 'asks whether it is there']", '[ping(), "warm"]', "[ping(), count]", "[ping(), {1: f(x)}]", "[ping(), {1"],
)
def test_a_list_with_prose_or_code_beside_a_python_call_runs_nothing(text: str) -> None:
    assert not any(call.complete for call in read_every_way(text).tool_calls)


def test_a_tuple_of_calls_and_data_is_read_as_a_list_is() -> None:
    envelope = read_every_way('(ping(), {"temperature": 3})')
    assert ([call.name for call in envelope.tool_calls], envelope.content) == (["ping"], '{"temperature": 3}')


def test_a_mixed_list_of_unknown_tools_stays_content() -> None:
    text = '[jump(), {"temperature": 3}]'
    for tools in (TOOLS, None):
        envelope = read_every_way(text, tools)
        assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("closer", ["<|tools_suffix|>", ""])
@pytest.mark.parametrize("data", ['{"temperature": 3}', '"warm"', "[1]", '{"at": "Oslo", "on": 4}'])
def test_data_in_a_list_of_calls_under_their_names_stays_content(data: str, closer: str) -> None:
    call = '{"get_weather": {"city": "Oslo"}}'
    for listed in (f"[{call}, {data}]", f"[{data}, {call}]"):
        envelope = read_every_way(f"<|tools_prefix|>{listed}{closer}")
        assert [one.arguments for one in envelope.tool_calls] == [{"city": "Oslo"}]
        assert json.loads(envelope.content) == json.loads(data)


def test_an_unknown_name_in_a_list_of_calls_under_their_names_is_a_call() -> None:
    text = '<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}, {"jump": {"far": 1}}]<|tools_suffix|>'
    assert [(call.name, call.known) for call in read_every_way(text).tool_calls] == [("get_weather", True), ("jump", False)]


_PERSON = '{"name": "Alice", "age": 30}'


@pytest.mark.parametrize(
    "wrapper", ["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```", '{"tool_calls": {}}', '{"tool_uses": {}}']
)
def test_data_with_a_name_is_no_call_of_a_list(wrapper: str) -> None:
    envelope = read_every_way(wrapper.replace("{}", f"[{_CALL}, {_PERSON}]"))
    assert [call.name for call in envelope.tool_calls] == ["get_weather"]
    assert json.loads(envelope.content) == {"name": "Alice", "age": 30}


def test_data_with_a_name_is_no_call_of_an_envelope() -> None:
    envelope = read_every_way(f'{{"toolCalls": [{_CALL}, {_PERSON}], "content": "Hi."}}')
    assert [call.name for call in envelope.tool_calls] == ["get_weather"]
    assert envelope.content == f"Hi.\n\n{_PERSON}"


@pytest.mark.parametrize("key", ["tool_calls", "toolCalls"])
def test_a_name_alone_in_a_list_of_calls_is_a_call_of_a_tool_that_is_not_there(key: str) -> None:
    envelope = read_every_way(f'{{"{key}": [{_CALL}, {{"name": "jump"}}]}}')
    assert [(call.name, call.known) for call in envelope.tool_calls] == [("get_weather", True), ("jump", False)]


@pytest.mark.parametrize("between", ["\n", " ", "; ", ",\n"])
@pytest.mark.parametrize("wrapper", ["{}", "```json\n{}\n```"])
@pytest.mark.parametrize(
    "data", [_PERSON, '{"name": "ping", "description": "Checks.", "parameters": {}}', f"{_PERSON}\n{_PERSON}"]
)
def test_data_behind_a_call_stays_content(data: str, wrapper: str, between: str) -> None:
    envelope = read_every_way(wrapper.replace("{}", f"{_CALL}{between}{data}"))
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == data


def test_data_between_calls_stays_content() -> None:
    envelope = read_every_way(f'{_CALL}\n{_PERSON}\n{{"name": "ping", "arguments": {{}}}}')
    assert [call.name for call in envelope.tool_calls] == ["get_weather", "ping"]
    assert envelope.content == _PERSON


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": [CALL], "note": "keep"}',
        '{"toolCalls": [CALL], "note": "keep"}',
        '{"actions": [CALL], "note": "keep"}',
        '{"tool_call": CALL, "note": "keep"}',
        '{"name": "get_weather", "arguments": {"city": "Oslo"}, "note": "keep"}',
        '[{"name": "get_weather", "arguments": {"city": "Oslo"}, "note": "keep"}]',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}, "note": "keep"}</tool_call>',
        '{"name": "parallel", "arguments": {"tool_uses": [CALL], "note": "keep"}}',
        '<function=parallel>{"tool_uses": [CALL], "note": "keep"}</function>',
    ],
)
def test_unread_keys_beside_calls_are_recorded(text: str) -> None:
    envelope = read_every_way(text.replace("CALL", _CALL))
    (call,) = envelope.tool_calls
    assert call.arguments == {"city": "Oslo"}
    recorded = [*envelope.repairs, *call.repairs]
    assert [(repair.kind, repair.path, repair.before) for repair in recorded] == [("text_dropped", "note", "keep")]


_BLOCK = '{"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Oslo"}}'


@pytest.mark.parametrize("key", ["content", "parts"])
@pytest.mark.parametrize("wrapper", ["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```"])
def test_data_among_the_blocks_of_a_message_stays_content(wrapper: str, key: str) -> None:
    blocks = f'{_BLOCK}, {{"temperature": 3}}, {{"type": "text", "text": "Warm."}}, {{"type": "reading", "of": 4}}, 5'
    envelope = read_every_way(wrapper.replace("{}", f'{{"{key}": [{blocks}]}}'))
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == 'Warm.\n\n{"temperature": 3}\n\n{"type": "reading", "of": 4}\n\n5'


@pytest.mark.parametrize(
    "block", ['{"type": "thinking", "thinking": "Hm."}', '{"reasoningContent": {"reasoningText": {"text": "Hm."}}}']
)
def test_reasoning_among_the_blocks_of_a_message_is_no_data(block: str) -> None:
    envelope = read_every_way(f'{{"content": [{block}, {_BLOCK}]}}')
    assert (len(envelope.tool_calls), envelope.content) == (1, "")


def test_a_list_of_actions_without_a_tool_stays_content() -> None:
    text = '{"actions": [{"name": "jump", "arguments": {"far": 1}}, {"temperature": 3}]}'
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)


def test_data_beside_calls_by_their_names_stays_content() -> None:
    envelope = read_every_way('[{"get_weather": {"city": "Oslo"}}, {"temperature": 3}, "warm", {"unknown": {"a": 1}}]')
    assert [call.name for call in envelope.tool_calls] == ["get_weather", "unknown"]
    assert envelope.content == '{"temperature": 3}\n\n"warm"'


@pytest.mark.parametrize("more", ["", ', "needsMoreWork": true'])
def test_data_among_the_calls_of_an_envelope_stays_beside_its_content(more: str) -> None:
    envelope = read_every_way(f'{{"toolCalls": [{_CALL}, {{"temperature": 3}}, 4], "content": "Warm."{more}}}')
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert (envelope.content, envelope.near_misses) == ('Warm.\n\n{"temperature": 3}\n\n4', [])


@pytest.mark.parametrize("text", ["[1, 2, 3]", '["a", "b"]', '[1, {"temperature": 3}]', "[1] says so.", "[true"])
def test_a_list_of_data_stays_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("text", ['[{"name": "ping", "value": 3}, {"temperature": 3}]', '["get_weather", {"temperature": 3}]'])
def test_a_list_without_a_call_stays_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("token", ["<|im_end|>", "</s>", "<|end|><|return|>", "<|eot_id|>\n"])
@pytest.mark.parametrize(
    "quote", ["> one\n> two", "Here:\n> some <b>quote</b>", '> `x` and <tool_call>{"name": "ping"}</tool_call>']
)
def test_an_end_token_behind_a_block_quote_is_no_content(quote: str, token: str) -> None:
    assert read_every_way(quote + token).content == quote
