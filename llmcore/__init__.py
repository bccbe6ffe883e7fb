"""llmcore: tool calling and typed output that is reliable on any model.

This module is the public face and loads nothing until a name is asked for (PEP 562), so that `import llmcore` costs next to
nothing. What stands where: docs/architecture.md.
"""

from __future__ import annotations

import os as _os
from importlib import import_module as _import_module

TYPE_CHECKING = False  # checkers know it by its name; `typing` is not loaded for it

_ROOT = _os.path.dirname(_os.path.dirname(_os.path.realpath(__file__)))  # pathlib would be most of what the import costs
if all(_os.path.isfile(_os.path.join(_ROOT, file)) for file in ("pyproject.toml", "normalizer/__init__.py")):
    __path__.append(_ROOT)  # a source checkout: the four layers stand beside this package

if TYPE_CHECKING:
    from llmcore.about import BuildInfo as BuildInfo
    from llmcore.about import build_info as build_info
    from llmcore.adapters.capabilities import CapabilityStore as CapabilityStore
    from llmcore.agent import Agent as Agent
    from llmcore.api import Normalizer as Normalizer
    from llmcore.api import normalize as normalize
    from llmcore.api import validate as validate
    from llmcore.compaction import Compaction as Compaction
    from llmcore.hooks import Hooks as Hooks
    from llmcore.hooks import StreamedSoFar as StreamedSoFar
    from llmcore.hooks import Veto as Veto
    from llmcore.hooks import hook as hook
    from llmcore.models import ModelConfig as ModelConfig
    from llmcore.models import ModelRegistry as ModelRegistry
    from llmcore.orchestrator import Orchestrator as Orchestrator
    from llmcore.run import Answer as Answer
    from llmcore.run import Approve as Approve
    from llmcore.run import CallAnswer as CallAnswer
    from llmcore.run import Deny as Deny
    from llmcore.run import FileStore as FileStore
    from llmcore.run import Interjections as Interjections
    from llmcore.run import ObservedRun as ObservedRun
    from llmcore.run import Observer as Observer
    from llmcore.run import OpenCall as OpenCall
    from llmcore.run import RunResult as RunResult
    from llmcore.run import RunStore as RunStore
    from llmcore.run import RunStream as RunStream
    from llmcore.run import Step as Step
    from llmcore.run import Steps as Steps
    from llmcore.run import SyncRunStream as SyncRunStream
    from llmcore.run import ToolRetry as ToolRetry
    from llmcore.run import ToolStatistics as ToolStatistics
    from llmcore.run import ToolStats as ToolStats
    from llmcore.run import event_json as event_json
    from llmcore.run import record as record
    from llmcore.run.asking.probing import ProbeFinding as ProbeFinding
    from llmcore.run.asking.probing import ProbeReport as ProbeReport
    from llmcore.testing import FakeModel as FakeModel
    from llmcore.testing import ReplayAdapter as ReplayAdapter
    from llmcore.tools import RunContext as RunContext
    from llmcore.tools import Tool as Tool
    from llmcore.tools import ToolConfig as ToolConfig
    from llmcore.tools import ToolRegistry as ToolRegistry
    from llmcore.tools import ToolSet as ToolSet
    from llmcore.tools import current_tool_call_id as current_tool_call_id
    from llmcore.tools import tool as tool
    from llmcore.tools.results.outcome import Outcome as Outcome
    from llmcore.types import *  # noqa: F403  (the shared words; pinned by tests/test_public_surface.py)
    from llmcore.validator import ParseDetail as ParseDetail
    from llmcore.validator import Problem as Problem
    from llmcore.validator import ValidationReport as ValidationReport
    from llmcore.validator import json_schema as json_schema
    from llmcore.validator import parse as parse
    from llmcore.validator import parse_detailed as parse_detailed
    from llmcore.warming import warm_up as warm_up
    from llmcore.warming import warm_up_sync as warm_up_sync

__version__ = "0.1.0"

_NAMES_BY_MODULE = {
    "llmcore.about": "BuildInfo build_info",
    "llmcore.agent": "Agent",
    "llmcore.api": "Normalizer normalize validate",
    "llmcore.adapters.capabilities": "CapabilityStore",
    "llmcore.compaction": "Compaction",
    "llmcore.hooks": "Hooks StreamedSoFar Veto hook",
    "llmcore.models": "ModelConfig ModelRegistry",
    "llmcore.orchestrator": "Orchestrator",
    "llmcore.run": (
        "Answer Approve CallAnswer Deny FileStore Interjections ObservedRun Observer OpenCall RunResult RunStore RunStream Step "
        "Steps SyncRunStream ToolRetry ToolStatistics ToolStats event_json record"
    ),
    "llmcore.run.asking.probing": "ProbeFinding ProbeReport",
    "llmcore.testing": "FakeModel ReplayAdapter",
    "llmcore.tools": "RunContext Tool ToolConfig ToolRegistry ToolSet current_tool_call_id tool",
    "llmcore.tools.results.outcome": "Outcome",
    "llmcore.types": (
        "DEFAULT_LIMITS ArgumentsDelta Attempt AttemptFailed AttemptReason AttemptStarted AudioBlock AuthenticationFailed "
        "Block Budget CacheControl CallWriter CallerError CallsPending CapabilityRefused CompiledTool ConfigError "
        "ContextOverflow Envelope Event FallbackExhausted FileBlock FinishReason Finished ImageBlock InternalError "
        "JsonSchema LLMCoreError LimitExceeded Limits LocalBudget MaxToolTurns MediaBlock Message ModelError ModelNotFound "
        "NEAR_MISS_REASONS NearMiss NestedEvent NormalizerEvent OutputMode OutputParseError Overloaded PartialOutput "
        "ProviderBlock ProviderError QuotaExceeded RateLimited ReasoningDelta Reclassified RedactedThinkingBlock Refused "
        "RemoteServerError Repair Repaired Reply Request RequestRefused RequestTooLarge ResultBlock RetryConfig RetryTool "
        "Role Safety Segment SegmentKind SharedBudget TerminateLoop TextBlock TextDelta ThinkingBlock Timeout ToolCall "
        "ToolCallFinished "
        "ToolCallStarted ToolChoice ToolDefinition ToolDefinitionError ToolError ToolProgress ToolResult ToolResultBlock "
        "ToolStarted ToolUseBlock Truncated Usage Waiting "
        "definition_of"
    ),
    "llmcore.validator": "ParseDetail Problem ValidationReport json_schema parse parse_detailed",
    "llmcore.warming": "warm_up warm_up_sync",
}
_LAZY = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}

if not TYPE_CHECKING:  # a checker takes each name for one of a module that has `__getattr__`, and sees no computed `__all__`
    __all__ = sorted([*_LAZY, "__version__"])

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            value: object = getattr(_import_module(_LAZY[name]), name)
            globals()[name] = value  # asked once
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


del TYPE_CHECKING


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_LAZY})
