"""Made-up wrappers: a pair of tags of any name around one bare form.

They cannot be listed, so the form is read as a bare one, and the pair is markup: `<tool-use>`, `<|action|>`, `BLOCK>>>`, also
with the angle brackets escaped as in HTML. A form on its own lines needs no wrapper. On the tag's line, the pair tells the
form from a quotation in prose: the closer must follow, and the tag must not be one of HTML's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from llmcore.normalizer.bare.verdicts import leads_in, line_is_over
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Steps
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["Wrapper", "around", "wrapped_begins", "wrapper_before"]

_LONGEST = 80
_REACH = 512
_NAME = r"[A-Za-z][\w.-]{0,40}+"
_TAG = lazy_regex(rf"(?:<(?P<tag>{_NAME})>|&lt;(?P<escaped>{_NAME})&gt;|<\|(?P<token>\w{{1,40}}+)\|>)\Z")
_BLOCK = lazy_regex(r"(?P<block>\b[A-Z_]{4,40}+)>>>\Z")
_CLOSERS = {
    "tag": ("</{}>",),
    "escaped": ("&lt;/{}&gt;",),
    "token": ("<|/{}|>", "<|end_{}|>", "<|{}_end|>", "</{}>"),
    "block": ("<<<END_{}>>>",),
}
_ORDINARY = lazy_regex(
    "a|abbr|b|big|blockquote|body|button|caption|center|cite|code|d[dlt]|del|details|div|em|fig(?:caption|ure)|font|footer|form|h[1-6]|"
    "head|header|html|i|input|ins|kbd|label|li|main|mark|nav|ol|option|p|pre|q|s|samp|script|section|small|span|strike|strong|style|"
    "su[bp]|summary|table|tbody|t[dhrt]|template|textarea|title|u|ul|var|xmp|listing|plaintext|noscript|acronym|figure|article|aside|"
    "context|documents?|(?:[a-z]+[_-])?examples?(?:[_-][a-z]+)?|expected|format|history|observation|output|(?:tool_|function_)?results?|"
    "(?:[a-z]+[_-])?samples?(?:[_-][a-z]+)?|schema|(?:chat_)?transcripts?|quot(?:e|ed|es|ation)|snippets?|logs?|illustration|documentation|docs",
    re.IGNORECASE,
)
"""Tags of documents, and words for examples."""


class Wrapper(NamedTuple):
    """`start`: where its opener stands. `inline`: the form stands on the opener's line. `ordinary`: the tag is a document's."""

    start: int
    closers: tuple[str, ...]
    inline: bool
    ordinary: bool


def wrapper_before(reading: Reading, at: int) -> Wrapper | None:
    """The wrapper whose opener stands directly before `at`, where a bare form may begin. None if there is none."""
    text, first = reading.src.text, max(reading.done, at - _LONGEST)
    last = text[at - 1 : at]
    if last not in (">", ";") and not last.isspace():
        return None
    before = text[first:at].rstrip()
    if before.endswith(">>>"):
        found = _BLOCK.search(before)
    else:
        found = _TAG.match(before, max(before.rfind("<"), before.rfind("&lt;"), 0))
    if found is None or found.lastgroup is None:
        return None
    start, name = first + found.start(), found[found.lastgroup]
    inline = "\n" not in text[first + len(before) : at]
    ordinary = _ORDINARY.fullmatch(name) is not None
    if not leads_in(reading.line_before(start, _REACH)) or (inline and ordinary):
        return None
    return Wrapper(start, tuple(closer.format(name) for closer in _CLOSERS[found.lastgroup]), inline, ordinary)


def wrapped_begins(wrapper: Wrapper | None, at: int) -> int:
    """Where a form at `at` begins, including its wrapper."""
    return at if wrapper is None or wrapper.ordinary else wrapper.start


def around(reading: Reading, wrapper: Wrapper | None, end: int) -> Steps[tuple[int, bool]]:
    """(end of the wrapper's closer behind a form that ends at `end`, or -1; whether the form's last line is over)."""
    closed = -1 if wrapper is None else (yield from _closer(reading, wrapper, end))
    if wrapper is None or not wrapper.inline:
        return closed, (yield from line_is_over(reading, end))
    return closed, closed >= 0 and (yield from line_is_over(reading, closed))


def _closer(reading: Reading, wrapper: Wrapper, end: int) -> Steps[int]:
    src = reading.src
    while True:
        rest = src.text[end : end + _LONGEST]
        ahead = rest.lstrip()
        for closer in wrapper.closers:
            if ahead.startswith(closer):
                return end + len(rest) - len(ahead) + len(closer)
        if src.final or len(rest) == _LONGEST or not any(closer.startswith(ahead) for closer in wrapper.closers):
            return -1
        yield None
