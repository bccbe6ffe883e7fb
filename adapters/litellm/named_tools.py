"""Does a refusal name a tool that the request offers? Then it speaks of that tool, whatever it says, and another may be taken.

A name that is made as names are (`get_weather`, `getWeather`, `weather2`) is no word of a sentence, so it counts wherever it
stands. One that is a plain word (`search`) counts in quotes, or beside a word for what it names.

A tool, or a property of one, may be called as a parameter of the request is (`temperature`): in a sentence that speaks of a tool
or a schema the name is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.refused_parameters import PARAMETER_NAMES
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.names import NameMap
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types.late import late
from llmcore.types.narrowing import is_list, is_object, object_in

__all__ = ["names_one_tool", "offered_names", "without_tool_names"]

_QUOTE = r"['\"`\u201c\u201d\u2018\u2019]"
_KIND = r"(?:tools?|functions?|names?)"


def offered_names(call: ModelCall, can: Capabilities) -> list[str]:
    """The names of the tools that the request offers, the output tool among them, as they were given and as the wire has them."""
    names = [tool.name for tool in tools_of(call, output_plan(call, can))]
    sent = NameMap(names, provider_of(call.endpoint).names)
    return list(dict.fromkeys([*names, *(sent.sent(name) for name in names)]))


def names_one_tool(words: str, names: Iterable[str]) -> bool:
    """Do the words (lower case) name one of these tools?"""
    return any(re.search(_pattern(name), words) for name in names)


_OF_A_TOOL = late(
    r"\b(?:tool|function)\b(?![ _-]?(?:call|use|usage|choice|config|definition))|\b(?:tools|functions)[.\[]\w"
    r"|\b(?:schemas?|propert(?:y|ies))\b"
)
"""Words of a tool or a schema, not of the part of a request that all of them are."""
_BEHIND_ITS_KIND = r"(\b(?:tool|function)s?:? ['\"`]?)"
_SENTENCE = late(r"((?<=[.!\u3002])\s+|[;\n])")
_MOST_PROPERTIES = 1000


def without_tool_names(text: str, call: ModelCall | None) -> str:
    """The text (lower case) without the names of the caller's tools and of their properties, where it speaks of a tool or a
    schema: one may be called `temperature`."""
    if call is None:
        return text
    own = [tool.name.lower() for tool in call.tools]
    if own:
        text = re.sub(rf"{_BEHIND_ITS_KIND}(?:{_any(own)})\b", r"\1it", text)
    taken = PARAMETER_NAMES.intersection([*own, *_properties(call)])
    if not taken or not _OF_A_TOOL.search(text):
        return text
    name = re.compile(rf"(?<![\w-])(?:{_any(taken)})(?![\w-])")
    return "".join(name.sub("it", one) if _OF_A_TOOL.search(one) else one for one in _SENTENCE.split(text))


def _any(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in names)


def _properties(call: ModelCall) -> set[str]:
    """The names of the properties of its tools and of its output, at whatever depth."""
    waiting: list[object] = [*(tool.parameters for tool in call.tools), call.output_schema]
    found: set[str] = set()
    for schema in waiting:  # grows meanwhile
        if is_object(schema):
            found.update(name.lower() for name in object_in(schema.get("properties")))
            waiting += schema.values()
        elif is_list(schema):
            waiting += schema
        if len(found) > _MOST_PROPERTIES:
            break
    return found


def _pattern(name: str) -> str:
    own = re.escape(name.lower())
    if not _is_a_word(name):
        return rf"(?<![\w-]){own}(?![\w-])"
    return (
        rf"{_QUOTE}{own}{_QUOTE}|\b{_KIND}(?: (?:is|named|called|name))*:? {own}\b"
        rf"|\b{own}{_QUOTE}? (?:is|was|isn['\u2019]t) (?:not |no )?(?:an? |the )?(?:\w{{1,12}} ){{0,2}}(?:tool|function)\b"
        rf"|(?:\bthe|\ba|\ban|\byour|^|[.;:\n] ?) ?{own} (?:tool|function)\b(?!s|[ _-](?:call|use|usage|choice))"
    )


def _is_a_word(name: str) -> bool:
    """Is it made of letters alone, with no capital within?"""
    return name.isalpha() and name[1:] in (name[1:].lower(), name[1:].upper())
