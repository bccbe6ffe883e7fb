"""What the first sentence behind a value says against it, in ten languages, and of which of two values it speaks."""

from __future__ import annotations

import pytest

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed

TAKES_BACK = [
    "Nah.", "Uh-oh.", "Oh no!", "Sorry, 2.", "Actually, 2.", "No, 2.", "That is off by one.", "That's off.",
    "It is wrong.", "I got that wrong.", "I miscounted.", "Bad answer.", "My apologies, wrong.", "Please do not use.",
    "Don't use it.", "Please don't rely on this.", "Withdraw that.", "Void.", "Call it 2.", "Rather: 2.",
    "I spoke too soon.", "There is a mistake in it.", "I found an error above.", "I changed my mind.",
    "I need to correct myself.", "Thinking about it again, no.", "Should be 2.", "Huch.", "Oje, falsch.", "Nö.",
    "Tippfehler!", "Bitte verwenden Sie das nicht.", "Das ist ungültig.", "Verzeihung, falsche Zahl.",
    "Besser gesagt 2.", "Ich ziehe das zurück.", "Zut.", "Mauvaise réponse.", "Merci de ne pas utiliser cela.",
    "Je dois corriger.", "Excusez-moi, c'est faux.", "Ou plutôt 2.", "N'utilisez pas cette valeur.", "Un instant, non.",
    "Huy, no.", "Disculpa, está mal.", "No lo uses.", "No uses eso.", "Debo corregir.", "Digo, 2.",
    "La respuesta es incorrecta.", "Epa, não.", "Não use isso.", "Preciso corrigir.", "Quero dizer 2.",
    "A resposta está errada.", "Ou melhor, 2.", "Accidenti.", "Non usare questo valore.", "Devo correggermi.",
    "Voglio dire 2.", "Il valore è sbagliato.", "Ой.", "Не используйте это.", "Нужно исправить.", "Точнее, 2.",
    "Вернее 2.", "Опечатка.", "Ответ неверный.", "Хм, нет.", "糟了。", "请勿使用。", "别用这个。", "这个答案有误。", "我需要更正。", "不好意思，错了。",
    "我是说2。", "不，是2。", "打错了。", "作废。", "あっ、違う。", "これは誤りです。", "使わないでください。", "訂正します。", "ごめんなさい、間違えました。", "正しくは2です。",
    "いえ、2です。", "タイプミスです。", "勘違いしました。", "아차.", "오타입니다.", "사용하지 마세요.", "정정합니다.", "미안합니다, 틀렸습니다.", "제 실수입니다.", "아뇨, 2입니다.",
    "이 값은 잘못되었습니다.", "다시 계산하겠습니다.", "정확하지 않습니다.", "Typo!", "Apologies, that is off.", "Correction needed.",
    "Edit: it is 2.", "No!", "No.", "Erm, no.", "Revoke that.", "Make that 2.", "I mean 2.", "Bitte nicht verwenden.",
    "Ups.", "Ungültig.", "Ich muss mich korrigieren.", "Ne tenez pas compte de cela.", "Annulez.", "Un momento, no.",
    "Mejor dicho, 2.", "Na verdade, não.", "Anzi, no.", "Упс.", "这是错的。", "抱歉，我的意思是2。", "算了。", "哎呀。", "有误。", "正しくありません。",
    "すみません、2のつもりでした。", "おっと。", "やっぱりなし。", "제가 틀렸어요.", "앗.", "죄송합니다, 2를 말하려 했습니다.",
]  # fmt: skip
HARMLESS = [
    "No, that is all.", "No further questions.", "Nothing was wrong with the file.", "Note: values are in euros.",
    "Edit: formatting only.", "Update: done at noon.", "I mean well.", "Make sure to check it.",
    "Should you need more, ask.", "Oopsie daisy is the name of the shop.", "A typo in the input was ignored.",
    "Error handling is included.", "Errors are listed above.", "Mistakes happen, but not here.", "Do not use tabs.",
    "Don't forget to save it.", "Corrections are welcome.", "Correct.", "This is right.", "Invalid rows: 0.",
    "Void where prohibited.", "The rejected rows are not in it.", "Thanks!", "In fact, all of them are listed.",
    "Actually, that was easy.", "Well, that is it.", "Well, here you go.", "I need to mention that b is missing.",
    "I must say it was easy.", "Reject reasons are in b.", "Off the record, it is fine.", "Bad data was left out.",
    "Second, check b.", "Take care!", "Wait times are in minutes.", "Sorry it took so long.",
    "Apologies for the delay.", "I apologize for the delay.", "I misspelled nothing.", "That is off the shelf.",
    "It should be fine.", "This should do.", "The number should be right.", "Drop me a line.", "Remove nothing.",
    "Fix me a drink.", "Forget-me-nots are blue.", "Revoke access with /revoke.",
    "The real value may differ over time.", "No. of items: 3", "Actually 2 of them are new.",
    "I did not make an error.", "There is no mistake.", "I found no errors.", "This is not an example.",
    "The error is within the margin.", "A mistake is not expected.", "Nein danke.", "Nicht vergessen: speichern.",
    "Es ist vollständig.", "Entschuldigung für die Verzögerung.", "Tut mir leid für die Wartezeit.", "Fehler: keine.",
    "Fehlerfrei.", "Eigentlich ganz einfach.", "Das ist richtig.", "Bitte nicht vergessen zu speichern.",
    "Ich muss mich bedanken.", "Mist wird getrennt gesammelt.", "Das stimmt.", "Non seulement a, mais aussi b.",
    "En fait, tout est là.", "Pas de problème.", "Correction effectuée.", "Mince de la tranche : 3 mm.",
    "Plutôt simple.", "Je suis désolé pour le retard.", "N'oubliez pas de sauvegarder.", "Aucune faute.",
    "Ce n'est pas tout : b manque.", "No hay más.", "En realidad es simple.", "Es correcto.", "No olvides guardar.",
    "Perdón por la demora.", "Más bien fácil.", "Vaya con cuidado.", "Está bien.", "No dude en preguntar.",
    "Não há mais.", "Na verdade é simples.", "Desculpe a demora.", "Está certo.", "Não hesite em perguntar.",
    "Non esitare a chiedere.", "In realtà è semplice.", "Scusa il ritardo.", "È corretto.", "Nessun errore.",
    "Anzi, tutto bene.", "Нет проблем.", "Нет ошибок.", "Это верно.", "Извините за задержку.",
    "На самом деле это просто.", "Не забудьте сохранить.", "Не стесняйтесь спрашивать.", "不客气。", "不用谢。", "不需要更多步骤。",
    "其实很简单。", "是对的。", "这是对的。", "抱歉让您久等了。", "错误：无", "没有问题。", "请不要忘记保存。", "应该没问题。", "应该可以了。", "算好了。", "问题已解决。",
    "すみません、お待たせしました。", "間違いないです。", "以上です。", "ミスはありません。", "実はとても簡単です。", "違いはありません。", "エラーはありません。", "訂正はありません。",
    "これは正しいです。", "いいえ、以上です。", "죄송합니다, 오래 걸렸습니다.", "오류가 없습니다.", "실수는 없습니다.", "이상입니다.", "사실 간단합니다.", "맞습니다.",
    "아니요, 없습니다.", "이런 식으로 하면 됩니다.", "취소된 항목은 없습니다.", "도움이 되셨다면 됐습니다만, 더 필요하시면 말씀하세요.", "참고하세요.",
]  # fmt: skip
ONE, TWO = '{"a": 1}', '{"a": 2}'


@pytest.mark.parametrize("words", TAKES_BACK)
def test_what_takes_a_value_back(words: str) -> None:
    for text in (f"**Answer:** {ONE}\n\n{words}", f"{ONE} {words}", f"```json\n{ONE}\n```\n{words}"):
        with pytest.raises(OutputParseError):
            parse(text, dict[str, int])


@pytest.mark.parametrize("words", HARMLESS)
def test_what_only_closes_a_reply(words: str) -> None:
    for text in (f"**Answer:** {ONE}\n\n{words}", f"{ONE} {words}"):
        assert parse(text, dict[str, int]) == {"a": 1}


@pytest.mark.parametrize(
    "words",
    [
        "\nEarlier I said", "\nPreviously I said", "\nI first said", "\nOops, earlier I wrote", "\nI mistakenly wrote",
        ". I was wrong about", "\nSorry, I had written before", "\nThe mistake was", "\nSorry for", "\nBefore:", "\nEarlier:",
        "\nVorher sagte ich", "\nIch schrieb versehentlich", "\nAvant, j'avais dit", "\nAntes dije", "\nPor error escribí",
        "\nAntes eu disse", "\nPrima ho detto", "\nРаньше я сказал", "\nПо ошибке я написал", "\n之前我说", "\n先ほどは", "\n아까는",
    ],
)  # fmt: skip
@pytest.mark.parametrize("named", ["Correction: ", "Final answer: ", "Answer: "])
def test_words_that_put_the_other_value_back_leave_the_named_one(words: str, named: str) -> None:
    detail = parse_detailed(f"{named}{TWO}{words} {ONE}.", dict[str, int])
    assert detail.value == {"a": 2}
    assert {repair.safety for repair in detail.repairs} == {"lossless"}


@pytest.mark.parametrize("words", ["I apologize for my mistake earlier:", "My previous answer was wrong:", "I made an error in"])
@pytest.mark.parametrize("named", ["Correction: ", "Answer: ", ""])
def test_words_that_may_speak_of_either_value_make_none_certain(words: str, named: str) -> None:
    with pytest.raises(OutputParseError):
        parse(f"{named}{ONE}\n{words} {TWO}", dict[str, int])


@pytest.mark.parametrize(
    "words",
    ["Oops:", "Sorry, I meant", "No, it is", "I mean", "Make that", "Mejor dicho:", "Ou melhor,", "Ups, nein:", "Anzi, no:"],
)
def test_words_that_put_another_in_its_place_name_that(words: str) -> None:
    assert parse(f"{ONE}\n{words} {TWO}", dict[str, int]) == {"a": 2}


@pytest.mark.parametrize("words", ["As I said earlier:", "The same as I gave before:", "Wie ich vorher sagte:", "正如之前说的"])
def test_what_was_said_before_and_holds_is_a_value(words: str) -> None:
    assert parse(f"{words} {ONE}", dict[str, int]) == {"a": 1}
