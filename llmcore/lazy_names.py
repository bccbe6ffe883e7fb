"""Names of a package that are loaded when they are first asked for (PEP 562), so that the package itself costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, names_by_module: Mapping[str, str]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """The package's `__all__`, `__getattr__` and `__dir__`.

    `names_by_module`: a module within the package -> the names that it has, separated by spaces.
    Hide the three from type checkers (`if not TYPE_CHECKING`): to them, a module with `__getattr__` has every name.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{modules[name]}", package), name)
        vars(sys.modules[package])[name] = value  # asked once
        return value

    return sorted(modules), load, lambda: sorted({*vars(sys.modules[package]), *modules})
