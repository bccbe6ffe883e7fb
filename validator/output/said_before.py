r"""Words that lead to a value which was said before: do they put that value back, or may they be about it?

`Earlier I said {...}`, `I mistakenly wrote {...}` and `I was wrong about {...}` speak of the value behind them, and say nothing
against the one in front. `My previous answer was wrong: {...}` may be about either. The tables are by language; `\s` is a blank.
"""

from __future__ import annotations

import re

from llmcore.types.late import late

__all__ = ["PUT_BACK", "is_put_back", "may_be_of_the_next"]

_BEFORE = {
    "en": r"earlier|previously|before|at\sfirst|first|initially|originally|formerly|(?:a\s(?:moment|minute|second|while)|moments?)\sago|last\stime",
    "de": r"vorher|zuvor|vorhin|früher|zuerst|anfangs|ursprünglich|eben|zunächst",
    "fr": r"avant|auparavant|plus\stôt|précédemment|tout\sà\sl['\u2019]heure|d['\u2019]abord|au\sdébut|initialement",
    "es": r"antes|anteriormente|previamente|primero|al\sprincipio|inicialmente|hace\sun\smomento",
    "pt": r"antes|anteriormente|previamente|primeiro|no\sinício|inicialmente|há\spouco",
    "it": r"prima|in\sprecedenza|precedentemente|all['\u2019]inizio|inizialmente|poco\sfa",
    "ru": r"раньше|ранее|до\sэтого|сначала|прежде|вначале|перед\sэтим|только\sчто",
}
_BEFORE_UNSPACED = r"之前|刚才|剛才|先前|以前|原来|原本|起初|一开始|最初|早些时候|先ほど|さっき|前に|아까|이전에|앞서|처음에"
_BY_MISTAKE = {
    "en": r"mistakenly|wrongly|incorrectly|erroneously|accidentally|falsely|by\smistake|in\serror|inadvertently",
    "de": r"irrtümlich(?:erweise)?|versehentlich|fälschlich(?:erweise)?|aus\sversehen",
    "fr": r"par\serreur|à\stort|erronément",
    "es": r"por\serror|erróneamente|equivocadamente|sin\squerer",
    "pt": r"por\s(?:engano|erro)|erroneamente|equivocadamente",
    "it": r"per\s(?:errore|sbaglio)|erroneamente",
    "ru": r"по\sошибке|ошибочно",
}
_BY_MISTAKE_UNSPACED = r"误|誤|错误地|不小心|間違って|間違えて|誤って|실수로|잘못"
_I_SAID = {
    "en": r"(?:I|we)(?:['\u2019](?:d|ve)|\shad|\shave)?\s(?:\w+ly\s|first\s|just\s|also\s|by\smistake\s)?(?:said|wr[oi]tt?en?|wrote|gave|given|answered"
    r"|claimed|stated|put|typed|sent|reported|returned|replied|responded|proposed|suggested|produced|printed|posted|submitted|had|told\syou|thought)",
    "de": r"(?:sagte|schrieb|gab|nannte|antwortete|meldete|behauptete|hatte|habe)\sich|ich\s(?:\w+\s)?(?:sagte|schrieb|gab|nannte|antwortete|meldete|hatte|habe)",
    "fr": r"j['\u2019](?:avais|ai)\s(?:\w+\s)?(?:dit|écrit|donné|répondu|mis|indiqué)|je\sdisais",
    "es": r"dije|escribí|puse|di|respondí|indiqué|(?:había|he)\s(?:dicho|escrito|puesto|dado|respondido|indicado)",
    "pt": r"disse|escrevi|dei|respondi|coloquei|informei|(?:tinha|havia)\s(?:dito|escrito|dado|respondido|colocado)",
    "it": r"(?:ho|avevo)\s(?:\w+\s)?(?:detto|scritto|dato|risposto|indicato|messo)|dicevo",
    "ru": r"(?:я\s)?(?:сказал|написал|ответил|указал|говорил|писал)[аи]?",
}
_I_SAID_UNSPACED = r"(?:说|說|写|寫|回答|给出|给|答)(?:的|了|过|道)?(?:答案|结果)?是?"
_THE_FORMER = (
    r"(?:previous|prior|first|initial|original|old|older|earlier|former|vorherige|frühere|erste|alte|précédente?|première?|ancienne?|anterior"
    r"|primera?|primeira?|precedente|prima|primo|предыдущий|прошлый|первый|прежний)"
)
_BEING = r"(?:is|was|were|had|war|ist|était|est|era|es|fue|foi|é|è|был[аои]?)"
_AFFIRMED = late(
    r"\b(?:as|like|same|still|again|confirm\w*|stand\sby|wie|dasselbe|comme|même|como|mism[oa]|mesm[oa]|come|stess[oa]|как)\b"
    r"|如|同样|一样|通り|同じ|대로|같",
    re.IGNORECASE,
)
"""What was said before, and holds."""


def _spaced(table: dict[str, str]) -> str:
    return rf"\b(?:{'|'.join(table.values())})\b"


_BACK = rf"(?:{_spaced(_BEFORE)}|{_spaced(_BY_MISTAKE)}|{_BEFORE_UNSPACED}|{_BY_MISTAKE_UNSPACED})"
_SAYING = rf"(?:{_spaced(_I_SAID)}|{_I_SAID_UNSPACED})"
_TO_THE_END = r"[^\w.!?\n]*(?:\b(?:that|it|was|is|to|you|the|answer|ich|que|che|что|had|dass|:)\b[^\w.!?\n]*){0,4}\Z"
PUT_BACK = rf"""
    (?: {_BACK}[^.!?\n\u3002]{{0,40}}?{_SAYING} | {_SAYING}[^.!?\n\u3002]{{0,20}}?{_BACK} | \b(?:I|we)\s(?:first|(?:mistaken|wrong|incorrect|erroneous|accidental)ly)\s\w+ ){_TO_THE_END}
  | (?: \b(?:wrong|mistaken|incorrect)\s(?:about|with|in\s(?:saying|writing|giving))
      | \b(?:sorry|apologies|apologi[sz]e)\s(?:for|about)(?:\s(?:saying|writing|giving|the))?
      | \b(?:the|my)\s(?:mistake|error|typo)\s(?:was|is)
      | \b(?:ich\slag\sfalsch|ich\sirrte\smich|ich\shabe\smich\sgeirrt)\smit | \bje\sme\ssuis\strompée?\s(?:sur|avec|pour) | \bme\sequivoqu[ée]\s(?:con|en)
      | \bme\senganei\s(?:com|em) | \bmi\ssono\ssbagliat[oa]\s(?:su|con) | \bя\sошиб(?:ся|лась)\s(?:с|в|насчёт) ) [^\w.!?]*\Z
  | (?: (?:先ほど|さっき|以前|前に|最初に?)(?:は|には|の(?:答え|回答|値)は|、)? | (?:아까|이전에|앞서|처음에)는?(?:\s(?:제가|저는|내가))? ) [^\w.!?]*\Z
"""
"""At the end of a lead-in: what follows was said before, or by mistake."""
_PUT_BACK = late(PUT_BACK, re.IGNORECASE | re.VERBOSE)
_MAY_BE_OF_THE_NEXT = late(
    rf"""{_BACK} | \b{_THE_FORMER}[rsn]?\s\w+\s{_BEING}\b
    | \b(?:about|for|with|by|of|on|in|from|regarding|concerning|saying|giving|writing|and|über|mit|für|bei|von|sur|avec|pour|de|sobre|con|com
      |por|para|su|per|di|о|об|с|за|про) [^\w.!?]*\Z
    | {_spaced(_I_SAID)} [^\w.!?]*\Z""",
    re.IGNORECASE | re.VERBOSE,
)


_STEMS = (
    *(
        "earlier",
        "previous",
        "before",
        "first",
        "initial",
        "origin",
        "former",
        " ago",
        "last time",
        "mistak",
        "wrong",
        "incorrect",
        "erron",
    ),
    *(
        "accident",
        "false",
        "error",
        "inadvert",
        "sorry",
        "apolog",
        "typo",
        "vorh",
        "zuvor",
        "früher",
        "zuerst",
        "anfang",
        "ursprüng",
        "eben",
    ),
    *(
        "zunächst",
        "irrt",
        "verseh",
        "fälsch",
        "falsch",
        "geirrt",
        "avant",
        "paravant",
        "plus tôt",
        "précéd",
        "tout à l",
        "abord",
        "début",
        "à tort",
    ),
    *(
        "erreur",
        "tromp",
        "antes",
        "anterior",
        "previa",
        "primer",
        "principio",
        "inicial",
        "momento",
        "equivo",
        "querer",
        "erró",
        "primeir",
        "início",
    ),
    *(
        "pouco",
        "engan",
        "prima",
        "precede",
        "inizi",
        "poco fa",
        "sbagli",
        "errore",
        "раньше",
        "ранее",
        "до этого",
        "сначала",
        "прежде",
        "вначале",
    ),
    *(
        "перед этим",
        "только что",
        "ошиб",
        "之前",
        "刚才",
        "剛才",
        "先前",
        "以前",
        "原来",
        "原本",
        "起初",
        "一开始",
        "最初",
        "早些",
        "先ほど",
        "さっき",
        "前に",
    ),
    *("아까", "이전에", "앞서", "처음에", "误", "誤", "错误地", "不小心", "間違", "실수", "잘못"),
)
"""Without one of these no expression need be tried, which costs a thousand times as much."""


def is_put_back(said: str) -> bool:
    """Do the words before a value say that it was said before, or by mistake, and do not hold to it?"""
    lowered = said.lower()
    if not any(stem in lowered for stem in _STEMS):
        return False
    return _PUT_BACK.search(said) is not None and _AFFIRMED.search(said) is None


def may_be_of_the_next(said: str) -> bool:
    """May a sentence between two values, which speaks of a mistake, speak of the value behind it?"""
    return _MAY_BE_OF_THE_NEXT.search(said) is not None or is_put_back(said)
