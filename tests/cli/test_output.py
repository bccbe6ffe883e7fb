"""What models wrote, on a terminal and in JSON."""

from __future__ import annotations

import ast
import io
import json
import math
import subprocess
import sys
import unicodedata
from collections.abc import Callable

import pytest
import typer
from rich.table import Table
from rich.text import Text

from llmcore.cli.output import as_json_text, exit_with_error, inline, note, printable, shortened_line, write
from llmcore.types import Repair
from tests.cli.conftest import ROOT

JOINERS = "\u200c\u200d"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\u202etxt", "\\u202etxt"),
        ("\x9b", "\\x9b"),
    ],
)
def test_inline(text: str, shown: str) -> None:
    assert inline(text) == shown


STEERING = "".join(
    char
    for char in map(chr, range(0xE1000))
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in JOINERS
)


def test_every_character_that_steers_or_hides_is_escaped_and_the_others_are_not() -> None:
    assert not set(STEERING) & set(inline(STEERING))
    assert set(printable(STEERING)) & set(STEERING) == {"\n", "\t"}
    assert not (set(STEERING) - {"\n"}) & set(as_json_text({STEERING: [STEERING]}, indent=2))
    usual = "aé ß 日本語 עברית العربية \u0645\u06cc\u200c\u062e\u0648👩\u200d👩\u200d👧 ❤\ufe0f 🇫🇷 \xa0\u2003\u3000 ￼�"
    assert (inline(usual), printable(usual), as_json_text(usual)) == (usual, usual, f'"{usual}"')


def test_json_that_is_printed_reads_back_as_it_was() -> None:
    apart = "-".join(STEERING)  # two halves of a pair in a row are one character to any reader of JSON
    value = {apart: [apart, {"plain": "é 😀 \\u202e \\"}], "n": [1, 2.5, True, None]}
    assert json.loads(as_json_text(value)) == value
    assert json.loads(as_json_text(value, indent=2)) == value


def test_json_has_no_numbers_that_json_lacks() -> None:
    value = [math.nan, (math.inf, {"a": -math.inf}), Repair(kind="k", before=math.nan), "NaN"]
    assert json.loads(as_json_text(value, indent=1))[:2] == ["NaN", ["Infinity", {"a": "-Infinity"}]]
    assert json.loads(as_json_text(value))[2]["before"] == "NaN"


def test_json_is_json_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert as_json_text("é\x9b") == '"\\u00e9\\u009b"'


def test_what_is_written_is_escaped_whatever_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(STEERING)
    table.add_row("[bold]bold[/bold] [link=http://x]link[/link] :smile:")
    write(table)
    write(f"one\ttwo\n{STEERING}")
    write(Text(STEERING), wrap=False)
    note(STEERING)
    with pytest.raises(typer.Exit):
        exit_with_error(STEERING)
    out, err = capsys.readouterr()
    assert not set(out + err) & (set(STEERING) - {"\n", "\t"})
    assert "[bold]bold[/bold] [link=http://x]link[/link] :smile:" in out
    assert "one\ttwo\n" in out
    assert err.count("\n") == 2


PRINTS = frozenset({"print", "echo", "secho", "echo_via_pager", "print_json", "pprint", "Console", "stdout", "stderr"})


def prints(code: str) -> list[str]:
    """Everything in a module's code that prints, or gets hold of what does, by another way than `output.write`."""
    names = ((node, getattr(node, "attr", None) or getattr(node, "id", None)) for node in ast.walk(ast.parse(code)))
    return [f"line {getattr(node, 'lineno', 0)}: {name}" for node, name in names if name in PRINTS]


def test_nothing_is_printed_by_another_way() -> None:
    modules = [path for path in (ROOT / "llmcore" / "cli").glob("*.py") if path.name != "output.py"]
    assert len(modules) > 8
    assert {path.name: found for path in modules if (found := prints(path.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    "code", ["print(1)", "typer.echo(x)", "sys.stdout.write(x)", "console.print(x)", "Console()", "import sys\nx = sys.stderr"]
)
def test_a_print_by_another_way_is_seen(code: str) -> None:
    assert prints(code)


def test_log_records_warnings_and_tracebacks_are_escaped(script_of: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    code = (
        "import logging, warnings; from llmcore.cli.output import guard_output; guard_output();"
        "logging.getLogger('llmcore.x').warning('log \\x1b[2J'); warnings.warn('warned \\x9b'); raise ValueError('raised \\u202e')"
    )
    done = script_of(code)
    assert not set(done.stderr) & set("\x1b\x9b\u202e")
    assert [word in done.stderr for word in ("log \\x1b", "warned \\x9b", "raised \\u202e", "Traceback")] == [True] * 4


def test_json_text_keeps_what_it_can_and_escapes_the_rest() -> None:
    assert as_json_text({"a": "é"}) == '{"a": "é"}'
    assert as_json_text({"a": "\ud83d"}) == '{"a": "\\ud83d"}'
    assert json.loads(as_json_text([Repair(kind="k", before="x")]))[0]["kind"] == "k"
    assert as_json_text({"a": {1}}) == '{"a": "{1}"}'


def test_shortened() -> None:
    assert shortened_line({"a": 1}) == '{"a": 1}'
    assert shortened_line("x" * 400, 10) == "xxxxxxxxxx... (400 characters)"


def test_nothing_on_standard_error_holds_a_key(script_of: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    """Log records and a bug's traceback may quote one; results are printed as they were said."""
    code = """
import logging, os, warnings
from llmcore.cli.output import guard_output, write
os.environ["FOO_API_KEY"] = key = "quiteUnlike4nyKey"
guard_output()
write(key)
logging.getLogger("x").warning("a log of %s", key)
warnings.warn(f"a warning of {key}")
raise RuntimeError(f"a bug with {key}")
"""
    done = script_of(code)
    assert done.stdout == "quiteUnlike4nyKey\n"
    assert "quiteUnlike4nyKey" not in done.stderr
    assert [text in done.stderr for text in ("a log of [secret]", "a warning of [secret]", "a bug with [secret]")] == [True] * 3
