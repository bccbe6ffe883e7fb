"""How servers say in other languages than English that they do not take what they name: most of a refusal's words may be of any
language, the name of the field is the request's.

A name stands close to the words that deny it, so little may stand between: what is farther off may be a condition, or another
thing. Every repetition is bounded.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - the punctuation is that of the languages
from collections.abc import Iterator

__all__ = ["DENIED_BEHIND", "DENIES_BEFORE", "denied_abroad"]

_BEHIND = (
    # Chinese, Japanese, Korean
    r"(?:暂|目前|当前)?(?:不(?:被|受)?[^，。；,.;\n]{0,8}支持|不支援|不可用|未启用|不能设(?:置)?为|不允许|無法使用)",
    r"(?:は|に(?:は)?|を)?[^、。,.;\n]{0,8}(?:対応していません|サポートされていません|サポートしていません|利用できません|使用できません)",
    r"(?:은|는|이|가|을|를)? ?(?:지원되지|지원하지|사용할 수 없)",
    # French, German, Spanish, Portuguese, Italian, Russian
    r"n['\u2019](?:est|sont) pas (?:prise?s? en charge|supporte|disponible|autoris|accept)",
    r"ne (?:sont|peu(?:t|vent)) pas (?:être )?(?:prise?s? en charge|disponible|autoris|accept|utilis)",
    r"(?:wird|werden|ist|sind) (?:von [^.;,\n]{0,40}|hier |derzeit )?nicht"
    r" (?:unterstützt|verfügbar|erlaubt|zulässig|implementiert)",
    r"no (?:es|está|son|están) (?:compatible|disponible|permitid|soportad|admitid|habilitad)|no se (?:admite|permite|soporta)",
    r"não (?:é|está|são|estão) (?:suportad|disponíve|permitid|aceit|habilitad)",
    r"non (?:è|sono) (?:supportat|disponibil|ammess|consentit|abilitat)",
    r"не (?:поддержива|доступ|разреш|включен)",
)
_BEFORE = (
    r"(?:不支持|不支援|不允许|未启用|不能使用|无法使用)[^，。；,.;\n在时下同与和当带]{0,8}",
    r"ne (?:prend|prennent|supporte|supportent|gère|gèrent|accepte) pas(?: en charge)?",
    r"(?:unterstützt|unterstützen|akzeptiert|kennt) (?:kein(?:e|en)?|nicht)",
    r"no (?:soporta|admite|acepta|permite)",
    r"não (?:suporta|aceita|permite)",
    r"non (?:supporta|accetta|permette)",
    r"не (?:поддерживает|принимает)",
)
_NEAR = (
    r"(?:[\s'\"`\u201c\u201d\u2018\u2019\u00ab\u00bb「」()（）:：=]"
    r"|\b(?:le|la|les|el|los|las|den|die|das|der|o|a|os|as|il|l')\b){0,4}"
)
"""What may stand between a name and the words that deny it: quotes, and an article."""


DENIED_BEHIND = rf"{_NEAR}(?:{'|'.join(_BEHIND)})"
DENIES_BEFORE = rf"(?:{'|'.join(_BEFORE)}){_NEAR}"
"""What denies a name that stands before it, and one that stands behind it, in text of small letters."""


def denied_abroad(part: str) -> Iterator[str]:
    """The patterns by which something is not taken that the pattern `part` names, in text of small letters."""
    part = rf"(?<![a-z_])(?:{part})(?![a-z_])"  # where a word ends is not the same in every script
    yield rf"{part}{DENIED_BEHIND}"
    yield rf"{DENIES_BEFORE}{part}"
