"""A closer that a call lacks is told of: by the repair `closer_missing`, or, where arguments end with it, by a call that is not whole.

Tried for every row, with the text's end in its place and with words; and for each closer within a call, where one stands behind it.
"""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet

from .helpers import TOOLS, read_every_way, tool

_CALLS = [("get_weather", {"city": "Paris", "days": 3})]
_SECTION = "the last closer is the one of a section: each call in it has its own, and is told when that has come"
_TURN = "the closer ends the turn, and servers cut it off"
_FENCE = "a fence ends with the text, as Markdown has it; with words in the place of its end it is an example"
_TOLD_OTHERWISE = {
    **dict.fromkeys(("kimi_k2", "kimi_no_argument_marker", "deepseek_v3", "deepseek_v31", "plamo3", "step3"), _SECTION),
    **dict.fromkeys(("qwen3_coder", "mimo", "seed_oss", "minimax_m2", "minimax_m3", "dots", "anthropic_legacy"), _SECTION),
    **dict.fromkeys(("dsml_v32", "dsml_v4", "dsml_v41", "gcml", "anthropic_function_calls"), _SECTION),
    **dict.fromkeys(("hunyuan_v3", "hunyuan_v4", "k2_horizon"), _SECTION),
    **dict.fromkeys(("harmony", "atem", "kimi_k3", "inkling"), _TURN),
    **dict.fromkeys(("tool_code", "fenced_calls", "fenced_json", "fenced_function_call", "labelled_block"), _FENCE),
    "labelled_lines": "it has none: lines, to the end of the text",
    "llmcore_envelope": "what is cut off stands behind its calls",
}
_LAST = re.compile(
    r"(?:(?<=[}\n])(?:<<|[^\s\w{}<])[^\s{}<]*\w[^\s{}<]*|</[^<>]*>|(?<=})>|<[^<>\s]*>|\[/?[A-Z_]+\]|```|[\])}]+)\Z"
)
_CLOSER = re.compile(r"</[^<>\s]+>|<\|[^<>]*end[^<>]*\|>|<end_\w+>|<｜[^<>]*end｜>|(?<=\n)```(?!\w)")
_WORDS = "\n\nThat is all."


def _written(dialect: str) -> str:
    return DIALECTS[dialect].write(_CALLS).rstrip()


def _is_told(envelope: Envelope) -> bool:
    told = [
        any(repair.kind == "closer_missing" for repair in call.repairs) or not call.complete or call.arguments is None
        for call in envelope.tool_calls
    ]
    return all(told) and bool(told or envelope.content or envelope.truncated)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_missing_closer_is_told(name: str) -> None:
    written = _written(name)
    last = _LAST.search(written)
    assert last is not None or name in _TOLD_OTHERWISE
    if last is None:
        return
    cut = written[: last.start()].rstrip()
    told = [_is_told(read_every_way(cut + behind, chunkings=2)) for behind in ("", _WORDS)]
    assert all(told) != (name in _TOLD_OTHERWISE), (cut, told)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_missing_closer_within_a_call_is_told(name: str) -> None:
    written = _written(name)
    inner = [found for found in _CLOSER.finditer(written) if "begin" not in found[0]]
    sections = 2 if name == "step3" else 1
    for closer in inner[: len(inner) - (sections if name in _TOLD_OTHERWISE else 0)]:
        if closer.end() == len(written):
            continue
        envelope = normalize(written[: closer.start()] + written[closer.end() :], TOOLS)
        told = {repair.kind for call in envelope.tool_calls for repair in call.repairs}
        assert told & {"closer_missing", "text_dropped"} or not envelope.tool_calls, (name, closer[0])


@pytest.mark.parametrize("name", DIALECTS)
def test_nothing_is_missing_in_what_the_row_writes(name: str) -> None:
    envelope = normalize(DIALECTS[name].write(_CALLS), TOOLS)
    assert [repair.kind for call in envelope.tool_calls for repair in call.repairs if repair.kind == "closer_missing"] == []


def test_a_sound_json_value_may_speak_of_a_call_whose_closer_is_missing() -> None:
    tools = ToolSet([tool("save_note", ["text"], text="string"), tool("ping")])
    said = '<tool_call>{"name": "save_note", "arguments": {"text": "<tool_call>{\\"name\\": \\"ping\\""}}'
    (call,) = read_every_way(said, tools).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("closer_missing", "lossless")]


_CLOSER_OF_VALUE = {
    **dict.fromkeys(("dsml_v4", "minimax_m2"), re.compile(r"</(?:｜DSML｜)?parameter>")),
    "beam": re.compile(r"</rfl:parameter>"),
    "kimi_k3": re.compile(r"<\|close\|>argument<\|sep\|>"),
    "qwen3_coder": re.compile(r"</parameter>"),
    "glm47": re.compile(r"</arg_value>"),
}
_LAST_IS_LOSSLESS = ("qwen3_coder", "glm47")
_FIRST_IS_GUESS = ("dsml_v4", "minimax_m2")


@pytest.mark.parametrize("name", _CLOSER_OF_VALUE)
def test_only_in_some_dialects_does_the_end_of_the_call_close_a_value_without_doubt(name: str) -> None:
    """The next parameter shows where a value ends. A closer of the call shows it only in the dialects that write calls so."""
    written = DIALECTS[name].write(_CALLS)
    first, last = [*_CLOSER_OF_VALUE[name].finditer(written)]
    for closer, is_guess in ((first, name in _FIRST_IS_GUESS), (last, name not in _LAST_IS_LOSSLESS)):
        (call,) = read_every_way(written[: closer.start()] + written[closer.end() :]).tool_calls
        assert call.complete
        safeties = {repair.safety for repair in call.repairs if repair.kind == "closer_missing"}
        assert safeties == {"guess" if is_guess else "lossless"}, (closer[0], call.repairs)
