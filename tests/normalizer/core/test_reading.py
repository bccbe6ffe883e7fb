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
    """Is it a reading, or what it has (`reading.looks`)? The text it reads is the engine's to feed."""
    return _is_reading(node) or (isinstance(node, ast.Attribute) and node.attr != "src" and _is_part(node.value))


def _stores(tree: ast.AST) -> Iterator[str]:
    """Each attribute of a reading, or of what it has, that is stored or deleted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _is_part(node.value):
            yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: str(path.relative_to(_NORMALIZER)))
def test_nobody_stores_an_attribute_of_a_reading(path: Path) -> None:
    if path.relative_to(_NORMALIZER).parts[0] == "notations":
        pytest.skip("knows no reading of a reply; what is called so there is what a notation read")
    tree = ast.parse(path.read_text("utf-8"))
    assert list(_stores(tree)) == []


@pytest.mark.parametrize("text", ["reading.cut = True", "reading.looks.spent += 1", "self._reading.done = 3", "del reading.cut"])
def test_a_store_is_seen(text: str) -> None:
    assert list(_stores(ast.parse(text)))
