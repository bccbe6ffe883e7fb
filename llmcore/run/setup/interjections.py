"""Messages that are added to a run while it goes on: they enter the history before the next request of the model, re-asks and
retries included.

A function is asked after the final message too, and what it gives lets the run go on. What is put into a box while the last
answer is being written stays there: it is for the next run. The run's result tells of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, cast

from llmcore.run.caller_functions import CallersFunction
from llmcore.run.results.boundary_copies import refusing
from llmcore.run.results.openai_history import says_nothing
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_object
from llmcore.tools import RunContext
from llmcore.types import CallerError, Message
from llmcore.types.input.argument_errors import in_words
from llmcore.types.input.message_input import given_messages

__all__ = ["Interjections", "box_of", "interjected", "interjections_of", "left_waiting", "not_waiting"]

_ROLES = ("user", "system")


@in_words(only=("__init__",))
class Interjections:
    """A box for messages to a running run, given to it as `interjections=`. Usable from any task or thread.

    box = Interjections()
    run = asyncio.create_task(orchestrator.run("...", interjections=box))
    box.add("By the way, ...")
    """

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque()
        self.beside: CallersFunction | None = None
        """A function that is asked too."""

    def add(self, *messages: str | Message) -> None:
        """Add text of the user, or messages of the role user or system. Raises `CallerError`."""
        self._waiting.extend([one for given in messages for one in _messages(given)])

    def take(self) -> list[Message]:
        """Those that wait, which wait no longer."""
        taken: list[Message] = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken

    def look(self) -> list[Message]:
        """Those that wait, which go on waiting: copies."""
        return copied([*self._waiting.copy()])

    def __len__(self) -> int:
        """How many wait to be taken."""
        return len(self._waiting)


def interjections_of(given: object) -> CallersFunction | None:
    """What is asked for interjections: a box, or a function of nothing or of the `RunContext` that gives text, messages or None.

    Raises `ConfigError`.
    """
    if given is None:
        return None
    function = given.take if isinstance(given, Interjections) else given
    return CallersFunction("interjections (an Interjections box, or a function)", function, 0)


def box_of(given: object) -> Interjections:
    """The box that was given, or one beside the function that was. Raises `ConfigError`."""
    if isinstance(given, Interjections):
        return given
    box = Interjections()
    box.beside = interjections_of(given)
    return box


def _box(source: CallersFunction | None) -> Interjections | None:
    """The box that it is, if it is no function."""
    box = getattr(source.function, "__self__", None) if source is not None else None
    return box if isinstance(box, Interjections) else None


def left_waiting(source: CallersFunction | None) -> list[Message]:
    """What was added and has not entered. A function is not asked: what it would give was not added."""
    box = _box(source)
    return box.look() if box is not None else []


def not_waiting(messages: Sequence[Message], source: CallersFunction | None) -> list[Message]:
    """Those that do not wait in the box that this run is given, from which they enter by themselves."""
    waiting = left_waiting(source)
    left: list[Message] = []
    for message in messages:
        if message in waiting:
            waiting.remove(message)
        else:
            left.append(message)
    return left


async def interjected(
    source: CallersFunction, context: RunContext[Any], seconds: float | None, *, is_over: bool = False
) -> list[Message]:
    """The messages that enter now. `is_over`: unless a function lets the run go on, what is in a box is for the next one.

    Raises what the function raises, and `CallerError` for what is no message of a user.
    """
    box = _box(source)
    asked = source if box is None else box.beside
    given = None if asked is None else await asked(seconds, context)
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
            raise CallerError(f"an interjection is a message of the user or the system, not one of the role {message.role!r}")
        if says_nothing(message):
            raise CallerError("an interjection is empty: give text, or leave it out")
    return refusing(made, lambda words: CallerError(f"an interjection's {words}"))
