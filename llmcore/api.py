"""The public `normalize`, `Normalizer` and `validate`. They compile the given tools and call the layers.

Their docstrings explain the parameters. The layers' own functions document only differences.
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

    `reply`: one of these, where text within a native reply is searched for calls too:

    - a str: the text that a model wrote. If you have a provider's body as text, load it (`json.loads`) or give its bytes.
    - a provider's JSON, recognised by its shape: a whole body or its message or output part, as a dict, list, `Reply` or object
      with `model_dump()`. A list may also contain the events of a stream.
    - bytes: a provider's JSON body, else text.
    - None: a reply without content.

    `tools`: a `ToolSet`, or an iterable of tools, functions and OpenAI or Anthropic tool dicts. None means that the tools are
    unknown. An empty list means that none were offered, so no text is a call. Lists are compiled once and cached by content.
    `dialects`: the names of the dialects that text calls may have; None recognises them from the text. In a reply with frames
    (Harmony, Kimi K3, Inkling), another form in the answer counts only if you name it here.
    `finish_reason`: the provider's word or llmcore's, if the reply does not have it.
    `reasoning_open`: the prompt opened the reasoning.
    `forced_tool`: the tool that bare arguments belong to.
    `text_calls`: with "standard", calls in text count that the model means by the rules of docs/trust.md. With "alone", a call in
    text is a guess unless the reply has nothing but calls and reasoning. With "off", text is never a call.

    Raises `ToolDefinitionError` if `tools` contains something that is no tool. Raises `ConfigError` for an unknown dialect, a
    `forced_tool` that is none of the tools, and an option of a wrong type.
    """
    check_limits(limits)
    compiled = None if tools is None else compile_tools(tools)
    if not (dialects is finish_reason is forced_tool is None and reasoning_open is False and text_calls == "standard"):
        _check_options("normalize", compiled, dialects, reasoning_open, forced_tool, finish_reason, text_calls)
    return _normalize(
        reply if isinstance(reply, str) else _decoded(reply),
        compiled,
        dialects=dialects,
        finish_reason=finish_reason,
        reasoning_open=bool(reasoning_open),
        forced_tool=forced_tool,
        text_calls=text_calls,
        limits=limits,
    )


def _check_options(
    thing: str,
    tools: ToolSet | None,
    dialects: Collection[str] | None,
    reasoning_open: bool,
    forced_tool: str | None,
    finish_reason: str | None = None,
    text_calls: str = "standard",
) -> None:
    """Raises `ConfigError` for an option of a wrong type, and for an unknown dialect or tool."""
    given = {"dialects": dialects, "reasoning_open": reasoning_open, "forced_tool": forced_tool, "finish_reason": finish_reason}
    given["text_calls"] = text_calls
    check_kinds(thing, given, _KINDS)
    if dialects is not None:
        from llmcore.normalizer import dialect  # imported on demand

        for name in dialects:
            dialect(name)
    if forced_tool is not None and tools is not None and len(tools) and forced_tool not in tools:
        fix = hint(forced_tool, sorted(tools.names))
        raise ConfigError(f"{thing}: `forced_tool` is {forced_tool[:80]!r}, which is none of the tools; {fix}")


def _decoded(reply: object) -> object:
    """Bytes as a body or text, None as an empty text; anything else unchanged."""
    if reply is None:
        return ""
    if not isinstance(reply, bytes | bytearray):
        return reply
    text = reply.decode("utf-8-sig", "replace")
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    from llmcore.normalizer.native.wires import bodies_of_list, wire_of  # imported on demand

    is_body = wire_of(body) is not None if is_object(body) else is_list(body) and bool(bodies_of_list(body))
    return body if is_body else text


@in_words()
class Normalizer(_Normalizer):
    """Normalizes a stream: `feed` text deltas or a provider's stream events, then call `finish`.

    The parameters are those of `normalize`. `envelope` equals `normalize()` of the joined text, whatever the chunks. A finished
    `Normalizer` accepts no more input: create a new one for the next reply. Only one thread at a time may feed it.
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
        _check_options("Normalizer", compiled, dialects, reasoning_open, forced_tool, text_calls=text_calls)
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
    """Validate an envelope's calls against the tools, with the repairs that `strictness` allows. It makes no request.

    The calls of the report are copies, and each has the repairs that changed it. Never raises on what a model wrote. Raises
    `CallerError` for anything but an `Envelope`, and for an unknown strictness.
    """
    _require_envelope(envelope)
    from llmcore.validator import validate_calls  # loads jsonschema
    from llmcore.validator.coercion.conversions import check_strictness

    check_strictness(strictness)
    return copied(validate_calls(envelope, compile_tools(tools), strictness=strictness))


def _require_envelope(given: object) -> None:
    if not isinstance(given, Envelope):
        fix = "validate(normalize(reply, tools), tools)"
        raise CallerError(f"validate takes an Envelope, not {describe_value(given)}; a reply is normalised first: {fix}")
