"""Backslashes of Windows paths that JSON reads as escapes stay backslashes; escapes of ordinary text stay escapes."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("read_file", ["path"], path="string"),
        tool("run", ["cmd"], cmd="string"),
        tool("say", ["text"], text="string"),
        tool("move", ["files"], files={"type": "array", "items": {"type": "string"}}),
    ]
)
_FORMS = [
    '<tool_call>{"name": "read_file", "arguments": {"path": "%s"}}</tool_call>',
    '{"name": "read_file", "arguments": {"path": "%s"}}',
    '[read_file(path="%s")]',
    "<tool_call>{'name': 'read_file', 'arguments': {'path': '%s'}}</tool_call>",
    '[TOOL_CALLS]read_file[ARGS]{"path": "%s"}',
    'Action: read_file\nAction Input: {"path": "%s"}',
]


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("path", [r"C:\new\file.txt", r"D:\temp", r"c:\users\\rob\\notes.md", r"C:\new folder\bin"])
def test_a_path_is_what_was_written(form: str, path: str) -> None:
    (call,) = read_every_way(form.replace("%s", path), _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {"path": path.replace("\\\\", "\\")}
    assert "guess" in {repair.safety for repair in call.repairs if repair.kind == "windows_path"}


@pytest.mark.parametrize(
    ("name", "arguments", "read"),
    [
        ("run", r'{"cmd": "echo a\ndir C:\temp\new"}', {"cmd": "echo a\ndir C:\\temp\\new"}),
        ("say", r'{"text": "It is in C:\fonts\arial.ttf now"}', {"text": r"It is in C:\fonts\arial.ttf now"}),
        ("say", r'{"text": "C:\tools\run.exe"}', {"text": r"C:\tools\run.exe"}),
        ("move", r'{"files": ["a", "C:\notes"]}', {"files": ["a", r"C:\notes"]}),
        ("read_file", r'{"path": "\\server\share\new"}', {"path": r"\\server\share\new"}),
    ],
)
def test_a_path_in_a_value(name: str, arguments: str, read: object) -> None:
    text = f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert call.arguments == read
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("windows_path", "guess")]


@pytest.mark.parametrize(
    "text",
    [
        r"Drive C:\nDrive D:\nDrive E:",
        r"a:\nb",
        r"x:\n1\n2",
        r"def f:\n\treturn 1",
        r"key:\tvalue",
        r"C:\n- tidy up",
        r"Plan B:\nsell it",
        r"C:\\new\\file.txt",
    ],
)
def test_escapes_of_text_stay_escapes(text: str) -> None:
    said = f'<tool_call>{{"name": "say", "arguments": {{"text": "{text}"}}}}</tool_call>'
    (call,) = read_every_way(said, _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {
        "text": text.replace("\\n", "\n").replace("\\t", "\t") if "\\\\" not in text else r"C:\new\file.txt"
    }
    assert call.repairs == []


def test_line_breaks_between_tags_are_none() -> None:
    text = '<invoke name="read_file"><parameter name="path">C:\nnew\nfile.txt</parameter></invoke>'
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert (call.arguments, call.repairs) == ({"path": "C:\nnew\nfile.txt"}, [])
