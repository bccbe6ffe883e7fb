"""`llmcore chat`: a conversation with a model in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from llmcore.cli.helpers.model_choice import BaseUrlOption, ModelArgument, RegistryOption, SystemOption, ToolsOption, chosen_model

__all__ = ["chat_command"]


def chat_command(
    model: ModelArgument,
    tools: ToolsOption = None,
    models: RegistryOption = None,
    base_url: BaseUrlOption = None,
    system: SystemOption = None,
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
