"""Tools: from functions to schemas and back to calls. How they are run stands in `llmcore.tools.execution`.

Importing this package teaches `ToolSet` to take plain functions.
"""

from llmcore.tools.config import ToolConfig, ToolErrors
from llmcore.tools.context import RunContext, current_tool_call_id
from llmcore.tools.definition.compiling import compile_tools
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
    "compile_tools",
    "current_tool_call_id",
    "tool",
]
