"""What a sentence says of several names at once it says of each: "temperature and top_p are not supported", "tools/tool_choice",
"unknown fields: 'tool_choice', 'tools'". Such a text is read once for each name of its lists, as if that one stood alone.

Every repetition is bounded, and so is the number of readings.
"""

from __future__ import annotations

from llmcore.adapters.litellm.denials_abroad import NOUNS_ABROAD
from llmcore.adapters.litellm.refused_parts import PART_NAMES
from llmcore.types.late import late

__all__ = ["one_by_one"]

_MOST = 12
"""Names of one list that are read."""
_COMMON = "stop|thinking|stream|strict|usage|reasoning"
"""Fields whose names are words of a sentence: within a list of fields they are fields."""
_QUOTES = "'\"`\u201c\u201d\u2018\u2019"
_QUOTE = rf"[{_QUOTES}]?"
_NAME = (
    rf"(?:{PART_NAMES}|[a-z]{{1,24}}(?:_[a-z]{{1,24}}){{1,4}}|temperature|seed|{_COMMON}"
    r"|(?:system|developer) (?:role|prompt|message|instruction)s?|stop(?:ping)?[ _-](?:sequence|word|string)s?"
    r"|streaming(?: mode)?|stream mode|images?(?: inputs?)?|vision|top-p|nucleus sampling"
    rf"|{'|'.join(NOUNS_ABROAD.values())})"
)
_ARTICLE = r"(?:(?:the|any|an?|no|not|neither|parameters?|fields?|arguments?) ){0,2}"
_AND = (
    r"(?:\s{0,2}(?:[,/&+|\u3001\uff0c]|\b(?:and|or|nor|und|oder|noch|sowie|et|ou|ni|y|o|e|ed|en|of|och|eller|oraz|ani|lub|ve|veya"
    r"|и|или|ни|dan|atau)\b|和|与|與|及|或|以及|と|や|および|または|및|과|와|또는))"
    rf"{{1,2}}\s{{0,2}}{_ARTICLE}"
)
_LIST = late(
    rf"(?<![\w-]){_QUOTE}(?P<names>{_NAME}(?![a-z0-9_-]){_QUOTE}(?:{_AND}{_QUOTE}{_NAME}(?![a-z0-9_-]){_QUOTE}){{1,{_MOST - 1}}})"
)
_ONE = late(rf"(?<![a-z0-9_]){_NAME}(?![a-z0-9_-])")
_COMMON_WORD = late(rf"(?:{_COMMON})")


def one_by_one(text: str) -> list[str]:
    """The text (lower case, by our names) for each name of its lists, with that one in place of the list; none without a list."""
    lists = [(found.span(), _names(found["names"])) for found in _LIST.finditer(text)]
    lists = [(span, names) for span, names in lists if len(names) > 1]
    most = max((len(names) for _, names in lists), default=0)
    return [_with(text, [(span, names[min(number, len(names) - 1)]) for span, names in lists]) for number in range(most)]


def _names(words: str) -> list[str]:
    names = dict.fromkeys(found[0] for found in _ONE.finditer(words))
    return [f"'{name}'" if _COMMON_WORD.fullmatch(name) else name for name in names]


def _with(text: str, changes: list[tuple[tuple[int, int], str]]) -> str:
    parts: list[str] = []
    last = 0
    for (start, end), name in changes:
        parts += (text[last:start], name)
        last = end
    return "".join((*parts, text[last:]))
