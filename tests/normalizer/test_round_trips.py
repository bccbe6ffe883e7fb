"""What a dialect's writer writes, the engine reads back: for every row of the registry (P3).

Arguments hold the delimiters of all dialects, quotes, line breaks and emoji, within what the dialect can carry: a value that is
untyped text takes its type from the tool's schema and has no escape, so it may not hold its own closer, a whole next opener or
the closer of its call; white space at its edges is layout.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore.normalizer.core.damage.placeholders import holds_placeholders, is_placeholder_value
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.tools import ToolSet

from .helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("write_file", ["path", "text"], path="string", text="string", mode="integer", force="boolean"),
        tool("search-web", query="string", ratio="number", tags={"type": "array"}, filters={"type": "object"}),
        tool("ping"),
    ]
)

_DELIMITERS = sorted(
    {opener for row in DIALECTS.values() for marker in row.markers for opener in marker.openers}
    | {
        "</tool_call>", "</parameter>", "</invoke>", "</function>", "<|call|>", "<|end|>", "</arg_value>", "[ARGS]", "```", "</think>",
        "<|tool_call_end|>", "<tool_call|>", '<|"|>', "<escape>", "]<]minimax[>[", "<|close|>", "<|sep|>", "<｜tool▁call▁end｜>", "<",
        ">", "{", "}", "[", "]", "(", ")", '"', "'", "\\", "\n", "\t", ",", ":", "=", "`", "&", "&amp;", "\U0001f326", "é", "--x", "None",
        "{}", "...", "true", "42", "\\n", "//", "#", "$", "日本",
    }
)  # fmt: skip

_TEXT = st.lists(st.sampled_from(_DELIMITERS) | st.text("ab 1.\n", max_size=4), min_size=1, max_size=6).map("".join)
_SCALAR = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(-1e6, 1e6) | _TEXT
_JSON = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b c", "key"]), inner, max_size=3),
    max_leaves=6,
)

_WRITE = st.fixed_dictionaries({"path": _TEXT, "text": _TEXT}, optional={"mode": st.integers(0, 999), "force": st.booleans()})
_SEARCH = st.fixed_dictionaries(
    {},
    optional={
        "query": _TEXT,
        "ratio": st.floats(-1e6, 1e6),
        "tags": st.lists(_JSON, max_size=3),
        "filters": st.dictionaries(st.sampled_from(["a", "b"]), _JSON, max_size=2),
    },
)
_Call = tuple[str, dict[str, Any]]
_CALL: st.SearchStrategy[_Call] = st.one_of(
    st.tuples(st.just("write_file"), _WRITE),
    st.tuples(st.just("search-web"), _SEARCH),
    st.tuples(st.just("ping"), st.builds(dict[str, Any])),
)


def _held_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if is_object(value):
        return [text for key, item in value.items() for text in (key, *_held_in(item))]
    return [text for item in value for text in _held_in(item)] if is_list(value) else []


_TAG_LIKE = re.compile(
    r"</?[^\s<>]*(?:param|invoke|function|tool|call|arg|calls|rfl|city)[^<>]*>?|<\|(?:open|close|call|end|return|eot|eom|im_end|start)"
)

_UNCARRIED: dict[str, re.Pattern[str]] = {
    "functiongemma": re.compile(r"<escape>"),
    "gemma4": re.compile(r'<\|"\|>'),
    "minimax_m3": re.compile(re.escape("]<]minimax[>[")),
    "kimi_k3": re.compile(r"<\|(?:open|close)\|>"),
    "minicpm5": re.compile(r"\]\]>"),
    "labelled_block": re.compile("```|END_ARG|BEGIN_ARG"),
}
"""What a text in a dialect without escapes cannot hold."""

_READ_AS_BARE = frozenset({"fenced_function_call", "tool_code"})
"""A marker, with a bare form inside: a placeholder makes an example of it."""


_EXAMPLES = max(12, settings.default.max_examples // 10) if settings.default is not None else 12


def _markup_holds(given: dict[str, Any]) -> bool:
    """Nested elements under a schema that says nothing of their inside are texts."""
    inside = [*given.get("tags", ()), *given.get("filters", {}).values()]
    return all(isinstance(item, str) and item.strip() for item in inside)


def _carries(row: Dialect, calls: list[_Call]) -> bool:
    texts = [text for _, given in calls for text in _held_in(given)]
    pattern = _UNCARRIED.get(row.name) or (_TAG_LIKE if row.typed_by_schema else None)
    if pattern is not None and any(pattern.search(text) for text in texts):
        return False
    shown = any(map(is_placeholder_value, texts)) or any(holds_placeholders(given) for _, given in calls)
    if (row.trust == "bare" or row.name in _READ_AS_BARE) and shown:
        return False
    if row.name == "minimax_m3" and not all(_markup_holds(given) for _, given in calls):
        return False
    layout = row.typed_by_schema and row.name != "kimi_k3"
    return not layout or not any(text != text.strip() for text in texts)


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(data=st.data())
@settings(max_examples=_EXAMPLES)
def test_what_is_written_is_read(name: str, data: st.DataObject) -> None:
    row = DIALECTS[name]
    calls = data.draw(st.lists(_CALL, min_size=1, max_size=1 if row.single else 3).filter(lambda drawn: _carries(row, drawn)))
    write = data.draw(st.sampled_from([row.write, *row.also]))
    envelope = read_every_way(write(calls), _TOOLS, chunkings=1)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == calls
    assert all(call.complete and call.known for call in envelope.tool_calls)
    assert not envelope.reasoning
