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
from llmcore.cli.play import play_command
from llmcore.cli.probe import probe_command
from llmcore.cli.record import record_command
from llmcore.cli.replay import replay
from llmcore.cli.serve import serve_command
from llmcore.cli.tools import tools
from llmcore.cli.verify import verify_command

__all__ = ["COMMANDS", "app"]

COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "chat": (chat_command, "llmcore chat qwen3:8b --base-url http://127.0.0.1:11434/v1 --tools my_tools:tools"),
    "replay": (replay, "llmcore replay runs.jsonl --html report.html"),
    "normalize": (normalize_command, "llmcore normalize reply.txt --tools tools.json --explain"),
    "explain": (explain_command, "llmcore explain trailing_comma"),
    "play": (play_command, "llmcore play"),
    "record": (
        record_command,
        'llmcore record groq/llama-3.3-70b-versatile "Weather?" --tools my_tools:tools -o runs.jsonl',
    ),
    "models": (models, "llmcore models models.yaml"),
    "probe": (probe_command, "llmcore probe qwen3:8b --base-url http://127.0.0.1:11434/v1"),
    "verify": (verify_command, "llmcore verify qwen3:8b@http://127.0.0.1:11434/v1"),
    "tools": (tools, "llmcore tools my_tools:tools > TOOLS.md"),
    "mcp": (mcp_command, "llmcore mcp my_tools:tools"),
    "serve": (serve_command, "llmcore serve models.yaml --port 8000"),
}
"""Each command with its example, which stands below its help."""

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
    pretty_exceptions_enable=False,  # a traceback is for a bug report: plain, complete, without the values of variables
    help="Reliable tool calling and typed output on any language model.",
    epilog="`llmcore COMMAND --help` lists the options of a command. Documentation: docs/cli.md",
)
for _name, (_command, _example) in COMMANDS.items():
    app.command(_name, epilog=f"Example: {_example}")(_command)


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
