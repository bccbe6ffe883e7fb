"""What compiled code needs said, and Python itself does not.

mypyc knows `mypy_extensions.mypyc_attr` by its name when it compiles. It is needed for that only, so what stands here at run time
is our own (docs/compiled.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["mypyc_attr", "set_slots_state", "slots_state"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**settings: bool) -> Any:
        """A decorator that changes nothing. `serializable` needs `allow_interpreted_subclasses` beside it: alone, it leaves a
        class without its constructor where interpreted code makes one (mypyc 2.4.1)."""
        return lambda kind: kind


def slots_state(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The state of an object with slots, as `object.__getstate__` gives it: its other attributes, and those of its slots."""
    slots = {name: getattr(value, name) for name in value.__match_args__ if hasattr(value, name)}
    others = {name: item for name, item in getattr(value, "__dict__", {}).items() if name not in slots}
    return others or None, slots


def set_slots_state(value: Any, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
    """Set what `slots_state` gave."""
    for attributes in state:
        for name, item in (attributes or {}).items():
            object.__setattr__(value, name, item)
