"""A redis-server for the tests of a module, emptied before each test."""

from tests.helpers.redis_server import server, url

__all__ = ["server", "url"]
