"""The public surface of `llmcore`, pinned: what is added or taken away is seen here first.

CONTRACT is what other code relies on.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import llmcore
from llmcore import types
from llmcore.types import errors
from tests.packaging.tree import PUBLIC_NAMES, ROOT, pyproject

CONTRACT = """
    normalize Normalizer validate parse parse_detailed json_schema Orchestrator FakeModel ReplayAdapter tool Tool ToolSet ToolRegistry
    Agent Hooks ModelRegistry CapabilityStore Limits Budget RunResult RunContext ValidationReport
    Message TextBlock ImageBlock ToolUseBlock ToolResultBlock ThinkingBlock RedactedThinkingBlock ProviderBlock CacheControl
    Request Reply Envelope ToolCall Repair NearMiss Usage Attempt ToolDefinition RetryConfig
    TextDelta ReasoningDelta ToolCallStarted ArgumentsDelta ToolCallFinished Reclassified AttemptStarted Repaired ToolResult
    PartialOutput Finished Waiting AttemptFailed ToolStarted ToolProgress NestedEvent
    LLMCoreError CallerError ToolDefinitionError ConfigError ModelNotFound LimitExceeded AuthenticationFailed QuotaExceeded
    ModelError OutputParseError Refused MaxToolTurns Truncated
    ProviderError RateLimited ContextOverflow RequestTooLarge Overloaded RemoteServerError CapabilityRefused RequestRefused Timeout
    InternalError ToolError CallsPending FallbackExhausted TerminateLoop RetryTool
"""

BESIDES = """
    __version__ BuildInfo build_info Answer Approve CallAnswer Deny OpenCall ModelConfig ParseDetail Problem StreamedSoFar ToolConfig Veto Interjections RunStream Step Steps SyncRunStream current_tool_call_id hook
    RunStore FileStore record SharedBudget LocalBudget
    Observer ObservedRun Outcome ToolRetry ToolStatistics ToolStats event_json ProbeFinding ProbeReport warm_up warm_up_sync
    AttemptReason Block CallWriter CompiledTool DEFAULT_LIMITS NEAR_MISS_REASONS Event FinishReason JsonSchema NormalizerEvent OutputMode Role Safety
    Segment SegmentKind ToolChoice definition_of
"""

PARAMETERS = {
    "normalize": "reply tools | dialects finish_reason reasoning_open forced_tool text_calls limits",
    "Normalizer": "tools | dialects reasoning_open forced_tool text_calls limits",
    "validate": "envelope tools | strictness",
    "parse": "text output_type | strictness partial",
    "parse_detailed": "text output_type | strictness partial",
    "json_schema": "output_type |",
    "Orchestrator": (
        "models tools | budget deps strictness text_calls max_tool_turns max_parallel_tools tool_timeout tool_errors tool_config "
        "output_validators max_context_tokens checkpoint run_store shared_budget signing_key system hooks capabilities "
        "cooldowns strategies enforce_limits adapter web_search token_counter observers name"
    ),
    "Orchestrator.run": "self request | options",
    "Orchestrator.execute": "self request output_type | options",
    "Orchestrator.stream": "self request output_type | options",
    "Orchestrator.iterate": "self request output_type | options",
    "Orchestrator.run_sync": "self request | options",
    "Orchestrator.execute_sync": "self request output_type | options",
    "Orchestrator.stream_sync": "self request output_type | options",
    "Orchestrator.probe": "self model | deployment timeout",
    "Orchestrator.probe_sync": "self model | deployment timeout",
    "warm_up": "|",
    "warm_up_sync": "|",
    "FakeModel": "replies | default chunk_size capabilities endpoint",
}
"""Positional ones, then after the bar those given by name."""


def test_the_surface_is_the_contract_and_what_is_listed_besides() -> None:
    assert sorted(PUBLIC_NAMES) == sorted([*CONTRACT.split(), *BESIDES.split()])


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(llmcore, name) is not None
    assert name in dir(llmcore)


def test_nothing_else_stands_in_the_namespace() -> None:
    rooms = {path.name.removesuffix(".py") for path in (ROOT / "llmcore").iterdir()} | {
        "adapters",
        "fallback",
        "normalizer",
        "validator",
    }
    own = {name for name in vars(llmcore) if not name.startswith(("_", "@py"))}  # pytest adds names to a plugin's modules
    assert own - rooms - {"annotations"} <= set(PUBLIC_NAMES)
    assert [name for name in dir(llmcore) if not name.startswith("__")] == [
        name for name in PUBLIC_NAMES if name != "__version__"
    ]


def test_the_import_is_cheap() -> None:
    loaded = "import sys; before = set(sys.modules); import llmcore; print(*sorted(set(sys.modules) - before))"
    told = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {[str(ROOT)]}; {loaded}"],
        check=True,
        capture_output=True,
        text=True,
    )
    interpreters = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
    assert {*told.stdout.split()} - interpreters == {"llmcore"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    unknown = "Orchestra"
    with pytest.raises(AttributeError, match="'llmcore' has no attribute 'Orchestra'"):
        getattr(llmcore, unknown)


def test_all_shared_words_are_there() -> None:
    assert set(types.__all__) <= set(PUBLIC_NAMES)
    assert all(getattr(llmcore, name) is getattr(types, name) for name in types.__all__)


def test_every_error_class_is_there() -> None:
    made_here = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]
    assert {kind.__name__ for kind in made_here} <= set(PUBLIC_NAMES)


def test_type_checkers_see_what_the_run_time_gives() -> None:
    tree = ast.parse((ROOT / "llmcore" / "__init__.py").read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen: dict[str, object] = {"__version__": llmcore.__version__}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        module = import_module(statement.module or "")
        for alias in statement.names:
            names = types.__all__ if alias.name == "*" else [alias.name]
            seen |= {name: getattr(module, name) for name in names}
    assert sorted(seen) == sorted(PUBLIC_NAMES)
    assert all(getattr(llmcore, name) is value for name, value in seen.items())


@pytest.mark.parametrize("path", PARAMETERS)
def test_the_parameters_of_the_contract(path: str) -> None:
    name, _, method = path.partition(".")
    function = getattr(getattr(llmcore, name), method) if method else getattr(llmcore, name)
    parameters = inspect.signature(inspect.unwrap(function)).parameters.values()  # as written, not as help() shows it
    by_name = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    positional = [parameter.name for parameter in parameters if parameter.kind not in by_name]
    named = [parameter.name for parameter in parameters if parameter.kind in by_name]
    assert " ".join([*positional, "|", *named]) == PARAMETERS[path]


def test_what_tests_of_others_need_stands_in_testing() -> None:
    testing = import_module("llmcore.testing")
    assert set(testing.__all__) == {"FakeModel", "ReplayAdapter", "block_model_requests", "replaying"}
    assert all(callable(getattr(testing, name)) for name in testing.__all__)


def test_the_version_is_the_distributions() -> None:
    assert llmcore.__version__ == pyproject()["project"]["version"]
