"""Names of a package that are loaded when they are first asked for (PEP 562), so that the package itself costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_dir", "lazy_names"]


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The package's `__getattr__`. `modules`: name -> the module within the package that has it.

    Hide it from type checkers (`if not TYPE_CHECKING`): to them a module with it has every name.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{modules[name]}", package), name)
        vars(sys.modules[package])[name] = value  # asked once
        return value

    return load


def lazy_dir(package: str, modules: Mapping[str, str]) -> Callable[[], list[str]]:
    """The package's `__dir__`."""
    return lambda: sorted({*vars(sys.modules[package]), *modules})
