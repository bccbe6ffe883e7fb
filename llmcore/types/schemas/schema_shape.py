"""Is a schema given as Python objects a tree that JSON can hold, of a bearable depth and size, and of text that can be sent?

Asked before anything recurses into a schema (`repr`, `==`, `json.dumps`, `deepcopy`). Each object is looked at once,
however often it is referred to, so a hostile schema costs no more than a plain one.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.support.values.json_data import encodable
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.errors import ToolDefinitionError

__all__ = ["MAX_SCHEMA_DEPTH", "MAX_SCHEMA_NODES", "JsonSchema", "check_schema_shape", "is_json_tree"]

JsonSchema = dict[str, Any]
MAX_SCHEMA_DEPTH = 128
"""Levels of JSON; a property costs two. Also the number of in-place steps (`$ref`, `anyOf`, ...) in a row."""
MAX_SCHEMA_NODES = 500_000
"""Values in a schema written out, where one object may stand in many places."""
_MAX_SHOWN = 80
_FEW_LEVELS, _FEW_VALUES = 32, 10_000
"""Within which a schema is surely none of what is refused."""
_MAY_HOLD = (dict, list, tuple, str)


def check_schema_shape(schema: object, where: str = "", *, around: int = 0) -> None:
    """Raise `ToolDefinitionError` for a schema that holds itself, is nested too deeply, becomes too large when written
    out, or holds text that UTF-8 cannot encode. `where`: what the message begins with. `around`: levels around the schema
    that are not its own."""
    if is_json_tree(schema):
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


def is_json_tree(schema: object) -> bool:
    """Does one look tell that it is a small tree of ASCII text, as most are? Each check of a tool set asks for it."""
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
    """What a container holds; None for a scalar. To JSON a tuple is an array."""
    if is_object(part):
        return list(part.values())
    if isinstance(part, tuple):
        return list(cast("Any", part))
    return part if is_list(part) else None
