"""Where a JSON body ends that is closed too early, or not at all."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("note", ["title"], title="string", text="string")])


@pytest.mark.parametrize("behind", [', "text": "b"}', '"text": "b"}', ",text: 1}"])
@pytest.mark.parametrize("opened", ["[TOOL_CALLS]note[ARGS]", "✿FUNCTION✿: note\n✿ARGS✿: "])
def test_an_object_closed_before_its_last_member_is_a_guess(opened: str, behind: str) -> None:
    envelope = read_every_way(f'{opened}{{"title": "a"}}{behind}', _TOOLS)
    (call,) = envelope.tool_calls
    assert (call.arguments, [(one.kind, one.safety) for one in call.repairs]) == ({"title": "a"}, [("extra_closer", "guess")])
    assert envelope.content == behind.strip()


@pytest.mark.parametrize("opened", ["<tool_call>", "[TOOL_CALLS][", "<|python_tag|>", ""])
def test_a_closer_of_another_form_ends_no_object_that_goes_on(opened: str) -> None:
    text = f'{opened}{{"name": "note", "arguments": {{"title": "a"</parameter>, "text": "b"}}}}'
    for call in read_every_way(text, _TOOLS).tool_calls:
        assert not call.complete or any(one.safety == "guess" for one in call.repairs)
