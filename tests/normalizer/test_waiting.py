"""What more text may change, a reader waits for.

One that seeks something looks at the end of the text again, as far back as what it seeks may have begun: how far that is, each
says by a number, which is compared here with what the expression can match. One that matches a head goes by a second expression,
which says whether more text may yet make one. And none goes back over white space, which is matched anew at every feed.
"""

# pyright: reportPrivateUsage=false
# What is compared here is what each reader keeps to itself.

from __future__ import annotations

import inspect
import math
import random
import re
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest

from llmcore.normalizer.api import Normalizer
from llmcore.normalizer.bare import fences, handlers, json_forms
from llmcore.normalizer.bodies.tagged import parameters, tag_attributes
from llmcore.normalizer.dialects import function_parameter, name_json, named_elements, python_calls, reasoning
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.normalizer.scanning import source
from llmcore.normalizer.scanning.sought import Sought, undecided_from
from llmcore.normalizer.text import candidates
from tests.helpers.builds import pure_only
from tests.helpers.expressions import goes_back, reach

from .helpers import TOOLS, sample_files, samples

_SEEKERS = (source.search, reasoning.flow, reasoning.closed_block)
_Sought = set[tuple[Sought, int]]


def _texts() -> list[str]:
    given = {"city": "Oslo", "days": 3}
    written = [row.write([("get_weather", given)]) for row in DIALECTS.values()]
    react = "Thought: a\nAction: get_weather\nAction Input: Oslo\nObservation: rain\n"
    return [*written, react, *(sample.text for file in sample_files() for sample in samples(file))]


def _listening_in(seek: Callable[..., Any], told: _Sought) -> Callable[..., Any]:
    signature = inspect.signature(seek)

    def spy(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        pattern = bound.arguments.get("pattern") or bound.arguments["stop"]
        told.add((pattern, bound.arguments["overlap"]))
        return seek(*args, **named)

    return spy


@pytest.fixture
def sought(monkeypatch: pytest.MonkeyPatch) -> _Sought:
    """Every expression that is sought in the texts, and how far back from their end it is sought again."""
    told: _Sought = set()
    for seek in _SEEKERS:
        spy = _listening_in(seek, told)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("llmcore.normalizer") and getattr(module, seek.__name__, None) is seek:
                monkeypatch.setattr(module, seek.__name__, spy)
    grammar = parameters.Grammar.ends

    def ends(self: parameters.Grammar, key: str) -> Sought:
        pattern = grammar(self, key)
        told.add((pattern, parameters._OVERLAP))
        return pattern

    monkeypatch.setattr(parameters.Grammar, "ends", ends)
    for text in _texts():
        for tools in (TOOLS, None):
            normalizer = Normalizer(tools)
            for start in range(0, len(text), 7):
                normalizer.feed(text[start : start + 7])
            normalizer.finish()
    return told


@pure_only("it replaces functions, which compiled code does not look up")
def test_what_is_sought_is_sought_again_as_far_back_as_it_may_have_begun(sought: _Sought) -> None:
    assert len(sought) > 50, "the texts seek what they did"
    assert not [(pattern.pattern, overlap) for pattern, overlap in sought if reach(pattern) > overlap]


@pure_only("it replaces functions, which compiled code does not look up")
def test_no_more_ends_of_tags_decide_a_match_than_are_told(sought: _Sought) -> None:
    text = "<a>" * 100
    told = {pattern: text.count(">", undecided_from(pattern, text, 0)) for pattern, _ in sought}
    some = {pattern: count for pattern, count in told.items() if count < 100}
    assert len(some) > 5, "some tell"
    assert not [(pattern.pattern, count) for pattern, count in some.items() if reach(pattern, ">") > count]


@pytest.mark.parametrize(
    ("expression", "ends"),
    [("<a>", 1), (r"<(?:a[^<>]{0,9}>){2}", 2), (r"<a>(?=\s<b>)", 2), (r"<[^\n]{0,9}>", 10), (r"<(?:a>|b>c>)", 2), ("<.", 1)],
)
def test_reach_of_one_character(expression: str, ends: float) -> None:
    assert reach(re.compile(expression), ">") == ends


@pytest.mark.parametrize(
    ("expression", "characters"),
    [
        ("abc", 3),
        (r"a\s{0,16}b", 18),
        (r"a(?=bc)b", 3),
        (r"(?<!xy)a(?!b{1,4})", 5),
        (r"(?:ab|c){2,3}", 6),
        (r"(?>a{1,5}+)\Z", 5),
        (r"(?:(?!xyz)[^\n]){0,10}", 12),
        (r"a\s*b", math.inf),
    ],
)
def test_reach(expression: str, characters: float) -> None:
    assert reach(re.compile(expression)) == characters


def _standing() -> set[re.Pattern[str]]:
    """The expressions that stand in the modules, and those that are made for a set of tools."""
    modules = [module for name, module in sys.modules.items() if name.startswith("llmcore.normalizer")]
    values = [value for module in modules for value in vars(module).values()]
    values += [value for value in values if isinstance(value, tuple) for value in cast("tuple[object, ...]", value)]
    for names in (None, frozenset(TOOLS.names)):
        signs = candidates.signs_of(names, marker_table(None))
        values += [signs.any, signs.any_headed, signs.markers]
    return {value for value in values if isinstance(value, re.Pattern)}


@pure_only("it replaces functions, which compiled code does not look up")
def test_no_expression_goes_back_over_white_space(sought: _Sought) -> None:
    expressions: set[Sought] = _standing() | {pattern for pattern, _ in sought}
    assert len(expressions) > 150, "they were found"
    assert not [pattern.pattern for pattern in expressions if goes_back(pattern)]


@pytest.mark.parametrize(
    ("expression", "goes"),
    [
        (r"a\s*b?\s*c", True),
        (r"a\s*+b?\s*c", False),
        (r"a\s*b\s*c", False),
        (r"\[(?=\s*(?:x|(?:None)?\s*\]))", True),
        (r"[ \t]*([^\n]{1,256}?)[ \t]*\n", True),
        (r"(?:,\s*)?\s{0,16}x", False),
        (r"(?:a\s*|b)(?:\s*c|d)", True),
    ],
)
def test_goes_back(expression: str, goes: bool) -> None:
    assert goes_back(re.compile(expression)) is goes


_DECIDED = {
    "calling": (
        handlers._CALLING,
        re.compile(rf"{handlers._PYTHON_MAYBE.pattern}|{handlers._CALLING_MAYBE.pattern}|\Z"),
        "Calling tool: get_weather ( {",
    ),
    "first key": (json_forms._FIRST_KEY, json_forms._FIRST_KEY_BEGUN, '[ {\n// what it needs\n /* the name */ "name" : 1'),
    "info word": (*fences._WORD_AND_LINE, " json \r\n"),
    "function": (name_json._FUNCTION_HEAD, name_json._FUNCTION_MAYBE, ' "get_weather" > ( {'),
    "pair": (named_elements._PAIR, named_elements._PAIR_BEGUN, " get_weather </tool>\n <tool_input>"),
    "tag": (tag_attributes._TAG_WHOLE, tag_attributes._TAG_BEGUN, """ name="f" city='a > b' days=3 />"""),
    "list of calls": (python_calls._LIST_OF_CALLS, python_calls._LIST_BEGUN, " [ get.weather ("),
    "next list": (python_calls._NEXT_LIST, python_calls._NEXT_LIST_BEGUN, ";\n [ get_weather ("),
    "attributes": (function_parameter._WITH_ATTRIBUTES, function_parameter._WITH_ATTRIBUTES_BEGUN, "\n<parameter name="),
    "next call": (python_calls._NEXT, python_calls._NEXT_BEGUN, ";\n get_weather ("),
}
"""(what a reader matches, what may yet become that, a text in which it does)."""

_SIGNS = (*"<>{}[]()\"'`=:,;/*\\|. \n\r\t", "//", "/*", "*/", "x", "é", " " * 40, "x" * 260)


@pytest.mark.parametrize("name", _DECIDED)
def test_what_is_decided_stays_decided(name: str) -> None:
    whole, begun, written = _DECIDED[name]
    assert whole.match(written)
    draw = random.Random(name)  # reproducible texts, no secret
    for _ in range(6_000):
        text = written
        for _ in range(draw.randint(1, 3)):
            at = draw.randint(0, len(text))
            text = text[:at] + draw.choice(_SIGNS) * draw.randint(0, 1) + text[at + draw.choice((0, 0, 1)) :]
        last = whole.match(text)
        for length in range(len(text) + 1):
            early = whole.match(text[:length])
            if early is not None:
                assert last is not None, (text[:length], text)
                assert (last.span(), last.groups()) == (early.span(), early.groups()), (text[:length], text)
                break
            if begun.match(text[:length]) is None:
                assert last is None, (text[:length], text)
                break


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_an_opener_is_decided_within_64_characters(name: str) -> None:
    """The walk waits no longer for one (`Walk.is_undecided`), so a longer one would depend on the cut."""
    for marker in DIALECTS[name].markers:
        if marker.pattern is not None:
            assert reach(re.compile(marker.pattern)) <= 64, marker.pattern
