"""Entities in a model's markup, such as `&amp;`."""

from __future__ import annotations

from html import unescape

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["are_escaped", "decoded", "without_entities"]

_ENTITY = lazy_regex(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")


def decoded(text: str) -> str:
    """The text with XML's five named entities and numeric entities decoded, once."""
    return _ENTITY.sub(lambda found: without_entities(found[0]), text) if "&" in text else text


def without_entities(text: str) -> str:
    """The text with all entities of HTML decoded, once."""
    if "&" not in text:
        return text

    return unescape(text)


def are_escaped(text: str) -> bool:
    """Whether the text has a `&`, and every one begins an entity."""
    count = text.count("&")
    return count > 0 and len(_ENTITY.findall(text)) == count
