"""White space in closers is what models write; it is nothing, in every row that has closers."""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.tools import ToolSet

from .helpers import read_every_way, tool

_TOOLS = ToolSet([tool("move_shelf", ["shelf"], shelf="string", reason="string", steps="integer")])
_CALL = ("move_shelf", {"shelf": "Q-41 upper", "reason": "damp wall", "steps": 4})
_CLOSER = re.compile(r"</([^<>]+)>")
_WRITTEN = {name: row.write([_CALL]) for name, row in sorted(DIALECTS.items())}


@pytest.mark.parametrize("spaced", [r"</ \1>", r"</\1 >", r"</ \1 >"])
@pytest.mark.parametrize("name", [name for name, text in _WRITTEN.items() if _CLOSER.search(text)])
def test_white_space_in_closers_changes_nothing(name: str, spaced: str) -> None:
    envelope = read_every_way(_CLOSER.sub(spaced, _WRITTEN[name]), _TOOLS, chunkings=1)
    (call,) = envelope.tool_calls
    assert (call.name, call.arguments, call.complete) == (*_CALL, True)
    assert all(repair.safety == "lossless" for repair in call.repairs)
    assert not envelope.content
