"""Elements of HTML that are named as a tool is: in a page they are HTML, and in a text they may be.

A tool of such a name is called by its tag all the same. What tells: markup of HTML right around the element, which is no call
either; and, of an element without a body whose attributes HTML has too (`<img src="a.png"/>`), words before and behind it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.normalizer.scanning.source import Source, Steps, skip_space
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["is_in_page", "may_be_html"]

_REACH = 1024  # characters before an element in which a page's markup may stand
_LONGEST = 16  # of the beginning of a tag
_BLOCKS = (
    "html|head|body|div|p|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|td|th|section|article|nav|header|footer|main|aside|form|fieldset|"
    "h[1-6]|figure|figcaption|script|style|meta|link|title|select|option|optgroup|details|summary|video|audio|picture|iframe|map|svg"
)
_TAG = lazy_regex(rf"<(?:!DOCTYPE\b|/?({_BLOCKS})(?=[\s>/]))", re.IGNORECASE)
_ATTRIBUTES = frozenset((
    "src", "href", "alt", "name", "content", "rel", "type", "value", "action", "method", "id", "class", "style", "width",
    "height", "for", "data", "datetime", "open", "lang", "target", "charset", "title", "media", "srcset", "label", "span",
    "colspan", "rowspan",
))  # fmt: skip


def _is_markup(text: str, at: int, end: int, names: Collection[str]) -> bool:
    return any((found[1] or "").lower() not in names for found in _TAG.finditer(text, at, end))


def is_in_page(src: Source, start: int, at: int, end: int, names: Collection[str]) -> Steps[bool]:
    """Does markup of HTML stand before an element at `at:end`, from `start` on, where no call stands, or right behind it?
    `names`: of the tools, which may be called there."""
    if _is_markup(src.text, max(start, at - _REACH), at, ()):
        return True
    behind = yield from skip_space(src, end)
    while src.text.startswith("<", behind) and not src.final and len(src.text) - behind < _LONGEST:
        yield None
    return src.text.startswith("<", behind) and _is_markup(src.text[: behind + _LONGEST], behind, behind + 1 + _LONGEST, names)


def may_be_html(arguments: Collection[str]) -> bool:
    """Are all of these attributes that HTML has?"""
    return bool(arguments) and all(key in _ATTRIBUTES for key in arguments)
