"""Turns of other speakers that a model made up.

A model that does not stop at its turn's end goes on with the next one: it writes the header of the user's, of a tool's or of the
system's turn, as its chat template or a transcript has them, and what that speaker says. A call there is not the model's own, and
neither is one in the turn that it then gives itself.

A header counts at a turn's border: where a line begins, or behind a token or a sentence's end. In a fence it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmcore.types.late import late

__all__ = ["other_speaks"]

_OTHERS = "user|human|tools?|function|system|observation|ipython|environment|developer|customer|client|tool_(?:response|result)s?"
"""Who speaks in the turns that are not the model's, as templates write it."""
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
    r"|用户|ユーザー|사용자)(?:\*\*|>|\])?[ \t]?[:：]"  # noqa: RUF001 # the full-width colon
)
_HEADER = late(rf"(?:(?<=[>\].!?…。！？\n])|\A)[ \t]{{0,8}}(?:{_HEADERS})", re.IGNORECASE)  # noqa: RUF001 # as above
_LABEL_FIRST = late(rf"[ \t]*(?:{_LABELS})")
_LABEL_BELOW = late(rf"\n[ \t\r]*\n[ \t]*(?:{_LABELS})")
_LABEL_BEHIND = late(rf"[|｜]>\s{{0,8}}[ \t]*(?:{_LABELS})")  # as above
"""Three expressions in place of one: each begins with a character that is sought at once, so that prose costs next to nothing."""
_SIGNS = ("<", "[", "]~b]")
_FENCE = late(r"^[ \t]{0,8}(?:```|~~~)", re.MULTILINE)


def other_speaks(said: str) -> bool:
    """Does a turn of another speaker begin in what was said before a call?"""
    if any(sign in said for sign in _SIGNS):
        for found in _HEADER.finditer(said):
            if len(_FENCE.findall(said, 0, found.start())) % 2 == 0:
                return True
    if ":" in said or "：" in said:  # noqa: RUF001 # as above
        for start in _labels(said):
            if len(_FENCE.findall(said, 0, start)) % 2 == 0:
                return True
    return False


def _labels(said: str) -> Iterator[int]:
    """Where the label of another speaker begins."""
    if _LABEL_FIRST.match(said) is not None:
        yield 0
    for found in _LABEL_BELOW.finditer(said):
        yield found.start()
    if "|>" in said or "｜>" in said:  # as above
        for found in _LABEL_BEHIND.finditer(said):
            yield found.start()
