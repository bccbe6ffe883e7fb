"""`ChatLLMCore`: a chat model for LangChain that asks through an `Orchestrator`. Needs the extra `llmcore-engine[langchain]`.

    model = ChatLLMCore(orchestrator=Orchestrator(models), model="my-model")
    model.bind_tools([get_weather]).invoke("How is the weather?").tool_calls

LangChain keeps the conversation and runs the tools. llmcore asks: with output modes, corrections, fallback and a budget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from pydantic import Field

from llmcore.integrations.model_turns import ModelTurns, Part, framework, reply_calls
from llmcore.run import RunResult
from llmcore.run.streaming.replies import answer_text, reply_finish_reason
from llmcore.support.values.json_data import json_data
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import CallerError, ConfigError, ReasoningDelta, TextDelta

__all__ = ["ChatLLMCore"]

Json = dict[str, Any]
_EXTRA = "langchain"
_BaseChatModel: Any = framework("langchain_core.language_models.chat_models", _EXTRA).BaseChatModel
_messages: Any = framework("langchain_core.messages", _EXTRA)
_outputs: Any = framework("langchain_core.outputs", _EXTRA)
_parsers: Any = framework("langchain_core.output_parsers", _EXTRA)
_runnables: Any = framework("langchain_core.runnables", _EXTRA)
_conversion: Any = framework("langchain_core.utils.function_calling", _EXTRA)
_OPTIONS = frozenset(
    ("temperature", "max_tokens", "top_p", "thinking", "deadline", "parallel_tool_calls", "extra_body", "extra_headers")
)
"""The options of a run that a call may give."""


class ChatLLMCore(_BaseChatModel):  # type: ignore[misc]  # untyped where it is not installed
    """Asks a model of an orchestrator. Each call of LangChain is one run.

    `orchestrator`: its models, settings and budget count; its own tools run before LangChain's calls are handed out.
    `model`: an alias of its models; None for the default one. `options`: options of each run, as in
    `options={"temperature": 0}`. A call may give `temperature`, `max_tokens`, `top_p`, `thinking`, `deadline`,
    `parallel_tool_calls`, `extra_body` and `extra_headers`, too.

    `bind_tools` offers tools, whose calls are in `AIMessage.tool_calls`. `with_structured_output` gives values of a schema, which
    the run validates and corrects. The usage is in `usage_metadata`, reasoning in `additional_kwargs["reasoning_content"]`.

    Raises `ConfigError` for anything but an `Orchestrator` and for unknown options, and what the run raises for a failed request.
    """

    orchestrator: Any
    model: str | None = None
    options: Json = Field(default_factory=dict[str, Any], repr=False)  # its headers may hold keys

    def model_post_init(self, context: Any, /) -> None:
        """Check the fields."""
        super().model_post_init(context)  # pyright: ignore[reportUnknownMemberType]  # the class is Any
        self._turns()

    @property
    def _llm_type(self) -> str:
        return "llmcore"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model}

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Offer tools: functions, classes, LangChain's tools, or dicts of OpenAI's API.

        `tool_choice`: a name, `"auto"`, `"none"`, `"required"`, `"any"`, or True for `"required"`.
        """
        offered = [_conversion.convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, tool_choice=_choice(tool_choice, offered), **kwargs)

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """A runnable that gives values of a pydantic class, or dicts of a JSON Schema or `TypedDict`.

        `include_raw`: give a dict with `raw`, `parsed` and `parsing_error` instead. Raises `ConfigError` for another option.
        """
        if kwargs:
            raise ConfigError(
                f"with_structured_output has no option {', '.join(sorted(kwargs))}: the run selects the output mode"
            )
        is_class = isinstance(schema, type) and hasattr(schema, "model_json_schema")
        parser = _parsers.PydanticOutputParser(pydantic_object=schema) if is_class else _parsers.JsonOutputParser()
        llm = self.bind(output_type=_conversion.convert_to_json_schema(schema))
        if not include_raw:
            return llm | parser
        parsed = _runnables.RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=_nothing)
        failed = _runnables.RunnablePassthrough.assign(parsed=_nothing)
        return _runnables.RunnableMap(raw=llm) | parsed.with_fallbacks([failed], exception_key="parsing_error")

    def _generate(self, messages: list[Any], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> Any:
        return _chat_result(self._turns().reply_sync(_chat_messages(messages), self._run_options(stop, kwargs)))

    async def _agenerate(self, messages: list[Any], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> Any:
        return _chat_result(await self._turns().reply(_chat_messages(messages), self._run_options(stop, kwargs)))

    def _stream(
        self, messages: list[Any], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[Any]:
        for part in self._turns().stream_sync(_chat_messages(messages), self._run_options(stop, kwargs)):
            chunk = _chunk(part)
            if run_manager is not None:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[Any], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        async for part in self._turns().stream(_chat_messages(messages), self._run_options(stop, kwargs)):
            chunk = _chunk(part)
            if run_manager is not None:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _turns(self) -> ModelTurns:
        return ModelTurns(self.orchestrator, self.model)

    def _run_options(self, stop: list[str] | None, given: Json) -> Json:
        known = _OPTIONS | {"tools", "tool_choice", "output_type"}
        if unknown := sorted(given.keys() - known):
            raise ConfigError(f"ChatLLMCore has no option {', '.join(unknown)}; a call takes {', '.join(sorted(_OPTIONS))}")
        return {**self.options, **({"stop": stop} if stop else {}), **given}


def _nothing(_: object) -> None:
    """The value of a field that has none."""


def _choice(choice: Any, tools: list[Json]) -> Any:
    if choice is True:
        return "required"
    if choice in (None, False, "auto", "none", "required", "any") or is_object(choice):
        return choice or None
    names = [object_in(tool.get("function")).get("name") for tool in tools]
    if choice not in names:
        raise ConfigError(f"`tool_choice` names no tool: {choice!r}; the tools are {', '.join(map(str, names))}")
    return {"name": choice}


def _chat_messages(messages: list[Any]) -> list[Json]:
    """The messages of OpenAI's chat API. Raises `CallerError` for a part that they cannot express."""
    try:
        converted: list[Json] = _messages.convert_to_openai_messages(messages)
    except ValueError as error:
        raise CallerError(f"ChatLLMCore cannot send a message: {error}") from error
    return converted


def _about(result: RunResult[Any]) -> Json:
    """The fields of a message beside its text and its calls."""
    usage = result.usage
    return {
        "usage_metadata": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            "input_token_details": {"cache_read": usage.cache_read_tokens, "cache_creation": usage.cache_write_tokens},
            "output_token_details": {"reasoning": usage.reasoning_tokens},
        },
        "response_metadata": {
            "finish_reason": reply_finish_reason(result),
            "model_name": result.attempts[-1].model if result.attempts else "",
            "model_provider": "llmcore",
        },
    }


def _chat_result(result: RunResult[Any]) -> Any:
    reasoning = result.envelope.reasoning
    message = _messages.AIMessage(
        content=answer_text(result),
        tool_calls=[{"name": call.name, "args": json_data(call.arguments or {}), "id": call.id} for call in reply_calls(result)],
        additional_kwargs={"reasoning_content": reasoning} if reasoning else {},
        **_about(result),
    )
    return _outputs.ChatResult(generations=[_outputs.ChatGeneration(message=message)])


def _chunk(part: Part) -> Any:
    if isinstance(part, TextDelta):
        fields: Json = {"content": part.text}
    elif isinstance(part, ReasoningDelta):
        fields = {"content": "", "additional_kwargs": {"reasoning_content": part.text}}
    else:
        calls = [
            _messages.ToolCallChunk(name=call.name, args=call.raw_arguments, id=call.id, index=index)
            for index, call in enumerate(reply_calls(part))
        ]
        fields = {"content": "", "tool_call_chunks": calls, "chunk_position": "last", **_about(part)}
    return _outputs.ChatGenerationChunk(message=_messages.AIMessageChunk(**fields))
