"""Tools: functions become JSON Schemas, and a model's calls become calls of the functions.

If this package is imported, `ToolSet` accepts plain functions too.
"""

from llmcore.tools.config import ToolConfig, ToolErrors
from llmcore.tools.context import RunContext, current_tool_call_id
from llmcore.tools.definition.decorator import tool
from llmcore.tools.definition.registry import ToolRegistry
from llmcore.tools.definition.tool import Tool, ToolOptions, as_tool, checked_tool
from llmcore.types import RetryConfig, ToolSet

__all__ = [
    "RetryConfig",
    "RunContext",
    "Tool",
    "ToolConfig",
    "ToolErrors",
    "ToolOptions",
    "ToolRegistry",
    "ToolSet",
    "as_tool",
    "checked_tool",
    "current_tool_call_id",
    "tool",
]
