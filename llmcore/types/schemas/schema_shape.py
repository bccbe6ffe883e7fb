"""Checking that a schema of Python objects can be sent as JSON: acyclic, of limited depth and size, of encodable text.

The check comes before anything that recurses into a schema (`repr`, `==`, `json.dumps`, `deepcopy`). It visits each object once,
however often it is referenced, so a hostile schema takes no longer than any other.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.support.values.json_data import encodable
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.errors import ToolDefinitionError

__all__ = ["MAX_SCHEMA_DEPTH", "MAX_SCHEMA_NODES", "JsonSchema", "check_schema_shape", "is_small_json_tree"]

JsonSchema = dict[str, Any]
MAX_SCHEMA_DEPTH = 128
"""Levels of JSON, of which each property takes two. It also limits consecutive in-place steps (`$ref`, `anyOf`, ...)."""
MAX_SCHEMA_NODES = 500_000
"""Values in the serialized schema, in which a shared object appears several times."""
_MAX_SHOWN = 80
_FEW_LEVELS, _FEW_VALUES = 32, 10_000
"""A schema within these bounds needs no further check."""
_MAY_HOLD = (dict, list, tuple, str)


def check_schema_shape(schema: object, where: str = "", *, around: int = 0) -> None:
    """Raises `ToolDefinitionError` for a schema that is circular, too deep, too large, or has text that UTF-8 cannot encode.

    `where`: the beginning of the message. `around`: the number of levels around the schema that do not count.
    """
    if is_small_json_tree(schema):
        return
    sizes: dict[int, tuple[int, int]] = {}  # of each container done: its depth and its size
    open_ones: set[int] = set()
    waiting: list[object] = [schema]
    while waiting:
        part = waiting[-1]
        key = id(part)
        children = _children(part)
        if key in sizes or children is None:
            waiting.pop()
        elif key not in open_ones:
            open_ones.add(key)
            _check_text(part, children, where)
            inner = [child for child in children if _children(child) is not None and id(child) not in sizes]
            if any(id(child) in open_ones for child in inner):
                raise ToolDefinitionError(f"{where}the schema holds itself as a Python object; use $defs and $ref instead")
            waiting += inner
        else:
            waiting.pop()
            open_ones.discard(key)
            measured = [sizes.get(id(child), (0, 1)) for child in children]
            depth = 1 + max((deep for deep, _ in measured), default=0)
            size = 1 + sum(large for _, large in measured)
            if depth > MAX_SCHEMA_DEPTH + around:
                raise ToolDefinitionError(
                    f"{where}the schema is nested more than {MAX_SCHEMA_DEPTH} levels deep; "
                    "move inner schemas to $defs and refer to them by $ref"
                )
            if size > MAX_SCHEMA_NODES:
                raise ToolDefinitionError(
                    f"{where}the schema is too large: more than {MAX_SCHEMA_NODES} values written out; "
                    "move what repeats to $defs and refer to it by $ref"
                )
            sizes[key] = depth, size


def is_small_json_tree(schema: object) -> bool:
    """Whether a quick check finds it a small tree of ASCII text, as most schemas are."""
    level: list[Any] = [schema]
    for _ in range(_FEW_LEVELS):
        inner: list[Any] = []
        texts: list[str] = []
        for part in level:
            kind: object = part.__class__
            if kind is str:
                texts.append(part)
                continue
            if kind is dict:
                texts += part
                inner += part.values()
            elif kind is list:
                inner += part
            elif isinstance(part, _MAY_HOLD):  # whose own methods may say otherwise
                return False
            if len(inner) > _FEW_VALUES:
                return False
        try:
            if not "".join(texts).isascii():
                return False
        except TypeError:  # a key that is no text
            return False
        if not inner:
            return True
        level = inner
    return False


def _check_text(part: object, children: list[Any], where: str) -> None:
    for text in (*part, *children) if is_object(part) else children:
        if isinstance(text, str) and encodable(text) != text:
            shown = ascii(text[:_MAX_SHOWN])
            raise ToolDefinitionError(
                f"{where}{shown} holds half of a surrogate pair, which cannot be sent; give whole characters"
            )


def _children(part: object) -> list[Any] | None:
    """The values of a container; None for a scalar. JSON has a tuple as an array."""
    if is_object(part):
        return list(part.values())
    if isinstance(part, tuple):
        return list(cast("Any", part))
    return part if is_list(part) else None
