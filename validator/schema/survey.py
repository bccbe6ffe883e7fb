"""Measures a value in one pass before it is validated. Linear; raises nothing."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import DEFAULT_LIMITS
from llmcore.validator.schema.problems import Problem, cut, join_path

__all__ = ["Survey", "survey"]

_Place = tuple[Any, Any]
"""(the parent's place or None, the key or index in the parent)"""


_PLAIN_KINDS = frozenset({str, int, bool, type(None)})
"""Values of these types need no further check."""


class Survey(NamedTuple):
    """The number of nodes in a value, whether it has floats such as 5.0, and a problem that prevents validation."""

    nodes: int
    whole_floats: bool
    problem: Problem | None


def survey(value: Any, *, depth: int = DEFAULT_LIMITS.depth) -> Survey:
    """Count a value's nodes, and find what prevents validation: non-finite numbers, nesting that is too deep, values that are
    not JSON.

    One pass, level by level, without recursion.
    """
    if value.__class__ is dict and _PLAIN_KINDS.issuperset(map(type, value.values())):  # most arguments are such
        return Survey(1 + len(value), False, None)
    nodes, whole_floats = 0, False
    level: list[tuple[Any, _Place | None]] = [(value, None)]
    for _ in range(depth + 1):
        below: list[tuple[Any, _Place | None]] = []
        nodes += len(level)
        for item, place in level:
            if item.__class__ in _PLAIN_KINDS or isinstance(item, str):
                continue
            if is_object(item):
                below += [(child, (place, key)) for key, child in item.items()]
            elif is_list(item):
                below += [(child, (place, index)) for index, child in enumerate(item)]
            elif isinstance(item, float):
                if not math.isfinite(item):
                    return Survey(nodes, False, _survey_problem(place, "a finite number", cut(str(item), 40)))
                whole_floats = whole_floats or item.is_integer()
            elif not isinstance(item, int):
                return Survey(nodes, False, _survey_problem(place, "a JSON value", type(item).__name__))
        if not below:
            return Survey(nodes, whole_floats, None)
        level = below
    return Survey(nodes, False, _survey_problem(None, f"at most {depth} levels of nesting", "more"))


def _survey_problem(place: _Place | None, expected: str, got: str) -> Problem:
    steps: list[Any] = []
    while place is not None:
        place, step = place
        steps.append(step)
    path = join_path(reversed(steps))
    return Problem(kind="value", path=path, expected=expected, got=got, message=f"`{path}` must be {expected}, not {got}")
