"""Forms that only the start of a reply can have: reasoning that the prompt opened, its prose labels, stripped headers."""

from __future__ import annotations

import re

from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.dialects.reasoning import ANY_CLOSER, think
from llmcore.normalizer.scanning.source import Steps, past, search, skip_space
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["FIRST", "begins_specially", "open_reasoning", "opening"]

_LABELS = (
    ("Here is my thought process:", lazy_regex(r"Here(?: is|'s) my response:")),
    ("Here's my thought process:", lazy_regex(r"Here(?: is|'s) my response:")),
    ("Here are my reasoning steps:", lazy_regex(r"\[BEGIN FINAL RESPONSE\]")),
)
_STRIPPED = lazy_regex(r"analysis(?=[A-Z\"'(\[])")
_STRIPPED_FINAL = lazy_regex(r"assistantfinal|assistant(?:commentary)?(?= to=)")
_PROBE = 40
_BOM = "\ufeff\u200b"  # a byte order mark, which some servers send, and a zero-width space
FIRST = frozenset(f" \t\r\nHa{_BOM}")  # first characters of these forms
_SPACE = lazy_regex(r"\s*")
_SPECIAL = lazy_regex(rf"[{_BOM}]|\s*(?:{'|'.join(label for label, _ in _LABELS)}|analysis|all\n)")


def begins_specially(text: str) -> bool:
    """Whether a whole text may begin with one of these forms."""
    return text[:1] in FIRST and _SPECIAL.match(text) is not None


def open_reasoning(reading: Reading) -> Steps[None]:
    """Read a reply that starts inside reasoning, because the prompt opened it."""
    while "<think>".startswith(reading.src.text) and not reading.src.final:
        yield None
    body = len("<think>") if reading.src.text.startswith("<think>") else 0  # the model may open it once more
    yield from think(reading, body, ANY_CLOSER)


def opening(reading: Reading) -> Steps[None]:
    """Read a form that counts only at the very start."""
    if reading.nested or reading.done:
        return
    src = reading.src
    start = 0
    while True:
        if not start and src.text and src.text[0] in _BOM:
            start = 1
            reading.markup(start)
        if len(src.text) > start and src.text[start] not in FIRST:
            return
        start = past(_SPACE, src.text, start)
        head = src.text[start : start + _PROBE]
        if src.final or not _undecided(head):
            break
        yield None
    for label, closer in _LABELS:
        if src.text.startswith(label, start):
            yield from _labelled(reading, start, start + len(label), closer)
            return
    if _STRIPPED.match(src.text, start):
        yield from _stripped_harmony(reading, start)
    elif src.text.startswith("all\n", start):
        reading.text(start)
        reading.markup(start + 4)


def _undecided(head: str) -> bool:
    if not head:
        return True
    return any(label.startswith(head) for label in (*(label for label, _ in _LABELS), "analysisX", "all\n"))


def _labelled(reading: Reading, start: int, body: int, closer: re.Pattern[str]) -> Steps[None]:
    """Read reasoning between prose labels (Granite 3.2, Apriel). If the second label is missing, decline."""
    match = yield from search(reading.src, closer, body, 32)
    if match is None:
        return
    end = yield from skip_space(reading.src, match.end())
    text = reading.src.text
    reading.text(start)
    reading.markup(body + text.startswith("\n", body))
    reading.take("reasoning", match.start() - (text[match.start() - 1] == "\n"))
    reading.markup(end)
    reading.close_reasoning()


def _stripped_harmony(reading: Reading, start: int) -> Steps[None]:
    """Read `analysis...assistantfinal...`: Harmony without its special tokens."""
    match = yield from search(reading.src, _STRIPPED_FINAL, start, 24)
    if match is None:
        return
    reading.text(start)
    reading.markup(start + len("analysis"))
    reading.take("reasoning", match.start())
    reading.markup(match.end())
    reading.close_reasoning()
    if match[0] == "assistantfinal":
        reading.frame()
