"""`LLMCoreModel`: a model for pydantic-ai that asks through an `Orchestrator`. Needs the extra `llmcore-engine[pydantic-ai]`.

    agent = pydantic_ai.Agent(LLMCoreModel(Orchestrator(models), "my-model"), tools=[...])

pydantic-ai keeps the conversation and runs the tools. llmcore asks: with output modes, corrections, fallback and a budget.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from llmcore.integrations.model_turns import ModelTurns, Part, framework, reply_calls
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.run.streaming.replies import answer_text, reply_finish_reason
from llmcore.types import CallerError, ConfigError, ReasoningDelta, TextDelta

__all__ = ["LLMCoreModel"]

Json = dict[str, Any]
_EXTRA = "pydantic-ai"
_models: Any = framework("pydantic_ai.models", _EXTRA)
_messages: Any = framework("pydantic_ai.messages", _EXTRA)
_RequestUsage: Any = framework("pydantic_ai.usage", _EXTRA).RequestUsage
_NAME = "llmcore"
_FINISH_REASONS = {"tool_calls": "tool_call", "cancelled": "error"}
"""pydantic-ai's words for finish reasons, where they differ."""
_SETTINGS = {
    **{name: name for name in ("max_tokens", "temperature", "top_p", "parallel_tool_calls", "extra_headers", "extra_body")},
    **{"stop_sequences": "stop", "timeout": "deadline"},
}
"""The options of a run, by the settings of pydantic-ai."""
_THINKING = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 32_768}
"""The budgets of pydantic-ai's levels of thinking, in tokens."""


class LLMCoreModel(_models.Model):  # type: ignore[misc]  # untyped where it is not installed
    """Asks a model of an orchestrator. Each request of pydantic-ai is one run.

    `orchestrator`: its models, settings and budget count; its own tools run before pydantic-ai's calls are handed out.
    `model`: an alias of its models; None for the default one. `settings`: default `ModelSettings` of pydantic-ai.

    Of the settings, `max_tokens`, `temperature`, `top_p`, `stop_sequences`, `timeout` (the deadline of the run),
    `parallel_tool_calls`, `tool_choice`, `thinking`, `extra_headers` and `extra_body` count. Any other raises `ConfigError`.
    An output type is a call of pydantic-ai's output tool; with `NativeOutput` it is the output type of the run.

    Raises `ConfigError` for anything but an `Orchestrator`, and what the run raises for a request that fails.
    """

    def __init__(self, orchestrator: Orchestrator, model: str | None = None, *, settings: Any = None) -> None:
        profile = {"supports_json_schema_output": True, "supports_thinking": True, "supports_tools": True}
        super().__init__(settings=settings, profile=profile)  # pyright: ignore[reportUnknownMemberType]  # the class is Any
        self._turns, self._alias = ModelTurns(orchestrator, model), model

    @property
    def model_name(self) -> str:
        """The alias, or `llmcore` for the default model."""
        return self._alias or _NAME

    @property
    def system(self) -> str:
        """The provider, for traces."""
        return _NAME

    async def request(self, messages: list[Any], model_settings: Any, model_request_parameters: Any) -> Any:
        """Called by pydantic-ai for a whole reply. Returns a `ModelResponse`."""
        given, options, _ = self._prepared(messages, model_settings, model_request_parameters)
        result = await self._turns.reply(given, options)
        thoughts, text = result.envelope.reasoning, answer_text(result)
        return _messages.ModelResponse(
            parts=[
                *([_messages.ThinkingPart(thoughts)] if thoughts else []),
                *([_messages.TextPart(text)] if text else []),
                *(_messages.ToolCallPart(call.name, call.raw_arguments, call.id) for call in reply_calls(result)),
            ],
            usage=_usage(result),
            model_name=_name_of(result, self.model_name),
            provider_name=_NAME,
            finish_reason=_finish_reason(result),
        )

    @asynccontextmanager
    async def request_stream(
        self, messages: list[Any], model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        """Called by pydantic-ai for a stream. Text and reasoning are live. Calls come whole, at the end."""
        given, options, parameters = self._prepared(messages, model_settings, model_request_parameters)
        async with aclosing(self._turns.stream(given, options)) as parts:
            yield _Stream(parameters, parts, self.model_name)

    def _prepared(self, messages: list[Any], settings: Any, parameters: Any) -> tuple[list[Json], Json, Any]:
        """The messages of OpenAI's chat API, the options of the run, and the prepared parameters."""
        settings, parameters = self.prepare_request(settings, parameters)
        instructions = self._get_instruction_parts(messages, parameters) or ()
        given = [{"role": "system", "content": part.content} for part in instructions]
        given += [each for message in self.prepare_messages(messages, parameters) for each in _chat_messages(message)]
        return given, {**_options(settings or {}), **_offered(parameters)}, parameters


def _options(settings: Json) -> Json:
    if unknown := settings.keys() - _SETTINGS.keys() - {"tool_choice"}:
        known = ", ".join(sorted({*_SETTINGS, "tool_choice", "thinking"}))
        raise ConfigError(f"LLMCoreModel has no setting {', '.join(sorted(unknown))}; it has {known}")
    options = {_SETTINGS[name]: value for name, value in settings.items() if name in _SETTINGS}
    choice = settings.get("tool_choice")
    if isinstance(choice, str):
        options["tool_choice"] = choice
    elif choice is not None:
        raise ConfigError("`tool_choice` must be 'auto', 'none' or 'required': offer only the tools that may be called")
    return options


def _offered(parameters: Any) -> Json:
    """The tools, and the output type."""
    visible = [tool for tool in parameters.function_tools if parameters.visibility_of(tool.name) != "withheld"]
    tools = [*visible, *parameters.output_tools]
    options: Json = {}
    if tools:
        options["tools"] = [*map(_definition, tools)]
        if not parameters.allow_text_output:
            options["tool_choice"] = "required"
    if parameters.output_mode == "native" and parameters.output_object is not None:
        options["output_type"] = parameters.output_object.json_schema
    if (level := parameters.thinking) is not None:
        options["thinking"] = _THINKING.get(level, True) if isinstance(level, str) else level
    return options


def _definition(tool: Any) -> Json:
    return {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters_json_schema}


def _chat_messages(message: Any) -> Iterable[Json]:
    """The messages of OpenAI's chat API for one of pydantic-ai. Raises `CallerError` for a part that they cannot express."""
    if message.kind == "response":
        text = "".join(part.content for part in message.parts if part.part_kind == "text")
        calls = [_call(part) for part in message.parts if part.part_kind == "tool-call"]
        if text or calls:
            yield {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
        return
    files: list[Any] = []
    for part in message.parts:
        if part.part_kind == "system-prompt":
            yield {"role": "system", "content": part.content}
        elif part.part_kind == "user-prompt":
            yield {"role": "user", "content": _content(part.content)}
        elif part.part_kind == "tool-return":
            text, others = part.model_response_str_and_user_content()
            files += others
            yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
        elif part.part_kind == "retry-prompt" and part.tool_name is not None:
            yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
        elif part.part_kind == "retry-prompt":
            yield {"role": "user", "content": part.model_response()}
        else:
            raise CallerError(f"LLMCoreModel cannot send a part of the kind {part.part_kind!r}")
    if files:
        yield {"role": "user", "content": _content(files)}


def _call(part: Any) -> Json:
    function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
    return {"id": part.tool_call_id, "type": "function", "function": function}


def _content(content: Any) -> Any:
    return content if isinstance(content, str) else [*map(_block, content)]


def _block(item: Any) -> Json:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    kind = getattr(item, "kind", type(item).__name__)
    if kind == "text-content":
        return {"type": "text", "text": item.content}
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": item.url}}
    if kind == "binary" and item.is_image:
        data = base64.b64encode(item.data).decode()
        return {"type": "image_url", "image_url": {"url": f"data:{item.media_type};base64,{data}"}}
    raise CallerError(f"LLMCoreModel takes text and images in a prompt, not {kind!r}")


def _usage(result: RunResult[Any]) -> Any:
    usage = result.usage
    return _RequestUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        details={"reasoning_tokens": usage.reasoning_tokens} if usage.reasoning_tokens else {},
    )


def _name_of(result: RunResult[Any], default: str) -> str:
    return result.attempts[-1].model if result.attempts else default


def _finish_reason(result: RunResult[Any]) -> Any:
    reason = reply_finish_reason(result)
    return _FINISH_REASONS.get(reason or "", reason)


class _Stream(_models.StreamedResponse):  # type: ignore[misc]  # untyped where it is not installed
    """One streamed reply."""

    def __init__(self, parameters: Any, parts: AsyncGenerator[Part], name: str) -> None:
        super().__init__(parameters)  # pyright: ignore[reportUnknownMemberType]  # the class is Any
        self._parts, self._name, self._timestamp = parts, name, datetime.now(UTC)

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        manager: Any = self._parts_manager
        async for part in self._parts:
            if isinstance(part, TextDelta):
                for event in manager.handle_text_delta(vendor_part_id="text", content=part.text):
                    yield event
            elif isinstance(part, ReasoningDelta):
                for event in manager.handle_thinking_delta(vendor_part_id="thinking", content=part.text):
                    yield event
            else:
                self._usage, self._name, self.finish_reason = _usage(part), _name_of(part, self._name), _finish_reason(part)
                for call in reply_calls(part):
                    fields = {"tool_name": call.name, "args": call.raw_arguments, "tool_call_id": call.id}
                    yield manager.handle_tool_call_part(vendor_part_id=call.id, **fields)

    async def close_stream(self) -> None:
        await self._parts.aclose()

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def provider_name(self) -> str:
        return _NAME

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self._timestamp
