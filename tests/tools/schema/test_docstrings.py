"""What a docstring says of parameters is told beside them; nothing else of it is lost."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from llmcore import RunContext
from llmcore.tools import Tool, as_tool
from llmcore.tools.schema.docstrings import Documentation, documentation

FILE, COUNT = "The file to read.", "How many lines, at most."
READ = {
    "google": f"Read it.\n\nArgs:\n    path: {FILE}\n    count: {COUNT}",
    "no blank line before": f"Read it.\nArgs:\n    path: {FILE}\n    count: {COUNT}",
    "a blank line after": f"Read it.\n\nArgs:\n\n    path: {FILE}\n\n    count: {COUNT}",
    "types": f"Read it.\n\nArguments:\n    path (str): {FILE}\n    count (dict[str, tuple(int)], optional): {COUNT}",
    "hyphens": f"Read it.\n\nArgs:\n    path - {FILE}\n    count (int) -- {COUNT}",
    "dashes": f"Read it.\n\nParameters:\n    path \N{EN DASH} {FILE}\n    count \N{EM DASH} {COUNT}",
    "bullets": f"Read it.\n\nParams:\n- path: {FILE}\n- `count`: {COUNT}",
    "bullets below": f"Read it.\n\nArgs:\n    * path: {FILE}\n    * **count**: {COUNT}",
    "lines that go on": "Read it.\n\nArgs:\n    path: The file\n        to read.\n    count: How many\n    lines, at most.",
    "paragraphs": "Read it.\n\nArgs:\n    path: The file\n\n        to read.\n    count: How many lines,\n        at most.",
    "two sections": f"Read it.\n\nArgs:\n    path: {FILE}\n\nKeyword Args:\n    count: {COUNT}",
    "numpy": f"Read it.\n\nParameters\n----------\npath : str\n    {FILE}\ncount\n    {COUNT}",
    "numpy, no blank line before": f"Read it.\nParameters\n----------\npath : str\n    {FILE}\n\ncount : int, optional\n    {COUNT}",
    "numpy, a blank line after": f"Read it.\n\nParameters\n----------\n\npath: str\n    {FILE}\ncount: int\n    {COUNT}",
    "numpy, beside": f"Read it.\n\nParameters\n----------\npath : {FILE}\ncount : {COUNT}",
    "sphinx": f"Read it.\n\n:param path: {FILE}\n:type path: str\n:param int count: {COUNT}",
    "sphinx, no blank line before": f"Read it.\n:param path: {FILE}\n:param count: How many lines,\n    at most.",
    "sphinx, lines that go on": "Read it.\n\n:param path: The file\nto read.\n:argument count: How many lines,\n\n    at most.",
    "mixed": f"Read it.\n\n:param path: {FILE}\n\nArgs:\n    count: {COUNT}",
}


def made(docstring: str, function: Any = None) -> Tool:
    def read(path: str, count: int = 1, context: RunContext[Any] | None = None, **more: int) -> str:
        return path * count

    target = function or read
    target.__doc__ = docstring
    return Tool(target)


def described(tool: Tool) -> dict[str, str]:
    parts = tool.definition.parameters["properties"]
    return {name: part["description"] for name, part in parts.items() if "description" in part}


@pytest.mark.parametrize("docstring", READ.values(), ids=READ)
def test_parameters_are_read_however_they_are_laid_out(docstring: str) -> None:
    tool = made(docstring)
    assert described(tool) == {"path": FILE, "count": COUNT}
    assert tool.definition.description == "Read it."


SECTIONS = {
    "google": ("{}:\n    It may be slow: wait.\n\n    And more.", "Args:\n    path: {}\n    count: {}"),
    "google, beside": ("{}: It may be slow.", "Args:\n    path: {}\n    count: {}"),
    "numpy": ("{}\n-------\nstr\n    It may be slow.", "Parameters\n----------\npath : str\n    {}\ncount : int\n    {}"),
    "sphinx": (":{}: It may be slow.", ":param path: {}\n:param count: {}"),
}


@pytest.mark.parametrize("title", ["Warning", "Returns", "Raises", "Note", "Example", "Examples", "Yields", "See Also", "Todo"])
@pytest.mark.parametrize("style", SECTIONS)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_every_other_section_stays_as_it_stands(title: str, style: str, place: str) -> None:
    section, parameters = SECTIONS[style]
    section, parameters = section.format(title), parameters.format(FILE, COUNT)
    tool = made("\n\n".join(["Read it.", *([section, parameters] if place == "before" else [parameters, section])]))
    assert tool.definition.description == f"Read it.\n\n{section}"
    assert described(tool) == {"path": FILE, "count": COUNT}


@pytest.mark.parametrize(
    ("docstring", "left"),
    [
        ("Read it.\n\nArgs:\n    It takes a path.", "Read it.\n\nArgs:\n    It takes a path."),
        ("Read it.\n\nArgs:\n    path: It.\n    gone: Was there.", "Read it.\n\nArgs:\n    gone: Was there."),
        ("Read it.\n\nArgs:\n    **more: Numbers by name.", "Read it.\n\nArgs:\n    **more: Numbers by name."),
        ("Read it.\n\nParameters\n----------\npath\n    It.\n\nNote: slow.", "Read it.\n\nNote: slow."),
        ("Read it.\n\nArgs: see above", "Read it.\n\nArgs: see above"),
        ("Read it.\n\nArgs:", "Read it.\n\nArgs:"),
        (":param gone: Was there.\n:raises OSError: It is gone.", ":param gone: Was there.\n:raises OSError: It is gone."),
        (":param path: It.\n:returns: A text.\n:param count: It.", ":returns: A text."),
        ("Read it.\n\nArgs:\n    path: It.\n\nExample:\n    a\n\n\n    b", "Read it.\n\nExample:\n    a\n\n\n    b"),
        ("Read it.\n\n    path: It.\n\nNo title.", "Read it.\n\n    path: It.\n\nNo title."),
    ],
)
def test_what_describes_no_parameter_stays(docstring: str, left: str) -> None:
    assert made(docstring).definition.description == left


def test_what_is_said_of_injected_and_bound_parameters_is_not_told() -> None:
    tool = made("Read it.\n\nArgs:\n    path: It.\n    context: Who asks.")
    assert tool.definition.description == "Read it."

    def read(path: str, token: str) -> str:
        """Read it.

        Args:
            path: It.
            token: The key.
        """
        return path

    def keyed(token: str, path: str) -> str:
        return path

    keyed.__doc__ = read.__doc__
    for bound in (functools.partial(read, token="x"), functools.partial(keyed, "x")):
        definition = as_tool(bound).definition
        assert (definition.description, definition.parameters["properties"]["path"]["description"]) == ("Read it.", "It.")


def test_several_names_of_one_text_are_each_described() -> None:
    def move(x: int, y: int) -> None: ...

    assert described(made("Move.\n\nParameters\n----------\nx, y : int\n    Where to.", move)) == {
        "x": "Where to.",
        "y": "Where to.",
    }


@dataclass
class City:
    name: str


BESIDE_TYPES = {
    "google, a unit": ("Args:\n    size (in MB): How big.", "(in MB) How big."),
    "google, a bound": ("Args:\n    size (max 10 MB): How big.", "(max 10 MB) How big."),
    "google, a bound and types": ("Args:\n    size (int, at most 10, optional): How big.", "(at most 10) How big."),
    "google, nothing else": ("Args:\n    size (in MB):", "in MB"),
    "numpy, values": ("Parameters\n---\nsize : {'small', 'large'}\n    How big.", "({'small', 'large'}) How big."),
    "numpy, a unit": ("Parameters\n---\nsize : int, in MB\n    How big.", "(in MB) How big."),
    "numpy, a unit alone": ("Parameters\n---\nsize : int, in MB", "int, in MB"),
    "sphinx": (":param size: How big.\n:type size: MB, at most 10", "(MB, at most 10) How big."),
    "sphinx, the type first": (":type size: MB,\n    at most 10\n:param size: How big.", "(MB, at most 10) How big."),
    "sphinx, the type alone": (":type size: int or MB", "int or MB"),
    "sphinx, beside the name": (":param MB size: How big.", "(MB) How big."),
    "a class of another module": ("Args:\n    size (Country): How big.", "(Country) How big."),
}
TYPES = [
    "int",
    "Optional[list[str]]",
    "str or None",
    "dict of str to ints",
    "City, optional",
    "typing.Dict[str, tuple(int, ...)]",
]


@pytest.mark.parametrize(("docstring", "description"), BESIDE_TYPES.values(), ids=BESIDE_TYPES)
def test_what_is_no_type_in_the_place_of_the_type_stays(docstring: str, description: str) -> None:
    def weigh(size: int, count: int = 1) -> None: ...

    tool = as_tool(made_of(weigh, f"Weigh it.\n\n{docstring}"))
    assert described(tool) == {"size": description}
    assert tool.definition.description == "Weigh it."


@pytest.mark.parametrize("kind", [*TYPES, ":class:`City`", "Literal['a', 'b']"])
@pytest.mark.parametrize(
    "docstring",
    [
        "Args:\n    size ({}): How big.",
        "Parameters\n---\nsize : {}\n    How big.",
        ":param size: How big.\n:type size: {}",
    ],
)
def test_a_type_is_left_to_the_schema(docstring: str, kind: str) -> None:
    def weigh(size: City, unit: Literal["a", "b"]) -> None: ...

    assert documentation(made_of(weigh, f"Weigh it.\n\n{docstring.format(kind)}")) == Documentation(
        "Weigh it.", {"size": "How big."}
    )


def made_of(function: Any, docstring: str) -> Any:
    function.__doc__ = docstring
    return function
