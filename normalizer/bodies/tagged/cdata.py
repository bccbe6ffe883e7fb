"""`<![CDATA[...]]>` sections in a value. Their text is literal, including markup."""

from __future__ import annotations

from llmcore.types.envelope import Repair, Safety

__all__ = ["CDATA", "CDATA_END", "joined_literals", "left_open", "literal_joined"]

CDATA, CDATA_END = "<![CDATA[", "]]>"


def joined_literals(text: str) -> str:
    """The text with its CDATA sections unwrapped. If only white space stands beside them, it is removed.

    If other markup stands beside them, the value is a document, and the text is returned unchanged.
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
    """The repair of a value that was joined of CDATA sections and other text. If that text has markup, it is a guess."""
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
    """The repair of a value whose last CDATA section never ends. If the value begins with it, it was cut; otherwise it is a
    guess."""
    if text.rfind(CDATA) <= text.rfind(CDATA_END):
        return []
    return [Repair(kind="literal_open", path=path, safety="truncated" if text.lstrip().startswith(CDATA) else "guess")]
