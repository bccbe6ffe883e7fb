r"""Resolves the name in a tool call to an offered tool.

A name matches if it is equal, or a spelling variant of exactly one tool: other case, `-` or camelCase for `_`, an escaped
`\_`, a namespace before it (`functions.`), an index (`:0`) or junk after it. For anything less similar, `close_names` only
suggests tools. Linear in the name's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from llmcore.validator.schema.wording import close_to

__all__ = ["close_names", "resolve_name"]

_MAX_NAME = 256
_JUNK_BEGINS = re.compile(r"[<>(){}\[\]|\"'`\s]")
_INDEX = re.compile(r"(?<=.)[:#]\d{1,4}$")
_NAMESPACE = re.compile(r"::|__|[./:]")
_SEPARATORS = str.maketrans("", "", "_- ")


def resolve_name(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` means. None if it may mean none or several of them."""
    offered = names if isinstance(names, frozenset) else frozenset(names)
    if name in offered:
        return name
    if len(name) > _MAX_NAME:
        return None
    for form in _forms(name):
        if form in offered:
            return form
        spelled = _spelling(form)
        meant = [known for known in offered if _spelling(known) == spelled]
        if meant:
            return meant[0] if len(meant) == 1 else None
    return None


def close_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three of `names` that the model may have meant, nearest first. They are suggestions; no call runs by them."""
    short = name[:_MAX_NAME]
    ends = [known for known in names if _spelling(known).endswith(_spelling(short)) and short]
    return list(dict.fromkeys([*ends[:3], *close_to(short, names)]))[:3]


@lru_cache(maxsize=4096)
def _spelling(name: str) -> str:
    return name.translate(_SEPARATORS).casefold() or name


def _forms(name: str) -> Iterator[str]:
    """The name as written, then with more and more of a model's additions removed."""
    cleaned = name.replace("\\", "").strip().strip("\"'`*")
    yield cleaned
    junk = _JUNK_BEGINS.search(cleaned)
    if junk and not cleaned[junk.start()].isspace():
        cleaned = cleaned[: junk.start()]
    cleaned = _INDEX.sub("", cleaned.rstrip(" \t\r\n.,:;!?="))
    yield cleaned
    for separator in _NAMESPACE.finditer(cleaned):
        if rest := cleaned[separator.end() :]:
            yield rest
