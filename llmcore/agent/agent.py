"""`Agent`: a class whose methods are tools and hooks. The orchestrator's loop runs its chats."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, cast, overload

from llmcore.agent.as_tool import agent_tool
from llmcore.agent.chat_emitter import ChatEmitter
from llmcore.agent.conversation import Conversation, as_messages, from_json, system_blocks, to_json, with_answer
from llmcore.agent.core import Core
from llmcore.agent.members import (
    check_class,
    convert_members,
    is_calling_base,
    is_defined,
    is_overridden,
    member_tools,
    method_of,
    methods_of,
    options_of,
    options_set,
    refuse_misspelt_option,
)
from llmcore.agent.options import OPTIONS, SUGGESTIONS, AgentOptions, Emit, checked_agent_options
from llmcore.agent.readable import ReadableOptions
from llmcore.background import refuse_to_block, run_in_background, shared_loop
from llmcore.hooks import Hooks
from llmcore.orchestrator import Models, Orchestrator
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.results.openai_history import check_not_empty
from llmcore.run.results.result import RunResult
from llmcore.run.setup.options import PER_RUN, RunOptions
from llmcore.run.setup.settings import checked_options
from llmcore.run.streaming.run_stream import RunStream, SyncRunStream, sync_stream
from llmcore.run.turn.loop import Run
from llmcore.support.code.option_signatures import show_options
from llmcore.tools import RunContext, Tool
from llmcore.tools.definition.options import OptionsByName
from llmcore.types import (
    CallerError,
    CallsPending,
    ConfigError,
    Event,
    Finished,
    InternalError,
    JsonSchema,
    Message,
    Request,
)
from llmcore.types.errors import with_partial
from llmcore.types.input.argument_errors import in_words, trim_arguments

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # unions and literals are no `type`, but forms of one

__all__ = ["Agent"]

T = TypeVar("T")
_OPTIONS = frozenset(OPTIONS)
_OF_CHATS = PER_RUN - {"tools"}
"""The options of a run that a chat passes on. Tools are not among them: they are bound to the conversation."""
ChatInput = str | Message | Sequence[Message | Mapping[str, Any]] | RunResult[Any]
"""The user's input: text, a message, or several; or the result that the chat resumes, like `message_history`."""


@in_words(instead=SUGGESTIONS)
class Agent(ReadableOptions):
    """A conversation with a model that has this object's methods as tools. Derive from it, or use it as it is.

        class Weather(Agent):
            system = "Answer in one sentence."

            @tool
            def look_up(self, city: str) -> str: ...

        answer = await Weather("groq/llama-3.3-70b-versatile").chat("Is it cold in Oslo?")

    - **Options** are class attributes or arguments by name; arguments win. An agent takes all options of an `Orchestrator` and
      its runs (`system`, `tools`, `hooks`, `budget`, `max_tool_turns`, `tool_choice`, `max_tokens`, `thinking`,
      `max_context_tokens`, `deps`, ...). It also takes `client`, `model`, `socket_emit`, `messages` (the conversation so far),
      `name`, `description`, `output_type` and `log` (a function of one line). A chat's own options win over both. If you set an
      option on the object later (`self.system = ...`), it holds from the next chat on; the models cannot change. `client` is
      what an orchestrator takes as models (a registry, a path, a name, a `FakeModel`), or an orchestrator, whose models,
      connections and tools the agent then shares. An adapter as `client` is the only model, whatever `model` says.
    - **Tools** are the methods under `@tool`, including inherited ones, then those of `tools`. An agent in `tools` is a tool,
      too.
    - **Hooks** are the methods with the names of `Hooks`, or with a mark (`@hook.before_tool_run`). They run before those of
      `hooks`.
    - `system_messages()`, sync or async, returns the rest of a chat's system prompt (after `system`): texts, or messages of the
      role system. It is called when the user's message is the last of `messages`, and before the schemas of tools are made. Its
      result does not enter the history.
    - `finalize_response(text)`, sync or async, returns the final answer in place of the model's; the history keeps it. Typed
      answers skip it. If either method is sync, it runs in a thread, as sync tools do.
    - `socket_emit`, sync or async, gets JSON objects: `{"type": "ai_response", "message": answer}` at the end of a chat,
      `error` if it fails, `pending` if calls are left to the caller, and the run's events by their names (`attempt_started`,
      `tool_result`, ...; with `stream`, also the deltas). If it raises, that is logged and changes nothing.

    `messages` is the conversation. If a chat fails or is cancelled, the conversation stays valid. It is as before the chat; if
    a tool was started, it holds what was done until then, so that nothing is done twice. One chat runs at a time; a second one
    raises `CallerError`, unless it brings its own `message_history=`. Such chats leave the agent's conversation alone, and any
    number of them may run.

    Raises `ConfigError` when the object is made, for an unknown option or a value that does not fit. Raises it when a class is
    made, for what would have no effect (such as a name that is almost a hook's).
    """

    __slots__ = ("__dict__", "__weakref__", "_own_conversation")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        convert_members(cls)
        check_class(cls, Agent)

    name: str
    """For logs, and for the tool by which other agents ask this one."""

    def __init__(
        self,
        client: Models | Orchestrator | None = None,
        model: str | None = None,
        socket_emit: Emit | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        kind = type(self).__name__
        placed = {"client": client, "model": model, "socket_emit": socket_emit}
        given = {name: value for name, value in placed.items() if value is not None}
        own = options_set(self)
        settings = checked_agent_options(kind, {**options_of(type(self)), **own, **options, **given})
        self.name = settings.get("name") or kind
        self._core = Core.of(kind, settings, {*own, *options, *given})
        # otherwise a class's value would hide the object's
        vars(self).update({one: self._core.settings[one] for one in settings if one not in ("messages", "name")})
        vars(self).update(self._core.tool_options_set())
        self._own_conversation = Conversation(settings.get("messages") or ())
        self._member_function("system_messages")  # checks the signature now
        self._member_function("finalize_response")
        Hooks.of(self)

    def __setattr__(self, name: str, value: Any) -> None:
        core: Core | None = None if name.startswith("_") else self.__dict__.get("_core")
        kind = type(self).__name__
        if core is None or name == "messages":
            super().__setattr__(name, value)
        elif name in _OPTIONS:
            value = kind if name == "name" and value is None else value
            core = core.with_option(kind, name, value)
            super().__setattr__(name, core.settings["tools"] if name == "tools" else value)
            self._core = core
            vars(self).update(core.tool_options_set())  # another model may have other tool options
        else:
            if not callable(value) and not hasattr(type(self), name):
                refuse_misspelt_option(kind, name)
            super().__setattr__(name, value)

    @property
    def messages(self) -> list[Message]:
        """The conversation, without system prompts. It may be changed, also by dicts, while no chat goes on."""
        return self._conversation.messages

    @messages.setter
    def messages(self, given: ChatInput) -> None:
        self._idle_conversation.set(given)

    def reset(self) -> None:
        """Clear the conversation. Raises `CallerError` while a chat runs."""
        self._idle_conversation.set(())

    def dump_messages(self) -> str:
        """The conversation as JSON for `load_messages` and `RunResult.model_validate_json`. While a chat runs, it includes that
        chat so far."""
        return to_json(self._conversation)

    def load_messages(self, saved: str | bytes | RunResult[Any]) -> None:
        """Continue from a saved conversation, or from any `RunResult` or its JSON. Raises `CallerError`.

        If it was saved while its run went on (`checkpoint=`), `run()` resumes it, and does not repeat what had started.
        """
        self._idle_conversation.set(from_json(saved))

    # For derived classes

    def system_messages(self, *args: Any, **kwargs: Any) -> Any:
        """Override this: returns what the chat's system prompt holds beside `system`. Sync or async. It takes nothing, or the
        `RunContext`. The default returns an empty list."""
        return []

    def finalize_response(self, text: str, *args: Any, **kwargs: Any) -> Any:
        """Override this: returns the answer in place of the model's. Sync or async. It takes the text, and perhaps the
        `RunContext`. The default returns the text."""
        return text

    _system_messages = system_messages
    _finalize_response = finalize_response

    # Chats

    @overload
    async def chat(self, message: ChatInput | None = None, output_type: None = None, **options: Unpack[RunOptions]) -> str: ...

    @overload
    async def chat(self, message: ChatInput | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    async def chat(
        self, message: ChatInput | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]
    ) -> Any: ...

    async def chat(self, message: ChatInput | None = None, output_type: Any = None, **options: Any) -> Any:
        """Send a message, and return the answer: its text, or its value if there is an `output_type`.

        Raises what a run raises. If the run ends without an answer because calls wait for the caller, raises `CallsPending`,
        whose `pending` has them. `run` returns them without an error.
        """
        return _answer_of(await self.run(*trim_arguments(message, output_type), **options))

    @overload
    async def run(self, message: ChatInput | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> RunResult[T]: ...

    @overload
    async def run(
        self, message: ChatInput | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunResult[Any]: ...

    async def run(self, message: ChatInput | None = None, output_type: Any = None, **options: Any) -> RunResult[Any]:
        """Like `chat`, but returns the `RunResult`. Its `content` is the finalised answer."""
        async with aclosing(self._prepare_chat(message, output_type, options, listening=False).events()) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return cast("RunResult[Any]", event.result)
        raise InternalError("a run ended without a result")

    @overload
    def stream(self, message: ChatInput | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> RunStream[T]: ...

    @overload
    def stream(
        self, message: ChatInput | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunStream[Any]: ...

    def stream(self, message: ChatInput | None = None, output_type: Any = None, **options: Any) -> RunStream[Any]:
        """Like `Orchestrator.stream`: the chat's events as they come. The last event has the finalised answer; the deltas are the
        model's own."""
        return RunStream(self._prepare_chat(message, output_type, options, listening=True))

    @overload
    def chat_sync(self, message: ChatInput | None = None, output_type: None = None, **options: Unpack[RunOptions]) -> str: ...

    @overload
    def chat_sync(self, message: ChatInput | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    def chat_sync(self, message: ChatInput | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]) -> Any: ...

    def chat_sync(self, message: ChatInput | None = None, output_type: Any = None, **options: Any) -> Any:
        """`chat` for code without an event loop; see `Orchestrator.run_sync`. If your class overrides `chat`, this calls it with
        the same arguments; it may be sync. Within it, this calls the base's `chat`."""
        given = trim_arguments(message, output_type)
        if is_overridden(self, Agent, "chat") and not is_calling_base(self, "chat"):
            refuse_to_block("chat_sync", "await chat(...)")
            answer = cast("Callable[..., Coroutine[Any, Any, Any]]", self.chat)(*given, **options)
            return run_in_background("chat", lambda: answer) if isinstance(cast("object", answer), Coroutine) else answer
        return _answer_of(run_in_background("chat", lambda: self.run(*given, **options)))  # an interruption carries its result

    def run_sync(
        self, message: ChatInput | None = None, output_type: Any = None, **options: Unpack[RunOptions]
    ) -> RunResult[Any]:
        """`run` for code without an event loop."""
        asked = cast("dict[str, Any]", options)
        return run_in_background("run", lambda: self.run(*trim_arguments(message, output_type), **asked))

    @overload
    def stream_sync(
        self, message: ChatInput | None, output_type: TypeForm[T], **options: Unpack[RunOptions]
    ) -> SyncRunStream[T]: ...

    @overload
    def stream_sync(
        self, message: ChatInput | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> SyncRunStream[Any]: ...

    def stream_sync(self, message: ChatInput | None = None, output_type: Any = None, **options: Any) -> SyncRunStream[Any]:
        """`stream` for code without an event loop."""
        refuse_to_block("stream_sync", "async for ... in stream(...)")
        return sync_stream(self.stream(*trim_arguments(message, output_type), **options), shared_loop())

    # As a tool

    def as_tool(self, *, keep_history: bool = False, **options: Unpack[OptionsByName]) -> Tool:
        """This agent as a tool of another one. The tool takes a `message` and returns the agent's answer.

        Each call begins a new conversation. With `keep_history`, calls continue the agent's conversation, one after another.
        What the agent spends counts in the budget and usage of the calling run, and its result is among that result's `runs`.
        Without its own `deps`, it gets those of the calling run.

        The other options are those of `tool`. Defaults: `name` is the agent's, `description` is the agent's or the first
        paragraph of its class's docstring, `timeout` is 600 seconds.
        """
        conversation = self._conversation if keep_history else None
        return agent_tool(self, self._core.settings, conversation=conversation, options=options)

    def __llmcore_tool__(self) -> Tool:
        """This agent as one of the tools of another agent."""
        if self._core.tool is None:
            self._core.tool = self.as_tool()
        return self._core.tool

    def list_tools(self) -> list[Tool]:
        """The tools that a chat would offer now: methods, and those of `tools`. See `Orchestrator.list_tools`."""
        return self._orchestrator().list_tools(deps=self._core.settings.get("deps"))

    # Internals
    @property
    def _conversation(self) -> Conversation:
        try:
            return self._own_conversation
        except AttributeError:
            kind = type(self).__name__
            raise ConfigError(
                f"{kind}.__init__ does not call super().__init__(client, model); it must, before all else"
            ) from None

    @property
    def _idle_conversation(self) -> Conversation:
        if self._conversation.is_open:
            raise CallerError(f"agent {self.name} is in a chat: its messages change when that has ended")
        return self._conversation

    def _with_history(self, conversation: Conversation) -> Self:
        """This agent with another conversation. Both share their attributes, including later changes."""
        made = type(self).__new__(type(self))
        made.__dict__ = self.__dict__
        made._own_conversation = conversation
        return made

    def _orchestrator(self) -> Orchestrator:
        """The orchestrator with this object's tools and hooks. It is made when a chat begins, because schemas can be made
        then."""
        core, conversation = self._core, self._own_conversation
        if conversation.orchestrator is None or conversation.made_from is not core:
            own = core.base.beside(member_tools(self), self._tools_beside(), hooks=Hooks.of(self))
            conversation.orchestrator, conversation.made_from = own.beside(hooks=core.settings.get("hooks", ())), core
        return conversation.orchestrator

    def _tools_beside(self) -> Any:
        return self._methods().get("tools", self._core.settings.get("tools", ()))

    def _methods(self) -> dict[str, Any]:
        """The options that are methods of the class."""
        return methods_of(self, self._core.given)

    def _emitter(self, methods: Mapping[str, Any]) -> ChatEmitter:
        settings = {**self._core.settings, **methods}
        return ChatEmitter(self.name, settings.get("socket_emit"), settings.get("log"))

    def _member_function(self, name: Literal["system_messages", "finalize_response"]) -> CallersFunction:
        values = 1 if name == "finalize_response" else 0
        return CallersFunction(f"{type(self).__name__}.{name}", method_of(self, Agent, name), values)

    def _prepare_chat(self, message: ChatInput | None, output_type: Any, options: Mapping[str, Any], *, listening: bool) -> _Chat:
        """The chat, checked as far as possible without running it."""
        given = checked_options("chat", options)
        if output_type is not None:
            given["output_type"] = output_type
        if isinstance(message, Request):
            raise CallerError("a chat takes text or messages, not a Request; what it holds beside them are options")
        history = given.pop("message_history", None)
        if isinstance(message, RunResult):
            if history is not None:
                raise CallerError("a chat goes on from one result, or from `message_history`: give one of them")
            history, message = message, None
        messages = [] if message is None else as_messages(message)
        check_not_empty(messages)
        conversation = self._conversation if history is None else Conversation(history)
        if not messages and not given.get("answers") and not conversation.has_question:
            raise CallerError("the chat holds no message; give text, or at least one message")
        agent = self if history is None else self._with_history(conversation)
        return _Chat(lambda chat: agent._events(chat, messages, given, listening=listening))

    async def _events(
        self, chat: _Chat, messages: Sequence[Message], options: dict[str, Any], *, listening: bool
    ) -> AsyncGenerator[Event, None]:
        core, conversation, methods = self._core, self._own_conversation, self._methods()
        emitter = self._emitter(methods)
        before, ended = conversation.begin(self.name, messages), False
        state = conversation.state(before)
        unclaimed = None if state is None else conversation.given
        try:
            asked: dict[str, Any] = {**core.per_run, **{name: methods[name] for name in _OF_CHATS & methods.keys()}, **options}
            await core.base._runtime.ready()  # pyright: ignore[reportPrivateUsage]  # as its run does
            until = _ChatDeadline(core.base._seconds_allowed(asked))  # pyright: ignore[reportPrivateUsage]  # that of its run
            context = _context_of(asked.get("parent"), asked.get("deps", core.settings.get("deps")))
            await self._ask_system(asked, until, context)
            given = conversation.messages if state is None else messages or state
            history = {"message_history": state} if state is not None and messages else {}
            prepare = self._orchestrator()._prepare  # pyright: ignore[reportPrivateUsage]  # the one loop
            run = chat.run = prepare(given, asked | until.left | history, listening=listening)
            run.emits_events, run.copied_from = run.emits_events or emitter.listens, unclaimed
            conversation.snapshot, ledger = run.state.snapshot, run.state.ledger
            emitter.seconds_left = lambda: ledger.seconds_left
            async with aclosing(run.events()) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        result = await self._finalised(cast("RunResult[Any]", event.result), ledger.seconds_left, context)
                        ended = True
                        conversation.set(result)
                        await emitter.emit_answer(result)
                        yield Finished(result)
                    else:
                        await emitter.emit_event(event)
                        yield event
        except BaseException as error:
            if not ended:
                so_far = None if chat.run is None else chat.run.partial_result()
                unclaimed = unclaimed if chat.run is None else chat.run.copied_from
                conversation.fail(before if state is None else state, so_far, unclaimed)
                if so_far is None and getattr(error, "partial", None) is None:
                    with_partial(error, RunResult[Any](messages=as_messages([*before, *messages])))
                if isinstance(error, Exception):
                    await emitter.emit_failure(error)
            raise
        finally:
            conversation.close()

    async def _ask_system(self, asked: dict[str, Any], until: _ChatDeadline, context: RunContext[Any]) -> None:
        """Set the system prompt of this chat."""
        system = asked.pop("system", self._core.settings.get("system"))
        has_more = is_defined(self, Agent, "system_messages")
        more = await self._member_function("system_messages")(until.seconds, context) if has_more else ()
        blocks = [*system_blocks("system", system), *system_blocks("system_messages", more)]
        if any(block.cache_control for block in blocks):
            asked["system"] = blocks
        elif blocks:
            asked["system"] = "\n\n".join(block.text for block in blocks)

    async def _finalised(self, result: RunResult[Any], seconds: float | None, context: RunContext[Any]) -> RunResult[Any]:
        if result.pending or result.output_asked or not is_defined(self, Agent, "finalize_response"):
            return result
        text = result.output if isinstance(result.output, str) else result.content
        try:
            final = await self._member_function("finalize_response")(seconds, context, text)
            if not isinstance(final, str):
                raise ConfigError(f"{type(self).__name__}.finalize_response must give a text, not {type(final).__name__}")
        except BaseException as error:
            with_partial(error, result, result.attempts)
            raise
        return with_answer(result, final)

    async def aclose(self) -> None:
        """Close the connections, unless they belong to an orchestrator that was given as `client`."""
        if self._core.owns_base:
            await self._core.base.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __copy__(self) -> Self:
        """An agent with the same attributes, and its own conversation that begins as this one."""
        return self._copy_with(dict(vars(self)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Like a copy, with copies of the attributes. Options, and with them models and connections, are shared."""
        own = {name: value for name, value in vars(self).items() if name != "_core" and name not in _OPTIONS}
        return self._copy_with({**vars(self), **{name: copy.deepcopy(value, memo) for name, value in own.items()}})

    def _copy_with(self, attributes: dict[str, Any]) -> Self:
        made = type(self).__new__(type(self))
        vars(made).update(attributes, _core=replace(self._core, tool=None))
        messages = as_messages(self.messages)
        made._own_conversation = Conversation(self._own_conversation.state(messages) or messages)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.messages)} messages)"


class _Chat:
    """A chat with the interface that streams expect of a run."""

    def __init__(self, begin: Callable[[_Chat], AsyncGenerator[Event, None]]) -> None:
        self._begin = begin
        self.run: Run | None = None

    def events(self) -> AsyncGenerator[Event, None]:
        return self._begin(self)

    def abandon(self) -> None:
        if self.run is not None:
            self.run.abandon()

    def partial_result(self) -> RunResult[Any]:
        return RunResult() if self.run is None else self.run.partial_result()


show_options(Agent.__init__, AgentOptions)
show_options(Agent.as_tool, OptionsByName)
for _name in ("chat", "run", "stream", "chat_sync", "run_sync", "stream_sync"):
    show_options(getattr(Agent, _name), RunOptions)


class _ChatDeadline:
    """A chat's deadline until its run begins. It covers the system prompt, the run and the finalised answer."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds(self) -> float | None:
        return None if self._end is None else self._end - time.monotonic()

    @property
    def left(self) -> dict[str, float]:
        """The run's option `deadline`, which must be above 0."""
        left = self.seconds
        return {} if left is None else {"deadline": max(left, 0.001)}


def _context_of(parent: RunContext[Any] | None, deps: Any) -> RunContext[Any]:
    """The context of the agent's own methods. A run that they make is a child of the parent run, and not the chat itself."""
    return RunContext(deps) if parent is None else parent.for_call(parent.tool_call_id, parent.tool_name, parent.retry)


def _answer_of(result: RunResult[Any]) -> Any:
    """The answer in a chat's result. Raises `CallsPending` if calls wait for the caller."""
    if result.pending:
        names = ", ".join(call.name for call in result.pending)
        words = f"the chat has no answer yet: calls are pending ({names}); `run` gives them as `pending`, and so does `partial`"
        raise CallsPending(words).with_partial(result, result.attempts)
    return result.value if result.output_asked else result.content
