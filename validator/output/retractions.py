"""The words right behind a value: do they take it back?

What counts is how the first sentence behind the value begins, interjections apart, and marks that strike the value out. The
tables are by language; a new way to take something back is one more entry. A sentence with an `if` only offers to change
something (`I will redo it if you like`), and one about something else (`Nothing else is wrong.`) begins with other words.
"""

from __future__ import annotations

import re
from itertools import islice

__all__ = ["HESITATION", "NO", "PAUSE", "RETRACTING", "WRONG", "struck_until", "taken_back", "takes_something_back"]

_FLAGS = re.IGNORECASE | re.VERBOSE
_LOOKED_AT = 160

NO = r"""(?: no | nope | o+ps | whoops | nein | hoppla | non | oups | ups | uy | não | nee
    | нет | ой | 不 | 不对 | 不對 | 错了 | 錯了 | いや | 違う | 違います
    | 아니 | 아니요 )"""
HESITATION = r"""(?: wait | hold\son | hang\son | hm+ | ah | oh | uh | um | er+ | well | actually | sorry | pardon | my\smistake
    | warte | halt | moment | sorry | Verzeihung | Entschuldigung | ach | attends | attendez | pardon | désolée? | espera
            | perd[óo]n
    | espere | aspetta | aspetti | scusa | scusi | lo\ssiento | mi\sdispiace | tut\smir\sleid | desculpe? | opa
    | стоп | стой | подожди(?:те)? | погоди(?:те)? | извини(?:те)? | простите? | 等等 | 等一下 | 抱歉 | 对不起 | 待って
            | すみません
    | 잠깐(?:만요?)? | 죄송합니다 )"""
_STOP = r"""(?: wait | hold\son | hang\son | hm+ | warte | halt | moment | attends | attendez | espera | espere | aspetta
            | aspetti | стой
    | подожди(?:те)? | погоди(?:те)? | 等等 | 等一下 | 待って | 잠깐 )"""
PAUSE = r"[\s,.!:;\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]"
RETRACTING = rf"""(?: (?:{HESITATION}{PAUSE}+){{1,3}} {NO} | {NO}{PAUSE}+{_STOP} | (?:ой|ups|oups|uy|opa){PAUSE}+{NO}
    | o+ps | whoops | hoppla | oups | or\srather | 应该是 )"""
"""Words with which somebody takes back what they have just said. `No` alone says less, and so does `wait`."""

WRONG = r"""(?: wrong | incorrect | invalid | mistaken | inaccurate | false | erroneous | outdated | an?\s(?:mistake|error|typo)
    | the\swrong\s\w+ | my\s(?:mistake|error) | no\sgood
    | (?:not|n['\u2019]t)\s(?:\w+\s)?(?:right|correct|valid|true|accurate|it|what\sI\smeant) | falsch | faux | incorrect[oa]
            | mal )"""

# --- in the same sentence ---------------------------------------------------------------------------------------------

_TAKEN_BACK = re.compile(
    r"""[\s)\]"'`*_]{0,8} (?:
        ,? \s* (?:(?:which|that)\s+)? (?: (?:is|was|are|were|would\sbe|ist|war|est|es|está|è|era|é) \s+ (?:\w+\s+)?
            (?: not | no\slonger | wrong | incorrect | invalid | outdated | obsolete | superseded | false | mistaken
              | falsch | nicht | faux | pas | incorrect[oa] | equivocad[oa] | sbagliat[oa] | errat[oa] | errad[oa]
            | incorret[oa] )
          | (?:is|was|are|were)n['\u2019]t | cannot | can['\u2019]t )
      | (?:before|previously|formerly|earlier|until\snow|at\sfirst)
    ) \b
      | 是?(?:错误|不对|不正确)
    """,
    _FLAGS,
)
_MARKS = re.compile(
    r"""[ \t)\]"'`*_]{0,8} (?:
        \s*</(?:del|strike)\s*> | ~~(?!~) | [\u274c\u274e\u2716\u2717\u2718\U0001f6ab\U0001f44e]
            | \s*[\u274c\u274e\u2717\u2718]\s*\Z
      | \s* (?: // | \# | -- | /\* | <!-+ | <-+ | \u2190 | [(\[] ) \s* (?:this\sis\s|that\sis\s|is\s)?
        (?: old | previous | wrong | incorrect | invalid | outdated | obsolete | not | rejected | retracted | example
            | false | mistake
          | nope | falsch | alt | faux | erreur | incorrecto | sbagliato | errado | неверно | ошибка | 错误 | 错了 | 間違い
            | 틀림 ) \b
    )""",
    _FLAGS,
)
"""A value that is struck out, or that a comment calls wrong."""

# --- as the next sentence ---------------------------------------------------------------------------------------------

_OPENERS = rf"""(?: (?: {HESITATION}(?!\w) [\s,.;:!?\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]*
    | (?:o+ps|whoops|no|nope|nein|non|nee|não|нет|ой|不|いや|아니요?) [,.;:!?\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]+ \s*
    | (?:but|and|so|please|however|ok|okay|yes|though|just|or|also|now|note|attention|aber|bitte|doch|mais|pero|por\sfavor|ma
            |mas|per\sfavore
        |s['\u2019]il\s(?:te|vous)\spla[iî]t|но|а|пожалуйста|but\salso) (?!\w) [\s,:]*
    | (?:I|we)\s(?:think|believe|see|fear|(?:just\s)?(?:notice|realiz|realis)ed?)(?:\snow)?(?:\sthat)? \s
    | 请 | 請 | 但是? | 其实 | でも )){{0,4}}"""
_IF = r"""(?! [^.!?\n]{0,60} \b (?:if|unless|in\scase|should\syou|falls|wenn|если) \b )"""
_ENDS = r"(?= \s*[.!?,;\u2026\u3002\uff01\uff1f\uff0c)\]*_\u2013\u2014] | [ \t]*\n | \s*:?\s*\Z )"
_ABOVE = r"""(?: (?:the|my|that|this)\s (?:(?:above|previous|last|first|prior|earlier|preceding|initial|old|wrong)(?:\s\w+)?
        | (?:answer|result|value|object|json|output|reply|response|number|list)s?(?:\sabove)?)
    | the\sabove | what\sI\s(?:just\s)?(?:said|wrote|gave) | (?:all\s)?(?:of\s)?(?:that|this|it)(?:\s(?:one|answer|value
            |result))? )"""
_VALUE = r"""(?=["'`\u201c{\[\d*-] | true\b | false\b | null\b)"""
_AGAIN = r"""(?: correct | fix | redo | revise | rethink | reconsider | rephrase | re-?(?:compute|calculate|count|do|check
            |verify|evaluate|examine
        |assess|write|state|run|work|start|read|analy[sz]e|visit) | try\s(?:(?:that|this|it)\s)?(?:again|once\smore|anew)
    | start\s(?:over|again) | do\s(?:that|this|it)\s(?:again|over) | double[- ]check | check\s(?:that|this|it|again)
    | think\s(?:again|about\sthat) | look\sagain | change\sthat )"""

_VERDICTS: dict[str, str] = {
    "en": r"""wrong(?:\s(?:answer|one|value|result|again))? | incorrect | false | nope | mistake | error | err | invalid
        | not\s(?:quite\s|at\sall\s)?(?:right|correct|true|that|this|it|so\sfast)(?:\sone)? | my\s(?:mistake|bad|error|fault)
        | (?:scratch|strike|disregard|ignore|cancel(?:led)?|retract(?:ed)?|undo|discard) | I\smeant | I\stake\sthat\sback""",
    "de": r"""falsch | fehler | irrtum | quatsch | unsinn | stimmt\s(?:so\s)?nicht | doch\snicht | nicht\s(?:das|diese[rs]?
            |richtig|korrekt)""",
    "fr": r"""faux | erreur | incorrect | inexact | pas\s(?:ça|celui-là|celle-là|cela) | mon\serreur""",
    "es": r"""incorrecto | equivocado | error | falso | mal | est[ae]\sno | es[ae]\sno | mi\serror | mentira""",
    "it": r"""sbagliato | errato | errore | falso | scorretto | non\s(?:quello|quella|questo|questa|così) | mio\serrore
            | ho\ssbagliato""",
    "pt": r"""errado | incorreto | erro | falso | ess[ea]\snão | não\s(?:ess[ea]|isso) | meu\serro | errei | (?:ops|opa)""",
    "ru": r"""неверно | неправильно | не\s?верно | ошибка | не\sто | не\sтак | не\s(?:этот|это|эта|тот) | моя\sошибка
            | неправда""",
    "zh": r"""错 | 錯 | 错误 | 錯誤 | 不是(?:这个|那个|這個|那個)""",
    "ja": r"""誤り | 違う | それじゃない | ミスです""",
    "ko": r"""오류 | 실수 | 그게\s?아니[\w]*""",
}
"""They take something back where they are all that is said."""

_BEGINNINGS: dict[str, str] = {
    "en": rf"""(?:you\s(?:can|should|may|must)\s)? (?:scratch|strike|cancel|forget|ignore|disregard|discard|drop|delete
            |retract|undo|nix|withdraw
            |(?:do\snot|don['\u2019]t|never)\s(?:use|trust|take|send|submit|rely\son))\s(?:about\s)?{_ABOVE} \b
        | never\s?mind \b | (?:updated?|edit(?:ed)?|better|fixed|revised|corrected|actually|rather|no)\s?:\s*\Z | I\s(?:actually\s|really\s)?meant\b (?!\sto\b) | on\ssecond\sthoughts? \b
            | correction\s*:(?!\s*(?:none|no)\b)
        | I\s(?:made\san?\s(?:\w+\s)?(?:mistake|error|typo)|was\s(?:wrong|mistaken)|mis\w+|(?:take|took)\s(?:that|it)\sback
            |stand\scorrected
            |got\s(?:that|it|this)\s(?:\w+\s)?wrong|messed\s(?:that\s|it\s)?up|erred|retract|withdraw|correct\smyself) \b
        | (?:I\s(?:apologi[sz]e|am\ssorry)|I['\u2019]m\ssorry|(?:my\s)?apologies)\s(?:for|about)\s(?:the|that|my
            |this)\s(?:\w+\s)?(?:mistake|error|confusion|mix-?up) \b
        | (?:let\sme|let['\u2019]?s|I(?:['\u2019]ll|\swill|\sshould|\smust|\sneed\sto|\shave\sto|\swant\sto)|we\s(?:need
            |have)\sto)\s(?:just\s|first\s|quickly\s)?{_AGAIN} \b
        | {_ABOVE}\s(?:can(?:not|\snot|['\u2019]t)|could\s?(?:not|n['\u2019]t))\sbe\b
        | {_ABOVE}\s(?:does|did|can|do)(?:\s?not|n['\u2019]t)\s(?:fit|match|work|look\sright|seem\sright|add\sup|make\ssense
            |hold|be\sright)\b
        | (?!this\b[^.\n:]{{0,50}}:\s*\S){_ABOVE}(?:\s(?:is|was|are|were|looks|seems)|['\u2019]s|(?=\s(?:is|was|are
            |were)n))\s(?:(?!not)\w+\s)?(?:is|was)?{WRONG}\b
        | {_ABOVE}(?:\s(?:is|was|are)|['\u2019]s)\s(?:(?:only|just|merely|purely
            |simply)\s)?(?:meant\sas\s)?(?:an?\s)(?:\w+\s)?(?:example|placeholder|template|sample
            |illustration|mock-?up|dummy)\b (?![^.\n:]{{0,30}}:\s*\S)
        | (?:it|that|this|{_ABOVE})\s(?:really\s|actually\s)?(?:should|ought\sto|must)\s(?:be|have\sbeen|read)\s(?:{_VALUE}
            |instead\b)
        | (?:it|that)\s(?:is|['\u2019]s)\s(?:really|actually|rather)\s{_VALUE}""",
    "de": r"""(?:vergiss|vergessen\sSie|ignoriere?|ignorieren\sSie|streiche?|streichen\sSie|verwirf
            |verwerfen\sSie)\s(?:bitte\s)?(?:das|dies|es|die|den)\b
        | ich\s(?:meinte|korrigiere|nehme\sdas\szurück|habe?\s(?:mich\s)?(?:geirrt|vertan|verrechnet|verzählt|einen\sFehler)
            |lag\sfalsch) \b
        | ich\shabe\smich\s(?:geirrt|vertan|verrechnet|verschrieben) \b | mein\sFehler \b | Korrektur\s*:
            | Korrektur\b(?=\s*[.!]?\s*\Z)
        | (?:das|es|dies)\s(?:stimmt|passt)\s(?:\w+\s)?nicht \b | (?:das|es|dies)\skann\s(?:so\s)?nicht\b | vertan\b
        | (?:das|dies|die\sAntwort|das\sObige)\s(?:ist|war)\s(?:\w+\s)?(?:falsch|nicht\s(?:richtig|korrekt|das)
            |ein\s(?:Fehler|Irrtum)|(?:nur\s)?ein\sBeispiel)\b
        | (?:das|es)\s(?:sollte|müsste|muss)\b[^.\n]{0,30}\b(?:sein|heißen|lauten)\b | richtig\s(?:ist|wäre)\b
        | lass(?:t|en\sSie)?\smich\s(?:\w+\s){0,3}(?:neu|nochmal|noch|nochmals|korrigieren|nachrechnen|überdenken|prüfen)\b""",
    "fr": r"""(?:oublie|ignore|annule|laisse|supprime)[zr]?(?:[\s-](?:ça|cela|ceci|la|le|les|ce|tomber|moi\stomber)\b)
        | je\s(?:voulais\sdire|me\ssuis\stromp|me\scorrige|me\sreprends|corrige|retire|rectifie)
            | j['\u2019]ai\s(?:fait\sune\serreur|eu\stort|mal\s\w+) | (?:mon\serreur|ma\sfaute)\b
        | c['\u2019]\s?(?:est|était)\s(?:\w+\s)?(?:faux|incorrect|inexact|une\serreur|pas\s(?:ça|juste|correct|bon|exact)
            |(?:juste\s|seulement\s)?un\sexemple)\b
        | ce\sn['\u2019]est\s(?:pas\s(?:ça|juste|correct|bon|exact|cela)|qu['\u2019]un\sexemple)\b | (?:ça|cela)\sne\s(?:peut
            |va|marche|colle)\b
        | laisse[zr]?-moi\s(?:le\s)?(?:recalculer|corriger|refaire|réessayer|reprendre|recommencer|vérifier|revoir)\b
        | (?:je\svais|je\sdois)\s(?:recalculer|corriger|refaire|réessayer)\b | (?:ça|cela|ce)\sdevrait\sêtre\b
            | (?:correction|rectification)\s*:(?!\s*(?:none|no|aucune)\b) | en\sfait,?\snon\b""",
    "es": r"""(?:olv[ií]d|ignór|descárt|cancél|bórr)[ae]l[oa]s?\b | (?:olvid[ae]|ignor[ae]|descart[ae]|cancel[ae]
            |borr[ae])\s(?:eso|esto|lo|la|el)\b
        | me\s(?:he\s)?(?:equivoqu[eé]|equivocado|confund\w+|corrijo) | (?:quise|quería)\sdecir\b | (?:mi|fue\sun
            |es\sun)\serror\b
        | (?:eso|esto)\s(?:no|está\smal|es\s(?:incorrecto|falso|un\serror|(?:solo\s|sólo\s)?un\sejemplo))\b
            | no\ses\s(?:correcto|eso|así|cierto)\b
        | (?:d[eé]ja|déje|permíte|permíta)me\s(?:corregir|recalcular|rehacer|revisar|intentar|reintentar|verificar)\w*\b
            | (?:correcci[oó]n|rectificaci[oó]n)\s*: | (?:rectifico|corrijo)\b
        | (?:eso\s|esto\s)?deber[ií]a\sser\b | es\ss[oó]lo\sun\sejemplo\b""",
    "it": r"""(?:dimentic|ignor|annull|cancell|scart)(?:a|ate|i)(?:l[oa])?(?:\s(?:quello|questo|la|il|ciò|quanto))?\b
            | lascia\s(?:perdere|stare)\b
        | mi\s(?:correggo|sono\ssbagliat\w|sbaglio|ero\ssbagliat\w)\b | ho\s(?:sbagliato|fatto\sun\serrore
            |commesso\sun\serrore)\b | (?:volevo\sdire|intendevo)\b
        | (?:questo\s|quello\s)?non\s(?:è\s(?:corretto|giusto|così|vero|quello)|può\sessere)\b | (?:questo\s|quello\s)?(?:è
            |era)\s(?:sbagliato|errato|un\serrore|(?:solo\s)?un\sesempio)\b
        | (?:fammi|lascia(?:te)?mi)\s(?:ricalcolare|correggere|riprovare|rifare|ricontrollare|rivedere)\b | correzione\s*:
            | dovrebbe\sessere\b""",
    "pt": r"""(?:esque[cç][ae]|ignor[ae]|descart[ae]|cancel[ae]|desconsider[ae]|apagu?[ae])\s(?:isso|isto|o|a|essa|esse)\b
            | (?:esque[cç]a|ignore|desconsidere)(?=\s*[.!])
        | deixa\s(?:pra|para)\slá\b | me\s(?:enganei|corrijo)\b | enganei-me\b | corrigindo\b | errei\b | cometi\sum\serro\b
            | (?:quis|queria)\sdizer\b
        | (?:isso|isto)\s(?:não|está\serrado|é\s(?:um\serro|falso|(?:só|apenas)\sum\sexemplo))\b | não\s(?:é|está)\s(?:isso
            |certo|correto|assim)\b | não\spode\s(?:ser|estar)\b
        | (?:deixe-me|me\sdeixe|deixa\seu|vou)\s(?:recalcular|corrigir|refazer|tentar|verificar|rever)\b | (?:correção
            |retificação)\s*: | (?:isso\s)?(?:deveria|devia)\sser\b""",
    "ru": r"""(?:забудь|игнорируй|проигнорируй|отмени|вычеркни|не\sучитывай|не\sобращай|не\sиспользуй)(?:те)?\b
            | я\s(?:ошиб|перепутал|оговорил|неправ|был\sнеправ|поправлюсь)\w*
        | (?:я\s)?имел[аи]?\s(?:в\sвиду)\b | (?:поправка|исправление)\b(?!\sне) | (?:исправляюсь|поправлюсь|исправлю
            |пересчитаю|перепроверю)\b | (?:вернее|точнее)\s*[,:\u2014]
        | (?:это|здесь|тут)\s(?:\w+\s)?(?:неверно|неправильно|ошибка|не\s(?:так|то|верно|правильно|может)|неправда|(?:только
            |лишь|просто)\sпример)\b | (?:так\s)?не\sможет\sбыть\b
        | (?:это\s|тут\s)?должно\sбыть\b | (?:дай|позволь|давай)(?:те)?\s(?:мне\s)?(?:я\s)?(?:пере|исправ|подума|попроб)\w*""",
    "zh": r"""(?:忽略|无视|無視|忘记|忘記|忘掉|忘了|取消|作废|作廢|撤回|撤销|撤銷|不要(?:用|使用)|别用)(?!以下|下面|空)
        | (?:等等|等一下) | (?:这|那|上面|以上|刚才|答案|結果|结果|這|剛才)?(?:的)?(?:答案|结果|結果)?(?:个|個)?(?:是
            |有)?(?:不对|不對|不正确|不正確|错了|錯了|错误的|錯誤的|不可能)
        | (?:我|刚才|剛才)?(?:写|算|说|弄|搞|寫|說)(?:错|錯) | 我错了 | 我錯了 | (?:这|那|它|這)?(?:应该|應該)是 | (?:应
            |應)为 | 我(?:的意思)?(?:是(?:说|說|指))
            | (?:更正|纠正|糾正|修正|改正)(?:一下|[:\uff1a,\uff0c。]|\Z)
        | (?:让我|讓我|我来|我再)(?:重新|再|重|改|纠|更) | (?:这|以上|上面|這)?(?:只|仅|僅)(?:仅)?是(?:一)?(?:个|個)?(?:示例
            |例子|範例) | 不是(?:这|那|這)个 | 说错了""",
    "ja": r"""間違(?:い|え|って)(?!は?(?:あり|な(?:い|く)|ござ)) | 違います | 違いました | 誤りでした | 訂正 | 忘れて
            | 無視して | 取り消し | 撤回 | 正しくは | (?:ではなく|じゃなくて)
        | (?:先ほど|上記|さっき|今|前)の?[^。\n]{0,10}(?:忘れ|無視|取り消|間違|誤り|違い|違う) | (?:計算|考え
            |やり)(?:し)?(?:直し|なおし) | もう一度(?:計算|考え|やり|確認)
        | (?:それ|これ)は(?:正しくない|正しくあり|おかしい|違|間違|誤|(?:ただの|単なる|あくまで)) | おかしい | はずがない
            | (?:ただの|単なる|あくまで)例""",
    "ko": r"""정정 | 틀렸 | 틀린(?!\s?것은?\s?없) | 잘못(?!된\s?것은\s?없|이\s?없) | 아니(?=요|에요|야|[\s,.!\u2026]|\Z)
            | 잠깐 | (?:방금|위
            |앞|이전|그)[^.\n]{0,10}(?:잊|무시
            |취소|틀|잘못|아니) | 잊어 | 무시해 | 무시하 | 취소
        | (?:제|내)?\s?실수(?:했|입|예|였) | 다시\s?(?:계산|생각|확인|해) | 제\s?말은 | (?:그건|그게|이건|이게)\s?(?:아니|틀
            |잘못|맞지) | 맞지\s?않 | 옳지\s?않
            | (?:예시|예)일\s?뿐""",
}
"""A sentence that begins with them takes back what stands before it."""

_BEHIND = r"""[\s)\]"'`*_.~(,;>\u2013\u2014\u3002\uff0c-]{0,12}(?:</\w{1,20}>\s{0,8})?"""
_SECOND_THOUGHT = re.compile(
    rf"""{_BEHIND} (?:
        {_OPENERS} {_IF} (?: (?: {"|".join(_VERDICTS.values())} ) {_ENDS} | {"|".join(_BEGINNINGS.values())} )
      | {RETRACTING} (?={PAUSE}|\Z)
      | (?: but | actually | rather | instead | (?:(?:{HESITATION}|{NO}){PAUSE}+){{1,3}} ) [,:]?\s*
            (?:I\s(?:think|believe)\s)? (?:it|that|the\s(?:right|correct
            |real|actual|true)\s\w+)
        (?:['\u2019]s|\sis|\sshould\sbe)\s (?:{_VALUE}|(?=really|actually))
      | {_STOP} [\s.!?\u2026]*\Z
    )""",
    _FLAGS,
)
"""What follows a value at once, or as the next sentence."""


_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f]?(?=\s{0,8}\n)|[.!?](?=\s)|[\u3002\uff01\uff1f]")
_MOST_SENTENCES = 50


def taken_back(text: str, end: int) -> bool:
    """Do the words right behind a value say that it is none? `{"a": 1} is wrong`, `{"a": 1}. Wait, that is wrong`"""
    until = min(len(text), end + _LOOKED_AT)
    if text[end:until].lstrip(" \t\r\n,")[:1] in ("", "{"):
        return False
    return any(words.match(text, end, until) is not None for words in (_TAKEN_BACK, _MARKS, _SECOND_THOUGHT))


def takes_something_back(text: str) -> bool:
    """Does a sentence of the text take back what a sentence before it says? Looked for behind the first sentences."""
    ends = islice(_SENTENCE_ENDS.finditer(text), _MOST_SENTENCES)
    return any(taken_back(text, end.start()) for end in ends)


def struck_until(text: str, end: int) -> int:
    """Where a mark ends that strikes out the value which ends at `end`; `end` where there is none."""
    mark = _MARKS.match(text, end, min(len(text), end + _LOOKED_AT))
    return mark.end() if mark else end
