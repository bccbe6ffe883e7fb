"""`FakeModel`: a scripted model that ships with the library, for tests of code that uses llmcore.

It is an adapter: the normaliser, the validator, fallback and the tool loop above it are the real ones. It gives its
answers in order, one for each request, streamed or not. Several threads may share it only if its answers are
callables.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, cast

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.support.code.suggestions import describe_value
from llmcore.support.code.test_failures import mark_test_failure
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.copies import copied
from llmcore.testing.replies import (
    Answer,
    checked_reply,
    chunks_of,
    heeding,
    raise_if_error,
    raise_if_no_reply,
    reply_of,
    resolved,
    tool_call_body,
)
from llmcore.testing.usages import usage_of_body
from llmcore.types import CallerError, ConfigError, Reply, Request, Usage
from llmcore.types.input.argument_errors import Kind, check_kinds, check_takes_one, in_words

__all__ = ["FakeModel"]

_CHARACTERS_PER_TOKEN = 4
_SHOWN = 200


_KINDS = {
    "chunk_size": Kind(
        lambda value: isinstance(value, int) and is_amount(value) and value >= 1,
        "a number of characters, 1 or more, or None for one piece",
    ),
    "capabilities": Kind(lambda value: isinstance(value, Capabilities), "llmcore.adapters.base.Capabilities"),
    "endpoint": Kind(lambda value: isinstance(value, Endpoint), "an llmcore.adapters.base.Endpoint"),
}
_TOKENS = Kind(lambda value: isinstance(value, int) and is_amount(value), "a whole number of at least 0")
_COUNTS = {
    "input_tokens": _TOKENS,
    "output_tokens": _TOKENS,
    "cost": Kind(is_amount, "a number of US dollars of at least 0"),
}
_NAME = {"name": Kind(lambda value: isinstance(value, str), "a tool's name, a text")}
_TEXT = {"text": Kind(lambda value: isinstance(value, str), "a text")}
_ERROR = {
    "error": Kind(
        lambda value: isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)),
        "an exception or its class",
    )
}


@in_words(
    instead={
        "prompt_tokens": "write `input_tokens`",
        "completion_tokens": "write `output_tokens`",
    }
)
class FakeModel:
    """A model that gives the replies you script.

    It gives `replies` in order, then `default`. If neither is left, a request raises a `ConfigError` that says why the
    request was made. A reply is a str, a `Message` of the assistant, an `Envelope`, a `Reply`, a provider's body (dict),
    a list of stream chunks, an exception, or a callable that takes the request and returns one of these (sync or async).
    Anything else raises a `ConfigError` at once. A body that contains an error fails as it would on the wire. If a
    callable raises an `LLMCoreError`, that is the model's failure; anything else, such as a failed assertion, ends the
    run unchanged. `chunk_size`: characters for each piece of a stream, None = one piece. `capabilities`: what it can do;
    by default nothing is known, so llmcore tries everything. `endpoint`: the endpoint that it stands for.

    The builder methods return the model: `FakeModel().text("Hello").tool_call("get_weather", {"city":
    "Paris"}).error(exc)`. `requests` holds the requests (with the tools offered), `calls` the resolved `ModelCall`s.
    Callables get a copy.
    """

    provider_id = "fake"
    lets_exceptions_through = True
    heeds_cancellation = True

    def __init__(
        self,
        *replies: Answer,
        default: Answer | None = None,
        chunk_size: int | None = None,
        capabilities: Capabilities | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.endpoint = endpoint or Endpoint(provider="fake", model="fake", alias="fake")
        self.requests: list[Request] = []
        self.calls: list[ModelCall] = []
        check_kinds("FakeModel", {"chunk_size": chunk_size, "capabilities": capabilities, "endpoint": endpoint}, _KINDS)
        self._replies: list[Any] = [checked_reply(reply) for reply in replies]
        self._default: Any = None if default is None else checked_reply(default)
        self._chunk_size = chunk_size
        self._last_answer: Any = None
        self._usage_each: Usage | None = None
        self._capabilities = capabilities or Capabilities()
        self._delay = 0.0
        self._on_request: list[Callable[[Request], Any]] = []
        self._count_tokens: Callable[[Request], int] | None = None
        self._tools_shown: tuple[Any, ...] = ()

    # The script: each method adds the next answer

    def reply(self, answer: Answer) -> FakeModel:
        """Next, an answer of any allowed type."""
        self._replies.append(checked_reply(answer))
        return self

    def text(self, text: str) -> FakeModel:
        """Next, this text."""
        check_kinds("FakeModel.text", {"text": text}, _TEXT)
        return self.reply(text)

    def tool_call(self, name: str, arguments: Any = None, *, text: str | None = None) -> FakeModel:
        """Next, one native call. `arguments` may be a str, which is sent unchanged, even if it is broken JSON."""
        check_kinds("FakeModel.tool_call", {"name": name}, _NAME)
        return self.tool_calls((name, {} if arguments is None else arguments), text=text)

    def tool_calls(self, *calls: tuple[str, Any], text: str | None = None) -> FakeModel:
        """Next, several native calls in one reply, each `(name, arguments)`."""
        for each in calls:
            if not _is_pair(each):
                raise ConfigError(f"FakeModel.tool_calls: a call is a pair (name, arguments), not {describe_value(each)}")
        return self.reply(tool_call_body(calls, text, 100 * len(self._replies)))

    def error(self, error: BaseException | type[BaseException]) -> FakeModel:
        """Next, this exception."""
        check_kinds("FakeModel.error", {"error": error}, _ERROR)
        return self.reply(error)

    def default_reply(self, answer: Answer) -> FakeModel:
        """The answer after the scripted replies are used up."""
        self._default = checked_reply(answer)
        return self

    def default_text(self, text: str) -> FakeModel:
        return self.default_reply(text)

    def default_error(self, error: BaseException | type[BaseException]) -> FakeModel:
        check_kinds("FakeModel.default_error", {"error": error}, _ERROR)
        return self.default_reply(error)

    # How it behaves

    def delay(self, seconds: float) -> FakeModel:
        """Wait this many seconds before each answer. Raises `ConfigError` unless it is a finite number of at least 0."""
        if not is_amount(seconds):
            raise ConfigError(f"delay is a finite number of seconds of at least 0, not {seconds!r}")
        self._delay = seconds
        return self

    def on_request(self, function: Callable[[Request], Any]) -> FakeModel:
        """Call `function` (sync or async) with each request, before any delay. If it returns anything but None, that
        replaces the script's answer. Every function you add is called, and the first answer counts."""
        check_takes_one("FakeModel.on_request", function)
        self._on_request.append(function)
        return self

    def usage(self, *, input_tokens: int = 0, output_tokens: int = 0, cost: float | None = None) -> FakeModel:
        """Set the tokens and the cost (US dollars, None = unknown) of each reply that does not give its own usage. If a
        `Budget` bounds tokens or cost, give both counts: the budget replaces a count of 0 by an estimate."""
        check_kinds("FakeModel.usage", {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost": cost}, _COUNTS)
        self._usage_each = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cost=cost)
        return self

    def token_counter(self, function: Callable[[Request], int]) -> FakeModel:
        """Count a request's input tokens with `function`, for `count_tokens`. If neither a reply nor `usage` gives the
        usage, its input tokens come from here too."""
        check_takes_one("FakeModel.token_counter", function)
        self._count_tokens = function
        return self

    @property
    def tells_cost(self) -> bool:
        """Does each reply give its cost, so that a cost budget needs no prices?"""
        return self._usage_each is not None and self._usage_each.cost is not None

    # The requests it received

    @property
    def last_request(self) -> Request:
        """The last request. Raises `CallerError` if there was none yet."""
        if not self.requests:
            raise CallerError("the model has had no request yet: run something before you read `last_request`")
        return self.requests[-1]

    @property
    def call_count(self) -> int:
        return len(self.requests)

    def reset(self) -> FakeModel:
        """Forget the requests and start the script anew."""
        self.requests.clear()
        self.calls.clear()
        self._last_answer = None
        return self

    def count_tokens(self, request: Request) -> int:
        """The count of `token_counter`, else a fourth of the characters of the texts."""
        if self._count_tokens is not None:
            return self._count_tokens(request)
        return sum(len(message.text) for message in request.messages) // _CHARACTERS_PER_TOKEN

    def counted_tokens(self, request: Request) -> int | None:
        """The count of `token_counter`; None without one."""
        return None if self._count_tokens is None else self._count_tokens(request)

    # The adapter

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return self._capabilities

    async def complete(self, call: ModelCall) -> Reply:
        answer = await self._answer(call)
        raise_if_no_reply(answer)
        return reply_of(answer, self._usage(call.request, answer))

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        answer = await self._answer(call)
        raise_if_no_reply(answer)
        for chunk in chunks_of(answer, self._chunk_size):
            raise_if_error(chunk)
            yield chunk
            await asyncio.sleep(0)  # a real stream would wait here, and could be cancelled
        usage = _answer_text(answer) or self._usage(call.request, answer)
        whole = not isinstance(answer, list | tuple)  # scripted chunks may be a stream that was cut off
        yield {"llmcore": {"usage": usage.model_dump() if usage else None, "ended": whole}}

    async def _answer(self, call: ModelCall) -> Any:
        try:
            return await self._answered(call)
        except AssertionError as error:
            mark_test_failure(error)
            raise

    async def _answered(self, call: ModelCall) -> Any:
        number = len(self.requests)
        self.requests.append(call.request)
        self.calls.append(call)
        instead = None
        for function in self._on_request:
            given = function(self._own(call.request))
            given = await heeding(given) if inspect.isawaitable(given) else given
            instead = given if instead is None else instead
        if self._delay:
            await asyncio.sleep(self._delay)
        if instead is not None:
            self._last_answer = await resolved(instead, partial(self._own, call.request))
            return self._last_answer
        scripted = self._replies[number] if number < len(self._replies) else self._default
        if scripted is None:
            raise self._exhausted(call)
        answer = self._last_answer = await resolved(scripted, partial(self._own, call.request))
        is_scripted = answer is scripted and not isinstance(answer, BaseException)  # else a function made it
        return copied(answer) if is_scripted else answer

    def _own(self, request: Request) -> Request:
        """A copy for a test's function. Nearly all requests share their tools, so the tools are copied again only if they
        differ from the last copy, or a function changed that copy."""
        tools = self._tools_shown
        if tools != request.tools:
            tools = self._tools_shown = copied(request.tools)
        return request.model_copy(update={"tools": tools})

    def _exhausted(self, call: ModelCall) -> ConfigError:
        given = f"{len(self._replies)} {'reply' if len(self._replies) == 1 else 'replies'}"
        last = repr(self._last_answer)
        last = last if len(last) <= _SHOWN else f"{last[:_SHOWN]}..."
        words = (
            f"FakeModel was given {given} and this is request {len(self.requests)}, {why(call)}; add a reply, or a default. "
            f"The last reply was {last if self._last_answer is not None else 'none'}"
        )
        return mark_test_failure(ConfigError(words))

    def _usage(self, request: Request, answer: Any) -> Usage | None:
        if self._usage_each is not None or self._count_tokens is None:
            return self._usage_each
        written = len(str(answer)) // _CHARACTERS_PER_TOKEN
        return Usage(input_tokens=self._count_tokens(request), output_tokens=written, estimated=True)


def _is_pair(value: object) -> bool:
    """Whether the value is a pair of a name and arguments."""
    return isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == 2 and isinstance(value[0], str)


def why(call: ModelCall) -> str:
    """Why a request was made, in words, for messages."""
    words = _REASONS.get(call.reason or "", "for an unknown reason")
    return f"{words} ({call.detail})" if call.detail else words


_REASONS = {
    "first": "the first of a run",
    "turn": "the next turn, since tools had run or the model was not done",
    "reask": "made so that the model corrects its last reply",
    "mode": "made in another output mode",
    "model": "made to another model",
    "retry": "made again after a failure",
}


def _answer_text(answer: object) -> Usage | None:
    if isinstance(answer, Reply):
        return answer.usage if answer.usage != Usage() else None
    return usage_of_body(answer)
