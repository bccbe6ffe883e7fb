"""Sentences in which nobody speaks or is spoken to.

Models that mean a call speak of themselves or to the reader, or begin with what they do (`Searching ...`, `Delete the page`).
A text about a call states what others do (`The client posts this every night:`).
"""

from __future__ import annotations

import re
from functools import cache

from llmcore.types.late import late

__all__ = ["is_impersonal"]

_FEW = 4  # words: a statement has as many
_FEW_SIGNS = 8  # in scripts without blanks
_WORD = late(r"[^\W\d_]+")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff]")
_PERSONS = {
    "en": r"\b(?:I|me|my|we|us|our|you|your|let|please|here|need|sorry|thanks?)\b|\A\W*(?:(?:now|okay|ok|sure|alright|right)\W+)?\w+ing\b",
    "de": r"\b(?:ich|mich|mir|mein\w*|wir|uns|unser\w*|du|dich|dir|dein\w*|ihnen|ihre?[nmrs]?|euch|bitte|hier|danke)\b",
    "fr": r"\b(?:je|me|moi|mon|ma|mes|nous|notre|nos|vous|votre|vos|tu|te|veuillez|voici|merci)\b|\bj['’]",
    "es": r"\b(?:yo|me|mi|mis|nos|nosotros|usted|tú|te|tu|aquí|gracias|favor)\b|\b\w+(?:aré|eré|iré|amos|emos|imos|remos)\b|\A\W*(?:(?:ya|ahora|te|le|lo|la|os|se)\s+){0,3}(?!todo|esto|eso)\w{2,}o\b",
    "pt": r"\b(?:eu|me|meu|minha|nos|nós|você|te|teu|seu|sua|aqui|obrigad[oa]|favor)\b|\b\w+(?:arei|erei|irei|amos|emos|imos)\b|\A\W*(?:(?:já|agora|te|lhe|o|a)\s+){0,3}(?!tudo|isto|isso)\w{2,}o\b",
    "it": r"\b(?:io|mi|mio|mia|ci|noi|nostro|lei|ti|tuo|tua|vi|ecco|grazie|favore)\b|\b\w+(?:erò|irò|iamo|remo)\b|\A\W*(?:(?:ora|subito|ti|le|lo|la)\s+){0,3}(?!tutto|questo|quello)\w{2,}o\b",
    "ru": r"\b(?:я|мне|меня|мой|моя|мы|нам|нас|вы|вам|вас|ты|тебе|тебя|ваш\w*|твой|твоя|пожалуйста|вот|спасибо)\b",
    "zh": r"[我您你请让咱]|稍等|马上|以下是",
    "ja": r"私|僕|お待ち|ください|お知らせ|ご連絡|ましょう|[^れ]ます|こちら",
    "ko": r"겠습니다|주세요|할게요|볼게요|저는|제가|드리|드릴|여기",
}
"""Somebody speaks or is spoken to."""


@cache
def _persons() -> re.Pattern[str]:
    return re.compile("|".join(_PERSONS.values()), re.IGNORECASE)


def is_impersonal(sentence: str) -> bool:
    """Is it a sentence of several words in which nobody speaks or is spoken to?"""
    return _is_long(sentence) and not _has_person(sentence)


def _has_person(sentence: str) -> bool:
    return _persons().search(sentence) is not None


def _is_long(sentence: str) -> bool:
    return len(_WORD.findall(sentence)) >= _FEW or len(_UNSPACED.findall(sentence)) >= _FEW_SIGNS
