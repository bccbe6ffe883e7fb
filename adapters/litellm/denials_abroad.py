"""How servers say in other languages than English that they do not take what they name: by the field, whose name is the
request's, or by what people call tools and images.

A name stands close to the words that deny it, so little may stand between: what is farther off may be a condition, or another
thing. Every repetition is bounded.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - the punctuation is that of the languages
from collections.abc import Iterator

__all__ = ["DENIED_BEHIND", "DENIES_BEFORE", "NOUNS_ABROAD", "denied_abroad"]

_BEHIND = (
    # Chinese, Japanese, Korean
    r"(?:在[此该本这][^，。；,.;\n]{0,6})?(?:暂|目前|当前)?(?:不(?:被|受)?[^，。；,.;\n]{0,8}支持|不支援|不可用|未启用|不能设(?:置)?为|不允许|無法使用)",
    r"(?:は|に(?:は)?|を)?[^、。,.;\nと]{0,8}(?:対応していません|サポートされていません|サポートしていません|利用できません|使用できません)",
    r"(?:은|는|이|가|을|를)? ?(?:지원되지|지원하지|사용할 수 없)",
    # French, German, Spanish, Portuguese, Italian, Russian
    r"n['\u2019](?:est|sont) pas (?:prise?s? en charge|supporte|disponible|autoris|accept)",
    r"ne (?:sont|seront|peu(?:t|vent)) pas (?:être )?(?:prise?s? en charge|disponible|autoris|accept|utilis)",
    r"(?:wird|werden|ist|sind) (?:von [^.;,\n]{0,40}|hier |derzeit )?nicht"
    r" (?:unterstützt|verfügbar|erlaubt|zulässig|implementiert)",
    r"no (?:es|está|son|están) (?:compatible|disponible|permitid|soportad|admitid|habilitad)|no se (?:admite|permite|soporta)",
    r"no (?:es|son) posibles?|no se pueden? (?:usar|utilizar)",
    r"não (?:é|está|são|estão) (?:suportad|disponíve|permitid|aceit|habilitad)",
    r"non (?:è|sono) (?:supportat|disponibil|ammess|consentit|abilitat)",
    r"не (?:поддержива|доступ|разреш|включен)",
    # Turkish, Polish, Arabic
    r"(?:bu model(?:de)? )?(?:tarafından )?(?:desteklen?m(?:iyor|ez|emekte)|kullanılam(?:az|ıyor)|mevcut değil|devre dışı)",
    r"(?:tu )?nie (?:jest|są) (?:obsługiwan|wspieran|dostępn|dozwolon|włączon)",
    r"(?:غير (?:مدعوم|متاح|متوفر|مسموح|مفعل)|ليست? (?:مدعوم|متاح))",
)
_BEFORE = (
    r"(?:不支持|不支援|不允许|未启用|不能使用|无法使用)[^，。；,.;\n在时下同与和当带]{0,8}",
    r"ne (?:prend|prennent|prenons|supporte|supportent|supportons|gère|gèrent|gérons|accepte|acceptons) pas(?: en charge)?",
    r"(?:unterstützt|unterstützen|akzeptiert|kennt) (?:kein(?:e|en)?|nicht)",
    r"no (?:soporta|admite|acepta|permite)",
    r"não (?:suporta|aceita|permite)",
    r"non (?:supporta|accetta|permette)",
    r"не (?:поддерживает|поддерживаем|принимает|умеет)",
    r"nie (?:obsługuj(?:e|emy)|wspiera(?:my)?|przyjmuje)",
    r"لا (?:يدعم|تدعم|ندعم|يقبل|تقبل)",
)
_ON_A_CONDITION = (
    r"(?![与和同跟])"
    r"(?!\w* (?:avec|en même temps|mit|zusammen|beim?|con|junto|com|con|insieme|вместе|с|при|razem|z|przy|مع)"
    r" (?!(?:ce|cet|cette|ces|notre|diesem?r?|unserem?r?|est[ea]|nuestr[oa]|noss[oa]|quest[oa]|этой|этим|tym|tego|هذا)\b))"
)
"""What is denied together with something else; this model, or this server, is none."""
_NEAR = (
    r"(?:[\s'\"`\u201c\u201d\u2018\u2019\u00ab\u00bb「」()（）:：=]"
    r"|\b(?:le|la|les|gli|i|el|los|las|den|die|das|der|o|a|os|as|il|l')\b){0,4}"
)
"""What may stand between a name and the words that deny it: quotes, and an article."""


DENIED_BEHIND = rf"{_NEAR}(?:{'|'.join(_BEHIND)}){_ON_A_CONDITION}"
DENIES_BEFORE = rf"(?:{'|'.join(_BEFORE)}){_NEAR}"
"""What denies a name that stands before it, and one that stands behind it, in text of small letters."""


NOUNS_ABROAD = {
    "tools": "|".join(
        (
            r"(?:工具(?:调用|呼叫)?|函数调用|函式呼叫)(?![名的数参描结])",
            r"(?:ツール(?:の)?(?:呼び出し|コール|使用|利用)|ツール|関数(?:の)?呼び出し)(?![名の数定])",
            r"(?:도구|툴|함수)(?: ?호출| ?사용)?(?: ?기능)?",
            r"(?:l['\u2019])?(?:appels?|utilisation) (?:d['\u2019]outils|de fonctions?)|outils",
            r"werkzeuge?n?|(?:werkzeug|funktions|tool-?)aufrufe?n?",
            r"(?:llamadas? a |uso de )?(?:herramientas|funciones)",
            r"(?:chamadas? (?:de |a )|uso de )?(?:ferramentas|funções)",
            r"(?:chiamate? (?:a |di )|uso (?:di |degli ))?(?:strumenti|funzioni)",
            r"(?:вызовы? |использование )?(?:инструмент(?:ы|ов)|функций)",
            r"(?:araç|fonksiyon)(?:ları?)?(?: (?:çağrı(?:ları|sı)?|kullanımı)(?:nı)?)?",
            r"(?:(?:wywołania|wywołań|wywoływani[ae]|użyci[ae]) )?narzędzi[ae]?|wywoł(?:ania|ań|ywani[ae]) funkcji",
            r"(?:استدعاء )?(?:ال)?(?:أدوات|ادوات|دوال)",
        )
    ),
    "images": "|".join(
        (
            r"图[片像](?:输入)?|圖[片像](?:輸入)?",
            r"画像(?:の)?(?:入力)?|写真",
            r"이미지(?: ?입력)?|사진",
            r"bilder|bildeingaben|fotos",
            r"imágenes|imagens|immagini|изображени[яй]|картинки|görseller|resimler|obraz(?:y|ów)|zdjęcia|(?:ال)?صور",
        )
    ),
}
"""What people call them in general; a word for one of them is none."""


def denied_abroad(part: str) -> Iterator[str]:
    """The patterns by which something is not taken that the pattern `part` names, in text of small letters."""
    part = rf"(?<![a-z_])(?:{part})(?![a-z_])"  # where a word ends is not the same in every script
    yield rf"{part}{DENIED_BEHIND}"
    yield rf"{DENIES_BEFORE}{part}"
