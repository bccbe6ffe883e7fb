"""An agent's conversation: its messages, and the rules by which it grows.

It is always valid as the history of the next request. A chat that ends well leaves its messages. So does one that fails after
one of its tools started, so that the model knows what was done. Any other chat leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import dropwhile, takewhile
from typing import Any, cast

from pydantic import ValidationError

from llmcore.agent.cross_loop_lock import CrossLoopLock
from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.run.hooks.hook_edits import consistent_reply
from llmcore.support.code.suggestions import mistake_in
from llmcore.support.values.copies import copied, updated
from llmcore.types import CallerError, Message, TextBlock
from llmcore.types.input.message_input import given_messages

__all__ = ["Conversation", "as_messages", "from_json", "system_blocks", "to_json", "with_answer"]


class _Messages(list[Message]):
    """A list that refuses changes while a chat runs, because the end of the chat would overwrite them."""

    is_open = False

    def __reduce__(self) -> Any:
        return list, (list(self),)


def _refusing_while_open(name: str) -> Any:
    change = getattr(list, name)

    @wraps(change)
    def changed(self: _Messages, *args: Any, **kwargs: Any) -> Any:
        if self.is_open:
            raise CallerError(
                "the agent is in a chat: its messages change when that has ended; what is to enter meanwhile is given by "
                "`interjections=`"
            )
        return change(self, *args, **kwargs)

    return changed


_CHANGES = ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse")
for _name in (*_CHANGES, "__setitem__", "__delitem__", "__iadd__", "__imul__"):
    setattr(_Messages, _name, _refusing_while_open(_name))


class Conversation:
    """One conversation of an agent: its messages, whether a chat runs in it, and the orchestrator that is bound to it."""

    def __init__(self, given: Any) -> None:
        self._messages = _Messages()
        self._state: RunResult[Any] | None = None
        """The result to resume: its calls wait, or it was saved before its run ended."""
        self.given: RunResult[Any] | None = None
        """The original of `_state`, which the run that resumes it claims."""
        self.snapshot: Callable[[], RunResult[Any]] | None = None
        """Returns the running chat's result so far."""
        self.set(given)
        self.lock = CrossLoopLock()
        """The lock of tools whose calls continue this conversation."""
        self.waiting_parent: object = None
        """The parent run that ended while calls of this conversation wait."""
        self.orchestrator: Orchestrator | None = None
        self.made_from: object = None
        """The `Core` that the orchestrator was made from."""

    @property
    def messages(self) -> list[Message]:
        """The messages. Anybody may change them while no chat runs."""
        return self._messages

    @property
    def is_open(self) -> bool:
        """Whether a chat runs in it."""
        return self._messages.is_open

    def _put(self, messages: Sequence[Message]) -> None:
        list[Message].__setitem__(self._messages, slice(None), messages)

    def set(self, given: Any) -> None:
        """Continue from messages, or from a result. Raises `CallerError`."""
        self._put(as_messages(given))
        result: RunResult[Any] | None = cast("Any", given) if isinstance(given, RunResult) else None
        self.given = result if result is not None and (result.pending or not result.ended) else None
        self._state = copied(self.given)

    def state(self, messages: Sequence[Message]) -> RunResult[Any] | None:
        """The result to resume, with the messages added since. None if its messages are no longer a prefix of the
        conversation."""
        state = self._state
        if state is None or messages[: len(state.messages)] != state.messages:
            return None
        return updated(state, {"messages": list(messages)})

    @property
    def has_question(self) -> bool:
        """Whether the model has something to answer, although nothing new was messages. Raises `CallerError`."""
        messages = as_messages(self.messages)
        if not messages or self.state(messages) is not None:
            return bool(messages)
        return messages[-1].role != "assistant" or bool(messages[-1].tool_uses)

    def begin(self, name: str, messages: Sequence[Message]) -> list[Message]:
        """Add the user's messages. Returns the messages before them. Raises `CallerError` while another chat runs."""
        if self.is_open:
            raise CallerError(
                f"agent {name} is in a chat already, and two in one conversation would mix: await the first, add to it by "
                "`interjections=`, or give this one a history of its own: `message_history=[...]`"
            )
        before = as_messages(self.messages)
        self._put([*before, *messages])
        self._messages.is_open = True
        return before

    def fail(self, before: Any, so_far: RunResult[Any] | None, given: RunResult[Any] | None) -> None:
        """Keep what the failed chat did. If it did nothing, restore `before`: messages, or the result that waited.

        `given`: the original of that result, if the chat has not claimed it.
        """
        is_done = so_far is not None and _ran_tools(so_far)
        self.set(so_far if is_done else before)
        if not is_done and given is not None:
            self.given = given

    def is_waiting_within(self, run: object) -> bool:
        """Whether calls of this conversation wait that another call of that run made."""
        return run is not None and self.waiting_parent is run and self.state(as_messages(self.messages)) is not None

    def messages_since(self, left: RunResult[Any]) -> list[Message]:
        """The messages added since a run was left in this state, without the results that closed its calls."""
        messages = as_messages(self.messages)
        pairs = zip(messages, left.messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return list(dropwhile(lambda one: one.role == "tool", messages[same:]))

    @contextmanager
    def rejoined(self, name: str, since: Sequence[Message]) -> Generator[Callable[[RunResult[Any]], None]]:
        """A context for a run that was left in this conversation and resumes beside it. No chat may run meanwhile.

        Unless the run waits again, its messages come before those added `since`. Raises `CallerError` while a chat runs.
        """
        self.begin(name, ())

        def rejoin(result: RunResult[Any]) -> None:
            if not result.pending:
                self._put([*copied(result.messages), *since])

        try:
            yield rejoin
        except BaseException as error:
            so_far: RunResult[Any] | None = getattr(error, "partial", None)
            if so_far is not None and _ran_tools(so_far):
                rejoin(so_far)
            raise
        finally:
            self.close()

    def close(self) -> None:
        """The chat is over."""
        self._messages.is_open, self.snapshot = False, None


def _ran_tools(run: RunResult[Any]) -> bool:
    """Whether a tool of the run was started."""
    return any(record.ran for record in run.tool_results)


def as_messages(given: Any) -> list[Message]:
    """Text, messages, dicts of any provider, or a result, as copied messages. Raises `CallerError`."""
    if isinstance(given, RunResult):
        return copied(given.messages)
    try:
        return [copied(one) if isinstance(one, Message) else Message.model_validate(one) for one in given_messages(given)]
    except ValidationError as error:
        raise CallerError(mistake_in(error, "Message", Message.model_fields)) from None


def to_json(conversation: Conversation) -> str:
    """A saved result: the running chat's, the one to resume, or one with nothing but messages."""
    if conversation.snapshot is not None:
        return conversation.snapshot().model_dump_json()
    messages = as_messages(conversation.messages)
    if (state := conversation.state(messages)) is not None:
        return state.model_dump_json()
    return RunResult(messages=messages).model_dump_json(include={"version", "messages"})


def from_json(saved: str | bytes | RunResult[Any]) -> RunResult[Any]:
    """A saved conversation, or any result. Raises `CallerError`."""
    return saved if isinstance(saved, RunResult) else RunResult[Any].model_validate_json(saved)


def system_blocks(name: str, given: Any) -> list[TextBlock]:
    """A system prompt as texts. It may be a text, a block, a message, a dict of one, or several. Raises `CallerError`."""
    if given is None:
        return []
    several = not isinstance(given, str | Mapping | Message | TextBlock) and isinstance(given, Iterable)
    listed: Iterable[Any] = cast("Any", given) if several else [cast("Any", given)]
    return [block for one in listed for block in _blocks(name, one)]


def _blocks(name: str, given: Any) -> list[TextBlock]:
    if isinstance(given, TextBlock):
        return [given]
    if isinstance(given, str):
        return [TextBlock(text=given)] if given else []
    (message,) = as_messages([given])
    if message.role != "system" or not all(isinstance(block, TextBlock) for block in message.content):
        raise CallerError(
            f"{name} gives texts and messages of the role system, not one of {message.role!r}; put it into `messages`"
        )
    return [block for block in message.content if isinstance(block, TextBlock)]


def with_answer(result: RunResult[Any], text: str) -> RunResult[Any]:
    """The result with this text as its answer, in the history, too."""
    before = result.envelope
    if text == before.content and not isinstance(result.output, str):
        return result
    envelope = consistent_reply(before, before.model_copy(update={"content": text}), before.blocks)
    messages = list(result.messages)
    if messages and messages[-1].role == "assistant":
        messages[-1] = Message(role="assistant", content=envelope.blocks)
    changes: dict[str, Any] = {"envelope": envelope, "messages": messages}
    if isinstance(result.output, str):
        changes["output"] = text
    return updated(result, changes)
