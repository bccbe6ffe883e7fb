"""`llmcore tools`: writes a catalogue of tools as Markdown, OpenAPI or JSON."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from llmcore.cli.output import write

__all__ = ["tools"]


class _Form(StrEnum):
    md = "md"
    openapi = "openapi"
    json = "json"


def tools(
    given: Annotated[
        str,
        typer.Argument(
            help="A JSON file of tools, or module:object: tools, a registry or an agent.", metavar="FILE|MODULE:OBJECT"
        ),
    ],
    form: Annotated[_Form, typer.Option("--format", "-f", help="The format to write.")] = _Form.md,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    title: Annotated[str, typer.Option(help="The title.")] = "Tools",
    api_version: Annotated[str, typer.Option(help="The version in the OpenAPI document.")] = "1.0.0",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")] = None,
) -> None:
    """Write a catalogue of tools.

    Exit code 0; 2: the tools cannot be read, or the file cannot be written.
    """
    from llmcore.cli.helpers.tool_files import tool_objects
    from llmcore.tools.catalogue import Format, catalogue
    from llmcore.types import ConfigError

    forms: dict[_Form, Format] = {_Form.md: "markdown", _Form.openapi: "openapi", _Form.json: "json"}
    text = catalogue(tool_objects(given), forms[_Form.json if as_json else form], title=title, version=api_version)
    if output is None:
        write(text.rstrip("\n"), wrap=False)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{output}: {error.strerror or error}") from None
