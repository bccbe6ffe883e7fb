"""A call among the statements of a program is shown, not made."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

CALL = 'read_file(path="a.md")'


@pytest.mark.parametrize(
    "statement",
    [
        "import tools",
        "import os.path as p, sys  # for later",
        "from tools import *",
        "x = 1",
        "a.b['c'] = 2",
        "n: int = 3",
        "total += 1",
        "for name in names:",
        "for k, v in d.items():",
        "if ready and not done:",
        "while x < 3:",
        "with open('a') as f:",
        "def main():",
        "class Main:",
        "try:",
        "except OSError as e:",
        "return x",
        "raise ValueError()",
        "pass",
        "@cached(1)",
        'print("done")',
    ],
)
@pytest.mark.parametrize(
    "text", ["{0}\n{1}", "{1}\n{0}", "{0}\n\n# then\nping()\n{1}", "{1}\nping()\n\n{0}\n", "{0}\n[{1}, ping()]"]
)
def test_a_call_beside_a_statement_is_content(text: str, statement: str) -> None:
    text = text.format(statement, CALL)
    envelope = read_every_way(text, chunkings=2)
    assert not envelope.tool_calls
    assert envelope.content == text
    assert "example" in {miss.reason for miss in envelope.near_misses}


@pytest.mark.parametrize(
    "beside",
    [
        "I look:",
        "If needed, I read more.",
        "for the rest I need your word.",
        "while we wait, that is all:",
        "# the file",
        "from there we go on.",
        "import it later, please.",
        "ping()",
        "Return to this later.",
        "a == b",
    ],
)
@pytest.mark.parametrize("text", ["{0}\n{1}", "{1}\n{0}"])
def test_a_call_beside_a_line_of_prose_is_one(text: str, beside: str) -> None:
    assert "read_file" in [call.name for call in read_every_way(text.format(beside, CALL), chunkings=2).tool_calls]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (f"print({CALL})", 0),
        (f"ping()\nprint({CALL})", 0),
        (f"print(default_api.{CALL})", 1),
        (f"tool_code\nprint({CALL})", 1),
        (f"```python\nprint({CALL})\n```", 1),
        (f"```tool_code\nprint({CALL})\n```", 1),
    ],
)
def test_a_printed_call_outside_of_a_fence_is_content(text: str, calls: int) -> None:
    envelope = read_every_way(text)
    assert len(envelope.tool_calls) == calls
    assert bool(envelope.near_misses) is not bool(calls)


@pytest.mark.parametrize(
    "definition",
    [
        "def {0}(city):\n    return city",
        "async def {0}(city):\n    return city",
        "function {0}(city) {{ return city }}",
        "const {0} = (city) => city",
        "{0} = lambda city: city",
    ],
)
@pytest.mark.parametrize(
    "shape", ["{0}\n\n{1}", "```\n{0}\n\n{1}\n```", "```\n{0}\n```\n\nThen:\n\n{1}", "```\n{0}\n```\n\n```\n{1}\n```"]
)
def test_a_call_of_a_function_that_the_reply_defines_is_code(definition: str, shape: str) -> None:
    said = shape.format(definition.format("read_file"), CALL)
    assert read_every_way(said, chunkings=2).tool_calls == []


def test_a_call_object_behind_a_definition_of_its_name_is_a_call() -> None:
    written = '<tool_call>{"name": "read_file", "arguments": {"path": "a.md"}}</tool_call>'
    said = f"```python\ndef read_file(path): ...\n```\nNow I call it:\n{written}"
    assert [call.name for call in read_every_way(said, chunkings=2).tool_calls] == ["read_file"]
