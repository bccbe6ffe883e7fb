"""Plain lists of tools as `ToolSet`s, compiled once and found again by content: `normalize(reply, [..])` pays for it
once.

First by identity: the same objects in the same order as before, with a check that no dict among them was changed
meanwhile (1.5 us for five tools). Then by content, for lists built anew each time (3 us a tool). Equal is what Python
calls equal, so a dict changed in place from 1 to True is not noticed. Bounded: the least recently used go first, and of
those that hold objects of the caller's, such as methods of an agent, few are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, cast

from cachetools import LRUCache

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.values.copies import copied
from llmcore.support.values.identity import Same
from llmcore.support.values.narrowing import is_object
from llmcore.types import ToolDefinition, ToolSet
from llmcore.types.schemas.schema_shape import check_schema_shape, is_small_json_tree
from llmcore.types.tools import LiveTools, check_definition, tools_in

__all__ = ["compile_tools"]

_DATA = frozenset({dict, ToolDefinition})
"""What tools are that are no functions. For these alone, `llmcore.tools` need not be imported, which takes long."""

_lock = ForkSafeLock()
_ByIdentity = LRUCache[tuple[int, ...], tuple[tuple[object, ...], tuple[object, ...], ToolSet]]
_by_identity: _ByIdentity = LRUCache(maxsize=256)
_with_objects: _ByIdentity = LRUCache(maxsize=16)
"""Few, for they keep objects of the caller's alive: an agent, with its conversation."""
_by_content: LRUCache[tuple[object, ...], tuple[tuple[object, ...], ToolSet]] = LRUCache(maxsize=256)


def compile_tools(tools: Iterable[object]) -> ToolSet:
    """The `ToolSet` of some tools; a `ToolSet` is returned as it is. Thread-safe.

    Raises `ToolDefinitionError` for something that is no tool, an unusable signature or a name given twice.
    """
    if isinstance(tools, ToolSet):
        return tools
    given = tuple(tools) if isinstance(tools, list | tuple) else tuple(tools_in(tools))
    if any(issubclass(kind, LiveTools | ToolSet) for kind in set(map(type, given))):
        given = tuple(tools_in(given))
    identity = tuple(map(id, given))
    with _lock:
        known = _by_identity.get(identity) or _with_objects.get(identity)
    if known is not None and known[1] == given:
        return known[2]
    are_objects_held = False
    if not _DATA.issuperset(map(type, given)):
        from llmcore.tools.definition.tool import is_tool, references_objects  # which also teaches `ToolSet` to take functions

        if any(is_tool(tool) and tool.is_dynamic for tool in given):
            return ToolSet(given)  # never kept: its schema may differ at each look
        are_objects_held = any(map(references_objects, given))
    _check(given)  # before `repr` and `deepcopy` recurse into them
    if are_objects_held:
        snapshot = tuple(map(_snapshot, given))
        made = ToolSet(snapshot)
        with _lock:
            _with_objects[identity] = (given, snapshot, made)
        return made
    content = tuple(map(_content_key, given))
    with _lock:
        equal = _by_content.get(content)
    if equal is None:
        snapshot = tuple(map(_snapshot, given))
        equal = snapshot, ToolSet(snapshot)
    with _lock:
        _by_content[content] = equal
        _by_identity[identity] = (given, *equal)  # holding the tools keeps their ids theirs
    return equal[1]


def _check(given: Iterable[object]) -> None:
    """Raises `ToolDefinitionError` for schemas that nothing may recurse into; one look tells of most sets that they hold none."""
    if is_small_json_tree(
        [[one.parameters, one.description, one.examples] if isinstance(one, ToolDefinition) else one for one in given]
    ):
        return
    for tool in given:
        if isinstance(tool, Mapping):
            check_schema_shape(cast("Mapping[str, Any]", tool), "a tool's definition: ", around=4)
        elif isinstance(tool, ToolDefinition):
            check_definition(tool)


def _snapshot(tool: object) -> object:
    """A copy of what may be changed in place; functions and Tools stand for themselves."""
    if isinstance(tool, ToolDefinition):
        return tool.model_copy()
    if is_object(tool):
        return copied(tool)
    return deepcopy(cast("Mapping[str, Any]", tool)) if isinstance(tool, Mapping) else tool


def _content_key(tool: object) -> object:
    """Hashable, and equal only for tools with equal definitions."""
    return repr(cast("Any", tool)) if isinstance(tool, Mapping | ToolDefinition) else Same(tool)
