"""The phrases of statements before a call: what was run, how calls are written, which template to fill in, which version it is.

As in `trust.lead_in_words`, a row a language. Each of these sentences may also stand before a call that is meant (`That was sent
to the wrong address:`), so they make a call doubtful, in whatever form it is written, and never lose one. All are sought up to
the end of the sentence: a clause behind them (`..., so I repeat it:`) says something else.
"""

from __future__ import annotations

from llmcore.normalizer.trust.lead_in_denials import Row

__all__ = ["CONTRAST", "MANNER", "OBSOLETE", "PAST", "TEMPLATE"]

_TO_COLON = r"[^,;:：.!?]*[:：]\W*\Z"  # the full-width colon is meant
_EN = (
    r"(?:run|executed|called|invoked|sent|issued|made|used|emitted|triggered|performed|submitted|fired|dispatched|written|printed|"
    r"output|logged|typed|produced|generated)\b"
)
_DID_EN = r"(?:ran|executed|called|invoked|sent|issued|emitted|triggered|submitted|fired|dispatched|typed)\b"
_EN_AGO = r"(?:yesterday|earlier|before|previously|last\s+\w+|ago|back\s+then|at\s+the\s+time)\b"
_NOT_AGAIN_EN = r"(?![^:]*\b(?:so|now|again|once\s+more|therefore|instead|next)\b)"
_DE = (
    r"(?:ausgeführt|aufgerufen|abgesetzt|abgeschickt|gesendet|verschickt|geschickt|gestartet|ausgelöst|verwendet|benutzt|genutzt|"
    r"geschrieben|ausgegeben|protokolliert|angestoßen|getippt|eingegeben|erzeugt|gelaufen)\b"
)
_NOT_AGAIN_DE = r"(?![^:]*\b(?:jetzt|nun|also|daher|erneut|nochmals?|gleich|sofort)\b)"
_FR = r"(?:exécut|appel|lanc|envoy|ém|utilis|invoqu|déclench|écri|produi|génér|journalis|effectu)(?:é|e|i)\w*"
_ES = r"(?:ejecutad|llamad|enviad|invocad|usad|lanzad|emitid|escrit|generad|mandad|utilizad)[oa]s?\b"
_DID_ES = r"(?:(?:ejecut|llam|envi|invoc|us|lanz|gener|mand|utiliz)(?:ó|aron)|(?:emit|escrib)(?:ió|ieron))(?!\w)"
_PT = r"(?:executad|chamad|enviad|invocad|usad|lançad|emitid|escrit|gerad|utilizad|rodad)[oa]s?\b"
_DID_PT = r"(?:(?:execut|cham|envi|invoc|us|lanç|ger|utiliz|rod)(?:ou|aram)|(?:emit)(?:iu|iram))\b"
_IT = r"(?:eseguit|chiamat|inviat|invocat|usat|lanciat|emess|scritt|generat|mandat|utilizzat)[oaie]\b"
_RU = r"(?:выполнен|запущен|вызван|отправлен|использован|записан|сгенерирован|выдан|послан|исполнен)\w*"
_DID_RU = r"(?:выполнил|запустил|вызвал|отправил|использовал|послал|выполнял|запускал|вызывал|отправлял)(?:и|а|ась|ось|ись|ся)?\b"
_ZH = r"(?:执行|调用|运行|发送|触发|使用|输出|发出|写)"
_JA = r"(?:実行|呼び出|送信|使用|出力|発行|送)"
_KO = r"(?:실행|호출|전송|사용|출력|발송)"

PAST: dict[str, Row] = {
    "en": Row(
        "took made did perf carr went was were been got ran exec call invo sent issu emit trig subm fire disp type prev earl past old orig fail reje yest reco logg",
        rf"\b(?:was|were|been|got)\s+{_NOT_AGAIN_EN}(?:\w+\s+){{0,3}}?{_EN}{_TO_COLON}"
        rf"|(?<!\bI\s)(?<!\bwe\s)(?<!['’]ve\s)(?<!\bhave\s)\b{_DID_EN}{_NOT_AGAIN_EN}{_TO_COLON}"
        rf"|\b{_DID_EN}{_NOT_AGAIN_EN}(?:\W+\w+){{0,6}}?\W+{_EN_AGO}{_TO_COLON}"
        rf"|\b(?:I|we)\s+(?:\w+\s+)?(?:took|made|did|performed|carried\s+out|went\s+through)\b[^:]*?\b{_EN_AGO}{_TO_COLON}"
        rf"|\b{_EN_AGO}[^:]*\bI\s+{_DID_EN}{_NOT_AGAIN_EN}{_TO_COLON}"
        r"|\A\W*(?:(?:the|my|your|our|its|his|her|their|an?)\s+)?(?:previous|earlier|past|old|original|failed|rejected|recorded|logged|yesterday['’]s)\s+"
        r"(?:\w+\s+)?(?:call|request|command|invocation|attempt|output|reply|response|turn|message)s?\b" + _TO_COLON,
    ),
    "de": Row(
        "wurd word war ware hat habe hatt lief gest früh vorh vori alte ursp gesc fehl neul zuvo",
        rf"\b(?:wurden?|worden|war|waren)\b{_NOT_AGAIN_DE}[^,;:.]*?\b{_DE}{_TO_COLON}"
        rf"|\b{_DE}\s+(?:worden|wurden?|war|waren|hat|hatten?|haben)\b{_NOT_AGAIN_DE}{_TO_COLON}"
        rf"|(?<!\bwir\s)\b(?:hat|hatte|haben|hatten)\b{_NOT_AGAIN_DE}[^,;:.]*?\b{_DE}{_TO_COLON}|\bliefe?n?\b{_NOT_AGAIN_DE}{_TO_COLON}"
        rf"|\b(?:gestern|vorhin|früher|neulich|zuvor)\b[^:]*\b(?:habe\s+ich|haben\s+wir)\b{_NOT_AGAIN_DE}[^:]*{_DE}{_TO_COLON}"
        r"|\A\W*(?:(?:der|die|das|mein|dein|ihr|sein)e?\s+)?(?:gestrig|früher|vorherig|vorig|alt|ursprünglich|gescheitert|fehlgeschlagen)e[srn]?\s+"
        r"(?:\w+\s+)?(?:aufrufe?|anfragen?|befehle?|ausgaben?|antwort(?:en)?|versuche?)\b" + _TO_COLON,
    ),
    "fr": Row(
        "été fut fure a ont avai appe requ comm hier tout",
        rf"\bété\s+(?:\w+\s+){{0,2}}?{_FR}{_TO_COLON}|\b(?:fut|furent)\s+(?:\w+\s+)?{_FR}{_TO_COLON}"
        rf"|\b(?:a|ont|avait|avaient)\s+(?:\w+\s+)?{_FR}{_TO_COLON}|\b(?:hier|tout\s+à\s+l['’]heure)\b[^:]*\bj['’]ai\s+{_FR}{_TO_COLON}"
        r"|\b(?:appel|requête|commande)s?\s+(?:(?:précédent|initial|échoué|enregistré|rejeté|passé)e?s?|d['’]hier)\b" + _TO_COLON,
    ),
    "es": Row(
        "fue fuer sido se ejec llam envi invo usó usar lanz emit escr gene mand util peti soli ayer anoc",
        rf"\b(?:fue|fueron|sido)\s+(?:\w+\s+)?{_ES}{_TO_COLON}|\b{_DID_ES}(?![^:]*\b(?:así|ahora)\s+que\b){_TO_COLON}"
        rf"|\b(?:ayer|anoche)\b[^:]*\b(?:ejecut|llam|envi|invoqu|us|lanc)é(?!\w){_TO_COLON}"
        r"|\b(?:llamada|petición|solicitud)(?:es|s)?\s+(?:(?:anterior|previa|original|fallida|rechazada|registrada)(?:es|s)?|de\s+(?:ayer|anoche))\b"
        + _TO_COLON,
    ),
    "pt": Row(
        "foi fora sido onte exec cham envi invo usou usar lanç gero gera util rodo roda emit requ pedi soli",
        rf"\b(?:foi|foram|sido)\s+(?:\w+\s+)?{_PT}{_TO_COLON}|\b{_DID_PT}{_TO_COLON}"
        rf"|\bontem\b[^:]*\b(?:execut|cham|envi|us|rod|lanc)ei\b{_TO_COLON}"
        r"|\b(?:chamada|requisição|pedido|solicitação)s?\s+(?:(?:anterior|prévia|original|rejeitad[oa]|registrad[oa])(?:es|s)?|de\s+ontem)\b"
        + _TO_COLON,
    ),
    "it": Row(
        "stat venn ha hann avev fu furo chia rich ieri",
        rf"\bstat[oaie]\s+(?:\w+\s+)?{_IT}{_TO_COLON}|\b(?:venne|vennero|fu|furono|ha|hanno|aveva|avevano)\s+(?:\w+\s+)?{_IT}{_TO_COLON}"
        rf"|\bieri\b[^:]*\bho\s+{_IT}{_TO_COLON}"
        r"|\b(?:chiamat[ae]|richiest[ae])\s+(?:precedent[ei]|original[ei]|fallit[ae]|rifiutat[ae]|di\s+ieri)\b" + _TO_COLON,
    ),
    "ru": Row(
        "выпо запу вызв вызы отпр испо запи сген выда посл пред прош неуд вчер",
        rf"\b{_RU}{_TO_COLON}|(?<!\bя\s)(?<!\bмы\s)\b{_DID_RU}{_TO_COLON}"
        r"|\b(?:предыдущ|прошл|неудачн|вчерашн)\w+\s+(?:\w+\s+)?(?:вызов|запрос|команд|попытк|ответ)\w*" + _TO_COLON,
    ),
    "zh": Row(
        "",
        rf"(?:昨天|昨晚|之前|刚才|先前|上次|以前|早些时候|此前|当时|前天)[^，。,;；]{{0,12}}{_ZH}[^，。,;；]{{0,6}}[:：]\W*\Z"
        rf"|被{_ZH}[^，。,;；]{{0,8}}[:：]\W*\Z|{_ZH}过的?[^，。,;；]{{0,6}}[:：]\W*\Z"
        r"|(?:之前|先前|上次|以前|昨天|失败|原来)的(?:调用|请求|命令|输出|回复)\W*\Z",
    ),
    "ja": Row(
        "",
        rf"{_JA}(?:さ|し)?(?:れ|された?|した)(?:た|ました|ていた)?(?:もの|の|内容|呼び出し|コマンド|リクエスト|命令)?(?:は|です|がこれです|はこれです)?[:：]\W*\Z"
        rf"|(?:昨日|先ほど|さきほど|以前|前回|さっき|先日|当時)[^、。]{{0,20}}{_JA}[^、。]{{0,3}}た[^、。]{{0,8}}[:：]\W*\Z"
        r"|(?:昨日|先ほど|以前|前回|さっき|失敗した)の?(?:呼び出し|リクエスト|コマンド|出力|応答)\W*\Z",
    ),
    "ko": Row(
        "",
        rf"{_KO}(?:된|되었|됐|했던|되었던)[^.,]{{0,12}}[:：]\W*\Z|(?:어제|아까|이전에|앞서|지난)[^.,]{{0,16}}{_KO}(?:한|된|했)[^.,]{{0,8}}[:：]\W*\Z"
        r"|(?:이전|지난|어제의?|실패한)\s*(?:호출|요청|명령|출력|응답)\W*\Z",
    ),
}
"""What was run or sent earlier, said up to the colon; no word of doing it now."""

MANNER: dict[str, Row] = {
    "en": Row(
        "way thus foll that mann fash styl layo form so",
        r"(?<!\bI\s)(?<!\bwe\s)\b(?:writ(?:e|es|ten)|emit(?:s|ted)?|encode[sd]?|format(?:s|ted)?|express(?:es|ed)?|render(?:s|ed)?|outputs?|phrase[sd]?|spell(?:s|ed)?|"
        r"sends?|sent|prints?|printed|generates?|represent(?:s|ed)?|denote[sd]?|structure[sd]?|expects?|requires?|puts?|serialize[sd]?|pass(?:es|ed)?|produces?|"
        r"called|invoked|(?:make|call|invoke)s?(?=\s+(?:a|an|the|its?|their|tools?|functions?|them)\b))\b[^,;:.]*?"
        r"\b(?:this\s+way|thus|as\s+follows|like\s+that|in\s+(?:the\s+following|this|such\s+a)\s+(?:way|manner|fashion|style|layout|form)|the\s+following\s+way|so)\W*\Z",
    ),
    "de": Row(
        "so folg weis art form schr nota",
        r"\b(?:schreib|notier|kodier|codier|formatier|formulier|send|schick|geb|gib|drück|stell|erzeug|bau|übergeb|übergib|erwart|verlang|nutz|verwend|ruf)(?:t|en|et|st)\b[^,;:.]*?"
        r"\b(?:so|wie\s+folgt|folgendermaßen|auf\s+(?:diese|folgende)\s+(?:weise|art)|in\s+(?:folgender|dieser)\s+(?:form|weise|schreibweise|notation))(?:\s+(?:aus|auf|ab|dar))?\W*\Z",
    ),
    "fr": Row(
        "ains ceci cela suit ça faço mani sort",
        r"\b(?:écri|not(?:e|o|é)|encod|formul|format|envo|enverr|émet|génèr|produi|représent|exprim|appel|utilis|attend|rend|transm)\w*\b[^,;:.]*?"
        r"\b(?:ainsi|comme\s+(?:ceci|cela|suit|ça)|de\s+(?:la|cette)\s+(?:façon|manière|sorte)(?:\s+suivante)?|de\s+la\s+sorte)\W*\Z",
    ),
    "es": Row(
        "así modo mane form sigu",
        r"\b(?:escrib|anot|codific|formul|format|enví|envi|emit|gener|produc|represent|expres|llam|usan?|esper|pas|invoc)\w*\b[^,;:.]*?"
        r"\b(?:así|de\s+(?:este|tal)\s+modo|de\s+esta\s+(?:manera|forma)|de\s+la\s+siguiente\s+(?:manera|forma)|del\s+siguiente\s+modo|como\s+sigue)\W*\Z",
    ),
    "pt": Row(
        "assi modo mane form segu",
        r"\b(?:escrev|anot|codific|formul|format|envi|emit|ger|produz|represent|express|cham|usam?|esper|pass|invoc)\w*\b[^,;:.]*?"
        r"\b(?:assim|d(?:este|esse)\s+modo|des[ts]a\s+(?:maneira|forma)|da\s+seguinte\s+(?:maneira|forma)|do\s+seguinte\s+modo|como\s+segue)\W*\Z",
    ),
    "it": Row(
        "così modo segu mani",
        r"\b(?:scriv|annot|codific|formul|format|invi|emett|gener|produc|rappresent|esprim|chiam|usan?|attend|pass)\w*\b[^,;:.]*?"
        r"\b(?:così|in\s+questo\s+modo|nel\s+(?:modo\s+seguente|seguente\s+modo)|come\s+segue|in\s+questa\s+maniera)\W*\Z",
    ),
    "ru": Row(
        "так обра",
        r"\b(?:пиш|запис|кодиру|формат|отправ|посыла|вызыва|оформл|выда|генер|переда|обознач)\w*\b[^,;:.]*?\b(?:так|следующим\s+образом|таким\s+образом)\W*\Z",
    ),
    "zh": Row(
        "",
        r"(?<!我)(?<!我就)(?:这样|如此|(?:以下|如下|下面|这种|下述)的?(?:方式|样子))(?:来|去)?(?:地)?[^，。,;；:：我]{0,8}[:：]\W*\Z",
    ),
    "ja": Row(
        "",
        r"(?:このように|次のように|以下のように|こう)[^、。]{0,12}(?:出力|送信|表記|表現|表し|表す|渡|組み立て|記す|送る|送り)[^、。]{0,10}\Z",
    ),
    "ko": Row(
        "", r"(?:이렇게|다음과\s*같이|이런\s*식으로|아래와\s*같이)[^.,]{0,16}(?:출력|보냅|보낸|표기|표현|나타|전달)[^.,]{0,8}\Z"
    ),
}
"""How somebody, not the speaker, writes calls."""

TEMPLATE: dict[str, Row] = {
    "en": Row(
        "temp skel boil scaf blue chea patt snip fram",
        r"\b(?:this|these|the\s+following|our|your|its)\s+(?:\w+\s+){0,2}?(?:templates?|skeleton|boilerplate|scaffold(?:ing)?|blueprint|cheat\s*sheet|pattern|snippets?|frame)"
        r"(?:\s+(?:below|here|instead|as\s+is|for\b[^,;:.]*))?\W*\Z",
    ),
    "de": Row(
        "vorl scha must gerü sche baus temp",
        r"\b(?:dies|folgend|nachstehend|unser|dein|ihr)(?:e[srnm]?)?\s+(?:\w+\s+)?(?:vorlagen?|schablonen?|muster|gerüst|schema|bausteine?|template)(?:\s+(?:hier|dafür|dazu|für\b[^,;:.]*))?\W*\Z",
    ),
    "fr": Row(
        "modè gaba patr sque cane sché stru temp",
        r"\b(?:(?:ce|cet|cette|ces)\s+(?:modèle|gabarit|patron|squelette|canevas|schéma|structure|template)s?(?:\s+ci-dessous)?|"
        r"(?:modèle|gabarit|patron|squelette|canevas|schéma|structure)s?\s+(?:suivante?s?|ci-dessous))\W*\Z",
    ),
    "es": Row(
        "plan mode esqu patr estr mold sigu",
        r"\b(?:est[ae]|siguiente)\s+(?:plantilla|modelo|esqueleto|patrón|estructura|molde)\W*\Z|\b(?:plantilla|modelo|esqueleto|patrón|estructura|molde)\s+siguiente\W*\Z",
    ),
    "pt": Row(
        "mode estr gaba temp padr esqu",
        r"\b(?:es[ts]e|es[ts]a|seguinte)\s+(?:modelo|estrutura|gabarito|template|padrão|esqueleto)\W*\Z|\b(?:modelo|estrutura|gabarito|template|padrão)\s+(?:a\s+)?seguir\W*\Z",
    ),
    "it": Row(
        "mode sche stru temp trac",
        r"\b(?:quest[oa]|seguente)\s+(?:modello|schema|struttura|template|traccia)\W*\Z|\b(?:modello|schema|struttura|template)\s+seguente\W*\Z",
    ),
    "ru": Row("шабл заго обра", r"\b(?:эт\w+|следующ\w+|так\w+)\s+(?:шаблон|заготовк|образ[её]?ц)\w*\W*\Z"),
    "zh": Row("", r"(?:使用|套用|参考|按照?|填写|采用|用)[^，。,]{0,6}(?:模板|范本|样板)\W*\Z"),
    "ja": Row("", r"(?:この|次の|以下の|下記の)(?:テンプレート|ひな形|雛形|雛型|定型文?)[^、。]{0,16}\Z"),
    "ko": Row("", r"(?:이|다음|아래)\s*(?:템플릿|양식|틀|서식)[^.,]{0,12}\Z"),
}
"""Something to be filled in."""

_WHICH = r"(?:\s?[#№]?\s?(?:\d{1,2}|[a-h]|[ivx]{1,4}))"
_ALONE = r"(?:\s?[(（][^()（）]{0,40}[)）])?\W*\Z"
CONTRAST: dict[str, Row] = {
    "en": Row(
        "befo afte old new opti vari vers alte corr righ orig pref clas lega",
        rf"\A\W*(?:the\s+)?(?:before|after|old|new|(?:old|new|legacy|original|preferred)\s+(?:way|form|format|style|syntax|version|call)"
        rf"|(?:option|variant|version|alternative){_WHICH}){_ALONE}|\A\W*(?:correct|right)\s*[:：]\W*\Z",
    ),
    "de": Row(
        "vorh nach alt neu opti vari vers alte neue rich korr bish künf",
        rf"\A\W*(?:vorher|nachher|alt|neu|bisher|künftig|(?:alte|neue)[srn]?\s+(?:form|format|syntax|schreibweise|version|aufruf)"
        rf"|(?:option|variante|version|alternative){_WHICH}){_ALONE}|\A\W*(?:richtig|korrekt)\s*[:：]\W*\Z",
    ),
    "fr": Row(
        "avan aprè anci nouv opti vari vers",
        rf"\A\W*(?:avant|après|(?:l['’])?ancien(?:ne)?(?:\s+\w+)?|(?:le\s+|la\s+)?nouve(?:au|lle)(?:\s+\w+)?|(?:option|variante|version){_WHICH}){_ALONE}",
    ),
    "es": Row(
        "ante desp viej nuev opci vari vers corr",
        rf"\A\W*(?:antes|después|viejo|nuevo|(?:opción|variante|versión){_WHICH}){_ALONE}|\A\W*correcto\s*[:：]\W*\Z",
    ),
    "pt": Row(
        "ante depo velh novo opçã vari vers corr cert",
        rf"\A\W*(?:antes|depois|velho|novo|(?:opção|variante|versão){_WHICH}){_ALONE}|\A\W*(?:correto|certo)\s*[:：]\W*\Z",
    ),
    "it": Row(
        "prim dopo vecc nuov opzi vari vers corr",
        rf"\A\W*(?:prima|dopo|vecchio|nuovo|(?:opzione|variante|versione){_WHICH}){_ALONE}|\A\W*corretto\s*[:：]\W*\Z",
    ),
    "ru": Row(
        "было стал до посл вари верс стар нова прав",
        rf"\A\W*(?:было|стало|до|после|(?:вариант|версия){_WHICH}|(?:старая|новая)\s+\w+){_ALONE}|\A\W*правильно\s*[:：]\W*\Z",
    ),
    "zh": Row(
        "",
        r"\A\W*(?:修改|改动|更改|优化|重构)?(?:之?前|之?后)\W*\Z|\A\W*(?:旧|新|原)(?:版本?|写法|格式|代码)?\W*\Z|\A\W*(?:方案|选项|版本|变体|方式|写法)\s?[一二三四1-9A-Fa-f]\W*\Z|\A\W*正确\W*\Z",
    ),
    "ja": Row(
        "",
        r"\A\W*(?:変更|修正|改善)?(?:前|後)\W*\Z|\A\W*(?:旧|新)(?:版|形式|バージョン)?\W*\Z|\A\W*(?:案|選択肢|バージョン|方法|パターン)\s?[一二三四1-9A-Fa-fＡ-Ｆ]\W*\Z|\A\W*正(?:しい)?\W*\Z",
    ),
    "ko": Row(
        "",
        r"\A\W*(?:변경|수정)?\s*(?:전|후)\W*\Z|\A\W*(?:기존|신규)(?:\s*\w+)?\W*\Z|\A\W*(?:옵션|방법|버전|안)\s?[1-9A-Fa-f가나다]\W*\Z",
    ),
}
"""The name of one of several versions, alone in its sentence: whoever chooses one writes no name over it."""

OBSOLETE: dict[str, Row] = {
    "en": Row(
        "long depr obso lega remo drop",
        r"\A(?=[^.]*?\b(?:forms?|formats?|syntax|notations?|calls?|styles?|following|spelling)\b)[^,;.]*?(?:\bno\s+longer\s+(?:\w+\s+)?(?:supported|accepted|valid|allowed|used|read|parsed)|\b(?:deprecated|obsolete|legacy))\b[^,;]*\Z",
    ),
    "de": Row(
        "mehr vera obso über",
        r"\A(?=[^.]*?\b(?:form\w*|syntax|schreibweisen?|notation|aufrufe?|folgend\w*)\b)[^,;.]*?(?:\bnicht\s+(?:mehr|länger)\s+(?:unterstützt|gültig|akzeptiert|angenommen|verwendet|erlaubt)|\b(?:veraltet\w*|überholt\w*))\b[^,;]*\Z",
    ),
    "fr": Row(
        "plus obso dépr aban péri",
        r"\A(?=[^.]*?\b(?:form\w*|syntaxe|notation|écriture|appels?|suivante?s?)\b)[^,;.]*?(?:\bplus\s+(?:pris\w*\s+en\s+charge|accepté\w*|valides?|utilisé\w*|permis\w*)|\b(?:obsolètes?|déprécié\w*|abandonné\w*|périmé\w*))(?!\w)[^,;]*\Z",
    ),
    "es": Row(
        "ya obso desu aban",
        r"\A(?=[^.]*?\b(?:form\w*|sintaxis|notación|llamadas?|siguientes?)\b)[^,;.]*?(?:\bya\s+no\s+(?:se\s+)?(?:admite\w*|acepta\w*|soporta\w*|usa\w*|es\s+válid\w+)|\b(?:obsolet\w+|desus\w+|abandonad\w+))\b[^,;]*\Z",
    ),
    "pt": Row(
        "mais obso desc",
        r"\A(?=[^.]*?\b(?:form\w*|sintaxe|notação|chamadas?|seguintes?)\b)[^,;.]*?(?:\bnão\s+(?:é|são|se)\s+mais\s+(?:suportad|aceit|válid|usad)\w+|\b(?:obsolet|descontinuad)\w+)\b[^,;]*\Z",
    ),
    "it": Row(
        "più obso depr abba",
        r"\A(?=[^.]*?\b(?:form\w*|sintassi|notazione|chiamat\w|seguent\w)\b)[^,;.]*?(?:\bnon\s+(?:è|sono)\s+più\s+(?:supportat|accettat|valid|usat)\w+|\b(?:obsolet|deprecat|abbandonat)\w+)\b[^,;]*\Z",
    ),
    "ru": Row(
        "боль уста",
        r"\A(?=[^.]*?\b(?:форм\w*|синтаксис\w*|запис\w+|вызов\w*|следующ\w+)\b)[^,;.]*?(?:\bбольше\s+не\s+(?:поддержива|принима|использу)\w+|\bустаре\w+)\b[^,;]*\Z",
    ),
    "zh": Row(
        "",
        r"(?:不再(?:支持|接受|使用|有效)|已(?:经)?(?:弃用|废弃|过时|淘汰))[^，,;；]{0,12}(?:格式|写法|语法|形式|调用|以下|下列|如下)|(?:格式|写法|语法|形式|调用)[^，,;；]{0,8}(?:不再(?:支持|接受|使用|有效)|已(?:经)?(?:弃用|废弃|过时|淘汰))",
    ),
    "ja": Row(
        "", r"(?:形式|書式|構文|書き方|呼び出し|以下|次)[^、。]{0,12}(?:サポートされなく|サポートされません|使えなく|廃止|非推奨)"
    ),
    "ko": Row("", r"(?:형식|구문|문법|호출|다음)[^.,]{0,12}(?:더\s*이상\s*(?:지원|사용)|폐기|사용\s*중단)"),
}
"""A form of calls that is not valid any more."""
