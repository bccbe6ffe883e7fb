"""What is given as a request and is none is refused in words that say what to give."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import CallerError, Message, Request

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]}


def _refused(given: Any, **options: Any) -> str:
    fake = FakeModel("ok")
    with pytest.raises(CallerError) as caught:
        Orchestrator(fake).run_sync(given, **options)
    assert fake.call_count == 0
    return str(caught.value)


@pytest.mark.parametrize("given", [5, b"hi", {"messages": [USER]}, 1.5, object()])
def test_what_is_no_request_is_named(given: Any) -> None:
    said = _refused(given)
    assert said == f"the request is of type {type(given).__name__}; give text, a list of messages or a Request"


def test_so_is_what_is_no_message() -> None:
    assert _refused([USER, 5]) == "message 1 of the request is of type int; give a Message, or a dict of one"


@pytest.mark.parametrize(
    "message",
    [
        CALLING,
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
    ],
)
def test_a_history_in_openais_words_is_told_apart(message: dict[str, Any]) -> None:
    said = "message 1 of the request is written as OpenAI's API has it; give llmcore's messages"
    assert said in _refused([USER, message])
    assert said in _refused("go on", message_history=[USER, message])


@pytest.mark.parametrize(
    "given", ["hi", [USER], [Message.model_validate(USER)], (USER,), iter([USER]), Request.model_validate({"messages": [USER]})]
)
def test_what_is_one_is_taken(given: Any) -> None:
    assert Orchestrator(FakeModel("ok")).run_sync(given).content == "ok"
