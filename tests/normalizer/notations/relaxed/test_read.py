"""JSON as models break it: the reading we want, and how far each can be trusted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.notations.relaxed import read as relaxed
from llmcore.normalizer.notations.relaxed.read import Relaxed, read_relaxed
from llmcore.types.envelope import Safety
from tests.helpers.builds import pure_only

GEMMA = ('<|"|>',)
ORDER: tuple[Safety, ...] = ("lossless", "coerced", "guess", "truncated")


def read(text: str, *, cut: bool = False, delimiters: tuple[str, ...] = ()) -> Relaxed:
    return read_relaxed(text, 0, len(text), cut=cut, string_delimiters=delimiters)


def worst(reading: Relaxed) -> Safety | None:
    found = {repair.safety for repair in reading.repairs}
    return next((safety for safety in reversed(ORDER) if safety in found), None)


READ: list[tuple[str, Any, Safety]] = [
    # quotes and keys
    ("{'a': 'b'}", {"a": "b"}, "lossless"),
    ("{`a`: `b\nc`}", {"a": "b\nc"}, "lossless"),
    ("{\u201ca\u201d: \u201cb\u201d}", {"a": "b"}, "guess"),
    ("{\u2018a\u2019: \u2018it\u2019s\u2019}", {"a": "it\u2019s"}, "guess"),
    ("{a: 1, b-c: 2, $d: 3, e.f: 4}", {"a": 1, "b-c": 2, "$d": 3, "e.f": 4}, "lossless"),
    ("{a\\_b: 1}", {"a_b": 1}, "lossless"),
    ("{1: 'x'}", {"1": "x"}, "lossless"),
    ('{"a": """x "y" z"""}', {"a": 'x "y" z'}, "lossless"),
    ('{"a": u"x"}', {"a": "x"}, "lossless"),
    ('{"a": "", "b": \'\'}', {"a": "", "b": ""}, "lossless"),
    ('{"code": ```python\nx = "1"\n```}', {"code": 'x = "1"'}, "guess"),
    # literals, tuples, sets
    ("[True, False, None]", [True, False, None], "lossless"),
    ("[TRUE, undefined]", [True, None], "guess"),
    ("[(1, 2), (), (3,), (4)]", [[1, 2], [], [3], 4], "lossless"),
    ('[{1, 2}, {"x", "y"}, {}]', [[1, 2], ["x", "y"], {}], "lossless"),
    # comments and commas
    ('{"a": 1, // one\n# two\n"b": /* b */ 2}', {"a": 1, "b": 2}, "lossless"),
    ('{"a": "x", // y", "z\n "b": 2}', {"a": "x", "b": 2}, "lossless"),
    ('{"a": [1, 2,],}', {"a": [1, 2]}, "lossless"),
    ("[, 1]", [1], "lossless"),
    ("[1,, 2]", [1, 2], "guess"),
    ('{"a": 1 "b": "x" "c": [2] "d": {}}', {"a": 1, "b": "x", "c": [2], "d": {}}, "guess"),
    ('{"a": 1\n b: 2}', {"a": 1, "b": 2}, "guess"),
    ('["a" "b"\n"c"]', ["a", "b", "c"], "guess"),
    ('[{"a": 1} {"b": 2}]', [{"a": 1}, {"b": 2}], "lossless"),
    ('{"a"\uff1a 1\uff0c"b": 2}', {"a": 1, "b": 2}, "guess"),
    # separators of keys
    ('{"a" = 1, b => "x"}', {"a": 1, "b": "x"}, "guess"),
    ('{"a" "x", "b" [1], "c" 2, "d" true}', {"a": "x", "b": [1], "c": 2, "d": True}, "guess"),
    (
        '{tool => "f", args => {\n--city "Paris"\n--days 2\n}}',
        {"tool": "f", "args": {"--city": "Paris", "--days": 2}},
        "guess",
    ),
    # strings
    ('{"a": "x\ny\tz\x00"}', {"a": "x\ny\tz\x00"}, "lossless"),
    (r'{"a": "\d+\_\$", "b": "it\'s"}', {"a": r"\d+\_\$", "b": "it's"}, "lossless"),
    (r"{'a': '\x41\'s'}", {"a": "A's"}, "lossless"),
    (r'{"a": "\ud83d\ude00\q"}', {"a": "\U0001f600\\q"}, "lossless"),
    (r'{"p": "C:\Users\new\table.txt"}', {"p": r"C:\Users\new\table.txt"}, "guess"),
    (r'{"p": "cd D:\Umm\new && x\ny"}', {"p": "cd D:\\Umm\\new && x\ny"}, "guess"),
    (r'{"p": "C:\Users\x\", "n": 1}', {"p": "C:\\Users\\x\\", "n": 1}, "guess"),
    (r'{"q": "A:\nyes", }', {"q": "A:\nyes"}, "lossless"),
    # escaped once too often
    (r"{\"a\": \"b\", \"n\": [1, true]}", {"a": "b", "n": [1, True]}, "lossless"),
    (r'{"query": \"foo\"}', {"query": "foo"}, "lossless"),
    (r"{\"a\": \"say \\\"hi\\\"\\n\", \"b\": 1}", {"a": 'say "hi"\n', "b": 1}, "lossless"),
    (r'{\n  "a": 1,\n  "b": [\n2]\n}', {"a": 1, "b": [2]}, "lossless"),
    (r"\[{\"a\": 1}\]".replace("\\]", "]"), [{"a": 1}], "lossless"),
    # brackets
    ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}, "lossless"),
    ('{"a": [1, 2}', {"a": [1, 2]}, "lossless"),
    ('{"x": {"a": [1, 2}}', {"x": {"a": [1, 2]}}, "lossless"),
    ('{"a": [1, 2}, "b": 3}', {"a": [1, 2], "b": 3}, "guess"),
    ('{"a": 1]', {"a": 1}, "lossless"),
    ('[{"a": 1], {"b": 2}]', [{"a": 1}, {"b": 2}], "guess"),
    ('[{"a": 1}}, {"b": 2}]', [{"a": 1}, {"b": 2}], "guess"),
    ('{"a": {"b": 1}}, "c": 2}', {"a": {"b": 1}, "c": 2}, "guess"),
    ('{"a": "x"], "b": 2}', {"a": "x", "b": 2}, "guess"),
    ('{"a": "hello}', {"a": "hello"}, "guess"),
    # numbers
    (
        "[.5, 1., -1_000, 0x1F, 0b11, 1.e3]".replace("1.e3", "1_0.5"),
        [0.5, 1.0, -1000, 31, 3, 10.5],
        "lossless",
    ),
    ("[+1]", [1], "guess"),
    ("[2*5, 1/6, 2 + 3 * 4, 10 - 2 - 3, -1 * 2]", [10, 1 / 6, 14, 5, -2], "coerced"),
    # bare words
    ("{a: hello world, b: https://x.y/z, t: 10:30}", {"a": "hello world", "b": "https://x.y/z", "t": "10:30"}, "guess"),
    (
        "{a: Hi, friends!,\nb: it's one\n  and two,\n c: Jan 1, 2024}",
        {"a": "Hi, friends!", "b": "it's one\n  and two", "c": "Jan 1, 2024"},
        "guess",
    ),
    ('{a: 1,\n Some key: "x"}', {"a": 1, "Some key": "x"}, "guess"),
    ("[2026-11-15, 12/25/2024, 1 km]", ["2026-11-15", "12/25/2024", "1 km"], "guess"),
    # inner quotes
    ('{"a": "say "hi" now", "b": 1}', {"a": 'say "hi" now', "b": 1}, "guess"),
    ('{"a": "find . -name "*.py""}', {"a": 'find . -name "*.py"'}, "guess"),
    ('{"a": "x = ["p", "q"]", "b": 1}', {"a": 'x = ["p", "q"]', "b": 1}, "guess"),
    ('{"a": "awk \'{print "$1"}\' f"}', {"a": "awk '{print \"$1\"}' f"}, "guess"),
    ('{"a": "d = {"k": "v"}", "b": 1}', {"a": 'd = {"k": "v"}', "b": 1}, "guess"),
    ('{"a": "f({"k": "v"})", "b": 1}', {"a": 'f({"k": "v"})', "b": 1}, "guess"),
    ('{"h": "5\'10" tall", "b": [1]}', {"h": "5'10\" tall", "b": [1]}, "guess"),
    ("{'a': 'it's', 'b': 'don't'}", {"a": "it's", "b": "don't"}, "guess"),
    ('["say "hi"", "x"]', ['say "hi"', "x"], "guess"),
]


@pytest.mark.parametrize(("text", "value", "safety"), READ)
def test_reading(text: str, value: Any, safety: Safety) -> None:
    reading = read(text)
    assert (reading.value, reading.error, reading.complete, reading.end) == (value, None, True, len(text))
    assert worst(reading) == safety


@pytest.mark.parametrize("text", [text for text, _, _ in READ])
def test_idempotent_and_deterministic(text: str) -> None:
    first, second = read(text), read(text)
    assert first == second
    again = read_json(json.dumps(first.value))
    assert (again.values, again.repairs) == ([first.value], [])


REFUSED = [
    '{"a": NaN, b: 1}',
    "[Infinity,]",
    "{a: -inf}",
    "{a: 1e400}",
    '{"a": 1{"a": 2, "a": 3}',
    '{"a": , "b": 1}',
    '{"a": }',
    '{"a"}'.replace('"a"', "a"),
    '{"amount": 1,000}',
    '{"a": "x, "b": 1}',
    '{"a": foo{"b": 1}}',
    "{a: b: 1}",
    "[a[0]]",
    "[f(x)]",
    "{not}",
    '{"a": 5"10}',
    '{"cmd": "a "x", "sudo": true, "y": "z"", "n": 1}',
    '{"h": "6"2", "w": "3"4"}',
    '{"a": "x"{',
    '{"a": "x"{"b": 1}',
    '["say "a", "b" now", "c"]',
    '{"a": b"x"}',
    "I cannot do that.",
    "",
    "}",
    ",",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    reading = read(text)
    assert reading.value is None
    assert reading.error in {"unreadable", "nested_call"}
    assert reading.repairs == []


CUT: list[tuple[str, Any]] = [
    ('{"a": 1, "b": 100', {"a": 1}),
    ('{"a": 1, "b": 1.', {"a": 1}),
    ('{"a": 1, "b": fals', {"a": 1}),
    ('{"a": 1, "b": hello wor', {"a": 1}),
    ('{"a": 1, "b": true', {"a": 1, "b": True}),
    ('{"a": 1, "b": 100 ', {"a": 1, "b": 100}),
    ('{"a": 1, "b": ', {"a": 1}),
    ('{"a": 1, "b"', {"a": 1}),
    ('{"a": 1, "b', {"a": 1}),
    ('{"a": 1, ', {"a": 1}),
    ('{"a": "hel', {"a": "hel"}),
    (r'{"a": "hel\u00', {"a": "hel"}),
    ('{"a": "hel\\', {"a": "hel"}),
    (r'{"a": "hel\\', {"a": "hel\\"}),
    (r'{"a": "hel\ud83d', {"a": "hel"}),
    ('{"a": "say "hi', {"a": 'say "hi'}),
    ('[1, [2, {"x": [3, 4', [1, [2, {"x": [3]}]]),
    ('{"a": {', {"a": {}}),
]


@pytest.mark.parametrize(("text", "value"), CUT)
def test_cut_text_gives_its_complete_parts(text: str, value: Any) -> None:
    reading = read(text, cut=True)
    assert (reading.value, reading.complete, reading.error) == (value, False, None)
    assert worst(reading) == "truncated"


@pytest.mark.parametrize("text", ['{"a": 1, "b":', '{"a": 1, "b"', '{"a": "hel', '{"a": fals', '{"a": 1, "b'])
def test_cut_text_is_never_complete(text: str) -> None:
    reading = read(text, cut=False)
    assert not reading.complete
    assert worst(reading) == "truncated"


def test_a_whole_value_in_a_cut_text_is_complete() -> None:
    for text in ("{'a': [1, 2}", "{a: 1,}", "[1,2,]"):
        assert read(text, cut=True).complete


def test_every_prefix_of_a_broken_text_keeps_whole_members_only() -> None:
    text = '{\'name\': "it", n: [12, {k: True}], \'x\': "y \\" z", }'
    whole = read(text).value
    for at in range(1, len(text) - 1):
        value: dict[str, Any] = read(text[:at], cut=True).value or {}
        for key, member in value.items():
            if isinstance(member, str):
                assert whole[key].startswith(member)
            elif member != whole[key]:
                assert key == "n"
                assert member in ([], [12], [12, {}], [12, {"k": True}])


def test_notations_are_recorded_once_and_edits_each_time() -> None:
    reading = read("{'a': True, 'b': 2*3, 'c': {'d': [.5, .25]}}")
    assert [(repair.kind, repair.path, repair.before, repair.after) for repair in reading.repairs] == [
        ("single_quotes", "", "'", None),
        ("python_literal", "a", "True", True),
        ("arithmetic", "b", "2*3", 6),
        ("number_notation", "c.d[0]", ".5", 0.5),
        ("number_notation", "c.d[1]", ".25", 0.25),
    ]


def test_a_bare_word_differs_from_bare_text() -> None:
    """A word under a string schema can only be that string; text that runs over a comma may have swallowed a member."""
    reading = read("{a: Paris, b: Paris, France, c: [x, y]}")
    assert reading.value == {"a": "Paris", "b": "Paris, France", "c": ["x", "y"]}
    assert [(repair.kind, repair.path) for repair in reading.repairs[1:]] == [
        ("bare_word", "a"),
        ("bare_text", "b"),
        ("bare_word", "c[0]"),
        ("bare_word", "c[1]"),
    ]


def test_anything_may_follow_without_an_end() -> None:
    text = "see {'a': 'x'}, 'b' and {'c': 1}"
    reading = read_relaxed(text, 4)
    assert (reading.value, reading.end) == ({"a": "x"}, 14)


def test_repairs_show_a_part_of_long_text() -> None:
    reading = read('{"a": "' + "x" * 5000 + ' "y" z"}')
    assert len(reading.repairs[0].before) < 200


@pytest.mark.parametrize(
    ("text", "value", "safety"),
    [
        ('{city:<|"|>Paris<|"|>}', {"city": "Paris"}, None),
        ('{a:<|"|>"x" \\n {,}\n<|"|>,n:3,b:true,z:null}', {"a": '"x" \\n {,}\n', "n": 3, "b": True, "z": None}, None),
        ('{l:[<|"|>x<|"|>,1],o:{k:<|"|>v<|"|>}}', {"l": ["x", 1], "o": {"k": "v"}}, None),
        ('{<|"|>k y<|"|>:1}', {"k y": 1}, None),
        ('{query:"raw \\"quoted\\""}', {"query": 'raw "quoted"'}, None),
        ('{city:Paris<|"|>}', {"city": "Paris"}, "guess"),
        ('{city:Paris, France<|"|>,days:3}', {"city": "Paris, France", "days": 3}, "guess"),
        ('{days:3,city:Paris<|"|>}', {"days": 3, "city": "Paris"}, "guess"),
        ('{city:Paris,note:<|"|>x, y<|"|>}', {"city": "Paris", "note": "x, y"}, "guess"),
        ('{city:<|"|>Paris}', {"city": "Paris"}, "guess"),
        ("{city:Paris}", {"city": "Paris"}, "guess"),
        ('(city:<|"|>Paris<|"|>)', {"city": "Paris"}, "lossless"),
        ('{city:<|"|>Paris<|"|>', {"city": "Paris"}, "lossless"),
    ],
)
def test_delimited_strings(text: str, value: Any, safety: Safety | None) -> None:
    reading = read(text, delimiters=GEMMA)
    assert (reading.value, reading.complete, reading.error) == (value, True, None)
    assert worst(reading) == safety


def test_a_delimited_string_that_is_cut() -> None:
    reading = read("{city:<escape>Par", cut=True, delimiters=("<escape>",))
    assert (reading.value, reading.complete) == ({"city": "Par"}, False)


@pure_only("it reads the docstring of a module")
def test_every_kind_of_repair_is_documented() -> None:
    folder = Path(relaxed.__file__).parent
    sources = "".join(path.read_text("utf-8") for path in folder.glob("*.py") if path.name != "markup.py")
    used = set(re.findall(r"""(?:record|note|repair)\(\s*"([a-z_]+)"|kind="([a-z_]+)\"""", sources))
    kinds = {first or second for first, second in used}
    documented = set(re.findall(r"[a-z_]+", (relaxed.__doc__ or "").partition("The kinds")[2]))
    assert len(kinds) > 35
    assert kinds - documented == set()
