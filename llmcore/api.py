"""The functions of the public face that take any kind of tool: they compile the tools and hand on to the layers.

What the parameters mean is said here, once; a layer's own function says only where it differs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal

from llmcore.compiling import compile_tools
from llmcore.normalizer import Normalizer as _Normalizer
from llmcore.normalizer import normalize as _normalize
from llmcore.support.code.suggestions import describe_value, hint
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import DEFAULT_LIMITS, CallerError, ConfigError, Envelope, Limits, ToolSet
from llmcore.types.input.argument_errors import Kind, check_kinds, in_words, with_readable_errors
from llmcore.types.limits import check_limits
from llmcore.types.requests import TEXT_CALLS, TextCalls

if TYPE_CHECKING:
    from llmcore.validator import ValidationReport

__all__ = ["Normalizer", "normalize", "validate"]

Tools = ToolSet | Iterable[object] | None
_NAME = Kind(lambda value: isinstance(value, str), "a text")
_KINDS = {
    "finish_reason": _NAME,
    "forced_tool": _NAME,
    "reasoning_open": Kind(lambda value: isinstance(value, bool), "True or False"),
    "dialects": Kind(
        lambda value: isinstance(value, Collection) and not isinstance(value, str | bytes),
        "a list of dialects' names, as in dialects=['hermes']",
    ),
    "text_calls": Kind(lambda value: value in TEXT_CALLS, '"standard", "alone" or "off"'),
}


@with_readable_errors
def normalize(
    reply: Any,
    tools: Tools = None,
    *,
    dialects: Collection[str] | None = None,
    finish_reason: str | None = None,
    reasoning_open: bool = False,
    forced_tool: str | None = None,
    text_calls: TextCalls = "standard",
    limits: Limits = DEFAULT_LIMITS,
) -> Envelope:
    """Turn any model's reply into one `Envelope`. Never raises on a reply.

    `reply`: text, or any provider's JSON (a whole body or its message or output part: dict, list, `Reply`, an object with
    `model_dump()`), told apart by its shape; text inside a native reply goes through the text dialects too. A list may also
    hold the events of a stream. Bytes are what a server sent: a provider's JSON body, else text. A str is what a model
    wrote, also where it is JSON: load a body (`json.loads`) first, or give its bytes. None, a reply without content, is empty.
    `tools`: a `ToolSet`, or an iterable of tools, functions and OpenAI/Anthropic tool dicts. None = not told which; an empty
    list = none were offered, so no text is ever a call. Plain lists are compiled once and cached by content.
    `dialects`: registry names to restrict text calls to; None = recognise them from the text. Where frames say what is a call
    (Harmony, Kimi K3, Inkling), a form in the answer counts only if you name it here. `finish_reason`: the provider's word or
    ours, where the reply does not hold it. `reasoning_open`: the prompt opened the reasoning. `forced_tool`: bare
    arguments belong to it. `text_calls`: "standard" takes the calls in text that docs/trust.md takes for meant.
    "alone" makes a call in text a guess, unless the reply holds nothing but calls and reasoning. With "off" text is never a call.

    Raises `ToolDefinitionError` when `tools` holds something that is no tool, `ConfigError` for an unknown dialect name, a
    `forced_tool` that is none of the tools, and an option of another kind.
    """
    check_limits(limits)
    compiled = None if tools is None else compile_tools(tools)
    if not (dialects is finish_reason is forced_tool is None and reasoning_open is False and text_calls == "standard"):
        _check("normalize", compiled, dialects, reasoning_open, forced_tool, finish_reason, text_calls)
    return _normalize(
        reply if isinstance(reply, str) else _loaded(reply),
        compiled,
        dialects=dialects,
        finish_reason=finish_reason,
        reasoning_open=bool(reasoning_open),
        forced_tool=forced_tool,
        text_calls=text_calls,
        limits=limits,
    )


def _check(
    thing: str,
    tools: ToolSet | None,
    dialects: Collection[str] | None,
    reasoning_open: bool,
    forced_tool: str | None,
    finish_reason: str | None = None,
    text_calls: str = "standard",
) -> None:
    """Raises `ConfigError` for an option of another kind, and for a name that there is not."""
    given = {"dialects": dialects, "reasoning_open": reasoning_open, "forced_tool": forced_tool, "finish_reason": finish_reason}
    given["text_calls"] = text_calls
    check_kinds(thing, given, _KINDS)
    if dialects is not None:
        from llmcore.normalizer import dialect  # only where one is named

        for name in dialects:
            dialect(name)
    if forced_tool is not None and tools is not None and len(tools) and forced_tool not in tools:
        fix = hint(forced_tool, sorted(tools.names))
        raise ConfigError(f"{thing}: `forced_tool` is {forced_tool[:80]!r}, which is none of the tools; {fix}")


def _loaded(reply: object) -> object:
    """Bytes as the body or the text that they are, None as no text; anything else as it is."""
    if reply is None:
        return ""
    if not isinstance(reply, bytes | bytearray):
        return reply
    text = reply.decode("utf-8-sig", "replace")
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    from llmcore.normalizer.native.wires import bodies_of_list, wire_of  # only here: who reads text does not pay for the wires

    is_body = wire_of(body) is not None if is_object(body) else is_list(body) and bool(bodies_of_list(body))
    return body if is_body else text


@in_words()
class Normalizer(_Normalizer):
    """The same engine, incremental: `feed` text deltas or a provider's stream events, then `finish`.

    The parameters are those of `normalize`. `envelope` equals `normalize()` of the joined text, however it was cut. Once
    finished, a `Normalizer` takes no more; make a new one for the next reply. One thread at a time may feed it.
    """

    def __init__(
        self,
        tools: Tools = None,
        *,
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        forced_tool: str | None = None,
        text_calls: TextCalls = "standard",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        check_limits(limits)
        compiled = None if tools is None else compile_tools(tools)
        _check("Normalizer", compiled, dialects, reasoning_open, forced_tool, text_calls=text_calls)
        super().__init__(
            compiled,
            dialects=dialects,
            reasoning_open=bool(reasoning_open),
            forced_tool=forced_tool,
            text_calls=text_calls,
            limits=limits,
        )


@with_readable_errors
def validate(
    envelope: Envelope, tools: ToolSet | Iterable[object], *, strictness: Literal["off", "safe", "lenient"] = "safe"
) -> ValidationReport:
    """Check an envelope's calls against the tools, repairing what `strictness` allows; no model is asked.

    Every repair is recorded on the call it changed. The calls are copies. Never raises on what a model wrote.
    Raises `CallerError` for anything but an `Envelope`, and for another strictness.
    """
    _refuse_replies(envelope)
    from llmcore.validator import validate as check  # only here: who normalises does not pay for the validator's libraries
    from llmcore.validator.coercion.conversions import check_strictness

    check_strictness(strictness)
    return copied(check(envelope, compile_tools(tools), strictness=strictness))


def _refuse_replies(given: object) -> None:
    if not isinstance(given, Envelope):
        fix = "validate(normalize(reply, tools), tools)"
        raise CallerError(f"validate takes an Envelope, not {describe_value(given)}; a reply is normalised first: {fix}")
