"""`llmcore serve`: runs the gateway. Needs the extra `llmcore-engine[gateway]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["serve_command"]


def serve_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="The registry, with a section `gateway`: a YAML file or a folder.", metavar="PATH", envvar="LLMCORE_MODELS"
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to listen on. Any but loopback needs keys of clients.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 is any free port.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="How many processes serve. Limits count in each.")] = 1,
    grace: Annotated[int, typer.Option(min=0, help="How many seconds requests in flight have to end at a shutdown.")] = 30,
) -> None:
    """Serve OpenAI's and Anthropic's APIs in front of the models of a registry, with native calls from models that write text.

    Exit code 0 after SIGINT or SIGTERM; 2: the configuration cannot be served.
    """
    from llmcore.gateway.serving import serve

    serve(path, host=host, port=port, workers=workers, grace=grace)
