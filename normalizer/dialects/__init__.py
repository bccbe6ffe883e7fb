"""The dialects, a module a family, a row a dialect."""

from __future__ import annotations

from llmcore.normalizer.core.rows import Dialect
from llmcore.normalizer.dialects import (
    bare_forms,
    braces,
    deepseek,
    framed,
    function_parameter,
    harmony,
    hash_rocket,
    invoke,
    json_wrapped,
    key_value,
    kimi,
    name_json,
    named_elements,
    nested,
    python_calls,
)

__all__ = ["FAMILIES"]

FAMILIES: tuple[tuple[Dialect, ...], ...] = (
    json_wrapped.DIALECTS,
    name_json.DIALECTS,
    kimi.DIALECTS,
    deepseek.DIALECTS,
    function_parameter.DIALECTS,
    invoke.DIALECTS,
    named_elements.DIALECTS,
    harmony.DIALECTS,
    framed.DIALECTS,
    braces.DIALECTS,
    hash_rocket.DIALECTS,
    nested.DIALECTS,
    key_value.DIALECTS,
    python_calls.DIALECTS,
    bare_forms.DIALECTS,
)
