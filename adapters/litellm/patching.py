"""How a function below LiteLLM is replaced: under each name that LiteLLM's versions call it by.

LiteLLM makes private functions public from one minor version to the next. It then calls the new name, and keeps the old one as an
alias: who replaces the old name alone replaces nothing, and no error tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmcore.types import ConfigError

__all__ = ["TRIED", "replace"]

TRIED = "install litellm==1.105.3, the version llmcore is tried with"


def replace(holder: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    """Put `wrap(function)` in the place of the holder's function `name`, also where it is spelt with or without a `_` before it.

    Raises `ConfigError` where the holder (a module, a class or an object) has neither.
    """
    other = name[1:] if name.startswith("_") else f"_{name}"
    function = getattr(holder, name, None) or getattr(holder, other, None)
    if function is None:
        where = getattr(holder, "__qualname__", None) or getattr(holder, "__name__", None) or type(holder).__qualname__
        raise ConfigError(f"the installed LiteLLM has no {where}.{name}; {TRIED}")
    made = wrap(function)
    for spelling in (name, other):
        if getattr(holder, spelling, None) == function:
            setattr(holder, spelling, made)
