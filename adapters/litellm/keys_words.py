"""Words by which a server says that it does not let somebody in, for the key that came, or did not come: in a sentence that names
what lets in beside what is wrong with it, or by the code that it has for the error.

What is said of a tool, a schema or a property is of these, whatever they are called. Every repetition is bounded.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - the letters are those of the languages
import re
from collections.abc import Collection

from llmcore.types.late import late

__all__ = ["called_unauthorized", "charges_for_the_model", "denies_the_model", "says_unauthorized"]

_KEY = (
    r"(?:\b(?:x-)?(?:api|access|auth|secret)[ _-]?(?:keys?|tokens?)\b|\bbearer(?: tokens?)?\b|\bauthori[sz]ation headers?\b"
    r"|\bcredentials?\b|\bcl(?:é|és|ef) (?:d['\u2019])?api\b|\bapi[ -]?(?:schlüssel|sleutel|nyckel|nøgle|nøkkel|anahtar\w*)"
    r"|\b(?:clave|llave|chave|chiave|klucz\w*)(?: de| da| dell['\u2019])? ?api\b|\bключ\w* api\b|\bapi[ -]ключ"
    r"|api ?(?:密[钥鑰]|金[钥鑰]|キー|키)|密钥)"
)
_WRONG = (
    r"(?:\b(?:invalid|incorrect|wrong|bad|unknown|missing|expired|revoked|disabled|deactivated|suspended|blocked|deleted|rejected"
    r"|malformed|required|unrecogni[sz]ed|absent|denied|not (?:valid|found|recogni[sz]ed|provided|passed|set|active|authori[sz]ed"
    r"|accepted|given|supplied|sent|exist)|n['\u2019]t (?:valid|exist)|no longer)\b"
    r"|\bno(?=\W{0,2} ?(?:valid )?(?:api|access|auth|credential|bearer|key))"
    r"|\bungültig|\bfehlt\b|\bfehlend|\bfalsch|\babgelaufen|\bgesperrt|\bnon valide|\binvalide|\bmanquante?\b|\bexpirée?\b"
    r"|\binv[aá]lid[ao]?|\bno (?:es )?v[aá]lid|\bincorrect[ao]|\bcaducad|\bexpirad|\bausente"
    r"|\bnon valid[ao]|\bscadut[ao]|\bmancante"
    r"|\bневерн|\bнедейств|\bотсутств|\bnieprawidłow|\bgeçersiz|\bongeldig|\bogiltig|\bugyldig"
    r"|无效|無效|错误|錯誤|过期|過期|不正确|缺少|無効|正しくあり|期限切れ|유효하지|만료|잘못)"
)
_SAID = late(rf"{_KEY}[^.;\n]{{0,40}}?{_WRONG}|{_WRONG}[^.;\n]{{0,30}}?{_KEY}")
_BY_ITSELF = late(r"\b(?:authentication (?:error|failed|failure|required)|unauthenticated|not authenticated|log ?in required)\b")
_OF_SOMETHING_ELSE = late(
    r"\b(?:tools?|functions?|schemas?|propert(?:y|ies)|arguments?|messages?|temporar\w*|region|model)\b|\[\d"
)
_CALLED = late(
    r"^(?:invalid|incorrect|missing|wrong|bad|expired|revoked|no|unknown)_?(?:api|access|auth)\w{0,16}$"
    r"|^(?:authentication|unauthori[sz]ed|unauthenticated|auth)(?:_?(?:error|failed|failure|required|exception))?$"
    r"|^api_?key_?(?:invalid|expired|missing|revoked|disabled|not_?(?:valid|found))$"
)


def says_unauthorized(text: str) -> bool:
    """Do a server's words (lower case) say that the key does not let in, or is not there?"""
    return any(
        (_SAID.search(sentence) or _BY_ITSELF.search(sentence)) and not _OF_SOMETHING_ELSE.search(sentence)
        for sentence in re.split(r"(?<=[.!\u3002])\s+|[;\n]", text)
    )


def called_unauthorized(codes: Collection[str]) -> bool:
    """Does what the server calls the error (its `code`, `type`, `status`; lower case) say so?"""
    return any(_CALLED.search(code) for code in codes)


_OF_ACCESS = late(
    r"\b(?:access\w*|permi(?:ssions?|tted)|authori[sz]ed|entitle\w*|allowed|enabled|verified|subscri\w+|upgrade|grant(?:ed)?"
    r"|eligible|allow-?listed|white-?listed|wait-?list\w*|licen[sc]ed?|gated|restricted|denied|requires?|reserved"
    r"|(?:un)?available|not included|billing)\b"
)
"""Words by which a server says for whom something is."""
_OF_A_PLAN = late(r"\b(?:plans?|tiers?|subscriptions?|packages?)\b")
"""What says which models somebody may use."""
_CALLED_DENIED = late(r"model_?access_?denied|model_?not_?(?:allowed|permitted|authori[sz]ed|enabled)")


def denies_the_model(text: str, codes: Collection[str], model: str) -> bool:
    """Do the words (lower case) of a server that does not let somebody in, or what it calls the error, say that it is for this
    model? Another one may be asked with the same key then. Not where they say that the key is wrong."""
    if any(_CALLED_DENIED.search(code) for code in codes):
        return True
    if says_unauthorized(text) or not (_OF_ACCESS.search(text) or _OF_A_PLAN.search(text)):
        return False
    return _names_a_model(text, model) or _OF_A_PLAN.search(text) is not None


_OF_A_BALANCE = late(
    r"\b(?:balances?|credits?|funds?|quotas?|limits?|usage|top[ -]?up|recharge|afford|prepaid|overdue|unpaid|spen[dt]\w*|budget"
    r"|exceed\w*|exhausted|expired|ran out|run out|used up|insufficient|not enough|tokens?|invoices?)\b"
)
"""What is left to spend, whatever the model."""


def charges_for_the_model(text: str, model: str) -> bool:
    """Do the words (lower case) of a server that asks for payment say that it is this model that has to be paid for, by a plan,
    and not that nothing is left to spend? Another model may be asked with the same key then."""
    is_for_some = _OF_A_PLAN.search(text) is not None or _OF_ACCESS.search(text) is not None
    return is_for_some and _names_a_model(text, model) and _OF_A_BALANCE.search(text) is None


def _names_a_model(text: str, model: str) -> bool:
    return (model != "" and model.lower() in text) or re.search(r"\bmodels?\b", text) is not None
