"""The descriptions of parameters in docstrings of Google, NumPy or Sphinx style, also mixed.

This module finds the lines that describe parameters, and griffe parses them. All other text stays in the summary: sections such
as `Returns:`, and descriptions of names that are no parameters.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.tools.schema.unwrapping import bound_parameters

__all__ = ["Documentation", "documentation"]

_TITLE = r"(?i:(?:(?:other|keyword)[ ])?(?:parameters|params|arguments|args))[ ]*"
_RULE = r"(?P=at)[-=]{3,}[ ]*\n"
_BLOCK = re.compile(  # the group named after the style has the lines below the title; a Sphinx field has no title
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
_STYLES = {  # the pattern of an item, its layout for griffe, and the title that griffe expects before the items
    "google": (rf"^(?P<at>[ \t]*){_GOOGLE}(?P<text>.*(?:{_DEEPER}|{_NOT_NEXT})*)", "    {names}: {text}", "Args:"),
    "numpy": (
        rf"^(?P<at>[ \t]*)(?a:{_NAME})(?::[ ]*(?P<beside>.*))?$(?P<text>{_DEEPER}*)",
        "{names}\n        {text}",
        "Parameters\n---",
    ),
    "sphinx": (r":(?P<kind>\w+) (?:[^:\n]* )?(?P<names>\w+)[ ]*:(?P<text>(?:.*\n)*)", ":{kind} {names}: {text}", ""),
}


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text of a docstring without the descriptions of parameters, and those descriptions by parameter."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def documentation(function: object) -> Documentation:
    """The documentation in the function's docstring; an empty `Documentation` if it has none."""
    described = function.func if isinstance(function, functools.partial) else function
    text = inspect.cleandoc(described.__doc__ or "") + "\n"
    names = _described_names(cast("Callable[..., Any]", function))

    def is_known(item: re.Match[str]) -> bool:
        return not names.isdisjoint(re.split(r",\s*", item["names"]))

    rest: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    for block in _BLOCK.finditer(text):
        style = next(style for style in _STYLES if block[style] is not None)
        pattern = re.compile(_STYLES[style][0], re.MULTILINE)
        if items := [item for item in pattern.finditer(block[style]) if is_known(item)]:
            others = pattern.sub(lambda item: "" if is_known(item) else item[0], block[style])
            is_titled = re.search(rf"^{block['at']}[ \t]+\S", others, re.MULTILINE)
            title = text[block.start() : block.start(style)] if is_titled else ""
            rest += [text[at : block.start()], title + others.strip("\n")]
            at = block.end()
            parameters = _read(style, items) | parameters
    rest.append(text[at:])
    return Documentation("\n\n".join(part.strip("\n") for part in rest if part.strip()).strip(), parameters)


def _described_names(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that a docstring may describe, also bound and injected ones, which the model's schema omits."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return bound_parameters(function) | {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}


def _read(style: str, items: list[re.Match[str]]) -> dict[str, str]:
    import griffe  # takes 80 ms, so it is imported only if a docstring describes parameters

    _, layout, title = _STYLES[style]
    laid_out = ["", title]
    for item in items:
        text = item["text"].strip() or item.groupdict().get("beside") or ""  # NumPy's `path : The file to read.`
        names = ", ".join(re.split(r",\s*", item["names"]))
        laid_out.append(layout.format_map({**item.groupdict(), "names": names, "text": re.sub(r"\s*\n\s*", "\n        ", text)}))
    sections: list[Any] = getattr(griffe, f"parse_{style}")(griffe.Docstring("\n".join(laid_out)), warnings=False)
    read = [item for section in sections if section.kind.value == "parameters" for item in section.value if item.description]
    return {name.strip(): " ".join(item.description.split()) for item in read for name in item.name.split(",")}
