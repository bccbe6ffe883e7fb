"""Small questions to one model that show what its endpoint can do, in every output mode.

Each question is one request of some ten tokens with a short answer; there are eight at most. If tools are refused, the
questions about tools are skipped.

Only the tested feature can give the wanted answer: the forced tool has nothing to do with the prompt, and a schema is sent
without a word about it. A fact needs a reply that shows it: one call where two were asked for does not rule out parallel
calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.capabilities import LEARNABLE, CapabilityStore
from llmcore.adapters.litellm.errors.reading import refuses_as_it_is
from llmcore.compiling import compile_tools
from llmcore.hooks import HookChain
from llmcore.models import ModelConfig
from llmcore.run.asking.sending import Sending
from llmcore.run.endpoints.catalog import Catalog
from llmcore.run.endpoints.modes import taught_dialect, writer_for
from llmcore.support.code.emitter import silently
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.values.narrowing import is_object
from llmcore.types import (
    CallerError,
    CapabilityRefused,
    Envelope,
    JsonSchema,
    LLMCoreError,
    OutputMode,
    OutputParseError,
    Request,
    ToolChoice,
    ToolDefinition,
    Usage,
)
from llmcore.validator import parse_detailed

__all__ = ["ProbeFinding", "ProbeReport", "Verdict", "probe"]

Verdict = Literal["yes", "no", "unknown"]

_MAX_TOKENS = 1024
"""The tokens of an answer. Reasoning models need this many."""
_MAX_WORDS = 300


def _tool(name: str, description: str) -> ToolDefinition:
    city: JsonSchema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return ToolDefinition(name=name, description=description, parameters=city, read_only=True)


_TIME = _tool("get_time", "The time in a city.")
_MAYOR = _tool("get_mayor", "The mayor of a city.")
_CAPITAL: JsonSchema = {
    "type": "object",
    "properties": {"capital": {"type": "string"}, "letters": {"type": "integer"}},
    "required": ["capital", "letters"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one reply shows. `facts`: whether the endpoint has a capability, by its name."""

    verdict: Verdict
    detail: str
    facts: dict[str, bool] = field(default_factory=dict[str, bool])


@dataclass(frozen=True, slots=True)
class _Question:
    """One request. `capability`: the one that a refusal denies; None if a refusal teaches nothing."""

    name: str
    capability: str | None
    mode: OutputMode
    prompt: str
    judge: Callable[[Envelope], _Answer]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = "auto"
    output_schema: JsonSchema | None = None


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """The answer to one question of a probe.

    - `verdict`: whether the tested feature works.
    - `detail`: the reply or the error, in short.
    - `facts`: what the answer teaches, by capability.
    - `usage`: what the question cost.
    - `asked`: False if an earlier answer decided the question, so it was not sent.
    - `answered`: False if an error came instead of a reply.
    """

    question: str
    verdict: Verdict
    detail: str
    facts: dict[str, bool]
    usage: Usage = field(default_factory=Usage)
    asked: bool = True
    answered: bool = True


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a probe found out about one model at one deployment. `findings`: the answers, in the order of the questions.

    `facts` is what they teach, by capability. `record(orchestrator.capabilities)` lets the runs that share the store use it.
    `modes`: the output modes in which the model makes calls or gives JSON as asked. `requests` and `usage`: what the probe
    took.
    """

    config: ModelConfig
    """The model's settings at the deployment that was asked."""
    findings: tuple[ProbeFinding, ...]

    @property
    def facts(self) -> dict[str, bool]:
        """What the answers teach, by capability."""
        merged: dict[str, bool] = {}
        for finding in self.findings:
            merged |= finding.facts
        by_name = {finding.question: finding for finding in self.findings}
        words = all(by_name[name].verdict != "yes" and by_name[name].answered for name in ("native tools", "forced tool"))
        if not {"native_tools", "emits_text_calls"} & merged.keys() and words and by_name["calls as text"].verdict == "yes":
            merged["native_tools"] = False  # it calls taught tools, and ignores native ones
        return merged

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        facts = self.facts
        text = any(finding.question == "calls as text" and finding.verdict == "yes" for finding in self.findings)
        json_modes: tuple[OutputMode, ...] = ("native_tools", "json_schema", "json_object")
        return (*(mode for mode in json_modes if facts.get(mode)), *(("text",) if text else ()))

    @property
    def usage(self) -> Usage:
        return sum((finding.usage for finding in self.findings), Usage())

    @property
    def requests(self) -> int:
        return sum(finding.asked for finding in self.findings)

    def record(self, store: CapabilityStore) -> None:
        """Record the facts in the store."""
        for capability, holds in self.facts.items():
            (store.record_success if holds else store.record_failure)(self.config.endpoint, capability)


async def probe(config: ModelConfig, catalog: Catalog, *, timeout: float | None = None) -> ProbeReport:
    """Ask the model, at its one deployment. `timeout`: seconds for each question, in place of the model's own.

    Raises `CallerError`s. If the first question, a plain one, fails, raises its error: then nothing can be found out.
    """
    asked = config if timeout is None else config.model_copy(update={"timeout": timeout})
    findings: list[ProbeFinding] = []
    for question in _QUESTIONS:
        findings.append(_answer_known(question, findings) or await _ask(asked, catalog, question, is_first=not findings))
    return ProbeReport(config, tuple(findings))


def _answer_known(question: _Question, findings: Sequence[ProbeFinding]) -> ProbeFinding | None:
    """The finding of a question that earlier answers decide: if native tools are refused, nothing native works."""
    refused = any(finding.facts.get("native_tools") is False for finding in findings)
    if refused and question.mode == "native_tools" and question.tools:
        return ProbeFinding(question.name, "no", "tools are refused", {}, asked=False, answered=False)
    return None


async def _ask(config: ModelConfig, catalog: Catalog, question: _Question, *, is_first: bool) -> ProbeFinding:
    can = _without_facts(catalog.can(config))
    call = ModelCall(
        endpoint=config.endpoint,
        request=Request.model_validate(
            {"messages": question.prompt, "tools": question.tools, "tool_choice": question.tool_choice, "max_tokens": _MAX_TOKENS}
        ),
        mode=question.mode,
        tools=question.tools,
        output_schema=question.output_schema,
        capabilities=can,
        writer=None if question.mode == "native_tools" else writer_for(taught_dialect(can, config)),
        timeout=config.timeout,
        reason="first",
        detail=f"probe: {question.name}",
    )
    sending = Sending(
        catalog.adapter(config),
        call,
        compile_tools(question.tools),
        HookChain(None),
        lambda: config.timeout,
        listening=False,
        forced_tool=None,
        reasoning_open=config.reasoning_open,
    )
    try:
        await sending.ready()
        await sending.send(silently)
    except CallerError:
        raise
    except LLMCoreError as error:
        if is_first:
            raise
        return _failure_finding(question, error)
    answer = question.judge(sending.envelope or Envelope())
    return ProbeFinding(question.name, answer.verdict, answer.detail, answer.facts, sending.usage or Usage())


def _without_facts(can: Capabilities) -> Capabilities:
    """The capabilities without the learnable facts, so that every question is asked. A schema is sent in the provider's own
    parameter."""
    return can.model_copy(update={**dict.fromkeys(LEARNABLE), "json_schema": True})


def _failure_finding(question: _Question, error: LLMCoreError) -> ProbeFinding:
    """The finding of a question that was refused or failed."""
    text = " ".join(str(error).split())
    words = clipped_words(error.facts.words or text, _MAX_WORDS)  # without the model and the status, which the table shows
    refused = isinstance(error, CapabilityRefused) or refuses_as_it_is(error.status)
    if not refused:
        return ProbeFinding(question.name, "unknown", f"{type(error).__name__}: {words}", {}, answered=False)
    capability = question.capability
    if isinstance(error, CapabilityRefused) and question.tools and "native_tools" in error.capabilities:
        capability = "native_tools"
    return ProbeFinding(question.name, "no", f"refused: {words}", {capability: False} if capability else {}, answered=False)


# Judges of replies


def _judge_text(reply: Envelope) -> _Answer:
    return _Answer("yes", _shown(reply)) if reply.content.strip() else _Answer("unknown", _shown(reply))


def _judge_call(reply: Envelope) -> _Answer:
    if any(call.dialect == "native" for call in reply.tool_calls):
        return _Answer("yes", _shown(reply), {"native_tools": True, "emits_text_calls": False})
    if reply.tool_calls:
        return _Answer("no", f"writes the call as text ({reply.tool_calls[0].dialect})", {"emits_text_calls": True})
    return _Answer("unknown", f"no call: {_shown(reply)}")


def _judge_forced_call(reply: Envelope) -> _Answer:
    if any(call.dialect == "native" for call in reply.tool_calls):
        return _Answer("yes", _shown(reply), {"native_tools": True, "tool_choice_required": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"tool_choice_required": False})


def _judge_named_call(reply: Envelope) -> _Answer:
    native = [call.name for call in reply.tool_calls if call.dialect == "native"]
    if native and set(native) == {_MAYOR.name}:
        return _Answer("yes", _shown(reply), {"tool_choice_named": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"tool_choice_named": False})


def _judge_parallel_calls(reply: Envelope) -> _Answer:
    count = sum(call.dialect == "native" for call in reply.tool_calls)
    if count > 1:
        return _Answer("yes", f"{count} calls in one reply", {"parallel_tools": True})
    return _Answer("unknown", "one call in the reply" if count else f"no native call: {_shown(reply)}")


def _judge_schema(reply: Envelope) -> _Answer:
    try:
        parse_detailed(reply.content, _CAPITAL, strictness="off")
        json.loads(reply.content)
    except (OutputParseError, ValueError):
        return _Answer("no", f"ignored: {_shown(reply)}", {"json_schema": False})
    return _Answer("yes", _shown(reply), {"json_schema": True})


def _judge_json(reply: Envelope) -> _Answer:
    try:
        is_one: object = is_object(json.loads(reply.content))
    except ValueError:
        is_one = False
    if is_one:
        return _Answer("yes", _shown(reply), {"json_object": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"json_object": False})


def _judge_text_call(reply: Envelope) -> _Answer:
    if reply.tool_calls:
        return _Answer("yes", f"{_shown(reply)} ({reply.tool_calls[0].dialect})")
    return _Answer("no", f"no call: {_shown(reply)}")


def _shown(reply: Envelope) -> str:
    """The calls of a reply, or the beginning of its text."""
    if reply.tool_calls:
        return ", ".join(f"{call.name}({clipped_words(call.raw_arguments, 80)})" for call in reply.tool_calls[:3])
    text = " ".join(reply.content.split())
    return clipped_words(text, _MAX_WORDS) or ("only reasoning came" if reply.reasoning else "an empty reply")


_HELLO = "Say hello."
_PARIS = "What time is it in Paris? Find out with the tool."
_BOTH = "What time is it in Paris, and what time in Rome? Find out both with the tool, by two calls in one go."
_CITY = "Tell me about the capital of France in one sentence."

_QUESTIONS: tuple[_Question, ...] = (
    _Question("plain text", None, "text", _HELLO, _judge_text),
    _Question("native tools", "native_tools", "native_tools", _PARIS, _judge_call, (_TIME,)),
    _Question("forced tool", "tool_choice_required", "native_tools", _HELLO, _judge_forced_call, (_TIME,), "required"),
    _Question(
        "named tool", "tool_choice_named", "native_tools", _PARIS, _judge_named_call, (_TIME, _MAYOR), {"name": _MAYOR.name}
    ),
    _Question("parallel calls", None, "native_tools", _BOTH, _judge_parallel_calls, (_TIME,)),
    _Question("JSON schema", "json_schema", "native_tools", _CITY, _judge_schema, output_schema=_CAPITAL),
    _Question("JSON mode", "json_object", "json_object", _CITY, _judge_json, output_schema=_CAPITAL),
    _Question("calls as text", None, "text", _PARIS, _judge_text_call, (_TIME,)),
)
