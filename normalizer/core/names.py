"""Whether a name in a text is a tool's name, and where names before a call begin.

A dialect may add to a name: `functions.` and `:0` (Kimi), `default_api.`, `.call`, a doubled `f.f`. `peel` ignores such
additions. A call keeps its raw name, unless a row of the registry peels it because its dialect writes the addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, NAMING
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.tools import ToolSet

__all__ = [
    "JUNK_LINE",
    "NAMES_DIFFER",
    "NEVER_LAST",
    "PARALLEL",
    "call_begins",
    "holds_calls",
    "id_start",
    "is_known",
    "is_whole_id",
    "name_line",
    "name_start",
    "named_in_tag",
    "names_another",
    "peel",
    "undouble",
    "unescape",
    "unprefixed",
]

_PREFIXES: Final[tuple[str, ...]] = ("functions.", "default_api.", "default_api:", "tools.", "tool.")
_INDEX: Final = lazy_regex(r"[:.]\d+\Z")
_ADDED: Final = frozenset(".:\\")  # every addition holds one of these
_ESCAPED: Final = lazy_regex(r"\\([_\[\]*.\-])")


def unescape(name: str) -> str:
    r"""`name` without Markdown escapes: `get\_weather` becomes `get_weather`."""
    return _ESCAPED.sub(r"\1", name) if "\\" in name else name


def undouble(name: str) -> str:
    """`name` without its doubling: `read.read` becomes `read`."""
    half, rest = divmod(len(name), 2)
    return name[:half] if rest and half and name[half] == "." and name[:half] == name[half + 1 :] else name


def peel(name: str, tools: ToolSet | None) -> str | None:
    """The one tool that `name` means, exactly or after peeling. None if there is none, or if the tools are unknown."""
    return None if tools is None else _peeled(name, tools.names)


def _peeled(name: str, names: frozenset[str]) -> str | None:
    if name in names:
        return name
    if not _ADDED.intersection(name):
        return None
    candidates = {undouble(name), unescape(name), name.removesuffix(".call"), _INDEX.sub("", name)}
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            bare = name[len(prefix) :]
            candidates |= {bare, _INDEX.sub("", bare)}
    hits = candidates & names
    return hits.pop() if len(hits) == 1 else None


_NO_NAME: Final = frozenset(" \t\r\n\f\v\xa0[]{}<>\"'`(),;|=“„‘‚”»›«‹「『《〈。！？，、：")  # noqa: RUF001 # full-width signs are meant
_LONGEST: Final = 256


def name_start(text: str, floor: int, at: int) -> int:
    """Where the name that ends at `at` begins; `at` if no name does. Searches to `floor`, at most 256 characters back.

    It compares character by character. A regular expression anchored at its end tries every start first, which cost 8 s/MB on
    many brackets.
    """
    floor = max(floor, at - _LONGEST)
    while at > floor and text[at - 1] not in _NO_NAME:
        at -= 1
    return at


def unprefixed(written: str) -> str:
    """`written` without what stripped markers leave before a name."""
    return written.removeprefix("declaration:").removeprefix("call:").removeprefix(">>>")


def id_start(text: str, begin: int, at: int) -> int:
    """Where Kimi's id (`functions.f:0`) begins in the name `begin:at`, which it ends; `begin` if it holds none."""
    start = text.rfind("functions.", begin, at)
    return start if start >= 0 and is_whole_id(text[start:at]) else begin


def is_whole_id(name: str) -> bool:
    """Whether `name` is Kimi's id of a call. No prose has such a name."""
    return _WHOLE_ID.fullmatch(name) is not None


NEVER_LAST: Final = frozenset(".>}])\n,;!?")
"""A line that is a name does not end in one of these."""


_BLANK_OR_QUOTE: Final = " \t>"
"""Characters that may stand before a tag on its line: blanks, and the sign of a block quote."""


def name_line(text: str, floor: int, at: int, names: frozenset[str]) -> int:
    """Where the line begins that holds only a tool's name and ends right before `at`, blanks ignored. -1 if there is none.

    The line begins at or after `floor`. One `:` may follow the name.
    """
    end = at
    while end > floor and text[end - 1] in _BLANK_OR_QUOTE and at - end < _LONGEST:
        end -= 1
    if end == floor or text[end - 1] != "\n" or text[end - 2 : end - 1] in NEVER_LAST:
        return -1
    start = max(text.rfind("\n", max(0, end - 1 - _LONGEST), end - 1) + 1, floor)
    start += text.startswith(("\ufeff", "\u200b"), start)  # a byte order mark, a space without width
    name = text[start:end].strip().removesuffix(":").rstrip()
    return start if name in names or (name[:1] == ">" and name.lstrip("> \t") in names) else -1


JUNK_LINE: Final = lazy_regex(r"(?:(?<=\n)|\A)[ \t]{0,8}(?:court|count)[ \t]{0,8}\r?\n\s{0,16}\Z")
"""A line with only the rest of a damaged opener."""
_JUNK: Final[tuple[str, ...]] = ("court", "count")
_JUNK_REACH: Final = 48
_WHOLE_ID: Final = lazy_regex(r"functions\.[^\s:]{1,256}:\d{1,8}")
_BLANKS: Final = 16
_SENTENCE_ENDS: Final = frozenset(".!?,;")


def call_begins(text: str, floor: int, at: int, names: frozenset[str]) -> int:
    """Where a call begins whose marker or bracket stands at `at`.

    A tool's name may stand before the marker: glued to it (`f<arg_key>`) or alone on the line above. The rest of a lost opener
    belongs to the call as well. Words before the call are words before that position.
    """
    if at <= floor:
        return at
    last = text[at - 1]
    if last == "\n" and text[max(floor, at - _JUNK_REACH) : at].rstrip()[-1:] in _SENTENCE_ENDS:  # the usual case
        return at
    if not last.isspace():
        return _glued(text, floor, at, names)
    if (begin := name_line(text, floor, at, names)) >= 0:
        return begin
    before = text[max(floor, at - _JUNK_REACH) : at].rstrip()
    if before.endswith(_JUNK) and (junk := JUNK_LINE.search(text, max(floor, at - _JUNK_REACH), at)) is not None:
        return junk.start()
    blanks = text[max(floor, at - _BLANKS) : at]
    end = at - len(blanks) + len(blanks.rstrip(" "))
    begin = _glued(text, floor, end, names)
    return at if begin == end else begin


def _glued(text: str, floor: int, end: int, names: frozenset[str]) -> int:
    """Where the name of a tool begins that ends at `end`; `end` if there is none."""
    begin = name_start(text, floor, end)
    name = text[begin:end]
    if not name or (name not in names and _peeled(name, names) is None and _WHOLE_ID.fullmatch(name) is None):
        return end
    return begin


_TAG_NAMES: Final = lazy_regex(r""" (?:tool|name)=(?:"([^"<>\s]{1,28}+)"|'([^'<>\s]{1,28}+)')""")
_TAG_MAY_NAME: Final = lazy_regex(
    r"""\s(?:t(?:o(?:ol?)?)?|n(?:a(?:me?)?)?|(?:tool|name)=(?:"[^"<>\s]{0,28}+|'[^'<>\s]{0,28}+)?)?\Z"""
)
_LONGEST_OF_TAG: Final = 24


def named_in_tag(text: str, at: int, end: int, names: frozenset[str]) -> bool:
    """Whether the first attribute of the tag named `text[at:end]` names a tool, or may do so once more text comes."""
    if end - at > _LONGEST_OF_TAG or text[end : end + 1] != " ":
        return False
    found = _TAG_NAMES.match(text, end)
    if found is not None:
        return (found[1] or found[2]) in names
    return len(text) - end <= _LONGEST_OF_TAG + 12 and _TAG_MAY_NAME.match(text, end) is not None


def is_known(name: str, tools: ToolSet | None) -> bool:
    return peel(name, tools) is not None


PARALLEL: Final = frozenset({"multi_tool_use.parallel", "parallel"})
"""The names by which models call several tools at once. The GPT families write the first one."""


def holds_calls(name: str, tools: ToolSet | None) -> bool:
    """Whether `name` calls several tools at once, and is itself no tool."""
    return _INDEX.sub("", name.removeprefix("functions.")) in PARALLEL and not is_known(name, tools)


NAMES_DIFFER: Final = "names_differ"
"""The repair kind of a call whose header and body name different tools. Neither is more likely than the other."""
_MOST_KEYS: Final = 4  # of a call object: a name, arguments, an id and a type


def names_another(arguments: Mapping[str, Any] | None, name: str, tools: ToolSet | None) -> bool:
    """Whether `arguments` are a call object for another tool than `name`."""
    if not arguments or len(arguments) > _MOST_KEYS or arguments.keys().isdisjoint(ARGUMENT_KEYS):
        return False
    other = next((arguments[key] for key in NAMING if key in arguments), None)
    if not isinstance(other, str) or other == name:
        return False
    if tools is None:
        return True
    tool, meant = tools.get(peel(name, tools) or name), tools.get(peel(other, tools) or other)
    return meant is not None and meant is not tool and (tool is None or tool.properties.keys().isdisjoint(arguments))
