"""Whatever comes from a file, a model or a server reaches the terminal escaped, on every way out of every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.transcripts.runs import TOOLS, chat

EVIL = "\x1b[2J\x1b]0;t\x07\x9b2J\x7f\r\x08\u202e\u2066\u200f\u2028\u2029\ufeff\u061c\U000e0041\ud83d[bold]x[/][link=u]y[/link]"
STEERING = set(EVIL) - set("[2J]0;t[bold]x[/][link=u]y[/link]")
FILE = "a\x1b[2J\x9b\u202e[bold]b"


def assert_harmless(*outputs: str) -> None:
    for output in outputs:
        assert not set(output) & STEERING
        assert "\x1b" not in output


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": EVIL, "type": "function", "function": function}


BODY = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": EVIL,
                "reasoning_content": EVIL,
                "tool_calls": [call(EVIL, {EVIL: EVIL})],
            },
            "finish_reason": EVIL,
        }
    ]
}
TEXT = f'{EVIL}\n<tool_call>{{"name": "get_weather", "arguments": {{"city": "{EVIL}", \'a\': 1,}}}}</tool_call>'
TAGS = f"<tool_call><function=f{EVIL}><parameter={EVIL}>{EVIL}</parameter></function></tool_call>"
REPLIES = {"body": json.dumps(BODY), "text": TEXT.replace("\ud83d", ""), "tags": TAGS.replace("\ud83d", "")}


@pytest.mark.parametrize("options", [(), ("--stream",), ("--explain",), ("--explain", "--tools")], ids=" ".join)
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_reply(invoke: Invoke, tmp_path: Path, reply: str, options: tuple[str, ...]) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), "utf-8")
    given = [*options, str(tmp_path / "tools.json")] if options[-1:] == ("--tools",) else list(options)
    result = invoke("normalize", "-", *given, stdin=reply.encode())
    assert result.exit_code == 0
    assert_harmless(result.stdout, result.stderr)


def test_a_reply_as_json_reads_back_as_it_was(invoke: Invoke) -> None:
    envelope = json.loads(invoke("normalize", "-", stdin=json.dumps(BODY).encode()).stdout)
    assert (envelope["content"], envelope["reasoning"], envelope["finish_word"]) == (EVIL, EVIL, EVIL)
    assert [(made["name"], made["arguments"]) for made in envelope["tool_calls"]] == [(EVIL, {EVIL: EVIL})]
    lines = invoke("normalize", "-", "--stream", stdin=json.dumps(BODY).encode()).stdout.splitlines()
    assert json.loads(lines[-1])["content"] == EVIL
    assert "".join(line["text"] for line in map(json.loads, lines) if line["type"] == "text_delta") == EVIL


@pytest.mark.parametrize("options", [(), ("--json",), ("--on-error", "skip")], ids=" ".join)
def test_a_recording(invoke: Invoke, tmp_path: Path, options: tuple[str, ...]) -> None:
    hostile = {
        "id": EVIL,
        "provider": EVIL,
        "model": EVIL,
        "provenance": EVIL,
        "response": chat({"city": EVIL}, content=EVIL),
        "expect": {"calls": [{"name": EVIL, "arguments": {EVIL: EVIL}}], "content": EVIL, "value": {EVIL: EVIL}},
    }
    bad = {**hostile, "tools": [{"type": "function", "function": {"name": EVIL, "parameters": {"type": EVIL}}}]}
    failed = {**hostile, "error": {"message": EVIL}}
    del failed["response"]
    lines = [json.dumps(line) for line in (hostile, failed, bad)] + [f'{{"{EVIL}": '.replace("\ud83d", ""), '{"exchanges": 3}']
    path = tmp_path / f"{FILE}.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    (tmp_path / f"{FILE}.yaml").write_text(f"interactions:\n- '{FILE}': 1".replace("\x1b", ""), "utf-8")
    result = invoke("replay", tmp_path, *options)
    assert result.exit_code in (1, 2)
    assert_harmless(result.stdout, result.stderr)
    if "--json" in options:
        assert json.loads(result.stdout)["unmet"][0]["id"] == EVIL


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", FILE),
        ("normalize", FILE),
        ("normalize", "-", "--tools", FILE),
        ("normalize", "-", "--tools", f"os:{FILE}"),
        ("normalize", "-", "--dialect", FILE),
        ("normalize", "-", "--as", FILE),
        ("models", FILE),
        ("record", FILE, "x", "-o", "/dev/null"),
        (FILE,),
        ("replay", f"--{FILE}"),
        (f"--{FILE}",),
        ("normalize", "-", FILE),
    ],
)
def test_a_name_on_the_command_line(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    result = invoke(*arguments, stdin=b"")
    assert result.exit_code == 2
    assert_harmless(result.stdout, result.stderr)


def test_a_registry(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / f"{FILE}.yaml"
    evil = EVIL.replace("\ud83d", "").replace("\U000e0041", "")  # YAML has no escapes for pairs
    settings = {"provider": "custom", "model": evil, "prices": {"input": 1}}
    path.write_text(json.dumps({"llm": {"models": {evil: settings}}}), "utf-8")
    for options in ((), ("--json",)):
        result = invoke("models", path, *options)
        assert result.exit_code == 0
        assert_harmless(result.stdout, result.stderr)
    for wrong in ({"\x1b[2J": 1}, {"provider": evil}, {"provider": "openai"}, {"text_dialect": evil}):
        path.write_text(json.dumps({"llm": {"models": {"a": {**settings, **wrong}}}}), "utf-8")
        result = invoke("models", path)
        assert result.exit_code == 2
        assert_harmless(result.stderr)
