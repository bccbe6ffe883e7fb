"""Words by which what is wrong passes: it came too often, the server has no room or is mended, the same is taken later; in the
languages of servers, and in the codes that they have for an error.

A word that only asks for another try is none of them ("try again without tools"): it is what is said to pass that counts, or that
the try is to come later. What is not there *yet*, or *currently*, is not there. Every repetition is bounded.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - the punctuation is that of the languages
from collections.abc import Collection

from llmcore.types.late import late

__all__ = ["called_a_fault", "called_overloaded", "called_too_often", "says_it_passes", "says_too_often"]

_PASSES = late(
    r"\btemporar|\boverloaded\b|\bbusy\b|\b(?:again|retry|back) (?:later|soon|shortly|in (?:an? |some |\d))"
    r"|(?<!and )(?<!then )\btry(?:ing)? again(?=\W*$|[.;,!\n]| (?:later|soon|shortly|in|after (?:an? |some |\d)))"
    r"|\b(?:at|out of|over|no|exceed\w*|insufficient|(?:not|n't) (?:have )?enough)"
    r" (?:free |spare |available )?capacity\b(?! to\b)"
    r"|\bcapacity (?:is |was |has been |limit )?(?:exceeded|reached|exhausted|full)\b"
    r"|\btoo many (?:concurrent |simultaneous |parallel )?(?:requests|connections)\b|\benhance your calm\b|\bplease wait\b"
    r"|\bright now\b|\bslow down\b|\bhold on\b|\b(?:under|in|for|during) maintenance\b|\b(?:is|are) (?:being )?restarting\b"
)
_FAULTS = late(
    r"\b(?:models?|checkpoints?|weights|servers?|instances?|replicas?|engines?|workers?|it)\b[^.;\n]{0,40}? (?:is|are|still)"
    r" (?:(?:still|currently|now|being) ){0,2}(?:loading|(?<=being )loaded|warming up|starting|spinning up|booting"
    r"|initiali[sz]ing)\b"
    r"|\bestimated_time\b|\bcold[ -]start"
    r"|\bqueue (?:is |was |has been )?(?:full|overflow\w*|exceeded|saturated)\b|\bqueue[ _-](?:full|overflow)\b|\bfull queue\b"
    r"|\bupstream (?:connect(?:ion)?|request|server|service|response)? ?"
    r"(?:error|time[ds]?[ -]?out|timeout|reset|unavailable|unreachable)\b|\bno healthy upstream\b"
    r"|\bbad gateway\b|\bgateway time-?out\b|\bdisconnect/reset before headers\b"
    r"|\bconnection (?:was |is )?(?:refused|reset|terminat\w+)\b"
    r"|\b(?:cuda|gpu|hip|device|vram|memory)\b[^.;\n]{0,20}\bout of memory\b|\boutofmemoryerror\b"
    r"|\b(?:gpu|cuda|worker|server|engine) (?:ran|is|was) out of (?:gpu |free )?memory\b"
    r"|\bcuda error\b|\bnccl (?:error|failure)\b"
)
"""Faults of a server, of what stands before it or of its machine, which have nothing to do with the request."""
_ABROAD = late(
    "|".join(
        (
            # German, Dutch, Swedish, Danish, Norwegian
            r"\bspäter\b|\bvorübergehend|\büberlastet|\bausgelastet|\bwartung(?:sarbeiten)?\b|\bzu viele (?:an|auf)fragen",
            r"\bin (?:kürze|wenigen (?:minuten|sekunden))\b|\bbitte warten\b",
            r"\blater opnieuw|\btijdelijk|\boverbelast|\bte veel verzoeken|\b(?:senare|senere)\b|\btillfälligt|\bmidlertidig",
            # French, Spanish, Portuguese, Italian
            r"\bplus tard\b|\btemporairement|\bmomentanément|\bsurchargée?|\ben (?:cours de )?maintenance\b|\btrop de requêtes",
            r"\bmás tarde\b|\btemporalmente|\bsobrecargad|\ben mantenimiento\b|\bdemasiadas (?:solicitudes|peticiones)",
            r"\bmais tarde\b|\btemporariamente|\bsobrecarregad|\bem manutenção\b",
            r"\b(?:muitas|demasiados?) (?:solicitações|requisições|pedidos)",
            r"\bpiù tardi\b|\btemporaneamente|\bsovraccaric|\bin manutenzione\b|\btroppe richieste",
            # Russian, Ukrainian, Polish, Czech, Turkish, Indonesian, Vietnamese
            r"\bпозже\b|\bпозднее\b|\bвременно\b|\bперегруж|\bтехническ\w+ обслуживани",
            r"\bслишком много запросов|\bпізніше\b|\bтимчасово\b",
            r"\bpóźniej\b|\btymczasowo|\bprzeciążon|\bkonserwacj|\bzbyt wiele żądań|\bpozději\b|\bdočasně\b",
            r"\bdaha sonra\b|\bgeçici olarak\b|\başırı yük|\bbakım(?:da|dadır| çalışma)|\bçok fazla istek",
            r"\bcoba lagi nanti\b|\bsementara waktu\b|\bthử lại sau\b|\btạm thời\b",
            # Chinese, Japanese, Korean, Arabic, Hindi
            r"稍[后後候]|[后後]再[试試]|(?:暂时|暫時)(?!不支[持援])|维护中|維護中|正在维护|系统维护|过载|過載|超载|繁忙|请求过[多于]|請求過多|限流",
            r"後ほど|後で|しばらく(?:して|お待ち|経って)|一時的|メンテナンス|混み合|混雑|過負荷|リクエストが多すぎ",
            r"잠시 ?(?:후|뒤)|나중에|일시적|점검 ?중|과부하|요청이 너무 많",
            r"لاحق[اًا]|مؤقت|قيد الصيانة|बाद में|अस्थायी",
        )
    )
)


def says_it_passes(text: str) -> bool:
    """Do a server's words (lower case) call what is wrong a passing thing? Words that ask for another request ("drop it and try
    again", "try again without") do not."""
    return any(words.search(text) for words in (_PASSES, _FAULTS, _ABROAD)) or says_too_often(text)


_PER_TIME = r"\bper[ -](?:second|minute|hour|day|min|sec)\b"
_TOO_OFTEN = late(
    r"\brate[ _-]?limit(?:s|ing)? (?:was |is |has been )?(?:reached|exceeded|hit|error)\b|\brate_limit_exceeded\b"
    r"|\bexceed\w* (?:your |the |its |our )?(?:\w{1,20} ){0,2}rate[ -]limit"
    r"|\b(?:are|is|was|were|been|being|got) (?:rate[ -]?limited|throttled)\b|^\W*rate[ -]?limited\b"
    r"|\btoo many (?:requests|tokens)\b[^\n]{0,24}\b(?:wait|slow|later)\b|\btoo many requests\b"
    r"|\bthrottlingexception\b|\bservice tier capacity exceeded\b"
    rf"|\b(?:exceed\w*|reach\w*|hit|used up|limit)\b[^.;\n]{{0,60}}{_PER_TIME}"
    rf"|\b(?:requests?|tokens?|limits?|quota)\b[^.;\n]{{0,40}}{_PER_TIME}[^.;\n]{{0,60}}\b(?:exceed|reach|limit|used\b|hit\b)"
    r"|(?:请求|調用|调用)(?:频率|次数)[^,，。;\n]{0,8}(?:超|限)|速率限制|(?:レート|利用)制限(?:に|を)|요청 한도"
    r"|\b(?:ratenlimit|anfragelimit|limite de (?:requêtes|débit|solicitudes|peticiones|requisições|richieste)|лимит запросов)\b"
)


def says_too_often(text: str) -> bool:
    """Do a server's words (lower case) say that too much was asked in a time?"""
    return _TOO_OFTEN.search(text) is not None


_CALLED_TOO_OFTEN = late(r"rate[_ -]?limit|throttl|too[_ -]?many[_ -]?requests|^429$|resource[_ -]?exhausted")
_CALLED_OVERLOADED = late(r"over[_ -]?load|(?:^|_)unavailable(?:_error)?$|server[_ -]?busy|^(?:503|529)$")


def called_too_often(codes: Collection[str]) -> bool:
    """Does what the server calls the error (its `code`, `type`, `status`; lower case) say so?"""
    return any(_CALLED_TOO_OFTEN.search(code) for code in codes)


def called_overloaded(codes: Collection[str]) -> bool:
    """Does it say that there is no room?"""
    return any(_CALLED_OVERLOADED.search(code) for code in codes)


_CALLED_A_FAULT = late(r"50[024]|52[0-7]|bad_gateway|gateway_timeout")


def called_a_fault(codes: Collection[str]) -> bool:
    """Does it say that the server, or one behind it, failed, whatever status it is told with?"""
    return any(_CALLED_A_FAULT.fullmatch(code) for code in codes)
