"""The words before a value: do they make it an example, take it back, or name it the answer?

One table for all languages. Words that deny a value, or compare with it (`not`, `instead of`, `Previous:`), count right
before it; in doubt it is none. The lead-in is the last sentence before the value, back over blank lines, the opening of a
fence, bullets and emphasis, never over another value. Of several words that tell, the last one counts.
"""

from __future__ import annotations

import re
from enum import IntEnum

from llmcore.validator.output.retraction_sentences import WRONG
from llmcore.validator.output.retractions import HESITATION, INSTEAD, NO, PAUSE, RETRACTING
from llmcore.validator.output.said_before import is_put_back

__all__ = ["LeadIn", "lead_in", "shares_lead_in"]


class LeadIn(IntEnum):
    """What a lead-in makes of the value behind it; a higher one names the value more strongly."""

    EXAMPLE = -3
    REJECTED = -2
    """Denied, out of date, or there to be compared with. Like an example it is no value."""
    DRAFT = -1
    """A value that stands back behind any other."""
    NOTHING = 0
    DIFFERENT = 1
    """Behind a word that may correct what was said (`Actually,`, `No:`): likelier than the values before it, not certain."""
    ANSWER = 2
    FINAL = 3

    @property
    def is_none(self) -> bool:
        """Is what stands behind it no value at all?"""
        return self <= LeadIn.REJECTED


_EXAMPLE = r"""
    \bfor\ (?:example|instance)\b | \be\.\s?g\. | \beg[.:,] | \bsuch\ as\b
  | \b(?:an?|another|one|some|two|three|few|following)\s(?:[\w-]+\s){0,2}(?:example|sample)s?\b
  | \bzum\ Beispiel\b | \bz\.\s?B\. | \bbeispielsweise\b | \bein(?:\s\w+)?\ Beispiel\b
  | \bpar\ exemple\b | \bp\.\s?ex\. | \b(?:un|autre)(?:\s\w+)?\ exemple\b | \btel(?:le)?s?\ que\b
  | \bpor\ ejemplo\b | \bp\.\s?ej\. | \b(?:un|otro)(?:\s\w+)?\ ejemplo\b | \btal(?:es)?\ como\b
  | \bpor\ exemplo\b | \bum\ exemplo\b | \b(?:per|ad)\ esempio\b | \bun\ esempio\b
  | 例如 | 比如 | 譬如 | 举个?例 | 舉個?例 | 一个(?:示例|例子)
  | 例えば | たとえば | の例です
"""
_ANSWERS = r"""(?:answers?|results?|outputs?|responses?|replies|reply|solutions?|values?|versions?|formats?|json|objects?
    |attempts?|tries|try|ones?|guess(?:es)?|draft|data|lists?|items?|records?|state
    |Antwort(?:en)?|Ergebnis(?:se)?|Wert|Version|réponses?|résultats?
    |respuestas?|resultados?)"""
_BEING = r"(?:is|was|are|were|be|been|being|would|should|could|had|has|have|to|ist|war|wäre|était|est|era|es)"
_REJECTED = rf"""
    (?: (?:^|[\n.!?:;,(\u2014]) \W*+ (?:(?:but|and|or|then|so|now)\s)? (?:(?:the|my|your|his|her|its|our|an?|this|that|these|those
            |one|is|was|are|were|der|die|das|la|le|el)\s){{0,3}}
        (?: previous(?:ly)? | prior | old(?:er)? | former(?:ly)? | earlier | outdated | obsolete | stale | superseded | deprecated
          | incorrect(?:ly)? | wrong(?:ly)? | bad | invalid | erroneous | faulty | rejected | discarded | mistaken | broken
          | alte[rsn]? | vorherige[rsn]? | frühere[rsn]? | falsche?[rsn]?
          | ancien(?:ne)?s? | précédent(?:e)?s? | fausse | anterior(?:es)? | incorrect[oae] )
        (?:\s{_ANSWERS}){{0,2}} (?:\s(?:form|version))? (?:\s{_BEING}){{0,2}}
      | (?: \b (?: not | never | cannot\sbe | nor | neither | instead\sof | rather\sthan | unlike | opposed\sto
              | contrast\s(?:to|with)
              | compared?\s(?:to|with) | contrary\sto | other\sthan | except(?:\sfor)? | differs?\sfrom | different\sfrom
              | replac(?:es|ed|ing) | supersed(?:es|ing) | changed?\sfrom | correct(?:s|ed|ing)\sfrom | more\sthan | less\sthan
              | better\sthan | than | worse\sthan | reject(?:s|ed|ing) | discard(?:s|ed|ing) | dismiss(?:es|ed|ing)
              | rul(?:es|ed|ing)\sout | exclud(?:es|ed|ing) | abandon(?:s|ed|ing) | decid(?:es|ed)\sagainst
              | nicht | kein(?:e[rsnm]?)? | statt | anstatt | anstelle\svon | au\slieu\sde | plutôt\sque | pas | no\ses | no\sson
              | en\s(?:lugar|vez)\sde )
          | n['\u2019]t )
        (?:[,:]?\s(?:{_BEING}|the|an?|this|that|these|my|your|its|simply|just|really|actually|exactly|final|real|actual|correct|right|
            expected|same|as|like|von|der|die|das|la|le|el|un|une|una|{_ANSWERS})){{0,6}}
      | (?:不是|而不是|并非|并不是|错误的?|之前的?|以前的?|旧的?|間違った?|以前の?|古い)\W*(?:答案|结果|回答|答え|結果|版本)?
    ) [^\w.!?\u2026\u3002\uff01\uff1f]*\Z
"""
_DRAFT = rf"""
    (?: \b(?:initial|original|early|rough|preliminary|tentative|provisional)(?:\s(?:{_ANSWERS}|idea|thought)){{0,2}}
      | \bfirst\s(?:{_ANSWERS}|idea|thought) | \b(?:draft|attempt|before|input|given)
      | \bEntwurf | \bbrouillon | \bborrador | 草稿 | 初稿 | 下書き )
    (?:\s{_BEING}){{0,2}} \s*[:\uff1a]\W*\Z
  | \b(?: considered | tried | attempted | started\swith | (?:first|initial(?:ly)?)\sthought(?:\s(?:was|of|it\swas))?
      | thought\s(?:of|about|it\swas) ) [^\w.!?]*\Z
"""
_NOUN = r"(?:examples?|samples?|Beispiele?|exemples?|ejemplos?|exemplos?|esempio|esempi)"
_LABEL = rf"""
    (?:^|[\n.!?:\u3002\uff01\uff1f]) \W*+ (?!(?:your|my)\b) (?:[\w-]+\s){{0,2}}
    (?:{_NOUN}|templates?|placeholders?|schemas?) (?:\s[\w.-]+){{0,2}} (?:\s\([^()\n]*\))? \W*\Z
  | (?:示例|例子|使用例|例) \s*\d* \W*\Z
"""
"""A sentence that is hardly more than the word."""

_HERE = rf"""(?: \s*[,:\uff1a]?\s* (?:
      (?:{_ANSWERS}|is|are|be|the|this|that|these|so|therefore|thus|now|as|in|of|for|you|your|my|our|here|below|follows|following
        |format|request|ist|sind|lautet|est|sont|es|son|pour|für|von|de|la|le|el|der|die|das)(?!\w)
      | 答案|结果|回答|输出|答え|結果|出力|版本|是|为|為|は|です ) ){{0,5}} \W*\Z"""
"""What may stand between the words that name the answer and the answer itself."""
_HEDGED = r"""(?<! possible\ )(?<! potential\ )(?<! alternative\ )(?<! another\ )(?<! other\ )(?<! different\ )(?<! expected\ )
    (?<! first\ )(?<! initial\ )(?<! second\ )(?<! given\ )(?<! raw\ )(?<! one\ )(?<! likely\ )(?<! wrong\ )(?<! incorrect\ )
    (?<! not\ the\ )(?<! the\ tool\ )"""
_ANSWER = rf"""
    (?: {_HEDGED} \b(?:answer|result|output|response|solution)s?\b
      | \bhere\ (?:is|are)\ (?:the|your)\b | \bhere's\ (?:the|your)\b
      | \b(?:Antwort|Ergebnis|Ausgabe|Lösung)\b | \b(?:réponse|résultat|sortie)\b | \b(?:respuesta|resultado|salida)\b
      | 答案 | 结果 | 回答 | 输出 | 答え | 結果 | 出力 ) {_HERE}
"""
_AT_A_START = r"(?:^|[\n.!?\u2026\u3002]) \W*+"
_FINAL = rf"""
    (?: \b(?:final|real|actual|correct|corrected|correction|revised|updated?|edit|amended|fixed|definitive)\b
      | \b(?:endgültig|richtig|eigentlich|tatsächlich|korrigiert|Korrektur)\w*
      | \b(?:finale|réelle?|définitive?|corrigée?|vraie?)\b | \b(?:definitiv|corregid|correct)[oa]\b | \bcorrecci[óo]n\b
      | \bI\ meant\b | \b(?:it|that|this)\ should\ (?:be|read|have\ been)\b
      | 最终 | 正确 | 真正 | 实际 | 更正 | 最終 | 正しい | 実際の | 訂正 ) {_HERE}
  | {_AT_A_START} (?:(?:{HESITATION}|{NO}){PAUSE}+){{0,2}} (?:{RETRACTING}|{INSTEAD}) [,.!:;\u2013\u2014\u2026\s]*\Z
"""
_DIFFERENT = (
    rf"{_AT_A_START} (?:(?:{HESITATION}|{NO}){PAUSE}+){{0,2}} (?:{HESITATION}|{NO}|rather) [,.!:;\u2013\u2014\u2026\s]*\Z"
)
_FLAGS = re.IGNORECASE | re.VERBOSE
_WORDS_BEHIND = r"(?:[,:]?\s[\w'-]+){0,3}[^\w.!?]*"  # `an example answer`, `for example, the output`: still the example's
_SIGNS: tuple[tuple[LeadIn, re.Pattern[str]], ...] = (
    (LeadIn.EXAMPLE, re.compile(_LABEL, _FLAGS)),
    (LeadIn.EXAMPLE, re.compile(rf"(?:{_EXAMPLE}){_WORDS_BEHIND}", _FLAGS)),
    (LeadIn.REJECTED, re.compile(_REJECTED, _FLAGS)),
    (LeadIn.DRAFT, re.compile(_DRAFT, _FLAGS)),
    (LeadIn.FINAL, re.compile(_FINAL, _FLAGS)),
    (LeadIn.ANSWER, re.compile(_ANSWER, _FLAGS)),
    (LeadIn.DIFFERENT, re.compile(_DIFFERENT, _FLAGS)),
)
"""Of signs that end at the same place the first counts."""

_LOOKED_BACK = 120
_DECORATION = " \t\r\n*_>#([\"'-`~"
_OPENING_FENCE = re.compile(r"(?:\A|\n)[ \t]*(?:`{3,}|~{3,})[^\n]*\n?\Z")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[\u3002\uff01\uff1f\n]")
_MAY_BE_NONE = re.compile(
    """ampl|instance|e\\.|eg|such|eispiel|z\\.|xempl|p\\.|tel|jempl|tal|semp|templat|placehold|schema|例|如|たとえ
    |previ|prior|old|former|earl|outdat|obsol|stale|supers|deprec|incorrect|wrong|bad|invalid|erron|fault|reject|discard|mistak|broken
    |not|never|nor|neither|than|n['\u2019]t|instead|unlike|opposed|contra|compar|except|differ|replac|chang|alt|vorher|fr[üu]h|falsch|ancien
    |pr[ée]c|fauss|anterior|kein|nicht|statt|lieu|pas|no|lugar|vez|不|错|之前|以前|旧|間違|古
    |dismiss|rul|exclud|abandon|against""",
    re.IGNORECASE | re.VERBOSE,
)
"""Without one of these nothing keeps the only value from being one: the expressions need not be tried."""
_AND = re.compile(r"[ \t]*(?:[,;\uff0c\u3001][ \t]*)?\n?[ \t]*(?:and|or|und|oder|et|ou|y|o|e|和|或|と|や)?[ \t]*")


def shares_lead_in(text: str, since: int, start: int) -> bool:
    """Does nothing but a comma, a line break or `and` join a value with the one before it, which ends at `since`?"""
    return since > 0 and _AND.fullmatch(text, since, start) is not None


def lead_in(text: str, start: int, since: int, before: LeadIn, *, alone: bool = False) -> LeadIn:
    """What the words before `text[start]` make of the value there. `since`: where the value before it ends, which has
    the lead-in `before`: values joined by a comma, a line break or `and` share it. `alone`: there is no other value, so
    that only an example matters."""
    if shares_lead_in(text, since, start):
        return before
    said = _last_sentence(text[max(since, start - _LOOKED_BACK) : start])
    if not said or (alone and not _MAY_BE_NONE.search(said)):
        return LeadIn.NOTHING
    found, ends = LeadIn.NOTHING, 0
    for kind, sign in _SIGNS:
        for match in sign.finditer(said):
            if match.end() > ends and not _SENTENCE_END.search(said, match.end()):
                found, ends = kind, match.end()
    if found is not LeadIn.EXAMPLE and is_put_back(said):
        return LeadIn.REJECTED
    if found is LeadIn.REJECTED and since and _OF_THE_ONE_BEFORE.search(said):
        return LeadIn.NOTHING
    return found


_OF_THE_ONE_BEFORE = re.compile(
    rf"""(?: (?: \b(?:is|was|are|were|looks|seems|ist|war|est|es|era) | ['\u2019]s ) \s(?:\w+\s)? | (?=n['\u2019]t) )
    {WRONG} \W*\Z""",
    _FLAGS,
)
"""A verdict, which may be about the value before it as well as about the one behind it: `That is wrong: {...}`"""


def _last_sentence(said: str) -> str:
    """The last line with words, what decorates its end left out."""
    said = _OPENING_FENCE.sub("", said.rstrip(" \t([")).rstrip(_DECORATION)
    return said[said.rfind("\n") + 1 :]
