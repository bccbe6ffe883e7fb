"""`<![CDATA[...]]>` in a value: what stands in it is literal, markup and all."""

from __future__ import annotations

from llmcore.types.envelope import Repair, Safety

__all__ = ["CDATA", "CDATA_END", "joined_literals", "left_open", "literal_joined"]

CDATA, CDATA_END = "<![CDATA[", "]]>"


def joined_literals(text: str) -> str:
    """The text with its literal parts as they are meant; white space alone beside them is layout.

    Where other markup stands beside them they belong to that: the value is a document, and stays as it was written.
    """
    if CDATA not in text:
        return text
    literal: list[str] = []
    parts: list[str] = []
    at = 0
    while (start := text.find(CDATA, at)) >= 0:
        end = text.find(CDATA_END, start)
        if end < 0:
            return text
        parts += (text[at:start], text[start + len(CDATA) : end])
        literal.append(parts[-1])
        at = end + len(CDATA_END)
    parts.append(text[at:])
    outside = "".join(parts[::2])
    if "<" in outside:
        return text
    return "".join(parts) if outside.strip() else "".join(literal)


def literal_joined(written: str, value: object, path: str) -> list[Repair]:
    """What must be said of a value that was joined of literals and of text beside them: where markup stands there, what is meant
    cannot be told."""
    beside, at = "", 0
    while (start := written.find(CDATA, at)) >= 0 and (end := written.find(CDATA_END, start)) >= 0:
        beside += written[at:start]
        at = end + len(CDATA_END)
    beside += written[at:]
    if at == 0 or not beside.strip() or value == written:
        return []
    safety: Safety = "guess" if "<" in beside else "coerced"
    return [Repair(kind="literal_joined", path=path, before=written, after=value, safety=safety)]


def left_open(text: str, path: str) -> list[Repair]:
    """What must be said of a value whose last literal never ends: one that begins with it was cut, another may speak of it."""
    if text.rfind(CDATA) <= text.rfind(CDATA_END):
        return []
    return [Repair(kind="literal_open", path=path, safety="truncated" if text.lstrip().startswith(CDATA) else "guess")]
