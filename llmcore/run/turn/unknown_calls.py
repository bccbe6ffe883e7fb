"""Calls of unknown tools in a reply that also holds good calls. The good calls run, and each unknown one gets an error result
that lists the tools.

If a reply holds unknown calls alone, or a name was answered twice, the reply is bad like any other: re-asks, then other modes
and models follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.run.setup.settings import Toolbox
from llmcore.tools.results.outcome import Outcome, failed
from llmcore.types import ToolCall, ToolError
from llmcore.validator import CorrectionResult
from llmcore.validator.names import close_names

__all__ = ["ANSWERS_PER_NAME", "not_found", "unknown_beside_good"]

ANSWERS_PER_NAME = 2
"""How many calls of one unknown name a run answers with an error. More answers do not help a model that repeats the name."""
_MAX_NAMES = 50


def unknown_beside_good(result: CorrectionResult, toolbox: Toolbox) -> Sequence[ToolCall]:
    """The calls of unknown tools, if nothing else is wrong with the reply and it holds a good call; otherwise none.

    A tool that exists and may not be called now (another one is forced) is not unknown. If a limit cut the reply, nothing
    runs.
    """
    report, failing = result.report, result.report.failing
    all_unknown = all(problem.kind == "unknown_tool" and problem.call is not None for problem in report.problems)
    all_complete = all(toolbox.get(call.name) is None and call.complete for call in failing)
    is_cut = result.envelope.truncated or result.envelope.finish_reason == "length"
    return failing if report.runnable and all_unknown and all_complete and not is_cut else ()


def not_found(call: ToolCall, toolbox: Toolbox, max_chars: int) -> Outcome:
    """The error result of a call of an unknown tool."""
    names = [tool.name for tool in toolbox]
    listed = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
    near = close_names(call.name, names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    rest = f"the tools are: {listed}.{hint}" if names else "there are no tools."
    words = f"there is no tool {call.name[:80]!r}; {rest}"
    return failed(call, ToolError(words, tool_name=call.name, tool_id=call.id, type="not_found"), max_chars)
