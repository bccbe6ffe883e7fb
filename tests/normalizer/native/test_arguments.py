"""What stands where a JSON object was promised, and when it is whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import Limits, ToolCall, ToolSet

Json = dict[str, Any]

TOOLS = ToolSet(
    [
        {"name": "needs", "input_schema": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
        {"name": "free", "input_schema": {"type": "object", "properties": {"a": {}}}},
    ]
)
ABSENT = object()


def calls(
    arguments: object,
    finish: str | None = "tool_calls",
    *,
    name: str = "free",
    tools: ToolSet | None = TOOLS,
    **options: Any,
) -> list[ToolCall]:
    function: Json = {"name": name} if arguments is ABSENT else {"name": name, "arguments": arguments}
    message = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    envelope = normalize({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}, tools, **options)
    assert envelope.truncated is any(not call.complete for call in envelope.tool_calls)
    return envelope.tool_calls


def call(arguments: object, finish: str | None = "tool_calls", **options: Any) -> ToolCall:
    (only,) = calls(arguments, finish, **options)
    return only


def kinds(found: ToolCall) -> list[str]:
    return [repair.kind for repair in found.repairs]


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "length", "", None])
def test_a_sound_object_is_whole_whatever_the_finish(finish: str | None) -> None:
    found = call('{"a": {"b": [1, "x"]}}', finish)
    assert (found.arguments, found.complete, found.repairs) == ({"a": {"b": [1, "x"]}}, True, [])
    assert found.raw_arguments == '{"a": {"b": [1, "x"]}}'


def test_an_object_instead_of_a_string() -> None:
    found = call({"a": "ü"})
    assert (found.arguments, found.raw_arguments, found.repairs) == ({"a": "ü"}, '{"a": "ü"}', [])


def test_doubly_encoded() -> None:
    found = call(json.dumps('{"a": 1}'))
    assert (found.arguments, kinds(found)) == ({"a": 1}, ["double_encoded"])
    assert found.repairs[0].safety == "lossless"


@pytest.mark.parametrize("nothing", ["", "  ", None, "null", ABSENT])
class TestNothing:
    def test_is_an_empty_object_where_nothing_is_required(self, nothing: object) -> None:
        for tools in (TOOLS, None):
            found = call(nothing, tools=tools)
            assert (found.arguments, found.complete) == ({}, True)

    def test_is_not_invented_for_a_tool_that_requires_something(self, nothing: object) -> None:
        assert call(nothing, name="needs").arguments is None

    def test_may_have_been_cut_by_the_token_limit(self, nothing: object) -> None:
        found = call(nothing, "length")
        assert (found.arguments, found.complete) == (None, False)


class TestConcatenated:
    def test_several_objects_are_several_calls(self) -> None:
        found = calls('{"a": 1}{"a": 2}')
        assert [(one.id, one.arguments) for one in found] == [("c1", {"a": 1}), ("call_1", {"a": 2})]
        assert all(kinds(one) == ["concatenated_arguments"] for one in found)

    def test_exact_repeats_collapse(self) -> None:
        (found,) = calls('{"a": 1}{"a": 1}')
        assert (found.arguments, kinds(found)) == ({"a": 1}, ["repeated_arguments"])
        assert [one.arguments for one in calls('{"a": 1}{"a": 2}{"a": 1}')] == [{"a": 1}, {"a": 2}]

    def test_only_the_last_can_be_cut(self) -> None:
        found = calls('{"a": 1}{"a": "x', None)
        assert [(one.arguments, one.complete) for one in found] == [({"a": 1}, True), ({"a": "x"}, False)]

    def test_merged_objects_cannot_be_read(self) -> None:
        found = call('{"a": 1{"a": 2, "b": 3}')
        assert (found.arguments, found.raw_arguments) == (None, '{"a": 1{"a": 2, "b": 3}')


class TestClosersMissing:
    WHOLE = ('{"a": "x"', '{"a": ["x"', '{"a": {"b": true', '{"a": null', '{"a": [1]', '{"a": {"b": {}}')
    CUT = ('{"a": 1', '{"a": "x', '{"a":', '{"a": 1,', '{"a": [1, 2', '{"a": tru', '{"a": "x\\"', "{")

    @pytest.mark.parametrize("text", WHOLE)
    def test_a_delimited_last_value_is_whole_if_the_reply_ended_by_itself(self, text: str) -> None:
        for finish in ("tool_calls", "stop"):
            found = call(text, finish)
            assert found.complete, finish
            assert {repair.safety for repair in found.repairs} == {"lossless"}
            assert json.dumps(found.arguments).startswith(text)

    @pytest.mark.parametrize("text", WHOLE)
    def test_it_is_cut_without_a_finish_or_by_length(self, text: str) -> None:
        for finish in ("length", None, "", "failed"):
            found = call(text, finish)
            assert not found.complete, finish
            assert "truncated" in {repair.safety for repair in found.repairs}

    @pytest.mark.parametrize("text", CUT)
    def test_otherwise_it_was_cut_whatever_the_finish(self, text: str) -> None:
        for finish in ("tool_calls", "stop", "length", None):
            assert not call(text, finish).complete, finish


class TestUnreadable:
    @pytest.mark.parametrize("value", ["just words", "[1, 2]", "42", '"text"', [1], 42, True])
    def test_no_object_is_none_and_nothing_is_lost(self, value: object) -> None:
        found = call(value)
        assert found.arguments is None
        assert found.complete
        assert found.raw_arguments == (value if isinstance(value, str) else json.dumps(value))

    def test_text_behind_the_object_is_recorded(self) -> None:
        found = call('{"a": 1} Would you like')
        assert (found.arguments, kinds(found)) == ({"a": 1}, ["trailing_text"])

    @pytest.mark.parametrize(
        ("rest", "safety"),
        [(" wait, no", "guess"), (' or {"a": 2}', "guess"), (" // do not run", "guess"), ("</tool_call>", "lossless"),
         ("<|im_end|>", "lossless"), ("\n```", "lossless")],
    )  # fmt: skip
    def test_words_behind_the_object_may_take_it_back(self, rest: str, safety: str) -> None:
        assert [repair.safety for repair in call(f'{{"a": 1}}{rest}').repairs] == [safety]

    def test_python_is_repaired_and_recorded(self) -> None:
        found = call("{'a': True,}")
        assert found.arguments == {"a": True}
        assert found.repairs


class TestLimits:
    def test_size(self) -> None:
        long = json.dumps({"a": "x" * 200})
        for arguments in (long, json.loads(long)):
            found = call(arguments, limits=Limits(arguments=100))
            assert (found.arguments, found.raw_arguments) == (None, long)

    def test_depth(self) -> None:
        deep: Json = {}
        for _ in range(70):
            deep = {"a": deep}
        for arguments in (json.dumps(deep), deep):
            found = call(arguments)
            assert found.arguments is None
            assert found.raw_arguments == json.dumps(deep)

    def test_many_brackets_are_not_depth(self) -> None:
        wide: Json = {"a": [[] for _ in range(200)]}
        assert call(wide).arguments == wide

    def test_name(self) -> None:
        envelope_calls = calls("{}", name="f" * 300)
        assert envelope_calls == []

    def test_calls(self) -> None:
        entries = [{"id": f"c{n}", "function": {"name": "free", "arguments": "{}"}} for n in range(5)]
        envelope = normalize({"role": "assistant", "tool_calls": entries}, TOOLS, limits=Limits(calls=3))
        assert [found.id for found in envelope.tool_calls] == ["c0", "c1", "c2"]
        assert [miss.reason for miss in envelope.near_misses] == ["calls_limit", "calls_limit"]
        assert [repair.before["id"] for repair in envelope.repairs] == ["c3", "c4"]


class TestObjects:
    """Wires that give the arguments as a JSON object."""

    @staticmethod
    def found(arguments: object, stop: str, name: str = "needs", after: list[Json] | None = None) -> ToolCall:
        block = {"type": "tool_use", "id": "t1", "name": name, "input": arguments}
        body = {"type": "message", "content": [block, *(after or [])], "stop_reason": stop}
        return normalize(body, TOOLS).tool_calls[0]

    def test_the_limit_may_have_cut_what_lacks_a_required_parameter(self) -> None:
        assert not self.found({"b": 1}, "max_tokens").complete
        assert not self.found({}, "max_tokens", name="free").complete
        assert self.found({"a": 1}, "max_tokens").complete
        assert self.found({"b": 1}, "tool_use").complete

    def test_what_something_follows_was_not_cut(self) -> None:
        assert self.found({"b": 1}, "max_tokens", after=[{"type": "text", "text": "x"}]).complete

    def test_keys_become_strings(self) -> None:
        found = self.found({1: "x"}, "tool_use")
        assert found.arguments == {"1": "x"}


class TestNames:
    def test_known_is_asked_of_the_raw_name(self) -> None:
        assert call("{}").known is True
        assert call("{}", name="functions.free").known is False
        assert call("{}", name="functions.free").name == "functions.free"
        assert call("{}", tools=None).known is None
        assert call("{}", tools=ToolSet([])).known is False

    @pytest.mark.parametrize("name", ["", None, 7])
    def test_a_call_without_a_name_is_recorded(self, name: Any) -> None:
        message = {
            "role": "assistant",
            "content": "A",
            "tool_calls": [{"id": "c1", "function": {"name": name, "arguments": '{"a": 1}'}}],
        }
        envelope = normalize(message, TOOLS)
        assert not envelope.tool_calls
        assert [miss.reason for miss in envelope.near_misses] == ["native_call_without_name"]
        assert envelope.repairs[0].before == {"id": "c1", "name": "", "arguments": '{"a": 1}'}
        assert envelope.content == "A"

    def test_parallel_calls_are_unfolded(self) -> None:
        uses = [{"recipient_name": f"functions.{name}", "parameters": {"a": n}} for n, name in enumerate(("free", "needs"))]
        found = calls(json.dumps({"tool_uses": uses}), name="multi_tool_use.parallel")
        assert [(one.id, one.name, one.arguments, one.known) for one in found] == [
            ("c1", "free", {"a": 0}, True),
            ("call_1", "needs", {"a": 1}, True),
        ]
        assert all("unfolded" in kinds(one) for one in found)

    def test_cut_parallel_calls(self) -> None:
        first = '{"recipient_name": "functions.free", "parameters": {"a": 1}}'
        cut = f'{{"tool_uses": [{first}, {{"recipient_name": "functions.needs", "par'
        found = calls(cut, None, name="multi_tool_use.parallel")
        assert [(one.name, one.complete) for one in found] == [("free", True), ("needs", False)]

    def test_what_only_bears_the_name_is_left_as_it_is(self) -> None:
        found = call('{"x": 1}', name="multi_tool_use.parallel")
        assert (found.name, found.arguments) == ("multi_tool_use.parallel", {"x": 1})

    def test_a_text_call_as_the_name(self) -> None:
        name = "free\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"
        found = call("", name=name)
        assert (found.name, found.arguments) == ("free", {"a": "x"})

    def test_arguments_that_switch_from_json_to_tags(self) -> None:
        found = call('{"a": "ls</arg_value>\n<arg_key>b</arg_key>\n<arg_value>x</arg_value>')
        assert (found.id, found.name, found.arguments, found.complete) == ("c1", "free", {"a": "ls", "b": "x"}, True)
        assert [(repair.kind, repair.safety) for repair in found.repairs] == [("format_switch", "guess")]

    def test_tags_inside_sound_json_are_text(self) -> None:
        text = "</arg_value><arg_key>b</arg_key>"
        assert call(json.dumps({"a": text})).arguments == {"a": text}


def test_a_stream_that_breaks_off_leaves_the_call_incomplete() -> None:
    text = '{"a": {"b": "x", "n": 12}}'
    for end in range(len(text)):
        normalizer = Normalizer(TOOLS)
        function = {"name": "free", "arguments": text[:end]}
        normalizer.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}}]})
        normalizer.finish()
        assert not normalizer.envelope.tool_calls[0].complete, text[:end]
