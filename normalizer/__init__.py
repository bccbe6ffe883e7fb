"""Layer 2: a reply, in whatever protocol or text dialect it came, becomes one envelope.

Sans-IO: no asyncio, no network, no clock. Never raises on what a model wrote; what cannot be read is recorded. Total
work is linear in the length of the text, however it was cut.

Names are loaded when first asked for: a reader of JSON does not cost the import of every dialect.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmcore.normalizer.api import Normalizer as Normalizer
    from llmcore.normalizer.api import normalize as normalize
    from llmcore.normalizer.core.rows import Dialect as Dialect
    from llmcore.normalizer.dialects.registry import DIALECTS as DIALECTS
    from llmcore.normalizer.dialects.registry import dialect as dialect
    from llmcore.normalizer.notations.json import JsonReading as JsonReading
    from llmcore.normalizer.notations.json import read_json as read_json

_LAZY = {
    "DIALECTS": "llmcore.normalizer.dialects.registry",
    "Dialect": "llmcore.normalizer.core.rows",
    "JsonReading": "llmcore.normalizer.notations.json",
    "Normalizer": "llmcore.normalizer.api",
    "dialect": "llmcore.normalizer.dialects.registry",
    "normalize": "llmcore.normalizer.api",
    "read_json": "llmcore.normalizer.notations.json",
}

__all__ = ["DIALECTS", "Dialect", "JsonReading", "Normalizer", "dialect", "normalize", "read_json"]


if not TYPE_CHECKING:  # a checker takes each name for one of a module that has it

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            value: object = getattr(import_module(_LAZY[name]), name)
            globals()[name] = value  # asked once
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
