"""The phrases of lead-ins, as regular expressions: a row a language.

`trust.lead_ins` says what each table means. A phrase is added here when real replies show that it is needed; it should say what it
says wherever it stands in a sentence, for it is sought in the last sentence before a call and nowhere else.
"""

from __future__ import annotations

import re

from llmcore.normalizer.trust.lead_in_denials import Row
from llmcore.types.late import late

__all__ = [
    "ANNOUNCEMENT",
    "ANSWER",
    "ASSISTANT",
    "EXAMPLE",
    "EXPLAINING",
    "FORM",
    "LABEL",
    "LABEL_ANCHORS",
    "POSSIBLE",
    "QUESTION",
    "REPORT",
    "SHOWING",
    "USER",
]


ANNOUNCEMENT: dict[str, str] = {
    "en": r"\b(?:I['’]ll|I\s+(?:will|shall|need\s+to|am\s+going\s+to|can|have\s+to|must|should)|I['’]m\s+(?:going\s+to\b|\w+ing\b)|"
    r"I\s+am\s+\w+ing\b|(?<!had\s)(?<!have\s)(?<!['’]d\s)let\s+me|let['’]s|let\s+us|we['’]ll|we\s+(?:will|need\s+to)|allow\s+me|time\s+to)\b(?P<en>(?:\W+\w+){0,4})",
    "de": r"\b(?:ich\s+(?:werde\b|muss\b|will\b|möchte\b|(?!hab|hatt|hätt|wär|dürft|würd|könnt|wollt|sollt|müsst)\w+e\b)|lass(?:en\s+Sie)?\s+(?:mich|uns)|(?!hab|hatt|wär|würd)\w+e\s+ich)\b(?P<de>(?:\W+\w+){0,8})",
    "fr": r"\b(?:je\s+(?:vais|dois|(?!\w*(?:rai[st]|ais)\b)\w+(?:e|s)\b)|laissez?-moi|permettez-moi|allons)\b(?P<fr>(?:\W+\w+){0,4})",
    "es": r"\b(?:voy\s+a|vamos\s+a|déjame|déjeme|permíteme|permítame|necesito|tengo\s+que|debo)\b(?P<es>(?:\W+\w+){0,4})",
    "pt": r"\b(?:vou|vamos|deixe-me|preciso)\b(?P<pt>(?:\W+\w+){0,4})",
    "it": r"\b(?:vado\s+a|lasciami|fammi|devo|sto\s+per)\b(?P<it>(?:\W+\w+){0,4})",
    "ru": r"\b(?:сейчас\s+(?:же\s+)?(?:я|мы|\w+(?:ю|у|ем|им|ём))\b|я\s+\w+(?:ю|у|м)\b|давайте\b|позвольте\b|\b(?!следующ|данн|последн|прошл|вчераш|предыдущ|сво[юё]|мою\b|твою\b|всю\b|\w+[кнгхшщвт]ую\b|\w+(?:цию|нную)\b)\w+(?:ю|лю|жу|чу|шу)\b)(?P<ru>(?:\W+\w+){0,4})",
    "zh": r"(?:我来|我将|(?<![您你他她们])(?<!刚才)(?<!要)(?<!叫)让我|我会|我要|我先|我现在|我(?:重新|立即|立刻|直接|这就|继续)|我去|我马上|我需要|我帮)(?P<zh>[^，。,]{0,12})",
    "ja": r"(?P<ja>[^。、]{0,24})(?:します|てみます|ましょう)",
    "ko": r"(?P<ko>[^.,]{0,24})(?:겠습니다|할게요|볼게요)",
}
_EXPLAINING = (
    r"\b(?:show|give|explain|illustrat|describ|writ|demonstrat|quot|spell\s+out|walk|sketch|outlin|point\s+out|"
    r"zeig|schreib|erklär|beschreib|erläuter|veranschaulich|skizzier|montr|expliqu|décri|illustr|donn|present|"
    r"mostr|muestr|explic|describ|ilustr|ejemplific|escrib|escrev|spieg|descriv|scriv|покаж|показ|объясн|опи[сш]|привед|приведу|продемонстр|напиш)"
    r"|展示|说明|解释|举|演示|介绍|描述|写一?下|示す|説明|紹介|示し|記述|表記|出力|挙げ|書き|보여|설명"
)
EXPLAINING = late(_EXPLAINING, re.IGNORECASE)
"""Verbs of an announcement that something is shown or explained."""
SHOWING = late(
    _EXPLAINING
    + r"|\b(?:wait|ask\b|let\s+you|leav|decid|warn|insist|remind|refus|declin|grade|correct|translat|summari[sz]|comment|coment|"
    r"kommentier|annot|refrain|verzicht|unterlass|renonc|renunci|rinunc|bitt|pri[eo]|suppli|прош|предупрежд|wart|frag|attend|esper|pregunt|demand|корректир|жд)"
    r"|お願い|부탁|確認させ|お待ち",
    re.IGNORECASE,
)
"""Verbs of an announcement that announces no call."""
LABEL_ANCHORS = (
    "good must righ util exam samp usag synt form docs docu doku temp sche beis aufb vorl verw exem modè util ejem sint plan uso esem prim прим синт форм доку шабл испо "
    "wron bad inco fals schl must faux mauv mal mode erra inco sbag непр неве обра don dont do neve corr sche erro "
    "outp inpu call repl resp resu answ requ ausg eing aufr antw erge sort entr répo résu appe sali resp saíd resu cham usci rice risp risu chia выво ввод отве резу вызо "
    "list snip test prue тест syst few pseu figu fig abbi abb code рису рис лист"
)
_ARTICLE = r"(?:an?|the|from\s+the|ein|eine|das|die|der|aus\s+der|un|une|le|la|el|del?|um|uma|uno?)\s+"
_WHICH = (  # "expected", too: what is expected is not done
    r"(?:another|first|second|third|fourth|next|further|one\s+more|more|additional|simple|minimal|short|basic|full|complete|quick|other|worked|concrete|typical|possible|expected|desired|"
    r"(?:weiter|erst|zweit|dritt|einfach|kurz|nächst|ander|möglich|konkret|vollständig|erwartet|gewünscht)e[sr]?|noch\s+ein|"
    r"autre|premi(?:er|ère)|deuxième|second[eo]?|troisième|nouve(?:l|au)|nov[ao]|otr[oa]|primera?|segund[oa]|tercera?|nuev[oa]|outr[oa]|primeir[oa]|terceir[oa]|altr[oa]|prim[oa]|terz[oa]|ulteriore|nuov[oa]|"
    r"ещ[её](?:\s+один)?|друг(?:ой|ие)|перв(?:ый|ая)|втор(?:ой|ая)|трет(?:ий|ья)|прост(?:ой|ая)|ожидаем(?:ый|ая|ое))\s+"
    r"|(?:另一个|另外一个|又一个|第[一二三四五\d]{1,2}个|简单|完整|[別别]の|もう(?:一つ|1つ|ひとつ)の|次の|第[一二三\d]{1,2}の|簡単な|또\s*다른|다른|(?:첫|두|세)\s*번째|간단한)\s*"
)
_NUMBER = (
    r"(?:(?:\s++|\s*+(?=[\d#№①-⑳一二三四五六七八九十]))(?:#|no\.?|nr\.?|nº|n°|№|number|nummer|numéro|número|numero|номер)?\s*+"
    r"(?:\d{1,3}[a-z]?|[ivx]{1,4}|[a-h]|[①-⑳]|[一二三四五六七八九十]{1,2})(?:\s?(?:/|of|von|de|из)\s?\d{1,3})?[.)]?(?!\w))"
)
_EXAMPLE_NOUN = (
    r"examples?(?:\s+(?:tool\s+|function\s+)?(?:call|usage|output|reply|response|format))?|"
    r"samples?(?:\s+(?:tool\s+|function\s+)?(?:call|output|input|reply|response))?|(?:ein)?beispiele?|beispiel(?:aufruf|ausgabe|eingabe|antwort)|"
    r"exemples?(?:\s+d['’](?:appel|utilisation|entrée)|\s+de\s+(?:sortie|réponse))?|ejemplos?(?:\s+de\s+(?:llamada|uso|salida|entrada|respuesta))?|"
    r"exemplos?(?:\s+de\s+(?:chamada|uso|saída|entrada|resposta))?|esempi?o?(?:\s+di\s+(?:chiamata|uso|output|risposta))?|примеры?(?:\s+(?:вызова|вывода|ответа))?|образец(?:\s+вызова)?|"
    r"(?:调用|使用|输出|输入|回答)?(?:示例|例子|样例)(?:调用|输出|输入|回答)?|范例|(?:呼び出し|使用|出力|入力|回答)?例|サンプル|(?:호출\s*|사용\s*|출력\s*|입력\s*)?예(?:시|제)?"
)
_TITLE = r"\s*+\w[^:：.!?。\n]{1,80}"  # the full-width ones are meant
_EXPECTED = (
    r"(?:expected|desired)\s+(?:\w+\s+)?(?:output|input|call|reply|response|result|answer|request)s?|(?:erwartete|gewünschte)[srn]?\s+(?:ausgabe|eingabe|aufruf|antwort|ergebnis)|"
    r"(?:sortie|entrée|réponse|résultat|appel)s?\s+attendue?s?|(?:salida|respuesta|resultado|llamada)\s+esperad[oa]|(?:saída|resposta|resultado|chamada)\s+esperad[oa]|"
    r"(?:uscita|output|risposta|risultato|chiamata)\s+(?:previst|attes)[oa]|ожидаем(?:ый|ое)\s+(?:вывод|ввод|ответ|результат|вызов)|(?:预期|期望|预计)的?(?:输出|结果|回答|调用)|"
    r"(?:期待される|期待する|想定される|想定)(?:出力|結果|呼び出し|回答)|(?:예상|기대)(?:되는)?\s*(?:출력|결과|호출|응답)"
)
_NUMBERED_NOUN = (
    r"listing|snippet|figure|fig\.?|abbildung|abb\.?|figura|code\s+example|рисунок|рис\.?|листинг|图|代码|リスト|図|그림"
)
LABEL = late(
    rf"\W*(?:{_ARTICLE})*(?:"
    rf"(?:{_WHICH})?(?:{_EXAMPLE_NOUN})(?:{_NUMBER}?|{_NUMBER}(?:\s?[–—-]\s|\s?[:：]|(?<=\.)\s){_TITLE}|\s?[:：]{_TITLE})|(?:{_EXPECTED}){_NUMBER}?|(?:{_NUMBERED_NOUN}){_NUMBER}(?:\s?[:：]{_TITLE})?|"
    rf"(?:test\s+case|testfall|cas\s+de\s+test|caso\s+d[ei]\s+(?:prueba|teste|test)|тест|测试用例|テストケース){_NUMBER}?|"
    r"snippet|system\s+prompt|few[-\s]shots?|pseudo-?code|usage|syntax|format|docs|"
    r"documentation|template|schema|(?:wrong|bad|incorrect)(?:\s+(?:way|call|format|usage))?|don['’]?ts?|do\s+not|"
    r"dokumentation|aufbau|syntax|format|vorlage|verwendung|falsch|schlecht|muster|"
    r"musteraufruf|utilizzo|(?:good|correct|right)(?:\s+(?:form|way|call|format|usage))|good|"
    r"syntaxe|modèle|utilisation|faux|incorrecte?|mauvais|"
    r"sintaxis|formato|plantilla|uso|documentación|incorrecto|mal|"
    r"sintaxe|modelo|documentação|errado|incorreto|"
    r"sintassi|modello|documentazione|sbagliato|errato|"
    r"(?:good|bad|gut|schlecht|bon|mauvais|bueno|malo)e?s?\s+(?:call|example|beispiel|exemple|ejemplo)s?|"
    r"синтаксис|формат|документация|шаблон|использование|неправильно|неверно|"
    r"格式|语法|文档|用法|模板|(?:错误|正确)(?:写法|示例|用法)?|好的例子|坏的例子|"
    r"構文|形式|書式|悪い例|良い例|正しい例|誤った例|誤り|使い方|"
    r"(?:잘못된|올바른)\s*예시?|형식|문법|구문|사용법|문서|템플릿)(?:\s?[(（][^()（）]{0,40}[)）])?\W*\Z",
    re.IGNORECASE,
)
QUESTION = late(r"^[^\w\n]*+(?:Q|F|P|D|В|问|問|質問|질문|문)\s?[:：]", re.MULTILINE)
ANSWER = late(r"\W*+(?:A|R|О|答|答え|回答|답|답변)\s?[:：]\W*\Z")
"""The signs of a question and of its answer, in the letters of the ten languages."""
USER = late(
    r"^[^\w\n]*+(?:user|human|customer|nutzer(?:in)?|benutzer(?:in)?|mensch|utilisateur|usuari[oa]|usuári[oa]|utilizador|utente|"
    r"пользователь|用户|使用者|ユーザー?|사용자)(?:\s\d{1,3})?\W{0,4}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
ASSISTANT = late(
    r"^[^\w\n]*+(?:assistant|ai|bot|model|agent|assistentin|assistent|modell|agente|asistente|assistente|modelo|modello|modèle|"
    r"ассистент|помощник|модель|助手|助理|模型|アシスタント|モデル|어시스턴트|모델)(?:\s\d{1,3})?\W{0,4}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
"""Who speaks in the lines of a transcript."""
_WRITTEN_EN = r"(?:written|spelled|spelt|formatted|encoded|serialized|serialised|represented)"
_LIKE_THIS_EN = r"(?:this|that|these|those|so|the\s+following|follows)"
FORM: dict[str, Row] = {
    "en": Row(
        "like writ spel form enco seri repr synt stru temp shap nota usag made buil",
        rf"\blooks?\s+(?:\w+\s+){{0,2}}?like(?:\s+{_LIKE_THIS_EN}(?:\s+(?:in|for|with|when|on|under|as|inside)\b[^,;]*)?)?\W*\Z"
        rf"|\b(?:what|how)\b[^,;]*\blooks?\s+like\b[^,;]*\Z|(?<!\bnot\s)(?<!n['’]t\s)\b(?:is|are|be|gets?)\s+(?:\w+\s+)?{_WRITTEN_EN}\s+"
        rf"(?:as\s+follows|(?:as|like)(?:\s+{_LIKE_THIS_EN})?|so|thus|this\s+way|in\s+(?:this|the\s+following)\s+\w+)\W*\Z|\bhow\b[^,;]*\b(?:is|are|gets?)\s+(?:\w+\s+)?{_WRITTEN_EN}\W*\Z"
        rf"|\bcall(?:ed)?\s+(?:it|them|\w+)\s+like(?:\s+{_LIKE_THIS_EN})?\W*\Z|\blike\s+so\b|\blike(?:\s+this)?:\W*\Z|\bthe\s+(?:\w+\s+){{0,2}}?(?:syntax|format|structure|usage|notation)\b[^.]*\b(?:is|are)(?:\s+(?:as\s+follows|the\s+following|like\s+this|this))?\W*\Z"
        r"|\b(?:has|have|takes?)\s+(?:the\s+following|this)\s+(?:form|format|shape|structure|syntax)\b[^,;]*\Z"
        r"|\bin\s+(?:this|the\s+following)\s+(?:form|format|syntax|notation|shape)\W*\Z|\bhere(?:['’]s|\s+is)\s+(?:the|its?)\s+(?:\w+\s+)?(?:syntax|template)(?:\s+(?:for|of|to)\b[^,;]*)?\W*\Z"
        r"|\bhow\s+(?:\w+\s+){1,4}(?:writes?|spells?|formats?|encodes?|(?:is|are)\s+(?:made|built|formed))\b[^,;]*\Z",
    ),
    "de": Row(
        "sieh sähe auss schr gesc laut form folg synt",
        r"\bs(?:ieht|ähe)\b(?:[^.,;]{0,60}?\W)?(?:so|wie\s+folgt|folgendermaßen|wie|etwa)\b[^.,;]{0,40}?\baus\b(?!,?\s+(?:als|dass|wenn|ob))|\bwie\b[^.;]{0,60}\baussieht\b|\b(?:so|wie)\s+sieht\b[^,;]*\Z|\b(?:so|wie)\s+s(?:ieht|ähe)\b[^,;.]*\baus,\s+(?:d(?:er|ie|as|en|em)|wie)\b[^;.]*\Z"
        r"|\bschreibt\s+(?:man|sich)\b|\b(?:wird|werden|ist|sind)\s+(?:\w+\s+){0,2}?(?:so|wie|als|folgendermaßen)\s+(?:\w+\s+){0,2}?geschrieben\b|\b(?:so|wie)\s+(?:wird|werden)\s+(?:\w+\s+){0,3}?geschrieben\b"
        r"|\bwie\b[^,;]*\bgeschrieben\s+(?:wird|werden)\b|\blautet\s+(?:die|das)\s+(?:syntax|format)\b"
        r"|\b(?:das\s+format|die\s+(?:syntax|schreibweise|form))\s+(?:ist|lautet)(?:\s+(?:wie\s+folgt|so|folgende\w*|dies\w*))?\W*\Z|\bhat\s+(?:die\s+)?(?:folgende|diese)\s+form\b|\bin\s+dieser\s+form\b|\bwie\s+folgt\s+aufgebaut\b",
    ),
    "fr": Row(
        "ress quoi écri form synt pren prés",
        r"\bressembl\w+\s+(?:\w+\s+)?à\s*(?:ceci|cela|ça|ce\s+qui\s+suit|celui-ci|celle-ci)\b|\bressembl\w+\s+à\W*\Z|\bà\s+quoi\s+(?:\w+\s+)*?ressembl\w+"
        r"|\bs['’]écri(?:t|vent|rait|ra)\b|\bon\s+(?:l['’])?écri(?:t|ra|rait)\b|\ba\s+(?:la|cette)\s+forme\b|\bse\s+présente\s+(?:ainsi|comme|sous)\b"
        r"|\b(?:la\s+syntaxe|le\s+format)\s+(?:\w+\s+)?est(?:\s+(?:(?:le|la)\s+suivante?|celui-ci|celle-ci|ainsi|comme\s+suit))?\W*\Z|\bsous\s+(?:cette|la)\s+forme\W*\Z|\bprend\s+la\s+forme\b",
    ),
    "es": Row(
        "ve verí escr form sint así qued luce aspe",
        r"\bse\s+ve(?:ría)?\s+(?:\w+\s+){0,2}?(?:así|como\s+(?:esto|sigue|est[ea]|lo\s+siguiente)|de\s+(?:est[ea]|la\s+siguiente)\s+(?:modo|manera|forma))\W*\Z|\bcómo\s+se\s+ve\b"
        r"|\bse\s+escrib(?:e|en|iría|irían)\b|\btiene\s+(?:est[ae]|(?:el|la)\s+siguiente)\s+(?:forma|formato|aspecto)\b"
        r"|\b(?:la\s+sintaxis|el\s+formato)\s+(?:\w+\s+)?es(?:\s+(?:(?:el|la)\s+siguiente|est[ea]|así|como\s+sigue))?\W*\Z|(?<!\bsi\s)\bes\s+así\W*\Z|\basí\s+se\s+ve\b|\bqueda(?:ría)?\s+así\W*\Z|\bluce\s+así\W*\Z",
    ),
    "pt": Row(
        "pare escr fica form assi aspe sint",
        r"\b(?:se\s+parece|parece-se)\s+com(?:\s+(?:isto|isso|est[ea]|o\s+seguinte))?\W*\Z|\bescreve-se\b|\bse\s+escreve\b|\bfica\s+assim\W*\Z|\btem\s+(?:est[ae]|[oa]\s+seguinte)\s+(?:forma|formato|aspec?to)\b"
        r"|\b(?:o\s+formato|a\s+sintaxe)\s+(?:\w+\s+)?é(?:\s+(?:[oa]\s+seguinte|est[ae]|assim))?\W*\Z|(?<!\bse\s)\bé\s+(?:escrit[oa]\s+)?assim\W*\Z|\bassim\s+que\s+se\s+escreve\b",
    ),
    "it": Row(
        "scri form appa aspe così sint",
        r"\bsi\s+scrive\b|\bha\s+(?:quest[oa]|(?:il|la)\s+seguente)\s+(?:forma|formato|aspetto)\b|\bappare\s+così\W*\Z"
        r"|\b(?:il\s+formato|la\s+sintassi)\s+(?:\w+\s+)?è(?:\s+(?:(?:il|la)\s+seguente|quest[oa]|così))?\W*\Z"
        r"|\b(?:viene|è|va)\s+(?:scritt[oa]|fatt[oa])\s+così\b|(?<!\bse\s)\bè\s+così\W*\Z",
    ),
    "ru": Row(
        "выгл запи пише вид виде синт форм",
        r"\bвыгляд\w+\s+(?:\w+\s+){0,2}?(?:так|следующим\s+образом|таким\s+образом|как(?:\s+это|\s+следующее)?)\W*\Z|\bкак\s+(?:\w+\s+){0,2}?выгляд\w+|\bзаписыва(?:ется|ются)\b|\bпишется\b"
        r"|\bимеет\s+(?:такой|следующий)\s+вид\b|\bимеет\s+вид\W*\Z|\bформат\s+(?:\w+\s+)?(?:следующ\w+|так\w+)|\bв\s+таком\s+виде\W*\Z|\bсинтаксис\s+так\w+|\bв\s+(?:следующем|таком)\s+формате\b",
    ),
    "zh": Row(
        "",
        r"格式如下|格式为\W*\Z|格式是\W*\Z|形如|写法(?:是|为|如下)?\W*\Z|语法如下|语法是|语法为|这样写|写成(?:这样|如下|以下|下面)?[^，。,]{0,4}\Z|长这样|如下所示的格式|(?:如下|以下|这样|下面)[^，。,]{0,4}的形式"
        r"|看起来(?:是|像)(?:这样|如下|以下|下面)|看起来(?:是|像)\W*\Z|(?<!看)样子\W*\Z",
    ),
    "ja": Row(
        "",
        r"のように書|のように記述|次のような(?:形|文字列|出力|テキスト)|(?:形式|構文|書式|書き方|文法)は(?:次|以下|下記|こう|このよう|\W*\Z)|のような形|と書き(?!込)|(?:次|以下|下記|この)のようになります",
    ),
    "ko": Row(
        "",
        r"(?:형식|구문|문법)은\s*(?:다음|아래|이렇|이와|\W*\Z)|다음과\s*같은\s*형[식태]|이런\s*형태|이렇게\s*생겼|처럼\s*씁|(?:이렇게|다음과\s*같이)\s*(?:씁|쓰|작성)|호출\S{0,2}\s*다음과\s*같",
    ),
}
"""What a call looks like. These lose the call, so each phrase must leave nothing else to mean: `It looks like the page is unused:`,
`The file is encoded in Latin 1:` and `Sieht so aus, als ...` are said before calls that are meant."""
EXAMPLE: dict[str, Row] = {
    "en": Row(
        "exam inst supp imag hypo cons take g draf illu solu samp such assu exer quiz home obse ques writ made inve fict dumm",
        r"\bfor\s+(?:example|instance)\b|\be\.\s?g\.|\b(?:here|this|that|below|following)(?:['’]s|\s+is|\s+are)?\s+(?:\w+\s+){0,3}?examples?\b|\ban?\s+(?:\w+\s+){0,2}?example\b|\bsuch\s+as\W*\Z|(?<!\bI\s)\bassume\s+(?:that\s+)?(?:the|an?|this)\b"
        r"|\b(?:here|this|that|below|following)(?:['’]s|\s+is|\s+are)\s+(?:\w+\s+){0,2}?samples?(?:\s+\w+){0,2}\W*\Z|\bsuppose\b|\bconsider\b|\btake\s+(?:this|the\s+following)\b|\bimagine\b|\bhypothetical\w*|\b(?:is|as|only|just)\s+(?:(?:only|just)\s+)?a\s+draft\b|\bdraft\s+of\s+(?:the|an?)\s+(?:\w+\s+)?(?:call|request|command|reply|answer)\b|\A\W*(?:(?:an?|the|my)\s+)?draft\W*\Z|\billustrat\w+|\bsolution\b"
        r"|\b(?:exercise|quiz|homework|question)\s+\d|\A\W*observe\b|\bwrite\s+(?:down\s+)?(?:the|a)\s+(?:\w+\s+)?(?:call|command|request)\b|\bmade[- ]up\b|\b(?:invented|fictional|fictitious|dummy)\b",
    ),
    "de": Row(
        "beis ange etwa b entw illu lösu must wäre aufg übun betr schr frag erfu fikt ausg",
        r"\bzum\s+beispiel\b|\bz\.\s?B\.|\bbeispielsweise\b|\b(?:ein|eines|folgende|folgendes|dieses|hier|nachfolgend|nachstehend|unten)\s+(?:\w+\s+)?beispiel(?:aufruf)?\b|\bwie\s+etwa\W*\Z|\bwäre\W*\Z|\betwa\s+so\b|\bangenommen\b|\b(?:ist|wäre|als|nur)\s+(?:(?:nur|erst)\s+)?(?:ein|der)\s+(?:\w+\s+)?entwurf\b|\bentwurf\s+(?:des|eines|für\s+(?:den|einen))\s+(?:\w+\s+)?(?:aufruf|befehl)\w*|\A\W*(?:(?:ein|der|mein)\s+)?entwurf\W*\Z|\billustration\b|\b(?:muster)?lösung\b"
        r"|\b(?:aufgabe|übung|frage)\s+\d|\bbetrachten\s+(?:wir|sie)\b|\bschreib(?:e|en|t)?\s+(?:sie\s+)?(?:den|einen)\s+(?:\w+\s+)?(?:aufruf|befehl)\b|\b(?:erfunden|fiktiv|ausgedacht)\w*",
    ),
    "fr": Row(
        "exem supp imag pren cons ex illu brou fict solu que exer obse rega exam ques écri inve voic",
        r"\bprenons\b|\bconsidérons\b|\bpar\s+exemple\b|\b(?:(?:un|cet)\s+|l['’])exemple\b|\bp\.\s?ex\.|\btel(?:le)?s?\s+que\W*\Z|\bsupposons\b|\bimaginons\b|\billustration\b|\b(?:est|comme)\s+un\s+(?:simple\s+)?brouillon\b|\bbrouillon\s+(?:de\s+(?:l['’]|la\s+)?|d['’]un\s+)(?:appel|requête|commande)\b|\A\W*(?:(?:un|le|mon)\s+)?brouillon\W*\Z|\bficti\w+|\bsolution\b"
        r"|\b(?:exercice|question)\s+(?:n°\s*)?\d|\b(?:observ(?:ons|ez)|regardons|examinons)\b|\bécri(?:vez|s|re)\s+(?:l['’]|un\s+)appel\b|\binventée?s?\b|\ben\s+voici\s+une?\b",
    ),
    "es": Row(
        "ejem supo imag ej borr solu ilus como ejer obse preg escr inve fict",
        r"\bpor\s+ejemplo\b|\b(?:un|este|el\s+siguiente)\s+ejemplo\b|\bp\.\s?ej\.|\b(?:llamada|petición)\s+como\W*\Z|\bsupongamos\b|\bimagina\b|\b(?:es|como|sólo|solo)\s+(?:(?:sólo|solo)\s+)?(?:un\s+)?borrador\b|\bborrador\s+de\s+(?:(?:la|una)\s+)?(?:llamada|petición|solicitud)\b|\A\W*(?:(?:un|el|mi)\s+)?borrador\W*\Z|\bsolución\b|\bilustraci\w+"
        r"|\b(?:ejercicio|pregunta)\s+\d|\bobserv(?:e|emos|en)\b|\bescrib(?:a|e|an)\s+(?:la|una)\s+llamada\b|\b(?:inventad|fictici)[oa]s?\b",
    ),
    "pt": Row(
        "exem supo imag como exer obse perg escr inve fict",
        r"\bpor\s+exemplo\b|\b(?:um|este)\s+exemplo\b|\bexemplo\s+(?:a\s+seguir|de\s+chamada)\b|\bsupo(?:nha|nhamos)\b|\bimagine\s+que\b|\b(?:chamada|requisição)\s+como\W*\Z"
        r"|\b(?:exercício|pergunta)\s+\d|\bobserv(?:e|emos|em)\b|\bescreva\s+(?:a|uma)\s+chamada\b|\b(?:inventad|fictíci)[oa]s?\b",
    ),
    "it": Row(
        "esem supp imma come eser osse doma scri inve fitt",
        r"\b(?:per|ad)\s+esempio\b|\b(?:un|questo)\s+esempio\b|\besempio\s+(?:seguente|di\s+chiamata)\b|\bsupponiamo\b|\bimmagin(?:a|iamo)\s+che\b|\b(?:chiamata|richiesta)\s+come\W*\Z"
        r"|\b(?:esercizio|domanda)\s+\d|\bosserv(?:a|iamo|ate)\b|\bscriv(?:i|ete)\s+(?:la|una)\s+chiamata\b|\binventat[oaie]\b|\bfittizi\w*",
    ),
    "ru": Row(
        "напр прим допу пред обра зада вопр упра расс напи выду вымы",
        r"\bнапример\b|\bпример\w*|\bк\s+примеру\b|\bобраз(?:ец|цы|цом)\b|\bдопустим\b|\bпредположим\b"
        r"|\b(?:задани[ея]|вопрос|упражнение)\s+\d|\bрассмотрим\b|\bнапишите\s+(?:\w+\s+)?вызов\w*|\b(?:выдуман|вымышлен)\w*",
    ),
    "zh": Row(
        "",
        r"(?:一个|以下|下面|如下)[^，。,]{0,6}?(?:示例|例子|样例)|(?:是|为|一份|一个)[^，。,]{0,4}草稿|^\W*草稿\W*\Z|示意|例如|比如|举个例子|举例|譬如|假设|假如"
        r"|(?:练习|习题|作业|第[\d一二三四五六七八九十]+题)\s*[\d一二三四五六七八九十]?[:：、]|(?:请写出|写出)[^。]{0,12}调用|虚构|编造|杜撰",
    ),
    "ja": Row(
        "",
        r"見本|下書き(?:です|の(?:呼び出し|例)|\W*\Z)|例えば|たとえば|の一?例(?:です|は)|これは例|以下(?:は|に)(?:例|サンプル)|例を|例として|仮に"
        r"|(?:練習|設問|課題|問題?)\s*[\d一二三四五六七八九十]|書きなさい|答えなさい|記述せよ|架空|ダミー",
    ),
    "ko": Row("", r"(?:문제|연습|과제)\s*\d|쓰시오|작성하시오|예를\s*(?:들|보)|예시|예컨대|의\s*예입니다|샘플\s*호출|가령"),
}
REPORT: dict[str, Row] = {
    "en": Row(
        "cont show say says said read wrot writ reco logg quot emit prod gene prin answ repl past had list docu retu resp sent send some outp acco stri text line payl inpu cont turn type post past subm e emai inje ran sent",
        r"\b(?:log|logs|tests?|parser|files|pages|messages|file|page|attachment|e-?mail|mail|message|document|doc|docs|readme|user|model|assistant|agent|bot|transcript|prompt|line|test|"
        r"config|configuration|ticket|issue|trace|dump|record|snippet|article|tutorial|manual|guide|changelog|commit|diff|database|entry|comment|he|she|they|you|it)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contain(?:s|ed)?|show(?:s|ed)?|says?|said|reads?|wrote|writes?|records?|recorded|logged|quotes?|quoted|emitted|produced|generated|"
        r"printed|answered|replied|pasted|had|listed|documents?|documented|returns|returned|responds|responded|sent|sends|turned)\b(?:\W+(?:this|that|so|it|as|follows|the|following|in|into|to|its|an?|answer|reply|response|log|line|text|string|call|message)){0,4}\W*\Z"
        r"|\b(?:the|an?|some|one|another)\s+(?:(?!(?:is|was|are|were|be|been|has|have|had|gets?|got)\b)\w+\s+){1,2}(?:wrote|typed|posted|pasted|submitted|e-?mailed|injected|ran|sent)\W*\Z"
        r"|\b(?:someone|somebody)\b(?:\W+\w+){0,8}\W*\Z|\bwhat\b[^,;]*\b(?:wrote|said|sent|produced|printed|emitted|returned|answered)\s+(?:was|is)\W*\Z"
        r"|\A\W*(?:the\s+)?(?:output|reply|response|answer)\s+(?:of|by)\b[^,;]*\Z|\baccording\s+to\s+(?:the|this|that|your)\s+(?:\w+\s+)?(?:logs?|docs|documentation|manual|file|trace)\W*\Z"
        r"|\bthe\s+(?:string|text|line|payload|input|content)\b(?:\s+\w+){0,4}\s+(?:is|was|reads)\W*\Z",
    ),
    "de": Row(
        "jema steh stan enth zeig sagt schr laut schi lief gesc abge eing geme scre ausg antw nach was",
        r"\bjemand\b|\bwas\b[^;]*\b(?:schrieb|sagte|schickte|ausgab)\W+(?:war|ist)\W*\Z|\blaut\s+(?:\w+\s+)?(?:protokoll|log|datei|doku|dokumentation|handbuch)\W*\Z"
        r"|\A\W*(?:die\s+)?(?:ausgabe|antwort|nachricht)\s+(?:des|der|vom|von)\b[^,;]*\Z"
        r"|\b(?:protokoll|log|doku|datei|seite|dokument\w*|nutzer\w*|benutzer\w*|modell|assistent\w*|nachricht|mail|e-mail|zeile|eintrag|anhang|handbuch|student\w*|schüler\w*|screenshot\w*|forum|kunde\w*|kundin|kolleg\w*)\b"
        r"(?:\W+\w+){0,6}?\W+(?:steht|stand|enthält|enthielt|zeigt\w*|sagt\w*|schrieb\w*|schreibt|lautet\w*|schickte|lieferte?|liefert|geschrieben|abgegeben|geschickt|eingereicht|gemeldet)(?:\W+(?:so|das|dies|folgendes|wie|folgt)){0,2}\W*\Z",
    ),
    "fr": Row(
        "selo aprè quel cont mont dit disa indi affi écri répo décl selo lit trou voit étai est",
        r"\bquelqu['’]un\b|\b(?:selon|d['’]après)\s+(?:le|la)\s+(?:journal|log|documentation|fichier|manuel|guide)\W*\Z|\bon\s+(?:y\s+)?(?:lit|trouve|voit)\W*\Z|\bce\s+qu\W*[^,;]*\b(?:écrit|dit|envoyé|répondu)\s+(?:était|est)\W*\Z"
        r"|\b(?:journal|fichier|page|document\w*|utilisateur|modèle|assistant|message|ligne|courriel|e-mail|mail|pièce\s+jointe|elle|il)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contient|contenait|montre|dit|disait|indique|affiche|déclare|écrit|écrivait|répondu)(?:\W+(?:ceci|cela|ainsi)){0,1}\W*\Z",
    ),
    "es": Row(
        "algu cont mues dice decí indi escr resp apar conv solt entr segú lee fue era es",
        r"\balguien\b|\bsegún\s+(?:el|la)\s+(?:registro|log|documentación|archivo)\W*\Z|\bse\s+lee\W*\Z|\blo\s+que\b[^;]*\b(?:escribió|dijo|envió|respondió)\b[^;]*\b(?:fue|era|es)\W*\Z"
        r"|\b(?:registro|archivo|fichero|página|documento|documentación|usuario|modelo|asistente|mensaje|línea|correo|log)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contiene|contenía|muestra|dice|decía|indica|escribió|respondió|aparece|convierte\s+en|soltó|entregó)(?:\W+(?:esto|así|lo|siguiente)){0,2}\W*\Z",
    ),
    "ru": Row(
        "кто соде пока гово напи запи отве возв верн прис стои было была был есть указ согл",
        r"\bкто-то\b|\bсогласно\s+(?:логу|логам|журналу|документации)\W*\Z|\b(?:лог\w*|журнал\w*|файл\w*|страниц\w*|документ\w*|пользовател\w*|модел\w*|ассистент\w*|сообщени\w*|строк\w*|письм\w*)\b"
        r"(?:\W+\w+){0,6}?\W+(?:содерж\w+|показыва\w+|говорит\w*|написа\w+|указан\w*|записан\w*|ответил\w*|возвраща\w+|вернул\w*|прислал\w*|стоит|было|была|был|есть)(?:\W+(?:это|так|вот|что|следующее)){0,2}\W*\Z",
    ),
    "pt": Row(
        "algu cont most diz diss indi escr resp apar conv solt entr segu lê foi era envi",
        r"\balguém\b|\bsegundo\s+[oa]\s+(?:registro|log|documentação|arquivo)\W*\Z|\blê-se\W*\Z|\bo\s+que\b[^;]*\b(?:escreveu|disse|enviou|respondeu)\s+(?:foi|era|é)\W*\Z"
        r"|\b(?:registro|registo|arquivo|ficheiro|página|documento|documentação|usuário|"
        r"utilizador|modelo|assistente|mensagem|linha|e-mail|log)\b(?:\W+\w+){0,6}?\W+(?:contém|continha|mostra|diz|disse|indica|escreveu|respondeu|aparece)(?:\W+(?:isto|isso|assim|o|seguinte|est[ea]|ess[ea]|um|uma|bloco|trecho|comando|chamada|texto)){0,3}\W*\Z",
    ),
    "it": Row(
        "qual cont most dice indi scri risp comp seco legg era",
        r"\bqualcuno\b|\bsecondo\s+(?:il|la)\s+(?:registro|log|documentazione|file)\W*\Z|\bsi\s+legge\W*\Z|\b(?:quello|ciò)\s+che\b[^;]*\b(?:scritto|detto|inviato|risposto)\s+(?:era|è)\W*\Z"
        r"|\b(?:registro|file|pagina|documento|documentazione|utente|modello|assistente|"
        r"messaggio|riga|e-mail|mail|log)\b(?:\W+\w+){0,6}?\W+(?:contiene|conteneva|mostra|dice|diceva|indica|scrive|scritto|rispose|risposto|compare)(?:\W+(?:questo|così|quanto|segue)){0,2}\W*\Z",
    ),
    "zh": Row(
        "",
        r"(?<!没)有人|当时|(?:根据|按照)(?:日志|记录|文档)|(?:助手|模型)[^，。,]{0,6}(?:写|输出|发)的(?:是|内容)|(?:日志|文件|页面|网页|网站|文档|用户|模型|助手|消息|邮件|附件|记录|手册)[^，。,]{0,16}(?:写着|写道|显示|包含|说|记录|输出|里有|中有|是这样|如下|藏着|藏了|有一[句段行])|模型[^，。,]{0,12}(?:用|写成|输出)|[A-Za-z][\w.-]*\s*(?:用|使用|写成|会写)",
    ),
    "ja": Row(
        "",
        r"ログによる?と|(?:ログ|ファイル|ページ|文書|ドキュメント|ユーザー|モデル|アシスタント|メッセージ|メール)[^。、]{0,16}(?:書かれ|書き|書い|表示|含ま|記録|こうあり)",
    ),
    "ko": Row(
        "",
        r"누군가|로그에\s*따르면|(?:로그|파일|페이지|문서|사용자|모델|어시스턴트|메시지|메일)[^.,]{0,16}(?:적혀|표시|포함|기록|보냈|되어\s*있|있습니다|있다|나와|썼|쓴\s*것|작성한)",
    ),
}
POSSIBLE: dict[str, Row] = {
    "en": Row(
        "d woul coul migh may shou if want shal copy past type ente",
        r"\b(?:I|we|you|one|it|they|he|she|that|this|which|someone)(?:['’]d\b|\s+(?:would|could|might|may)\b)(?!\s+(?:like|love|need|prefer)\b)(?:\s+\w+){0,3}?\W*(?:\w+\W+){0,9}\W*\Z|\bwould\s+(?!(?:like|love|need|prefer)\b)\w+(?:\s+\w+){0,2}\W*\Z|\bshould\s+(?:I|we)\b|\b(?:could|might)\s+(?:\w+\s+){0,2}?(?:write|say|send|emit|output|produce|contain)\W*(?:\w+\W*){0,2}\Z"
        r"|(?<!\bI\s)\b(?:copy|paste|type|enter)\s+(?:this|that|it|the\s+following)\b[^,;]*\Z|\bif\s+(?:you|I|we)\b[^,:]*\Z|\bdo\s+you\s+want\s+me\b|\bshall\s+I\b"
        r"|\b(?:I|we)(?:['’]d|\s+would)\s+(?:\w+\s+)?(?:drop|remove|delete|replace|skip|avoid|change|move|rename|rewrite|put|keep)\b",
    ),
    "de": Row(
        "würd könn soll", r"(?<!\bals\s)\b(?:würde|würdest|könnte|könnten|könntest|würden|soll\s+ich|sollte\s+ich|sollen\s+wir)\b"
    ),
    "fr": Row(
        "dois voul souh sera pour devr appe fera enve écri util lanc exéc supp donn ress",
        r"\b(?:pourriez|pourrions|dois-je|voulez-vous|souhaitez-vous|"
        r"(?:pour|dev|se|fe|appelle|enver|écri|utilise|lance|exécute|supprime|donne|ressemble)rai(?:s|t|ent))\b",
    ),
    "es": Row(
        "podr harí llam serí debe quie usar envi ejec escr util mand pond",
        r"\b(?:podría\w*|(?:har|ser|deber|llamar|usar|enviar|ejecutar|escribir|utilizar|mandar|pondr)ía(?:n|s|mos)?|quieres\s+que)\b",
    ),
    "ru": Row("бы если могл мог можн стои", r"\b(?:бы|если|могли?\s+бы|мог\s+бы|можно|стоит\s+ли)\b"),
    "pt": Row(
        "pode deve seri fari cham quer quis usar envi exec escr util mand",
        r"\b(?:(?:poder|dever|ser|far|chamar|usar|enviar|executar|escrever|utilizar|mandar)ia(?:m|s|mos)?|quer\s+que|quiser)\b",
    ),
    "it": Row(
        "potr dovr sare fare chia vuoi vuol desi user invi eseg scri util mand",
        r"\b(?:potre\w+|dovre\w+|sarebbe|(?:far|chiamer|user|invier|eseguir|scriver|utilizzer|mander)(?:ei|ebbe(?:ro)?)|vuoi\s+che|vuole\s+che|desidera\s+che)\b",
    ),
    "zh": Row(
        "",
        r"如果|要是|大概会|可以(?:调用|使用|这样|用|写)|(?<!告诉.)(?<!知道|决定|判断|看看|确定|考虑)(?:要不要|是否(?:要|需要))|要我|会是这样|将会是|本来(?:要|会)|需要我",
    ),
    "ja": Row("", r"できます|でしょうか|ますか"),
    "ko": Row("", r"할까요|드릴까요|만약"),
}
"""What might be done, or is asked about."""
