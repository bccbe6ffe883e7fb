"""Limiting the length of text from a server, a validator or a tool that an error or a result quotes.

Such text may have any length, and an error's message is copied into the attempt, the report, the error of the run and logs. So
each quoted text is cut, and so is a message that quotes several.
"""

from __future__ import annotations

__all__ = ["MAX_LOOKED_THROUGH", "MAX_MESSAGE", "MAX_WORDS", "both_ends", "clipped_words"]

MAX_WORDS = 2000
"""Characters of one quoted text."""
MAX_MESSAGE = 10 * MAX_WORDS
"""Characters of an error's whole message, which may quote several texts."""
MAX_LOOKED_THROUGH = 100_000
"""Characters of a text that are searched for secrets, many more than are quoted."""


_HEAD, _TAIL = 16_000, 4_000


def both_ends(text: str) -> str:
    """The text, or the start and the end of a long one.

    Many expressions search it, and each takes some ten milliseconds per megabyte. A server may quote a long request before or
    after its own words.
    """
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"


def clipped_words(text: str, most: int = MAX_WORDS) -> str:
    """The text, cut to `most` characters with a note of its length. A scrubber expects half a key before the dots."""
    if len(text) <= most:
        return text
    note = f"... ({len(text)} characters)"
    return text[: most - len(note)] + note
