"""Detect elements of an XML document that are named like a tool: in a configuration, a list, a feed.

An XML declaration (`<?xml`) before an element shows a document. So does an element around it that holds others beside it. A
wrapper around one call only is no document. Neither is an element that is named for calls (`<tool_calls>`, `<actions>`).
Reasoning beside a call (`<thought>`) is not counted. The work is linear: only so many characters before a call and the next
tags behind it are searched.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.normalizer.scanning.source import Source, Steps, skip_space
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["is_in_document"]

_REACH = 2048
_LONGEST_TAG = 512
_MOST_CLOSERS = 8
_HEAD = "<?xml"
_TAG = lazy_regex(r"<(?P<closes>/?)(?P<name>[A-Za-z_][\w.:-]{0,63})(?:\s[^<>]{0,400}?)?(?P<empty>/?)>")
_BLANKS = 64
_ALONE_BEFORE, _ALONE_BEHIND = lazy_regex(r"(?:\A|[\n>])[ \t]*\Z"), lazy_regex(r"[ \t\r]*(?:[\n<]|\Z)")
"""The text around the opener of an element that holds others. An opener in a sentence is not counted."""
_TAG_BEGUN = lazy_regex(r"</?(?:[A-Za-z_][\w.:-]{0,63}(?:\s[^<>]{0,400})?/?)?\Z")
_OF_CALLS = lazy_regex(
    r"(?:^|[_.:-])(?:call|tool|action|function|invo|use|command|execut|request|step|answer|final|batch|parallel)", re.IGNORECASE
)
_THOUGHT = lazy_regex(
    r"(?:inner_?|my_?)?(?:thoughts?|thinking|reason(?:ing)?|analysis|plan|reflection|scratch_?pad|explanation|rationale)",
    re.IGNORECASE,
)


def _opened(text: str, start: int, at: int, names: Collection[str]) -> list[tuple[str, bool]]:
    """The elements that are open at `at`, the outermost first, and whether each holds another element by then.

    An element named like a tool (`names`) opens a call, which may never close, so it is not counted.
    """
    opened: list[tuple[str, bool]] = []
    for tag in _TAG.finditer(text, max(start, at - _REACH), at):
        name = tag["name"]
        if not tag["closes"] and not tag["empty"]:
            if name in names:
                continue
            if _ALONE_BEFORE.search(text, max(0, tag.start() - _BLANKS), tag.start()) and _ALONE_BEHIND.match(text, tag.end()):
                opened.append((name, False))
            continue
        if tag["closes"] and any(name == one for one, _ in opened):
            while opened.pop()[0] != name:
                pass
        if opened and _THOUGHT.fullmatch(name) is None:
            opened[-1] = (opened[-1][0], True)
    return opened


def is_in_document(src: Source, start: int, at: int, end: int, names: Collection[str]) -> Steps[bool]:
    """Whether an element at `at:end` stands in a document.

    `start`: where the text begins in which the document may open. `names`: the tools' names.
    """
    opened = _opened(src.text, start, at, names)
    if any(_OF_CALLS.search(name) is not None for name, _ in opened):
        return False
    if src.text.rfind(_HEAD, max(0, at - _REACH), at) >= 0 or any(holds for _, holds in opened):
        return True
    for _ in range(_MOST_CLOSERS if opened else 0):
        end = yield from skip_space(src, end)
        while not src.final and len(src.text) - end < _LONGEST_TAG and _TAG_BEGUN.match(src.text, end) is not None:
            yield None
        tag = _TAG.match(src.text, end)
        if tag is None:
            return False
        if not tag["closes"]:
            return _THOUGHT.fullmatch(tag["name"]) is None
        if opened.pop()[0] != tag["name"] or not opened:
            return False
        end, tag = tag.end(), None
    return False
