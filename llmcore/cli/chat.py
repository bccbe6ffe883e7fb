"""`llmcore chat`: a conversation with a model in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llmcore.cli.helpers.model_choice import chosen_model, completed_model

__all__ = ["chat_command"]


def chat_command(
    model: Annotated[
        str,
        typer.Argument(
            help="PROVIDER/MODEL, an alias of the registry given by --models, or with --base-url a model's name.",
            metavar="MODEL",
            autocompletion=completed_model,
        ),
    ],
    tools: Annotated[
        str | None,
        typer.Option(
            help="The tools to offer. Functions of a module run; tools of a JSON file are only offered.",
            metavar="FILE|MODULE:OBJECT",
        ),
    ] = None,
    models: Annotated[
        Path | None, typer.Option(help="The model registry, a YAML file or folder.", envvar="LLMCORE_MODELS")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    system: Annotated[str | None, typer.Option(help="The system prompt.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as a JSON line. Read prompts from lines.")] = False,
) -> None:
    """Chat with a model, and see what happens: text and reasoning as they come, calls, repairs, waits and fallbacks.

    Each line is a prompt. /undo removes the last turn, /save FILE writes the messages, /help lists the commands, /quit or Ctrl-D
    ends the chat. Ctrl-C stops a reply, not the chat. A call of a tool that needs approval is asked about.

    Exit code 0; 2: the command or its configuration is wrong.
    """
    from llmcore.cli.chatting.session import ChatSession
    from llmcore.cli.helpers.tool_files import tool_objects
    from llmcore.orchestrator import Orchestrator

    registry, config = chosen_model(model, models, base_url)
    offered = tool_objects(tools) if tools is not None else []
    orchestrator = Orchestrator(registry, offered, system=system)
    ChatSession(orchestrator, config.alias, as_json=as_json).run()
