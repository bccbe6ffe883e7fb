"""Descriptions out of docstrings in Google, NumPy or Sphinx style, by griffe.

griffe takes 80 ms to import, so it is loaded only for a docstring that has more than a summary.
"""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass, field
from typing import Any, cast

__all__ = ["Documentation", "documentation"]


_SPHINX_FIELD = re.compile(r"^:(param|parameter|arg|argument|key|keyword) [^:\n]+:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a docstring says: the text before its sections, and each parameter's description."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def documentation(function: object) -> Documentation:
    """Read the function's own docstring; an empty `Documentation` when it has none."""
    described = function.func if isinstance(function, functools.partial) else function
    text = inspect.cleandoc(described.__doc__ or "")
    if "\n" not in text:
        return Documentation(text)
    summary: list[str] = []
    parameters: dict[str, str] = {}
    for section in _sections(text):
        if section.kind.value == "text":
            summary.append(section.value)
        elif section.kind.value in ("parameters", "other parameters"):
            parameters |= {item.name.lstrip("*"): " ".join(item.description.split()) for item in section.value}
    return Documentation("\n\n".join(summary).strip(), parameters)


def _sections(text: str) -> list[Any]:
    import griffe  # 80 ms: see above

    docstring = griffe.Docstring(text)
    if _SPHINX_FIELD.search(text):  # griffe looks for fields with types only
        return cast("list[Any]", griffe.parse_sphinx(docstring, warnings=False))
    style, _ = griffe.infer_docstring_style(docstring)
    parsers = {"numpy": griffe.parse_numpy, "sphinx": griffe.parse_sphinx}
    parse = parsers.get(style.value if style else "", griffe.parse_google)
    # Its warnings are about missing types; ours come from the signature.
    return cast("list[Any]", parse(docstring, warnings=False))
