"""How much of the words of others (a server, a validator, a tool) stands in an error or a result.

They may be of any length, and an error's message is written again and again: into the attempt, the report, the error of the run,
a log. So each is cut where it enters, and what is made of several has a bound of its own.
"""

from __future__ import annotations

__all__ = ["MAX_LOOKED_THROUGH", "MAX_MESSAGE", "MAX_WORDS", "both_ends", "clipped_words"]

MAX_WORDS = 2000
"""Characters of one text of others."""
MAX_MESSAGE = 10 * MAX_WORDS
"""Characters of an error's whole message, which may quote several."""
MAX_LOOKED_THROUGH = 100_000
"""Characters of a text that are looked through for secrets: far more than are shown."""


_HEAD, _TAIL = 16_000, 4_000


def both_ends(text: str) -> str:
    """The text, or the beginning and the end of a long one: what it means is looked for by many expressions, of which each takes
    some ten milliseconds a megabyte, more where it is full of commas. A server may quote a long request before or behind its own
    words."""
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"


def clipped_words(text: str, most: int = MAX_WORDS) -> str:
    """The text, or its beginning and how long it is, in `most` characters. The dots tell a scrubber that half a key may
    stand before them."""
    if len(text) <= most:
        return text
    note = f"... ({len(text)} characters)"
    return text[: most - len(note)] + note
