"""Which sentence is the one before a call, and what it says of the call: near misses of the phrases, and which kind wins."""

from __future__ import annotations

import pytest

from llmcore.normalizer.trust.lead_ins import kind_of, sentence_before
from tests.helpers.growth import assert_linear

ANNOUNCEMENTS = {
    "en": ["I'll check the example.com page:", "Let me look at the docs:", "I need to read the file, for example:"],
    "de": ["Ich prüfe das Beispiel.", "Lass mich die Dokumentation lesen:", "Dazu rufe ich das Wetter ab:"],
    "fr": ["Je vais lire le fichier, par exemple :", "Laissez-moi vérifier l'exemple :"],
    "es": ["Voy a leer el ejemplo:", "Déjame ver, por ejemplo:"],
    "pt": ["Vou ler o exemplo:", "Deixe-me ver, por exemplo:"],
    "it": ["Devo leggere un esempio:", "Fammi vedere, per esempio:"],
    "ru": ["Сейчас посмотрю пример:", "Я прочитаю, например, файл:"],
    "zh": ["我来读取示例文件,例如:", "让我查一下格式如下的文件:"],
    "ja": ["例えば天気を確認します:", "の例を調べてみます:"],
    "ko": ["예를 들면 날씨를 확인하겠습니다:", "예시 파일을 읽어 볼게요:"],
}
NEAR = [
    "This does not matter:", "Das ist nicht weit:", "Ce n'est pas loin:", "No está lejos:", "Não fica longe:", "Non è lontano:",
    "Это не далеко:", "这里不远:", "遠くないです:", "멀지 않습니다:", "I will not wait:", "Ich werde nicht länger warten:",
    "Je ne vais pas attendre plus longtemps:", "No voy a esperar más:", "Não vou esperar mais:", "Non voglio aspettare:",
    "Я не буду ждать:", "我不会再等了:", "雨は降りません:", "비가 오지 않습니다:", "If you were here:", "Wenn es regnet:",
    "Si la mer monte:", "Cuando llueve:", "Quando chove:", "Quando piove:", "Когда идёт дождь:", "下雨后:", "雨が降れば:", "비가 오면:",
    "The look of the sea:", "Er sieht das Meer:", "Voici la mer:", "Aquí está el mar:", "Aqui está o mar:", "Ecco il mare:",
    "Вот море:", "这是大海:", "海です:", "바다입니다:", "The exam is over:", "Das Besteck liegt bereit:", "Un examen:", "El ejército:",
    "O exame:", "Un esame:", "Наконец:", "下雨了:", "雨です:", "비가 옵니다:", "If you say so, I'll run it:", "我来看看:",
    "Step 2 of the plan:", "Let me observe it:",
]  # fmt: skip
"""Close to a phrase, and none."""
RETOLD = [
    "The user says it is urgent:", "Der Kunde sagt, es eilt:", "Previously it failed:", "I would like to cancel the order:",
    "It said the id is 77:", "Hier il pleuvait :", "昨日は雨でした:", "The log says:", "Im Protokoll steht:", "Das wurde vorhin ausgeführt:",
    "I would call it so-and-so:", "日志里写着:",
]  # fmt: skip
"""Retellings, which decide nothing."""
BY_THE_SPEAKER = [
    "I don't know the status yet, so:", "We have not looked yet:", "Ich weiß das noch nicht:", "Je ne connais pas encore le statut :",
    "I can't use the cache, so:", "We don't call it here:", "I won't use the cache any more:", "Ich nutze den Cache nicht, also:",
    "Je n'utilise pas le cache :", "No ejecuto nada más:", "No uso la caché:", "Não executo mais nada:", "Non eseguo altro:",
    "Не выполняю больше ничего:", "我不使用缓存:",
]  # fmt: skip
"""No prohibitions: the speaker is the subject."""
MEANT = [
    "Here's the function call:",
    "You can use the following function call",
    "In JSON format:",
    "Function signature",
    "Here it is for reference:",
    "The structure of the house:",
    "Here is the code that solves it:",
    "The answer is:",
    "The weather in Oslo:",
    "I can't use the cache, so:",
    "",
]


@pytest.mark.parametrize(
    "sentence", [*(one for more in ANNOUNCEMENTS.values() for one in more), *NEAR, *RETOLD, *BY_THE_SPEAKER, *MEANT]
)
def test_a_call_behind_other_sentences_may_be_meant(sentence: str) -> None:
    assert kind_of(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Let me be clear, do not run this:", "strict"),  # a prohibition beats an announcement
        ("I'll wait; never call this:", "strict"),
        ("Should I, or is it that you do not run this?", "strict"),  # and a question
        ("Once you agree I'll run it:", "strict"),
        ("Shall I run it?", "question"),
        ("你要我运行吗\uff1f", "question"),
        ("Do you want an example, for example this one?", "question"),
        ("I'll read it, for example:", None),  # an announcement beats an example, a label and a form
        ("I'll read the page that looks like this:", None),
        ("For example, the syntax is:", "strict"),  # a form beats an example
        ("Let me show you, for example:", "example"),  # showing announces no call
        ("Ich zeige zum Beispiel:", "example"),
        ("Je vais montrer, par exemple :", "example"),
        ("Voy a mostrar, por ejemplo:", "example"),
        ("Vou mostrar, por exemplo:", "example"),
        ("Сейчас покажу, например:", "example"),
        ("让我举个例子:", "example"),
        ("例えば使い方を説明します:", "example"),
        ("예를 들면 이렇게 설명하겠습니다:", "example"),
    ],
)
def test_the_kind_of_a_lead_in_that_wins(sentence: str, kind: str | None) -> None:
    assert kind_of(sentence) == kind


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ""),
        ("   \n\n", ""),
        ("One. Two:\n", "Two:"),
        ("One.\nTwo:\n\n", "Two:"),
        ("One! Two? Three: ", "Three:"),
        ("Use it, e.g. so:\n", "Use it, e.g. so:"),
        ("Nimm z. B. das:\n", "Nimm z. B. das:"),
        ("First, i.e. this:", "First, i.e. this:"),
        ("Mr. X. is here. Two:", "Two:"),
        ("I closed K-6. Now K-7:", "Now K-7:"),
        ("Example:\n\n```json\n", "Example:"),
        ("Example:\n\n~~~json\n", "Example:"),
        ("Example:\n<tool_call>\n", "Example:"),
        ("Example:\n<answer><tool_call>", "Example:"),
        ("Example:\n<tool-use>", "Example:"),
        ("Example:\n&lt;act&gt;", "Example:"),
        ("Example:\nBLOCK>>>", "Example:"),
        ("Example:\n<a><b>\n1. <c>", "Example:"),
        ("Example:\n" + "<a>" * 5, ""),  # a flood of openers
        ("Example:\n</b>", "Example:"),
        ("<b>Example:</b>\n", "Example:"),
        ("<summary>Example call</summary>\n\n", "Example call"),
        ("The <b>page</b> template:", "The page template:"),
        ("<p>One.</p><p>Two:</p>", "Two:"),
        ("Two:\n</act>", "</act"),
        ("Example:\n\n- ", "Example:"),
        ("Example:\n\n1. ", "Example:"),
        ("Example:\n\n* **", "Example:"),
        ("## Example\n\n", "Example"),
        ("**Example:** ", "Example:"),
        ("これは例です。形式は:", "形式は:"),
        ("好的\uff01格式如下\uff1a\n", "格式如下\uff1a"),  # full-width signs are what it is about
        ("真的\uff1f示例\uff1a", "示例\uff1a"),
        ("Well… Two:", "Two:"),
    ],
)
def test_the_sentence_before(text: str, sentence: str) -> None:
    assert sentence_before(text, 0, len(text)) == sentence
    assert sentence_before(f"Before it. {text}", len("Before it. "), len("Before it. ") + len(text)) == sentence


@pytest.mark.parametrize("unit", ["a", "é", "中", "の", "한", " ", "\n", ".", ". ", "e.g. ", "`", "~", "-", "1. ", "*", "<", "not ", "not run ", "I ", "do not ", "I will not ", "if you ", "не ", "、"])  # fmt: skip
def test_a_long_text_costs_no_more_than_its_end(unit: str) -> None:
    def look(size: int) -> None:
        text = unit * (size // len(unit))
        for _ in range(20):
            kind_of.__wrapped__(sentence_before(text, 0, len(text)))
        kind_of.__wrapped__(text[:4000])

    assert_linear(look, 250_000)
