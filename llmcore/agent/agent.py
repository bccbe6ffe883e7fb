"""`Agent`: a class whose methods are tools and hooks, over the one loop of the orchestrator.

A chat is a run: the user's message enters the history, the system prompt is asked for, the orchestrator runs, the answer is
finalised. Everything else (tools, hooks, budget, modes, fallback, typed answers, events) is the orchestrator's.
"""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, cast, overload

from llmcore.agent.as_tool import agent_tool
from llmcore.agent.core import Core
from llmcore.agent.members import (
    adopt,
    asks_its_base,
    check_class,
    is_overridden,
    is_own,
    member_tools,
    method_of,
    methods_of,
    options_of,
    options_set,
    refuse_misspelt_option,
)
from llmcore.agent.options import INSTEAD, OPTIONS, AgentOptions, Emit, checked_agent_options
from llmcore.agent.readable import ReadableOptions
from llmcore.agent.talk import Talk, as_messages, from_json, system_blocks, to_json, with_answer
from llmcore.agent.telling import ChatEmitter
from llmcore.background import refuse_to_block, run_in_background, shared_loop
from llmcore.hooks import Hooks
from llmcore.orchestrator import Models, Orchestrator
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.results.openai_history import check_not_empty
from llmcore.run.results.result import RunResult
from llmcore.run.setup.options import PER_RUN, RunOptions
from llmcore.run.setup.settings import checked_options
from llmcore.run.streaming.run_stream import RunStream, SyncRunStream, in_sync
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
"""Options of a run that a chat passes on: tools are bound to the conversation."""
Said = str | Message | Sequence[Message | Mapping[str, Any]] | RunResult[Any]
"""What the user says: text, a message, or several; or the result that the chat goes on from, as `message_history` would be."""


@in_words(instead=INSTEAD)
class Agent(ReadableOptions):
    """A conversation with a model that has this object's methods as tools. Derive from it, or use it as it is.

        class Weather(Agent):
            system = "Answer in one sentence."

            @tool
            def look_up(self, city: str) -> str: ...

        answer = await Weather("groq/llama-3.3-70b-versatile").chat("Is it cold in Oslo?")

    - **Options** are class attributes or arguments by name, which win: everything that an `Orchestrator` and its runs take
      (`system`, `tools`, `hooks`, `budget`, `max_tool_turns`, `tool_choice`, `max_tokens`, `thinking`, `max_context_tokens`,
      `deps`, ...), and `client`, `model`, `socket_emit`, `messages` (what was said before), `name`, `description`,
      `output_type`, `log` (a function of a line). A chat's own options win over both. One that is set on the object later
      (`self.system = ...`) holds from its next chat on; where its models come from stays. `client` is what an orchestrator
      takes as models (a registry, a path, a name, a `FakeModel`), or an orchestrator, whose models, connections and tools it
      then shares. Where the client is an adapter, that is the one model there is, whatever `model` says.
    - **Tools** are the methods under `@tool`, inherited ones too, then those of `tools`. An agent among them is a tool as well.
    - **Hooks** are the methods called as `Hooks` has them, or marked (`@hook.before_tool_run`); they are asked before those of
      `hooks`.
    - `system_messages()`, sync or async, gives the rest of a chat's system prompt (after `system`): texts, or messages of the
      role system. It is asked when the user's message is the last of `messages`, and before the schemas of tools are. What it
      gives is no part of the history.
    - `finalize_response(text)`, sync or async, gives the answer that is returned, and kept in the history, in place of the
      model's. Typed answers do not pass it. A sync one of either runs in a thread, as sync tools do.
    - `socket_emit`, sync or async, is told JSON objects: `{"type": "ai_response", "message": answer}` at the end of a chat,
      `error` where it fails, `pending` where calls are left to the caller, and the run's events by their names
      (`attempt_started`, `tool_result`, ...; of `stream` the pieces too). Whatever it raises is logged and breaks nothing.

    `messages` is the conversation. A chat that fails or is cancelled leaves it valid: as it was, or, where a tool was begun, with
    what was done until then, so that nothing is done twice. One chat goes on at a time; another one meanwhile is a `CallerError`,
    unless it brings a history of its own, `message_history=`, which leaves the agent's alone. One agent may have any number of
    those.

    Raises `ConfigError` for an option that does not exist, or has a value that does not fit, when the object is made; for what
    would never be heard in a class (a name that is almost a hook's, say) when the class is made.
    """

    __slots__ = ("__dict__", "__weakref__", "_talk")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        adopt(cls)
        check_class(cls, Agent)

    name: str
    """For logs, and for the tool that another agent asks it by."""

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
        # a value of the class would hide that of the object
        vars(self).update({one: self._core.settings[one] for one in settings if one not in ("messages", "name")})
        vars(self).update(self._core.set_options_of_tools())
        self._talk = Talk(settings.get("messages") or ())
        self._called("system_messages")  # so that what does not fit is told now
        self._called("finalize_response")
        Hooks.of(self)

    def __setattr__(self, name: str, value: Any) -> None:
        core: Core | None = None if name.startswith("_") else self.__dict__.get("_core")
        kind = type(self).__name__
        if core is None or name == "messages":
            super().__setattr__(name, value)
        elif name in _OPTIONS:
            value = kind if name == "name" and value is None else value
            core = core.changed(kind, name, value)
            super().__setattr__(name, core.settings["tools"] if name == "tools" else value)
            self._core = core
            vars(self).update(core.set_options_of_tools())  # another model may have others of its own
        else:
            if not callable(value) and not hasattr(type(self), name):
                refuse_misspelt_option(kind, name)
            super().__setattr__(name, value)

    @property
    def messages(self) -> list[Message]:
        """The conversation, without system prompts. It may be changed, also by dicts, while no chat goes on."""
        return self._conversation.messages

    @messages.setter
    def messages(self, given: Said) -> None:
        self._closed.set(given)

    def reset(self) -> None:
        """Forget the conversation. Raises `CallerError` while a chat goes on."""
        self._closed.set(())

    def dump_messages(self) -> str:
        """The conversation as JSON, which `load_messages`, and `RunResult.model_validate_json`, read: also while a chat goes on,
        and then as far as that has come."""
        return to_json(self._conversation)

    def load_messages(self, saved: str | bytes | RunResult[Any]) -> None:
        """Go on from a saved conversation, or from any `RunResult` or its JSON. Raises `CallerError`.

        One that was saved while its run went on (`checkpoint=`) is gone on with by `run()`; what was begun by then is not done
        again.
        """
        self._closed.set(from_json(saved))

    # To be written anew

    def system_messages(self, *args: Any, **kwargs: Any) -> Any:
        """What stands in this chat's system prompt beside `system`; sync or async. Yours takes nothing, or the `RunContext`. This
        one gives an empty list."""
        return []

    def finalize_response(self, text: str, *args: Any, **kwargs: Any) -> Any:
        """The answer in place of the model's; sync or async. Yours takes the text, and the `RunContext` if it wants it. This one
        gives the text as it is."""
        return text

    _system_messages = system_messages
    _finalize_response = finalize_response

    # Chats

    @overload
    async def chat(self, message: Said | None = None, output_type: None = None, **options: Unpack[RunOptions]) -> str: ...

    @overload
    async def chat(self, message: Said | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    async def chat(self, message: Said | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]) -> Any: ...

    async def chat(self, message: Said | None = None, output_type: Any = None, **options: Any) -> Any:
        """Say something, and be given the answer: its text, or its value where a type is asked for.

        Raises what a run raises, and `CallsPending` where the run ended without an answer because calls are left to the caller:
        the error's `pending` has them, and `run` gives them without an error.
        """
        return _answer_of(await self.run(*trim_arguments(message, output_type), **options))

    @overload
    async def run(self, message: Said | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> RunResult[T]: ...

    @overload
    async def run(
        self, message: Said | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunResult[Any]: ...

    async def run(self, message: Said | None = None, output_type: Any = None, **options: Any) -> RunResult[Any]:
        """As `chat`, with the whole `RunResult`; its `content` is the finalised answer."""
        async with aclosing(self._begun(message, output_type, options, listening=False).events()) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return cast("RunResult[Any]", event.result)
        raise InternalError("a run ended without a result")

    @overload
    def stream(self, message: Said | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> RunStream[T]: ...

    @overload
    def stream(
        self, message: Said | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunStream[Any]: ...

    def stream(self, message: Said | None = None, output_type: Any = None, **options: Any) -> RunStream[Any]:
        """As `Orchestrator.stream`: the chat's events as they come. The last has the finalised answer; the pieces before are as
        the model wrote them."""
        return RunStream(self._begun(message, output_type, options, listening=True))

    @overload
    def chat_sync(self, message: Said | None = None, output_type: None = None, **options: Unpack[RunOptions]) -> str: ...

    @overload
    def chat_sync(self, message: Said | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    def chat_sync(self, message: Said | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]) -> Any: ...

    def chat_sync(self, message: Said | None = None, output_type: Any = None, **options: Any) -> Any:
        """`chat` for code without an event loop; see `Orchestrator.run_sync`. A `chat` of your own may be sync, and is given the
        arguments that the caller gave; within it this asks the base's."""
        given = trim_arguments(message, output_type)
        if is_overridden(self, Agent, "chat") and not asks_its_base(self, "chat"):
            refuse_to_block("chat_sync", "await chat(...)")
            said = cast("Callable[..., Coroutine[Any, Any, Any]]", self.chat)(*given, **options)
            return run_in_background("chat", lambda: said) if isinstance(cast("object", said), Coroutine) else said
        return _answer_of(run_in_background("chat", lambda: self.run(*given, **options)))  # an interruption has it

    def run_sync(self, message: Said | None = None, output_type: Any = None, **options: Unpack[RunOptions]) -> RunResult[Any]:
        """`run` for code without an event loop."""
        asked = cast("dict[str, Any]", options)
        return run_in_background("run", lambda: self.run(*trim_arguments(message, output_type), **asked))

    @overload
    def stream_sync(self, message: Said | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> SyncRunStream[T]: ...

    @overload
    def stream_sync(
        self, message: Said | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> SyncRunStream[Any]: ...

    def stream_sync(self, message: Said | None = None, output_type: Any = None, **options: Any) -> SyncRunStream[Any]:
        """`stream` for code without an event loop."""
        refuse_to_block("stream_sync", "async for ... in stream(...)")
        return in_sync(self.stream(*trim_arguments(message, output_type), **options), shared_loop())

    # As a tool

    def as_tool(self, *, keep_history: bool = False, **options: Unpack[OptionsByName]) -> Tool:
        """This agent as a tool of another one, which asks it by a `message` and is given its answer.

        Each call begins a conversation of its own, unless `keep_history`: then calls go on in the agent's, one after the other.
        What it spends counts in the asking run's budget and usage, and its result stands among that result's `runs`. Without
        `deps` of its own it has those of the asking run. The other options are those of `tool`: `name` is the agent's by
        default, `description` the agent's or the first paragraph of its class's docstring, `timeout` 600 seconds.
        """
        talk = self._conversation if keep_history else None
        return agent_tool(self, self._core.settings, talk=talk, options=options)

    def __llmcore_tool__(self) -> Tool:
        """What it is among the tools of another one."""
        if self._core.tool is None:
            self._core.tool = self.as_tool()
        return self._core.tool

    def list_tools(self) -> list[Tool]:
        """The tools that a chat would offer now: methods, and those of `tools`; see `Orchestrator.list_tools`."""
        return self._orchestrator().list_tools(deps=self._core.settings.get("deps"))

    # Within

    @property
    def _conversation(self) -> Talk:
        try:
            return self._talk
        except AttributeError:
            kind = type(self).__name__
            raise ConfigError(
                f"{kind}.__init__ does not call super().__init__(client, model); it must, before all else"
            ) from None

    @property
    def _closed(self) -> Talk:
        if self._conversation.is_open:
            raise CallerError(f"agent {self.name} is in a chat: its messages change when that has ended")
        return self._conversation

    def _with_history(self, talk: Talk) -> Self:
        """This agent with another conversation: the same attributes, also those that are set from now on."""
        made = type(self).__new__(type(self))
        made.__dict__ = self.__dict__
        made._talk = talk
        return made

    def _orchestrator(self) -> Orchestrator:
        """The orchestrator with this object's methods. Asked for where a chat has begun, for then schemas can be made."""
        core, talk = self._core, self._talk
        if talk.orchestrator is None or talk.bound_by is not core:
            own = core.base.beside(member_tools(self), self._tools_beside(), hooks=Hooks.of(self))
            talk.orchestrator, talk.bound_by = own.beside(hooks=core.settings.get("hooks", ())), core
        return talk.orchestrator

    def _tools_beside(self) -> Any:
        """The option `tools`."""
        return self._methods().get("tools", self._core.settings.get("tools", ()))

    def _methods(self) -> dict[str, Any]:
        """The options that are methods of the class."""
        return methods_of(self, self._core.given)

    def _emitter(self, methods: Mapping[str, Any]) -> ChatEmitter:
        told = {**self._core.settings, **methods}
        return ChatEmitter(self.name, told.get("socket_emit"), told.get("log"))

    def _called(self, name: Literal["system_messages", "finalize_response"]) -> CallersFunction:
        values = 1 if name == "finalize_response" else 0
        return CallersFunction(f"{type(self).__name__}.{name}", method_of(self, Agent, name), values)

    def _begun(self, message: Said | None, output_type: Any, options: Mapping[str, Any], *, listening: bool) -> _Chat:
        """The chat, checked as far as it can be at once."""
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
        said = [] if message is None else as_messages(message)
        check_not_empty(said)
        talk = self._conversation if history is None else Talk(history)
        if not said and not given.get("answers") and not talk.goes_on:
            raise CallerError("the chat holds no message; give text, or at least one message")
        agent = self if history is None else self._with_history(talk)
        return _Chat(lambda chat: agent._events(chat, said, given, listening=listening))

    async def _events(
        self, chat: _Chat, said: Sequence[Message], options: dict[str, Any], *, listening: bool
    ) -> AsyncGenerator[Event, None]:
        core, talk, methods = self._core, self._talk, self._methods()
        teller = self._emitter(methods)
        before, ended = talk.begin(self.name, said), False
        state = talk.state(before)
        unclaimed = None if state is None else talk.given
        try:
            asked: dict[str, Any] = {**core.per_run, **{name: methods[name] for name in _OF_CHATS & methods.keys()}, **options}
            await core.base._machinery.ready()  # pyright: ignore[reportPrivateUsage]  # as its run does
            until = _Until(core.base._seconds_allowed(asked))  # pyright: ignore[reportPrivateUsage]  # that of its run
            context = _context_of(asked.get("parent"), asked.get("deps", core.settings.get("deps")))
            await self._ask_system(asked, until, context)
            given = talk.messages if state is None else said or state
            history = {"message_history": state} if state is not None and said else {}
            run = chat.run = self._orchestrator()._prepare(given, asked | until.left | history, listening=listening)  # pyright: ignore[reportPrivateUsage]  # the one loop
            run.is_told, run.copy_of = run.is_told or teller.listens, unclaimed
            talk.snapshot, ledger = run.state.snapshot, run.state.ledger
            teller.seconds_left = lambda: ledger.seconds_left
            async with aclosing(run.events()) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        result = await self._finalised(cast("RunResult[Any]", event.result), ledger.seconds_left, context)
                        ended = True
                        talk.set(result)
                        await teller.answer(result)
                        yield Finished(result)
                    else:
                        await teller.event(event)
                        yield event
        except BaseException as error:
            if not ended:
                so_far = None if chat.run is None else chat.run.so_far()
                unclaimed = unclaimed if chat.run is None else chat.run.copy_of
                talk.fail(before if state is None else state, so_far, unclaimed)
                if so_far is None and getattr(error, "partial", None) is None:
                    with_partial(error, RunResult[Any](messages=as_messages([*before, *said])))
                if isinstance(error, Exception):
                    await teller.failure(error)
            raise
        finally:
            talk.close()

    async def _ask_system(self, asked: dict[str, Any], until: _Until, context: RunContext[Any]) -> None:
        """Enter the system prompt of this chat."""
        system = asked.pop("system", self._core.settings.get("system"))
        has_more = is_own(self, Agent, "system_messages")
        more = await self._called("system_messages")(until.seconds, context) if has_more else ()
        blocks = [*system_blocks("system", system), *system_blocks("system_messages", more)]
        if any(block.cache_control for block in blocks):
            asked["system"] = blocks
        elif blocks:
            asked["system"] = "\n\n".join(block.text for block in blocks)

    async def _finalised(self, result: RunResult[Any], seconds: float | None, context: RunContext[Any]) -> RunResult[Any]:
        if result.pending or result.output_asked or not is_own(self, Agent, "finalize_response"):
            return result
        text = result.output if isinstance(result.output, str) else result.content
        try:
            final = await self._called("finalize_response")(seconds, context, text)
            if not isinstance(final, str):
                raise ConfigError(f"{type(self).__name__}.finalize_response must give a text, not {type(final).__name__}")
        except BaseException as error:
            with_partial(error, result, result.attempts)
            raise
        return with_answer(result, final)

    async def aclose(self) -> None:
        """Close the connections, those of an orchestrator apart that the agent was given."""
        if self._core.owns_base:
            await self._core.base.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __copy__(self) -> Self:
        """The same attributes, and a conversation of its own that begins as this one."""
        return self._made_of(dict(vars(self)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """As a copy, with copies of the attributes. Options, and with them models and connections, are shared."""
        own = {name: value for name, value in vars(self).items() if name != "_core" and name not in _OPTIONS}
        return self._made_of({**vars(self), **{name: copy.deepcopy(value, memo) for name, value in own.items()}})

    def _made_of(self, attributes: dict[str, Any]) -> Self:
        made = type(self).__new__(type(self))
        vars(made).update(attributes, _core=replace(self._core, tool=None))
        messages = as_messages(self.messages)
        made._talk = Talk(self._talk.state(messages) or messages)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.messages)} messages)"


class _Chat:
    """A chat as what a run is to its streams."""

    def __init__(self, begin: Callable[[_Chat], AsyncGenerator[Event, None]]) -> None:
        self._begin = begin
        self.run: Run | None = None

    def events(self) -> AsyncGenerator[Event, None]:
        return self._begin(self)

    def leave(self) -> None:
        if self.run is not None:
            self.run.leave()

    def so_far(self) -> RunResult[Any]:
        return RunResult() if self.run is None else self.run.so_far()


show_options(Agent.__init__, AgentOptions)
show_options(Agent.as_tool, OptionsByName)
for _name in ("chat", "run", "stream", "chat_sync", "run_sync", "stream_sync"):
    show_options(getattr(Agent, _name), RunOptions)


class _Until:
    """A chat's deadline, in whatever way it was given, until its run begins: it runs from the system prompt on, to the finalised
    answer."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds(self) -> float | None:
        return None if self._end is None else self._end - time.monotonic()

    @property
    def left(self) -> dict[str, float]:
        """As the option of the run, which takes nothing below 0."""
        left = self.seconds
        return {} if left is None else {"deadline": max(left, 0.001)}


def _context_of(parent: RunContext[Any] | None, deps: Any) -> RunContext[Any]:
    """What the agent's own methods are given: runs that they make within that of the parent are not the chat itself."""
    return RunContext(deps) if parent is None else parent.for_call(parent.tool_call_id, parent.tool_name, parent.retry)


def _answer_of(result: RunResult[Any]) -> Any:
    """What a chat gives of a run. Raises `CallsPending` where calls are left to the caller."""
    if result.pending:
        names = ", ".join(call.name for call in result.pending)
        words = f"the chat has no answer yet: calls are pending ({names}); `run` gives them as `pending`, and so does `partial`"
        raise CallsPending(words).with_partial(result, result.attempts)
    return result.value if result.output_asked else result.content
