"""Layer 2: a reply, in whatever protocol or text dialect it came, becomes one envelope.

Sans-IO: no asyncio, no network, no clock. Never raises on what a model wrote; what cannot be read is recorded. Total
work is linear in the length of the text, however it was cut.

Names are loaded when first asked for: a reader of JSON does not cost the import of every dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_dir, lazy_names

if TYPE_CHECKING:
    from llmcore.normalizer.api import Normalizer as Normalizer
    from llmcore.normalizer.api import normalize as normalize
    from llmcore.normalizer.core.dialect import Dialect as Dialect
    from llmcore.normalizer.dialects.registry import DIALECTS as DIALECTS
    from llmcore.normalizer.dialects.registry import dialect as dialect

_LAZY = {
    "DIALECTS": "dialects.registry",
    "Dialect": "core.dialect",
    "Normalizer": "api",
    "dialect": "dialects.registry",
    "normalize": "api",
}

__all__ = ["DIALECTS", "Dialect", "Normalizer", "dialect", "normalize"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _LAZY), lazy_dir(__name__, _LAZY)
