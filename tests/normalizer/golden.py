"""What the normaliser makes of everything it is tested with, as one short digest for each text.

    python -m tests.normalizer.golden                 # write golden.txt anew
    python -m tests.normalizer.golden SOURCE/ID ...   # print what is digested, to compare before and after a change

Each line of `golden.txt` is `SOURCE/ID  whole  cuts  events`: the envelopes of the whole text, those of the text cut off at every
place, and the events of several chunkings. A change of meaning changes a line, so that a commit shows what it changed.
A commit that changes lines names the texts and says why.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.transcripts import read_transcripts, split_events
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.fuzz.case import load
from tests.packaging.tree import ROOT

from .helpers import TOOLS, cuts, sample_files, samples
from .native.samples import SAMPLES as WIRES
from .native.samples import TOOLS as WIRE_TOOLS
from .native.samples import recut

__all__ = ["GOLDEN", "SOURCES", "Entry", "digest"]

GOLDEN = Path(__file__).with_name("golden.txt")
_FUZZ_CASES = Path(__file__).with_name("fuzz_cases")
_CALLS: list[tuple[str, dict[str, Any]]] = [("get_weather", {"city": "Oslo", "days": 3}), ("ping", {})]
_CHUNKINGS = 3
_CUT_CHARACTERS = 200_000
"""A text is cut off at every place, or, where reading all that would be more characters, at some, evenly spaced."""
_FEED_ONE_BY_ONE = 3_000

Settings = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One reply. `pieces`: a text's chunkings or a native reply's events; `tools` and `finishes`: read with each of them."""

    id: str
    whole: object
    pieces: list[list[Any]]
    tools: tuple[ToolSet | None, ...] = (TOOLS,)
    finishes: tuple[str | None, ...] = (None,)
    settings: Settings = field(default_factory=dict[str, Any])

    def envelopes(self) -> Iterator[str]:
        for tools in self.tools:
            for finish in self.finishes:
                yield _shown(normalize(self.whole, tools, finish_reason=finish, **self.settings))

    def cut_off(self) -> Iterator[str]:
        """The envelopes of what had come at each place, when nothing more comes."""
        if isinstance(self.whole, str):
            step = max(1, len(self.whole) ** 2 // _CUT_CHARACTERS)
            for end in range(0, len(self.whole), step):
                for finish in (None, "length"):
                    yield _shown(normalize(self.whole[:end], self.tools[0], finish_reason=finish, **self.settings))
        else:
            events = self.pieces[0]
            for end in range(len(events)):
                yield _shown(_read(events[:end], self.tools[0], self.settings)[0])

    def told(self) -> Iterator[str]:
        """The events of each chunking."""
        for tools in self.tools:
            for pieces in self.pieces:
                envelope, events = _read(pieces, tools, self.settings)
                yield "\n".join([*map(repr, events), _shown(envelope)])


def _read(pieces: Iterable[Any], tools: ToolSet | None, settings: Settings) -> tuple[Envelope, list[object]]:
    normalizer = Normalizer(tools, **settings)
    events: list[object] = [event for piece in pieces for event in normalizer.feed(piece)]
    events += normalizer.finish()
    return normalizer.envelope, events


def _shown(envelope: Envelope) -> str:
    seen = {
        **envelope.model_dump(),
        "segments": envelope.segments,
        "blocks": [block.model_dump(exclude_defaults=True) for block in envelope.blocks],
    }
    return json.dumps(seen, default=repr)


# --- the texts --------------------------------------------------------------------------------------------------------


def _text(id: str, text: str, **more: Any) -> Entry:
    return Entry(id, text, [pieces for pieces in cuts(text, _CHUNKINGS) if len(pieces) <= _FEED_ONE_BY_ONE], **more)


def _samples(file: str) -> Iterator[Entry]:
    for sample in samples(file):
        yield _text(sample.id, sample.text, tools=(sample.toolset, None, ToolSet()), finishes=(sample.finish, "length"))


def _written() -> Iterator[Entry]:
    for name, row in sorted(DIALECTS.items()):
        yield _text(name, row.write(_CALLS[:1] if row.single else _CALLS), tools=(TOOLS, None))


def _fuzz_cases() -> Iterator[Entry]:
    for path in sorted(_FUZZ_CASES.glob("*.json")):
        case, _ = load(path)
        yield _text(path.stem, case.text, tools=(case.tool_set,), finishes=(case.finish_reason,), settings=case.settings)


def _wires() -> Iterator[Entry]:
    for wire in WIRES:
        pieces = [wire.events, *(list(recut(wire.events, size)) for size in (1, 5))]
        yield Entry(wire.wire, wire.whole, pieces, tools=(WIRE_TOOLS, None))


def _recorded() -> Iterator[Entry]:
    for run in read_transcripts(ROOT / "fixtures" / "recorded"):
        tools = ToolSet(run.tools or ())
        for number, exchange in enumerate(run.exchanges):
            events = exchange.chunks or (list(split_events(exchange.sse)[0]) if exchange.sse else [exchange.response])
            if events != [None]:
                yield Entry(f"{run.id}.{number}", events if len(events) > 1 else events[0], [events], tools=(tools,))


SOURCES: dict[str, Callable[[], Iterator[Entry]]] = {
    **{file: partial(_samples, file) for file in sample_files()},
    "dialects": _written,
    "fuzz_cases": _fuzz_cases,
    "wires": _wires,
    "recorded": _recorded,
}


# --- digests ----------------------------------------------------------------------------------------------------------


def digest(source: str, *, every: int = 1) -> list[str]:
    """The lines of one source; of every tenth text, say, for who cannot wait."""
    return [
        f"{source}/{entry.id}  {_hash(entry.envelopes())}  {_hash(entry.cut_off())}  {_hash(entry.told())}"
        for entry in islice(SOURCES[source](), 0, None, every)
    ]


def _hash(parts: Iterable[str]) -> str:
    made = hashlib.blake2b(digest_size=6)
    for part in parts:
        made.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return made.hexdigest()


def _show(wanted: str) -> None:
    source, _, id = wanted.partition("/")
    for entry in SOURCES[source]():
        if entry.id == id:
            for title, parts in (("whole", entry.envelopes()), ("cut off", entry.cut_off()), ("events", entry.told())):
                print(f"--- {wanted}: {title}", *parts, sep="\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        for wanted in sys.argv[1:]:
            _show(wanted)
    else:
        GOLDEN.write_text("\n".join(line for source in SOURCES for line in digest(source)) + "\n", encoding="utf-8")
