"""No expression is compiled for a name: not for one of a new set of tools, nor for one that a text makes up."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.scanning.sought import HOLDER, KEY, TAG, Either, Element, filled_pattern, may_be_named, tags
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import tool

_COMPILER: Any = importlib.import_module("re._compiler")


def _tools(name: str) -> ToolSet:
    keys = dict.fromkeys((f"{name}_p{n}" for n in range(3)), "string")
    return ToolSet([tool(f"{name}_f{n}", **keys) for n in range(2)])


def _streamed(text: str, tools: ToolSet) -> None:
    normalizer = Normalizer(tools)
    for at in range(0, len(text), 16):
        normalizer.feed(text[at : at + 16])
    normalizer.finish()


def _calls(dialect: str, name: str) -> str:
    given = {f"{name}_p{n}": f"a < {n}\nb" for n in range(2)}
    return DIALECTS[dialect].write([(f"{name}_f0", given), (f"{name}_f1", {f"{name}_p2": "c"})])


def _readings(text: str) -> Iterator[str]:
    """Whole, behind words, cut at some places, and with characters lost."""
    yield text
    yield f"I will look.\n\n{text}\n\nThat is all."
    for at in range(9, len(text), 23):
        yield text[:at]
        yield text[:at] + text[at + 4 :]


def _read_dialect(dialect: str) -> Callable[[str], None]:
    def read(name: str) -> None:
        for text in _readings(_calls(dialect, name)):
            normalize(text, _tools(name))
        for text in (_calls(dialect, name), _calls(dialect, name)[:-3]):
            _streamed(text, _tools(name))

    return read


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every expression that is compiled from now on."""
    patterns: list[str] = []
    compile_one = _COMPILER.compile

    def spy(pattern: str, flags: int = 0) -> re.Pattern[str]:
        patterns.append(pattern)
        compiled: re.Pattern[str] = compile_one(pattern, flags)
        return compiled

    monkeypatch.setattr(_COMPILER, "compile", spy)
    return patterns


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_new_set_of_tools_compiles_nothing(dialect: str, compiled: list[str]) -> None:
    read = _read_dialect(dialect)
    for known in ("aaa", "bbb", "ccc", "ddd"):  # a shape is learnt when it is asked for often
        read(known)
    compiled.clear()
    read("eee")
    assert compiled == []


_MADE_UP = {
    "suffix": "<tool_call:{0}>aaa_f0<arg_key:{0}>aaa_p0</arg_key:{0}><arg_value:{0}>x</arg_value:{0}></tool_call:{0}>",
    "namespace": '<{0}:invoke name="aaa_f0"><{0}:parameter name="aaa_p0">x</{0}:parameter></{0}:invoke>',
    "namespace of children": '<{0}:invoke name="aaa_f0"><aaa_p0>x</aaa_p0></{0}:invoke>',
    "tag": '<{0} name="aaa_f0"><parameter name="aaa_p0">x</parameter></{0}>',
    "key": '<invoke name="aaa_f0"><{0}>x</{0}></invoke>',
    "name": '<invoke name="{0}"><{0}>x</{0}></invoke>',
    "child": "<aaa_f0><{0}>x</{0}><aaa_p0>x</aaa_p0></aaa_f0>",
    "child behind a name": "aaa_f0\n<aaa_p0>x</aaa_p0><{0}>y</{0}>\n</aaa_f0>\n",
    "key in a holder": "<tool_call><name>aaa_f0</name><arguments><{0}>x</{0}></arguments></tool_call>",
}


@pytest.mark.parametrize("text", _MADE_UP.values(), ids=_MADE_UP)
def test_a_name_that_a_text_makes_up_compiles_nothing(text: str, compiled: list[str]) -> None:
    tools = _tools("aaa")
    for known in ("kaa", "kab"):
        assert normalize(text.format(known), tools).tool_calls
        _streamed(text.format(known), tools)
    compiled.clear()
    for name in ("kba", "kbb", "kbc"):
        normalize(text.format(name), tools)
        _streamed(text.format(name), tools)
    assert compiled == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("f", "</fg></f></f>", "</f>"),
        ("f", "</ f\n ></f>", "</ f\n >"),
        ("f", "</     f></f>", "</f>"),
        ("a.b", "</axb></a.b>", "</a.b>"),
        ("f", "</f</f>", "</f>"),
        ("f", "</f ", ""),
    ],
)
def test_the_closer_of_an_element(name: str, text: str, found: str) -> None:
    closer = Element(name)
    match = closer.search(text)
    assert (match[0] if match is not None else "") == found
    assert re.compile(closer.pattern).findall(text)[:1] == ([found] if found else [])


def test_of_two_the_first_is_found() -> None:
    either = Either(Element("f"), Element("f", opens=True))
    assert [found[0] for text in ("x<f></f>", "</f><f>", "f") if (found := either.search(text))] == ["<f>", "</f>"]
    assert either.match("</f>") is not None
    assert either.match("x</f>") is None


def test_a_hole_is_filled_with_one_of_its_texts() -> None:
    pattern = tags(f"(?P<own></{KEY}>)", "</end>", f"(?P<end></{TAG}>)", f"<(?:{TAG}><)?{TAG} in={TAG}>")
    some = filled_pattern(filled_pattern(pattern, KEY, "city"), TAG, "f", "end")
    text = "</days><f in=g></ f><g><f in=f><f><f in=f></end></city>"
    found: list[tuple[str, str | None]] = []
    at = 0
    while (match := some.search(text, at)) is not None:
        found.append((match[0], match.lastgroup))
        at = match.end()
    assert found == [("</ f>", "end"), ("<f in=f>", None), ("<f><f in=f>", None), ("</end>", None), ("</city>", "own")]
    assert some == filled_pattern(filled_pattern(pattern, KEY, "city"), TAG, "end", "f"), "the same is not sought again"
    assert filled_pattern(some, HOLDER, "x").search("</x>") is None
    plain = tags("</f>")
    assert filled_pattern(plain, KEY, "city") is plain


def test_only_tags_of_its_names_may_begin_what_is_sought() -> None:
    closer = filled_pattern(
        tags(r"(?P<own></\x01>)".replace("\\x01", KEY), "(?P<parameter><param(?:eter)?=)", "</tool_call>"), KEY, "b"
    )
    for name, may_be in {"b": True, "parameter": True, "Param": True, "tool_call": True, "tool": False, "div": False}.items():
        assert may_be_named(closer, name) is may_be
