"""Calls of tools that do not exist, in a reply that also holds good calls: those run, and each unknown one is answered with
the names there are. Alone, or after it was told twice, an unknown call is a bad reply like any other: it is asked for again,
and other modes and models are tried."""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.run.setup.settings import Toolbox
from llmcore.tools.results.outcome import Outcome, failed
from llmcore.types import ToolCall, ToolError
from llmcore.validator import CorrectionResult
from llmcore.validator.names import close_names

__all__ = ["TOLD_PER_NAME", "not_found", "unknown_beside_good"]

TOLD_PER_NAME = 2
"""How many times in a run a name is answered as unknown. A model that goes on using it is not helped by being told."""
_MAX_NAMES = 50


def unknown_beside_good(result: CorrectionResult, toolbox: Toolbox) -> Sequence[ToolCall]:
    """The calls of unknown tools, where there is nothing else wrong with the reply and it holds a good call; else none.

    A tool that exists and may not be called now (another one is forced) is not unknown. Of a reply that a limit ended
    nothing runs beside what is wrong with it.
    """
    report, failing = result.report, result.report.failing
    told_by_name = all(problem.kind == "unknown_tool" and problem.call is not None for problem in report.problems)
    unheard = all(toolbox.get(call.name) is None and call.complete for call in failing)
    is_cut = result.envelope.truncated or result.envelope.finish_reason == "length"
    return failing if report.runnable and told_by_name and unheard and not is_cut else ()


def not_found(call: ToolCall, toolbox: Toolbox, max_chars: int) -> Outcome:
    """The result of a call of an unknown tool."""
    names = [tool.name for tool in toolbox]
    listed = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
    near = close_names(call.name, names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    rest = f"the tools are: {listed}.{hint}" if names else "there are no tools."
    words = f"there is no tool {call.name[:80]!r}; {rest}"
    return failed(call, ToolError(words, tool_name=call.name, tool_id=call.id, type="not_found"), max_chars)
