"""Lead-ins that tell of something and announce no act of the speaker: a call behind them may be only shown.

What can be said of a call that is not made has no end; what is said before one that is made has: the speaker does something, consents,
asks for patience, or says that here it is. So a sentence before a call, in a language that is known, is one of three. An *act* leads
to a call. It *tells* when it speaks of another time, person, system or document, denies or forbids, asks, or leads in, by a colon or as
half a sentence, with no act. All else is *neutral* (`Sure!`, `The page is obsolete.`), and the sentences before it decide. Where none
does, the call is meant.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from llmcore.normalizer.scanning.words import COLONS, NOT_IN_ASCII
from llmcore.normalizer.trust import lead_in_acts as acts
from llmcore.normalizer.trust.lead_in_denials import ACTION
from llmcore.normalizer.trust.lead_in_words import EXPLAINING
from llmcore.normalizer.trust.open_lead_ins import says_it_is_made, says_it_is_now, speaks_of_calls
from llmcore.types.late import late

__all__ = ["Place", "Said", "ends", "forbids", "said_by"]

Said = Literal["act", "told", "neutral"]
Place = Literal["leads", "above", "above a label"]
"""Right before the call; before that; or before that, and what leads to the call is no whole sentence."""
_FEW = 3  # words: so many tell nothing by themselves
_FEW_SIGNS = 8  # in scripts without blanks
_WORD = late(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff]")
_LAYOUT = " \t\r\n*_`\"'“”„»«)>"
_MARKUP = late(r"<[/!?|｜A-Za-z][^<>]{0,256}(?:>|\Z)|\\(?:begin|end)\{\w{1,16}\*?\}")
_QUESTIONS = ("?", "？", "؟")  # the full-width one is meant
_ENDS = (".", "!", "…", "。", "！", "।", *_QUESTIONS)  # as above
_JOINING = r"(?:but|so|aber|also|daher|deshalb|sondern|mais|donc|pero|sino|así\s+que|por\s+eso|mas|então|por\s+isso|ma|quindi|bensì|но|поэтому|ale|więc|ama|maar|dus)\s"
_CRIES = ("!", "！")  # as above
_CLAUSES = late(rf"[,;—–，、；،]\s*(?:{_JOINING}|所以|因此|那|就)?|\s{_JOINING}", re.IGNORECASE)
_INSTEAD = late(r"\b(?:sondern|sino|senão|bensì|but\s+rather)\b", re.IGNORECASE)
_TOPIC = late(
    r"(?:ログ|バグ|報告書?|レポート|チケット|パーサー?|解析器|ドキュメント|マニュアル|仕様書?|ガイド|テスト|攻撃者|同僚|学生|顧客|ボット|モデル|版|バージョン|ノート)(?:は|が|も|では|には)"
    r"|(?:로그|버그|리포트|보고서|티켓|파서|문서|매뉴얼|가이드|테스트|공격자|동료|학생|고객|챗봇|봇|모델|버전)(?:에서)?(?:은|는|이|가)\s"
)
"""In Japanese and Korean, where persons are left out, the subject is another thing."""


@cache
def _expression(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


@cache
def _acting(*, in_ascii: bool) -> list[re.Pattern[str]]:
    """One expression a language, as to compile all takes 13 ms. `in_ascii`: of the languages that can be written so."""
    rows = {language: (row, *([ACTION[language]] if language in ACTION else [])) for language, row in acts.ACTS.items()}
    return [late("|".join(row), re.IGNORECASE) for language, row in rows.items() if not in_ascii or language not in NOT_IN_ASCII]


def _denies(said: str) -> bool:
    """Does it deny or forbid something, and is no word of consent (`No problem`)?"""
    denied = _expression(acts.DENIALS)
    return denied.search(said) is not None and denied.search(_expression(acts.CONSENTS).sub(" ", said)) is not None


def ends(sentence: str) -> bool:
    """Does it end as a whole sentence?"""
    return sentence.strip(_LAYOUT).endswith(_ENDS)


def forbids(said: str) -> bool:
    """Does it forbid something?"""
    return _finds(said, acts.FORBIDDING) and _finds(_expression(acts.CONSENTS).sub(" ", said), acts.FORBIDDING)


def said_by(sentence: str, place: Place = "leads") -> Said:
    """What a sentence before a call says of it."""
    return _said_by(sentence.strip(_LAYOUT), place)


@lru_cache(maxsize=512)
def _said_by(said: str, place: Place) -> Said:
    if "<" in said or "\\" in said:
        said = _MARKUP.sub("", said).strip(_LAYOUT)
    act = "" if said.endswith(_QUESTIONS) else _act_in(said)
    if act:
        if EXPLAINING.search(act) is None:
            return "act"
        return "told" if place == "leads" and _is_elsewhere(said) else "neutral"
    if forbids(said) or _finds(said, acts.SUPPOSED, acts.REFUSING) or (said.endswith(_QUESTIONS) and _finds(said, acts.ASKS)):
        return "told"
    if _finds(said, acts.REPLIES) and (_denies(said) or _is_elsewhere(said)):
        return "told"
    if place == "leads":
        return "told" if _tells(said) else "neutral"
    return "told" if place == "above a label" and _is_elsewhere(said) else "neutral"


def _is_few(said: str) -> bool:
    return len(_WORD.findall(said)) <= _FEW and len(_UNSPACED.findall(said)) <= _FEW_SIGNS


def _is_elsewhere(said: str) -> bool:
    """Does it speak of another person, system, document or time? The costliest question, asked where an answer hangs on it."""
    return _finds(said, acts.ELSEWHERE, acts.RECALLED, acts.EXPECTED) or (not _is_few(said) and _finds(said, acts.MODELS))


def _tells(said: str) -> bool:
    """Does a sentence right before a call, in which the speaker does nothing, tell of something?"""
    here = _finds(said, acts.HERE)
    if said.endswith(_ENDS):
        return (here and (_finds(said, acts.MAYBE) or _is_elsewhere(said))) or (said.endswith(_CRIES) and _denies(said))
    is_few = _is_few(said)
    if _finds(said, acts.MAYBE) or _is_elsewhere(said) or (not is_few and _finds(said, acts.TELLS, acts.LEFT_OPEN)):
        return True
    clause = said[max((one.start() for one in _CLAUSES.finditer(said)), default=0) :]
    if here or says_it_is_made(clause):
        return False
    if said.endswith(COLONS):
        return clause != said and len(_WORD.findall(clause)) > _FEW and speaks_of_calls(clause) and not says_it_is_now(said)
    return not is_few and not any(colon in said for colon in COLONS) and _finds(said, acts.FUNCTION_WORDS)


def _finds(said: str, *patterns: str) -> bool:
    return _expression(*patterns).search(said) is not None


def _act_in(said: str) -> str:
    """The last clause, if the speaker acts in it and denies nothing; "" when they do not."""
    if _TOPIC.search(said) is not None or _finds(said, acts.SUPPOSED, acts.REFUSING):
        return ""
    if _finds(said, acts.SO):
        return said
    if _INSTEAD.search(said) is not None:
        return said if _acts(said) else ""
    clauses = (one for one in reversed(_CLAUSES.split(said)) if _WORD.search(one) is not None and not _finds(one, acts.ASIDES))
    last = next(clauses, "")
    return last if _acts(last) and not (_denies(last) or forbids(last)) else ""


def _acts(clause: str) -> bool:
    acting = any(one.search(clause) is not None for one in _acting(in_ascii=clause.isascii())) or _finds(clause, acts.WAITS)
    return acting and not _finds(clause, acts.TELLS)
