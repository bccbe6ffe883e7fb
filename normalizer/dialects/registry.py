"""The registry: every dialect that this library knows, and the markers that open only text.

To add a dialect, add one row in a module of `dialects/`, or a new module that `FAMILIES` lists. CONTRIBUTING.md shows it with
a real commit.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.rows import MarkerTable
from llmcore.normalizer.dialects import (
    bare_forms,
    braces,
    deepseek,
    empty_blocks,
    framed,
    function_parameter,
    harmony,
    hash_rocket,
    invoke,
    json_wrapped,
    key_value,
    kimi,
    minimax_m3,
    mixed_tags,
    name_json,
    named_elements,
    python_calls,
    reasoning,
    tokens,
    tool_tags,
    unread_blocks,
    yaml_in_tags,
)
from llmcore.normalizer.scanning.words import ENVELOPE
from llmcore.support.code.suggestions import nearest
from llmcore.types.errors import ConfigError

__all__ = ["DIALECTS", "FAMILIES", "closed_over", "counted_in_frames", "dialect", "is_bare", "marker_table"]

FAMILIES: tuple[tuple[Dialect, ...], ...] = (
    json_wrapped.DIALECTS,
    name_json.DIALECTS,
    kimi.DIALECTS,
    deepseek.DIALECTS,
    function_parameter.DIALECTS,
    invoke.DIALECTS,
    named_elements.DIALECTS,
    harmony.DIALECTS,
    framed.DIALECTS,
    braces.DIALECTS,
    hash_rocket.DIALECTS,
    minimax_m3.DIALECTS,
    tool_tags.DIALECTS,
    mixed_tags.DIALECTS,
    yaml_in_tags.DIALECTS,
    key_value.DIALECTS,
    python_calls.DIALECTS,
    bare_forms.DIALECTS,
)

DIALECTS: dict[str, Dialect] = {row.name: row for family in FAMILIES for row in family}

_MAX_SHOWN = 200


def dialect(name: str) -> Dialect:
    """The row called `name`. Raises `ConfigError`, with the nearest name, if there is none."""
    if name not in DIALECTS:
        near = nearest(name, DIALECTS) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        hint = f"did you mean {near!r}? " if near else ""
        raise ConfigError(f"no dialect is called {str(name)[:_MAX_SHOWN]!r}; {hint}llmcore.normalizer.DIALECTS holds all of them")
    return DIALECTS[name]


def is_bare(name: str) -> bool:
    """Whether the dialect is a form without a marker."""
    row = DIALECTS.get(name)
    return row is not None and row.trust == "bare"


@lru_cache(maxsize=256)
def closed_over(names: frozenset[str]) -> frozenset[str]:
    """These dialects, and those by whose rows they are read. Raises `ConfigError` for an unknown name."""
    return names.union(*(dialect(name).read_by for name in names))


def counted_in_frames(named: frozenset[str] | None, taught: str | None) -> tuple[frozenset[str], bool, bool]:
    """(dialects that are calls in the answer of a framed reply, whether one of them is bare, whether not all have frames).

    They are the frames' own dialects, and those that the caller named or the prompt taught. The envelope does not count as
    bare, because its keys identify it.
    """
    chosen = (named or frozenset()).union(() if taught is None else (taught,))
    own = frozenset(name for name, row in DIALECTS.items() if row.frames)
    counted = own.union(chosen, *(DIALECTS[name].read_by for name in chosen))
    return counted, any(is_bare(name) for name in chosen - {ENVELOPE}), counted != own


@lru_cache(maxsize=64)  # a program uses few subsets
def _table(names: frozenset[str] | None) -> MarkerTable:
    wanted = None if names is None else names.union(*(DIALECTS[name].read_by for name in names))
    rows = [row for row in DIALECTS.values() if wanted is None or row.name in wanted]
    calls = [marker for row in rows for marker in row.markers]
    opened = {opener for marker in calls for opener in marker.openers}
    empty, unread = (
        [marker for marker in blocks.MARKERS if opened.issuperset(marker.openers)] for blocks in (empty_blocks, unread_blocks)
    )
    return MarkerTable([*empty, *calls, *unread, *reasoning.MARKERS, *tokens.MARKERS])


def marker_table(names: Collection[str] | None) -> MarkerTable:
    """The table of all markers, or of those of some dialects and those that open no call.

    Raises `ConfigError` for an unknown dialect.
    """
    if names is None:
        return _table(None)
    for name in names:
        dialect(name)
    return _table(frozenset(names))
