"""The phrases by which a call is not made: forbidden to the reader, refused by the speaker, or left to the reader's consent.

As in `trust.lead_in_words`, a row a language. A prohibition's or refusal's object is the call: a word that points at it, or nothing
more behind the verb (`I will not run:`). What the speaker does instead, behind it in the sentence, outweighs both (`ACTION`).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ACTION", "CONDITION", "DESCRIBED", "NOT_FORBIDDEN", "NOT_YET", "PROHIBITION", "REFUSAL", "Row"]


class Row(NamedTuple):
    """Phrases of one language. `anchors`: the first four letters of words of which every phrase holds one, so that most sentences
    cost a look-up and no search; none for languages that write words together."""

    anchors: str
    pattern: str


_SO_FAR = r"[^\w,;:.!?\u2014\u2013]+"
"""Between two words of one clause."""
_EN = r"(?:run|execut|call|us(?:e|ing)\b|be\s+used\b|writ|emit|cop[yi]|sen[dt]|invok|past(?:e|ing)|issu|repeat|output|trigger|produc|launch)"
_DE = (
    r"(?:aus(?:zu|ge)?führ|auf(?:zu|ge)?ruf|(?:zu\s+)?(?:be|ge)?nutz|(?:zu\s+)?verwend|(?:zu\s+)?kopier|(?:ge|zu\s+)?send|"
    r"ab(?:zu|ge)?schick|(?:ge|zu\s+)?start)"
)
_FR = r"(?:exécut|appel|lanc|utilis|copi|envoy|écri|invoqu)"
_ES = r"(?:ejecut|llam|us(?=[aeo])|invo[cq]|copi|escrib|enví|envi|lan[cz])"
_PT = r"(?:execut|cham|us(?=[aeo])|invo[cq]|copi|envi|lan[cç]|escrev)"
_IT = r"(?:esegu|chiam|us(?=[aio])|invoc|copi|invi|lanc)"
_RU = r"(?:выполн|запус|вызыв|вызв|вызов|использ|копир|отправ)"
_ZH = r"(?:执行|调用|运行|使用|复制|发送|触发)"
_JA = r"(?:実行|呼び出し?|呼ば|使用|使わ|コピー|送信)"
_KO = r"(?:실행|호출|사용|복사|전송)"

PROHIBITION: dict[str, Row] = {
    "en": Row(
        "not don dont neve must shou avoi refr refu unde forb proh nobo no none",
        r"\b(?:do\s+not|don['’]?t|never|must(?:\s+not|n['’]t)|should(?:\s+not|n['’]t)|not\s+(?:(?:meant|supposed|intended|allowed)\s+)?to(?:\s+be)?|"
        r"avoid|refrain\s+from|refuse\s+to|under\s+no\s+circumstances|(?:forbidden|prohibited)\s+to)\b"
        rf"(?!\s+(?:have|need|want|wish|forget|worry|hesitate|mind|fail|wait)\b)(?:{_SO_FAR}(?!(?:I|we|me|us)\b)\w+){{0,3}}?{_SO_FAR}{_EN}"
        rf"|\b(?:nobody|no\s+one|none\s+of\s+(?:you|us))\s+(?:should|may|must|can|is\s+(?:allowed|supposed)\s+to)\b(?:\s+\w+){{0,2}}?\s+{_EN}"
        rf"|\b{_EN}\w*\s+(?:it|this|that|these|those|them|the\s+\w+)\b[^,;:.!?]{{0,24}}\b(?:is|are)\s+(?:\w+\s+)?(?:forbidden|prohibited|not\s+(?:allowed|permitted))\b",
    ),
    "de": Row(
        "nich niem nie kein fall verb unte",
        rf"\b(?:nicht|niemals|nie|keinesfalls|keinen\s+fall)\b(?:{_SO_FAR}\w+){{0,4}}?{_SO_FAR}{_DE}"
        rf"|\b(?:führ|ruf|verwende|benutze|kopiere|sende|schick|start)\w*\b(?:{_SO_FAR}(?!(?:ich|wir)\b)\w+){{0,6}}?{_SO_FAR}"
        r"(?:nicht|niemals|nie|keinesfalls|keineswegs|keine[nm]\s+fall|keinen\s+umständen)\b"
        rf"|\bkeinen\s+umständen\b(?:{_SO_FAR}\w+){{0,4}}?{_SO_FAR}{_DE}|\bniemand\s+(?:darf|soll|sollte|kann)\b[^,;:.!?]{{0,40}}?{_DE}"
        rf"|{_DE}\w*\b[^,;:.!?]{{0,40}}\b(?:verboten|untersagt|nicht\s+(?:erlaubt|gestattet|zulässig))\b"
        rf"|\bverboten\b[^;]{{0,40}}?{_DE}",
    ),
    "fr": Row(
        "ne n pas jama sans évit inte défe pers",
        rf"\b(?:ne\s+|n['’])(?:\w+\s+)?(?:(?:jamais|pas)\s+)?(?:être\s+)?(?:l['’])?{_FR}\w*(?:\s+\w+){{0,2}}"
        r"|\bne\s+(?:pas|jamais)\s+\w+|\bsans\s+(?:l['’])?(?:exécuter|appeler|lancer)"
        rf"|\b(?:évit|interdi|défense)\w*\s+(?:de\s+|d['’])(?:l['’])?{_FR}"
        rf"|\bpersonne\s+ne\s+(?:doit|devrait|peut)\s+(?:\w+\s+)?(?:l['’])?{_FR}|{_FR}\w*\b[^,;:.!?]{{0,30}}\best\s+(?:\w+\s+)?interdite?\b",
    ),
    "es": Row(
        "no nunc jamá evit proh nadi",
        rf"\b(?:no|nunca|jamás)\s+(?:se\s+|lo\s+|la\s+|debe(?:s|n)?\s+|ser\s+|hay\s+que\s+)*{_ES}"
        r"(?!\w*(?:(?<![ld])o|amos|imos|é|aré|iré|aremos)\b)\w*"
        rf"|\b(?:evit\w+|prohibid\w+)\s+{_ES}\w*r|\bnadie\s+(?:debe|debería|puede)\s+(?:\w+\s+)?{_ES}"
        rf"|\b{_ES}\w*r(?:lo|la)?\b[^,;:.!?]{{0,24}}\b(?:está|es|queda)\s+(?:\w+\s+)?prohibid[oa]\b",
    ),
    "pt": Row(
        "não nunc evit proi jama ning",
        rf"\b(?:não|nunca|jamais)\s+(?:se\s+|o\s+|a\s+|deve(?:m|s)?\s+|ser\s+)*{_PT}(?!\w*(?:(?<!d)o|amos|ei|arei|aremos)\b)\w*"
        rf"|\b(?:evit\w+|proibid\w+)\s+{_PT}\w*r|\bninguém\s+(?:deve|deveria|pode)\s+(?:\w+\s+)?{_PT}"
        rf"|\b{_PT}\w*r\b[^,;:.!?]{{0,24}}\b(?:está|é)\s+(?:\w+\s+)?proibid[oa]\b",
    ),
    "it": Row(
        "non mai evit viet ness",
        rf"\b(?:non|mai)\s+(?:lo\s+|la\s+)?{_IT}(?!\w*(?:(?<!l)o|erò|irò|eremo|iremo|iamo)\b)\w*"
        rf"|\bnon\s+(?:va|vanno|deve|devono)\s+(?:mai\s+)?(?:essere\s+)?{_IT}|\b(?:evit\w+\s+di|vietato)\s+{_IT}"
        rf"|\bnessuno\s+(?:deve|dovrebbe|può)\s+(?:\w+\s+)?{_IT}|\b{_IT}\w*(?:re|rlo|rla)\b[^,;:.!?]{{0,24}}\bè\s+(?:\w+\s+)?vietato\b",
    ),
    "ru": Row(
        "не нико никт нель запр",
        r"\b(?:(?:не|никогда\s+не)\s+(?:(?!(?:буду|будем|стану|станем|хочу|могу|можем|нужно|обязательно)\b)\w+\s+)?(?!\w+(?:ю|ем|л|ла|ли)\b)"
        r"|(?:не\s+(?:надо|следует|стоит)|нельзя|запрещ\w+)\s+(?:\w+\s+)?)"
        r"(?:выполня|выполни|запуска|запусти|вызыва|вызови|вызвать|используй|использовать|копиру|отправля)\w*(?!\s+(?:вручную|иначе|без)\b)"
        r"|\b(?:выполнять|запускать|вызывать|использовать|копировать|отправлять)\b[^,;:.!?]{0,30}\b(?:нельзя|запрещ\w+|не\s+(?:надо|следует|стоит))\b"
        r"|\bникто\s+не\s+(?:должен|может)\s+(?:\w+\s+)?(?:выполня|запуска|вызыва|использова|отправля)",
    ),
    "zh": Row("", rf"(?:不要|请勿|切勿|别(?!的|人)|不得|禁止|勿|不能(?!手动|直接)|不可(?!以)|不应)[^，。,;；]{{0,8}}?{_ZH}"),
    "ja": Row("", rf"{_JA}\w*?(?:しないで|さないで|ないで|ないこと|てはいけ|てはなら|てはなり|しては|禁止)"),
    "ko": Row("", rf"{_KO}\w*?\s*(?:하지\s*(?:마|말)|금지|하면\s*안|해서는\s*안|해선\s*안)"),
}
NOT_FORBIDDEN: dict[str, str] = {
    "en": r"\b(?:I|we)(?:['’](?:m|re|ve))?\b(?:[^\w,;:.!?]+(?!(?:said|say|told|tell|repeat|mean|warn|beg)\b)\w+){0,4}?[^\w,;:.!?]*\Z"
    r"|\b(?:to|so\s+as|in\s+order|(?:if|since|because|as|when)\s+\w+)[^\w,;:.!?]*\Z",
    "de": r"\b(?:ich|wir)\b(?:[^\w,;:.!?]+\w+){0,4}?[^\w,;:.!?]*\Z"
    r"|\b(?:um|wenn|falls|weil|damit|muss|musst|müssen|brauch\w*|kann|können|lässt)\b[^,;:.!?]{0,40}\Z",
    "fr": r"\b(?:je|nous|j['’])\W*(?:\w+\W+){0,3}\Z|\b(?:pour|si|puisque)\b[^,;:.!?]{0,40}\Z",
    "es": r"\b(?:yo|nosotros|puedo|podemos)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z|\b(?:para|si)\b[^,;:.!?]{0,40}\Z",
    "pt": r"\b(?:eu|nós|posso|podemos)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z|\b(?:para|se)\b[^,;:.!?]{0,40}\Z",
    "it": r"\b(?:io|noi|posso|possiamo)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z|\b(?:per|se)\b[^,;:.!?]{0,40}\Z",
    "zh": r"(?:我|我们)[^，。,]{0,6}\Z|为了?\Z|以免|免得",
    "ru": r"\b(?:я|мы)\b(?:[^\w,;:.!?]+\w+){0,3}?[^\w,;:.!?]*\Z|\b(?:чтобы|если)\b[^,;:.!?]{0,40}\Z",
}
"""What stands before a negation that forbids the reader nothing: the speaker is its subject (`I don't use the cache, so:`), it tells a
purpose or a condition (`To avoid calling it twice:`), or that nobody has to."""
DESCRIBED: dict[str, str] = {
    "en": r"(?:\b(?:is|are|was|were|been|gets?)|['’]s)\s+(?:never|not)\s+(?!to\b|meant|supposed|intended|allowed)",
    "de": r"\b(?:wird|werden|wurden?|ist|sind)\b[^,;:]*\b(?:nicht|nie|niemals)\b(?![^,;:]*(?:\bzu\s|\w{2}zu\w))"
    r"|\b(?:nicht|nie|niemals)\b[^,;:]*\w(?:t|en)\s+(?:wird|wurden?|ist|sind)\W*\Z",
    "fr": r"\bn['’](?:est|était|a|ont|avait)\b|\bne\s+(?:sont|seront|sera|fut|furent)\b",
    "es": r"\bno\s+(?:se\s+(?!deb|pued)(?:\w+[ae]n?\b|ha)|es|está|fue|ha\s+sido)\b",
    "pt": r"\bnão\s+(?:se\s+(?!dev|pod)\w+[ae]m?|é|está|foi)\b",
    "it": r"\bnon\s+(?:(?!va|vanno|dev)\w+\s+\w+(?:at|it|ut)[oaie]|\w+(?:at|it|ut)[oai])\b",
    "ru": r"\bне\s+(?:\w+\s+)?\w+(?:ется|ются|лся|лась|лось|лись)\b",
}
"""What is said of a thing, and need not forbid the call behind it (`The page is never called:`): that is doubtful."""

_IT_EN = r"(?:it|this|that|them|these|those|the\s+following|(?:the|any|such\s+an?|an?)\s+(?:tool|function|command|call))\b"
_NOT_DE = r"(?:nicht|nie|niemals|keinesfalls)"
_HOW_DE = r"(?:\s+(?:mehr|einfach|wirklich|jetzt|für\s+\w+))?"
_IT_ES = r"(?:eso|esto|esta|lo\s+siguiente|la\s+(?:función|herramienta|llamada))\b"
_IT_PT = r"(?:isto|isso|-l?[oa]\b|o\s+seguinte|a\s+(?:função|ferramenta|chamada))"
_IT_IT = r"(?:questo|questa|ciò|quanto\s+segue|la\s+(?:funzione|chiamata))"
_IT_RU = r"(?:это|этого|эту|его|её)"
_WILL_RU = r"(?:буду|будем|стану|станем|могу|можем|хочу|хотим|собираюсь)"
_NO_ZH = r"(?:不会|不能|没有|并未|并没有|拒绝|不想|还没|无法|不打算|不愿|未曾)"
REFUSAL: dict[str, Row] = {
    "en": Row(
        "not neve won woul didn have must aren can cann coul shan shou don unab refu decl",
        r"\b(?:I|we)(?:(?:['’](?:ll|d|ve|m|re))?(?:\s+(?:will|would|did|have|must|am|are|shall|should|could|can|do(?=\s+not\s+(?:want|wish|plan|intend))))?\s+(?:not|never)|\s+cannot|"
        r"\s+(?:won|wouldn|didn|haven|mustn|aren|can|couldn|shan|shouldn)['’]t|\s+don['’]t(?=\s+(?:want|wish|plan|intend))"
        r"|(?:['’](?:m|re|ll))?(?:\s+(?:will|must|am|are|have\s+to))?\s+(?:unable|refuse|refusing|decline)\s+to)"
        r"(?:\s+(?:be|been|going|to|yet|actually|just|really|ever|even|simply|want|wish|plan|planning|intend|intending|able|allowed|willing|supposed))*"
        rf"\s+(?:{_EN}\w*(?:\s+{_IT_EN}|\W*\Z)|do(?:ing)?\s+(?:it|this|that|so)\W*\Z)",
    ),
    "de": Row(
        "nich nie niem kein weig lehn",
        rf"\b(?:ich|wir)\s(?:[^,;]*\s)?(?:das|dies\w*|es|ihn|sie)\s(?:[^,;]*\s)?{_NOT_DE}{_HOW_DE}\s+{_DE}"
        rf"|\b(?:das|dies\w*)\s+\w+\s+(?:ich|wir)\s(?:[^,;]*\s)?{_NOT_DE}{_HOW_DE}\s+(?:{_DE}|aus\b|auf\b)"
        rf"|\b(?:(?:ich|wir)\s(?:führe|führen|rufe|rufen)|(?:führe|führen|rufe|rufen)\s(?:ich|wir))\s(?:[^,;]*\s)?{_NOT_DE}{_HOW_DE}\s+(?:aus|auf)\b"
        rf"|\b(?:weiger\w*|lehne?n?)\b[^;.]{{0,40}}?{_DE}"
        rf"|\b{_NOT_DE}\s+{_DE}\w*\s+(?:habe|haben|werde|werden)\s+(?:ich|wir)\b"
        rf"|\b(?:(?:das|dies|diese[nrs]?\s+\w+)\s+(?:mache|tue|werde)\s+ich|ich\s+(?:mache|tue|werde)\s+(?:das|dies|es))\s+(?:\w+\s+)?{_NOT_DE}(?:\s+(?:tun|machen))?\W*\Z",
    ),
    "fr": Row(
        "pas jama refu",
        r"\b(?:je|nous)\s+(?:ne\s+|n['’])(?=[^,;]*\b(?:pas|jamais)\b)"
        rf"(?:(?=[^,;]*\b(?:l['’]|les\b|ceci\b|cela\b|ça\b|cet\s+appel))[^,;]*{_FR}\w*|[^,;]*{_FR}\w*\W*\Z)"
        rf"|\b(?:je|nous)\s+(?:me\s+|nous\s+)?refus\w+\s+(?:de\s+|d['’]|à\s+)(?:l['’])?{_FR}"
        r"|\bje\s+ne\s+(?:le\s+)?(?:ferai|fais)\s+(?:pas|jamais)(?:\s+(?:ça|cela|ceci))?\W*\Z",
    ),
    "es": Row(
        "no nieg nega rehú rehu",
        rf"\bno\s+(?:lo|la)\s+(?:(?:voy|vamos|he|hemos|puedo|podemos|quiero|pienso|debo)\b[^,;]*\b{_ES}\w*|{_ES}\w*(?:o|é|amos|aré|aremos)\b)"
        rf"|\bno\s+(?:voy|vamos|pienso|debo|puedo|podemos|quiero|he|hemos)\b[^,;]*\b{_ES}\w*(?:(?:lo|la)\b|(?:\s+a)?\s+{_IT_ES}|\W*\Z)"
        rf"|\bno\s+{_ES}\w*(?:é|aré|aremos|amos|o)\s+(?:a\s+)?{_IT_ES}"
        rf"|\b(?:me\s+niego\s+a|nos\s+negamos\s+a|reh[uú]so)\s+{_ES}"
        r"|\bno\s+(?:lo\s+(?:haré|hago|haremos|voy\s+a\s+hacer)|(?:haré|haremos|voy\s+a\s+hacer)\s+(?:esto|eso))\W*\Z",
    ),
    "pt": Row(
        "não recu",
        rf"\bnão\s+(?:vou|vamos|devo|posso|podemos|quero|irei|pretendo)\s+[^,;]*\b{_PT}\w*(?:\s*{_IT_PT}|\W*\Z)"
        rf"|\bnão\s+(?:[oa]\s+{_PT}\w*(?:ei|o|amos|aremos)\b|{_PT}\w*(?:ei|o|amos|aremos)\s+{_IT_PT})"
        rf"|\b(?:recuso(?:-me)?|recusamos(?:-nos)?)\s+a\s+{_PT}"
        r"|\bnão\s+(?:o\s+farei|(?:farei|vou\s+fazer)\s+(?:isto|isso))\W*\Z",
    ),
    "it": Row(
        "non rifi",
        rf"\bnon\s+(?:(?:lo|la)\s+{_IT}\w*(?:o|ò|iamo|remo)\b|{_IT}\w*(?:ò|remo|o)\s+{_IT_IT}\b|l['’](?:ho|abbiamo)\s+{_IT})"
        rf"|\bnon\s+(?:voglio|intendo|devo|posso|possiamo|ho|abbiamo)\s+(?:mai\s+)?{_IT}\w*?(?:r(?:lo|la)\b|\s+{_IT_IT}\b|\W*\Z)"
        rf"|\brifiut\w+\s+di\s+{_IT}|\bnon\s+(?:lo\s+(?:farò|faccio)|(?:farò|faccio)\s+questo)\W*\Z",
    ),
    "ru": Row(
        "не отка",
        rf"(?:\b(?:я|мы)\s+(?:{_IT_RU}\s+)?не\s+(?:{_WILL_RU}\s+)?|\bне\s+{_WILL_RU}\s+)(?:{_IT_RU}\s+)?{_RU}\w*(?=\W*\Z|\s+{_IT_RU}\b)"
        rf"|(?:\b(?:я|мы)\s+{_IT_RU}\s+не\s+(?:{_WILL_RU}\s+)?|\bне\s+{_WILL_RU}\s+{_IT_RU}\s+){_RU}"
        rf"|\bотказыва\w+\s+(?:\w+\s+)?{_RU}"
        r"|\b(?:этого\s+(?:я\s+)?не\s+(?:сделаю|буду\s+делать|делаю)|не\s+(?:сделаю|буду\s+делать)\s+этого)\W*\Z",
    ),
    "zh": Row(
        "",
        rf"(?:我|我们)[^，。,;；]{{0,3}}?{_NO_ZH}[^，。,;；]{{0,2}}?{_ZH}(?:它|这|该|此|那|以下|\W*\Z)|拒绝{_ZH}|我不会(?:这[样么])?做(?:这|这个|这件事)?\W*\Z",
    ),
    "ja": Row(
        "",
        rf"(?:これ|それ|この|その)[^、。]{{0,12}}?(?:は|を)?{_JA}\w{{0,2}}(?:しません|ません|せずに)"
        rf"|{_JA}(?:する|こと|つもり|[しすをはがも])*(?:(?:でき|いたし|致し|行い)?ません|ていません|(?:拒否|お断り)(?:し|いたし|致し)?(?:ます)?|ありません)",
    ),
    "ko": Row(
        "",
        rf"{_KO}(?:을|를|은|는)?\s*(?:하지\s*(?:않(?!으셔도|아도)|못)(?:겠습니다|을게요|습니다)?|할\s*수\s*(?:는\s*)?없|거부|거절)",
    ),
}
"""The speaker says that the call shown is not made: whoever writes it all the same is asked."""
_STEPS_ZH = r"(?:执行|调用|运行|发|提交|下单|预订|取消|操作|动)"
NOT_YET: dict[str, Row] = {
    "en": Row("yet", r"\b(?:not|\w+n['’]t|nothing)\b[^,;:.]{0,40}\byet\b"),
    "de": Row("nich", r"\bnoch\s+nichts?\b"),
    "fr": Row("pas rien", r"\b(?:pas|rien)\s+encore\b|\bencore\s+(?:pas|rien)\b"),
    "es": Row("aún toda", r"\b(?:aún|todavía)\s+no\b"),
    "pt": Row("aind", r"\bainda\s+não\b"),
    "it": Row("anco", r"\b(?:non\s+ancora|ancora\s+non|non\s+\w+\s+ancora)\b"),
    "ru": Row("не", r"\b(?:пока|ещё|еще)\s+(?:\w+\s+)?не\b"),
    "zh": Row("", rf"(?:暂时?|先|还|尚|目前|仍)(?:不|没有?|未)[^，。,;；]{{0,4}}?{_STEPS_ZH}"),
    "ja": Row("", r"まだ[^、。]{0,16}(?:ません|ない)"),
    "ko": Row("", r"아직[^.,]{0,16}(?:않|못|안\s)"),
}
"""It is not done yet: behind such words and a colon a call is shown (`Drafted, and not sent yet:`)."""
CONDITION: dict[str, Row] = {
    "en": Row(
        "agre conf appr cons perm allo acce give want like wish pref okay ok fine obje happ say answ repl type clic pres",
        r"\b(?:if|once|when|as\s+soon\s+as|after|until|unless|provided(?:\s+that)?|should)\s+you(?:['’](?:re|ve))?\s+(?:(?:are|have|do)\s+)?"
        r"(?:agree|confirm|approve|consent|permit|allow|accept|okay\b|ok\b|fine\b|happy\b|object|say\b(?!\s+so\b)|answer|reply|type|click|press|give\s+(?:me\s+)?(?:your|the|a)\b|(?:want|like|wish|prefer)\s*(?=,|me\b))"
        r"|\b(?:with|after|upon|on|pending)\s+your\s+(?:\w+\s+)?(?:agreement|confirmation|approval|consent|permission|okay|ok)\b"
        r"|\bif\s+(?:that|this|it)(?:['’]s|\s+is)\s+(?:okay|ok|fine)\b",
    ),
    "de": Row(
        "zust best einv möch will woll erla gene frei rech eina ok okay zuge sagt sage sags antw tipp klic",
        r"\b(?:wenn|sobald|falls|sofern|nachdem)\s+(?:du|sie|ihr|es)\s+(?:\w+\s+){0,3}?"
        r"(?:zustimm\w*|zugestimmt|bestätig\w*|einverstanden|erlaub\w*|genehmig\w*|freig\w+|recht|(?:ja|okay|ok)\s+sag\w*|antwort\w*|tipp\w*|klick\w*|(?:okay|ok)\b|(?:möcht|will|woll)\w*\s*(?=,))"
        r"|\b(?:mit|nach|vorbehaltlich)\s+(?:ihre[rm]?|deine[rm]?|eure[rm]?)\s+(?:zustimmung|bestätigung|erlaubnis|einverständnis|genehmigung|freigabe|okay)",
    ),
    "fr": Row(
        "acco conf souh veux voul auto acce perm appr accé répo dite vali cliq",
        r"\b(?:si|dès\s+que|une\s+fois\s+que|quand|lorsque|après\s+que)\s+(?:vous|tu)\s+(?:\S+\s+){0,2}?"
        r"(?:d['’]accord|confirm\w*|souhait\w*|accept\w*|autoris\w*|approuv\w*|permett\w*|répond\w*|dites\b|valid\w*|cliqu\w*|(?:voulez|veux)\s*(?=,|que\b))"
        r"|\b(?:avec|après|sous\s+réserve\s+de)\s+(?:votre|ton|ta)\s+(?:accord|confirmation|autorisation|permission|approbation)\b",
    ),
    "es": Row(
        "acue conf quie dese perm auto acep apru apro cons resp dice dici vali",
        r"\b(?:si|cuando|en\s+cuanto|una\s+vez\s+que|tan\s+pronto\s+como|después\s+de\s+que)\s+(?:(?:usted|tú|me|lo|nos)\s+){0,2}"
        r"(?:(?:está|estás|esté|estés)\s+de\s+acuerdo|confirm\w*|autori[cz]\w*|acept\w*|aprueb\w*|permit\w*|respond\w*|dic(?:e|es|en)\b|valid\w*|(?:quier|dese)\w*\s*(?=,|que\b))"
        r"|\b(?:con|tras|previa|después\s+de)\s+(?:su|tu|vuestra)\s+(?:confirmación|permiso|autorización|aprobación|consentimiento|acuerdo)\b",
    ),
    "pt": Row(
        "conc conf quis quer dese perm auto acei apro acor resp diss disse",
        r"\b(?:se|quando|assim\s+que|logo\s+que|depois\s+que|caso)\s+(?:(?:você|o\s+senhor|tu|me)\s+){0,2}"
        r"(?:concord\w*|confirm\w*|autori\w*|aceit\w*|aprov\w*|permit\w*|respond\w*|disse(?:r|rem)?\b|(?:\w+\s+)?de\s+acordo|(?:quis|quer|desej)\w*\s*(?=,|que\b))"
        r"|\b(?:com|após|mediante|depois\s+d)\s*a?\s+(?:a\s+)?(?:sua|tua)\s+(?:confirmação|permissão|autorização|aprovação)\b",
    ),
    "it": Row(
        "acco conf vuoi vuol desi perm auto acce appr cons risp dici dite",
        r"\b(?:se|quando|appena|non\s+appena|una\s+volta(?:\s+che)?|dopo\s+che)\s+(?:(?:lei|tu|mi|lo|hai|ha|avrai|avrà)\s+){0,2}"
        r"(?:(?:sei|è|siete)\s+d['’]accordo|conferm\w*|autorizz\w*|accett\w*|approv\w*|permett\w*|rispond\w*|dici\b|dite\b|(?:vuoi|vuole|desider\w*)\s*(?=,|che\b))"
        r"|\b(?:con|dopo|previa)\s+(?:il\s+|la\s+)?(?:tuo|tua|suo|sua)\s+(?:conferma|permesso|autorizzazione|approvazione|consenso)\b",
    ),
    "ru": Row(
        "согл подт хоти хоче разр одоб прот позв скаж отве",
        r"\b(?:если|когда|как\s+только|после\s+того\s+как)\s+(?:(?:вы|ты|мне)\s+){0,2}(?:не\s+против|соглас\w*|подтверд\w*|хоти(?:те|м)|хочешь|разреш\w*|одобр\w*|позвол\w*|скаж\w*|ответ\w*)"
        r"|\b(?:с|после|при)\s+(?:вашего|твоего|вашем)\s+(?:согласи\w*|разрешени\w*|подтверждени\w*|одобрени\w*)",
    ),
    "zh": Row(
        "",
        r"(?:如果|若|一旦|等|待|只要|当|经|得到|获得|征得)?(?:您|你)(?:的)?(?:同意|确认|批准|允许|许可|授权)(?:后|之后|了|，|,|的话|我)|(?:如果|若|要是)(?:您|你)(?:同意|确认|愿意|允许|批准|需要我|回复|回答|说)",
    ),
    "ja": Row(
        "",
        r"よろしければ|よければ|差し支えなければ|ご希望であれば|(?:同意|承認|確認|許可|了承|返信|お返事|回答)(?:を|して)?(?:いただけ(?:れば|ましたら)|いただいたら|頂ければ|頂けましたら|くだされば|いただいた?後|後に|があれば)",
    ),
    "ko": Row(
        "", r"(?:동의|승인|허락|허가|확인|원|답|말씀|회신)(?:해\s*주)?(?:하)?시면|괜찮으시(?:다)?면|(?:동의|승인|허락|확인)\s*후"
    ),
}
"""The call waits for the reader's consent, whatever is announced."""
ACTION: dict[str, str] = {
    "en": r"\b(?:I|we)\s+(?:(?:am|are|now|then|just|simply|rather|instead|therefore)\s+)*(?:run|call|use|using|execut\w+|invok\w+|do|doing|mak\w+|start|launch|try|fetch|check|"
    r"look|go|send|read|search|finish|proceed)\b|(?:\A|[,;:\u2014\u2013-])\s*(?:(?:so|now|just)\s+)*(?:running|calling|using|executing|doing|invoking|making|trying)\b",
    "de": r"\b(?:wird|werden)\s+(?:jetzt|nun|gleich|sofort)\s+(?:\w+\s+)?(?:auf|aus|ab)?ge\w+",
    "fr": r"\bj['’](?:appelle|exécute|utilise|envoie|essaie|interroge|effectue)\b",
    "es": r"\b(?:ejecuto|llamo|uso|hago|busco|lanzo|consulto)\b|\bestoy\s+\w+ndo",
    "pt": r"\b(?:executo|chamo|uso|faço|busco|consulto)\b|\bestou\s+\w+ndo",
    "it": r"\b(?:eseguo|chiamo|uso|faccio|cerco|controllo|lancio)\b",
    "zh": r"(?:正在|马上|所以|改为|改|现在)(?:调用|使用|用|执行|查询)",
    "ja": r"[^。、]{0,24}(?:実行|使い|使用し|呼び出し|検索し|取得し)ます",
    "ko": r"(?:실행|호출|사용|조회|검색)합니다",
}
"""What the speaker does, said behind a denial in the same sentence; announcements count as well."""
