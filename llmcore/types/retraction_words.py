r"""Words with which somebody takes back what they have just said, by language.

Shared by those who ask it of a call (`words_behind`) and of a value (`llmcore.validator.output.retractions`). Each entry is an
expression without blanks (`\s` stands for one), so that it can be built into any other. A word of a language that is missing
is one more entry.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HESITATIONS", "INTERJECTIONS", "NOES", "REPLACING", "RETRACTING_WORDS", "any_of"]

INTERJECTIONS: Final = {
    "en": r"o+ps(?:ie)?|whoops(?:ie)?|uh-oh|oh\sno|d['\u2019]oh|yikes|darn",
    "de": r"hoppla|huch|ups|oje|oh\snein|verflixt",
    "fr": r"oups|zut|mince|oulà|houlà",
    "es": r"ups|uy|huy|caramba",
    "pt": r"ops|eita|epa|putz|opa",
    "it": r"ops|accidenti|ahi|cavolo",
    "ru": r"упс|ой|оп-па|блин",
    "zh": r"哎呀|哎哟|啊呀|糟糕|糟了|哎",
    "ja": r"おっと|しまった|あっ|うわ|あら|おや",
    "ko": r"앗|아차|이런|어이쿠|아이고|어머",
}
"""What escapes somebody who sees a mistake of theirs."""
NOES: Final = {
    "en": r"no|nope|nah",
    "de": r"nein|nee|nö",
    "fr": r"non",
    "es": r"no",
    "pt": r"não",
    "it": r"no",
    "ru": r"нет",
    "zh": r"不对|不對|不是的?|错了|錯了|不",
    "ja": r"いいえ|いや|いえ|違います|違う|違った",
    "ko": r"아니요|아니오|아뇨|아니에요|아니야|아니",
}
HESITATIONS: Final = {
    "en": r"wait|hold\son|hang\son|hm+|ah|oh|uh|um+|erm|er+|well|actually|sorry|pardon|my\smistake|(?:just\s)?(?:one|a)\s(?:moment|sec(?:ond)?)"
    r"|(?:my\s|sincere\s)?apologies|(?:I['\u2019]m|I\sam)\s(?:so\s|very\s)?sorry|I\sapologi[sz]e|excuse\sme|forgive\sme|come\sto\sthink\sof\sit|in\sfact",
    "de": r"warte(?:n\sSie)?|halt|(?:einen?\s)?(?:moment|augenblick)|sorry|verzeih(?:ung)?|entschuldig(?:ung|e|en\sSie)|ach|ähm?|(?:es\s)?tut\smir\s(?:sehr\s)?leid"
    r"|eigentlich|tatsächlich|ich\sbitte\sum\s(?:entschuldigung|verzeihung)|pardon|bei\snäherem\shinsehen",
    "fr": r"attends|attendez|pardon|(?:je\ssuis\s)?désolée?|(?:un\s)?(?:instant|moment)|euh|heu|(?:toutes\s)?mes\sexcuses|excuse[zr]?-moi|je\sm['\u2019]excuse|en\sfait|en\sréalité|finalement",
    "es": r"espere?|perd[óo]n(?:e|a)?|disculp[ae]|(?:mis\s)?disculpas|lo\ssiento|(?:un\s)?(?:momento|segundo)|eh|en\srealidad|de\shecho|pensándolo\sbien",
    "pt": r"espere?|espera|(?:me\s)?desculpe?|desculpas|perdão|(?:peço\s)(?:desculpas?|perdão)|sinto\smuito|(?:um\s)?(?:momento|segundo|instante)|na\sverdade|aliás|de\sfato|pensando\sbem|hum",
    "it": r"aspett[aie]|(?:mi\s)?scus[ai]|(?:chiedo\s)scusa|perdon[ao]|mi\sdispiace|(?:un\s)?(?:momento|attimo|secondo)|ehm|anzi|in\srealtà|in\seffetti|a\sdire\sil\svero|veramente",
    "ru": r"стоп|стой(?:те)?|подожди(?:те)?|погоди(?:те)?|постой(?:те)?|извини(?:те)?|прости(?:те)?|прошу\sпрощения|(?:мои\s)?извинения|(?:одну\s)?(?:минутку|минуту|секунду)|хм+|гм+|э+|на\sсамом\sделе|вообще-то",
    "zh": r"等等|等一下|稍等|慢着|(?:很|非常|十分)?抱歉|(?:很|真)?对不起|不好意思|嗯+|呃|啊|其实|实际上|事实上",
    "ja": r"(?:ちょっと)?待って(?:ください)?|お待ち(?:ください)?|すみません(?:でした)?|すいません|申し訳(?:ありません|ございません)|ごめん(?:なさい)?|失礼(?:しました|いたしました)?|えっと|えーと|うーん|あれ|実は|やっぱり|やはり",
    "ko": r"잠깐(?:만요?)?|잠시만요?|죄송(?:합니다|해요|하지만)|미안(?:합니다|해요)?|음+|어|사실은?|실은",
}
"""With them begins what may become a correction. Alone they take nothing back."""
REPLACING: Final = {
    "en": r"or\srather|rather|I\smean|make\s(?:that|it)",
    "de": r"besser\sgesagt|beziehungsweise\seher|vielmehr",
    "fr": r"ou\splutôt|plutôt|ou\smieux",
    "es": r"(?:o\s)?mejor\sdicho|más\sbien|digo",
    "pt": r"ou\smelhor|melhor\sdizendo|digo",
    "it": r"(?:o\s)?meglio|cioè\sno|anzi",
    "ru": r"вернее|точнее|то\sесть\sнет|скорее",
    "zh": r"应该是|應該是|应该说|或者说|准确地说",
    "ja": r"もとい|というか|正しくは|正確には",
    "ko": r"정확히는|아니\s?그보다|다시\s?말해",
}
"""Before a value they put another in the place of the last."""
RETRACTING_WORDS: Final = {
    "en": r"wrong|incorrect|mistake[ns]?|scratch|strike|disregard|ignore|forget|cancel|undo|revoke|retract|instead|correction|meant|typo",
    "de": r"falsch|irrtum|vergiss\w*|ignorier\w*|stattdessen|storno|tippfehler|verwirf|ungültig",
    "fr": r"erreur|tromp\w+|oublie[zr]?|ignore[zr]|annule[zr]?|plutôt|faux|fausses?",
    "es": r"error|equivoc\w+|olvid\w+|ignora|cancela|erróne\w+|fals[oa]s?",
    "pt": r"errado|engan\w+|esque[çc]\w+|desconsider\w+",
    "it": r"sbaglia\w+|errore|annulla|dimentica",
    "ru": r"ошиб\w+|неверн\w*|неправильн\w*|забудь\w*|отмен\w*",
    "zh": r"错了|錯了|搞错|忽略|取消|更正|有误|作废",
    "ja": r"間違|取り消|忘れて|訂正|撤回",
    "ko": r"잘못|취소|무시|정정|틀렸",
    "ar": r"خطأ|تجاهل",
    "hi": r"गलत",
}
"""Where one of them stands, something that was said may not hold."""
_UNSPACED = frozenset({"zh", "ja", "ko", "ar", "hi"})


def any_of(table: dict[str, str], *, whole: bool = False) -> str:
    """One expression for all languages. `whole`: whole words, in scripts that tell where a word ends."""
    if not whole:
        return "|".join(table.values())
    spaced = "|".join(words for language, words in table.items() if language not in _UNSPACED)
    return rf"\b(?:{spaced})\b|" + "|".join(words for language, words in table.items() if language in _UNSPACED)
