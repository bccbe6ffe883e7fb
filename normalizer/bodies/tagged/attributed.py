"""Arguments in attributes of elements: `<param city="Paris"/>`, `<parameter key="city" value="Paris"/>`.

Three forms are read. One attribute has the argument's name, and the value stands in another one or between the tags. Or each
attribute is an argument. Or the element has the argument's name. Only a known tool tells these forms apart, and each attribute
must have a meaning. Otherwise the elements are read in another way, or not at all. The work is linear: tags are read one by
one.
"""

from __future__ import annotations

from collections.abc import Collection

from llmcore.normalizer.bodies.tagged.tag_attributes import ATTRIBUTE, NAMES, VALUES, Attributes, opening_tag
from llmcore.normalizer.scanning.sought import Element
from llmcore.normalizer.scanning.source import Source, Steps, search, skip_space
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.tools import CompiledTool

__all__ = ["attributed", "begins_attributed"]

_ABOUT = frozenset((*NAMES, *VALUES, "type", "string", "id", "index"))
_TAG = lazy_regex(r"<(?:[a-z]{1,16}:)?(?P<word>[A-Za-z_][\w.-]{0,63})(?=\s)")
_TAG_BEGUN = lazy_regex(r"<(?:[A-Za-z_][\w.:-]{0,80}+)?\Z")
_WORDS = lazy_regex(r"(?:param(?:eter)?|arg(?:ument)?)s?|inputs?")
_USUAL = (("name", "value"), ("name", "string", "value"))
"""The usual attributes of a parameter."""
_LONGEST_TAG = 1024


def begins_attributed(text: str, at: int, tool: CompiledTool | None) -> bool:
    """Whether a complete tag stands at `at` whose element has its argument in attributes."""
    opened = _TAG.match(text, at)
    if opened is None or tool is None:
        return False
    keys = tuple(found["key"] for found in ATTRIBUTE.finditer(text, opened.end(), _tag_end(text, opened.end())))
    if not keys or (keys[0] == "name" and (keys in _USUAL or not any(key in VALUES for key in keys))):
        return False
    return _WORDS.fullmatch(opened["word"]) is not None or opened["word"] in tool.properties


def _tag_end(text: str, at: int) -> int:
    end = text.find(">", at, at + _LONGEST_TAG)
    return end if end >= 0 else at


def attributed(
    src: Source, start: int, tool: CompiledTool, *, may_define: bool
) -> Steps[tuple[list[tuple[str, str]], int] | None]:
    """The arguments of the elements from `start` on, as (key, text), and where they end. None if an element is no argument.

    `may_define`: an element with a type defines a tool, and is no argument.
    """
    found: list[tuple[str, str]] = []
    at = end = start
    while (opened := _TAG.match(src.text, at)) is not None:
        word, behind = opened["word"], opened.end()
        opened = None  # a match keeps its text alive
        if _WORDS.fullmatch(word) is None and word not in tool.properties:
            return None
        head = yield from opening_tag(src, behind)
        if head is None:
            return None
        end, attributes, alone = head
        text = ""
        if not alone:
            closer = yield from search(src, Element(word), end, 128)
            if closer is None:
                return None
            text, end = src.text[end : closer.start()].strip(), closer.end()
            closer = None  # a match keeps its text alive
        more = None if may_define and "type" in attributes else _arguments(word, attributes, text, tool.properties)
        if more is None:
            return None
        found += more
        at = yield from skip_space(src, end)
        while not src.final and _TAG_BEGUN.match(src.text, at) is not None:
            yield None
    return (found, end) if found else None


def _arguments(word: str, attributes: Attributes, text: str, keys: Collection[str]) -> list[tuple[str, str]] | None:
    if attributes.rest or attributes.others or "<" in text:
        return None
    if not text and attributes and attributes.keys() <= set(keys) and word not in keys:
        return list(attributes.items())
    named = word if word in keys else next((attributes[name] for name in NAMES if attributes.get(name) in keys), "")
    values = [attributes[name] for name in VALUES if name in attributes]
    values += [text] if text and text not in values else []
    return [(named, values[0])] if named and len(values) == 1 and attributes.keys() <= _ABOUT else None
