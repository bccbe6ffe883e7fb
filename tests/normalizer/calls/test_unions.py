"""Elements under a union of types: the array or object alternative decides, as far as a string could not be meant."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}
_OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "list": _LIST,
    "list?": {"anyOf": [_LIST, {"type": "null"}]},
    "list|str": {"anyOf": [{"type": "string"}, _LIST]},
    "object?": {"type": ["object", "null"]},
    "object|str": {"anyOf": [{"type": "string"}, _OBJECT]},
    "list|object": {"anyOf": [_LIST, _OBJECT]},
    "str?": {"type": ["string", "null"]},
    "str": {"type": "string"},
    "int?": {"type": ["integer", "null"]},
}


def value(kind: str, written: str, form: str = "<f><tags>{}</tags></f>") -> Any:
    tools = ToolSet([tool("f", tags=_SCHEMAS[kind])])
    calls = read_every_way(form.format(written), tools).tool_calls
    assert [call.complete for call in calls] == [True]
    return (calls[0].arguments or {})["tags"]


@pytest.mark.parametrize(
    ("kind", "empty"),
    [
        *(("list", []), ("list?", []), ("list|str", []), ("object?", {}), ("object|str", {}), ("list|object", {})),
        *(("str", ""), ("str?", ""), ("int?", "")),
    ],
)
def test_nothing_in_an_element(kind: str, empty: Any) -> None:
    assert value(kind, "") == empty


@pytest.mark.parametrize(("kind", "empty"), [("list?", []), ("object?", {}), ("list|str", ""), ("str?", "")])
def test_nothing_in_a_parameter_where_text_may_be_meant(kind: str, empty: Any) -> None:
    form = "<tool_call><function=f><parameter=tags>\n{}\n</parameter></function></tool_call>"
    assert value(kind, "", form) == empty


_ITEMS, _ONE, _OTHERS = "<item>1</item><item>2</item>", "<tag>1</tag>", "<a>1</a><b>x</b>"


@pytest.mark.parametrize(
    ("kind", "written", "read"),
    [
        ("list?", _ITEMS, [1, 2]),
        ("list|str", _ITEMS, [1, 2]),
        ("list|str", _ONE, [1]),
        ("list|str", "<p>1</p>", "<p>1</p>"),
        ("list|str", _OTHERS, _OTHERS),
        ("object|str", _OTHERS, {"a": 1, "b": "x"}),
        ("object|str", "<p>x</p>", "<p>x</p>"),
        ("list|object", _ITEMS, [1, 2]),
        ("list|object", _OTHERS, {"a": 1, "b": "x"}),
        ("list|object", "<a>1</a>", {"a": 1}),
        ("str", _ITEMS, _ITEMS),
        ("str?", _ITEMS, _ITEMS),
    ],
)
def test_children(kind: str, written: str, read: Any) -> None:
    assert value(kind, written) == read
