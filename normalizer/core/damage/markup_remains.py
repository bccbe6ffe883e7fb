"""Find rests of a damaged call's markup in its arguments.

If a tag, a quotation mark or a delimiter lost a character, it is no markup any more. A reader then takes it for a part of the
value or key beside it, perhaps with the next parameter. The call can be read, but its arguments are not what the model meant,
so it is a guess in every dialect. Only keys are searched, and values that were repaired or stand between tags. The work is
linear.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import texts_in
from llmcore.types.envelope import Repair

__all__ = ["DAMAGED", "HOLDS_CLOSER", "remains_in"]

DAMAGED = "damaged_markup"
"""The repair kind of a value, or of a key, that holds a rest of markup."""
HOLDS_CLOSER = "holds_closer"
"""The repair kind of a value that holds its own closer as text: another closer stands where the format writes it."""
_ODD_KEY = lazy_regex(r"""[="\n]|</|\A\s|\s\Z|\A\Z|\A['‘’“”]|['‘’“”]\Z""")  # noqa: RUF001 # typographic quotation marks are intended
_NAMELESS = frozenset({"parameter", "param", "argument", "arg_key", "arg_value"})
"""Tags of parameters that name no parameter themselves."""
_ENDED = frozenset({"closer_missing", "missing_delimiter"})
"""Repair kinds of a value whose end was not written."""
_WORDS = frozenset({"bare_word", "text_for_yaml"})
"""Repair kinds of a value that is taken as plain text."""
_MARKUP = lazy_regex(
    r"""<[/\w|｜!\]:]|<\s*\Z|[\w|｜\]]>\s*\Z|[|｜]["|>]|[\]\[]<|\A["“”]|["“”]\Z|escape"""  # with DeepSeek's bar
)
"""Rests of markup. A sign between blanks is none, because code has such signs (`a < b`)."""
_INNER_VALUE = lazy_regex(
    r"\A[^<>]{0,80}<?/?(?:[\w:-]{0,16}\||longcat_)?arg_(?:key|value)[^<>]{0,40}>|\A\s*<?!?\[?(?:CDATA|!?\[CDAT)|\A\s*<!\["
)
"""The rest of a value's own opener or CDATA section, where all values stand between tags."""
_ESCAPING = lazy_regex(r"""\s*+(?:[\[{("']|[^\W\d]\w{0,127}+\s*+=(?![=>]))""")
_LITERAL = "<![CDATA["
_NONE = frozenset[str]()


def remains_in(arguments: Mapping[str, Any], repairs: Sequence[Repair], raw: str, properties: Collection[str]) -> list[Repair]:
    """A guess for each key and value that holds a rest of markup. Empty if `repairs` already has such a guess.

    `raw` is the text of the arguments. `properties` are the tool's parameters; their names are not searched.
    """
    if repairs and any(repair.kind == DAMAGED for repair in repairs):
        return []
    found = [
        _guess(key, key)
        for key in arguments
        if key not in properties
        and ((key in _NAMELESS and f"<{key} name=" in raw) or (not key.isidentifier() and _ODD_KEY.search(key) is not None))
    ]
    between_tags = _ESCAPING.match(raw) is None
    ended, words = (_repaired_paths(repairs, _ENDED), _repaired_paths(repairs, _WORDS)) if repairs else (_NONE, _NONE)
    if not (between_tags or ended or words):
        return found
    placed = _repaired_paths(repairs, (HOLDS_CLOSER,)) if repairs else _NONE
    for key, value in arguments.items():
        if key in placed:
            continue
        is_ended, is_word = "" in ended or key in ended, key in words
        for text in (value,) if isinstance(value, str) else texts_in(value):
            if (
                (
                    between_tags
                    and (">" in text or "<" in text)
                    and (_holds_value_markup(text) or (_LITERAL not in raw and _closes_more(text, key)))
                )
                or (is_ended and (between_tags or key in ended) and _MARKUP.search(text) is not None)
                or (is_word and (_MARKUP.search(text) is not None or _holds_key(text, properties)))
            ):
                found.append(_guess(key, text))
                break
    return found


def _repaired_paths(repairs: Sequence[Repair], kinds: Collection[str]) -> frozenset[str]:
    """The paths of repairs of these `kinds` that kept the text as written."""
    return frozenset(one.path for one in repairs if one.kind in kinds and one.safety in ("lossless", "coerced"))


def _holds_value_markup(text: str) -> bool:
    """Whether `text` begins or ends with a rest of a value's own opener or CDATA section."""
    return _INNER_VALUE.match(text) is not None or text.rstrip().endswith("]]>")


def _closes_more(text: str, key: str) -> bool:
    """Whether `text` closes the value's own element more often than it opens it."""
    return (closer := f"</{key}>") in text and text.count(closer) > text.count(f"<{key}>")


def _holds_key(text: str, properties: Collection[str]) -> bool:
    """Whether another parameter begins in `text`."""
    return any(f"{key}:" in text for key in properties)


def _guess(key: str, before: str) -> Repair:
    return Repair(kind=DAMAGED, path=key, before=before if len(before) < 120 else before[:120] + "…", after=None, safety="guess")
