"""What the sentence before a call says of it, in each language: phrases that say it, and near ones that do not."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmcore.normalizer.trust import lead_in_denials as denials
from llmcore.normalizer.trust import lead_in_statements as statements
from llmcore.normalizer.trust import lead_in_words as words
from llmcore.normalizer.trust import lead_ins
from llmcore.normalizer.trust.lead_ins import answers, kind_of, sentence_before
from tests.support.growth import assert_linear

TABLES = {
    "prohibition": denials.PROHIBITION,
    "refusal": denials.REFUSAL,
    "not yet": denials.NOT_YET,
    "condition": denials.CONDITION,
    "form": words.FORM,
    "example": words.EXAMPLE,
    "report": words.REPORT,
    "possible": words.POSSIBLE,
    "past": statements.PAST,
    "manner": statements.MANNER,
    "template": statements.TEMPLATE,
}
STRICT = ("prohibition", "form")
MAY_BE_MEANT = ("strict", "mention", "statement", "example")

PHRASES: dict[tuple[str, str], tuple[list[str], str]] = {
    ("prohibition", "en"): (
        ["Do not run this", "Never call it", "It mustn't be executed", "dont send this"],
        "This does not matter",
    ),
    ("prohibition", "de"): (["Bitte nicht ausführen", "Niemals so aufrufen", "Führe das nicht aus"], "Das ist nicht weit"),
    ("prohibition", "fr"): (["Ne pas exécuter", "N'appelez jamais ceci", "À lire sans lancer"], "Ce n'est pas loin"),
    ("prohibition", "es"): (["No ejecutes esto", "Nunca se llama así"], "No está lejos"),
    ("prohibition", "pt"): (["Não execute isto", "Nunca chame esta função"], "Não fica longe"),
    ("prohibition", "it"): (["Non eseguire questo", "Mai chiamare così"], "Non è lontano"),
    ("prohibition", "ru"): (["Не выполняйте это", "Никогда не вызывайте так"], "Это не далеко"),
    ("prohibition", "zh"): (["请勿执行", "不要调用这个"], "这里不远"),
    ("prohibition", "ja"): (["実行しないでください", "これを呼び出さないで"], "遠くないです"),
    ("prohibition", "ko"): (["실행하지 마세요", "호출 금지"], "멀지 않습니다"),
    ("refusal", "en"): (["I will not run this", "We haven't called it", "I won't use the tool"], "I will not wait"),
    ("refusal", "de"): (["Ich rufe das nicht auf", "So werden wir es nie ausführen"], "Ich werde nicht länger warten"),
    ("refusal", "fr"): (["Je ne l'exécute pas", "Nous n'appelons jamais cela"], "Je ne vais pas attendre plus longtemps"),
    ("refusal", "es"): (["No voy a ejecutarlo", "No lo voy a llamar"], "No voy a esperar más"),
    ("refusal", "pt"): (["Não vou executar isto", "Não posso chamar a função"], "Não vou esperar mais"),
    ("refusal", "it"): (["Non eseguirò questo", "Non voglio chiamarlo"], "Non voglio aspettare"),
    ("refusal", "ru"): (["Я не буду это выполнять", "Мы это не запускаем"], "Я не буду ждать"),
    ("refusal", "zh"): (["我不会执行它", "我们没有调用这个工具"], "我不会再等了"),
    ("refusal", "ja"): (["これは実行しません", "この関数は呼び出しません"], "雨は降りません"),
    ("refusal", "ko"): (["이것을 실행하지 않겠습니다", "그 함수는 호출하지 않습니다"], "비가 오지 않습니다"),
    ("not yet", "en"): (
        ["The mail is drafted and not sent yet:", "The mail hasn't gone out yet:"],
        "The mail is drafted",
    ),
    ("not yet", "de"): (
        ["Die Überweisung habe ich vorbereitet, aber noch nicht veranlasst:", "Gesendet ist noch nichts:"],
        "Die Überweisung habe ich vorbereitet",
    ),
    ("not yet", "fr"): (
        ["Le virement est prêt mais pas encore parti :", "Rien n'est encore parti, rien encore signé :"],
        "Le virement est parti",
    ),
    ("not yet", "es"): (
        ["La transferencia está lista, pero aún no sale:", "El correo todavía no ha salido:"],
        "La transferencia sale",
    ),
    ("not yet", "pt"): (
        ["A transferência está pronta, mas ainda não saiu:", "O e-mail ainda não foi enviado:"],
        "A transferência saiu",
    ),
    ("not yet", "it"): (
        ["Il bonifico è pronto ma non è ancora partito:", "La mail non parte ancora:"],
        "Il bonifico è partito",
    ),
    ("not yet", "ru"): (
        ["Перевод готов, но пока не ушёл:", "Письмо ещё не отправлено:"],
        "Перевод ушёл",
    ),
    ("not yet", "zh"): (["转账单准备好了，先不提交：", "邮件拟好了，还没发："], "转账单准备好了"),
    ("not yet", "ja"): (
        ["振込の準備はできていますが、まだ送っていません：", "メールはまだ出していない："],
        "振込の準備はできています",
    ),
    ("not yet", "ko"): (["송금은 준비했지만 아직 보내지 않았습니다:", "메일은 아직 못 보냈습니다:"], "송금은 준비했습니다"),
    ("condition", "en"): (["If you agree", "After your approval"], "If you were here"),
    ("condition", "de"): (["Sobald Sie bestätigen", "Mit deiner Zustimmung"], "Wenn es regnet"),
    ("condition", "fr"): (["Si vous êtes d'accord", "Avec votre accord"], "Si la mer monte"),
    ("condition", "es"): (["Cuando confirmes", "Con su permiso"], "Cuando llueve"),
    ("condition", "pt"): (["Quando confirmar", "Após a sua confirmação"], "Quando chove"),
    ("condition", "it"): (["Se sei d'accordo", "Dopo la tua conferma"], "Quando piove"),
    ("condition", "ru"): (["Как только вы подтвердите", "С вашего разрешения"], "Когда идёт дождь"),
    ("condition", "zh"): (["如果您同意", "您确认后"], "下雨后"),
    ("condition", "ja"): (["よろしければ", "ご承認いただければ"], "雨が降れば"),
    ("condition", "ko"): (["동의하시면", "승인 후"], "비가 오면"),
    ("form", "en"): (
        ["A call looks like this", "It is written as", "The structure of a request is", "Call it like"],
        "The look of the sea",
    ),
    ("form", "de"): (["So sieht ein Aufruf aus", "Das schreibt man so", "Das sähe so aus"], "Er sieht das Meer"),
    ("form", "fr"): (["Cela ressemble à ceci", "Un appel s'écrit ainsi"], "Voici la mer"),
    ("form", "es"): (["Se escribe así", "La sintaxis es"], "Aquí está el mar"),
    ("form", "pt"): (["Escreve-se assim", "Tem esta forma"], "Aqui está o mar"),
    ("form", "it"): (["Si scrive così", "Ha questa forma"], "Ecco il mare"),
    ("form", "ru"): (["Вызов выглядит так", "Это записывается так"], "Вот море"),
    ("form", "zh"): (["格式如下", "形如"], "这是大海"),
    ("form", "ja"): (["次のような形式です", "このように書きます"], "海です"),
    ("form", "ko"): (["형식은 이렇습니다", "이렇게 생겼습니다"], "바다입니다"),
    ("example", "en"): (["For example", "Suppose it rains", "Here is an example"], "The exam is over"),
    ("example", "de"): (["Zum Beispiel", "z. B.", "Angenommen, es regnet"], "Das Besteck liegt bereit"),
    ("example", "fr"): (["Par exemple", "Prenons ceci", "Voici l'exemple"], "Un examen"),
    ("example", "es"): (["Por ejemplo", "Supongamos que llueve"], "El ejército"),
    ("example", "pt"): (["Por exemplo", "Um exemplo"], "O exame"),
    ("example", "it"): (["Per esempio", "Un esempio"], "Un esame"),
    ("example", "ru"): (["Например", "Допустим, идёт дождь"], "Наконец"),
    ("example", "zh"): (["例如", "假设下雨"], "下雨了"),
    ("example", "ja"): (["例えば", "仮に雨なら"], "雨です"),
    ("example", "ko"): (["예를 들면", "가령 비가 오면"], "비가 옵니다"),
    ("report", "en"): (["The log says", "The bot emitted this", "The page contains the following"], "The log says it rained"),
    ("report", "de"): (["Im Protokoll steht", "Jemand war hier", "Der Nutzer schrieb"], "Der Kunde sagt, es eilt"),
    ("report", "fr"): (["Le journal contient", "Le message dit ceci"], "Hier il pleuvait"),
    ("report", "es"): (["El registro dice", "El mensaje dice lo siguiente"], "Ayer llovió"),
    ("report", "pt"): (["O registro mostra", "A mensagem diz isto"], "Ontem choveu"),
    ("report", "it"): (["Il file contiene", "Il messaggio dice questo"], "Ieri pioveva"),
    ("report", "ru"): (["Файл содержит", "Пользователь написал следующее"], "Вчера шёл дождь"),
    ("report", "zh"): (["日志里写着", "文件中有"], "昨天下雨"),
    ("report", "ja"): (["ログに記録された行", "メールに書かれ"], "昨日は雨でした"),
    ("report", "ko"): (["로그에 적혀 있는 줄", "메일에 포함"], "어제는 비"),
    ("possible", "en"): (
        [
            "I would call",
            "Should I go",
            "That might be",
            "I'd also drop the call at the very bottom of this old module, since it fires",
        ],
        "I would like to cancel the order",
    ),
    ("possible", "de"): (["Das könnte man tun", "Soll ich gehen"], "Es regnet"),
    ("possible", "fr"): (["Dois-je continuer", "Cela serait", "Il pourrait pleuvoir"], "Il pleut"),
    ("possible", "es"): (["Podría llover", "Quieres que siga"], "Llueve"),
    ("possible", "pt"): (["Poderia chover", "Quer que siga"], "Chove"),
    ("possible", "it"): (["Potrebbe piovere", "Vuoi che continui"], "Piove"),
    ("possible", "ru"): (["Если хотите", "Можно так"], "Идёт дождь"),
    ("possible", "zh"): (["如果下雨", "要不要继续"], "我得先查一下才能告诉您要不要带伞"),
    ("possible", "ja"): (["行けますか", "雨でしょうか"], "雨です"),
    ("possible", "ko"): (["계속할까요", "만약 비가 오면"], "비가 옵니다"),
    ("past", "en"): (
        ["What was run last night:", "The job sent this:", "I called it this way yesterday:", "The earlier call:"],
        "That was sent to the wrong place, so once more:",
    ),
    ("past", "de"): (
        ["Das wurde vorhin ausgeführt:", "Was gestern lief:", "Der Dienst hat das abgesetzt:", "Der gestrige Aufruf:"],
        "Das wurde nicht fertig, also noch einmal:",
    ),
    ("past", "fr"): (
        ["Voici ce qui a été lancé hier :", "Le robot a envoyé cela :", "L'appel précédent :"],
        "La page a été supprimée :",
    ),
    ("past", "es"): (["Esto se ejecutó ayer:", "El robot envió esto:", "La llamada anterior:"], "La página fue borrada:"),
    ("past", "pt"): (["Isto foi chamado ontem:", "O robô enviou isto:", "A chamada anterior:"], "A página foi apagada:"),
    ("past", "it"): (
        ["Questo è stato eseguito ieri:", "Il robot ha inviato questo:", "La chiamata precedente:"],
        "La pagina è vecchia:",
    ),
    ("past", "ru"): (["Вот что было запущено вчера:", "Робот отправил это:", "Предыдущий вызов:"], "Страница была удалена:"),
    ("past", "zh"): (["昨天执行过的是:", "之前的调用:", "被调用的是:"], "之前的页面没用了:"),
    ("past", "ja"): (["先ほど実行されたもの:", "昨日送信した内容:", "前回の呼び出し:"], "昨日のページ:"),
    ("past", "ko"): (["어제 실행된 호출:", "아까 전송한 것:", "이전 호출:"], "어제의 페이지:"),
    ("manner", "en"): (
        ["Models write a call this way:", "A client sends it as follows:", "Requests are encoded thus:"],
        "The plan is as follows:",
    ),
    ("manner", "de"): (["Modelle schreiben einen Aufruf so:", "Der Dienst sendet ihn wie folgt:"], "Der Plan ist so:"),
    ("manner", "fr"): (
        ["Les modèles notent un appel de la façon suivante :", "Le client l'envoie ainsi :"],
        "Le plan est ainsi :",
    ),
    ("manner", "es"): (
        ["Los modelos codifican una llamada de este modo:", "Se envía de la siguiente manera:"],
        "El plan va así:",
    ),
    ("manner", "pt"): (["Os modelos escrevem uma chamada assim:", "Envia-se da seguinte forma:"], "O plano fica para amanhã:"),
    ("manner", "it"): (["I modelli scrivono una chiamata così:", "Si invia nel modo seguente:"], "Il piano va così:"),
    ("manner", "ru"): (["Модели пишут вызов так:", "Клиент отправляет его следующим образом:"], "План такой:"),
    ("manner", "zh"): (["模型会这样输出调用:", "按以下方式发送:"], "计划是这些:"),
    ("manner", "ja"): (["モデルは次のように出力します:", "このように送る:"], "次のページ:"),
    ("manner", "ko"): (["모델은 이렇게 출력합니다:", "다음과 같이 보냅니다:"], "다음 페이지:"),
    ("template", "en"): (["Use this template:", "Fill in the following skeleton:"], "The template page is gone:"),
    ("template", "de"): (["Nutze diese Vorlage:", "Füllen Sie folgendes Muster aus, unser Muster:"], "Die Vorlage ist weg:"),
    ("template", "fr"): (["Utilisez ce modèle :", "Remplissez le modèle suivant :"], "Le patron est parti :"),
    ("template", "es"): (["Usa esta plantilla:", "Rellena el siguiente esqueleto:"], "La plantilla ya no está:"),
    ("template", "pt"): (["Use este gabarito:", "Preencha a seguinte estrutura:"], "O gabarito sumiu:"),
    ("template", "it"): (["Usa questa traccia:", "Riempi lo schema seguente:"], "Lo schema non serve:"),
    ("template", "ru"): (["Используйте этот шаблон:", "Заполните следующую заготовку:"], "Шаблон пропал:"),
    ("template", "zh"): (["请使用以下模板:", "按照模板:"], "模板没有了:"),
    ("template", "ja"): (["次のテンプレートを使ってください:", "このひな形:"], "テンプレートはもうない:"),
    ("template", "ko"): (["다음 템플릿을 사용하세요:", "이 양식:"], "템플릿이 없다:"),
}
"""(table, language) -> what must be found, and what is near it and must not be."""

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
REPORTS = [
    "The user says it is urgent:", "Der Kunde sagt, es eilt:", "Previously it failed:", "I would like to cancel the order:",
    "It said the id is 77:", "Hier il pleuvait :", "昨日は雨でした:",
]  # fmt: skip
"""What is told, and not said to be the call: models write it before calls that they mean."""
BY_THE_SPEAKER = [
    "I don't know the status yet, so:", "We have not looked yet:", "Ich weiß das noch nicht:", "Je ne connais pas encore le statut :",
    "I can't use the cache, so:", "We don't call it here:", "I won't use the cache any more:", "Ich nutze den Cache nicht, also:",
    "Je n'utilise pas le cache :", "No ejecuto nada más:", "No uso la caché:", "Não executo mais nada:", "Non eseguo altro:",
    "Не выполняю больше ничего:", "我不使用缓存:",
]  # fmt: skip
"""No prohibitions: the speaker is the subject."""
SHOWN_ONLY = [
    "Let me show you an example:",
    "Ich zeige ein Beispiel:",
    "Je vais vous montrer un exemple :",
    "Voy a mostrar un ejemplo:",
    "Vou mostrar um exemplo:",
    "Сейчас покажу пример:",
    "让我举个例子:",
    "例えば使い方を説明します:",
    "예를 들면 이렇게 설명하겠습니다:",
]
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
LABELS = [
    "Example:", "Examples", "Sample call:", "The usage:", "From the docs:", "Syntax:", "Beispiel:", "Dokumentation", "Exemple :",
    "Ejemplo:", "Exemplo:", "Esempio:", "Пример:", "示例:", "例:", "使用例", "예시:", "형식:",
    "Example 1:", "Example #2", "Examples (2):", "Another example:", "Second example:", "Example 2 of 3:", "Sample output:", "Expected output:",
    "Beispiel 2:", "Weiteres Beispiel:", "Noch ein Beispiel:", "Exemple n° 3 :", "Autre exemple :", "Sortie attendue :", "Ejemplo nº 3:",
    "Otro ejemplo:", "Exemplo 4:", "Outro exemplo:", "Esempio 5:", "Un altro esempio:", "Пример № 2:", "Ещё один пример:", "示例1:", "示例一:",
    "另一个示例:", "预期输出:", "例2:", "別の例:", "出力例①:", "예시 3:", "다른 예:", "Listing 4:", "图 2:",
]  # fmt: skip


def test_every_row_has_its_phrases() -> None:
    assert set(PHRASES) == {(table, language) for table, rows in TABLES.items() for language in rows}
    assert set(ANNOUNCEMENTS) == set(words.ANNOUNCEMENT)
    assert all(len(found) >= 2 for found, _ in PHRASES.values())


@pytest.mark.parametrize(("table", "language"), PHRASES)
def test_phrases(table: str, language: str) -> None:
    found, near = PHRASES[table, language]
    expression = re.compile(TABLES[table][language].pattern, re.IGNORECASE)
    for phrase in found:
        for sentence in (phrase,) if phrase.endswith(":") else (phrase, f"{phrase}:"):
            assert expression.search(sentence), sentence
            assert kind_of(sentence) in (("strict",) if table in STRICT else MAY_BE_MEANT), sentence
    assert expression.search(near) is None
    assert kind_of(f"{near.removesuffix(':')}:") in (None, "statement")


def test_the_anchors_find_what_the_expressions_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with and without the look-up of anchors."""
    sentences = [phrase for found, near in PHRASES.values() for phrase in (*found, near)]
    sentences += [*SHOWN_ONLY, *MEANT, *LABELS, *(one for more in ANNOUNCEMENTS.values() for one in more)]
    found = [kind_of.__wrapped__(sentence) for sentence in sentences]
    rows = {table: set(languages) for table, languages in TABLES.items()} | {"label": set[str]()}

    def every_row(_: str) -> dict[str, set[str]]:
        return rows

    monkeypatch.setattr(lead_ins, "_rows_of", every_row)
    assert found == [kind_of.__wrapped__(sentence) for sentence in sentences]


_PHRASES_TRIED = settings().max_examples * 3 // 10


@pytest.mark.quick(3)
@pytest.mark.sweep(5)
@pytest.mark.parametrize(("table", "language"), [key for key in PHRASES if TABLES[key[0]][key[1]].anchors])
def test_every_phrase_of_an_expression_holds_an_anchor(table: str, language: str) -> None:
    pattern = TABLES[table][language].pattern
    letters = sorted(set(pattern.lower()) - set("\\()[]{}?*+|^$<>:=!/_-0123456789") | set("abcdeiorst ',;"))

    @settings(
        max_examples=_PHRASES_TRIED, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
    )
    @given(st.from_regex(re.compile(pattern, re.IGNORECASE), alphabet=st.sampled_from(letters)))
    def check(sentence: str) -> None:
        if re.search(pattern, sentence, re.IGNORECASE):
            rows = lead_ins._rows_of(sentence)  # pyright: ignore[reportPrivateUsage] # what the test is about
            assert language in rows.get(table, ())

    check()


@settings(
    max_examples=_PHRASES_TRIED * 5, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(
    st.from_regex(
        words.LABEL, alphabet=st.sampled_from(sorted(set(words.LABEL.pattern.lower()) - set("\\()[]{}?*+|^$<>:=!/_-0123456789")))
    )
)
def test_every_label_holds_an_anchor(sentence: str) -> None:
    if words.LABEL.match(sentence):
        assert "label" in lead_ins._rows_of(sentence)  # pyright: ignore[reportPrivateUsage] # what the test is about


@pytest.mark.parametrize("sentence", [one for more in ANNOUNCEMENTS.values() for one in more] + MEANT + REPORTS + BY_THE_SPEAKER)
def test_what_announces_a_call_introduces_no_example(sentence: str) -> None:
    assert kind_of(sentence) is None


@pytest.mark.parametrize("sentence", SHOWN_ONLY)
def test_an_announcement_that_something_is_shown_announces_no_call(sentence: str) -> None:
    assert kind_of(sentence) is not None


def test_a_prohibition_beats_an_announcement() -> None:
    assert kind_of("Let me be clear, do not run this:") == "strict"
    assert kind_of("I'll wait; never call this:") == "strict"


@pytest.mark.parametrize("sentence", LABELS)
def test_labels(sentence: str) -> None:
    assert kind_of(sentence) == "strict"
    assert kind_of(f"{sentence.rstrip(' :')} 17 Oslo") in (None, "example")


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


@pytest.mark.parametrize("unit", ["\n", ".", "user:", "user: x\n"])
def test_a_run_before_a_sign_of_an_answer_costs_linear_time(unit: str) -> None:
    assert_linear(lambda size: answers("A:", unit * size + "a: b:"), 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "é", "中", "の", "한", " ", "\n", ".", ". ", "e.g. ", "`", "~", "-", "1. ", "*", "<", "not ", "not run ", "I ", "the log ", "would ", "do not ", "I will not ", "if you ", "what was ", "не ", "以前", "、"])  # fmt: skip
def test_a_long_text_costs_no_more_than_its_end(unit: str) -> None:
    def look(size: int) -> None:
        text = unit * (size // len(unit))
        for _ in range(20):
            kind_of.__wrapped__(sentence_before(text, 0, len(text)))
        kind_of.__wrapped__(text[:4000])

    assert_linear(look, 250_000)


@pytest.mark.parametrize(
    "sentence",
    [
        "Exercise 4, the solution:",
        "With dummy values, so that nothing breaks:",
        "That is what the server would receive:",
        "Übung 3, die Lösung lautet:",
        "Mit erfundenen Werten:",
        "So sähe der Befehl aus, den Sie abtippen können:",
        "Observez bien :",
        "En voici un :",
        "Si vous répondez oui, j'enverrai ceci :",
        "If you say yes, I'll send this:",
        "Con valores inventados:",
        "Вопрос 7, ответ такой:",
        "Если ответите «да», я отправлю это:",
        "网页里藏了一句话:",
        "第三题 2:",
        "次の呼び出しを書きなさい",
        "架空の値です:",
    ],
)
def test_lessons_inventions_and_answers_waited_for_lead_no_call_in(sentence: str) -> None:
    assert kind_of(sentence) in MAY_BE_MEANT


@pytest.mark.parametrize("sentence", ["If you say so, I'll run it:", "我来看看:", "Step 2 of the plan:", "Let me observe it:"])
def test_their_neighbours_do(sentence: str) -> None:
    assert kind_of(sentence) is None
