"""What holds in every test: no network but loopback, reproducible fuzzing, one event loop; what `make test` leaves to `make sweep`.

The guard raises at the attempt and, since library code may swallow that, fails the test once more at its end.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import llmcore
from tests.helpers.selection import beyond_one_each, is_sampled

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "nightly", deadline=None, max_examples=5_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_PROFILE)


def pytest_configure() -> None:
    """`make test-compiled` says which build it means to test. Tests are collected in a quarter less time without the collector."""
    gc.disable()
    wanted = os.environ.get("LLMCORE_BUILD")
    if wanted == "compiled" and not llmcore.build_info().compiled:
        raise pytest.UsageError(f"LLMCORE_BUILD={wanted}, but llmcore is {llmcore.build_info()}: run `make test-compiled`")


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A quarter of the time is waiting for a clock or a socket: another process computes meanwhile."""
    cores = os.cpu_count() or 1
    return cores + (cores + 1) // 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", type=int, default=1, metavar="N", help="run one test of N, chosen by its id and --seed")
    parser.addoption("--seed", type=int, default=0, metavar="S", help="N seeds that follow each other run every test once")


def pytest_report_header(config: pytest.Config) -> list[str]:
    sample, seed = config.option.sample, config.option.seed
    return [f"one test of {sample}: --sample={sample} --seed={seed}"] if sample > 1 else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before `-m` chooses: the cases beyond those of `make test` are marked; `--sample` leaves the others out."""
    for item in beyond_one_each(items):
        item.add_marker(pytest.mark.sweep)
    sample, seed = config.option.sample, config.option.seed
    if sample > 1:
        config.hook.pytest_deselected(items=[item for item in items if not is_sampled(item.nodeid, sample, seed)])
        items[:] = [item for item in items if is_sampled(item.nodeid, sample, seed)]


def pytest_collection_finish() -> None:
    """The collected tests live to the end, and so does most of what tests import: the collector leaves the first alone, and
    walks the second seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


class NetworkBlockedError(RuntimeError):
    """A test reached for a host other than this machine."""


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host == "" or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _guarded(original: Callable[..., Any], host_of: Callable[..., object], attempts: list[object]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        host = host_of(*args, **kwargs)
        if not _is_loopback(host):
            attempts.append(host)
            raise NetworkBlockedError(f"tests may reach this machine only, not {host!r}")
        return original(*args, **kwargs)

    return call


def _host_of_name(host: object, *_: object, **__: object) -> object:
    return host


def _host_of_peer(sock: socket.socket, *args: Any) -> object:
    """The host in the address, the last argument of connect, connect_ex and sendto; None for a Unix socket's path."""
    return args[-1][0] if sock.family in (socket.AF_INET, socket.AF_INET6) else None


@pytest.fixture(scope="session", autouse=True)
def _network_attempts() -> Iterator[list[object]]:
    attempts: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name), _host_of_peer, attempts))
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
            patch.setattr(socket, name, _guarded(getattr(socket, name), _host_of_name, attempts))
        yield attempts


@pytest.fixture(autouse=True)
def _loopback_only(_network_attempts: list[object]) -> Iterator[None]:
    _network_attempts.clear()
    yield
    assert not _network_attempts, f"the test reached for {_network_attempts}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked `anyio` run on asyncio, the loop that litellm needs."""
    return "asyncio"
