"""`text_calls` and a model's own dialects: which calls in text count."""

from __future__ import annotations

from typing import Any

import pytest

import llmcore
from llmcore.normalizer import Normalizer, normalize
from llmcore.types import Envelope
from llmcore.types.requests import TextCalls

from .helpers import TOOLS, cuts

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
OTHER = '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}'


def read(text: str, **options: Any) -> Envelope:
    """The text read whole and in pieces: both say the same."""
    whole = normalize(text, TOOLS, **options)
    for pieces in cuts(text, 3):
        normalizer = Normalizer(TOOLS, **options)
        for piece in pieces:
            normalizer.feed(piece)
        normalizer.finish()
        assert normalizer.envelope == whole
    return whole


def guesses(envelope: Envelope) -> list[str]:
    return [repair.kind for call in envelope.tool_calls for repair in call.repairs if repair.safety == "guess"]


@pytest.mark.parametrize("text", [CALL, f"<think>Hm.</think>\n{CALL}", f"{CALL}\n{CALL}", f"{CALL}<|im_end|>"])
def test_a_call_that_is_alone_counts(text: str) -> None:
    for policy in ("standard", "alone"):
        envelope = read(text, text_calls=policy)
        assert envelope.tool_calls
        assert guesses(envelope) == []


@pytest.mark.parametrize(
    "text", [f"Let me look.\n{CALL}", f"{CALL}\nThat is it.", f"{CALL}\nAnd:\n{CALL}", f"> quoted\n\n{CALL}"]
)
def test_a_call_beside_words_is_a_guess_if_it_must_be_alone(text: str) -> None:
    assert guesses(read(text, text_calls="standard")) == []
    envelope = read(text, text_calls="alone")
    assert guesses(envelope) == ["not_alone"] * len(envelope.tool_calls)


@pytest.mark.parametrize("text", [CALL, OTHER, '{"name": "get_weather", "arguments": {"city": "Oslo"}}'])
def test_text_is_never_a_call_if_text_calls_are_off(text: str) -> None:
    envelope = read(text, text_calls="off")
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("policy", ["standard", "alone", "off"])
def test_the_form_that_the_prompt_taught_counts_under_every_policy(policy: TextCalls) -> None:
    envelope = read(f"Let me look.\n{CALL}\nSoon more.", taught="hermes", text_calls=policy)
    assert [call.dialect for call in envelope.tool_calls] == ["hermes"]
    assert guesses(envelope) == []


@pytest.mark.parametrize("policy", ["standard", "alone", "off"])
def test_native_calls_count_under_every_policy(policy: TextCalls) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    body = {"choices": [{"message": {"role": "assistant", "content": f"See:\n{OTHER}", "tool_calls": [call]}}]}
    native = [call for call in normalize(body, TOOLS, text_calls=policy).tool_calls if call.span is None]
    assert [call.name for call in native] == ["get_weather"]


def test_a_call_in_a_dialect_that_is_not_the_models_own_is_a_guess_beside_words() -> None:
    own = frozenset({"hermes"})
    assert guesses(read(f"Let me look.\n{CALL}", own=own)) == []
    assert guesses(read(f"Let me look.\n{OTHER}", own=own)) == ["not_alone"]
    assert guesses(read(OTHER, own=own)) == []


def test_another_value_is_refused() -> None:
    with pytest.raises(llmcore.ConfigError, match='`text_calls` must be "standard", "alone" or "off"'):
        llmcore.normalize("x", text_calls="never")  # type: ignore[arg-type]
    with pytest.raises(llmcore.ConfigError, match="text_calls"):
        llmcore.Normalizer(text_calls="never")  # type: ignore[arg-type]
