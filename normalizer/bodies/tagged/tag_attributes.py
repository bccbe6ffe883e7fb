"""The attributes of an opening tag, and where the tag ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmcore.normalizer.bodies.tagged.entities import decoded
from llmcore.normalizer.scanning.source import Source, Steps
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["ATTRIBUTE", "CURLY", "LONGEST_TAG", "NAMES", "VALUES", "Attributes", "is_cut_tag", "open_attribute", "opening_tag"]

NAMES = ("name", "key", "param", "parameter", "arg")
"""Attributes that hold the name of an argument."""
_ABOUT = frozenset((*NAMES, "type", "string", "id", "index"))
VALUES = ("value", "content", "text", "val")
"""Attributes that hold a value."""

CURLY = "“”„‘’"  # noqa: RUF001 # typographic quotation marks are intended
ATTRIBUTE = lazy_regex(
    r"""(?P<key>[A-Za-z_][A-Za-z0-9_:.-]{0,63})[\sĠ]*+=[\sĠ]*+(?:"(?P<dq>[^"]*+)"|'(?P<sq>[^']*+)'|(?P<nq>[^\s"'<>/]++))"""
)
_OPEN_ATTRIBUTE = lazy_regex(
    r"""<[^\s<>="'/]{1,64}(?:[\sĠ]*+=[\sĠ]*+(?P<named>[^\s"'<>=]{1,128}+))?"""
    r"""(?P<before>(?:[\sĠ]++[A-Za-z_][\w.:-]{0,63}+[\sĠ]*+=[\sĠ]*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>]++))*+)"""
    r"""[\sĠ]++(?P<key>[A-Za-z_][\w.:-]{0,63}+)[\sĠ]*+=[\sĠ]*+(?P<quote>["'])"""
)
"""A tag up to the quote of a value that does not close before an angle bracket."""
_BEHIND_VALUE = lazy_regex(r"""[\sĠ]{0,16}(?:/?>|[\w.:-]{1,64}[\sĠ]{0,4}=)""")
_BEHIND = 96
LONGEST_TAG = 1024
_TAG_REST = r"""(?:[^<>"']++|"[^"]*+"|'[^']*+')*+"""
_TAG_BEGUN = lazy_regex(rf"""{_TAG_REST}(?:"[^"]*+|'[^']*+)?\Z""")
_LONE_BEGUN = lazy_regex(rf"""{_TAG_REST}(?:"[^"]*+|'[^']*+|</?[a-z_]{{0,16}})?\Z""")
_TAG_WHOLE = lazy_regex(f"{_TAG_REST}>")


class Attributes(dict[str, str]):
    """The attributes of a tag. `others` has earlier values of repeated keys. `rest` is the text that is no attribute."""

    def __init__(self, pairs: Iterable[tuple[str, str]], rest: str = "") -> None:
        super().__init__()
        self.rest = rest
        self.others: dict[str, list[str]] = {}
        for key, text in pairs:
            if key in self:
                self.others.setdefault(key, []).append(self[key])
            self[key] = text


def _uncurled(text: str | None) -> str | None:
    """The text without the typographic quotation marks around it."""
    return text if text is None else text.strip(CURLY)


def opening_tag(src: Source, at: int, closer: str = ">") -> Steps[tuple[int, Attributes, bool] | None]:
    """(where it ends, its attributes, whether it is an empty element) of an opening tag whose name ends at `at`.

    None if it is no tag. `closer` is the text that ends it.
    """
    whole, begun = (_TAG_WHOLE, _TAG_BEGUN) if closer == ">" else (re.compile(_TAG_REST + re.escape(closer)), _LONE_BEGUN)
    while (rest := whole.match(src.text, at, at + LONGEST_TAG)) is None:
        if src.final or len(src.text) - at >= LONGEST_TAG or begun.match(src.text, at) is None:
            return None
        yield None
    inside = rest[0].removesuffix(closer)
    attributes = Attributes(
        (
            (
                found["key"],
                decoded(next(text for text in (found["dq"], found["sq"], _uncurled(found["nq"])) if text is not None)),
            )
            for found in ATTRIBUTE.finditer(inside)
        ),
        ATTRIBUTE.sub("", inside).strip(" \t\r\n/ĠĊ"),
    )
    return rest.end(), attributes, rest[0].removesuffix(">").rstrip().endswith("/")


def open_attribute(src: Source, at: int) -> Steps[tuple[str, int] | None]:
    """(argument, where its value begins) of the tag at `at`, if the quote of one of its attributes never closes.

    Such a value is all of the text that follows, so this waits for the end of the text. If the attribute is about the
    argument, such as its name or type, the argument is "".
    """
    head = _OPEN_ATTRIBUTE.match(src.text, at, at + LONGEST_TAG)
    if head is None:
        return None
    key, quote, start = head["key"], head["quote"], head.end()
    if key in _ABOUT:
        key = ""
    elif key in VALUES:
        key = next(
            (found["dq"] or found["sq"] or found["nq"] or "" for found in ATTRIBUTE.finditer(head["before"])), head["named"]
        )
    head, sought = None, start  # a match keeps its text alive
    while (stop := src.text.find(quote, sought)) < 0 and not src.final:
        sought = len(src.text)
        yield None
    while stop >= 0 and len(src.text) - stop < _BEHIND and not src.final:
        yield None
    if stop >= 0 and _BEHIND_VALUE.match(src.text, stop + 1) is not None:
        return None
    while not src.final:
        yield None
    return key or "", start


def is_cut_tag(src: Source, at: int, closer: str = ">") -> bool:
    """Whether the text ended in an opening tag whose name ends at `at`."""
    begun = _TAG_BEGUN if closer == ">" else _LONE_BEGUN
    return src.final and len(src.text) - at < LONGEST_TAG and begun.match(src.text, at) is not None
