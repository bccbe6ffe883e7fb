"""`<function=f>` with text where its parameters should stand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.normalizer.helpers import read_every_way


@pytest.mark.parametrize(
    ("text", "given", "kind"),
    [
        ("<function=read_file>a.md</function>", {"path": "a.md"}, "only_parameter"),
        ("<tool_call>\n<function=read_file>\na.md\n</function>\n</tool_call>", {"path": "a.md"}, "only_parameter"),
        ("<tool_call>\n<function=read_file>\na <b>.md\n</ function>\n</tool_call>", {"path": "a <b>.md"}, "only_parameter"),
        (
            "<tool_call><function=read_file>a.md <parameter=path>b.md</parameter></function></tool_call>",
            {"path": "b.md"},
            "text_dropped",
        ),
    ],
)
def test_text_in_place_of_parameters_is_a_guess(text: str, given: dict[str, Any], kind: str) -> None:
    envelope = read_every_way(text)
    (call,) = envelope.tool_calls
    assert (call.name, call.arguments, call.complete, envelope.content) == ("read_file", given, True, "")
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [(kind, "guess")]


@pytest.mark.parametrize(
    "text", ["<function=ping>now</function>", "<tool_call>\n<function=ping>\nnow\n</function>\n</tool_call>"]
)
def test_text_that_no_parameter_takes_is_a_near_miss(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert [(miss.name, miss.reason) for miss in envelope.near_misses] == [("ping", "unreadable")]


@pytest.mark.parametrize(
    "text",
    [
        "<function=nobody>a.md</function>",
        "Write <function=read_file> and the path, then say why.",
        "<function=read_file>a.md",
    ],
)
def test_other_text_is_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.near_misses, envelope.content) == ([], [], text)
