"""What a reader may do to its reading: ask, and call. It stores nothing on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

_NORMALIZER = Path(__file__).parents[3] / "normalizer"
_MODULES = sorted(path for path in _NORMALIZER.rglob("*.py") if path.name != "__init__.py")


def _is_reading(node: ast.expr) -> bool:
    """Is it called a reading: `reading`, or the one that somebody keeps (`self._reading`)? `self.reading.done` is deeper."""
    return (isinstance(node, ast.Name) and node.id == "reading") or (
        isinstance(node, ast.Attribute) and node.attr in ("reading", "_reading")
    )


def _is_part(node: ast.expr) -> bool:
    """Is it a reading, or what it has (`reading.backtrack_budget`)? The text it reads is the engine's to feed."""
    return _is_reading(node) or (isinstance(node, ast.Attribute) and node.attr != "src" and _is_part(node.value))


_CHANGING = frozenset(
    (
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
    )
)
"""Methods by which a list, a dictionary or a set is changed."""


def _aliases(tree: ast.AST) -> frozenset[str]:
    """Other names for a reading, or for what it has, but its text and its tools (`tools.pop` would be no reading's)."""
    found = {""}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = (
                    zip(target.elts, node.value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                    else [(target, node.value)]
                )
                found.update(name.id for name, value in pairs if isinstance(name, ast.Name) and _is_part(value))
    return frozenset(found)


def _is_changed(node: ast.expr, aliases: frozenset[str]) -> bool:
    """Does it belong to a reading, by whatever name?"""
    while isinstance(node, ast.Attribute) and node.attr != "src" and not _is_reading(node):
        node = node.value
    return _is_part(node) or (isinstance(node, ast.Name) and node.id in aliases)


def _stores(tree: ast.AST) -> Iterator[str]:
    """Each attribute of a reading, or of what it has, that is stored, deleted or changed in place."""
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            stored: ast.expr | None = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            stored = node.args[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            stored = node.func.value
        else:
            stored = None
        if stored is not None and _is_changed(stored, aliases):
            yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: str(path.relative_to(_NORMALIZER)))
def test_no_module_sets_an_attribute_of_a_reading(path: Path) -> None:
    if path.relative_to(_NORMALIZER).parts[0] == "notations":
        pytest.skip("knows no reading of a reply; what is called so there is what a notation read")
    tree = ast.parse(path.read_text("utf-8"))
    assert list(_stores(tree)) == []


@pytest.mark.parametrize(
    "text",
    [
        "reading.cut = True",
        "reading.backtrack_budget.spent += 1",
        "self._reading.done = 3",
        "del reading.cut",
        "setattr(reading, 'cut', True)",
        "delattr(self._reading, 'cut')",
        "x = reading\nx.cut = True",
        "inner = self._reading\ninner.cut = True",
        "text, inner = self.text, self._reading\ninner.backtrack_budget.spent = 1",
        "reading.repairs.append(1)",
        "reading.pieces[-1] = piece",
        "found = reading.repairs\nfound.extend(more)",
    ],
)
def test_the_check_finds_an_assignment(text: str) -> None:
    assert list(_stores(ast.parse(text)))
