"""Detect elements of HTML that are named like a tool. In a page they are HTML; in other text they may be HTML.

A tool of such a name can still be called by its tag. Two things show that an element is HTML: markup of HTML right around it;
or an empty element with HTML attributes only (`<img src="a.png"/>`) that has words before and behind it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.normalizer.scanning.source import Source, Steps, skip_space
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["is_in_page", "may_be_html"]

_REACH = 1024  # characters before an element that are searched for markup of a page
_LONGEST = 16  # characters of a tag's beginning
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
    """Whether markup of HTML stands before an element at `at:end`, or right behind it.

    The search begins at `start`; no call stands between. `names` are the tools' names: behind the element, such a tag is a
    call.
    """
    if _is_markup(src.text, max(start, at - _REACH), at, ()):
        return True
    behind = yield from skip_space(src, end)
    while src.text.startswith("<", behind) and not src.final and len(src.text) - behind < _LONGEST:
        yield None
    return src.text.startswith("<", behind) and _is_markup(src.text[: behind + _LONGEST], behind, behind + 1 + _LONGEST, names)


def may_be_html(arguments: Collection[str]) -> bool:
    """Whether all of these are attributes of HTML."""
    return bool(arguments) and all(key in _ATTRIBUTES for key in arguments)
