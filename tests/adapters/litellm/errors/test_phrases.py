"""Each phrase is found, names the server that uses it, and is small."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from llmcore.adapters.litellm.errors.fields import MARK
from llmcore.adapters.litellm.errors.phrases import denials, meanings, nouns, part_phrases, table
from llmcore.adapters.litellm.errors.quotations import own_words
from tests.helpers.growth import assert_linear


def phrases() -> Iterator[tuple[str, str, str]]:
    """Section, phrase and server."""
    for section, rows in table().items():
        inner: dict[str, Any] = rows if section in ("nouns", "parts", "meaning") else {"": rows}
        for name, found in inner.items():
            yield from ((f"{section}.{name}".strip("."), phrase, server) for phrase, server in found.items())


def example(phrase: str) -> str:
    said = re.sub(r"\{([a-z_]+)\}", lambda found: MARK.format("top_p" if found[1] == "field" else found[1]), phrase)
    return said.replace("*", " of it ").replace("#", "12")


@pytest.mark.parametrize(("section", "phrase", "server"), [*phrases()])
def test_each_phrase_is_found(section: str, phrase: str, server: str) -> None:
    kind, _, name = section.partition(".")
    text = f"so: {example(phrase)}" if phrase[:1].isalnum() else example(phrase)
    if kind == "meaning":
        assert name in meanings(text)
    elif kind == "nouns":
        assert nouns()[name].search(text)
    else:
        found = part_phrases()[name] if kind == "parts" else denials(kind)
        assert found.search(text)
    assert server
    assert phrase == phrase.lower()


@pytest.mark.sweep
@pytest.mark.parametrize("piece", ["not support ", "tool_choice must be ", "rate limit ", f"{MARK.format('top_p')} and "])
def test_phrases_are_looked_for_in_linear_time(piece: str) -> None:
    def look(size: int) -> None:
        text = piece * (size // len(piece))
        meanings(text)
        for pattern in (denials("refused"), denials("together"), *part_phrases().values(), *nouns().values()):
            pattern.search(text)

    assert_linear(look, 8_000)


def test_without_a_call_nothing_is_a_quotation() -> None:
    assert own_words("tools are not supported", None, bool) == "tools are not supported"
