"""Where a bracketed value ends, for any cut of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.notations.extent import Extent

# The bar marks the end; a text without one has none.
CASES: list[tuple[str, dict[str, Any]]] = [
    ('{"a": 1}¦ tail', {}),
    ('[1, {"b": [2]}]¦]', {}),
    (r'{"a": "}\"}"}¦ x', {}),
    (r'{"a": "\\"}¦ x', {}),
    (r'{"a": "\\\"}"}¦', {}),
    ('{"a": [1}}¦', {}),  # counted, not matched: a wrong closer does not lose the end
    ("{'a': '}'}¦", {"quotes": "\"'"}),
    ("{'a': '}¦'}", {}),
    ("f(x='''it's ) \"\"\" ''')¦", {"quotes": "\"'", "triple": True}),
    ("f(x='''a\\''' ) ''')¦", {"quotes": "\"'", "triple": True}),
    ("f(x='', y='')¦", {"quotes": "\"'", "triple": True}),
    ("(1, # )\n2)¦", {"comments": True}),
    ("(1, /* ) */ 2)¦ // )", {"comments": True}),
    ("(1 / 2)¦", {"comments": True}),
    ('{"a": "</tool_call>"}¦', {"delimiters": ("</tool_call>",)}),
    ('{"a": "<"}¦ <', {"delimiters": ("<",)}),
    ('{"a": 1', {}),
    ('{"a": "}', {}),
]


def _unmarked(marked: str) -> tuple[str, int, int]:
    """Text, start of the value, its end."""
    return marked.replace("¦", ""), 1 if marked.startswith("f(") else 0, marked.find("¦")


@pytest.mark.parametrize(("marked", "options"), CASES)
def test_end(marked: str, options: dict[str, Any]) -> None:
    text, start, end = _unmarked(marked)
    assert Extent(start, **options).scan(text, final=True) == end


@pytest.mark.parametrize(("marked", "options"), CASES)
def test_end_does_not_depend_on_the_cut(marked: str, options: dict[str, Any]) -> None:
    text, start, end = _unmarked(marked)
    extent = Extent(start, **options)
    found = {extent.scan(text[: at + 1]) for at in range(len(text))}
    assert extent.scan(text, final=True) == end
    assert found <= {-1, end}


def test_state_after_a_call_that_needs_more() -> None:
    extent = Extent(2)
    text = '  {"key": [1, "open'
    assert extent.scan(text) == -1
    assert (extent.depth, extent.string_start, extent.stopped) == (2, 14, -1)
    assert extent.position == len(text)


def test_delimiter_outside_a_string_stops() -> None:
    text = '{"a": [1, 2</tool_call> {"b": 1}'
    extent = Extent(0, delimiters=("</tool_call>", "```"))
    assert extent.scan(text, final=True) == -1
    assert extent.stopped == text.index("<")
    assert extent.scan(text + "}}}}", final=True) == -1


def test_delimiter_split_over_chunks_is_not_passed() -> None:
    extent = Extent(0, delimiters=("</tool_call>",))
    assert extent.scan('{"a": 1</tool') == -1
    assert (extent.stopped, extent.position) == (-1, 7)
    assert extent.scan('{"a": 1</tool_call>') == -1
    assert extent.stopped == 7


def test_half_a_delimiter_at_the_end_is_text() -> None:
    extent = Extent(0, delimiters=("</tool_call>",))
    assert extent.scan('{"a": 1</tool', final=True) == -1
    assert (extent.stopped, extent.position) == (-1, 13)
    other = Extent(0, delimiters=("</tool_call>",))
    assert other.scan("{</to}") == 6


def test_delimiter_that_begins_with_a_bracket() -> None:
    extent = Extent(0, delimiters=("[/TOOL_CALL]",))
    assert extent.scan("{[[/TOOL_CALL]") == -1
    assert extent.stopped == 2


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
).filter(lambda value: isinstance(value, list | dict))


@given(json_values, st.booleans(), st.text(), st.lists(st.integers(0, 60), max_size=6))
def test_json_ends_where_it_ends(value: Any, ascii_only: bool, tail: str, cuts: list[int]) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    text = written + tail
    extent = Extent(0, delimiters=("</x>",))
    for cut in sorted(cuts):
        extent.scan(text[:cut])
    assert extent.scan(text, final=True) == len(written)


@given(st.text(alphabet="{}[]()\"'\\</#*\n x", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_any_text_cut_anywhere_gives_one_answer(text: str, cuts: list[int]) -> None:
    def made() -> Extent:
        return Extent(0, quotes="\"'", delimiters=("</x", "x>"), comments=True, triple=True)

    whole, pieces = made(), made()
    end = whole.scan(text, final=True)
    for cut in sorted(cuts):
        pieces.scan(text[:cut])
    assert pieces.scan(text, final=True) == end
    assert pieces.stopped == whole.stopped
    assert (pieces.depth, pieces.string_start) == (whole.depth, whole.string_start)
