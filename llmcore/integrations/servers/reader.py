"""What the plugins of all servers need: a reader of one reply for the tools of its request."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from llmcore.support.values.narrowing import object_in
from llmcore.types import ConfigError
from llmcore.wire.append_only import AppendOnlyStream
from llmcore.wire.rewriting import arguments_text, joined_texts
from llmcore.wire.tools import decode_tools

__all__ = ["ParserReply", "as_objects", "server_module"]

_OPENS, _CLOSES = "<think>", "</think>"


def server_module(name: str) -> Any:
    """A module of the inference server that runs the plugin. Raises `ConfigError` if the server is not installed here."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        server = name.partition(".")[0]
        raise ConfigError(f"only {server} imports this plugin: install llmcore in its environment (docs/servers.md)") from error


def as_objects(tools: Iterable[Any] | None) -> list[dict[str, Any]]:
    """The tools of a server's request, which are pydantic models, as the request wrote them."""
    return [tool if isinstance(tool, dict) else tool.model_dump(exclude_none=True) for tool in tools or ()]


class ParserReply:
    """Reads one reply of a model, whole or streamed. Its calls come at the end, since a server cannot take one back.

    - `tool_choice`: the one of the request. If it is `none`, all text is content.
    - `inline_reasoning`: the interface has no place for reasoning, so it stays in the content, between `<think>` and `</think>`.
    """

    def __init__(self, tools: Iterable[dict[str, Any]], tool_choice: object = None, *, inline_reasoning: bool = False) -> None:
        decoded = decode_tools([*tools], built_in="drop", free_text="function")
        choice = object_in(tool_choice)
        forced = object_in(choice.get("function")).get("name") or choice.get("name")
        self._stream: AppendOnlyStream | None = None
        if len(decoded.tools) and tool_choice != "none":
            self._stream = AppendOnlyStream(decoded.tools, forced_tool=forced if forced in decoded.tools.names else None)
        self._inline = inline_reasoning
        self._thinks = False
        """Whether inline reasoning is open."""

    def feed(self, text: str) -> tuple[str, str]:
        """(content, reasoning) that this text decides."""
        return (text, "") if self._stream is None else self._texts(self._stream.feed(text))

    def finish(self) -> tuple[str, str]:
        """(content, reasoning) of the rest of the text."""
        if self._stream is None:
            return "", ""
        content, reasoning = self._texts(self._stream.finish())
        closer = _CLOSES if self._thinks else ""
        self._thinks = False
        return content + closer, reasoning

    def calls(self) -> list[tuple[str, str]]:
        """(name, arguments as JSON text) of each call that may be handed out. Call `finish` first."""
        offered = [] if self._stream is None else self._stream.offered.calls
        return [(call.name, arguments_text(call)) for call in offered]

    def _texts(self, events: Iterable[Any]) -> tuple[str, str]:
        content, reasoning = list[str](), list[str]()
        for is_content, text in joined_texts(events):
            if not self._inline:
                (content if is_content else reasoning).append(text)
                continue
            if self._thinks is is_content:
                content.append(_CLOSES if is_content else _OPENS)
                self._thinks = not is_content
            content.append(text)
        return "".join(content), "".join(reasoning)
