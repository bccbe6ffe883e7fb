"""The phrases of lead-ins, as regular expressions: a row a language.

`core.lead_ins` says what each table means. A phrase is added here when real replies show that it is needed; it should say what it
says wherever it stands in a sentence, for it is sought in the last sentence before a call and nowhere else.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "ANNOUNCEMENT",
    "BY_THE_SPEAKER",
    "EXAMPLE",
    "FORM",
    "LABEL",
    "LABEL_ANCHORS",
    "POSSIBLE",
    "PROHIBITION",
    "REFUSAL",
    "REPORT",
    "SHOWING",
    "Row",
]


class Row(NamedTuple):
    """Phrases of one language. `anchors`: the first four letters of words of which every phrase holds one, so that most sentences
    cost a look-up and no search; none for languages that write words together."""

    anchors: str
    pattern: str


PROHIBITION: dict[str, Row] = {
    "en": Row(
        "not don dont neve must shou avoi refr refu",
        r"\b(?:do\s+not|don['’]?t|never|must(?:\s+not|n['’]t)|should(?:\s+not|n['’]t)|not\s+(?:(?:meant|supposed|intended)\s+)?to(?:\s+be)?|"
        r"avoid|refrain\s+from|refuse\s+to)\b(?:\W+\w+){0,3}?\W+"
        r"(?:run|execut|call|us(?:e|ing)\b|writ|emit|cop[yi]|send|invok|paste|issu|repeat|output|trigger)",
    ),
    "de": Row(
        "nich niem nie kein",
        r"\b(?:nicht|niemals|nie|keinesfalls)\b(?:\W+\w+){0,4}?\W+(?:ausführ|ausgeführ|aufruf|aufgeruf|benutz|verwend|kopier|send|abschick|nutz)"
        r"|\b(?:führ|ruf|verwende|benutze|kopiere|sende|schick)\w*\b(?:\W+(?!(?:ich|wir)\b)\w+){0,6}?\W+(?:nicht|niemals|nie)\b",
    ),
    "fr": Row(
        "ne n pas jama sans",
        r"\b(?:ne\s+|n['’])(?:\w+\s+)?(?:(?:jamais|pas)\s+)?(?:l['’])?(?:exécut|appel|lanc|utilis|copi|envoy|écri)\w*(?:\s+\w+){0,2}"
        r"|\bne\s+(?:pas|jamais)\s+\w+|\bsans\s+(?:l['’])?(?:exécuter|appeler|lancer)",
    ),
    "es": Row(
        "no nunc jamá",
        r"\b(?:no|nunca|jamás)\s+(?:se\s+|lo\s+|la\s+|debe(?:s|n)?\s+|hay\s+que\s+)*(?:ejecut|llam|us[ae]|invo[cq]|copi|escrib|enví|envi|lanc)(?!\w*(?:(?<!l)o|amos|imos|aré|iré)\b)\w*",
    ),
    "pt": Row(
        "não nunc", r"\b(?:não|nunca)\s+(?:se\s+|o\s+|a\s+)?(?:execut|cham|us[ae]|invo[cq]|copi|envi)(?!\w*(?:o|amos|arei)\b)\w*"
    ),
    "it": Row(
        "non mai", r"\b(?:non|mai)\s+(?:lo\s+|la\s+)?(?:esegu|chiam|us[ai]|invoc|copi|invi)(?!\w*(?:(?<!l)o|erò|irò)\b)\w*"
    ),
    "ru": Row(
        "не нико",
        r"\b(?:не|никогда\s+не)\s+(?:(?!(?:буду|будем|стану|хочу|могу|можем)\b)\w+\s+)?(?!\w+(?:ю|ем)\b)(?:выполня|выполни|запуска|запусти|вызыва|вызови|используй|использовать|копиру|отправля)\w*",
    ),
    "zh": Row("", r"(?:不要|请勿|切勿|别|不得|禁止|勿|不能|不可|不应)[^，。,;；]{0,8}?(?:执行|调用|运行|使用|复制|发送|触发)"),
    "ja": Row("", r"(?:実行|呼び出|呼ば|使用|使わ|コピー|送信)\w*?(?:しないで|さないで|ないで|てはいけ|しては|禁止)"),
    "ko": Row("", r"(?:실행|호출|사용|복사|전송)\w*?\s*(?:하지\s*마|금지|하면\s*안)"),
}
BY_THE_SPEAKER: dict[str, str] = {
    "en": r"\b(?:I|we)(?:['’](?:m|re|ve))?\b(?:[^\w,;:.!?]+\w+){0,4}?[^\w,;:.!?]*\Z",
    "de": r"\b(?:ich|wir)\b(?:[^\w,;:.!?]+\w+){0,4}?[^\w,;:.!?]*\Z",
    "fr": r"\b(?:je|nous|j['’])\W*(?:\w+\W+){0,3}\Z",
    "es": r"\b(?:yo|nosotros|puedo|podemos)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z",
    "pt": r"\b(?:eu|nós|posso|podemos)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z",
    "it": r"\b(?:io|noi|posso|possiamo)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z",
    "zh": r"(?:我|我们)[^，。,]{0,6}\Z",
    "ru": r"\b(?:я|мы)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z",
}
"""The subject of a negation that forbids the reader nothing: `I don't use the cache, so:`."""
REFUSAL: dict[str, Row] = {
    "en": Row(
        "not neve won woul didn have must aren",
        r"\b(?:I|we)(?:\s+(?:will|would|did|have|must|am|are)\s+(?:not|never)|['’](?:ll|d|ve|m|re)\s+(?:not|never)|"
        r"\s+(?:won|wouldn|didn|haven|mustn|aren)['’]t)(?:\s+(?:be|been|going|to|yet|actually|just))*"
        r"\s+(?:run|ran|execut|call|us(?:e|ing)\b|writ|emit|copy)\w*\s+(?:it|this|that|them|these|those|(?:the|any|such\s+a)\s+(?:tool|function|command|call))\b",
    ),
    "de": Row(
        "nich nie niem kein",
        r"\b(?:ich|wir)\s(?:[^,;]*\s)?(?:das|dies\w*|es|ihn|sie)\s(?:[^,;]*\s)?(?:nicht|nie|niemals|keinesfalls)\s(?:[^,;]*\s)?"
        r"(?:auszuführ|ausführ|aufzuruf|aufruf|benutz|verwend|kopier)"
        r"|\b(?:(?:ich|wir)\s(?:führe|führen|rufe|rufen)|(?:führe|führen|rufe|rufen)\s(?:ich|wir))\s(?:[^,;]*\s)?"
        r"(?:nicht|nie|niemals|keinesfalls)\s(?:[^,;]*\s)?(?:aus|auf)\b",
    ),
    "fr": Row(
        "pas jama",
        r"\b(?:je|nous)\s+(?:ne\s+|n['’])(?=[^,;]*\b(?:l['’]|les\b|ceci\b|cela\b|ça\b|cet\s+appel))(?=[^,;]*\b(?:pas|jamais)\b)"
        r"[^,;]*(?:exécut|appel|lanc|utilis|copi|écri)\w*",
    ),
    "es": Row(
        "no",
        r"\bno\s+(?:(?:lo|la)\s+(?:voy|vamos|he|hemos)\b[^,;]*\b(?:ejecut|llam|us|invo[cq]|copi|escri)\w*|(?:voy|vamos|pienso|debo)\b[^,;]*\b(?:ejecut|llam|us|invoc|copi|escrib)\w*?(?:lo|la)\b"
        r"|(?:voy|vamos|pienso|debo)\b[^,;]*\b(?:ejecutar|llamar|usar|invocar|copiar|escribir)\s+(?:eso|esto|esta|la\s+(?:función|herramienta|llamada))\b)",
    ),
    "ru": Row(
        "не",
        r"\b(?:я|мы)\s+(?:это\s+|его\s+|её\s+)?не\s+(?:буду\s+|будем\s+|стану\s+)?(?:это\s+|его\s+|её\s+)?(?:выполн|запус|вызыв|вызов|использ|копир)\w*",
    ),
    "pt": Row(
        "não",
        r"\bnão\s+(?:vou|vamos|devo|posso)\s+[^,;]*\b(?:execut|cham|us|invo[cq]|copi|escrev)\w*\s*(?:isto|isso|-l?[oa]\b|a\s+(?:função|ferramenta))",
    ),
    "it": Row(
        "non",
        r"\bnon\s+(?:lo|la)\s+(?:eseguirò|chiamerò|userò|copierò)\b|\bnon\s+(?:eseguirò|chiamerò|userò)\s+(?:questo|questa|ciò)\b|\bnon\s+(?:voglio|intendo|devo|posso)\s+(?:esegui|chiama|usa)r(?:lo|la)\b",
    ),
    "zh": Row(
        "", r"(?:我|我们)(?:不会|不能|没有|并未|并没有|拒绝|不想|还没)(?:去)?(?:执行|调用|运行|使用|复制)(?:它|这|该|此|那)"
    ),
    "ja": Row("", r"(?:これ|それ|この|その)[^、。]{0,12}?(?:は|を)?(?:実行|呼び出|使用)\w{0,2}(?:しません|ません|せずに)"),
    "ko": Row("", r"(?:이|그|이것|그것)\S*[^,.]{0,12}?(?:실행|호출|사용|복사)하지\s*않(?:겠습니다|을게요|습니다)"),
}
"""The speaker says that the call shown is not made: whoever writes it all the same is asked."""
ANNOUNCEMENT: dict[str, str] = {
    "en": r"\b(?:I['’]ll|I\s+(?:will|shall|need\s+to|am\s+going\s+to|can|have\s+to|must|should)|I['’]m\s+(?:going\s+to\b|\w+ing\b)|"
    r"I\s+am\s+\w+ing\b|let\s+me|let['’]s|let\s+us|we['’]ll|we\s+(?:will|need\s+to)|allow\s+me|time\s+to)\b(?P<en>(?:\W+\w+){0,4})",
    "de": r"\b(?:ich\s+(?:werde\b|muss\b|will\b|möchte\b|(?!hab|hatt|würd|könnt|wollt|sollt|müsst)\w+e\b)|lass(?:en\s+Sie)?\s+(?:mich|uns)|dazu\s+\w+e\s+ich|\w+e\s+ich)\b(?P<de>(?:\W+\w+){0,8})",
    "fr": r"\b(?:je\s+(?:vais|dois|(?!\w*(?:rai[st]|ais)\b)\w+(?:e|s)\b)|laissez?-moi|permettez-moi|allons)\b(?P<fr>(?:\W+\w+){0,4})",
    "es": r"\b(?:voy\s+a|vamos\s+a|déjame|déjeme|permíteme|permítame|necesito|tengo\s+que|debo)\b(?P<es>(?:\W+\w+){0,4})",
    "pt": r"\b(?:vou|vamos|deixe-me|preciso)\b(?P<pt>(?:\W+\w+){0,4})",
    "it": r"\b(?:vado\s+a|lasciami|fammi|devo|sto\s+per)\b(?P<it>(?:\W+\w+){0,4})",
    "ru": r"\b(?:сейчас\s+(?:\w+)|я\s+\w+(?:ю|у|м)\b|давайте\b|позвольте\b|\w+(?:ю|лю|жу|чу|шу)\b)(?P<ru>(?:\W+\w+){0,4})",
    "zh": r"(?:我来|我将|让我|我会|我要|我先|我现在|我去|我马上|我需要|我帮)(?P<zh>[^，。,]{0,12})",
    "ja": r"(?P<ja>[^。、]{0,24})(?:します|てみます|ましょう)",
    "ko": r"(?P<ko>[^.,]{0,24})(?:겠습니다|할게요|볼게요)",
}
SHOWING = re.compile(
    r"\b(?:show|give|explain|illustrat|describ|writ|demonstrat|quot|walk|sketch|outlin|point\s+out|wait|ask\b|grade|correct|translat|summari[sz]|"
    r"zeig|erklär|beschreib|erläuter|veranschaulich|skizzier|montr|expliqu|décri|illustr|donn|present|"
    r"mostr|muestr|explic|describ|ilustr|ejemplific|покаж|показ|объясн|опи[сш]|привед|приведу|продемонстр)"
    r"|\b(?:wart|frag|attend|esper|pregunt|demand|корректир|жд)|展示|说明|解释|举|演示|介绍|描述|示す|説明|紹介|示し|出力|挙げ|書き|確認させ|お待ち|보여|설명",
    re.IGNORECASE,
)
"""Verbs of an announcement that announces no call."""
LABEL_ANCHORS = "exam samp usag synt form docs docu doku temp sche beis aufb vorl verw exem modè util ejem sint plan uso esem prim прим синт форм доку шабл испо"
LABEL = re.compile(
    r"\W*(?:(?:an?|the|from\s+the|ein|eine|das|die|der|aus\s+der|un|une|le|la|el|del?)\s+)*"
    r"(?:examples?(?:\s+(?:call|usage|output|reply|response|format))?|sample(?:\s+(?:call|output|reply|response))?|usage|syntax|format|docs|"
    r"documentation|template|schema|"
    r"beispiele?|beispielaufruf|dokumentation|aufbau|syntax|format|vorlage|verwendung|"
    r"exemples?|syntaxe|modèle|utilisation|ejemplos?|sintaxis|formato|plantilla|uso|documentación|exemplos?|sintaxe|esempi?o?|sintassi|"
    r"(?:good|bad|gut|schlecht|bon|mauvais|bueno|malo)e?s?\s+(?:call|example|beispiel|exemple|ejemplo)s?|примеры?|пример\s+вызова|синтаксис|формат|документация|шаблон|использование|"
    r"示例|例子|样例|格式|语法|文档|用法|模板|例|使用例|構文|形式|書式|サンプル|예시?|형식|문법|悪い例|良い例|正しい例|誤った例|好的例子|坏的例子|正确示例|错误示例)(?:\s?[(（][^()（）]{0,40}[)）])?\W*\Z",
    re.IGNORECASE,
)
FORM: dict[str, Row] = {
    "en": Row(
        "like writ spel form enco seri repr synt stru temp shap nota",
        r"\blooks?\s+(?:\w+\s+){0,2}?like\b|\b(?:is|are|be|gets?)\s+(?:\w+\s+)?(?:written|spelled|spelt|formatted|encoded|serialized|serialised|represented)\b"
        r"|\bcall(?:ed)?\s+(?:it|them|\w+)\s+like\b|\blike\s+so\b|\blike(?:\s+this)?:\W*\Z|\bthe\s+(?:\w+\s+){0,2}?(?:syntax|format|structure)\b[^.]*\b(?:is|are)\W*\Z"
        r"|\bin\s+(?:this|the\s+following)\s+(?:form|format|syntax|notation|shape)\W*\Z|\bhere(?:['’]s|\s+is)\s+(?:the|its?)\s+(?:\w+\s+)?(?:syntax|template)\b|\bhow\s+(?:\w+\s+){1,4}(?:writes?|spells?|formats?|encodes?)\b",
    ),
    "de": Row(
        "sieh sähe schr gesc laut form folg",
        r"\bsieht\b[^.]{0,80}\baus\b|\bsieh[t]?\s+so\b|\bsähe\b[^.]{0,80}\baus\b|\bso\s+sieht\b|\bschreibt\s+(?:man|sich)\b|\bgeschrieben\b|\blautet\s+(?:die|das)\s+(?:syntax|format)\b|\bin\s+dieser\s+form\b|\bwie\s+folgt\s+aufgebaut\b",
    ),
    "fr": Row(
        "ress écri form synt pren",
        r"\bressembl\w+|\bs['’]écri\w+|\ba\s+la\s+forme\b|\bla\s+syntaxe\s+est\b|\ble\s+format\s+est\b|\bsous\s+(?:cette|la)\s+forme\b|\bprend\s+la\s+forme\b",
    ),
    "es": Row(
        "ve verí escr form sint así qued luce",
        r"\bse\s+ve(?:ría)?\b|\bse\s+escrib\w+|\btiene\s+(?:esta|la\s+siguiente)\s+forma\b|\b(?:la\s+sintaxis|el\s+formato)\s+es\b|\basí\s+se\s+ve\b|\bqueda(?:ría)?\s+así\b|\bluce\s+así\b",
    ),
    "pt": Row("pare escr fica form", r"\bse\s+parece\b|\bescreve-se\b|\bfica\s+assim\b|\btem\s+(?:esta|a\s+seguinte)\s+forma\b"),
    "it": Row("scri form appa", r"\bsi\s+scrive\b|\bha\s+questa\s+forma\b|\bappare\s+così\b"),
    "ru": Row(
        "выгл запи пише вид виде синт форм",
        r"\bвыгляд\w+|\bзаписыва\w+|\bпишется\b|\bимеет\s+(?:такой\s+)?вид\b|\bв\s+таком\s+виде\b|\bсинтаксис\s+так\w+|\bв\s+(?:следующем|таком)\s+формате\b",
    ),
    "zh": Row("", r"格式如下|格式为|格式是|形如|写法|语法如下|语法是|写成|长这样|如下所示的格式|的形式|看起来(?:是|像)|样子"),
    "ja": Row("", r"のように書|次のような(?:形|文字列|出力|テキスト)|形式は|構文は|のような形|と書き|のようになります"),
    "ko": Row("", r"형식은|다음과\s*같은\s*형식|이렇게\s*생겼|처럼\s*씁"),
}
EXAMPLE: dict[str, Row] = {
    "en": Row(
        "exam inst supp imag hypo cons take g draf illu solu",
        r"\bfor\s+(?:example|instance)\b|\be\.\s?g\.|\b(?:here|this|that|below|following)(?:['’]s|\s+is|\s+are)?\s+(?:\w+\s+){0,3}?examples?\b|\ban?\s+(?:\w+\s+){0,2}?example\b|\bsuppose\b|\bconsider\b|\btake\s+(?:this|the\s+following)\b|\bimagine\b|\bhypothetical\w*|\ba\s+draft\b|\bdraft\s+of\b|\billustrat\w+|\bsolution\b",
    ),
    "de": Row(
        "beis ange etwa b entw illu lösu must",
        r"\bzum\s+beispiel\b|\bz\.\s?B\.|\bbeispielsweise\b|\b(?:ein|folgendes|dieses)\s+(?:\w+\s+)?beispiel\b|\betwa\s+so\b|\bangenommen\b|\bentwurf\b|\billustration\b|\b(?:muster)?lösung\b",
    ),
    "fr": Row(
        "exem supp imag pren cons ex illu brou fict solu",
        r"\bprenons\b|\bconsidérons\b|\bpar\s+exemple\b|\b(?:(?:un|cet)\s+|l['’])exemple\b|\bp\.\s?ex\.|\bsupposons\b|\bimaginons\b|\billustration\b|\bbrouillon\b|\bficti\w+|\bsolution\b",
    ),
    "es": Row(
        "ejem supo imag ej borr solu ilus",
        r"\bpor\s+ejemplo\b|\b(?:un|este|el\s+siguiente)\s+ejemplo\b|\bp\.\s?ej\.|\bsupongamos\b|\bimagina\b|\bborrador\b|\bsolución\b|\bilustraci\w+",
    ),
    "pt": Row("exem", r"\bpor\s+exemplo\b|\bum\s+exemplo\b"),
    "it": Row("esem", r"\b(?:per|ad)\s+esempio\b|\bun\s+esempio\b"),
    "ru": Row("напр прим допу пред", r"\bнапример\b|\bпример\w*|\bк\s+примеру\b|\bдопустим\b|\bпредположим\b"),
    "zh": Row("", r"草稿|示意|例如|比如|举个例子|举例|譬如|假设|假如"),
    "ja": Row("", r"見本|下書き|例えば|たとえば|の例です|例を|例として|仮に"),
    "ko": Row("", r"예를\s*들|예시|가령"),
}
REPORT: dict[str, Row] = {
    "en": Row(
        "cont show say says said read wrot writ reco logg quot emit prod gene prin answ repl past had list docu retu resp sent send some",
        r"\b(?:log|logs|file|page|attachment|e-?mail|mail|message|document|doc|docs|readme|user|model|assistant|agent|bot|transcript|prompt|line|test|"
        r"config|configuration|ticket|issue|trace|dump|record|snippet|article|tutorial|manual|guide|changelog|commit|diff|database|entry|comment|he|she|they|you|it)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contain(?:s|ed)?|show(?:s|ed)?|says?|said|reads?|wrote|writes?|records?|recorded|logged|quotes?|quoted|emitted|produced|generated|"
        r"printed|answered|replied|pasted|had|listed|documents?|documented|returns|returned|responds|responded|sent|sends)\b(?:\W+(?:this|that|so|it|as|follows|the|following|in|to|its|an?|answer|reply|response|log)){0,4}\W*\Z"
        r"|\b(?:someone|somebody)\b(?:\W+\w+){0,8}\W*\Z",
    ),
    "de": Row(
        "jema steh stan enth zeig sagt schr laut schi lief gesc abge eing geme screens scre sagt",
        r"\bjemand\b|\b(?:protokoll|log|datei|seite|dokument\w*|nutzer\w*|benutzer\w*|modell|assistent\w*|nachricht|mail|e-mail|zeile|eintrag|anhang|handbuch|student\w*|schüler\w*|screenshot\w*|forum|kunde\w*|kundin|kolleg\w*)\b"
        r"(?:\W+\w+){0,6}?\W+(?:steht|stand|enthält|enthielt|zeigt\w*|sagt\w*|schrieb\w*|schreibt|lautet\w*|schickte|lieferte?|liefert|geschrieben|abgegeben|geschickt|eingereicht|gemeldet)(?:\W+(?:so|das|dies|folgendes|wie|folgt)){0,2}\W*\Z",
    ),
    "fr": Row(
        "quel cont mont dit disa indi affi écri répo décl",
        r"\bquelqu['’]un\b|\b(?:journal|fichier|page|document\w*|utilisateur|modèle|assistant|message|ligne|courriel|e-mail|mail|pièce\s+jointe|elle|il)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contient|contenait|montre|dit|disait|indique|affiche|déclare|écrit|écrivait|répondu)(?:\W+(?:ceci|cela|ainsi)){0,1}\W*\Z",
    ),
    "es": Row(
        "algu cont mues dice decí indi escr resp apar conv solt entr",
        r"\balguien\b|\b(?:registro|archivo|fichero|página|documento|documentación|usuario|modelo|asistente|mensaje|línea|correo|log)\b"
        r"(?:\W+\w+){0,6}?\W+(?:contiene|contenía|muestra|dice|decía|indica|escribió|respondió|aparece|convierte\s+en|soltó|entregó)(?:\W+(?:esto|así|lo|siguiente)){0,2}\W*\Z",
    ),
    "ru": Row(
        "кто соде пока гово напи запи отве возв верн прис стои было была был есть",
        r"\bкто-то\b|\b(?:лог\w*|журнал\w*|файл\w*|страниц\w*|документ\w*|пользовател\w*|модел\w*|ассистент\w*|сообщени\w*|строк\w*|письм\w*)\b"
        r"(?:\W+\w+){0,6}?\W+(?:содерж\w+|показыва\w+|говорит\w*|написал\w*|записан\w*|ответил\w*|возвраща\w+|вернул\w*|прислал\w*|стоит|было|была|был|есть)(?:\W+(?:это|так|следующее)){0,1}\W*\Z",
    ),
    "pt": Row(
        "algu cont most diz diss indi escr resp apar conv solt entr",
        r"\balguém\b|\b(?:registro|registo|arquivo|ficheiro|página|documento|documentação|usuário|"
        r"utilizador|modelo|assistente|mensagem|linha|e-mail|log)\b(?:\W+\w+){0,6}?\W+(?:contém|continha|mostra|diz|disse|indica|escreveu|respondeu|aparece)(?:\W+(?:isto|isso|assim)){0,1}\W*\Z",
    ),
    "it": Row(
        "qual cont most dice indi scri risp comp",
        r"\bqualcuno\b|\b(?:registro|file|pagina|documento|documentazione|utente|modello|assistente|"
        r"messaggio|riga|e-mail|mail|log)\b(?:\W+\w+){0,6}?\W+(?:contiene|conteneva|mostra|dice|diceva|indica|scrive|scritto|rispose|risposto|compare)(?:\W+(?:questo|così)){0,1}\W*\Z",
    ),
    "zh": Row(
        "",
        r"有人|当时|(?:日志|文件|页面|文档|用户|模型|助手|消息|邮件|附件|记录|手册)[^，。,]{0,16}(?:写着|写道|显示|包含|说|记录|输出|里有|中有|是这样|如下)|模型[^，。,]{0,12}(?:用|写成|输出)|[A-Za-z][\w.-]*\s*(?:用|使用|写成|会写)",
    ),
    "ja": Row(
        "",
        r"(?:ログ|ファイル|ページ|文書|ユーザー|モデル|メッセージ|メール)[^。、]{0,16}(?:書かれ|表示|含ま|記録)",
    ),
    "ko": Row("", r"누군가|(?:로그|파일|페이지|문서|사용자|모델|메시지|메일)[^.,]{0,16}(?:적혀|표시|포함|기록|보냈)"),
}
POSSIBLE: dict[str, Row] = {
    "en": Row(
        "d woul coul migh may shou if want shal",
        r"\b(?:I|we|you|one|it|they|he|she|that|this|which|someone)(?:['’]d\b|\s+(?:would|could|might|may)\b)(?!\s+(?:like|love|need|prefer)\b)(?:\s+\w+){0,3}?\W*(?:\w+\W+){0,5}\W*\Z|\bshould\s+(?:I|we)\b|\bif\s+(?:you|I|we)\b[^,:]*\Z|\bdo\s+you\s+want\s+me\b|\bshall\s+I\b",
    ),
    "de": Row("würd könn soll", r"\b(?:würde|würdest|könnte|könnten|könntest|würden|soll\s+ich|sollte\s+ich|sollen\s+wir)\b"),
    "fr": Row(
        "dois voul souh sera pour devr appe fera enve écri util lanc exéc supp donn ress",
        r"\b(?:pourriez|pourrions|dois-je|voulez-vous|souhaitez-vous|"
        r"(?:pour|dev|se|fe|appelle|enver|écri|utilise|lance|exécute|supprime|donne|ressemble)rai(?:s|t|ent))\b",
    ),
    "es": Row("podr harí llam serí debe quie", r"\b(?:podría\w*|haría|llamaría|sería|debería\w*|quieres\s+que)\b"),
    "ru": Row("бы если могл мог можн стои", r"\b(?:бы|если|могли?\s+бы|мог\s+бы|можно|стоит\s+ли)\b"),
    "pt": Row("pode deve seri fari cham quer quis", r"\b(?:poderia|deveria|seria|faria|chamaria|quer\s+que|quiser)\b"),
    "it": Row(
        "potr dovr sare fare chia vuoi vuol desi",
        r"\b(?:potre\w+|dovre\w+|sarebbe|farei|chiamerei|vuoi\s+che|vuole\s+che|desidera\s+che)\b",
    ),
    "zh": Row(
        "", r"如果|要是|大概会|可以(?:调用|使用|这样|用|写)|要不要|是否(?:要|需要)|要我|会是这样|将会是|本来(?:要|会)|需要我"
    ),
    "ja": Row("", r"できます|でしょうか|ますか"),
    "ko": Row("", r"할까요|드릴까요|만약"),
}
"""What might be done, or is asked about."""
