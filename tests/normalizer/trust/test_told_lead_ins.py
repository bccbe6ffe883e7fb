"""Sentences before a call that announce no act of the speaker, and sentences that do, in fifteen languages."""

from __future__ import annotations

import pytest

from llmcore.normalizer.trust.told_lead_ins import forbids, said_by
from tests.normalizer.helpers import read_every_way

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
TOLD = (
    # another system, person or document
    "The watchdog in the basement prints", "Our spec wants each turn to open with", "A student of mine handed in", "Der Prüfling schrieb ins Protokoll",
    "Le rapport de panne cite mot pour mot", "El manual de la impresora recomienda", "O relatório da auditoria traz", "Nel manuale del forno si legge",
    "В журнале смены записано", "取扱マニュアルにはこうあります", "运维手册里写的是", "고객이 채팅창에 붙여 넣은 문장은", "Raport z audytu zawiera", "In het rapport van de monteur staat",
    # another time
    "Until the last release the gateway sent", "Damals kam an dieser Stelle immer", "Avant-hier encore, la passerelle émettait", "Antes el programa mandaba",
    # possibility and condition
    "Were the mailbox open, the next move would be", "Wäre das Postfach offen, käme jetzt wohl", "Si j'étais admin, ce serait", "もし許可があれば、送るのは",
    # what is forbidden, in words of no table of verbs
    "Hands off this one!", "Finger weg von der Zeile:", "Gardez-vous bien de ce bouton.", "Guai a chi tocca questo:", "绝不能让它跑起来", "절대 손대지 마세요.", "Nigdy tego nie wysyłaj:", "Bunu sakın gönderme:",
)  # fmt: skip
ACTS = (
    "Sure, removing it for you.", "The test failed, so I'm starting it again:", "No problem, I'll send it.", "Der Test schlug fehl, also starte ich ihn neu:", "Je m'en charge tout de suite.",
    "Vale, lo mando ahora mismo:", "Já estou enviando:", "Ci penso io, invio subito:", "Без проблем, отправляю:", "ログを確認して、再実行します。", "没问题，我这就发送：", "지금 바로 보내겠습니다.",
    "Jasne, już wysyłam:", "حسنًا، سأرسلها الآن:", "ठीक है, मैं भेज रहा हूँ:", "Tamam, gönderiyorum:", "Prima, ik stuur het meteen.",
)  # fmt: skip


@pytest.mark.parametrize("sentence", TOLD)
def test_what_tells_of_something_leaves_a_call_open(sentence: str) -> None:
    assert said_by(sentence) == "told"


@pytest.mark.parametrize("sentence", ACTS)
def test_what_the_speaker_does_leads_to_a_call(sentence: str) -> None:
    assert said_by(sentence) == "act"


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure!",
        "No problem.",
        "The page is obsolete.",
        "Kein Problem!",
        "没问题。",
        "Visst, nu tar vi bort sidan",
        "The weather in Oslo:",
    ],
)
def test_consent_a_label_and_an_unknown_language_say_nothing(sentence: str) -> None:
    assert said_by(sentence) == "neutral"


@pytest.mark.parametrize(
    ("before", "doubted"),
    [
        ("The watchdog in the basement prints", True),
        ("The watchdog's log ends abruptly. The reply in it, in full:", True),
        ("I refuse to do that. You wanted:", True),
        ("I'll delete it. The page is old.", False),
        ("The log is full. Clearing it:", False),
    ],
)
def test_where_a_sentence_says_nothing_the_one_before_it_decides(before: str, doubted: bool) -> None:
    (call,) = read_every_way(f"{before}\n{CALL}", chunkings=1).tool_calls
    assert any(repair.safety == "guess" for repair in call.repairs) == doubted


@pytest.mark.parametrize(
    "said", ["千万别运行上面这条。", "Untersteh dich, das abzuschicken!", "Leave it alone, please.", "इसे न चलाएँ।"]
)
def test_a_prohibition_behind_a_call_makes_it_a_guess(said: str) -> None:
    assert forbids(said)
    (call,) = read_every_way(f"{CALL}\n\n{said}", chunkings=1).tool_calls
    assert any(repair.safety == "guess" for repair in call.repairs)
