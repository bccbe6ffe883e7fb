"""The public surface of `llmcore`, pinned: what is added or taken away is seen here first.

CONTRACT is what other code relies on. docs/public-api.txt has every signature.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from difflib import unified_diff
from importlib import import_module

import pytest

import llmcore
from llmcore import types
from llmcore.types import errors
from scripts import public_api
from tests.packaging.tree import PUBLIC_NAMES, ROOT, pyproject

CONTRACT = """
    normalize Normalizer validate parse parse_detailed json_schema Orchestrator FakeModel ReplayAdapter tool Tool ToolSet ToolRegistry
    Agent Hooks ModelRegistry CapabilityStore Limits Budget RunResult RunContext ValidationReport
    Message TextBlock ImageBlock FileBlock AudioBlock ToolUseBlock ToolResultBlock ThinkingBlock RedactedThinkingBlock ProviderBlock CacheControl
    Request Reply Envelope ToolCall Repair NearMiss Usage Attempt ToolDefinition RetryConfig
    TextDelta ReasoningDelta ToolCallStarted ArgumentsDelta ToolCallFinished Reclassified AttemptStarted Repaired ToolResult
    PartialOutput Finished Waiting AttemptFailed ToolStarted ToolProgress NestedEvent
    LLMCoreError CallerError ToolDefinitionError ConfigError ModelNotFound LimitExceeded AuthenticationFailed QuotaExceeded
    ModelError OutputParseError Refused MaxToolTurns Truncated
    ProviderError RateLimited ContextOverflow RequestTooLarge Overloaded RemoteServerError CapabilityRefused RequestRefused Timeout
    InternalError ToolError CallsPending FallbackExhausted TerminateLoop RetryTool
"""

BESIDES = """
    Compaction __version__ BuildInfo build_info Answer Approve CallAnswer Deny OpenCall ModelConfig ParseDetail Problem StreamedSoFar ToolConfig Veto Interjections RunStream Step Steps SyncRunStream current_tool_call_id hook
    RunStore FileStore record SharedBudget LocalBudget
    Observer ObservedRun Outcome ToolRetry ToolStatistics ToolStats event_json ProbeFinding ProbeReport warm_up warm_up_sync
    AttemptReason Block CallWriter CompiledTool DEFAULT_LIMITS NEAR_MISS_REASONS Event FinishReason JsonSchema NormalizerEvent OutputMode Role Safety
    MediaBlock ResultBlock Segment SegmentKind ToolChoice definition_of
"""


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


@pytest.mark.skipif(bool(llmcore.build_info().compiled), reason="compiled functions have other signatures")
def test_every_signature_field_and_default_is_the_frozen_one() -> None:
    frozen, now = public_api.FILE.read_text("utf-8").splitlines(), public_api.lines()
    changed = [line for line in unified_diff(frozen, now, "frozen", "now", lineterm="", n=0) if not line.startswith("@@")]
    assert changed == [], "the public API changed (docs/stability.md); if you mean it: python -m scripts.public_api"


def test_the_reference_describes_each_public_name_once() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    assert sorted(re.findall(r"^::: llmcore\.(\w+)$", pages, re.MULTILINE)) == sorted({*PUBLIC_NAMES} - {"__version__"})


def test_what_tests_of_others_need_stands_in_testing() -> None:
    testing = import_module("llmcore.testing")
    assert set(testing.__all__) == {"FakeModel", "ReplayAdapter", "block_model_requests", "replaying"}
    assert all(callable(getattr(testing, name)) for name in testing.__all__)


def test_the_version_is_the_distributions() -> None:
    assert llmcore.__version__ == pyproject()["project"]["version"]
