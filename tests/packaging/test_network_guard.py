"""The guard of tests/conftest.py: loopback passes, everything else is stopped and remembered."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.conftest import NetworkBlockedError

ELSEWHERE = "192.0.2.1"  # TEST-NET-1: routed nowhere


@pytest.fixture
def attempts(_network_attempts: list[object]) -> list[object]:
    return _network_attempts


def test_loopback_passes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 5) as client:
        client.sendall(b"x")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(1) == b"x"


def test_an_address_elsewhere_is_blocked(attempts: list[object]) -> None:
    with socket.socket() as sock, pytest.raises(NetworkBlockedError, match=ELSEWHERE):
        sock.connect((ELSEWHERE, 80))
    assert attempts == [ELSEWHERE]
    attempts.clear()


def test_a_datagram_elsewhere_is_blocked(attempts: list[object]) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(NetworkBlockedError):
        sock.sendto(b"x", (ELSEWHERE, 53))
    attempts.clear()


def test_a_name_is_not_looked_up(attempts: list[object]) -> None:
    with pytest.raises(NetworkBlockedError, match=r"example\.com"):
        socket.create_connection(("example.com", 443))
    assert attempts == ["example.com"]
    attempts.clear()


@pytest.mark.anyio
async def test_asyncio_is_guarded_too(attempts: list[object]) -> None:
    with pytest.raises(NetworkBlockedError):
        await asyncio.open_connection(ELSEWHERE, 80)
    attempts.clear()
