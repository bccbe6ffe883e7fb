"""Find calls in an afterthought that the reply makes again: `<plan>First <call/>.</plan>`, and the same call behind it.

The element says what the model is about to do, whatever the element is called. It encloses one call and words. Only the call
behind it counts, as behind reasoning. The work is linear: only so many characters around a call are searched.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.normalizer.core.draft import Draft
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["made_again"]

_REACH = 2048
_TAG = lazy_regex(r"<(?P<closes>/?)(?P<name>[A-Za-z_][\w.:-]{0,63})>")
_OF_CALLS = lazy_regex(r"tool|call|function|invo|action|param|arg", 2)  # case is ignored
_WORD = lazy_regex(r"[^\W\d_]{2,}")


def made_again(text: str, drafts: Sequence[Draft]) -> list[Draft]:
    """The calls in an element with words that stand once more, with the same arguments, behind that element."""
    last = {(draft.name, draft.text): draft.start for draft in drafts if draft.complete}
    if len(last) == len(drafts):
        return []
    return [
        draft
        for draft in drafts
        if draft.start < (again := last.get((draft.name, draft.text), -1)) and 0 <= _end_of_element(text, draft, drafts) <= again
    ]


def _end_of_element(text: str, draft: Draft, drafts: Sequence[Draft]) -> int:
    """Where the element ends that encloses only this call, and words. -1 if there is none."""
    opened: list[tuple[str, int]] = []
    for tag in _TAG.finditer(text, max(0, draft.start - _REACH), draft.start):
        if not tag["closes"]:
            opened.append((tag["name"], tag.end()))
        elif any(name == tag["name"] for name, _ in opened):
            while opened.pop()[0] != tag["name"]:
                pass
    for name, begin in reversed(opened):
        end = text.find(f"</{name}>", draft.stop, draft.stop + _REACH)
        if end < 0 or _OF_CALLS.search(name) is not None:
            continue
        others = any(other is not draft and begin <= other.start < end for other in drafts)
        words = f"{text[begin : draft.start]} {text[draft.stop : end]}"
        return end if not others and _WORD.search(_TAG.sub(" ", words)) is not None else -1
    return -1
