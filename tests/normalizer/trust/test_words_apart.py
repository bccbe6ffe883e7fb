"""Words that say something of a call though markup stands between: quotation marks round a section, a lead-in before reasoning."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_TAG = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
_INVOKE = '<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>'
_SECTIONS = {
    "invoke": f"<function_calls>\n{_INVOKE}\n</function_calls>",
    "two of them": f"<function_calls>{_INVOKE}\n{_INVOKE}</function_calls>",
    "minimax": f"<minimax:tool_call>{_INVOKE}</minimax:tool_call>",
    "hermes": f"<tool_calls>\n{_TAG}\n{_TAG}</tool_calls>",
    "function": "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
}


@pytest.mark.parametrize("section", _SECTIONS.values(), ids=_SECTIONS)
@pytest.mark.parametrize(
    "quoted", ["const r = '{}';", "echo '{}'", "log('{}')", "The model said '{}' and stopped.", "Example: '{}'", 'x = """{}"""']
)
def test_a_section_in_quotation_marks_is_shown(section: str, quoted: str) -> None:
    text = quoted.replace("{}", section)
    envelope = read_every_way(text, chunkings=3)
    assert not envelope.tool_calls
    assert envelope.content == text
    assert {miss.reason for miss in envelope.near_misses} <= {"quoted", "example"}


@pytest.mark.parametrize("section", _SECTIONS.values(), ids=_SECTIONS)
@pytest.mark.parametrize("said", ["The users' {}", "It's {}", "'tis done: {}"])
def test_an_apostrophe_quotes_nothing(section: str, said: str) -> None:
    assert read_every_way(said.replace("{}", section), chunkings=2).tool_calls


@pytest.mark.parametrize("call", [_TAG, *_SECTIONS.values()])
@pytest.mark.parametrize("lead", ["Do not run this:", "Beispiel:", "A call looks like this:"])
@pytest.mark.parametrize(
    "between", ["\n<think>hm</think>\n", "\n\n<think>\nhm\n</think>\n\n- ", " <think>hm</think> <think>so</think>\n"]
)
def test_reasoning_takes_no_lead_in_away(call: str, lead: str, between: str) -> None:
    envelope = read_every_way(f"{lead}{between}{call}", chunkings=2)
    assert not envelope.tool_calls
    assert {miss.reason for miss in envelope.near_misses} == {"example"}


@pytest.mark.parametrize("call", [_TAG, '{"name": "get_weather", "arguments": {"city": "Oslo"}}'])
def test_an_example_behind_reasoning_is_a_guess(call: str) -> None:
    (found,) = read_every_way(f"For example:\n<think>hm</think>\n{call}").tool_calls
    assert [repair.kind for repair in found.repairs] == ["example_lead_in"]


@pytest.mark.parametrize(
    "words", ["I'll look.\n<think>hm</think>\n", "Example:\n<think>hm</think>\nNow for real:\n", "It is\n<think>hm</think>\n"]
)
def test_other_words_before_reasoning_say_nothing(words: str) -> None:
    (found,) = read_every_way(words + _TAG).tool_calls
    assert not found.repairs
