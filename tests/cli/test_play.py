"""`llmcore play`: the page in a browser, and how the command begins and ends."""

from __future__ import annotations

import base64
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Invoke

pytest.importorskip("starlette")
TOOLS = '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]'
HOSTILE = "</script><script>document.title = 'broken'</script>"
REPLY = f"""<think>Zürich or 東京?</think>{HOSTILE}
<tool_call>{{"name": "get_weather", "arguments": {{"city": "Zürich",}}}}</tool_call>
Write `get_weather(city="Oslo")`."""


@contextmanager
def playing() -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The running command and its URL."""
    command = [sys.executable, "-m", "llmcore", "play", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def link(reply: str, tools: str = TOOLS) -> str:
    """The fragment that holds a reply."""
    state = json.dumps({"reply": reply, "tools": tools, "size": 5}, ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(state).decode().rstrip("=")


def test_a_browser_shows_what_the_link_holds(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", f"--user-data-dir={tmp_path}"]
    with playing() as (url, _):
        done = subprocess.run(
            [browser, *flags, "--dump-dom", f"{url}#{link(REPLY)}"], capture_output=True, timeout=120, check=True
        )
    page = done.stdout.decode()
    assert 'data-ready="yes"' in page
    for shown in (
        '<span class="piece reasoning">Zürich or 東京?</span>',
        '<span class="piece call" data-call="0">&lt;tool_call&gt;',
        '<span class="piece miss" data-miss="0" title="It stands in a quotation',
        "<li>trailing_comma (lossless)",
        '<span class="soft good">may run</span>',
        '<span class="soft"> · quoted</span>',
        "the reply means the same as whole.",
        "<i>call finished</i>",
        "&lt;/script&gt;&lt;script&gt;document.title",
    ):
        assert shown in page
    assert "<title>llmcore play</title>" in page


def test_ctrl_c_ends_it() -> None:
    with playing() as (url, process):
        assert url.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_a_taken_port_is_a_mistake(invoke: Invoke) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        result = invoke("play", "--port", str(other.getsockname()[1]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Address already in use; --port 0 is any free port" in result.stderr
