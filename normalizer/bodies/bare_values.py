"""Bodies in braces whose strings stand bare: `{title:standup at 9:30, 10:15 retro,tags:[red,blue]}`.

Only the tool's schema tells such a text from the next member. At the top level, a member begins at a key that the schema
declares, and all other text belongs to the value before it. The relaxed reader reads values that are no bare text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.notations.relaxed.read import repaired
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool

__all__ = ["bare_arguments"]

_KEY = lazy_regex(r"""\s*+(?:"([^"\n]{1,128}+)"|'([^'\n]{1,128}+)'|([^\s"'{}\[\],:][^\n"'{}\[\],:]{0,127}+)):""")
_PLAIN = (("string",), ("null", "string"))
_AS_WRITTEN = frozenset({"bare_word", "bare_text", "key_of_words"})
"""Guesses of the relaxed reader about text that the schema has delimited."""


def bare_arguments(
    text: str, separators: Iterable[int], end: int, delimiter: str, tool: CompiledTool, limits: Limits
) -> tuple[dict[str, Any], list[Repair]] | None:
    """The arguments of a body, and their repairs. None if the schema cannot tell its members.

    - `separators`: where the body's own bracket and its commas at the top level stand.
    - `end`: where the body ends, its closing bracket included.
    - `delimiter` stands around strings that are not bare.
    """
    starts = _members(text, separators, end, tool)
    if not starts:
        return None
    arguments: dict[str, Any] = {}
    repairs: list[Repair] = []
    for (key, begin, _), (_, _, stop) in zip(starts, [*starts[1:], ("", end, end - 1)], strict=True):
        written, types = text[begin:stop].strip(), tool.types(key)
        if written.startswith(delimiter) and written.find(delimiter, 1) == len(written) - len(delimiter):
            arguments[key] = written[len(delimiter) : -len(delimiter)]
            continue
        if types not in _PLAIN or written.startswith(('"', "'")):
            read = repaired(written, 0, len(written), limits=limits, string_delimiters=(delimiter,), spaced_keys=True)
            if read.error is not None or any(one.safety == "guess" and one.kind not in _AS_WRITTEN for one in read.repairs):
                return None
            arguments[key] = read.value
        elif delimiter in written:
            return None
        else:
            arguments[key] = None if written == "null" and "null" in types else written
        if isinstance(arguments[key], str) and types and "string" not in types:
            arguments[key], found = typed_by(arguments[key], types, path=key, limits=limits)
            repairs += found
        repairs.append(Repair(kind="bare_text", path=key, before=written, after=arguments[key], safety="coerced"))
    return arguments, repairs


def _members(text: str, separators: Iterable[int], end: int, tool: CompiledTool) -> list[tuple[str, int, int]]:
    """(key, where its value begins, where the member begins) of each declared key at the top level. Empty if the body does not
    begin with one, or if one comes twice."""
    found: list[tuple[str, int, int]] = []
    begins = False
    for n, at in enumerate(separators):
        key = _KEY.match(text, at + 1, end)
        name = "" if key is None else key[1] or key[2] or key[3].strip()
        if key is not None and name in tool.properties:
            found.append((name, key.end(), at))
            begins = begins or not n
    return found if begins and len({name for name, _, _ in found}) == len(found) else []
