"""Write `docs/dialects.md` from the registry: every dialect with a sample by its own writer, the reasoning formats, the wires.

.venv/bin/python -m scripts.dialects_page      # after adding or changing a dialect; a test compares the page
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from llmcore.normalizer import dialects
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.rows import Marker
from llmcore.normalizer.dialects import reasoning
from llmcore.normalizer.dialects.registry import DIALECTS, FAMILIES
from llmcore.normalizer.native.wires import WIRES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dialects.md"
CALL = ("get_weather", {"city": "Paris", "days": 3})

_HEAD = """\
# Dialects

Written from the registry by `python -m scripts.dialects_page`; do not edit. How to add one: [CONTRIBUTING](../CONTRIBUTING.md).

llmcore tells these {count} ways of writing a call as text apart by the text itself; `dialects=[...]` restricts it to some.
How far a form is trusted decides what counts as a call; where it stands decides whether it is meant ([trust](trust.md)):

- **delimited**: special tokens or tags that nobody writes by accident. A call on a line of its own and in the middle of one,
  with tools told or not; content where it is only shown: in code, in a block quote, in an element of code, and, unless its
  openers are special tokens, in quotation marks or behind words that introduce an example. Risky places make it a guess.
- **bare**: JSON, Python calls and the like, without a marker of their own. A call only when the name is one of the tools
  offered (or, where it was not told which there are, when it is the whole message), when it starts the message or a line,
  and when nothing but white space or closing punctuation follows. Else it is
  content, and a near miss is recorded. A pair of tags of any name around it (`<tool-use>...</tool-use>`) is markup, whoever made
  it up.

Values are **JSON** (or Python literals), or **text** that takes its types from the tool's schema.
"""
_SHARED = """\
## Shared openers

Several dialects begin with the same marker. They are tried in this order; what follows the marker decides (`follows` of the
row), and the first whose reader takes it wins.
"""
_SAMPLES = """\
## Samples

Each is what the dialect's writer gives for `get_weather(city="Paris", days=3)`. A section is a module of
[normalizer/dialects](../normalizer/dialects).
"""
_REASONING = """\
## Reasoning

What stands between these goes to `reasoning`; a call inside counts only if the block never closes. A lone closer makes all
text before it reasoning. Besides: `<think:SUFFIX>`, Gemma's `<|channel>thought ... <channel|>`, harmony's analysis channel,
the frames of Kimi K3 (`think`) and of Inkling (`<|content_thinking|>`).
"""
_WIRES = """\
## Native wires

A provider's JSON is told by its shape, whole or as stream events. Text inside it goes through the dialects above.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD.format(count=len(DIALECTS)), *_overview(), *_shared_openers(), *_samples(), *_reasoning(), *_wires()])


def _table(*columns: str) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]


def _code(text: str) -> str:
    """Inline code, also inside a table."""
    return f"`{text}`".replace("|", "\\|")


def _overview() -> Iterator[str]:
    yield from _table("dialect", "who writes it", "trust", "values")
    for row in DIALECTS.values():
        values = "text" if row.typed_by_schema else "JSON"
        yield f"| [{row.name}](#{row.name}) | {row.models} | {row.trust} | {values} |"
    yield ""


def _shared_openers() -> Iterator[str]:
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for marker in sorted(_call_markers(), key=lambda marker: marker.order):
        for opener in marker.openers:
            names[opener][marker.dialect] = None
    yield _SHARED
    yield from _table("opener", "dialects")
    for opener, sharing in sorted(names.items()):
        if len(sharing) > 1:
            yield f"| {_code(opener)} | {', '.join(f'[{name}](#{name})' for name in sharing)} |"
    yield ""


def _call_markers() -> Iterator[Marker]:
    for row in DIALECTS.values():
        yield from (marker for marker in row.markers if marker.dialect in DIALECTS)


def _samples() -> Iterator[str]:
    yield _SAMPLES
    for module in _modules():
        name = module.__name__.rpartition(".")[2]
        yield f"### [{name}](../normalizer/dialects/{name}.py)\n"
        yield f"{_summary(module)}\n"
        for row in module.DIALECTS:
            yield f"#### {row.name}\n"
            yield _fenced(row)


def _modules() -> Iterator[ModuleType]:
    """The families' modules, in the registry's order."""
    names = [f"{dialects.__name__}.{info.name}" for info in pkgutil.iter_modules(dialects.__path__)]
    modules = [import_module(name) for name in names if not name.endswith(".registry")]
    by_rows = {id(module.DIALECTS): module for module in modules if hasattr(module, "DIALECTS")}
    yield from (by_rows[id(rows)] for rows in FAMILIES)


def _summary(module: ModuleType) -> str:
    return " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())


def _fenced(row: Dialect) -> str:
    return f"~~~text\n{row.write([CALL]).rstrip()}\n~~~\n"


def _reasoning() -> Iterator[str]:
    yield _REASONING
    yield from _table("opener", "closer")
    yield from (f"| {_code(opener)} | {_code(closer)} |" for opener, closer in reasoning.PAIRS)
    yield ""


def _wires() -> Iterator[str]:
    yield _WIRES
    yield from _table("wire", "what is read")
    for wire in {wire.name: wire for wire in WIRES}.values():
        summary = re.sub(r"^W\d, ", "", _summary(import_module(wire.reader.__module__)))
        yield f"| `{wire.name}` | {summary} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
