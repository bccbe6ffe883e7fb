"""The explanations of all codes: kinds of repairs, reasons of near misses, classes of errors.

The tables are the TOML files of this package. A section `[kind.code]` has the fields of `Explanation`; `off` names an entry of
`switches.toml`. A near miss means what `NEAR_MISS_REASONS` says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from llmcore.types.near_misses import NEAR_MISS_REASONS

__all__ = ["CodeKind", "Explanation", "all_explanations", "explanations_of"]

CodeKind = Literal["repair", "near_miss", "error"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one code means. A code may be both a repair and a near miss.

    - `before` and `after`: an example, which a test runs. `after` shows what llmcore makes of it.
    - `given`: what `before` is. `reply`: a model's text; `body`: a provider's JSON body; `arguments`: those of a native call,
      validated; `answer`: the text of a typed answer; `history`: messages that enter a run; `http`: a server's answer with an
      error; `program`: a program, and `after` is what it prints.
    - `settings`: the tools, the schema and the options of the example.
    - `off`: how to switch it off, or that nothing does.
    """

    kind: CodeKind
    code: str
    what: str
    why: str
    before: str
    after: str
    off: str
    given: str = "reply"
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


@cache
def all_explanations() -> Sequence[Explanation]:
    """Every explanation: the repairs, then the near misses, then the errors, each by code."""
    switches: dict[str, str] = {}
    rows: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in get_args(CodeKind)}
    for file in sorted(files("llmcore.cli.explaining").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            table = tomllib.loads(file.read_text("utf-8"))
            switches |= table.pop("switches", {})
            for kind, found in table.items():
                rows[kind] |= found
    rows["near_miss"] = {code: {"what": NEAR_MISS_REASONS[code], **row} for code, row in rows["near_miss"].items()}
    kinds: tuple[CodeKind, ...] = get_args(CodeKind)
    return tuple(_explanation(kind, code, row, switches) for kind in kinds for code, row in sorted(rows[kind].items()))


def _explanation(kind: CodeKind, code: str, row: dict[str, Any], switches: dict[str, str]) -> Explanation:
    fields: dict[str, Any] = {**row, "off": switches[row["off"]]}
    return Explanation(kind, code, **fields)


def explanations_of(code: str) -> Sequence[Explanation]:
    """The explanations of a code; none for an unknown one. Details after a colon and the case of letters do not count."""
    wanted = code.partition(":")[0].strip().casefold()
    return [each for each in all_explanations() if each.code.casefold() == wanted]
