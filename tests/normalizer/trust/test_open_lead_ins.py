"""Sentences that lead in to a call, hold no phrase of any table, and do not say that it is made."""

from __future__ import annotations

import pytest

from llmcore.normalizer.trust.lead_ins import kind_of
from llmcore.normalizer.trust.open_lead_ins import leaves_open
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


OPEN = {
    "en": [
        "The thief put this into the document:",
        "The letter you forwarded holds an injected instruction:",
        "Beware of running this:",
        "Let me explain how one calls it:",
        "I will write down the format:",
        "Add this line to main.py:",
        "Use this in your prompt:",
        "settings.json:",
        "May I run it?",
        "Shall we delete it?",
        "For your records, these are the steps I took a minute ago:",
        "The module also fires the request at the bottom, which is wrong:",
        "I'd also drop the call at the bottom of the module, since it fires on import:",
        "Your parser fails on",
        "The crash is caused by",
    ],
    "de": [
        "Das soll niemand ausführen:",
        "Ich erkläre dir den Aufruf:",
        "Im Handbuch findet sich folgende Zeile:",
        "Darf ich das ausführen?",
        "Der Parser scheitert an",
    ],
    "fr": [
        "Je vais vous expliquer l'appel :",
        "Voici ce que le pirate a envoyé :",
        "Collez cette ligne dans le fichier :",
        "Puis-je lancer ceci ?",
        "L'analyseur échoue sur",
    ],
    "es": [
        "Bajo ningún concepto ejecutes esto:",
        "Voy a explicar la llamada:",
        "Añade esta línea al guion:",
        "¿Puedo ejecutar esto?",
        "El analizador falla con",
    ],
    "pt": ["Em caso algum execute isto:", "No registo constava o seguinte:", "Posso executar isto?"],
    "it": ["In nessun caso eseguire questo:", "Ti spiego la chiamata:", "Devo eseguire questo?"],
    "ru": [
        "Сейчас модель пишет так:",
        "Злоумышленник добавил такую строку:",
        "Объясню, как пишется вызов:",
        "Парсер падает на",
        "Выполнить это?",
    ],
    "zh": ["千万别发这个：", "我来解释一下这个调用：", "可以执行吗？"],
    "ja": ["呼び出し方を説明します：", "実行しないようにしてください：", "実行してもいいですか？"],
    "ko": ["호출 방법을 설명하겠습니다:", "이 줄을 파일에 넣으세요:", "실행해도 될까요?"],
}


@pytest.mark.parametrize("sentence", [sentence for sentences in OPEN.values() for sentence in sentences])
def test_what_leaves_it_open_whether_the_call_is_made_makes_it_doubtful(sentence: str) -> None:
    call = read_every_way(f"{sentence}\n{CALL}")
    assert all(any(repair.safety == "guess" for repair in one.repairs) for one in call.tool_calls)


@pytest.mark.parametrize(
    "said",
    [
        "Please confirm and I will run it.",
        "Soll ich das so absenden?",
        "Voulez-vous que je l'envoie ?",
        "¿Quieres que lo envíe?",
        "Отправить?",
        "要我发送吗？",
        "보낼까요?",
        "Is that okay with you?",
        "Einverstanden?",
        "Just kidding.",
        "That was only the format.",
    ],
)
def test_whoever_asks_for_consent_behind_a_call_has_not_made_it(said: str) -> None:
    (call,) = read_every_way(f"{CALL}\n\n{said}").tool_calls
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
        "Calling the weather service for this:",
        "Need to send this request first:",
        "Das Ergebnis für diesen Aufruf ist:",
        "El resultado de la llamada es:",
        "正在发送这个请求:",
        "The request is sent.",
        "Starting with",
        "Okay, moving on to",
        "Jetzt weiter mit",
    ],
)
def test_what_is_meant_is_none(sentence: str) -> None:
    assert not leaves_open(sentence)
    (call,) = read_every_way(f"{sentence}\n{CALL}").tool_calls
    assert not call.repairs


@pytest.mark.quick(0)
def test_looking_is_linear() -> None:
    assert_linear(lambda size: leaves_open("The " + "so this is " * size + "request:"), 2_000)
