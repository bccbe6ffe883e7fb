"""One-shot reading: ours, not told the dialect, beside SGLang's detector, told it; and what texts without a call cost.

    python -m benchmarks.normalize [--size 1 8 50] [--place alone ...] [--rounds 40] [dialect ...]

Both read the same text in the same interpreter and take turns; a figure is the best of the rounds. Both are told the tools, compiled
once. A peer that does not read the call that was written is timed, marked with `x`, and left out of the median and the worst.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import llmcore
from benchmarks import peers
from benchmarks.texts import BRACKETED, MARKDOWN, NAME, PROSE, TOOL_DICTS, TOOLS, call, chat_completion, native_body
from benchmarks.timing import best_of, conditions, table

__all__ = ["PLACES", "Place", "main"]


_SENTENCE = "I will file the report for pump P-14 right away.\n\n"
_REASONING = "<think>\nThe pump stopped twice, so a report is due. I have its title and its device.\n</think>\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where calls stand in a reply: `around` makes the text, `calls` says how many it holds; `in_body`: ours reads a chat
    completion with that text as its content, as an adapter would hand it over."""

    around: Callable[[str], str]
    calls: int = 1
    in_body: bool = False


PLACES = {
    "alone": Place(str),
    "behind a sentence": Place(lambda text: _SENTENCE + text),
    "behind reasoning": Place(lambda text: _REASONING + text),
    "two in one reply": Place(str, calls=2),
    "in a chat completion": Place(str, in_body=True),
}


def against_peers(size: int, rounds: int, dialects: Sequence[str] | None, place: str) -> str:
    """The table of one size (characters) and one of `PLACES`. A peer is told the call's text and what stands before it."""
    where = PLACES[place]
    rows: list[tuple[float, list[str]]] = []
    fair: list[float] = []
    for dialect, peer in peers.load(TOOL_DICTS, dialects).items():
        written, arguments = call(dialect, size, flat=dialect in peers.EXPONENTIAL, times=where.calls)
        text = where.around(written)
        reply: object = chat_completion(text) if where.in_body else text
        wanted = [(NAME, arguments)] * where.calls
        got = [(one.name, one.arguments) for one in llmcore.normalize(reply, TOOLS).tool_calls]
        peer_reads, we_read = peer.reads(text, NAME, arguments, times=where.calls), got == wanted
        best = best_of({"ours": partial(llmcore.normalize, reply, TOOLS), "peer": partial(peer.parse, text)}, rounds)
        ratio = best["ours"] / best["peer"]
        if peer_reads:
            fair.append(ratio)
        marks = ("" if we_read else "x", "" if peer_reads else "x")
        rows.append(
            (ratio, [dialect, f"{best['ours'] * 1e6:.1f}{marks[0]}", f"{best['peer'] * 1e6:.1f}{marks[1]}", f"{ratio:.2f}"])
        )
    rows.sort(key=lambda row: -row[0])
    body = table(["dialect", "ours, us", "SGLang, us", "ratio"], [row for _, row in rows])
    summary = f"median {statistics.median(fair):.2f}x, worst {max(fair):.2f}x of {len(fair)} that SGLang reads"
    return f"a call of {size} characters, {place}\n{body}\n{summary}"


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
            "4 KB of prose with 70 brackets, braces and `<`": lambda: llmcore.normalize(BRACKETED, TOOLS),
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
    parser.add_argument("--place", nargs="+", choices=PLACES, default=["alone"], metavar="PLACE", help=", ".join(PLACES))
    parser.add_argument("--no-peers", action="store_true", help="only the texts that need no peer")
    given = parser.parse_args()
    print(conditions(), end="\n\n")
    print(plain_texts(given.rounds), flush=True)
    sizes: list[float] = [] if given.no_peers else given.size
    for size in sizes:
        for place in given.place:
            print("\n" + against_peers(int(size * 1000), given.rounds, given.dialects or None, place), flush=True)


if __name__ == "__main__":
    main()
