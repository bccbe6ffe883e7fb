"""`ModelTurns`: one turn of a model for each request of a framework, by runs of an `Orchestrator`.

The framework keeps the conversation and runs the tools. Their definitions have no functions here, so their calls end the run.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from importlib import import_module
from typing import Any, cast

from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.run.streaming.replies import LiveText, refusal_reply, reply_envelope
from llmcore.types import ConfigError, Finished, ReasoningDelta, Refused, TextDelta, ToolCall
from llmcore.wire import openai_chat, with_new_ids

__all__ = ["ModelTurns", "Part", "framework", "reply_calls"]

Json = dict[str, Any]
Part = TextDelta | ReasoningDelta | RunResult[Any]
"""What a stream gives: text and reasoning, and the result at its end."""


def framework(module: str, extra: str) -> Any:
    """A module of a framework. Raises `ConfigError` if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ConfigError(f"{package} is not installed: pip install 'llmcore-engine[{extra}]'") from error


def reply_calls(result: RunResult[Any]) -> list[ToolCall]:
    """The calls that the framework runs, each with an id of its own. `raw_arguments` is the JSON of the arguments."""
    return with_new_ids(reply_envelope(result).tool_calls)


class ModelTurns:
    """`model`: an alias of the orchestrator's registry; None for its only one, or its default.

    Raises `ConfigError` for anything but an `Orchestrator`, and for a model that is no text.
    """

    def __init__(self, orchestrator: Orchestrator, model: str | None = None) -> None:
        if not isinstance(orchestrator, Orchestrator):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            given = type(orchestrator).__name__
            raise ConfigError(f"`orchestrator` must be an llmcore.Orchestrator, not {given}: give Orchestrator(models)")
        if not isinstance(model, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError(f"`model` must be an alias of the orchestrator's models, not {type(model).__name__}")
        self._orchestrator, self._model = orchestrator, model

    async def reply(self, messages: list[Json], options: Mapping[str, Any]) -> RunResult[Any]:
        """The result of one turn. `messages`: those of OpenAI's chat API. `options`: of the run."""
        try:
            return await self._orchestrator.run(_decoded(messages), **self._options(options))
        except Refused as error:
            return refusal_reply(error)

    def reply_sync(self, messages: list[Json], options: Mapping[str, Any]) -> RunResult[Any]:
        try:
            return self._orchestrator.run_sync(_decoded(messages), **self._options(options))
        except Refused as error:
            return refusal_reply(error)

    async def stream(self, messages: list[Json], options: Mapping[str, Any]) -> AsyncGenerator[Part]:
        """The text and the reasoning of one turn while it comes, and the result at its end. No text is taken back."""
        text = LiveText(only_at_end="output_type" in options)
        try:
            async with self._orchestrator.stream(_decoded(messages), **self._options(options)) as events:
                async for event in events:
                    for part in _parts(event, text):
                        yield part
        except Refused as error:
            for part in _ended(refusal_reply(error), text):
                yield part

    def stream_sync(self, messages: list[Json], options: Mapping[str, Any]) -> Generator[Part]:
        text = LiveText(only_at_end="output_type" in options)
        try:
            with self._orchestrator.stream_sync(_decoded(messages), **self._options(options)) as events:
                for event in events:
                    yield from _parts(event, text)
        except Refused as error:
            yield from _ended(refusal_reply(error), text)

    def _options(self, options: Mapping[str, Any]) -> Any:
        model = {} if self._model is None else {"model": self._model}
        return {**model, **{name: value for name, value in options.items() if value is not None}}


def _decoded(messages: list[Json]) -> Any:
    return openai_chat.decode_messages({"messages": messages})


def _parts(event: object, text: LiveText) -> list[Part]:
    if isinstance(event, Finished):
        return _ended(cast("RunResult[Any]", event.result), text)  # pyright: ignore[reportUnknownMemberType]
    return [*text.shown(event)]


def _ended(result: RunResult[Any], text: LiveText) -> list[Part]:
    return [*text.rest(result), result]
