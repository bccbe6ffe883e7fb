"""What the settings of backends may be."""

from __future__ import annotations

from llmcore.support.values.bounds import is_amount
from llmcore.types.input.argument_errors import Kind

__all__ = ["KINDS"]

KINDS = {
    "name": Kind(lambda value: isinstance(value, str) and bool(value.strip()), "a text, the key of the hash"),
    "timeout": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "maxsize": Kind(lambda value: isinstance(value, int) and is_amount(value) and value > 0, "a whole number of at least 1"),
    "ttl": Kind(lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "clock": Kind(callable, "a function that gives wall-clock seconds"),
}
