"""Whether a refusal names an offered tool. It then concerns that tool, and another one may be accepted.

A name such as `get_weather`, `getWeather` or `weather2` is no word of a sentence, so it counts anywhere. A plain word
(`search`) counts in quotes, or beside a word such as `tool`.
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
    """Return the names of the offered tools, including the output tool, as given and as sent."""
    names = [tool.name for tool in output_tools(call, output_plan(call, call.capabilities or Capabilities()))]
    sent = NameMap(names, provider_of(call.endpoint).names)
    return list(dict.fromkeys([*names, *(sent.sent(name) for name in names)]))


def names_one_tool(words: str, names: Iterable[str]) -> bool:
    """Return whether the message (lower case) names one of these tools."""
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
    """Whether the name has only letters and no capital inside."""
    return name.isalpha() and name[1:] in (name[1:].lower(), name[1:].upper())
