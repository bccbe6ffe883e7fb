"""The application behind the page of `llmcore play`."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette")

from httpx import ASGITransport, AsyncClient, Response  # they come with the extra

from llmcore.cli.playing.app import MAX_BODY, play_app  # the same

pytestmark = pytest.mark.anyio
GIVEN = {"reply": "Hello.", "tools": "", "size": 8}


async def asked(method: str, path: str, host: str = "127.0.0.1", **options: Any) -> Response:
    async with AsyncClient(transport=ASGITransport(play_app()), base_url=f"http://{host}:8765") as client:
        return await client.request(method, path, **options)


async def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = await asked("GET", "/")
    assert page.status_code == 200
    assert page.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert "//" not in page.text.replace("//127.0.0.1", "").partition("<body>")[0]


async def test_a_reply_is_read() -> None:
    answer = await asked("POST", "/read", json=GIVEN)
    assert (answer.status_code, answer.json()["content"]) == (200, "Hello.")


async def test_text_that_utf8_cannot_encode_is_answered() -> None:
    answer = await asked(
        "POST", "/read", content=b'{"reply": "a \\ud83d b", "tools": "", "size": 8}', headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    assert b"\\ud83d" in answer.content


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ({"json": GIVEN, "host": "attacker.example"}, 400, "Invalid host"),
        ({"content": b"{}", "headers": {"content-type": "text/plain"}}, 415, "application/json"),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400, "no JSON"),
        ({"json": {**GIVEN, "reply": 3}}, 400, "needs `reply`"),
        ({"json": {**GIVEN, "tools": "["}}, 400, "the tools are no JSON"),
        ({"json": {**GIVEN, "reply": "a" * MAX_BODY}}, 413, "bytes"),
    ],
)
async def test_what_cannot_be_read_is_refused(options: dict[str, Any], status: int, words: str) -> None:
    answer = await asked("POST", "/read", **options)
    assert answer.status_code == status
    assert words in answer.text
