"""In a reply that is framed, the frames say what is a call. What an answer holds is the answer, whatever it looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer import DIALECTS, normalize
from tests.normalizer.helpers import TOOLS, read_every_way

_CALLS = [("get_weather", {"city": "Oslo"})]
_FRAMED = {"harmony", "atem", "beam", "kimi_k3", "inkling"}
_ANSWERS = {
    "harmony": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "harmony, cut": "<|channel|>final<|message|>{}",
    "harmony's preamble": "<|channel|>commentary<|message|>{}<|end|>",
    "harmony, outside": "<|channel|>analysis<|message|>Hm.<|end|>{}",
    "kimi_k3": "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>{}<|close|>response<|sep|>",
    "kimi_k3's tools": "<|open|>tools<|sep|>{}<|close|>tools<|sep|>",
    "inkling": "<|message_model|><|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>{}<|end_message|>",
    "inkling, no header": "<|content_text|>{}<|end_message|>",
    "inkling's error": "<|content_tool_error|>{}<|end_message|>",
    "inkling, outside": "<|content_thinking|>Hm.<|end_message|>{}",
}
_HARMONY = ' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Oslo"}<|call|>'
_BEHIND = {
    "harmony": f"<|start|>assistant{_HARMONY}",
    "kimi_k3": DIALECTS["kimi_k3"].write(_CALLS),
    "inkling": DIALECTS["inkling"].write(_CALLS),
}


@pytest.mark.parametrize("frame", _ANSWERS)
@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - _FRAMED))
def test_no_form_is_a_call_in_an_answer(name: str, frame: str) -> None:
    written = DIALECTS[name].write(_CALLS).strip()
    envelope = read_every_way(_ANSWERS[frame].replace("{}", written), chunkings=1)
    assert envelope.tool_calls == []
    assert not envelope.truncated
    assert "get_weather" in envelope.content
    assert "Oslo" in envelope.content
    assert envelope.near_misses == []


@pytest.mark.parametrize("frame", ["harmony", "kimi_k3", "inkling"])
@pytest.mark.parametrize("written", ["```json\n{}\n```", "Here it is:\n{}", "`{}`", "<answer>{}</answer>", "<tools>{}</tools>"])
def test_no_wrapper_makes_a_call_of_an_answer(frame: str, written: str) -> None:
    call = json.dumps({"name": "get_weather", "arguments": {"city": "Oslo"}})
    envelope = read_every_way(_ANSWERS[frame].replace("{}", written.replace("{}", call)))
    assert envelope.tool_calls == []
    assert call in envelope.content


@pytest.mark.parametrize("frame", ["harmony", "kimi_k3", "inkling"])
def test_a_frame_behind_the_answer_still_calls(frame: str) -> None:
    shown = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    text = _ANSWERS[frame].replace("{}", shown) + _BEHIND[frame]
    envelope = read_every_way(text)
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == shown


@pytest.mark.parametrize("frame", ["harmony", "kimi_k3", "inkling"])
def test_text_behind_a_framed_call_is_no_call(frame: str) -> None:
    rest = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    envelope = read_every_way(_BEHIND[frame] + rest)
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == rest


def test_a_block_in_the_frame_of_a_recipient_is_a_call() -> None:
    (call,) = read_every_way(DIALECTS["atem"].write(_CALLS)).tool_calls
    assert call.arguments == {"city": "Oslo"}


@pytest.mark.parametrize("frame", ["harmony", "kimi_k3", "inkling"])
@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "mistral_array", "anthropic_function_calls", "deepseek_v3"])
def test_the_form_that_the_prompt_taught_is_a_call(name: str, frame: str) -> None:
    text = _ANSWERS[frame].replace("{}", DIALECTS[name].write(_CALLS))
    assert [call.arguments for call in read_every_way(text, taught=name).tool_calls] == [{"city": "Oslo"}]
    other = "glm45" if name != "glm45" else "hermes"
    assert read_every_way(text, taught=other).tool_calls == []


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
@pytest.mark.parametrize("frame", ["harmony", "kimi_k3", "inkling"])
def test_the_envelope_is_read_where_it_was_taught_and_no_other_object_is(frame: str, fence: str) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    enveloped = json.dumps({"content": "Hi.", "toolCalls": [call]})
    settings: dict[str, Any] = {"taught": "llmcore_envelope", "enveloped": True}
    envelope = read_every_way(_ANSWERS[frame].replace("{}", fence.replace("{}", enveloped)), **settings)
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == "Hi."
    other = read_every_way(_ANSWERS[frame].replace("{}", fence.replace("{}", json.dumps(call))), **settings)
    assert other.tool_calls == []
    assert other.near_misses == []


def test_dialects_that_the_caller_names_count_in_an_answer() -> None:
    text = _ANSWERS["harmony"].replace("{}", DIALECTS["hermes"].write(_CALLS))
    assert read_every_way(text, dialects=["harmony", "hermes"]).tool_calls
    assert not read_every_way(text, dialects=["harmony", "glm45"]).tool_calls


@pytest.mark.parametrize("frame", _ANSWERS)
def test_a_framed_answer_in_a_native_reply_is_no_call(frame: str) -> None:
    said = _ANSWERS[frame].replace("{}", '{"name": "get_weather", "arguments": {"city": "Oslo"}}')
    body = {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}
    envelope = normalize(body, TOOLS)
    assert envelope.tool_calls == []
    assert '"Oslo"' in envelope.content


_ANSWERED = {
    "harmony": "<|channel|>final<|message|>Done.<|return|>",
    "kimi_k3": "<|open|>response<|sep|>Done.<|close|>response<|sep|>",
    "inkling": "<|content_text|>Done.<|end_message|>",
}


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "glm45", "anthropic_function_calls", "bare_json", "mistral_v11"])
@pytest.mark.parametrize("frame", _ANSWERED)
def test_text_before_the_first_frame_is_no_call(frame: str, name: str) -> None:
    written = DIALECTS[name].write(_CALLS)
    envelope = read_every_way(f"{written}\n{_ANSWERED[frame]}", chunkings=3)
    assert envelope.tool_calls == []
    assert {miss.reason for miss in envelope.near_misses} == {"outside_frame"}
    assert envelope.content.startswith(written.strip()[:12])
    assert envelope.content.endswith("Done.")
    taught = read_every_way(f"{written}\n{_ANSWERED[frame]}", chunkings=3, taught=name)
    assert [call.arguments for call in taught.tool_calls] == [{"city": "Oslo"}]


_FINAL, _RESPONSE, _TEXT = "<|channel|>final<|message|>", "<|open|>response<|sep|>", "<|content_text|>"
_READINGS = {  # text: (content, reasoning)
    f"{_FINAL}A <|channel|>foo<|message|> b.<|return|>": ("A <|channel|>foo<|message|> b.", ""),
    f"{_FINAL}A <|start|>assistant<|message|> b.<|return|>": ("A <|start|>assistant<|message|> b.", ""),
    f"{_RESPONSE}A <|close|>response<|sep|> b.<|close|>response<|sep|>": ("A <|close|>response<|sep|> b.", ""),
    f"{_TEXT}A <|end_message|> b.<|end_message|>": ("A <|end_message|> b.", ""),
    f"{_RESPONSE}A <|close|>response<|sep|> b": ("A <|close|>response<|sep|> b", ""),
    f"{_TEXT}A <|end_message|> b": ("A <|end_message|> b", ""),
    f"{_TEXT}A <|message_model|> b and <|content_text|> c.<|end_message|>": ("A <|message_model|> b and <|content_text|> c.", ""),
    f"<|content_thinking|>A <|end_message|> b.<|end_message|>{_TEXT}C.<|end_message|>": ("C.", "A <|end_message|> b."),
    f"<|channel|>analysis<|start|>assistant{_FINAL}A.<|return|>": ("A.", ""),
    f"<|channel|>analysis<|channel|>foo<|start|>assistant{_FINAL}A.<|return|>": ("A.", ""),
    "<|open|>respond<|sep|>A.<|close|>respond<|sep|>": ("A.", "respond"),
    f"<|message_model|>two words{_TEXT}A.<|end_message|>": ("A.", "two words"),
    "<|message_model|><|content_foo|>A.<|end_message|>": ("A.", ""),
    f"{_FINAL}<|constrain|> is a token": ("<|constrain|> is a token", ""),
    f"{_FINAL}<|message|> is a token<|return|>": ("<|message|> is a token", ""),
    f"{_FINAL}A.<|end|>assistant": ("A.<|end|>assistant", ""),
    f"<|channel|>analysis<|message|>A.{_FINAL}B.": ("B.", "A."),
    f"<|channel|>analysis words{_FINAL}A.": ("A.", "analysis words"),
    "<|channel|>analysis I must think.": ("", "analysis I must think."),
    "<|open|>think<|sep|>a <|close|>think<|sep|> b<|close|>think<|sep|>": ("", "a <|close|>think<|sep|> b"),
}


@pytest.mark.parametrize("text", _READINGS)
def test_headers_and_end_tokens_count_only_in_their_place(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.content, envelope.reasoning) == _READINGS[text]
    assert envelope.tool_calls == []


@pytest.mark.parametrize(
    "before", ["assistant<|channel|>commentary to=functions.get_weather", " to=get_weather<|channel|>commentary"]
)
def test_a_header_behind_an_end_token_needs_no_first_token(before: str) -> None:
    envelope = read_every_way(f'{_FINAL}Hi.<|end|>{before}<|message|>{{"city": "Oslo"}}')
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == "Hi."


@pytest.mark.parametrize("answered", [_RESPONSE, _TEXT])
def test_a_call_ends_an_answer_that_has_no_end_token(answered: str) -> None:
    name = "kimi_k3" if answered == _RESPONSE else "inkling"
    envelope = read_every_way(f"{answered}A.{DIALECTS[name].write(_CALLS)}")
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert envelope.content == "A."
