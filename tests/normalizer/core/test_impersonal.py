"""Statements about others' calls, which end in a colon and hold no phrase of any table."""

from __future__ import annotations

import pytest

from llmcore.normalizer.core.impersonal import leads_in
from llmcore.normalizer.core.lead_ins import kind_of
from tests.normalizer.helpers import read_every_way
from tests.support.growth import assert_linear

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


@pytest.mark.parametrize(
    "sentence",
    [
        "What the gateway posts at midnight:",
        "A bot that is too eager fires this:",
        "One way to spoil the cache, shortened:",
        "Der Bot setzte in der Nacht diesen Befehl ab:",
        "Was ein Client in diesem Fall schickt:",
        "La commande qui supprime tout :",
        "Lo que el servidor envía cada noche:",
        "O cliente antigo manda sempre isto:",
        "La versione breve per chi ha fretta:",
        "Каждый клиент посылает такой запрос:",
        "上一个客户端发送的:",
        "この前のリクエスト:",
        "그 서버가 보내는 요청:",
    ],
)
def test_what_states_others_calls_makes_them_doubtful(sentence: str) -> None:
    assert kind_of(sentence) in ("statement", "mention", "example")
    (call,) = read_every_way(f"{sentence}\n{CALL}").tool_calls
    assert any(repair.safety == "guess" for repair in call.repairs)


@pytest.mark.parametrize(
    "sentence",
    [
        "The user says it is urgent:",
        "These are the requests for Oslo:",
        "Das ist der Aufruf dafür:",
        "The weather in Oslo:",
        "The function call for Oslo is:",
        "The page is old, so it is deleted with this:",
        "This does not matter at all:",
        "Calling the weather service for this:",
        "Send the request to the server:",
        "Need to send this request first:",
        "Das Ergebnis für diesen Aufruf ist:",
        "Recherche de la météo avec cet appel :",
        "El resultado de la llamada es:",
        "正在发送这个请求:",
        "The request is sent.",
    ],
)
def test_what_is_meant_is_none(sentence: str) -> None:
    assert not leads_in(sentence)
    (call,) = read_every_way(f"{sentence}\n{CALL}").tool_calls
    assert not call.repairs


@pytest.mark.quick(0)
def test_looking_is_linear() -> None:
    assert_linear(lambda size: leads_in("The " + "so this is " * size + "request:"), 2_000)
