"""The descriptions of parameters in docstrings of Google, NumPy or Sphinx style, also mixed.

This module finds the lines that describe parameters, and griffe parses them. All other text stays in the summary: sections such
as `Returns:`, and descriptions of names that are no parameters. The place of a parameter's type may say more than the type, such
as a unit. That text stays in the parameter's description.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from llmcore.support.code.signatures import signature_of
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
_GOOGLE = rf"{_NAME}(?:\((?P<type>.*?)\))?[ ]*(?::(?!:)|(?<=\s)--?\s|[\u2013\u2014])"
_DEEPER = r"(?:(?:\n[ \t]*)*\n(?P=at)[ \t]+\S.*)"
_NOT_NEXT = r"\n(?P=at)(?!" + re.sub(r"\?P<\w+>", "?:", _GOOGLE) + r")\S.*"
_STYLES = {  # the pattern of an item, its layout for griffe, and the title that griffe expects before the items
    "google": (rf"^(?P<at>[ \t]*){_GOOGLE}(?P<text>.*(?:{_DEEPER}|{_NOT_NEXT})*)", "    {names}: {text}", "Args:"),
    "numpy": (
        rf"^(?P<at>[ \t]*)(?a:{_NAME})(?::[ ]*(?P<type>.*))?$(?P<text>{_DEEPER}*)",
        "{names}\n        {text}",
        "Parameters\n---",
    ),
    "sphinx": (r":(?P<kind>\w+) (?:(?P<type>[^:\n]*) )?(?P<names>\w+)[ ]*:(?P<text>(?:.*\n)*)", ":{kind} {names}: {text}", ""),
}
_TYPE_WORD = re.compile(  # what a docstring may write as a type besides the names in the signature
    r"(?:any|array|bool|boolean|bytes|callable|complex|dict|ellipsis|float|frozenset|int|integer|iterable|list|literal|mapping|none"
    r"|null|number|object|optional|required|sequence|set|str|string|tuple|union)s?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text of a docstring without the descriptions of parameters, and those descriptions by parameter."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def documentation(function: object) -> Documentation:
    """The documentation in the function's docstring; an empty `Documentation` if it has none."""
    described = function.func if isinstance(function, functools.partial) else function
    text = inspect.cleandoc(described.__doc__ or "") + "\n"
    signature = signature_of(cast("Callable[..., Any]", function))
    names = _described_names(cast("Callable[..., Any]", function), signature)

    def is_known(item: re.Match[str]) -> bool:
        return not names.isdisjoint(_names(item))

    rest: list[str] = []
    parameters: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
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
            for item in items:
                for name in _names(item):
                    notes.setdefault(name, []).extend(_type_note(item, signature))
    for name, texts in notes.items():
        if name in parameters:
            parameters[name] = " ".join([*(f"({note})" for note in texts), parameters[name]])
        elif texts:
            parameters[name] = ", ".join(texts)
    rest.append(text[at:])
    return Documentation("\n\n".join(part.strip("\n") for part in rest if part.strip()).strip(), parameters)


def _described_names(function: Callable[..., Any], signature: inspect.Signature | None) -> frozenset[str]:
    """The parameters that a docstring may describe, also bound and injected ones, which the model's schema omits."""
    if signature is None:
        return frozenset()
    parameters = signature.parameters.values()
    return bound_parameters(function) | {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}


def _names(item: re.Match[str]) -> list[str]:
    return re.split(r",\s*", item["names"])


def _is_type_field(item: re.Match[str]) -> bool:
    """Whether it is Sphinx's `:type path: str`, whose text stands in the place of the type."""
    return item.groupdict().get("kind") == "type"


def _read(style: str, items: list[re.Match[str]]) -> dict[str, str]:
    import griffe  # takes 80 ms, so it is imported only if a docstring describes parameters

    _, layout, title = _STYLES[style]
    laid_out = ["", title]
    for item in items:
        if (text := item["text"].strip()) and not _is_type_field(item):
            shown = {**item.groupdict(), "names": ", ".join(_names(item)), "text": re.sub(r"\s*\n\s*", "\n        ", text)}
            laid_out.append(layout.format_map(shown))
    sections: list[Any] = getattr(griffe, f"parse_{style}")(griffe.Docstring("\n".join(laid_out)), warnings=False)
    read = [item for section in sections if section.kind.value == "parameters" for item in section.value if item.description]
    return {name.strip(): " ".join(item.description.split()) for item in read for name in item.name.split(",")}


def _type_note(item: re.Match[str], signature: inspect.Signature | None) -> list[str]:
    """What the place of the type says besides a type: at most one text, such as `in seconds`."""
    is_field = _is_type_field(item)
    place = " ".join((item["text"] if is_field else item["type"] or "").split())
    parts = [part for part in _comma_parts(place) if not _is_type(part, signature)]
    if parts and not is_field and not item["text"].strip():
        return [place]  # it is the description: NumPy's `path : The file to read.`
    return [", ".join(parts)] if parts else []


def _comma_parts(text: str) -> Iterator[str]:
    """The parts between commas that stand in no brackets, without empty ones."""
    part = ""
    for piece in text.split(","):
        part = f"{part},{piece}" if part else piece.strip()
        if part and all(part.count(opener) <= part.count(closer) for opener, closer in ("[]", "()", "{}")):
            yield part
            part = ""
    if part:
        yield part


def _is_type(text: str, signature: inspect.Signature | None) -> bool:
    """Whether the text is a type: built of type words, and of names and literals of the signature's types."""
    known: set[str] = set()
    for parameter in signature.parameters.values() if signature is not None else ():
        annotation = parameter.annotation
        known |= _leaves(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)) or set()
    leaves = _leaves(text)
    return leaves is not None and all(leaf in known or _TYPE_WORD.fullmatch(leaf) for leaf in leaves)


def _leaves(text: str) -> set[str] | None:
    """The names, without their modules, and the literals of a type expression; None if Python cannot parse it."""
    plain = re.sub(r":[\w:]+:(?=`)|[`*~]|<locals>\.|\b[^\W\d]\w*\.(?=[^\W\d])", "", text)
    try:
        nodes = list(ast.walk(ast.parse(re.sub(r"\s(?:of|to)\s", " or ", plain).strip(), mode="eval")))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {repr(node.value) for node in nodes if isinstance(node, ast.Constant)}
