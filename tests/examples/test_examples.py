"""Every example runs offline and prints what is written here; the README's ten lines run on a fake and on real wires."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.wire_server import Step, Turn, WireServer
from tests.packaging.tree import ROOT

FOLDER = ROOT / "examples"

PRINTED = {
    "quickstart": "It is sunny.",
    "text_calls": """\
        Qwen: book {'seats': 2, 'row': 'C'} by hermes
        Qwen coder: book {'seats': 2, 'row': 'C'} by qwen3_coder
        Claude: book {'seats': 2, 'row': 'C'} by anthropic_function_calls
        Llama: book {'seats': 2, 'row': 'C'} by llama3_json; repaired: number_from_text (coerced)
        Mistral: book {'seats': 2, 'row': 'C'} by mistral_v11
        a fence, broken JSON: book {'seats': 2, 'row': 'C'} by fenced_json; \
repaired: single_quotes (lossless), trailing_comma (lossless)
        prose about a call: no call; content 'Write `<tool_call>{"name": "book", "arguments": {}}</tool_call>` to book.'""",
    "typed_output": """\
        City(name='Paris', people=2048472, river='Seine')
        asked 2 times; the second time because of:
        - `people`: expected integer, got string "about two million"
        City(name='Paris', people=2048472, river=None) ['single_quotes', 'trailing_comma', 'number_from_text']""",
    "streaming": """\
        -- request 1 (first)
        text 'Let me'
        text ' look.'
        calling get_weather
        arguments '{"ci'
        arguments 'ty": "'
        arguments 'Paris"'
        arguments '}'
        result of get_weather is '22 degrees and sunny in Paris'
        -- request 2 (turn)
        text 'It is'
        text ' sunny.'
        -- done: It is sunny.""",
    "fallback": """\
        A server that refuses tools: Sunny all along.
          1. small, native_tools, first; -
          2. small, text, mode; CapabilityRefused: gemma2:9b does not support tools
          3. small, text, turn; -
        A model that does not get it right: Sunny all along.
          1. small, native_tools, first; -
          2. small, native_tools, reask; `days`: expected integer, got string "a few"
          3. small, text, mode; ModelError: the reply cannot be used and it repeated itself when asked again: \
`days`: expected integer, got string "a few"
          4. large, native_tools, model; ModelError: the reply cannot be used and no re-ask is left: \
`days`: expected integer, got string "a few"
          5. large, native_tools, turn; -""",
    "geo_agent": """\
        store: Show me R1.
        map: parcels where [{'op': '=', 'zone': 'R1'}], style fill, color None
        socket: R1 is on the map: 42 parcels, dense.
        results: ['42 parcels found', 'Dense.', 'false']
        offered: ['parcels', 'roads']
        store: Thanks!
        socket: You are welcome.
        system messages in the history: 0""",
    "approval": """\
        ran: ['balance']
        may it? Pay 5 EUR to Ann
        ran: [('pay', 'approve', '5 EUR went to Ann')]
        Ann has her 5 EUR.""",
    "replay": """\
        Oslo stays sunny for three days.
        1. first; -
        2. reask; `days`: expected integer, got string "a few"
        3. turn; -""",
}


def test_every_example_is_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_should(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [line.removeprefix("        ") for line in PRINTED[name].splitlines()]


# The README


def readme_example() -> str:
    """The first Python block."""
    block = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    return block[1]


def without_blank_lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]


def test_the_readme_shows_the_quickstart_in_ten_lines() -> None:
    shown = without_blank_lines(readme_example())
    assert len(shown) <= 10
    assert without_blank_lines((FOLDER / "quickstart.py").read_text("utf-8"))[1:] == shown


AS_TEXT = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
NATIVE = Turn(calls=[("get_weather", {"city": "Paris"})])


@pytest.mark.parametrize(
    ("model", "environment", "call"),
    [
        ("groq/llama-3.3-70b-versatile", {"GROQ_API_BASE": "{base}", "GROQ_API_KEY": "test-key"}, AS_TEXT),
        ("ollama/qwen3", {"OLLAMA_API_BASE": "{base}"}, NATIVE),
    ],
)
def test_with_only_the_model_name_changed_it_runs_over_a_socket(
    model: str, environment: dict[str, str], call: Step, tmp_path: Path
) -> None:
    code, changed = re.subn(r"^model = .*$", f'model = "{model}"', readme_example(), flags=re.MULTILINE)
    assert changed == 1
    (tmp_path / "example.py").write_text(code)
    with WireServer([call, "It is sunny."]) as server:
        base = server.base_url(model.partition("/")[0])
        told = {name: value.format(base=base) for name, value in environment.items()}
        command = [sys.executable, str(tmp_path / "example.py")]
        done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("It is sunny.\n", "")
    assert len(server.requests) == 2
    assert "22 degrees and sunny in Paris" in str(server.requests[1].body)
