"""`llmcore record --proxy`: records the requests of any client through a proxy on loopback."""

from __future__ import annotations

import signal
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from llmcore.cli.output import exit_with_error, note, write

__all__ = ["record_by_proxy"]


def record_by_proxy(upstream: str, output: Path, *, port: int, provider: str | None, provenance: str | None) -> None:
    """Listen until SIGINT or SIGTERM. Each exchange becomes a line of `output` when it ends."""
    from llmcore.adapters.providers.names import check_provider
    from llmcore.adapters.recording.proxy import RecordingProxy
    from llmcore.transcripts.formats.hosts import provider_of_host
    from llmcore.types import ConfigError

    place = urlsplit(upstream)
    if place.scheme not in ("http", "https") or not place.hostname:
        exit_with_error("--proxy needs the URL that requests go to, such as https://api.openai.com/v1")
    if place.query or place.fragment or place.username is not None:
        exit_with_error("--proxy needs a URL without credentials and query; those that a client sends are forwarded")
    try:
        if provider:
            check_provider(provider)
    except ConfigError as error:
        exit_with_error(str(error))
    named = provider or provider_of_host(upstream)
    try:
        origin = provenance or _provenance(upstream, named)
        proxy = RecordingProxy(upstream, output, provider=named, provenance=origin, port=port, tell=note)
    except OSError as error:
        exit_with_error(f"port {port}: {error.strerror or error}")
    ended = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with proxy:
            write(proxy.url)
            note(f"requests to {proxy.url} go to {upstream} and are recorded in {output}; Ctrl-C ends")
            ended.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    note(f"recorded: {proxy.exchanges} exchanges{_exceptions(proxy.cut, proxy.lost)}")


def _exceptions(cut: int, lost: int) -> str:
    """How many exchanges were cut off or lost, in words."""
    parts = (f"{cut} of them without a whole reply" if cut else "", f"{lost} more could not be written" if lost else "")
    return "".join(f", {words}" for words in parts if words)


def _provenance(upstream: str, provider: str) -> str:
    from llmcore.transcripts.formats.hosts import is_local

    return f"{'local' if is_local(upstream) else 'live'}: {provider} by proxy, {datetime.now(UTC):%Y-%m-%d}"
