"""Descriptions out of docstrings in Google, NumPy or Sphinx style, also mixed, by griffe.

This module finds the lines that describe parameters and gives them to griffe. All else stays in the text as it stands:
sections such as `Returns:`, and what is said of names that are no parameters.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.tools.schema.unwrapping import bound_in

__all__ = ["Documentation", "documentation"]

_TITLE = r"(?i:(?:(?:other|keyword)[ ])?(?:parameters|params|arguments|args))[ ]*"
_RULE = r"(?P=at)[-=]{3,}[ ]*\n"
_BLOCK = re.compile(  # what stands below a title is in the group of the style; a Sphinx field has no title
    rf"""^(?P<at>[ \t]*)(?:
      {_TITLE}:?[ ]*\n{_RULE} (?P<numpy> (?: (?!.*\n{_RULE}) .*\n )*)
    | {_TITLE}:[ ]*\n (?P<google> (?: (?: (?P=at)(?:[ \t]+\S|[-*+\u2022][ ]).* )? [ \t]*\n )*)
    | (?P<sphinx> :(?:param(?:eter)?|arg(?:ument)?|key(?:word)?|type)[ ].*\n
        (?: (?:[ \t]*\n)* (?P=at)[ \t]+\S.*\n | (?P=at)[^:\s].*\n )*)
    )""",
    re.MULTILINE | re.VERBOSE,
)
_NAME = r"(?:[-*+\u2022][ ]+)?[`*]*(?P<names>\w+(?:,[ ]*\w+)*)[`*]*[ ]*"
_GOOGLE = rf"{_NAME}(?:\(.*?\))?[ ]*(?::(?!:)|(?<=\s)--?\s|[\u2013\u2014])"
_DEEPER = r"(?:(?:\n[ \t]*)*\n(?P=at)[ \t]+\S.*)"
_NOT_NEXT = rf"\n(?P=at)(?!{_GOOGLE.replace('?P<names>', '?:')})\S.*"
_STYLES = {  # an item, how griffe wants it, and what griffe wants before the items
    "google": (rf"^(?P<at>[ \t]*){_GOOGLE}(?P<said>.*(?:{_DEEPER}|{_NOT_NEXT})*)", "    {names}: {said}", "Args:"),
    "numpy": (
        rf"^(?P<at>[ \t]*)(?a:{_NAME})(?::[ ]*(?P<beside>.*))?$(?P<said>{_DEEPER}*)",
        "{names}\n        {said}",
        "Parameters\n---",
    ),
    "sphinx": (r":(?P<kind>\w+) (?:[^:\n]* )?(?P<names>\w+)[ ]*:(?P<said>(?:.*\n)*)", ":{kind} {names}: {said}", ""),
}


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a docstring says: the text without what it says of parameters, and each parameter's description."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def documentation(function: object) -> Documentation:
    """Read the function's own docstring; an empty `Documentation` when it has none."""
    described = function.func if isinstance(function, functools.partial) else function
    text = inspect.cleandoc(described.__doc__ or "") + "\n"
    names = _described_names(cast("Callable[..., Any]", function))

    def is_known(item: re.Match[str]) -> bool:
        return not names.isdisjoint(re.split(r",\s*", item["names"]))

    left: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    for block in _BLOCK.finditer(text):
        style = next(style for style in _STYLES if block[style] is not None)
        pattern = re.compile(_STYLES[style][0], re.MULTILINE)
        if items := [item for item in pattern.finditer(block[style]) if is_known(item)]:
            others = pattern.sub(lambda item: "" if is_known(item) else item[0], block[style])
            is_titled = re.search(rf"^{block['at']}[ \t]+\S", others, re.MULTILINE)
            title = text[block.start() : block.start(style)] if is_titled else ""
            left += [text[at : block.start()], title + others.strip("\n")]
            at = block.end()
            parameters = _read(style, items) | parameters
    left.append(text[at:])
    return Documentation("\n\n".join(part.strip("\n") for part in left if part.strip()).strip(), parameters)


def _described_names(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that a text may describe: also those that the model is not told of, which are bound or injected."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return bound_in(function) | {one.name for one in parameters if one.kind is not one.VAR_KEYWORD}


def _read(style: str, items: list[re.Match[str]]) -> dict[str, str]:
    import griffe  # it takes 80 ms, so it is loaded only where a docstring describes parameters

    _, layout, title = _STYLES[style]
    laid_out = ["", title]
    for item in items:
        said = item["said"].strip() or item.groupdict().get("beside") or ""  # NumPy's `path : The file to read.`
        names = ", ".join(re.split(r",\s*", item["names"]))
        laid_out.append(layout.format_map({**item.groupdict(), "names": names, "said": re.sub(r"\s*\n\s*", "\n        ", said)}))
    sections: list[Any] = getattr(griffe, f"parse_{style}")(griffe.Docstring("\n".join(laid_out)), warnings=False)
    read = [item for section in sections if section.kind.value == "parameters" for item in section.value if item.description]
    return {name.strip(): " ".join(item.description.split()) for item in read for name in item.name.split(",")}
