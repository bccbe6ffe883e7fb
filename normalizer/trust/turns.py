"""Detect turns of other speakers that a model made up.

A model that does not stop at the end of its turn writes the next turn: the header of the user's, a tool's or the system's
turn, as its chat template or a transcript has it, and what that speaker says. A call there is not the model's own. Neither is
a call in the turn that it then writes for itself.

A header counts at the border of a turn: at the beginning of a line, or behind a token or a sentence's end. In a fence, it is
content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmcore.normalizer.scanning.words import COLONS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["other_speaks"]

_OTHERS = "user|human|tools?|function|system|observation|ipython|environment|developer|customer|client|tool_(?:response|result)s?"
"""The speakers of the turns that are not the model's, as chat templates write them."""
_BEGINS_TURN = (
    r"<\|im_start\|>|<\|start_header_id\|>|<\|header_start\|>|<start_of_turn>|<\|turn>|<\|start\|>|<\|start_of_role\|>|<\|begin\|>"
    r"|<\|bom\|>|<\|BOT\|>|<\|role_start\|>|<\|message_sep\|>|\]~b\]|<role>|<seed:bos>|<\[?begin▁of▁sentence\]?>|<extra_id_1>|<SPECIAL_1\d>"
    r'|<\|open\|>message role="'
)
_HEADERS = (
    rf"(?:{_BEGINS_TURN})\s{{0,4}}(?:{_OTHERS})(?![\w.])"
    rf"|<[|｜](?:im_|hy_|message_|role_)?(?:{_OTHERS})(?:_token|_start|_begin|_message|prompt|prompter)?[|｜]>"  # DeepSeek's bar
    rf"|<[|｜]prompter[|｜]>|\[\|(?:{_OTHERS})\|\]|(?:{_OTHERS})<\|role_sep\|>|<reserved_106>"  # as above
    r"|\[(?:INST|SYSTEM_PROMPT|TOOL_RESULTS)\]"
)
_LABELS = (
    r"(?:#{1,6}[ \t]*|\*\*|<|\[)?(?:Human|HUMAN|User|USER|Customer|Instruction|Benutzer(?:in)?|Nutzer(?:in)?"
    r"|Utilisateur|Usuario|Usuário|Utente|Пользователь"
    r"|用户|ユーザー|사용자)(?:\*\*|>|\])?[ \t]?[:：]"  # noqa: RUF001 # with the full-width colon
)
_HEADER = lazy_regex(rf"(?:(?<=[>\].!?…。！？\n])|\A)[ \t]{{0,8}}(?:{_HEADERS})", re.IGNORECASE)  # noqa: RUF001 # as above
_LABEL = lazy_regex(rf"[ \t]*(?:{_LABELS})")
_LABEL_BEHIND = lazy_regex(rf"[|｜]>\s{{0,8}}[ \t]*(?:{_LABELS})")  # as above
_LONGEST_LABEL = 64
_BLANKS = frozenset(" \t\r\n")
_FENCE = lazy_regex(r"^[ \t]{0,8}(?:```|~~~)", re.MULTILINE)


def other_speaks(text: str) -> bool:
    """Whether a turn of another speaker begins in the text before a call."""
    if "<" in text or "[" in text or ("]" in text and "]~b]" in text):  # one character is found fifty times faster than two
        for found in _HEADER.finditer(text):
            if len(_FENCE.findall(text, 0, found.start())) % 2 == 0:
                return True
    return any(len(_FENCE.findall(text, 0, start)) % 2 == 0 for start in _labels(text))


def _labels(text: str) -> Iterator[int]:
    """Where labels of other speakers begin: at the text's beginning, below a blank line, or behind a token.

    It seeks their colons, which are rarer than line beginnings, so prose costs next to nothing.
    """
    for sign in COLONS:
        colon = text.find(sign)
        while colon >= 0:
            above = text.rfind("\n", colon - _LONGEST_LABEL if colon > _LONGEST_LABEL else 0, colon)
            if above > 0:
                begins = text[above - 1] in _BLANKS and _is_blank_above(text, above)
            else:
                begins = above < 0 and colon <= _LONGEST_LABEL
            if begins and _LABEL.match(text, above + 1) is not None:
                yield above + 1
            colon = text.find(sign, colon + 1)
    if "|" in text or "｜" in text:  # as above
        for found in _LABEL_BEHIND.finditer(text):
            yield found.start()


def _is_blank_above(text: str, end: int) -> bool:
    """Whether the line that ends at `end` is blank."""
    return text[max(end - _LONGEST_LABEL, 0) : end].rstrip(" \t\r").endswith("\n")
