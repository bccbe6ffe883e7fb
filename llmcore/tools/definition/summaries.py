"""A call in words for users (`tool(summary=...)`): what a console shows beside a tool that runs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from string import Formatter
from typing import Any

from llmcore.support.code.suggestions import nearest
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_object
from llmcore.tools.definition.options import Summary
from llmcore.tools.results.rendering import escaped, result_text
from llmcore.types import ToolDefinitionError

__all__ = ["check_summary", "summary_of"]

_MAX_CHARS = 300
_MAX_VALUE = 60


def check_summary(name: str, summary: str, schema: Mapping[str, Any]) -> None:
    """Raises `ToolDefinitionError` where a format text names what is no parameter of the tool's schema. One that takes
    parameters it does not name may be given any."""
    try:
        asked = [*_fields_of(summary)]
    except ValueError as error:
        raise ToolDefinitionError(
            f"tool {name!r}: its summary is no format text ({error}); a brace of the text is {{{{"
        ) from None
    parameters = schema.get("properties")
    if not is_object(parameters) or schema.get("additionalProperties") or schema.get("patternProperties"):
        return
    for field in asked:
        if field not in parameters:
            raise ToolDefinitionError(
                f"tool {name!r}: its summary has {{{field}}}, and no parameter is called so; {_meant(field, parameters)}"
            )


def _fields_of(text: str) -> Iterable[str]:
    """The names that a format text asks for, those of `{count:{width}}` too, without what is asked of them."""
    for _, field, spec, _ in Formatter().parse(text):
        if field is not None:
            yield re.split(r"[.\[]", field, maxsplit=1)[0]
            yield from _fields_of(spec or "")


def _meant(field: str, parameters: Collection[str]) -> str:
    near = nearest(field, parameters)
    if near is not None:
        return f"did you mean {{{near}}}?"
    return f"there are {', '.join(f'{{{one}}}' for one in parameters)}" if parameters else "it has no parameters"


def summary_of(name: str, summary: Summary | None, arguments: Mapping[str, Any] | None) -> str:
    """By the author's `summary`; the name and the arguments where there is none, or it fails: it must not end a run."""
    given = dict(arguments or {})
    if summary is not None:
        try:
            text = summary.format_map(given) if isinstance(summary, str) else summary(copied(given))
            return _one_line(str(text))
        except Exception:  # of the author's code, or a parameter that was left out
            pass
    parts = [f"{key}={_short(value)}" for key, value in given.items()]
    return _one_line(f"{name}({', '.join(parts)})")


def _short(value: Any) -> str:
    text = result_text(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _one_line(text: str) -> str:
    line = " ".join(_visible(escaped(text)).split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}..."


def _visible(text: str) -> str:
    """The text with what steers a terminal, or turns the order of what is read, as escapes (`\\x1b`, `\\u202e`)."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable() or character.isspace() or character in _JOINERS:
        return character
    steers = unicodedata.category(character) in _STEERING
    return character.encode("unicode_escape").decode() if steers else character


_STEERING = frozenset({"Cc", "Cf"})
_JOINERS = frozenset({"\u200c", "\u200d"})
"""Letters of Persian and emoji are joined or kept apart by these."""
