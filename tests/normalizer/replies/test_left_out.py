"""Calls beyond `Limits.calls`: each is recorded, in whatever form the reply holds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Limits, Normalizer, normalize
from llmcore.normalizer.replies.left_out import CALLS_LIMIT
from llmcore.types import Envelope

_CALLS, _MOST = 9, 3
_LIMITS = Limits(calls=_MOST, near_misses=4)
_ALL = range(_CALLS)


def pay(to: int) -> None:
    """Pay."""


def _objects(count: range = _ALL) -> list[dict[str, Any]]:
    return [{"name": "pay", "arguments": {"to": n}} for n in count]


def _tags(count: range) -> str:
    return "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in _objects(count))


def _native(calls: list[tuple[str, str]], content: str | None = None) -> dict[str, Any]:
    made = [{"id": f"c{n}", "function": {"name": name, "arguments": given}} for n, (name, given) in enumerate(calls)]
    return {"choices": [{"message": {"content": content, "tool_calls": made}, "finish_reason": "tool_calls"}]}


_PARALLEL = json.dumps({"tool_uses": [{"recipient_name": "functions.pay", "parameters": {"to": n}} for n in _ALL]})
_REPLIES: dict[str, str | dict[str, Any]] = {
    "hermes": _tags(_ALL),
    "bare_array": json.dumps(_objects()),
    "bare_json": "\n".join(map(json.dumps, _objects())),
    "fence": f"```json\n{json.dumps(_objects())}\n```",
    "envelope": json.dumps({"toolCalls": _objects(), "content": "", "needsMoreWork": False}),
    "mistral": "[TOOL_CALLS]" + json.dumps(_objects()),
    "pythonic": f"[{', '.join(f'pay(to={n})' for n in _ALL)}]",
    "python_lines": "\n".join(f"pay(to={n})" for n in _ALL),
    "qwen3": "\n".join(f"<tool_call><function=pay><parameter=to>{n}</parameter></function></tool_call>" for n in _ALL),
    "in_one_tag": f"<tool_call>{json.dumps(_objects())}</tool_call>",
    "invoke": "<function_calls>"
    + "".join(f'<invoke name="pay"><parameter name="to">{n}</parameter></invoke>' for n in _ALL)
    + "</function_calls>",
    "kimi": "<|tool_calls_section_begin|>"
    + "".join(f'<|tool_call_begin|>functions.pay:{n}<|tool_call_argument_begin|>{{"to":{n}}}<|tool_call_end|>' for n in _ALL)
    + "<|tool_calls_section_end|>",
    "react": "\n".join(f'Action: pay\nAction Input: {{"to": {n}}}\n' for n in _ALL),
    "native": _native([("pay", f'{{"to": {n}}}') for n in _ALL]),
    "native_concatenated": _native([("pay", "".join(f'{{"to": {n}}}' for n in _ALL))]),
    "native_parallel": _native([("multi_tool_use.parallel", _PARALLEL)]),
    "native_and_text": _native([("pay", f'{{"to": {n}}}') for n in range(2)], _tags(range(2, _CALLS))),
}


def _told(envelope: Envelope) -> tuple[list[int], int]:
    before = [repair.before for repair in envelope.repairs if repair.kind == CALLS_LIMIT]
    named = [int("".join(filter(str.isdigit, one["arguments"]))) for one in before if "name" in one]
    return named, sum(one.get("more", 0) for one in before)


@pytest.mark.parametrize("form", _REPLIES)
def test_each_call_beyond_the_limit_is_recorded(form: str) -> None:
    reply = _REPLIES[form]
    envelope = normalize(reply, [pay], limits=_LIMITS)
    assert [call.arguments for call in envelope.tool_calls] == [{"to": n} for n in range(_MOST)]
    assert _told(envelope) == ([3, 4, 5, 6], 2)
    normalizer = Normalizer([pay], limits=_LIMITS)
    for piece in [reply[at : at + 7] for at in range(0, len(reply), 7)] if isinstance(reply, str) else [reply]:
        normalizer.feed(piece)
    normalizer.finish()
    assert normalizer.envelope == envelope


@pytest.mark.parametrize("form", _REPLIES)
def test_as_many_calls_as_may_be_are_no_records(form: str) -> None:
    assert _told(normalize(_REPLIES[form], [pay], limits=Limits(calls=_CALLS))) == ([], 0)


def test_text_calls_that_are_too_many_beside_native_ones_are_content() -> None:
    text = _tags(range(2, _CALLS))
    envelope = normalize(_native([("pay", '{"to": 0}'), ("pay", '{"to": 1}')], text), [pay], limits=_LIMITS)
    assert envelope.content.strip() == text.split("\n", 1)[1]
