"""A redis-server for the tests of a module, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.redis_server import client_of, redis_server

__all__ = ["server", "url"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    with client_of(server) as client:
        client.flushall()
    return server
