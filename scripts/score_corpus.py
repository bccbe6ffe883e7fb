"""Scores a parser of tool calls on `fixtures/dialects`: `python scripts/score_corpus.py MODULE:FUNCTION [FILE.jsonl ...]`

The function gets the text of a reply and the tools, as dicts with `name` and `parameters` (None: they are not known). A parameter
`finish_reason` is optional. It returns the calls as pairs of a name and arguments. Only calls are scored (docs/corpus.md).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "dialects"
Parser = Callable[..., Iterable[tuple[str, Any]]]


def _number(text: str) -> float:
    return int(float(text)) if float(text).is_integer() else float(text)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 is 1.0, but neither `true` nor "1". Raises `TypeError` for what is no JSON."""
    first, second = (json.dumps(json.loads(json.dumps(value), parse_float=_number), sort_keys=True) for value in (one, other))
    return first == second


def outcome(parse: Parser, row: dict[str, Any]) -> str:
    """`right`, `missed` (no call was read), `wrong` (other calls were read) or `raised`."""
    finish = {"finish_reason": row.get("finish_reason")} if "finish_reason" in signature(parse).parameters else {}
    try:
        calls = [tuple(call) for call in parse(row["text"], row["tools"], **finish)]
        if not calls:
            return "missed" if row["verdict"] == "y" else "right"
        return "right" if same(calls, [(call["name"], call["arguments"]) for call in row["calls"]]) else "wrong"
    except Exception:
        return "raised"


def score(parse: Parser, files: Sequence[Path] = ()) -> dict[str, Counter[str]]:
    """By file: how many rows there are of each verdict and outcome, as `y right`."""
    rows = {path.stem: filter(None, path.read_text("utf-8").split("\n")) for path in files or sorted(FOLDER.glob("*.jsonl"))}
    return {
        file: Counter(f"{row['verdict']} {outcome(parse, row)}" for row in map(json.loads, lines)) for file, lines in rows.items()
    }


if __name__ == "__main__":
    sys.path.insert(0, "")  # Python puts the script's folder there, not the working directory
    module, _, function = sys.argv[1].partition(":")
    scores = score(getattr(import_module(module), function), [Path(name) for name in sys.argv[2:]])
    print(f"{'file':12}{'y: read':>16}{'n: left alone':>16}{'i: either':>16}{'raised':>8}")
    for file, found in (*scores.items(), ("all", sum(scores.values(), Counter[str]()))):
        totals = {verdict: sum(n for key, n in found.items() if key[0] == verdict) for verdict in "yni"}
        right = "".join(f"{found[f'{verdict} right']:>9} of {totals[verdict]:>3}" for verdict in "yni")
        print(f"{file:12}{right}{sum(n for key, n in found.items() if 'raised' in key):>8}")
