"""A request's headers may hold keys: what is dumped hides them, what is sent has them."""

from __future__ import annotations

import pytest

from llmcore import ConfigError, FakeModel, Message, Orchestrator, Request

_SENT = {"Authorization": "Bearer sk-proj-Ab12Cd34Ef56Gh78"}


def _request() -> Request:
    return Request(messages=[Message(role="user", content="Hi")], extra_headers=_SENT)


def test_what_is_dumped_hides_the_values_and_names_the_headers() -> None:
    for shown in (repr(_request()), _request().model_dump_json(), repr(_request().model_dump())):
        assert "Ab12" not in shown
    assert "Authorization" in _request().model_dump_json()


def test_data_in_python_come_back_whole() -> None:
    assert Request.model_validate(_request().model_dump()) == _request()
    assert _request().model_copy(update={"max_tokens": 5}).extra_headers == _SENT


def test_what_cannot_be_sent_is_refused_unquoted() -> None:
    with pytest.raises(ConfigError, match="extra_headers: the value of 'X'") as caught:
        Request(messages="Hi", extra_headers={"X": "sk-Ab12Cd34\n"})
    assert "Ab12" not in str(caught.value)


@pytest.mark.anyio
async def test_the_model_is_sent_them() -> None:
    model = FakeModel("Hi")
    await Orchestrator(model).run("Hi", extra_headers=_SENT)
    assert model.requests[0].extra_headers == _SENT
