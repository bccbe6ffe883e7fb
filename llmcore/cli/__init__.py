"""The command line, `llmcore`.

Rules: a command is one module with one function and one line in `app.COMMANDS`. A command imports its libraries when
it runs, so `llmcore --help` stays fast. Results go to standard output, everything else to standard error. A mistake of
the user gives one clear line and exit code 2, never a traceback.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The console script."""
    from llmcore.cli.app import app
    from llmcore.cli.output import guard_output

    guard_output()
    app(prog_name="llmcore")
