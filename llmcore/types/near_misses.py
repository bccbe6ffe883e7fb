"""The reasons of near misses: why text in the form of a call is no call."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["NEAR_MISS_REASONS", "SHOWN", "near_miss_sentence"]

SHOWN = frozenset({"quoted", "example"})
"""The reasons of calls that a text only shows. The model is not asked about them, because it did not mean to call."""

NEAR_MISS_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "quoted": "It stands in a quotation, in code, or in an element that shows text.",
        "example": "The words or the fence around it show an example, a form or something not to be run.",
        "in_reasoning": "It stands in the reasoning, and nothing follows the reasoning.",
        "made_again": "It stands in an element with words, and the reply makes the same call behind it.",
        "outside_frame": "It stands outside of the frames that say what the reply calls.",
        "placeholder": "A value is a placeholder, as templates have it (`<your city>`, `...`).",
        "mid_line": "A form without markers stands in the middle of a line of prose.",
        "tools_not_told": "It has no marker, and which tools there are was not told.",
        "unknown_name": "It has no marker, and no tool has this name.",
        "unknown_parameter": "What it holds is no parameter of that tool.",
        "no_arguments": "It gives no arguments, or none that has a name.",
        "no_input": "An `Action:` has no `Action Input:` behind it.",
        "no_name": "It names no tool.",
        "no_call_object": "What stands between the markers is no call.",
        "no_calls": "A list of calls holds none.",
        "unreadable": "The arguments cannot be read.",
        "truncated": "The text ended before it was whole.",
        "definition": "It defines a tool: its parameters are a schema.",
        "built_in": "It is code for a built-in interpreter, and no such tool was offered.",
        "calls_limit": "The reply holds more calls than `Limits.calls` allows.",
        "text_limit": "The text is longer than `Limits.text` allows: this part was not searched.",
        "looks_limit": "So much of the text looks like the beginning of a call that the search was cut short.",
        "bare_call_beside_native": "It has no marker, and the reply makes other calls natively.",
        "failed_at_provider": "The provider could not read it as a call.",
    }
)
"""The meaning of each reason. A reason may have details after a colon (`failed_at_provider: 'its words'`)."""


def near_miss_sentence(reason: str) -> str:
    """The meaning of a reason with its details. An unknown reason is returned as it is."""
    code, _, details = reason.partition(": ")
    sentence = NEAR_MISS_REASONS.get(code)
    if sentence is None:
        return reason
    return f"{sentence[:-1]}: {details}" if details else sentence
