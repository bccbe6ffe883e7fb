"""One-line descriptions of calls for users (`tool(summary=...)`), which a console shows while the tool runs."""

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
_MAX_VALUE_CHARS = 60


def check_summary(name: str, summary: str, schema: Mapping[str, Any]) -> None:
    """Raises `ToolDefinitionError` if the format text names a parameter that the schema does not have.

    If the schema allows parameters that it does not list, any name passes.
    """
    try:
        names = [*_fields_of(summary)]
    except ValueError as error:
        raise ToolDefinitionError(
            f"tool {name!r}: its summary is no format text ({error}); a brace of the text is {{{{"
        ) from None
    parameters = schema.get("properties")
    if not is_object(parameters) or schema.get("additionalProperties") or schema.get("patternProperties"):
        return
    for field in names:
        if field not in parameters:
            raise ToolDefinitionError(
                f"tool {name!r}: its summary has {{{field}}}, and no parameter has that name; {_suggestion(field, parameters)}"
            )


def _fields_of(text: str) -> Iterable[str]:
    """The names of a format text's fields, also nested ones as in `{count:{width}}`, without attributes and indexes."""
    for _, field, spec, _ in Formatter().parse(text):
        if field is not None:
            yield re.split(r"[.\[]", field, maxsplit=1)[0]
            yield from _fields_of(spec or "")


def _suggestion(field: str, parameters: Collection[str]) -> str:
    near = nearest(field, parameters)
    if near is not None:
        return f"did you mean {{{near}}}?"
    return f"there are {', '.join(f'{{{name}}}' for name in parameters)}" if parameters else "it has no parameters"


def summary_of(name: str, summary: Summary | None, arguments: Mapping[str, Any] | None) -> str:
    """The summary of a call in one line. If the author gave none, or it fails, the name and the arguments. Never raises."""
    given = dict(arguments or {})
    if summary is not None:
        try:
            text = summary.format_map(given) if isinstance(summary, str) else summary(copied(given))
            return _one_line(str(text))
        except Exception:  # from the author's code, or a parameter that the model omitted
            pass
    parts = [f"{key}={_short(value)}" for key, value in given.items()]
    return _one_line(f"{name}({', '.join(parts)})")


def _short(value: Any) -> str:
    text = result_text(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."


def _one_line(text: str) -> str:
    line = " ".join(_visible(escaped(text)).split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}..."


def _visible(text: str) -> str:
    """The text with terminal control characters and bidirectional overrides escaped (`\\x1b`, `\\u202e`)."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable() or character.isspace() or character in _JOINERS:
        return character
    is_control = unicodedata.category(character) in _CONTROL_CATEGORIES
    return character.encode("unicode_escape").decode() if is_control else character


_CONTROL_CATEGORIES = frozenset({"Cc", "Cf"})
_JOINERS = frozenset({"\u200c", "\u200d"})
"""Zero-width joiner and non-joiner, which Persian text and emoji need."""
