"""By which words a server says that what was sent does not fit into its model's window.

No list of sentences: a sentence that names the window (context, prompt length, `n_ctx`) beside what was sent and a word that it
is too much, or two numbers of tokens of which the larger one was sent and the smaller one is the limit. What is said of the
length of the reply alone (`max_tokens`), of a rate, of a deadline or of a schema is something else. Every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.types.late import late

__all__ = ["does_not_fit"]

_BY_THEMSELVES = late(
    r"\bmaximum context (?:length|limit)\b|\bmaximum input length is\b|\btoo many (?:input|prompt|context) tokens\b"
    r"|\brange of input length\b|\binput tokens exceed|\bexceeds the maximum number of tokens\b"
    r"|\breduce the length of (?:the|your) (?:messages|prompt|input)\b"
)
"""Words that are said of nothing else, in whatever sentence."""

_SENT = (
    r"(?:\b(?:prompts?|messages|conversation|history|inputs?['\"`]? (?:tokens?|lengths?|texts?|sequences?|sizes?|ids)"
    r"|(?:the|your|this) (?:inputs?|requests?|texts?)|input (?:is|was|has|exceeds)"
    r"|request(?:ed)? (?:contains|has|is|exceeds|tokens)|prompt_tokens|input_ids)\b|['\"`]inputs?['\"`])"
)
_OF_LENGTH = r"(?:lengths?|sizes?|windows?|limits?|tokens?|budget|capacity)"
_CONTEXT = r"\bcontext[ _-](?:lengths?|sizes?|windows?|limits?)\b"
_WINDOW = (
    rf"\b(?:context[ _-]{_OF_LENGTH}|(?:prompt|input|sequence|model|context window)[ _-]{_OF_LENGTH}"
    r"|(?:the|when|model|\w{1,20}['\u2019]s|available|maximum|max|its|this|loaded) (?:context|window)"
    r"|n_ctx|num_ctx|max_model_len|max_seq_len|max_position_embeddings|max_input_(?:tokens|length))\b"
)
_TOO_MUCH = (
    r"\b(?:exceed(?:s|ed|ing)?|overflow(?:s|ed|ing)?|surpass(?:es|ed)?|longer|larger|greater|bigger|beyond|above|over|full"
    r"|too (?:long|large|big|many)|(?:not|n['\u2019]t|cannot) (?:be )?fit|not enough|insufficient|out of|more (?:tokens )?than"
    r"|outside|shorten|truncate|reduce|shorter)\b"
)
_PLAIN = late(
    r"\b(?:prompt|input|conversation|messages|history)\b(?: text)?(?: is| are| was| has become| got)? too (?:long|large)\b"
)
_TOO_MANY = late(r"\btoo many tokens\b")
_COUNTED = late(r"\btokens\b|\btoken (?:count|limit|size)")
_NOT_OF_THE_WINDOW = late(
    r"\bper[ -](?:second|minute|hour|day|month)\b|\b(?:tpm|rpm|tpd)\b|\brate[ _-]limit|\bquota\b|\bdeadline\b"
    r"|\bschema\b|\bnesting\b|\bdescription\b|\b(?:tool|function|property) names?\b|\bstop sequence|\bcharacters?\b|\bseconds\b"
    r"|\b[kmg]i?b\b|\bmegabytes\b"
)
_OF_THE_REPLY = late(
    r"\b(?:max_(?:completion_|output_|new_)?tokens|maxoutputtokens|maxtokens|num_predict|budget_tokens|thinking"
    r"|(?:output|completion|generated|response) (?:tokens?|length))\b"
)
_NUMBER = r"\d[\d,_' ]{0,12}\d"
_LIMIT = late(
    r"\b(?:max(?:imum|_[a-z_]{1,20})?|takes?|limit(?:ed)?|at most|up to|only|no more than|not exceed|capacity|supports?|allow"
    rf"(?:s|ed)?|less than|must be|n_ctx|window|length)\b[^.;\n\d]{{0,60}}(?P<behind>{_NUMBER})"
    rf"|(?:<=?|>=?)\W{{0,3}}(?P<compared>{_NUMBER})"
    rf"|(?P<before>{_NUMBER})(?: tokens?)? (?:max(?:imum)?|limit|allowed|context)\b"
)
_LEAST_TOKENS = 256
"""A smaller number is hardly one of tokens that did not fit."""


def does_not_fit(text: str, codes: Collection[str] = ()) -> bool:
    """Does the text (lower case), or what the server calls the error, say that the request is too long for the model?"""
    return any(_is_a_code(code.replace("_", " ")) for code in codes) or _said(text)


def _is_a_code(code: str) -> bool:
    return bool(re.search(r"\b(?:context|prompt|input)\b", code) and re.search(_TOO_MUCH, code)) and "characters" not in code


def _said(text: str) -> bool:
    if _BY_THEMSELVES.search(text):
        return True
    of_tokens = "token" in text
    sent = re.search(_SENT, text) is not None
    return any(_one_says(one, of_tokens=of_tokens, sent=sent) for one in re.split(r"[.;](?=\s|$)|\n", text)) or (
        sent and _COUNTED.search(text) is not None and _NOT_OF_THE_WINDOW.search(text) is None and _more_than_the_limit(text)
    )


def _one_says(sentence: str, *, of_tokens: bool, sent: bool) -> bool:
    if _NOT_OF_THE_WINDOW.search(sentence):
        return False
    if _PLAIN.search(sentence) or (_TOO_MANY.search(sentence) and not _OF_THE_REPLY.search(sentence)):
        return True
    window = _WINDOW if of_tokens or sent else _CONTEXT
    return re.search(window, sentence) is not None and re.search(_TOO_MUCH, sentence) is not None


def _more_than_the_limit(text: str) -> bool:
    """Is there a limit, and a larger number beside it? The length of the reply is another matter, unless the window is named."""
    if _OF_THE_REPLY.search(text) and re.search(rf"{_WINDOW}|\bprompts?\b|\bmessages\b|\binputs?\b['\"`]? tokens", text) is None:
        return False
    limits = (_value(number) for found in _LIMIT.finditer(text) for number in found.groups() if number)
    least = min((limit for limit in limits if limit >= _LEAST_TOKENS), default=None)
    return least is not None and any(_value(number) > least for number in re.findall(_NUMBER, text))


def _value(number: str) -> int:
    return int(re.sub(r"\D", "", number))
