r"""Our JSON repairer beside json_repair, in one run: what it makes of broken text, what it costs, how the cost grows.

`python -m benchmarks.repair`. The cases are ours and so is the yardstick: where a text has one sensible reading it is given;
`REFUSE` where none is safe. *Silently wrong* is a wrong value that nothing marks: json_repair marks nothing, we mark a `guess`
and a cut text, which run on no tool with side effects.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import json_repair

from benchmarks.timing import best_of, conditions, growth, seconds, table
from llmcore.normalizer.notations.json import read_json

__all__ = ["CASES", "REFUSE", "judge", "main"]

REFUSE: Any = object()

CASES: list[tuple[str, Any]] = [
    ('{"to": "ann@x.org", "cc": [],}', {"to": "ann@x.org", "cc": []}),
    ("{'to': 'bob', 'urgent': True, 'reply_to': None}", {"to": "bob", "urgent": True, "reply_to": None}),
    ("{to: 'bob', lines: 3}", {"to": "bob", "lines": 3}),
    ('{"size": (640, 480), "tags": {"a", "b"}}', {"size": [640, 480], "tags": ["a", "b"]}),
    ('{"n": 1, // the first\n "m": 2 /* and */ }', {"n": 1, "m": 2}),
    ("# settings\n{'debug': False}", {"debug": False}),
    ('```json\n{"q": "tea"}\n```', {"q": "tea"}),
    ('{"text": "first line\nsecond line"}', {"text": "first line\nsecond line"}),
    (r'{"pattern": "\d{3}-\w+"}', {"pattern": r"\d{3}-\w+"}),
    (r'{"text": "it\'s fine"}', {"text": "it's fine"}),
    (r'{"path": "D:\Data\notes\today.txt"}', {"path": r"D:\Data\notes\today.txt"}),
    (r"{\"q\": \"tea\", \"n\": 2}", {"q": "tea", "n": 2}),
    (r'{\n  "q": "tea",\n  "n": 2\n}', {"q": "tea", "n": 2}),
    ('{"q": "tea" "n": 2}', {"q": "tea", "n": 2}),
    ('{"q": "tea"\n "n": 2}', {"q": "tea", "n": 2}),
    ('{"q" "tea"}', {"q": "tea"}),
    ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
    ('{"a": {"b": [1, 2}}', {"a": {"b": [1, 2]}}),
    ('{"a": [1, 2}, "b": 3}', {"a": [1, 2], "b": 3}),
    ('[{"a": 1}}, {"b": 2}]', [{"a": 1}, {"b": 2}]),
    ('{"a": {"b": 1}}, "c": 2}', {"a": {"b": 1}, "c": 2}),
    ('{"a": 1}}', {"a": 1}),
    ('{"say": "the sign read "closed" today"}', {"say": 'the sign read "closed" today'}),
    ('{"cmd": "grep -r "TODO" src", "cwd": "."}', {"cmd": 'grep -r "TODO" src', "cwd": "."}),
    ('{"code": "x = ["a", "b"]", "run": true}', {"code": 'x = ["a", "b"]', "run": True}),
    ('{"js": "f({"k": "v"})", "n": 1}', {"js": 'f({"k": "v"})', "n": 1}),
    ("{'msg': 'don't panic', 'n': 1}", {"msg": "don't panic", "n": 1}),
    ('{"total": 12 * 4, "share": 1/8}', {"total": 48, "share": 0.125}),
    ('{"x": .25, "y": 1_500, "mask": 0xFF}', {"x": 0.25, "y": 1500, "mask": 255}),
    ('{"when": 2026-03-01, "zip": 01234}', {"when": "2026-03-01", "zip": "01234"}),
    ('{"phone": +44 20 7946, "price": $9, "off": 20%}', {"phone": "+44 20 7946", "price": "$9", "off": "20%"}),
    ("{city: New York, days: 2}", {"city": "New York", "days": 2}),
    ("{\u201ccity\u201d: \u201cRome\u201d}", {"city": "Rome"}),
    ('{"id": 123456789012345678901234567890,}', {"id": 123456789012345678901234567890}),
    ('{"doc": """a "b" c"""}', {"doc": 'a "b" c'}),
    ('{"city": "Oslo"}\n{"city": "Bern"}', [{"city": "Oslo"}, {"city": "Bern"}]),
    ("{'f': 1} {'f': 2} {'f': 3}", [{"f": 1}, {"f": 2}, {"f": 3}]),
    ('{"cmd": "say "go", "force": true, "to": "me"", "n": 1}', REFUSE),
    ('{"w": "3"5", "h": "4"8"}', REFUSE),
    ('{"amount": 1,250}', REFUSE),
    ('{"limit": 1e999}', REFUSE),
    ('{"limit": NaN, "unit": "m",}', REFUSE),
    ('{"a": 1{"a": 2}', REFUSE),
    ('{"city": "Rome"{"city": "Bern"}', REFUSE),
    ('{"a": , "b": 2}', REFUSE),
    ('{"path": "x, "mode": 1}', REFUSE),
    ("I am sorry, but I cannot do that.", REFUSE),
    ("As [1] and {others} show, no.", REFUSE),
    ('{"go": compute(3)}', REFUSE),
]

ATTACKS: dict[str, Callable[[int], str]] = {
    'open list of `"a" "b: `': lambda n: "[" + '"a" "b: ' * n,
    "open string of `x,`": lambda n: '{"a": "' + "x," * n,
    "open string of `x, `quotes": lambda n: '{"a": "' + 'x", ' * n,
}


def _ours(text: str) -> tuple[Any, bool]:
    """The value and whether it would run on any tool; `REFUSE` for none."""
    reading = read_json(text)
    if not reading.values or text[reading.end :].strip():
        return REFUSE, False
    certain = reading.complete and all(repair.safety in ("lossless", "coerced") for repair in reading.repairs)
    return (reading.values[0] if len(reading.values) == 1 else reading.values), certain


def _theirs(text: str) -> tuple[Any, bool]:
    try:
        value = json_repair.loads(text)
    except Exception:  # it leaks AssertionError and RecursionError
        return REFUSE, False
    return (REFUSE, False) if value == "" else (value, True)


def _same(got: Any, wanted: Any) -> bool:
    return REFUSE not in (got, wanted) and json.dumps(got) == json.dumps(wanted)


def judge(read: Callable[[str], tuple[Any, bool]]) -> Counter[str]:
    """How many cases came out right, silently wrong, wrong but marked, or refused; and how many of the right are guesses."""
    counts: Counter[str] = Counter()
    for text, wanted in CASES:
        got, certain = read(text)
        if (got is REFUSE and wanted is REFUSE) or _same(got, wanted):
            counts["right"] += 1
            counts["right, as a guess"] += got is not REFUSE and not certain
        elif got is REFUSE:
            counts["refused"] += 1
        else:
            counts["silently wrong" if certain else "wrong, but marked"] += 1
    return counts


def _costs() -> list[list[str]]:
    body = {f"field_{at}": {"title": f"value number {at}", "done": at % 2 == 0, "at": at} for at in range(14)}
    written = json.dumps(body)
    texts = {
        "valid, 1 KB": written,
        "one trailing comma, 1 KB": written[:-1] + ",}",
        "Python repr, 1 KB": repr(body),
        "a long string, 8 KB, unquoted key": '{path: "a.py", "text": "' + "some text to write " * 420 + '"}',
    }
    rows: list[list[str]] = []
    for name, text in texts.items():
        times = best_of({"ours": partial(read_json, text), "theirs": partial(json_repair.loads, text)}, 15)
        ours, theirs = times["ours"] * 1e6, times["theirs"] * 1e6
        rows.append([name, f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.1f}x"])
    return rows


def _growth_of(read: Callable[[str], object], attack: Callable[[int], str], size: int) -> str:
    texts = [attack(n) for n in (size, 2 * size, 4 * size)]
    return f"{growth([[seconds(partial(read, text)) for text in texts] for _ in range(3)]):.1f}"


def main() -> None:
    print(conditions())
    ours, theirs = judge(_ours), judge(_theirs)
    kinds = ["right", "right, as a guess", "refused", "wrong, but marked", "silently wrong"]
    print(f"\n{len(CASES)} broken texts")
    print(table(["outcome", "ours", "json_repair"], [[kind, str(ours[kind]), str(theirs[kind])] for kind in kinds]))
    print("\nus a text")
    print(table(["text", "ours", "json_repair", "ratio"], _costs()))
    print("\ngrowth when the text doubles")
    rows = [
        [name, _growth_of(read_json, attack, 4000), _growth_of(json_repair.loads, attack, 250)]
        for name, attack in ATTACKS.items()
    ]
    print(table(["hostile text", "ours", "json_repair"], rows))


if __name__ == "__main__":
    main()
