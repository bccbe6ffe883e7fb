"""Runs the gateway behind uvicorn: one process, or several workers on one port.

A worker reads the configuration itself: its path is in the environment, its keys are not.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import signal
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from llmcore.gateway.app import create_app
from llmcore.gateway.settings import load_configuration
from llmcore.gateway.telemetry import MULTIPROCESS_FOLDER
from llmcore.types import ConfigError

__all__ = ["serve", "worker_app"]

_PATH = "LLMCORE_GATEWAY_CONFIG"
_KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays. Load balancers keep theirs for up to 60 seconds and must not find it closed."""
_LOG_LEVELS = {"": logging.WARNING, "llmcore": logging.INFO, "uvicorn": logging.INFO}
"""The levels of the process's loggers. httpx would log each request to a model's server at INFO."""


def serve(path: Path, *, host: str, port: int, workers: int, grace: int) -> None:
    """Serve until SIGINT or SIGTERM. Then new connections are refused, and requests in flight have `grace` seconds to end.

    Raises `ConfigError` for a configuration that cannot be served, before anything listens.
    """
    registry, settings = load_configuration(path)
    create_app(registry, settings)
    if not settings.keys and not settings.anonymous and not _is_loopback(host):
        raise ConfigError(
            f"{path}: gateway.keys: there are none, so the gateway listens on loopback only, not on {host}; "
            "add keys of clients, or set `gateway.anonymous: true`"
        )
    _set_up_logs()
    os.environ[_PATH] = str(path)
    # After the shutdown, uvicorn raises the signal again. Without a handler, SIGTERM would end the process with 143.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack, suppress(KeyboardInterrupt):
        if workers > 1 and MULTIPROCESS_FOLDER not in os.environ:
            os.environ[MULTIPROCESS_FOLDER] = stack.enter_context(tempfile.TemporaryDirectory(prefix="llmcore-metrics-"))
        uvicorn.run(
            "llmcore.gateway.serving:worker_app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            lifespan="on",
            log_config=None,
            access_log=False,  # the gateway's own lines name the client and the model
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=grace,
        )


def worker_app() -> Starlette:
    """The application of one worker process."""
    _set_up_logs()
    return create_app(os.environ[_PATH])


def _set_up_logs() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    for name, level in _LOG_LEVELS.items():
        logging.getLogger(name).setLevel(level)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
