"""What compiled code needs said, and Python itself does not.

mypyc knows `mypy_extensions.mypyc_attr` by its name when it compiles. It is needed for that only, so what stands here at run time
is our own (docs/compiled.md).
"""

from __future__ import annotations

import linecache
import os
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["mypyc_attr", "raise_from", "state_of", "take_state"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**settings: bool) -> Any:
        """A decorator that changes nothing. `serializable` needs `allow_interpreted_subclasses` beside it: alone, it leaves a
        class without its constructor where interpreted code makes one (mypyc 2.4.1)."""
        return lambda kind: kind


def raise_from(error: BaseException, cause: BaseException | None) -> NoReturn:
    """`raise error from cause`, of which compiled code drops the cause (mypyc 2.4.1)."""
    raise error from cause


def state_of(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The state of an object with slots, as `object.__getstate__` gives it: its other attributes, and those of its slots."""
    slots = {name: getattr(value, name) for name in value.__match_args__ if hasattr(value, name)}
    others = {name: item for name, item in getattr(value, "__dict__", {}).items() if name not in slots}
    return others or None, slots


def take_state(value: Any, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
    """Set what `state_of` gave."""
    for attributes in state:
        for name, item in (attributes or {}).items():
            object.__setattr__(value, name, item)


def _show_sources() -> None:
    """Tell `linecache`, which `traceback` and `logging` take lines from, where the sources of compiled modules stand.

    Their frames name the file as it was compiled, `llmcore/run/loop.py`, and the loader of an extension module gives no source.
    """
    here = os.path.dirname(__file__)
    packages = os.path.dirname(os.path.dirname(here))
    if not any(file.endswith(_COMPILED) for file in os.listdir(here)):
        return  # the pure build
    for folder, _, files in os.walk(os.path.dirname(here)):
        for stem in (file.partition(".")[0] for file in files if file.endswith(_COMPILED)):
            source = os.path.join(folder, f"{stem}.py")
            linecache.cache.setdefault(source[len(packages) + 1 :], (partial(_text_of, source),))


def _text_of(source: str) -> str:
    with open(source, encoding="utf-8") as file:
        return file.read()


_COMPILED = tuple(EXTENSION_SUFFIXES)
_show_sources()
