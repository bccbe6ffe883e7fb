"""One fuzz case: a text and what the caller said with it. As JSON it is a fixture (lone surrogates are escaped)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import tool

__all__ = ["TIGHT", "TOOLS", "Case", "load", "save"]

TOOLS = ToolSet(
    [
        tool("get_weather", ["city"], city="string", days="integer"),
        tool("read_file", ["path"], path="string", lines={"type": "array", "items": {"type": "integer"}}),
        tool("ping"),
        tool("run", ["code"], code="string", env="object", check="boolean", timeout={"type": ["number", "null"]}),
    ]
)
TIGHT = Limits(text=600, arguments=120, depth=6, digits=20, calls=3, looks=200, held=64, name=16, repairs=4, near_misses=2)
"""Limits that short texts exceed."""
FEW_LOOKS = Limits(looks=2_000)
"""Looks that come to nothing are soon paid for: what is quadratic shows in short texts."""
_TOOL_SETS = {"told": TOOLS, "not told": None, "none offered": ToolSet([])}
_LIMITS = {"default": DEFAULT_LIMITS, "few looks": FEW_LOOKS, "tight": TIGHT}


@dataclass(frozen=True, slots=True)
class Case:
    """`tools`: told, not told, none offered. `limits`: default, few looks, tight. The rest as in `llmcore.normalize`."""

    text: str
    tools: str = "told"
    dialects: tuple[str, ...] | None = None
    finish_reason: str | None = None
    reasoning_open: bool = False
    forced_tool: str | None = None
    limits: str = "default"

    @property
    def tool_set(self) -> ToolSet | None:
        return _TOOL_SETS[self.tools]

    @property
    def settings(self) -> dict[str, Any]:
        """The keyword arguments that `normalize` and `Normalizer` share."""
        return {
            "dialects": self.dialects,
            "reasoning_open": self.reasoning_open,
            "forced_tool": self.forced_tool,
            "limits": _LIMITS[self.limits],
        }

    def with_text(self, text: str) -> Case:
        return replace(self, text=text)


def save(case: Case, path: Path, **more: Any) -> None:
    """Write the case, without what it leaves at its default, and `more` (`why`, `calls`) as JSON."""
    plain = Case("")
    said = {key: value for key, value in asdict(case).items() if key == "text" or value != getattr(plain, key)}
    path.write_text(json.dumps({**said, **more}, indent=2) + "\n", encoding="ascii")


def load(path: Path) -> tuple[Case, dict[str, Any]]:
    """(the case, what else the file says: `why`, and `calls` where it must read)."""
    said: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    more: dict[str, Any] = {key: said.pop(key) for key in ("why", "calls", "content") if key in said}
    if said.get("dialects") is not None:
        said["dialects"] = tuple(said["dialects"])
    return Case(**said), more
