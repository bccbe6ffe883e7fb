"""Messages that you add to a running run. They enter the history before the next request, including re-asks and retries.

A function is also called after the final message. If it returns messages, the run goes on. Messages added to a box while
the last answer is written stay there for the next run, and the run's result lists them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, cast

from llmcore.run.caller_functions import CallersFunction
from llmcore.run.results.boundary_copies import checked_copy
from llmcore.run.results.openai_history import is_blank
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_object
from llmcore.tools import RunContext
from llmcore.types import CallerError, Message
from llmcore.types.input.argument_errors import in_words
from llmcore.types.input.message_input import given_messages

__all__ = ["Interjections", "box_of", "interjections_function", "take_interjections", "waiting_messages", "without_waiting"]

_ROLES = ("user", "system")


@in_words(only=("__init__",))
class Interjections:
    """A box for messages to a running run, given to it as `interjections=`. You can use it from any task or thread.

    box = Interjections()
    run = asyncio.create_task(orchestrator.run("...", interjections=box))
    box.add("By the way, ...")
    """

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque()
        self.beside: CallersFunction | None = None
        """A function that also gives interjections."""

    def add(self, *messages: str | Message) -> None:
        """Add a user's text, or messages with the role user or system. Raises `CallerError` for anything else."""
        self._waiting.extend([one for given in messages for one in _messages(given)])

    def take(self) -> list[Message]:
        """Remove the waiting messages and return them."""
        messages: list[Message] = []
        while self._waiting:
            messages.append(self._waiting.popleft())
        return messages

    def look(self) -> list[Message]:
        """Copies of the waiting messages, which stay in the box."""
        return copied([*self._waiting.copy()])

    def __len__(self) -> int:
        """The number of waiting messages."""
        return len(self._waiting)


def interjections_function(given: object) -> CallersFunction | None:
    """The function that gives interjections: the box's or the given one. It takes nothing or the `RunContext`, and returns
    text, messages or None.

    Raises `ConfigError`.
    """
    if given is None:
        return None
    function = given.take if isinstance(given, Interjections) else given
    return CallersFunction("interjections (an Interjections box, or a function)", function, 0)


def box_of(given: object) -> Interjections:
    """The given box, or a new one with the given function beside it. Raises `ConfigError`."""
    if isinstance(given, Interjections):
        return given
    box = Interjections()
    box.beside = interjections_function(given)
    return box


def _box_behind(source: CallersFunction | None) -> Interjections | None:
    """The box whose `take` the function is; None for any other function."""
    box = getattr(source.function, "__self__", None) if source is not None else None
    return box if isinstance(box, Interjections) else None


def waiting_messages(source: CallersFunction | None) -> list[Message]:
    """Copies of the messages waiting in the box. A function is not called, since its messages were not added yet."""
    box = _box_behind(source)
    return box.look() if box is not None else []


def without_waiting(messages: Sequence[Message], source: CallersFunction | None) -> list[Message]:
    """The messages without those that wait in this run's box, since the box adds them anyway."""
    waiting = waiting_messages(source)
    others: list[Message] = []
    for message in messages:
        if message in waiting:
            waiting.remove(message)
        else:
            others.append(message)
    return others


async def take_interjections(
    source: CallersFunction, context: RunContext[Any], seconds: float | None, *, is_over: bool = False
) -> list[Message]:
    """The messages that enter now. `is_over`: after the final message, a box is emptied only if its function gives messages.

    Raises what the function raises, and `CallerError` if it returns anything but messages of a user or the system.
    """
    box = _box_behind(source)
    function = source if box is None else box.beside
    given = None if function is None else await function(seconds, context)
    listed: Iterable[object] = (
        () if given is None else cast("Iterable[object]", given) if isinstance(given, list | tuple) else [given]
    )
    messages = [message for one in listed for message in _messages(one)]
    return messages if box is None or (is_over and not messages) else [*box.take(), *messages]


def _messages(given: object) -> list[Message]:
    if not isinstance(given, str | Message) and not is_object(given):
        raise CallerError(f"an interjection is text, a Message or a dict of one, not {type(given).__name__}")
    read = given_messages(given if isinstance(given, str | Message) else [given])
    made = [one if isinstance(one, Message) else Message.model_validate(one) for one in read]
    for message in made:
        if message.role not in _ROLES or message.tool_results:
            raise CallerError(f"an interjection is a message of the user or the system, not with the role {message.role!r}")
        if is_blank(message):
            raise CallerError("an interjection is empty: give text, or leave it out")
    return checked_copy(made, lambda words: CallerError(f"an interjection's {words}"))
