"""Small questions to one model that tell what its endpoint can do, in every output mode.

One request a question, eight at most, each of some ten tokens and a short answer; those about tools are left out where tools
were refused. A question is asked so that only the thing in question gives the wanted answer: the forced tool has nothing to do
with the prompt, a schema is sent without a word about it. Nothing is taken for a fact that one reply does not show: a model
that makes one call where two were asked for may take parallel calls for all we know.
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

_ROOM = 1024
"""Tokens an answer may have: a model that thinks first needs them."""
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
    """What one reply shows. `facts`: capability -> does it have it."""

    verdict: Verdict
    detail: str
    facts: dict[str, bool] = field(default_factory=dict[str, bool])


@dataclass(frozen=True, slots=True)
class _Question:
    """One request. `capability`: what a refusal of it refuses, None where nothing can be learnt from one."""

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
    """The answer to one question of a probe: does it hold (`verdict`), what came in words (`detail`), what that teaches (`facts`,
    by capability), and what it cost. `asked` False = not asked, for an earlier answer decides it; `answered` False = no reply
    came, but an error."""

    question: str
    verdict: Verdict
    detail: str
    facts: dict[str, bool]
    usage: Usage = field(default_factory=Usage)
    asked: bool = True
    answered: bool = True


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a probe found out about one model at one place. `findings`: the answers, in the order of the questions.

    `facts` is what they teach, by capability; `record(orchestrator.capabilities)` lets the runs that share the store go by it.
    `modes`: the output modes in which the model makes calls or gives JSON, as asked for. `requests` and `usage`: what it took.
    """

    config: ModelConfig
    """The model's settings, at the deployment that was asked."""
    findings: tuple[ProbeFinding, ...]

    @property
    def facts(self) -> dict[str, bool]:
        """What is learnt, by capability."""
        merged: dict[str, bool] = {}
        for finding in self.findings:
            merged |= finding.facts
        by_name = {finding.question: finding for finding in self.findings}
        words = all(by_name[name].verdict != "yes" and by_name[name].answered for name in ("native tools", "forced tool"))
        if not {"native_tools", "emits_text_calls"} & merged.keys() and words and by_name["calls as text"].verdict == "yes":
            merged["native_tools"] = False  # it calls tools when they are taught, and never saw the others
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
        """Enter what was learnt."""
        for capability, holds in self.facts.items():
            (store.record_success if holds else store.record_failure)(self.config.endpoint, capability)


async def probe(config: ModelConfig, catalog: Catalog, *, timeout: float | None = None) -> ProbeReport:
    """Ask the model, at its one place. `timeout`: seconds for each question, in place of the model's own.

    Raises the error of the first question, which is a plain one: then nothing can be found out. Raises `CallerError`s.
    """
    asked = config if timeout is None else config.model_copy(update={"timeout": timeout})
    findings: list[ProbeFinding] = []
    for question in _QUESTIONS:
        findings.append(_decided(question, findings) or await _ask(asked, catalog, question, is_first=not findings))
    return ProbeReport(config, tuple(findings))


def _decided(question: _Question, findings: Sequence[ProbeFinding]) -> ProbeFinding | None:
    """What earlier answers say about a question: nothing native works where native tools are refused."""
    refused = any(finding.facts.get("native_tools") is False for finding in findings)
    if refused and question.mode == "native_tools" and question.tools:
        return ProbeFinding(question.name, "no", "tools are refused", {}, asked=False, answered=False)
    return None


async def _ask(config: ModelConfig, catalog: Catalog, question: _Question, *, is_first: bool) -> ProbeFinding:
    can = _untold(catalog.can(config))
    call = ModelCall(
        endpoint=config.endpoint,
        request=Request.model_validate(
            {"messages": question.prompt, "tools": question.tools, "tool_choice": question.tool_choice, "max_tokens": _ROOM}
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
        await sending.out(silently)
    except CallerError:
        raise
    except LLMCoreError as error:
        if is_first:
            raise
        return _failed(question, error)
    answer = question.judge(sending.envelope or Envelope())
    return ProbeFinding(question.name, answer.verdict, answer.detail, answer.facts, sending.usage or Usage())


def _untold(can: Capabilities) -> Capabilities:
    """Yes and no forgotten, so that all is asked; a schema is asked for by the provider's own parameter."""
    return can.model_copy(update={**dict.fromkeys(LEARNABLE), "json_schema": True})


def _failed(question: _Question, error: LLMCoreError) -> ProbeFinding:
    """A question that ended in an error: refused, or not answered at all."""
    text = " ".join(str(error).split())
    words = clipped_words(error.facts.words or text, _MAX_WORDS)  # the place and the status are the table's own
    refused = isinstance(error, CapabilityRefused) or refuses_as_it_is(error.status)
    if not refused:
        return ProbeFinding(question.name, "unknown", f"{type(error).__name__}: {words}", {}, answered=False)
    capability = question.capability
    if isinstance(error, CapabilityRefused) and question.tools and "native_tools" in error.capabilities:
        capability = "native_tools"
    return ProbeFinding(question.name, "no", f"refused: {words}", {capability: False} if capability else {}, answered=False)


# What a reply shows


def _says_anything(reply: Envelope) -> _Answer:
    return _Answer("yes", _shown(reply)) if reply.content.strip() else _Answer("unknown", _shown(reply))


def _calls(reply: Envelope) -> _Answer:
    if any(call.dialect == "native" for call in reply.tool_calls):
        return _Answer("yes", _shown(reply), {"native_tools": True, "emits_text_calls": False})
    if reply.tool_calls:
        return _Answer("no", f"writes the call as text ({reply.tool_calls[0].dialect})", {"emits_text_calls": True})
    return _Answer("unknown", f"no call: {_shown(reply)}")


def _calls_when_forced(reply: Envelope) -> _Answer:
    if any(call.dialect == "native" for call in reply.tool_calls):
        return _Answer("yes", _shown(reply), {"native_tools": True, "tool_choice_required": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"tool_choice_required": False})


def _calls_the_one_named(reply: Envelope) -> _Answer:
    native = [call.name for call in reply.tool_calls if call.dialect == "native"]
    if native and set(native) == {_MAYOR.name}:
        return _Answer("yes", _shown(reply), {"tool_choice_named": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"tool_choice_named": False})


def _calls_twice(reply: Envelope) -> _Answer:
    count = sum(call.dialect == "native" for call in reply.tool_calls)
    if count > 1:
        return _Answer("yes", f"{count} calls in one reply", {"parallel_tools": True})
    return _Answer("unknown", "one call in the reply" if count else f"no native call: {_shown(reply)}")


def _fits(reply: Envelope) -> _Answer:
    try:
        parse_detailed(reply.content, _CAPITAL, strictness="off")
        json.loads(reply.content)
    except (OutputParseError, ValueError):
        return _Answer("no", f"ignored: {_shown(reply)}", {"json_schema": False})
    return _Answer("yes", _shown(reply), {"json_schema": True})


def _is_json(reply: Envelope) -> _Answer:
    try:
        is_one: object = is_object(json.loads(reply.content))
    except ValueError:
        is_one = False
    if is_one:
        return _Answer("yes", _shown(reply), {"json_object": True})
    return _Answer("no", f"ignored: {_shown(reply)}", {"json_object": False})


def _writes_a_call(reply: Envelope) -> _Answer:
    if reply.tool_calls:
        return _Answer("yes", f"{_shown(reply)} ({reply.tool_calls[0].dialect})")
    return _Answer("no", f"no call: {_shown(reply)}")


def _shown(reply: Envelope) -> str:
    """The calls of a reply, or the beginning of what it says."""
    if reply.tool_calls:
        return ", ".join(f"{call.name}({clipped_words(call.raw_arguments, 80)})" for call in reply.tool_calls[:3])
    said = " ".join(reply.content.split())
    return clipped_words(said, _MAX_WORDS) or ("only reasoning came" if reply.reasoning else "an empty reply")


_HELLO = "Say hello."
_PARIS = "What time is it in Paris? Find out with the tool."
_BOTH = "What time is it in Paris, and what time in Rome? Find out both with the tool, by two calls in one go."
_CITY = "Tell me about the capital of France in one sentence."

_QUESTIONS: tuple[_Question, ...] = (
    _Question("plain text", None, "text", _HELLO, _says_anything),
    _Question("native tools", "native_tools", "native_tools", _PARIS, _calls, (_TIME,)),
    _Question("forced tool", "tool_choice_required", "native_tools", _HELLO, _calls_when_forced, (_TIME,), "required"),
    _Question(
        "named tool", "tool_choice_named", "native_tools", _PARIS, _calls_the_one_named, (_TIME, _MAYOR), {"name": _MAYOR.name}
    ),
    _Question("parallel calls", None, "native_tools", _BOTH, _calls_twice, (_TIME,)),
    _Question("JSON schema", "json_schema", "native_tools", _CITY, _fits, output_schema=_CAPITAL),
    _Question("JSON mode", "json_object", "json_object", _CITY, _is_json, output_schema=_CAPITAL),
    _Question("calls as text", None, "text", _PARIS, _writes_a_call, (_TIME,)),
)
