"""What is left of a damaged call's markup in its arguments.

A tag, a quotation mark or a delimiter that lost a character is no markup any more, and a reader takes it for a part of the value
or of the key beside it, perhaps with the next parameter. The call can be read, but not as it was meant: it is a guess, whichever
row read it. Looked at are keys, and values that were repaired or stand between tags; all of it is linear.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import texts_in
from llmcore.types.envelope import Repair

__all__ = ["DAMAGED", "remains_in"]

DAMAGED = "damaged_markup"
"""The repair of a value, or of a key, that holds what is left of markup."""
_ODD_KEY = lazy_regex(r"""[="\n]|</|\A\s|\s\Z|\A\Z|\A['‘’“”]|['‘’“”]\Z""")  # noqa: RUF001 # the typographic ones are meant
_NAMELESS = frozenset({"parameter", "param", "argument", "arg_key", "arg_value"})
"""Tags of parameters, which name none themselves."""
_ENDED = frozenset({"closer_missing", "missing_delimiter"})
"""Repairs of a value whose end was not written."""
_WORDS = frozenset({"bare_word", "text_for_yaml"})
"""Repairs of a value that is the text as it stands."""
_MARKUP = lazy_regex(
    r"""<[/\w|｜!\]:]|<\s*\Z|[\w|｜\]]>\s*\Z|[|｜]["|>]|[\]\[]<|\A["“”]|["“”]\Z|escape"""  # DeepSeek's bar
)
"""Not what code has between blanks (`a < b`)."""
_INNER_VALUE = lazy_regex(
    r"\A[^<>]{0,80}<?/?(?:[\w:-]{0,16}\|)?arg_(?:key|value)[^<>]{0,40}>|\A\s*<?!?\[?(?:CDATA|!?\[CDAT)|\A\s*<!\["
)
"""What is left of a value's own opener or literal, where all values stand between tags."""
_ESCAPING = lazy_regex(r"""\s*+(?:[\[{("']|[^\W\d]\w{0,127}+\s*+=(?![=>]))""")
_LITERAL = "<![CDATA["
_NONE = frozenset[str]()


def remains_in(arguments: Mapping[str, Any], repairs: Sequence[Repair], raw: str, properties: Collection[str]) -> list[Repair]:
    """A guess for each key and value that holds what is left of markup, if there is none yet. `raw`: the arguments as they were
    written; `properties`: of the tool, whose keys are sound."""
    if repairs and any(repair.kind == DAMAGED for repair in repairs):
        return []
    found = [
        _guess(key, key)
        for key in arguments
        if key not in properties
        and ((key in _NAMELESS and f"<{key} name=" in raw) or (not key.isidentifier() and _ODD_KEY.search(key) is not None))
    ]
    between_tags = _ESCAPING.match(raw) is None
    ended, words = (_mended(repairs, _ENDED), _mended(repairs, _WORDS)) if repairs else (_NONE, _NONE)
    if not (between_tags or ended or words):
        return found
    for key, value in arguments.items():
        is_ended, is_word = "" in ended or key in ended, key in words
        for text in (value,) if isinstance(value, str) else texts_in(value):
            if (
                (
                    between_tags
                    and (">" in text or "<" in text)
                    and (_is_inner(text) or (_LITERAL not in raw and _closes_more(text, key)))
                )
                or (is_ended and (between_tags or key in ended) and _MARKUP.search(text) is not None)
                or (is_word and (_MARKUP.search(text) is not None or _holds_key(text, properties)))
            ):
                found.append(_guess(key, text))
                break
    return found


def _mended(repairs: Sequence[Repair], kinds: Collection[str]) -> frozenset[str]:
    """The paths of repairs of these kinds that kept what was written."""
    return frozenset(one.path for one in repairs if one.kind in kinds and one.safety in ("lossless", "coerced"))


def _is_inner(text: str) -> bool:
    """Does it begin or end with what is left of a value's own opener or literal?"""
    return _INNER_VALUE.match(text) is not None or text.rstrip().endswith("]]>")


def _closes_more(text: str, key: str) -> bool:
    """Is the value's own element closed in it, and not opened?"""
    return (closer := f"</{key}>") in text and text.count(closer) > text.count(f"<{key}>")


def _holds_key(text: str, properties: Collection[str]) -> bool:
    """Does another parameter begin in it?"""
    return any(f"{key}:" in text for key in properties)


def _guess(key: str, before: str) -> Repair:
    return Repair(kind=DAMAGED, path=key, before=before if len(before) < 120 else before[:120] + "…", after=None, safety="guess")
