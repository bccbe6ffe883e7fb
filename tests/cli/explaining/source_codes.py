"""The kinds of repairs that the source can make, read from its syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.packaging.tree import source_files

__all__ = ["repair_kinds"]

_FIRST = frozenset({"record", "note", "repair", "_repair", "_note_repair", "Conversion"})
"""Functions whose first argument is a kind."""
_NAMED = {"Repair": "kind", "made": "kind", "Verdict": "doubt", "replace": "doubt"}
"""Functions with a keyword that is a kind."""
_ROOMS = ("adapters/request", "normalizer", "validator", "llmcore/run", "llmcore/tools/schema")


def repair_kinds() -> set[str]:
    """Every kind that stands as a text or as a constant where a repair is made."""
    trees = [ast.parse(path.read_text("utf-8")) for path in source_files() if any(room in str(path) for room in _ROOMS)]
    constants = {name: value for tree in trees for name, value in _constants(tree)}
    return {kind for tree in trees for kind in _kinds(tree, constants)}


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield target.id, value.value


def _kinds(tree: ast.Module, constants: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        given = [word.value for word in node.keywords if word.arg == _NAMED.get(name, "")]
        for value in [*given, *(node.args[:1] if name in _FIRST else ())]:
            for each in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value
                elif isinstance(each, ast.Name) and each.id in constants:
                    yield constants[each.id]
