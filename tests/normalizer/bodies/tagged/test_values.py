"""What stands in a value is a part of it: closers, openers and whole calls, of every row and in every row.

A value that holds its own closer, or its whole dialect, may not be readable; then the call is one that no one runs unasked.
"""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("file_report", ["ship", "text"], ship="string", text="string"),
        tool("seal", ["berth"], berth="string"),
        tool("ping"),
    ]
)
_CALLS = {name: row.write([("seal", {"berth": "North"})]) for name, row in DIALECTS.items()}
_CLOSERS = sorted(
    {closer for text in _CALLS.values() for closer in re.findall(r"</[^<>\s]{1,40}>|<[|｜][^<>\s]{1,40}[|｜]>|\[/\w+\]", text)}
)
_SAME_DIALECT = {
    "functiongemma": {"functiongemma"},
    "gemma4": {"gemma4"},
    "minicpm5": {"minicpm5"},
}
"""Nothing in these dialects tells the end of a call in a value from the value's."""


def _is_sound(call: ToolCall) -> bool:
    return call.complete and call.arguments is not None and all(r.safety in ("lossless", "coerced") for r in call.repairs)


def _written(name: str, value: str) -> tuple[str, dict[str, str]]:
    given = {"ship": "Ida", "text": value}
    return DIALECTS[name].write([("file_report", given)]), given


def _check(found: Envelope, given: dict[str, str], *, alone: bool = True) -> None:
    first, *more = found.tool_calls
    if first.arguments != given:
        assert not _is_sound(first), f"a cut value runs: {first.arguments}"
    else:
        assert not more
    if alone:
        assert not any(map(_is_sound, more)), "a call in a value runs"


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_closer_in_a_value_does_not_end_it(name: str) -> None:
    for closer in _CLOSERS:
        for value in (f"see {closer} here", f"see\n{closer}\nhere"):
            text, given = _written(name, value)
            found = normalize(text, _TOOLS)
            _check(found, given)
            own = closer in text.replace(value, "").replace(" ", "")
            assert own or found.tool_calls[0].arguments == given, f"{closer} cuts a value of {name}"


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_in_a_value_is_not_run(name: str) -> None:
    for inner, call in _CALLS.items():
        text, given = _written(name, f"see {call} here")
        _check(normalize(text, _TOOLS), given, alone=inner not in _SAME_DIALECT.get(name, ()))


_TAGGED = sorted(name for name, row in DIALECTS.items() if row.typed_by_schema)


@pytest.mark.parametrize("name", _TAGGED)
@pytest.mark.parametrize(
    "inside", ["</tool_call>", "</function>", "</invoke>", "</file_report>", _CALLS["qwen3_coder"], _CALLS["glm45"]]
)
def test_values_that_speak_of_calls_stream(name: str, inside: str) -> None:
    text, given = _written(name, f"see {inside} here")
    _check(read_every_way(text, _TOOLS, chunkings=1), given)


_MISSING = [
    ("<tool_call>\n<function=seal>\n<parameter=berth>\n{}\n</function>\n</tool_call>", "</function>"),
    ('<invoke name="seal">\n<parameter name="berth">{}</invoke>', "</invoke>"),
    ("<tool_call>seal\n<arg_key>berth</arg_key>\n<arg_value>{}\n</tool_call>", "</tool_call>"),
]


@pytest.mark.parametrize(("form", "closer"), _MISSING)
@pytest.mark.parametrize("behind", ["", "\nIt is sealed.", "\n{}"])
def test_a_value_without_its_closer_ends_at_the_calls(form: str, closer: str, behind: str) -> None:
    text = form.format("North") + behind.replace("{}", form.format("South"))
    found = read_every_way(text, _TOOLS, chunkings=2)
    wanted = [{"berth": "North"}, {"berth": "South"}] if "{}" in behind else [{"berth": "North"}]
    assert [call.arguments for call in found.tool_calls] == wanted
    for call in found.tool_calls:
        safety = "guess" if "<invoke" in form else "lossless"
        assert [(repair.kind, repair.safety) for repair in call.repairs] == [("closer_missing", safety)]


@pytest.mark.parametrize("foreign", ["</minimax:tool_call>", "</function_calls>"])
def test_a_value_without_its_closer_that_speaks_of_others_is_no_sound_one(foreign: str) -> None:
    text = f'<invoke name="seal"><parameter name="berth">see {foreign} here</invoke>'
    _check(read_every_way(text, _TOOLS, chunkings=2), {"berth": f"see {foreign} here"})


def test_a_call_that_is_not_closed_behind_a_closer_in_its_value_is_a_guess() -> None:
    (call,) = read_every_way("<function=seal>\n<parameter=berth>\na </function> b\n</parameter>", _TOOLS).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("closer_missing", "guess")]
