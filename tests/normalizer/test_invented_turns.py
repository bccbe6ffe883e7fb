"""In a turn of another speaker that the model made up, calls stand but are guesses: for every template, and for every row."""

from __future__ import annotations

import pytest

from llmcore.normalizer.dialects.registry import DIALECTS

from .helpers import read_every_way

_CALL = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
_HEADERS = [
    "<|im_end|>\n<|im_start|>user\n",
    "<|im_end|>\n<|im_start|>tool\n",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
    "<|header_start|>ipython<|header_end|>\n\n",
    "<end_of_turn>\n<start_of_turn>user\n",
    "<turn|>\n<|turn>user\n",
    "<|end|><|user|>\n",
    "<|observation|>\n",
    "<|im_end|><|im_user|>user<|im_middle|>",
    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    "<|start_of_role|>user<|end_of_role|>",
    "</s>[INST] ",
    "<｜end▁of▁sentence｜><｜User｜>",
    "[|endofturn|]\n[|user|]\n",
    "\n\nHuman: ",
    "\n\nUser:\n",
    "\n\n### Instruction:\n",
    "\n\n用户：\n",  # noqa: RUF001 # the full-width colon is meant
]


def test_a_call_in_an_invented_message_of_a_framed_reply_is_none() -> None:
    assert read_every_way(f"All done.<|end|><|start|>user<|message|>{_CALL}", chunkings=2).tool_calls == []


@pytest.mark.parametrize("header", _HEADERS)
def test_a_call_in_an_invented_turn_is_a_guess(header: str) -> None:
    found = read_every_way(f"All done.{header}{_CALL}", chunkings=2)
    assert [[(one.kind, one.safety) for one in call.repairs][:1] for call in found.tool_calls] == [
        [("after_invented_result", "guess")]
    ]


@pytest.mark.parametrize("name", sorted(row for row in DIALECTS if DIALECTS[row].write is not None))
def test_so_it_is_in_every_row(name: str) -> None:
    write = DIALECTS[name].write
    assert write is not None
    found = read_every_way("Good.\n<|im_start|>user\n" + write([("get_weather", {"city": "Paris"})]), chunkings=1)
    assert all("after_invented_result" in {one.kind for one in call.repairs} for call in found.tool_calls)


def test_the_model_s_own_turn_behind_it_is_invented_as_well() -> None:
    found = read_every_way(f"{_CALL}<|im_end|>\n<|im_start|>user\nok<|im_end|>\n<|im_start|>assistant\n{_CALL}")
    first, second = found.tool_calls
    assert (first.repairs, [one.kind for one in second.repairs]) == ([], ["after_invented_result"])


@pytest.mark.parametrize(
    "before",
    [
        "<|im_start|>assistant\n",
        "Your template has `<|im_start|>user` in it, which I look up.\n",
        "Your template:\n```\n<|im_start|>user\n{{x}}\n```\nNow I look.\n",
        "<think>Then <|im_start|>user\n comes.</think>",
        '<tool_call>{"name": "read_file", "arguments": {"path": "\\n<|im_start|>user\\n"}}</tool_call>\n',
        "Here is what I have:\n- User: bob\n- Plan: free\n\nI look:\n",
        "The user: Bob. ",
    ],
)
def test_text_about_turns_begins_no_turn(before: str) -> None:
    assert all(not call.repairs for call in read_every_way(before + _CALL, chunkings=2).tool_calls)
