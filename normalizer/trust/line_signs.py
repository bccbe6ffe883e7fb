"""Signs and words of consent that may stand before a bare call on its line, and are no words of a sentence about it.

A list sign, a dash or an arrow says nothing: behind an announcement or consent, or as all there is, the call may be meant. So may
one behind a word of consent without an end (`Ok f(x)`).
"""

from __future__ import annotations

from llmcore.normalizer.scanning.words import FACES
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.types.late import late

__all__ = ["consents", "is_sign", "may_be_listed"]

_ARROWS = r"[-–—→⇒➜➔▶▸►]|->|=>"
_SIGN = late(rf"[ \t]*(?:{_ARROWS}|[*+•◦‣▪●{FACES}]|\d{{1,3}}[.)]|[a-z]\))[ \t]+")
_CONSENTS = {
    "en": "ok|okay|sure|sure thing|yes|yep|alright|all right|certainly|absolutely|of course|understood|got it|on it",
    "de": "ja|klar|gern|gerne|gut|natürlich|verstanden|in ordnung|alles klar",
    "fr": "oui|d['’]accord|bien sûr|entendu|très bien",
    "es": "vale|claro|sí|bueno|de acuerdo|por supuesto|entendido",
    "pt": "sim|certo|com certeza",
    "it": "va bene|certamente|d['’]accordo|capito",
    "ru": "да|хорошо|ладно|конечно|понятно",
    "zh": "好的?|好吧|当然|没问题|明白了?",
    "ja": "はい|了解(?:です|しました)?|承知しました|わかりました",
    "ko": "네|예|알겠습니다|물론(?:이죠)?|좋아요",
}
_CONSENT = late(rf"[ \t*_]*(?i:{'|'.join(_CONSENTS.values())})[*_]*(?:[,，、]|[ \t]+(?:{_ARROWS}))?[ \t]*")


def is_sign(before: str) -> bool:
    """Is this beginning of a line a list sign, a dash, an arrow or a face, and nothing more?"""
    return _SIGN.fullmatch(before) is not None


def consents(before: str) -> bool:
    """Is this beginning of a line a word of consent, perhaps with a comma or a dash?"""
    return _CONSENT.fullmatch(before) is not None


def may_be_listed(text: str, start: int, line: int) -> bool:
    """Does an announcement or consent stand before the line that begins at `line`, or no words at all since `start`?"""
    sentence = sentence_before(text, start, line)
    return not sentence or announces(sentence) or consents(sentence.rstrip(".!…。！"))
