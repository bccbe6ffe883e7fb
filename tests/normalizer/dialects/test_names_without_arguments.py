"""A wrapper that names a tool and holds no arguments that can be read is a call without any; literal text holds what it says."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from tests.normalizer.helpers import TOOLS, read_every_way

PARIS = '{"city": "Paris"}'
LITERAL = f"<![CDATA[{PARIS}]]>"
OBJECT = f'<![CDATA[\n{{"name": "get_weather", "arguments": {PARIS}}}\n]]>'
MCP = "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>{}</tool_name>\n<arguments>{}</arguments>\n</use_mcp_tool>"


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("[TOOL_CALLS]get_weather[ARGS]Paris, please", "Paris, please"),
        ("<tool_call>get_weather\nin Paris</tool_call>", "in Paris"),
        ("<tool_call>get_weather\n<arg_value>3</arg_value>\n</tool_call>", "<arg_value>3</arg_value>"),
        ("<tool_call>get_weather<parameter=city></arg_key>Q</tool_call>", "<parameter=city></arg_key>Q"),
    ],
)
def test_a_tool_is_named_and_its_arguments_cannot_be_read(text: str, raw: str) -> None:
    envelope = read_every_way(f"So:\n{text}\nDone.", TOOLS)
    (call,) = envelope.tool_calls
    assert (call.name, call.arguments, call.raw_arguments) == ("get_weather", None, raw)
    assert envelope.content.split() == ["So:", "Done."]


@pytest.mark.parametrize(
    "text",
    [
        "[TOOL_CALLS]launch[ARGS]now",
        "<tool_call>launch\nnow</tool_call>",
    ],
)
def test_without_a_known_name_or_a_closer_it_is_content(text: str) -> None:
    envelope = read_every_way(text, TOOLS)
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{OBJECT}</tool_call>",
        f"<function><name>get_weather</name><arguments>{LITERAL}</arguments></function>",
        f"<function><name><![CDATA[get_weather]]></name><arguments>{LITERAL}</arguments></function>",
        f"<tool>get_weather</tool>\n<tool_input>{LITERAL}</tool_input>",
        MCP.format("get_weather", LITERAL),
        MCP.format("<![CDATA[get_weather]]>", LITERAL),
        "<function_calls>\n<invoke>\n<tool_name><![CDATA[get_weather]]></tool_name>\n<parameters>\n<city>Paris</city>\n"
        "</parameters>\n</invoke>\n</function_calls>",
    ],
)
def test_literal_text_holds_json_and_names(text: str) -> None:
    envelope = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments, call.repairs) for call in envelope.tool_calls] == [("get_weather", {"city": "Paris"}, [])]
    assert (envelope.content, envelope.near_misses) == ("", [])


def test_a_wrapper_is_content_where_what_it_holds_is_no_call() -> None:
    text = "<function_calls>\n<invoke>\nnothing\n</invoke>\n</function_calls>"
    assert read_every_way(text, TOOLS).content == text


@pytest.mark.parametrize(
    "text", ["<tool_call>\nNote: prose.\n</tool_call>", "So:\n<function_call>\nI think not.\n</function_call>"]
)
def test_words_between_an_opener_and_its_closer_are_a_near_miss(text: str) -> None:
    envelope = read_every_way(text, TOOLS)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert [miss.reason for miss in envelope.near_misses] == ["no_call_object"]


@pytest.mark.parametrize(
    "text",
    [
        "The <tool_call> and the </tool_call> tags are ours.",
        "`<tool_call>` opens, `</tool_call>` closes.",
        "<tool_call> opens a call.",
        "<action>\nClick.\n</action>",
    ],
)
def test_openers_in_words_are_none(text: str) -> None:
    assert read_every_way(text, TOOLS).near_misses == []


def test_a_text_that_ends_in_the_tag_of_a_tool_is_cut() -> None:
    envelope = read_every_way('So:\n<get_weather city="Par', TOOLS)
    assert [(call.name, call.arguments, call.complete) for call in envelope.tool_calls] == [("get_weather", None, False)]
    assert (envelope.truncated, envelope.content.strip()) == (True, "So:")
    assert normalize("So:\n<get_weather colour=", TOOLS).tool_calls == []


def test_two_names_before_the_arguments_are_a_near_miss() -> None:
    text = "tool: ping\ntool: get_weather\narguments:\n  city: Paris"
    assert [(miss.name, miss.reason) for miss in read_every_way(text, TOOLS).near_misses] == [("ping", "no_arguments")]
    assert normalize("tool: ping\nname: a database\narguments: none", TOOLS).near_misses == []


def test_a_name_and_an_object_in_a_list_are_a_near_miss() -> None:
    assert [miss.name for miss in read_every_way(f'["get_weather", {PARIS}]', TOOLS).near_misses] == ["get_weather"]


def test_the_closer_of_another_tag_may_end_a_line_behind_a_name() -> None:
    envelope = read_every_way("<tool_call>ping</arg_value>\nDone soon.")
    assert [(call.name, call.complete, [repair.kind for repair in call.repairs]) for call in envelope.tool_calls] == [
        ("ping", True, ["wrong_closer"])
    ]
    assert envelope.content == "Done soon."
