"""Plain chat completions are read at once: the same as when they are read in pieces, blocks and segments included."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.replies.native_reply import NativeReply
from llmcore.normalizer.replies.plain_chat import read_plain_chat
from llmcore.normalizer.replies.settings import Settings
from llmcore.types.envelope import Envelope
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from tests.normalizer.helpers import TOOLS

PARIS = '{"city": "Paris", "days": 2}'


def call(name: str = "get_weather", arguments: Any = PARIS, id: Any = "call_1", **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def body(content: Any = None, *calls: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **({"tool_calls": [*calls]} if calls else {}), **more}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


PLAIN: dict[str, dict[str, Any]] = {
    "words": body("It is sunny in Paris."),
    "words in several lines": body("It is [1] sunny.\n\n- in Paris\n- in `Rome`\n"),
    "a call in words": body(f'I look.\n<tool_call>{{"name": "get_weather", "arguments": {PARIS}}}</tool_call>'),
    "reasoning in words": body("<think>Hm.</think>It is sunny."),
    "fields that say nothing": body("Hello.", refusal=None, annotations=[], reasoning_content="", function_call=None),
    "a call": body(None, call()),
    "a call, as some end": body("", call(), finish="tool_calls"),
    "a call of no tool": body(None, call("get_wether"), finish="tool_calls"),
    "calls": body(None, call(), call(arguments="{}", id=""), call(id="call_1", index=2), finish="tool_calls"),
    "no arguments": body(None, call(arguments=""), finish="tool_calls"),
    "cut arguments": body(None, call(arguments='{"city": "Par'), finish="tool_calls"),
    "damaged arguments": body(None, call(arguments="{'city': 'Paris',}"), finish="tool_calls"),
    "several in one": body(None, call(arguments=PARIS * 2 + "{}"), finish="tool_calls"),
    "folded": body(
        None,
        call(
            "multi_tool_use.parallel",
            '{"tool_uses": [{"recipient_name": "functions.get_weather", "parameters": {"city": "Rome"}}]}',
        ),
        finish="tool_calls",
    ),
    "numbers that floats do not hold": body(None, call(arguments='{"city": "Paris", "days": 1.10000000000000000001}')),
}
OTHERS: dict[str, dict[str, Any]] = {
    "words and a call": body("I look.", call()),
    "reasoning": body("Hello.", reasoning_content="Hm."),
    "a refusal": body(None, refusal="No."),
    "parts": body([{"type": "text", "text": "Hello."}]),
    "an empty list": body([]),
    "data": body({"city": "Paris"}),
    "an empty list and a call": body([], call()),
    "nothing": body(None),
    "a limit": body("It is", finish="length"),
    "no end": body("It is", finish=None),
    "an unknown end": body("It is", finish="queued"),
    "a filter": body("It is", finish="content_filter"),
    "arguments as an object": body(None, call(arguments={"city": "Paris"})),
    "an annotated call": body(None, call(extra_content={"google": {"thought_signature": "x"}})),
    "a custom call": body(None, {"id": "c", "type": "custom", "custom": {"name": "get_weather", "input": "Paris"}}),
    "a call without a name": body(None, call("")),
    "two choices": {"choices": [*body("One.")["choices"], *body("Two.")["choices"]]},
    "an error": {**body("One."), "error": {"code": "tool_use_failed", "failed_generation": "x"}},
    "an older call": body(None, function_call={"name": "get_weather", "arguments": PARIS}),
    "text beside": {"choices": [{**body("One.")["choices"][0], "text": "Two."}]},
}


def in_pieces(given: dict[str, Any], limits: Limits, own: frozenset[str] | None = None) -> Envelope:
    native = NativeReply(Settings(TOOLS, limits=limits, listening=False, own=own))
    native.feed(given)
    return native.finish(None)[0]


def read(given: dict[str, Any], limits: Limits = DEFAULT_LIMITS) -> Envelope | None:
    """Asked thrice, since shapes are learnt for starts that are asked for often."""
    for _ in range(2):
        read_plain_chat(given, TOOLS, None, limits)
    return read_plain_chat(given, TOOLS, None, limits)


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_body_is_read_as_it_would_be_in_pieces(name: str) -> None:
    made, whole = read(PLAIN[name]), in_pieces(PLAIN[name], DEFAULT_LIMITS)
    assert made is not None
    assert made == whole
    assert (made.blocks, made.segments, made.source) == (whole.blocks, whole.segments, whole.source)


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "a call in words"])
def test_the_plain_body_of_a_model_that_calls_natively_is_read_at_once(name: str) -> None:
    made = read_plain_chat(PLAIN[name], TOOLS, None, DEFAULT_LIMITS, calls_natively=True)
    assert made == in_pieces(PLAIN[name], DEFAULT_LIMITS, frozenset({"kimi_k2"}))


def test_a_call_in_the_words_of_such_a_model_is_the_engines_to_judge() -> None:
    given, own = PLAIN["a call in words"], frozenset({"kimi_k2"})
    assert read_plain_chat(given, TOOLS, None, DEFAULT_LIMITS, calls_natively=True) is None
    read_as_text = normalize(given["choices"][0]["message"]["content"], TOOLS, own=own).tool_calls
    assert [
        [one.repairs[0].safety for one in calls] for calls in (normalize(given, TOOLS, own=own).tool_calls, read_as_text)
    ] == [
        ["guess"],
        ["guess"],
    ]


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_else_a_body_holds_is_read_in_pieces(name: str) -> None:
    assert read(OTHERS[name]) is None


def test_calls_over_the_limit_are_read_in_pieces() -> None:
    assert read(body(None, call(), call(), call()), Limits(calls=2)) is None
