"""Write `docs/public-api.txt`: each public name with its parameters, fields and defaults, one on a line.

.venv/bin/python -m scripts.public_api      # after a change of the public API; a test compares the file (docs/stability.md)

The lines come from the classes and functions themselves. Annotations stand as they are written, so that each Python gives the
same lines.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ForwardRef, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from llmcore.support.values.narrowing import is_list

__all__ = ["FILE", "MODULES", "lines"]

FILE = Path(__file__).resolve().parent.parent / "docs" / "public-api.txt"
MODULES = (
    *("llmcore", "llmcore.adapters", "llmcore.fallback", "llmcore.gateway", "llmcore.integrations.httpx"),
    *("llmcore.integrations.mcp", "llmcore.integrations.opentelemetry", "llmcore.normalizer", "llmcore.testing"),
    *("llmcore.tools.catalogue", "llmcore.transcripts", "llmcore.wire"),
)
"""Each name of their `__all__` is public. (`llmcore.integrations.litellm` is too; its import loads LiteLLM.)"""
_NO_DEFAULT = (inspect.Parameter.empty, dataclasses.MISSING, PydanticUndefined)


def lines() -> list[str]:
    """Return the lines of the file. A name that several modules export is described once, under the first."""
    described: dict[int, str] = {}
    found: list[str] = []
    for module_name in MODULES:
        module = import_module(module_name)
        for name in sorted(vars(module)["__all__"]):
            path, value = f"{module_name}.{name}", getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                if known := described.get(id(value)):
                    found.append(f"{path} is {known}")
                    continue
                described[id(value)] = path
            found += _described(path, value)
    return found


def _described(path: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        yield f"class {path}({bases})"
        for name, text in sorted(_members(value).items()):
            yield f"{path}.{name}{text}"
    elif inspect.isfunction(value):
        yield f"def {path}{_signature(value)}"
    elif path.endswith(".__version__"):
        yield f"{path}: str"
    else:
        shown = _shown(value)
        yield f"{path}: {type(value).__name__}" if shown == "..." else f"{path} = {shown}"


def _members(cls: Any) -> dict[str, str]:
    """Return the public members that the library defines, inherited ones too: each name with its signature or annotation."""
    found: dict[str, str] = {}
    if not (_is_a(cls, BaseModel) or _is_a(cls, BaseException) or hasattr(cls, "__dataclass_fields__")):
        found["__init__"] = _signature(cls)
    mro: tuple[type, ...] = cls.__mro__
    for owner in mro:
        if not owner.__module__.startswith("llmcore"):
            continue
        annotations = inspect.get_annotations(owner)
        for name in [*annotations, *vars(owner)]:
            of_the_class = str(annotations.get(name, "")).startswith("ClassVar")  # how the library reads it, not what it holds
            if not (name.startswith(("_", "model_")) or of_the_class or name in found):
                found[name] = _member(cls, name, vars(owner).get(name, inspect.Parameter.empty), annotations.get(name))
    return found


def _member(cls: Any, name: str, value: Any, annotation: object) -> str:
    if annotation is not None:
        return f": {_annotation(annotation)}{_default(cls, name, value)}"
    if isinstance(value, property | cached_property):
        getter: Any = value.fget if isinstance(value, property) else value.func
        returns: object = inspect.get_annotations(getter).get("return", "Any")
        return f": {_annotation(returns)} (property)"
    if inspect.ismemberdescriptor(value):  # a slot
        return ": Any"
    function: Any = getattr(cls, name)
    return _signature(function) if callable(function) else f": {type(function).__name__}"


def _is_a(cls: Any, base: type) -> bool:
    return base in cls.__mro__


def _default(cls: Any, name: str, value: Any) -> str:
    field: Any = None
    if _is_a(cls, BaseModel):
        field = cls.model_fields.get(name)
        value = field.default if field else value
    elif dataclasses.is_dataclass(cls):
        fields = {one.name: one for one in dataclasses.fields(cls)}
        field = fields.get(name)
        value = field.default if field else value
    elif _is_a(cls, tuple):
        value = cls._field_defaults.get(name, inspect.Parameter.empty)
    if field is not None and field.default_factory not in (None, dataclasses.MISSING):
        return " = ..."
    return "" if any(value is none for none in _NO_DEFAULT) or inspect.ismemberdescriptor(value) else f" = {_shown(value)}"


def _signature(function: Callable[..., Any]) -> str:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a class of C code
        return "(...)"
    parameters = [
        one.replace(
            annotation=one.empty if one.annotation is one.empty else _Text(_annotation(one.annotation)),
            default=one.empty if one.default is one.empty else _Text(_shown(one.default)),
        )
        for one in signature.parameters.values()
    ]
    returns = signature.return_annotation
    returned = signature.empty if returns is signature.empty else _Text(_annotation(returns))
    return str(signature.replace(parameters=parameters, return_annotation=returned))


class _Text(str):
    """Words that a signature shows as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _annotation(annotation: object) -> str:
    if isinstance(annotation, ForwardRef):  # of a named tuple
        return annotation.__forward_arg__
    return annotation.strip("'\"") if isinstance(annotation, str) else _shown(annotation)


def _shown(value: Any) -> str:
    """Return a value, or a type that was computed, in words that are the same in each Python; `...` for any other object."""
    arguments: tuple[Any, ...] = get_args(value)
    origin = get_origin(value)
    if origin is Annotated:
        return _shown(arguments[0])
    if isinstance(value, types.UnionType) or origin is Union:
        return " | ".join(map(_shown, arguments))
    if origin is not None:
        name = getattr(origin, "__name__", None) or str(origin).removeprefix("typing.")
        return f"{name}[{', '.join(map(_shown, arguments))}]"
    if is_list(value):
        return f"[{', '.join(map(_shown, value))}]"
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__name__
    return repr(value) if value in (None, ...) or isinstance(value, bool | int | float | str) else "..."


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
