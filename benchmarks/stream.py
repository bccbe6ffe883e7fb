"""Streaming in chunks of 4 characters: what a chunk costs, how the cost grows with the reply, and the slowest single feeds.

    python -m benchmarks.stream [--alone] [--kb 12.5 25 50] [dialect ...]

For every dialect of the registry one call of each size is fed to a listening `Normalizer`, which is not told the dialect. Its values
hold line breaks, quotation marks and `<`.

- `us/chunk`: CPU time of the whole reply over its chunks, at the largest size, divided by how much slower the machine was beside it
  (`timing.steady`), the best of nine rounds; `growth`: the worst factor between sizes, each the double of the one before (linear: 2.0),
  the median of the rounds.
- `p99.9`, `max`: of single feeds of 1 to 64 characters, in us of thread time with the collector off; a feed counts with its best of
  three runs, so that another process's turn on the core is not taken for ours; steadied likewise. `finish`: the same of the last step.
- `SGLang`: the same chunks of the smallest size to its detector, told the dialect: us/chunk, and `x` where what comes out is not the
  call; `>` where it was stopped.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from functools import partial

import llmcore
from benchmarks import peers
from benchmarks.texts import NAME, TOOL_DICTS, TOOLS, call
from benchmarks.timing import conditions, growth, no_gc, seconds, slowness, steady, table
from llmcore.normalizer.dialects.registry import DIALECTS

__all__ = ["feeds", "main", "steps"]

_CHUNK = 4
_WIDEST = 64
_PEER_SECONDS = 5.0


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def cut_at_random(text: str, widest: int = _WIDEST) -> list[str]:
    """Chunks of 1 to `widest` characters, the same every time."""
    draw = random.Random(len(text))  # reproducible cuts, no secret
    chunks: list[str] = []
    at = 0
    while at < len(text):
        size = draw.randint(1, widest)
        chunks.append(text[at : at + size])
        at += size
    return chunks


def feeds(chunks: Sequence[str]) -> llmcore.Normalizer:
    """Feed all chunks to a listening normaliser and finish it."""
    normalizer = llmcore.Normalizer(TOOLS)
    for chunk in chunks:
        normalizer.feed(chunk)
    normalizer.finish()
    return normalizer


def steps(chunks: Sequence[str], runs: int = 3) -> tuple[list[float], float]:
    """(seconds of each feed, seconds of finish), each the best of `runs`."""
    best = [float("inf")] * (len(chunks) + 1)
    clock = time.thread_time
    for _ in range(runs):
        normalizer = llmcore.Normalizer(TOOLS)
        with no_gc():
            for k, chunk in enumerate(chunks):
                start = clock()
                normalizer.feed(chunk)
                best[k] = min(best[k], clock() - start)
            start = clock()
            normalizer.finish()
            best[-1] = min(best[-1], clock() - start)
    return best[:-1], best[-1]


def _peer_cell(peer: peers.Peer | None, text: str, arguments: dict[str, object]) -> str:
    if peer is None:
        return "-"
    chunks = cut(text, _CHUNK)
    start = time.thread_time()
    try:
        said = peer.stream(chunks, _PEER_SECONDS)
    except TimeoutError as stopped:
        return f">{_PEER_SECONDS / int(str(stopped)) * 1e6:.0f}"
    except Exception:
        return "x"
    spent = time.thread_time() - start
    return f"{spent / len(chunks) * 1e6:.1f}{'' if peers.says(said, NAME, arguments) else 'x'}"


def _rounds(cuts: Sequence[Sequence[str]], rounds: int = 9) -> list[list[float]]:
    """Seconds of each reply, one list for each round."""
    with no_gc():
        return [[steady(partial(seconds, partial(feeds, chunks))) for chunks in cuts] for _ in range(rounds)]


def row(dialect: str, sizes: Sequence[int], peer: peers.Peer | None) -> tuple[float, list[str]]:
    draw = random.Random(dialect)  # reproducible, no secret
    texts = [call(dialect, size, flat=dialect in peers.EXPONENTIAL, draw=draw) for size in sizes]
    cuts = [cut(text, _CHUNK) for text, _ in texts]
    got = [(one.name, one.arguments) for one in feeds(cuts[0]).envelope.tool_calls]
    rounds = _rounds(cuts)
    slower = slowness()
    each, last = steps(cut_at_random(texts[-1][0]))
    slower = (slower + slowness()) / 2
    each = sorted(one / slower for one in each)
    micro = min(times[-1] for times in rounds) / len(cuts[-1]) * 1e6
    return micro, [
        dialect + ("" if got == [(NAME, texts[0][1])] else " x"),
        f"{micro:.2f}",
        f"{growth(rounds):.2f}",
        f"{each[int(len(each) * 0.999)] * 1e6:.0f}",
        f"{each[-1] * 1e6:.0f}",
        f"{last / slower * 1e6:.0f}",
        _peer_cell(peer, *texts[0]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dialects", nargs="*", help="only these (default: all of the registry)")
    parser.add_argument("--kb", nargs="+", type=float, default=[12.5, 25, 50], help="sizes, each the double of the one before")
    parser.add_argument("--alone", action="store_true", help="without SGLang")
    given = parser.parse_args()
    if unknown := set(given.dialects) - DIALECTS.keys():
        parser.error(f"no such dialect: {', '.join(sorted(unknown))}; docs/dialects.md lists them")
    print(conditions(), end="\n\n")
    detectors = {} if given.alone else peers.load(TOOL_DICTS, given.dialects or None)
    sizes = [int(kb * 1000) for kb in given.kb]
    rows = [row(dialect, sizes, detectors.get(dialect)) for dialect in given.dialects or DIALECTS]
    rows.sort(key=lambda one: -one[0])
    print(table(["dialect", "us/chunk", "growth", "p99.9", "max", "finish", "SGLang"], [cells for _, cells in rows]))


if __name__ == "__main__":
    main()
