"""How a patch replaces a function of LiteLLM: under each name that LiteLLM's versions call it by.

LiteLLM makes private functions public from one minor version to the next. It then calls the new name, and keeps the old one as an
alias. A patch of the old name alone would change nothing, and no error would say so.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from llmcore.types import ConfigError

__all__ = ["INSTALL_TESTED", "Patch", "replace"]

INSTALL_TESTED = "install litellm==1.105.3, the version llmcore is tested with"
_MARK = "llmcore_patch"


class Patch(NamedTuple):
    """One function to replace: `wrap(function)` is put in its place.

    `module`: where it is, imported when the patch is applied; `owner`: the class or object in the module that has it, "" for the
    module itself.
    """

    module: str
    owner: str
    name: str
    wrap: Callable[[Any], Any]

    def find_owner(self) -> Any:
        module = import_module(self.module)
        return getattr(module, self.owner) if self.owner else module

    def apply(self) -> None:
        """Raises `ConfigError` if the installed LiteLLM has no such function."""
        try:
            owner = self.find_owner()
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"the installed LiteLLM has no {self.module}.{self.owner} ({error}); {INSTALL_TESTED}") from error
        replace(owner, self.name, self.wrap)

    def is_applied(self) -> bool:
        """Is our function still there? A test's double may have taken its place."""
        return hasattr(getattr(self.find_owner(), self.name, None), _MARK)


def replace(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    """Put `wrap(function)` in the place of the owner's function `name`, also where it is spelt with or without a `_` before it.

    Does nothing if that was done before. Raises `ConfigError` if the owner (a module, a class or an object) has neither spelling.
    """
    other = name[1:] if name.startswith("_") else f"_{name}"
    function = getattr(owner, name, None) or getattr(owner, other, None)
    if function is None:
        where = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None) or type(owner).__qualname__
        raise ConfigError(f"the installed LiteLLM has no {where}.{name}; {INSTALL_TESTED}")
    if hasattr(function, _MARK):
        return
    made = wrap(function)
    setattr(getattr(made, "__func__", made), _MARK, True)
    for spelling in (name, other):
        if getattr(owner, spelling, None) == function:
            setattr(owner, spelling, made)
