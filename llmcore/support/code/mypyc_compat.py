"""Declarations that only mypyc needs (docs/compiled.md).

mypyc recognises `mypy_extensions.mypyc_attr` by its name at compile time. At run time this module has its own, so that llmcore
does not depend on mypy_extensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["mypyc_attr", "set_slots_state", "slots_state"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**settings: bool) -> Any:
        """A decorator without effect. `serializable` needs `allow_interpreted_subclasses` too: alone, it leaves the class without
        its constructor in interpreted code (mypyc 2.4.1)."""
        return lambda kind: kind


def slots_state(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The state of an object with slots, as of `object.__getstate__`: its other attributes, and those of its slots."""
    slots = {name: getattr(value, name) for name in value.__match_args__ if hasattr(value, name)}
    others = {name: item for name, item in getattr(value, "__dict__", {}).items() if name not in slots}
    return others or None, slots


def set_slots_state(value: Any, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
    """Set the attributes that `slots_state` returned."""
    for attributes in state:
        for name, item in (attributes or {}).items():
            object.__setattr__(value, name, item)
