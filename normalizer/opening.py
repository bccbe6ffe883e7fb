"""What only the start of a reply can be: reasoning that the prompt opened, prose labels of reasoning, stripped headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llmcore.normalizer.reasoning import ANY_CLOSER, think
from llmcore.normalizer.source import Steps, past, search, skip_space

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["FIRST", "begins_specially", "open_reasoning", "opening"]

_LABELS = (
    ("Here is my thought process:", re.compile(r"Here(?: is|'s) my response:")),
    ("Here's my thought process:", re.compile(r"Here(?: is|'s) my response:")),
    ("Here are my reasoning steps:", re.compile(r"\[BEGIN FINAL RESPONSE\]")),
)
_FINAL_RESPONSE = re.compile(r"\[BEGIN FINAL RESPONSE\]")
_STRIPPED = re.compile(r"analysis(?=[A-Z\"'(\[])")
_STRIPPED_FINAL = re.compile(r"assistantfinal|assistantcommentary(?= to=)")
_PROBE = 40
_BOM = "\ufeff"  # a byte order mark, which some servers leave before the text
FIRST = frozenset(f" \t\r\nHa{_BOM}")  # what one of these forms begins with
_SPACE = re.compile(r"\s*")
_SPECIAL = re.compile(rf"{_BOM}|\s*(?:{'|'.join(label for label, _ in _LABELS)}|analysis|all\n)")


def begins_specially(text: str) -> bool:
    """May a whole text begin with one of these forms?"""
    return text[:1] in FIRST and _SPECIAL.match(text) is not None


def open_reasoning(engine: TextEngine) -> Steps[None]:
    """The prompt opened the reasoning: the reply starts inside it."""
    while "<think>".startswith(engine.src.text) and not engine.src.final:
        yield
    body = len("<think>") if engine.src.text.startswith("<think>") else 0  # the model may open it once more
    yield from think(engine, body, ANY_CLOSER)


def opening(engine: TextEngine) -> Steps[None]:
    """Forms that count only at the very start."""
    if engine.nested or engine.done:
        return
    src = engine.src
    start = 0
    while True:
        if not start and src.text.startswith(_BOM):
            start = len(_BOM)
            engine.take("markup", start)
        if len(src.text) > start and src.text[start] not in FIRST:
            return
        start = past(_SPACE, src.text, start)
        head = src.text[start : start + _PROBE]
        if src.final or not _undecided(head):
            break
        yield
    for label, closer in _LABELS:
        if src.text.startswith(label, start):
            yield from _labelled(engine, start, start + len(label), closer)
            return
    if _STRIPPED.match(src.text, start):
        yield from _stripped_harmony(engine, start)
    elif src.text.startswith("all\n", start):
        engine.commit_to(start)
        engine.take("markup", start + 4)


def _undecided(head: str) -> bool:
    if not head:
        return True
    return any(label.startswith(head) for label in (*(label for label, _ in _LABELS), "analysisX", "all\n"))


def _labelled(engine: TextEngine, start: int, body: int, closer: re.Pattern[str]) -> Steps[None]:
    """Granite 3.2 and Apriel announce reasoning and answer in prose. Without the second label all of it is reasoning."""
    match = yield from search(engine.src, closer, body, 32)
    if match is None:
        return
    end = yield from skip_space(engine.src, match.end())
    text = engine.src.text
    engine.commit_to(start)
    engine.take("markup", body + text.startswith("\n", body))
    engine.take("reasoning", match.start() - (text[match.start() - 1] == "\n"))
    engine.take("markup", end)
    engine.reasoning_closed = True


def _stripped_harmony(engine: TextEngine, start: int) -> Steps[None]:
    """`analysis...assistantfinal...`: harmony whose special tokens were dropped."""
    match = yield from search(engine.src, _STRIPPED_FINAL, start, 24)
    if match is None:
        return
    engine.commit_to(start)
    engine.take("markup", start + len("analysis"))
    engine.take("reasoning", match.start())
    engine.take("markup", match.end())
    engine.reasoning_closed = True
