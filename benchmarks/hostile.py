"""Input that wants to make the reader slow: floods of one character, of openers without closers, of nesting.

    python -m benchmarks.hostile [--kb 32] [--worst 12] [--full-kb 1000] [--mixtures 300] [--kinds KIND ...] [--only SUBSTRING]

Every attack is read in chunks of 16 characters, at once, and one character at a time, at a small size and its double; the worst are
then read again at the full size. `s/MB`: CPU seconds for a million characters; `us/feed`: one character at a time; `growth`: the
factor of the double size (linear: 2.0). Worst first. A run is stopped after 20 s. `Limits.looks`, the allowance for failed looks,
is an eighth of the size in short texts, as it is in a megabyte: otherwise they would be over before it is. Every run is divided by
how much slower the machine was beside it (`timing.steady`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import llmcore
from benchmarks.texts import TOOLS, call
from benchmarks.timing import conditions, growth, no_gc, steady, table
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.types.limits import DEFAULT_LIMITS

__all__ = ["attacks", "main", "seconds_to_read"]

_STOP = 20.0
_CHARACTERS = [*string.printable, "\0", "\x7f", "é", "｜", "▁", "‖", "◁", "▷", "⏎", "漢", "😀", "\u2028", "\ud83d", "\ufeff"]
_SPELLED = [  # openers that are families of spellings, matched by pattern
    "<|tool_call|>", "<｜tool▁calls▁begin｜>", "<｜DSML｜invoke name=\"f\">", "<｜DSML｜parameter name=\"a\" string=\"true\">",
    "<ns:invoke name=\"f\">", "<ns:tool_call>", "<co:", "<tool_calls:6124c78e>", "]<]minimax[>[", "]<]minimax[>[<invoke name=\"f\">",
    "◁think▷", "<file_report>", "</file_report>", "<file_report>\n<title>",
]  # fmt: skip
_NESTING = [
    "[", "{", "(", "[[", "{{", "[{", '{"a":', '{"a":[', '{"name":', '[{"name": "file_report", "arguments": {', "{'a':", "f(", "[f(",
    "f(a=", "f(a=[", "f(a={'b':", "file_report(", "file_report(title=", "[file_report(", "a.b(", "\nfile_report(", "\n[", "\n{",
    "\nfile_report{", "\nfile_report\n{", ":\n{", ":\n[file_report(", '{"name": "file_report", "arguments": ',
    "<a>", "<title>", "<think>", "<tool_call>{", "<tool_call>[", "<file_report>", "<file_report>\n<title>", "<function=file_report>",
]  # fmt: skip
_UNITS = [
    # brackets that close nothing
    "file_report\n", '{"name": "file_report"}', '\n{"name": "x"}', '\n["file_report()"', "\n[Calling tool: ", "}{", "][", "{}", "[]", "()", "\n{}\n", "{]",
    # strings and escapes
    '"', "'", "\\", '\\"', '"\\', '{"', '{"a":"', '"""', "'''", '{"a": "\\', '"a" "b: ', '{"a": "x,', "{'", '""\n"', "x,", "\\u", "\\ud83d",
    # fences, code, quotes
    "`", "``", "```", "````", "```\n", "```json\n", "```json\n{", "```tool_call\n", "```python\nfile_report(", "~~~", "`a", "```a```",
    "\n```", "\n> ", "> `", "    ```\n",
    # words
    "Action:", "Action: ", "Action: file_report\n", "Action: file_report\nAction Input: ", "Action: file_report\nAction Input: {",
    "Thought: ", "Observation: ", "functools[", "A", "Ac", "<tool_ca", "<functi", "[TOOL_", "[TOOL_CALLS", "<|tool", "<|", "</", "<a", "< ",
    "<a>", "<!--", "<![CDATA[", "&lt;", "]]>", "<a b=", '<a b="', "<x:", "<abc:inv", "]<", "]<]", "]<]m",
    # values of parameters
    "<tool_call>file_report<arg_key>a</arg_key><arg_value>", "<arg_key>a</arg_key>", "<arg_value>", "<parameter=a>", "</parameter>",
    "<function=file_report>", "<function=file_report><parameter=title>", '<invoke name="file_report"><parameter name="title">',
    '<parameter name="title">', "<think>", "</think>", "<think>\n</think>", "<think><tool_call>", "<tool_call>{", '<tool_call>{"a": "',
    "<tool_call>\n{\"name\": \"file_report\", \"arguments\": {\"title\": \"", "<tool_call></tool_call>", "<tool_call>[", "</tool_call>",
    '{"name": "file_report", "arguments": {"title": "a"}}\n', '<tool_call>{"name": "file_report", "arguments": {}}</tool_call>',
    "<title>a</title>b", "<title>a</title>", "<|end|> <answer>", "<|end|>x</answer>", "<|end|> ", '<tool_call>{"\\"',
    '{"content": "a", "toolCalls": []}\n', "```\nfile_report()\n```\n", "```\nfile_report(title='a')\n```\n", "x <think>",
    "<tools>", "<observation>", "> <tool_call>", "<co>", "</co:", "</think>a", "<think>a</think>", "◁think▷",
    "1", "1e", "-", "-1,", "1" * 50, "0.", "null,", "true", "\t", "\r\n", " \n", "\n\n", "\n ", " ",
]  # fmt: skip


_LEADS = (
    "<think>",
    "{",
    "[",
    "```\n",
    "`",
    "(",
    "<",
    "◁",
    "Action: ",
    "file_report(",
    "Thought: ",
    "x <think>",
    "<answer>",
    "\\",
    '"',
)
_FLOODS = ("<", "{", "`", "\n{", "a", "[", "(", "\n", " ")


@dataclass(frozen=True, slots=True)
class Attack:
    """`lead` once, then `unit` over and over. `kind`: what the unit is."""

    name: str
    unit: str
    lead: str = ""
    kind: str = "in a value"

    def text(self, size: int) -> str:
        return (self.lead + self.unit * (size // len(self.unit) + 1))[:size]


def _heads(dialect: str) -> Iterator[Attack]:
    """A call of the dialect: whole over and over; never closed, over and over; and opened once, with a flood inside."""
    text, _ = call(dialect, 120)
    body = text.find("Pump")
    yield Attack(f"{dialect}: calls", text)
    yield Attack(f"{dialect}: calls cut before the closer", text[: text.rfind("14 stops") + 8])
    yield Attack(f"{dialect}: calls cut in the first value", text[: body + 4])
    for flood in ("<", "{", "[", '"', "\\", "]", "}", "\n", "a", " ", "`", "|", "'", text[:8]):
        yield Attack(f"{dialect}: {flood!r} in the first value", flood, lead=text[: body + 4])


def _mixtures(units: Sequence[str], count: int) -> Iterator[Attack]:
    """Two or three units in turn, the same choice every time."""
    draw = random.Random(count)  # reproducible attacks
    for _ in range(count):
        parts = [draw.choice(units) for _ in range(draw.choice((2, 2, 3)))]
        unit = draw.choice(("", "", " ", "\n", "a")).join(parts) + draw.choice(("", "", " ", "\n"))
        yield Attack(repr(unit), unit, kind="mixture")


def attacks(mixtures: int = 0) -> list[Attack]:
    openers = sorted(marker_table(None).literals)
    units = {
        "character": _CHARACTERS,
        "opener": [*openers, *_SPELLED],
        "nesting": _NESTING,
        "other": _UNITS,
        "opener and more": [opener + tail for opener in openers for tail in ("\n", "{", "[", "x", "```json")],
    }
    kinds = {unit: kind for kind in reversed(units) for unit in units[kind]}
    found = [Attack(repr(unit), unit, kind=kind) for unit, kind in kinds.items()]
    found += _mixtures([*_NESTING, *_UNITS, *openers, *_SPELLED], mixtures)
    found += [Attack(f"{lead!r} + {unit!r}", unit, lead, "behind a lead") for lead in _LEADS for unit in _FLOODS]
    for dialect in DIALECTS:
        found += _heads(dialect)
    return found


def seconds_to_read(text: str, chunk: int) -> float:
    """CPU seconds. A run that was stopped counts as infinity, one that raises as well (it must not)."""
    clock = time.thread_time
    limits = llmcore.Limits(looks=min(DEFAULT_LIMITS.looks, len(text) // 8))
    with no_gc():
        start = clock()
        normalizer = llmcore.Normalizer(TOOLS, limits=limits)
        try:
            for n, at in enumerate(range(0, len(text), chunk)):
                normalizer.feed(text[at : at + chunk])
                if not n % 256 and clock() - start > _STOP:  # asking the clock costs 0.7 us, a quarter of a feed's bar
                    return float("inf")
            normalizer.finish()
        except Exception as error:
            print(f"RAISED {type(error).__name__} for {text[:60]!r}...", flush=True)
            return float("inf")
        return clock() - start


@dataclass(slots=True)
class Figures:
    attack: Attack
    chunked: float
    whole: float
    per_feed: float
    growth: float

    @property
    def badness(self) -> float:
        """How many times over its bar the worst figure is (1 s/MB; 3 us a feed; growth 2.3, of what costs something)."""
        grown = self.growth / 2.3 if max(self.chunked, self.whole) > 0.1 else 0.0
        return max(self.chunked, self.whole, self.per_feed / 3, grown)

    def row(self) -> list[str]:
        name = self.attack.name if len(self.attack.name) < 56 else self.attack.name[:53] + "..."
        return [name, f"{self.chunked:.2f}", f"{self.whole:.2f}", f"{self.per_feed:.2f}", f"{self.growth:.2f}"]


def measure(attack: Attack, size: int, single: int) -> Figures:
    """`size`: characters of the larger text; `single`: of the larger one that is fed one by one."""
    scale = 1e6 / size
    chunked, chunked_growth = _doubled(attack, size, 16)
    whole = _steady(attack, size, size)
    each, each_growth = _doubled(attack, single, 1)
    return Figures(attack, chunked * scale, whole * scale, each / single * 1e6, max(chunked_growth, each_growth))


def _steady(attack: Attack, size: int, chunk: int) -> float:
    return steady(partial(seconds_to_read, attack.text(size), chunk))


def _doubled(attack: Attack, size: int, chunk: int) -> tuple[float, float]:
    """(seconds of the full size, growth from half of it). What looks bad is read in nine rounds, three if it takes
    seconds: another process may have been in the way.

    Both texts are cut at the same place of the unit: how one ends can decide whether it is read once more at the end.
    """
    half = size // 2 + (size - size // 2) % len(attack.unit)

    def one_round() -> tuple[float, float]:
        return _steady(attack, half, chunk) * size / (2 * half), _steady(attack, size, chunk)

    rounds = [one_round()]
    seconds = rounds[0][1]
    if growth(rounds) >= 2.1 or seconds / size * 1e6 > (3 if chunk == 1 else 1):
        rounds += [one_round() for _ in range(8 if seconds < 2 else 2)]
    return min(full for _, full in rounds), growth(rounds)


_HEAD = ["attack", "s/MB, chunks of 16", "s/MB, at once", "us/feed, single", "growth"]


def summary(found: Sequence[Figures]) -> str:
    """Each kind of attack: how many, how many over a bar, the median and the worst of what is measured."""
    rows: list[list[str]] = []
    for kind in dict.fromkeys(one.attack.kind for one in found):
        of_kind = [one for one in found if one.attack.kind == kind]
        columns = [[max(one.chunked, one.whole) for one in of_kind], [one.per_feed for one in of_kind]]
        cells = [f"{statistics.median(column):.2f} / {max(column):.2f}" for column in columns]
        rows.append([kind, str(len(of_kind)), str(sum(one.badness > 1 for one in of_kind)), *cells])
    return table(["kind", "attacks", "over a bar", "s/MB, median / worst", "us/feed, median / worst"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kb", type=float, default=32, help="size of the first pass")
    parser.add_argument("--worst", type=int, default=12, help="how many to show, and to read again at the full size")
    parser.add_argument("--full-kb", type=float, default=1000, help="0 = no second pass")
    parser.add_argument("--mixtures", type=int, default=300, help="how many random mixtures of two or three units")
    parser.add_argument("--kinds", nargs="*", default=[], help="only these kinds, such as character, opener, nesting")
    parser.add_argument("--only", default="", help="attacks whose name holds this")
    given = parser.parse_args()
    print(conditions(), flush=True)
    size = int(given.kb * 1000)
    chosen = [
        attack
        for attack in attacks(given.mixtures)
        if given.only in attack.name and (not given.kinds or attack.kind in given.kinds)
    ]
    found: list[Figures] = []
    for n, attack in enumerate(chosen, 1):
        found.append(measure(attack, size, size // 2))
        if n % 100 == 0:
            print(f"{n} of {len(chosen)} attacks", file=sys.stderr, flush=True)
    print(f"\n{summary(found)}")
    found.sort(key=lambda one: -one.badness)
    bad = sum(one.badness > 1 for one in found)
    print(f"\n{len(found)} attacks of {given.kb:g} KB, {bad} over a bar; the worst:\n")
    print(table(_HEAD, [one.row() for one in islice(found, max(given.worst, min(bad, 40)))]), flush=True)
    if given.full_kb:
        full = int(given.full_kb * 1000)
        again = sorted((measure(one.attack, full, 100_000) for one in found[: given.worst]), key=lambda one: -one.badness)
        print(f"\nthe worst again, of {given.full_kb:g} KB (single characters: 100 KB)\n")
        print(table(_HEAD, [one.row() for one in again]))


if __name__ == "__main__":
    main()
