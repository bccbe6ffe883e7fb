"""The options that all integrations of `llmcore.wire` take, and their checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from llmcore.types.input.argument_errors import Kind, check_kinds
from llmcore.types.requests import TEXT_CALLS
from llmcore.wire.exchange import ExchangeOptions

__all__ = ["exchange_options"]

_KINDS = {
    "reasoning_open": Kind(lambda value: isinstance(value, bool), "True or False"),
    "dialects": Kind(
        lambda value: isinstance(value, Collection) and not isinstance(value, str | bytes),
        "a list of dialects' names, as in dialects=['hermes']",
    ),
    "text_calls": Kind(lambda value: value in TEXT_CALLS, '"standard", "alone" or "off"'),
    "on_reply": Kind(callable, "a function of one ReplyReport"),
}


def exchange_options(caller: str, given: Mapping[str, Any]) -> ExchangeOptions:
    """The options by name, checked. `caller`: the function that takes them, which an error names.

    Raises `ConfigError` for an option of a wrong type, and for a dialect that does not exist.
    """
    check_kinds(caller, {name: value for name, value in given.items() if value is not None}, _KINDS)
    if given.get("dialects") is not None:
        from llmcore.normalizer import dialect  # imported on demand

        for name in given["dialects"]:
            dialect(name)
    return ExchangeOptions(**given)
