"""Does a refusal name a tool that the request offers? Then it speaks of that tool, and another one may be taken.

A name that is made as names are (`get_weather`, `getWeather`, `weather2`) is no word of a sentence, so it counts wherever it
stands. One that is a plain word (`search`) counts in quotes, or beside a word for what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.errors.fields import is_field
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.names import NameMap
from llmcore.adapters.request.output import output_plan, output_tools

__all__ = ["names_one_tool", "offered_names"]

_QUOTE = r"['\"`\u201c\u201d\u2018\u2019]"
_KIND = r"(?:tools?|functions?|names?)"


def offered_names(call: ModelCall) -> list[str]:
    """The names of the tools that the request offers, the output tool among them, as they were given and as the wire has them."""
    names = [tool.name for tool in output_tools(call, output_plan(call, call.capabilities or Capabilities()))]
    sent = NameMap(names, provider_of(call.endpoint).names)
    return list(dict.fromkeys([*names, *(sent.sent(name) for name in names)]))


def names_one_tool(words: str, names: Iterable[str]) -> bool:
    """Do the words (lower case) name one of these tools?"""
    return any(re.search(_pattern(name), words) for name in names)


def _pattern(name: str) -> str:
    own = re.escape(name.lower())
    if not _is_a_word(name):
        return rf"(?<![\w-]){own}(?![\w-])"
    quoted = "" if is_field(name.lower()) else rf"{_QUOTE}{own}{_QUOTE}|"
    return (
        rf"{quoted}\b{_KIND}(?: (?:is|named|called|name))*:? {_QUOTE}?{own}\b"
        rf"|\b{own}{_QUOTE}? (?:is|was|isn['\u2019]t) (?:not |no )?(?:an? |the )?(?:\w{{1,12}} ){{0,2}}(?:tool|function)\b"
        rf"|(?:\bthe|\ba|\ban|\byour|^|[.;:\n] ?) ?{own} (?:tool|function)\b(?!s|[ _-](?:call|use|usage|choice))"
    )


def _is_a_word(name: str) -> bool:
    """Is it made of letters alone, with no capital within?"""
    return name.isalpha() and name[1:] in (name[1:].lower(), name[1:].upper())
