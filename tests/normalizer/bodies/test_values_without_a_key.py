"""A value that no key took makes a call a guess, or one whose arguments cannot be read: it is asked about, and never the answer."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [tool("seal", ["berth"], berth="string", days="integer"), tool("drain", ["tank", "note"], tank="string", note="string")]
)
_D = "｜DSML｜"
_DSML = f'<{_D}function_calls>\n<{_D}invoke name="seal">\n{{}}\n</{_D}invoke>\n</{_D}function_calls>'
_UNNAMED = f'<{_D}parameter string="true">North</{_D}parameter>'
_DAYS = f'<{_D}parameter name="days" string="false">3</{_D}parameter>'
_BERTH = f'<{_D}parameter name="berth" string="true">North</{_D}parameter>'


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (_DSML.format(_UNNAMED), None),
        (_DSML.format(f"<{_D}parameter>North</{_D}parameter>"), None),
        (_DSML.format(f"{_UNNAMED}\n{_DAYS}"), None),
        (_DSML.format(f"{_DAYS}\n{_UNNAMED}"), None),
        (_DSML.format(f"{_UNNAMED}\n{_BERTH}"), {"berth": "North"}),
        (_DSML.format(f"{_BERTH}\n{_UNNAMED}"), {"berth": "North"}),
        ('<invoke name="seal"><parameter string="true">North</parameter></invoke>', None),
        ("<seal>\n<berth>North</berth>\nfast\n</seal>", {"berth": "North"}),
        ("<seal>\n<berth>North</berth>\n<days>3</days> quick <b>x</b>\n</seal>", {"berth": "North", "days": 3}),
        ("<drain>\n<tank>7</tank>\nwet\n</drain>", None),
        ("<drain>\nwet\n<tank>7</tank>\n<note>n</note></drain>", {"tank": "7", "note": "n"}),
    ],
)
def test_it_is_asked_about(text: str, arguments: dict[str, Any] | None) -> None:
    envelope = read_every_way(text, _TOOLS)
    (call,) = envelope.tool_calls
    assert call.arguments == arguments
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("text_dropped", "guess")]
    assert envelope.content == ""


@pytest.mark.parametrize(
    "text", ["<details>\n<summary>Plan</summary>\nAll of it.\n</details>", "<details>All: <summary>Plan</summary></details>"]
)
def test_text_in_an_element_of_html_is_content(text: str) -> None:
    tools = ToolSet([tool("details", ["summary"], summary="string", more="string")])
    assert not read_every_way(text, tools).tool_calls
