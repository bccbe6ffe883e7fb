"""The application: its commands, its version, and how it reports errors."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from llmcore.cli.chat import chat_command
from llmcore.cli.explain import explain_command
from llmcore.cli.mcp import mcp_command
from llmcore.cli.models import models
from llmcore.cli.normalize import normalize_command
from llmcore.cli.output import exit_with_error, write
from llmcore.cli.probe import probe_command
from llmcore.cli.record import record_command
from llmcore.cli.replay import replay
from llmcore.cli.serve import serve_command
from llmcore.cli.tools import tools
from llmcore.cli.verify import verify_command

__all__ = ["COMMANDS", "app"]

COMMANDS: dict[str, Callable[..., None]] = {
    "chat": chat_command,
    "replay": replay,
    "normalize": normalize_command,
    "explain": explain_command,
    "record": record_command,
    "models": models,
    "probe": probe_command,
    "verify": verify_command,
    "tools": tools,
    "mcp": mcp_command,
    "serve": serve_command,
}


_UsageError: Any = typer.BadParameter.__base__  # it is in click or in typer, depending on typer's release
_NO_ARGUMENTS = "NoArgsIsHelpError"
"""A usage error that shows the help."""


class _Commands(TyperGroup):
    """Reports mistakes of the user in one line, and keeps the order of the commands."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _one_line():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]  # click's Context, which typer's extends
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Generator[None]:
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == _NO_ARGUMENTS:
            raise
        where = error.ctx.command_path if error.ctx is not None else "llmcore"
        exit_with_error(f"{error.format_message().rstrip('.')} (see `{where} --help`)")
    except Exception as error:
        from llmcore.types import LLMCoreError  # this import is half of the start-up time, and seldom needed

        if isinstance(error, LLMCoreError):
            exit_with_error(str(error))
        raise


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback is for a bug report: plain, complete, without the values of variables
    help="Reliable tool calling and typed output on any language model.",
)
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from llmcore.about import build_info

        write(str(build_info()))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and the build, and exit.")
    ] = False,
) -> None:
    """Options of the whole command line."""
