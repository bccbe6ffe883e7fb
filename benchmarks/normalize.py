"""One-shot reading: ours, not told the dialect, beside SGLang's detector, told it; and what texts without a call cost.

    python -m benchmarks.normalize [--size 1 8 50] [--rounds 40] [dialect ...]

Both read the same text in the same interpreter and take turns; a figure is the best of the rounds. Both are told the tools, compiled
once. A peer that does not read the call that was written is timed, marked with `x`, and left out of the median and the worst.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from functools import partial

import llmcore
from benchmarks import peers
from benchmarks.texts import MARKDOWN, NAME, PROSE, TOOL_DICTS, TOOLS, call, native_body
from benchmarks.timing import best_of, conditions, table

__all__ = ["main"]


def against_peers(size: int, rounds: int, dialects: Sequence[str] | None) -> str:
    """The table of one size (characters)."""
    rows: list[tuple[float, list[str]]] = []
    fair: list[float] = []
    for dialect, peer in peers.load(TOOL_DICTS, dialects).items():
        text, arguments = call(dialect, size, flat=dialect in peers.EXPONENTIAL)
        got = [(one.name, one.arguments) for one in llmcore.normalize(text, TOOLS).tool_calls]
        peer_reads, we_read = peer.reads(text, NAME, arguments), got == [(NAME, arguments)]
        best = best_of({"ours": partial(llmcore.normalize, text, TOOLS), "peer": partial(peer.parse, text)}, rounds)
        ratio = best["ours"] / best["peer"]
        if peer_reads:
            fair.append(ratio)
        marks = ("" if we_read else "x", "" if peer_reads else "x")
        rows.append(
            (ratio, [dialect, f"{best['ours'] * 1e6:.1f}{marks[0]}", f"{best['peer'] * 1e6:.1f}{marks[1]}", f"{ratio:.2f}"])
        )
    rows.sort(key=lambda row: -row[0])
    body = table(["dialect", "ours, us", "SGLang, us", "ratio"], [row for _, row in rows])
    return f"one call of {size} characters\n{body}\nmedian {statistics.median(fair):.2f}x, worst {max(fair):.2f}x of {len(fair)} that SGLang reads"


def plain_texts(rounds: int) -> str:
    """What a reply costs in which nothing, or a native call, is to be found."""
    body = native_body(1000)
    best = best_of(
        {
            "4 KB of English prose": lambda: llmcore.normalize(PROSE, TOOLS),
            "4 KB of Markdown with code, HTML, JSON": lambda: llmcore.normalize(MARKDOWN, TOOLS),
            "the same prose, tools not told": lambda: llmcore.normalize(PROSE),
            "the same Markdown, tools not told": lambda: llmcore.normalize(MARKDOWN),
            "native OpenAI body, one call of 1 KB": lambda: llmcore.normalize(body, TOOLS),
            "`Hello.`": lambda: llmcore.normalize("Hello.", TOOLS),
        },
        rounds,
    )
    return table(["plain", "us"], [[name, f"{value * 1e6:.1f}"] for name, value in best.items()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dialects", nargs="*", help="only these (default: all that SGLang has)")
    parser.add_argument("--size", nargs="+", type=float, default=[1.0], metavar="KB")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--alone", action="store_true", help="only the texts that need no peer")
    given = parser.parse_args()
    print(conditions(), end="\n\n")
    print(plain_texts(given.rounds), flush=True)
    sizes: list[float] = [] if given.alone else given.size
    for size in sizes:
        print("\n" + against_peers(int(size * 1000), given.rounds, given.dialects or None), flush=True)


if __name__ == "__main__":
    main()
