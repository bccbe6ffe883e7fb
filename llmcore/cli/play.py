"""`llmcore play`: a local page that shows how llmcore reads a reply. Needs the extra `llmcore-engine[gateway]`."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from llmcore.cli.output import exit_with_error, note, terminal, write

__all__ = ["play_command"]


def play_command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the page; 0 is any free port.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser, if this is a terminal.")] = True,
) -> None:
    """Open a local page: paste a reply and tools, and see the coloured text, calls, repairs and near misses.

    It shows the reply read whole and chunk by chunk. The page's link holds the text, so that you can send it with a bug report.
    The page listens on 127.0.0.1 only and asks no model. Ctrl-C ends it.

    Exit code 0 after Ctrl-C; 2: the port is taken, or a package is missing.
    """
    import socket
    import webbrowser

    from llmcore.types import ConfigError

    try:
        import uvicorn

        from llmcore.cli.playing.app import play_app
    except ModuleNotFoundError as error:
        raise ConfigError(f"play needs {error.name}: pip install 'llmcore-engine[gateway]'") from error
    with socket.socket() as listening, suppress(KeyboardInterrupt):  # uvicorn raises it again, after the shutdown
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            exit_with_error(f"port {port}: {error.strerror or error}; --port 0 is any free port")
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.listen()
        write(url)
        if terminal().is_terminal:
            note("Ctrl-C ends the page")
            if browser:
                webbrowser.open(url)
        uvicorn.Server(uvicorn.Config(play_app(), log_level="warning", lifespan="off")).run(sockets=[listening])
