"""The words before a value: do they make it an example, or name it the answer?

One table for all languages. The lead-in is the last sentence before the value, back over blank lines, the opening of a
fence, bullets and emphasis, never over another value. Of several words that tell, the last one counts.
"""

from __future__ import annotations

import re
from enum import IntEnum

__all__ = ["LeadIn", "lead_in"]


class LeadIn(IntEnum):
    """What a lead-in makes of the value behind it; a higher one names the value more strongly."""

    EXAMPLE = -1
    NOTHING = 0
    ANSWER = 1
    FINAL = 2


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
_NOUN = r"(?:examples?|samples?|Beispiele?|exemples?|ejemplos?|exemplos?|esempio|esempi)"
_LABEL = rf"""
    (?:^|[\n.!?:\u3002\uff01\uff1f]) \W*+ (?!(?:your|my)\b) (?:[\w-]+\s){{0,2}}
    {_NOUN} (?:\s[\w.-]+){{0,2}} (?:\s\([^()\n]*\))? \W*\Z
  | (?:示例|例子|使用例|例) \s*\d* \W*\Z
"""
"""A sentence that is hardly more than the word."""

_ANSWER = r"""
    (?<!wrong\ )(?<!incorrect\ )(?<!not\ the\ ) \b(?:answer|result|output|response|solution)s?\b
  | \bhere\ (?:is|are)\ (?:the|your)\b | \bhere's\ (?:the|your)\b
  | \b(?:Antwort|Ergebnis|Ausgabe|Lösung)\b | \b(?:réponse|résultat|sortie)\b | \b(?:respuesta|resultado|salida)\b
  | 答案 | 结果 | 回答 | 输出 | 答え | 結果 | 出力
"""
_FINAL = r"""
    \b(?:final|real|actual|correct|corrected|revised|definitive)\b
  | \b(?:endgültig|richtig|eigentlich|tatsächlich|korrigiert)\w*
  | \b(?:finale|réelle?|définitive?|corrigée?|vraie?)\b | \b(?:definitiv|corregid|correct)[oa]\b
  | 最终 | 正确 | 真正 | 实际 | 最終 | 正しい | 実際の
"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_WORDS_BEHIND = r"(?:[,:]?\s[\w'-]+){0,3}"  # `an example answer`, `for example, the output`: still the example's
_SIGNS: tuple[tuple[LeadIn, re.Pattern[str]], ...] = (
    (LeadIn.EXAMPLE, re.compile(_LABEL, _FLAGS)),
    (LeadIn.EXAMPLE, re.compile(rf"(?:{_EXAMPLE}){_WORDS_BEHIND}", _FLAGS)),
    (LeadIn.FINAL, re.compile(_FINAL, _FLAGS)),
    (LeadIn.ANSWER, re.compile(_ANSWER, _FLAGS)),
)
"""Of signs that end at the same place the first counts."""

_LOOKED_BACK = 120
_DECORATION = " \t\r\n*_>#([\"'-`~"
_OPENING_FENCE = re.compile(r"(?:\A|\n)[ \t]*(?:`{3,}|~{3,})[^\n]*\n?\Z")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[\u3002\uff01\uff1f\n]")
_MAY_EXEMPLIFY = ("xampl", "ampl", "instance", "e.", "eg", "such", "eispiel", "z.", "xempl", "p.", "tel", "jempl", "tal", "semp",
                  "例", "如", "たとえ")  # fmt: skip
"""Without one of these nothing is an example: the expressions need not be tried."""
_AND = re.compile(r"[ \t]*(?:[,;\uff0c\u3001][ \t]*)?\n?[ \t]*(?:and|or|und|oder|et|ou|y|o|e|和|或|と|や)?[ \t]*")


def lead_in(text: str, start: int, since: int, before: LeadIn, *, alone: bool = False) -> LeadIn:
    """What the words before `text[start]` make of the value there. `since`: where the value before it ends, which has
    the lead-in `before`: values joined by a comma, a line break or `and` share it. `alone`: there is no other value, so
    that only an example matters."""
    if since and _AND.fullmatch(text, since, start):
        return before
    said = _last_sentence(text[max(since, start - _LOOKED_BACK) : start])
    if not said or (alone and not any(stem in said.lower() for stem in _MAY_EXEMPLIFY)):
        return LeadIn.NOTHING
    found, ends = LeadIn.NOTHING, 0
    for kind, sign in _SIGNS:
        for match in sign.finditer(said):
            if match.end() > ends and not _SENTENCE_END.search(said, match.end()):
                found, ends = kind, match.end()
    if found is LeadIn.ANSWER and _FINAL_BEFORE.search(said, 0, ends):
        return LeadIn.FINAL
    return found


def _last_sentence(said: str) -> str:
    """The last line with words, what decorates its end left out."""
    said = _OPENING_FENCE.sub("", said.rstrip(" \t([")).rstrip(_DECORATION)
    return said[said.rfind("\n") + 1 :]


_FINAL_BEFORE = re.compile(rf"(?:{_FINAL})(?:\s?[\w-]+){{0,2}}\Z", _FLAGS)
