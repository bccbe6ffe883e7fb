"""One-shot reading: ours, not told the dialect, beside SGLang's detector, told it; and what texts without a call cost.

    python -m benchmarks.normalize [--size 1 8 50] [--place alone ...] [--rounds 100] [dialect ...]

Both read the same texts in the same interpreter and take turns. Times are the best of the rounds, ratios the median of those of the
rounds. No text is read twice: each reply has a sentence, values and, in the values, words of its own. Both are told the tools, compiled
once. A peer that does not read the call that was written is timed, marked with `x`, and left out of the median and the worst.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import llmcore
from benchmarks import peers
from benchmarks.texts import (
    BRACKETED,
    MARKDOWN,
    NAME,
    PROSE,
    TOOL_DICTS,
    TOOLS,
    call,
    chat_completion,
    native_body,
    sentence,
    word,
)
from benchmarks.timing import best_of, conditions, on_each, ratio, table
from llmcore.normalizer.dialects.registry import DIALECTS

__all__ = ["PLACES", "Place", "main"]


_SEED = 14


@dataclass(frozen=True, slots=True)
class Place:
    """Where calls stand in a reply: `before` makes what stands before them, `calls` says how many it holds; `in_body`: ours reads a
    chat completion with that text as its content, as an adapter would hand it over."""

    before: Callable[[random.Random], str]
    calls: int = 1
    in_body: bool = False


PLACES = {
    "alone": Place(lambda draw: ""),
    "behind a sentence": Place(lambda draw: f"{sentence(draw)}\n\n"),
    "behind reasoning": Place(lambda draw: f"<think>\nThe {word(draw)} pump stopped. {sentence(draw)}\n</think>\n"),
    "two in one reply": Place(lambda draw: "", calls=2),
    "in a chat completion": Place(lambda draw: "", in_body=True),
}


def against_peers(size: int, rounds: int, dialects: Sequence[str] | None, place: str) -> str:
    """The table of one size (characters) and one of `PLACES`. A peer is told the call's text and what stands before it."""
    where = PLACES[place]
    rows: list[tuple[float, list[str]]] = []
    fair: list[float] = []
    for dialect, peer in peers.load(TOOL_DICTS, dialects).items():
        draw = random.Random(_SEED)  # reproducible, no secret

        def fresh(dialect: str = dialect, draw: random.Random = draw) -> tuple[str, object, dict[str, object]]:
            written, given = call(dialect, size, flat=dialect in peers.EXPONENTIAL, times=where.calls, draw=draw)
            text = where.before(draw) + written
            return text, chat_completion(text) if where.in_body else text, given

        text, reply, arguments = fresh()
        wanted = [(NAME, arguments)] * where.calls
        got = [(one.name, one.arguments) for one in llmcore.normalize(reply, TOOLS).tool_calls]
        peer_reads, we_read = peer.reads(text, NAME, arguments, times=where.calls), got == wanted
        readers: dict[str, Callable[[tuple[str, object, dict[str, object]]], object]] = {
            "ours": lambda one: llmcore.normalize(one[1], TOOLS),
            "peer": lambda one, peer=peer: peer.parse(one[0]),
        }
        taken = on_each(readers, fresh, rounds)
        best = {name: min(each) * 1e6 for name, each in taken.items()}
        factor = ratio(taken["ours"], taken["peer"])
        if peer_reads:
            fair.append(factor)
        marks = ("" if we_read else "x", "" if peer_reads else "x")
        rows.append((factor, [dialect, f"{best['ours']:.1f}{marks[0]}", f"{best['peer']:.1f}{marks[1]}", f"{factor:.2f}"]))
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


def short_calls(rounds: int) -> str:
    """A short call behind a sentence that was seen before, and behind one that was not."""
    draw = random.Random(_SEED)  # reproducible, no secret
    rows: list[list[str]] = []
    for dialect in ("hermes", "kimi_k2", "qwen3_coder", "glm45"):
        written = DIALECTS[dialect].write([("search_reports", {"query": "pump P-14"})])
        known = f"{sentence(draw)}\n\n{written}"
        readers: dict[str, Callable[[str], object]] = {
            "seen": lambda text, known=known: llmcore.normalize(known, TOOLS),
            "unseen": lambda text: llmcore.normalize(text, TOOLS),
        }
        taken = on_each(readers, lambda written=written: f"{sentence(draw)}\n\n{written}", rounds)
        cells = [f"{min(each) * 1e6:.1f}" for each in taken.values()]
        rows.append([dialect, *cells, f"{ratio(taken['unseen'], taken['seen']):.2f}"])
    return table(["a short call behind a sentence, us", "seen before", "never seen", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dialects", nargs="*", help="only these (default: all that SGLang has)")
    parser.add_argument("--size", nargs="+", type=float, default=[1.0], metavar="KB")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--place", nargs="+", choices=PLACES, default=["alone"], metavar="PLACE", help=", ".join(PLACES))
    parser.add_argument("--no-peers", action="store_true", help="only the texts that need no peer")
    given = parser.parse_args()
    print(conditions(), end="\n\n")
    print(plain_texts(given.rounds), flush=True)
    print("\n" + short_calls(given.rounds), flush=True)
    sizes: list[float] = [] if given.no_peers else given.size
    for size in sizes:
        for place in given.place:
            print("\n" + against_peers(int(size * 1000), given.rounds, given.dialects or None, place), flush=True)


if __name__ == "__main__":
    main()
