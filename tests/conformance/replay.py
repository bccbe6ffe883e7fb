"""Replays the fixtures of `canitoolcall` through llmcore and judges them by the suite's own checks.

- The fixtures and the checks are imported from the package. No fixture is copied.
- llmcore gets what a server knows: the tools, the finish reason, and whether the prompt opened the reasoning. It gets the dialects
  of the family only if `dialects_given`.
- Each fixture is read whole by `normalize`, and by `Normalizer` in one piece, one character at a time and in five random cuts. The
  suite's seeded strategies make the cuts.
- A stream's result is what its events add up to. A `Reclassified` corrects events; after one, the envelope counts.
- A call counts if it is complete and its arguments were read.

The package is imported when a function needs it, so that this module can be imported without it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from llmcore import Envelope, Normalizer, ReasoningDelta, Reclassified, TextDelta, ToolCall, ToolCallFinished, ToolSet, normalize

__all__ = [
    "CUTS",
    "DIALECTS_OF",
    "INSTALLED",
    "MISSING",
    "Case",
    "fixtures",
    "prompt_opened_reasoning",
    "replay",
    "suite_version",
]

INSTALLED = find_spec("canitoolcall") is not None
MISSING = "canitoolcall is not installed: pip install canitoolcall==0.1.1 (it is in the group `dev`)"

CUTS = ("one", "char:0", *(f"char:{seed}" for seed in range(1, 6)))
"""Names of the suite's strategies: one piece, single characters, and pieces of 1 to 8 characters by five seeds."""

DIALECTS_OF: dict[str, tuple[str, ...]] = {
    "deepseek": ("deepseek_v3", "deepseek_v31", "dsml_v32", "dsml_v4", "dsml_v41"),
    "gemma4": ("gemma4",),
    "glm": ("glm45", "glm47"),
    "gpt-oss": ("harmony",),
    "kimi": ("kimi_k2", "kimi_k3"),
    "llama": ("llama3_json", "bare_json", "pythonic", "llama4_pythonic"),
    "mistral": ("mistral_array", "mistral_v11"),
    "qwen3-hermes": ("hermes",),
    "qwen3-xml": ("qwen3_coder",),
}
"""The suite's families and the dialects that their models write."""

_REASONING_OPENERS = ("<think>", "<|open|>think<|sep|>", "<|channel>thought")
"""How a prompt ends that opens the reasoning."""


@dataclass(frozen=True)
class Case:
    """One fixture's outcome. `status` is the suite's word for the worst check of any cut: pass, soft_pass, fail or error."""

    id: str
    family: str
    status: str
    faults: tuple[str, ...]
    """The checks that did not pass: check, cut, status and the suite's detail."""


def _suite(module: str) -> Any:
    """A module of the package. Raises `ModuleNotFoundError` if the package is missing."""
    return import_module(f"canitoolcall.{module}")


def suite_version() -> str:
    return version("canitoolcall")


@cache
def fixtures() -> dict[str, Any]:
    """All fixtures of the package by their ids; none if the package is missing."""
    return {fixture.id: fixture for fixture in _suite("fixtures").load_fixtures()} if INSTALLED else {}


@cache
def _families() -> dict[str, Any]:
    families: dict[str, Any] = _suite("fixtures").load_families()
    return families


def prompt_opened_reasoning(fixture: Any) -> bool:
    """Whether the prompt ended within the reasoning. A fixture without a prompt has that of its model."""
    prompt = fixture.generation_prompt
    if prompt is None:
        model = _families()[fixture.family].reference_for(fixture.reference_model)
        prompt = model.default_generation_prompt if model is not None else None
    return (prompt or "").rstrip().endswith(_REASONING_OPENERS)


def replay(fixture: Any, *, dialects_given: bool = False) -> Case:
    """Read one fixture in every cut and judge it."""
    settings: dict[str, Any] = {"reasoning_open": prompt_opened_reasoning(fixture)}
    if dialects_given:
        settings["dialects"] = DIALECTS_OF[fixture.family]
    tools = ToolSet([dict(tool) for tool in fixture.tools])
    finish_reason = "length" if fixture.truncated else "stop"
    whole = _result(normalize(fixture.raw_output, tools, finish_reason=finish_reason, **settings))
    chunking = _suite("chunking")
    streams: dict[str, Any] = {}
    for cut in CUTS:
        pieces = chunking.split_text(fixture.raw_output, chunking.ChunkStrategy.parse(cut))
        streams[cut] = _streamed(pieces, Normalizer(tools, **settings), finish_reason)
    observation = _suite("results").Observation(nonstream=whole, streams=streams)
    rows = _suite("checks").run_checks(fixture, _families()[fixture.family], observation)
    faults = tuple(f"{row.check} {row.strategy} {row.status.value}: {row.detail}" for row in rows if row.status.value != "pass")
    return Case(fixture.id, fixture.family, _suite("results").worst_status(row.status for row in rows).value, faults)


def _result(envelope: Envelope) -> Any:
    return _parse_result(envelope.content, envelope.reasoning, envelope.tool_calls)


def _streamed(pieces: Sequence[str], normalizer: Normalizer, finish_reason: str) -> Any:
    """What the events of the stream add up to."""
    text, reasoning = "", ""
    calls: list[ToolCall] = []
    events = [event for piece in pieces for event in normalizer.feed(piece)]
    for event in (*events, *normalizer.finish(finish_reason)):
        match event:
            case TextDelta():
                text += event.text
            case ReasoningDelta():
                reasoning += event.text
            case ToolCallFinished():
                calls.append(event.call)
            case Reclassified():
                return _result(normalizer.envelope)
            case _:
                pass
    return _parse_result(text, reasoning, calls)


def _parse_result(content: str, reasoning: str, calls: Sequence[ToolCall]) -> Any:
    results = _suite("results")
    executed = [call for call in calls if call.complete and call.arguments is not None]
    parsed = [results.ParsedToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in executed]
    return results.ParseResult(content or None, reasoning or None, tuple(parsed))
