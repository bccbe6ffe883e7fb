"""What the words behind a call say of it: several sentences, a disclaimer, a retraction, or one statement.

Models that mean a call say little behind it: some words (`It is on its way.`), or what they will do when they have its
result (`I will tell you as soon as the bank answers.`). A text about a call talks of it: that it was not run, that it is an example,
what it did, what is wrong with it. No list of phrases holds all that can be said of a call, but one holds what is said while one
waits: so words that are neither few nor such a phrase make the call a guess. Few words do where nobody speaks or is spoken to,
neither in them nor in the sentence before the call. Who has announced the call may say more, if it is not taken back.
"""

from __future__ import annotations

import re
from functools import cache

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.impersonal import is_impersonal
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.normalizer.trust.told_lead_ins import forbids
from llmcore.types.late import late
from llmcore.types.retraction_words import INTERJECTIONS, NOES, RETRACTING_WORDS, any_of

__all__ = ["REACH", "is_left_over", "is_retold", "sentence_before_step", "talk_of_it"]

REACH = 2048
"""Characters around a call in which sentences may talk of it."""
_MOST = 3  # sentences of somebody who waits
_SOME = 2  # of somebody who said what they do
_SENTENCE_END = late(r"""(?<=[^\s.!?])["'”’»)*_`]{0,3}(?:[.!?…؟।][.!?…)"'”’»*_`]{0,4}(?=\s|\Z)|[。！？]|:\s*\n)""")
_QUESTION = late(r"[^.!?…。！？\n]*[?？]")  # the full-width ones are meant
_OFFERS = late(
    r"\b(?:else|more|other|another|further|next|help|noch|weitere\w*|sonst|helfen|autre|encore|plus|aider|más|otr[oa]|algo|ayudar\w*|mais|outr[oa]|"
    r"ajudar|altro|altra|aiutar\w*|ещё|еще|друг\w+|помочь)\b|还|其他|帮|他に|ほかに|もっと|手伝|더|다른|도와",
    re.IGNORECASE,
)
"""A question that asks whether there is something more to do asks nothing of the call."""
_HOLDERS = "arguments|parameters|args|params|tool_input|action_input"
_TAG = re.compile(r"<[^<>\n]{0,256}>")

_DISCLAIMERS = {
    "en": r"\b(?:not|never|n['’]t)\s+(?:(?:been|be|to\s+be|actually|really|yet|meant|intended)\s+){0,3}(?:executed|run|called|sent|performed|invoked|meant|intended|real)\b"
    r"|\b(?:only|just|merely|purely|simply)\s+(?:\w+\s+){0,2}?(?:examples?|illustrati(?:on|ve)|templates?|samples?|demonstration|mock-?up|drafts?|sketch|hypothetical)\b"
    r"|\bfor\s+(?:illustration|demonstration|documentation|illustrative|demonstrative)\b|\b(?:examples?|illustration)\s+only\b|\bas\s+an?\s+(?:example|illustration)\b"
    r"|\b(?:is|was|were|are)\s+(?:only\s+|just\s+)?(?:an?\s+|the\s+)?(?:\w+\s+)?(?:examples?|illustrations?|templates?|mock-?up)\b"
    r"|\b(?:nothing|none\s+of\s+(?:this|that|these|it))\s+(?:was|is|has|will|gets)\b|\b(?:do\s+not|don['’]t|never)\s+(?:run|execute|call|copy|send)\s+(?:it|this|that)\b"
    r"|\bend\s+of\s+(?:the\s+)?(?:example|sample|template|quote|quotation)\b|\b(?:just|only)\s+(?:the\s+)?(?:format|form|syntax|kidding|joking)\b|\bignored\s+(?:it|this|that)\b|"
    r"\bplease\s+(?:confirm|approve)\b|\b(?:tell|give)\s+me\s+(?:a\s+|an\s+)?(?:yes|ok|okay|go)\b|\bsay\s+(?:yes|the\s+word)\b|\A\W*jokes?\b",
    "de": r"\b(?:nicht|nie|niemals)\s+(?:\w+\s+){0,2}?(?:ausgeführt|aufgerufen|gesendet|abgeschickt|ausführen|aufrufen|gemeint|echt)\b"
    r"|\b(?:nur|bloß|lediglich|rein)\s+(?:\w+\s+){0,2}?(?:beispiel|veranschaulich|illustrati|muster|vorlage|demonstration|skizze|hypothetisch|entwurf)\w*"
    r"|\bzur\s+(?:veranschaulichung|illustration|demonstration)\b|\b(?:ist|war|wäre)\s+(?:nur\s+|bloß\s+)?(?:ein|eine|das)\s+(?:\w+\s+)?(?:beispiel|veranschaulichung|muster|vorlage)\b"
    r"|\bals\s+(?:\w+\s+)?(?:beispiel|illustration)\b|\bnichts\s+(?:davon\s+)?(?:wurde|wird|ist)\b|\bende\s+des\s+beispiels\b"
    r"|\b(?:nur|bloß)\s+(?:das\s+format|die\s+(?:form|syntax)|(?:ein\s+)?(?:spaß|scherz))\b|\A\W*(?:scherz|spaß)\b|\bsag\w*\s+(?:mir\s+)?ja\b|\bbitte\s+(?:\w+\s+)?bestätig",
    "fr": r"\b(?:non|pas|jamais)\s+(?:(?:été|être|encore|réellement)\s+){0,2}(?:exécut|appel|lanc|envoy)\w*|\bà\s+titre\s+(?:d['’](?:exemple|illustration)|indicatif|illustratif)"
    r"|\b(?:simple|qu['’]un|qu['’]une|seulement\s+une?|juste\s+une?)\s+(?:\w+\s+)?(?:exemple|illustration|modèle|ébauche)\b|\b(?:est|était)\s+une?\s+(?:\w+\s+)?(?:exemple|illustration|modèle)\b"
    r"|\bpour\s+(?:l['’])?illustr\w+|\bcomme\s+exemple\b|\brien\s+(?:de\s+\w+(?:\s+\w+)?\s+)?n['’](?:a|est)\b|\bfin\s+de\s+l['’]exemple\b"
    r"|\b(?:que|juste|seulement)\s+(?:le\s+format|la\s+(?:forme|syntaxe))\b|\bje\s+plaisante\b|\b(?:veuillez|merci\s+de)\s+confirmer\b",
    "es": r"\bno\s+(?:(?:se|ha|fue|es|sido|será|debe|realmente)\s+){0,3}(?:ejecut|llam|enví|envi|lanz|invoc)(?!\w*(?:aré|o)\b)\w*"
    r"|\b(?:solo|sólo|solamente|simplemente|únicamente|mero|mera)\s+(?:\w+\s+){0,3}?(?:ejemplo|ilustra\w+|muestra|plantilla|borrador)\b"
    r"|\b(?:a\s+modo\s+de|a\s+título\s+de|como)\s+(?:ejemplo|ilustración)\b|\b(?:es|era)\s+(?:un|una)\s+(?:\w+\s+)?(?:ejemplo|ilustración|plantilla)\b|\bfines\s+ilustrativos\b|\bnada\s+(?:de\s+\w+\s+)?(?:se|fue|ha)\b"
    r"|\b(?:solo|sólo)\s+(?:era\s+)?(?:el\s+formato|la\s+(?:forma|sintaxis)|una\s+broma)\b|\bes\s+broma\b|\bpor\s+favor,?\s+confirm",
    "pt": r"\bnão\s+(?:(?:se|foi|é|ser|será|deve)\s+){0,3}(?:execut|cham|envi|invoc|rod)(?!\w*(?:arei|o)\b)\w*"
    r"|\b(?:apenas|somente|só|meramente)\s+(?:\w+\s+){0,3}?(?:exemplo|ilustra\w+|modelo|rascunho)\b|\b(?:a\s+título\s+de|como)\s+(?:exemplo|ilustração)\b|\b(?:é|era)\s+(?:um|uma)\s+(?:\w+\s+)?(?:exemplo|ilustração|modelo)\b"
    r"|\bfins\s+(?:ilustrativos|de\s+ilustração)\b|\bnada\s+(?:disso\s+)?(?:foi|é)\b"
    r"|\b(?:só|apenas)\s+(?:era\s+)?(?:o\s+formato|a\s+(?:forma|sintaxe)|uma\s+brincadeira)\b|\bpor\s+favor,?\s+confirm",
    "it": r"\b(?:non|mai)\s+(?:(?:è|stat[oa]|viene|va|essere)\s+){0,3}(?:esegu|chiamat|inviat|invocat|lanciat)(?!\w*(?:irò|o)\b(?<!t[oa]\b))\w*"
    r"|\b(?:solo|soltanto|semplice|puramente)\s+(?:\w+\s+){0,2}?(?:esempio|illustra\w+|modello|bozza)\b|\b(?:a\s+titolo\s+di|come)\s+(?:esempio|illustrazione)\b|\bè\s+(?:un|una)\s+(?:\w+\s+)?(?:esempio|illustrazione|modello)\b"
    r"|\bscopo\s+illustrativo\b|\bnulla\s+(?:di\s+\w+\s+)?(?:è|viene)\b"
    r"|\b(?:solo|soltanto)\s+(?:era\s+)?(?:il\s+formato|la\s+(?:forma|sintassi)|uno\s+scherzo)\b|\bper\s+favore,?\s+conferm",
    "ru": r"\bне\s+(?:(?:был[оаи]?|будет|буд\w+)\s+)?(?:выполн(?:ен|ял)|запу(?:щен|скал)|вызван|вызывал|отправлен|исполнен)\w*|\b(?:лишь|только|просто|всего\s+лишь)\s+(?:\w+\s+)?(?:пример|иллюстраци|образец|шаблон|набросок)\w*"
    r"|\bдля\s+(?:иллюстрации|наглядности|примера)\b|\bв\s+качестве\s+(?:примера|иллюстрации)\b|\bэто\s+(?:\w+\s+)?(?:пример|иллюстрация|образец|шаблон)\b|\bничего\s+(?:из\s+этого\s+)?не\b"
    r"|\b(?:только|лишь|просто)\s+(?:формат|форма|синтаксис|шутка)\b|\bшучу\b|\bподтвердите\b",
    "zh": r"(?:没有|未|并未|尚未|不会|从未|不)(?:被|真正|实际|真的)?(?:执行|调用|运行|发送)|(?:仅|只|只是|仅仅|不过)(?:是|为|作|供|用于|用来)?(?:一个|个)?[^，。]{0,3}(?:示例|例子|示意|演示|说明|样例|参考|模板|草稿)|(?:以上|这|上面)[^，。]{0,4}(?:示例|例子|样例)|作为(?:示例|例子)|示例(?:结束|完)|(?:只是|仅是|只为)(?:格式|语法)|开玩笑|请(?:先)?确认",
    "ja": r"(?:実行|呼び出し|送信)(?:は)?(?:されて|して|されま|しま|され|し)?(?:いません|せん|ていない|なかった|ません)|(?:あくまで|単なる|ただの|のみの)[^。]{0,8}(?:例|サンプル|説明|見本)|(?:例|サンプル|見本|説明用)(?:です|でした|にすぎません|に過ぎません|として)|例は以上|以上[がはで][^。]{0,4}例|冗談|ご確認ください|ご承認ください",
    "ko": r"(?:실행|호출|전송)(?:되지|하지)\s*(?:않|못)|(?:단지|그저|단순한|오직)\s*[^.]{0,8}(?:예|예시|예제|설명|샘플)|(?:예시|예제|샘플|설명용)(?:입니다|일\s*뿐|였습니다|이다)|예시\s*끝|설명을\s*위한|농담|(?:확인|승인)해\s*주",
}
_NOT_DE = r"(?!hab|hatt|wär|würd|sollt|könnt|möcht|bin\b|sind\b|war|wurd|dies|kein|mein|dein|sein|ihre|alle|beide|gerne\b|\w+(?<!war)(?<!ar)(?<!tes)te\b)"
"""No form of a verb that tells what will be done."""
_WHILE_WAITING = {
    "en": r"\b(?:I['’]ll|I\s+will|I\s+can\s+then|we['’]ll|let\s+me|let['’]s|I['’]m\s+\w+ing|I\s+am\s+\w+ing|once\s+(?:I|we)|as\s+soon\s+as|"
    r"(?:one|just\s+a|a)\s+(?:moment|second|sec|minute)|hang\s+on|hold\s+on|bear\s+with|stand\s+by|please\s+wait|thank(?:s|\s+you)|"
    r"(?:this|it|that)\s+(?:will|should|may|might)\s+(?:only\s+)?(?:take|be\s+(?:done|quick|ready)))\b",
    "de": rf"\b(?:ich\s+{_NOT_DE}\w{{3,}}e\b|wir\s+{_NOT_DE}\w{{3,}}en\b|{_NOT_DE}\w{{2,}}e\s+ich|{_NOT_DE}\w{{2,}}en\s+wir|"
    r"(?:einen|kleinen)\s+(?:moment|augenblick)|moment|augenblick|sobald|bitte\s+warten|danke)\b",
    "fr": r"\b(?:je\s+(?:vous|te|reviens|vais|\w+rai)|un\s+(?:instant|moment)|merci|patientez|dès\s+que|veuillez\s+patienter)\b",
    "es": r"\b(?:un\s+(?:momento|segundo|instante)|(?:te|le|os|les)\s+(?:aviso|confirmo|cuento|informo|digo)|en\s+cuanto|enseguida|espere?|gracias|"
    r"voy\s+a|\w+(?:ar|er|ir)é)\b",
    "pt": r"\b(?:um\s+(?:momento|segundo|instante)|(?:te|lhe|já)\s+(?:aviso|confirmo|conto|informo|digo)|assim\s+que|aguarde|obrigad[oa]|vou|"
    r"\w+(?:ar|er|ir)ei)\b",
    "it": r"\b(?:un\s+(?:momento|attimo|istante|secondo)|(?:ti|le|vi)\s+(?:avviso|confermo|dico|informo|faccio)|(?:non\s+)?appena|attend[ia]|grazie|"
    r"\w+(?:er|ir)ò)(?!\w)",
    "ru": r"\b(?:минут\w*|секунд\w*|подожд\w+|сообщу|напишу|отвечу|вернусь|скажу|дам\s+знать|как\s+только|спасибо)\b",
    "zh": r"稍等|稍候|请等|马上|我会|我将|我来|完成后|处理完|好了之后|告诉[您你]|通知[您你]|谢谢",
    "ja": r"お待ち|少々|お知らせ|ご連絡|ご報告|(?:し|いた)ます|しましょう",
    "ko": r"잠시|기다려|알려\s*드리|말씀\s*드리|겠습니다|할게요|드릴게요",
    "ar": r"لحظة|انتظ|\bسأ\w+|\bسوف\b",
    "hi": r"प्रतीक्षा|रुकि|एक\s+(?:पल|क्षण|मिनट)|बताऊ|ूँगा|ूंगा|ूँगी|ूंगी",
}
"""What somebody says who waits for the result of the call."""
_NEGATION = late(
    r"\b(?:not|never|nothing|nobody|no|none|until|unless|nicht|nichts|nie|kein\w*|erst|pas|rien|jamais|nunca|nada|não|nulla|niente|не|ничего)\b|n['’]t\b"
    r"|\A\W*no\b|[不没未]|ませ|ない|않|아니|لا\b|لم\b|لن\b|नहीं",
    re.IGNORECASE,
)
_SAYS_NO = late(rf"\A\W*(?:ah\W+|oh\W+)?(?:(?:{any_of(NOES)}|لا)\b|不[，,是对行]|いや|いえ|違|아니)", re.IGNORECASE)
_RETRACTION = late(
    rf"{any_of(RETRACTING_WORDS, whole=True)}|\b(?:{any_of(INTERJECTIONS)})(?=\s*[,.!…。！，、—–-]|\s*\Z)",
    re.IGNORECASE,
)
"""Words that take back what was said."""
_STEP = late(r"^[ \t*_#]*(?:Thought|Question|Action|Action Input|Observation|Final Answer)\s{0,4}:", re.MULTILINE)
_PARAGRAPHS = late(r"\n[ \t]*\n\s*")
_MEMBERS = late(
    r"""[\s}\])]*+(?:,\s*["']?[\w.-]{1,64}["']?\s*[:=]\s*\S|["'][\w.-]{1,64}["']\s*:\s*\S|[\w.-]{1,64}:<|--\w+\s|"[^"\n]{0,200}"\s*[}\]])"""
)
_ARGUMENTS_AGAIN = late(rf"\s*+(?:<(?:{_HOLDERS}|parameter|arg_key)\b|Action Input\s?:)")
_NEAR = 256
"""Characters behind a call in which its own closer belongs to it."""
_FEW = 6  # words
_FEW_SIGNS = 10  # in scripts without blanks
_WORD = late(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff]")
_IN_BRACKETS = late(r"[(（\[［][^()（）\[\]［］]*[)）\]］][.。]?")  # full-width ones as well
"""A note: where it is from, how many points it gives."""
_EXAMPLE = late(
    r"\b(?:examples?|\w{0,8}beispiel\w{0,10}|exemples?|ejemplos?|exemplos?|esempi?o?|пример\w{0,3})\b|示例|例子|样例|の例|例[はがをでと]|예시|예제",
    re.IGNORECASE,
)


@cache
def _disclaimer() -> re.Pattern[str]:
    return re.compile("|".join(_DISCLAIMERS.values()), re.IGNORECASE)


@cache
def _while_waiting() -> re.Pattern[str]:
    return re.compile("|".join(_WHILE_WAITING.values()), re.IGNORECASE)


def is_left_over(said: str, name: str) -> bool:
    """Is what stands behind a call of this tool a part of it: further members of its object, its closer behind other text, or a
    second element of its arguments?"""
    if _MEMBERS.match(said) is not None or _ARGUMENTS_AGAIN.match(said) is not None:
        return True
    return "</" in said and f"</{name}>" in said[:_NEAR]


def talk_of_it(said: str, before: str) -> bool:
    """Do the words `said` behind a call talk of it? `before`: the sentence before it."""
    said = _TAG.sub("", said[:REACH]).strip()
    if not said:
        return False
    announced = announces(before)
    if _RETRACTION.search(said) is not None or _disclaimer().search(said) is not None:
        return True
    if (_SAYS_NO if announced else _NEGATION).search(said) is not None or forbids(said):
        return True
    if any(_OFFERS.search(one) is None for one in _QUESTION.findall(said)):
        return True
    if _IN_BRACKETS.fullmatch(said) is not None and _while_waiting().search(said) is None:
        return True
    if _EXAMPLE.search(said) is not None and _EXAMPLE.search(before) is not None:
        return True
    sentences = [one for one in _SENTENCE_END.split(said) if _WORD.search(one) is not None]
    if said.endswith(COLONS) and sentences:
        sentences.pop()  # it leads to the next call
    waits = [_while_waiting().search(one) is not None for one in sentences]
    if announced:
        return len(sentences) > _SOME and not any(waits)
    if len(sentences) > _MOST or not all(waits[at] or _is_short(one) for at, one in enumerate(sentences)):
        return True
    if len(sentences) > 1:
        return not any(waits)
    ends = _SENTENCE_END.search(said) is not None
    return ends and all(is_impersonal(one) and not announces(one) for one in (before, said))


def sentence_before_step(before: str) -> str:
    """The sentence before a call, or, where the call has a thought, before that."""
    step = _STEP.search(before)
    return sentence_before(before, 0, len(before) if step is None else step.start())


def is_retold(said: str, before: str) -> bool:
    """Is a call retold whose result stands in `said`, behind it? A model that makes a result up goes on to its answer; whoever tells
    of a call leads in to it in `before`, as nobody does who begins with a thought, and talks of it in a paragraph behind."""
    sentence = sentence_before_step(before)
    if not is_impersonal(sentence) or announces(sentence):
        return False
    told = [one for one in _PARAGRAPHS.split(said[:REACH].strip())[1:] if _STEP.match(one) is None]
    return any(talk_of_it(one, sentence) for one in told)


def _is_short(sentence: str) -> bool:
    return len(_WORD.findall(sentence)) <= _FEW and len(_UNSPACED.findall(sentence)) <= _FEW_SIGNS
