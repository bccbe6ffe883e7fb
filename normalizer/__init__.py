"""Layer 2: turn a reply, in any protocol or text dialect, into one envelope.

The layer is sans-IO: it uses no event loop, no network and no clock. It never raises on what a model wrote: what it cannot
read, it records. Total work is linear in the length of the text, however the text was cut into deltas.

Python loads the names below at first use, so that reading JSON does not import every dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.normalizer.api import Normalizer as Normalizer
    from llmcore.normalizer.api import normalize as normalize
    from llmcore.normalizer.core.dialect import Dialect as Dialect
    from llmcore.normalizer.dialects.registry import DIALECTS as DIALECTS
    from llmcore.normalizer.dialects.registry import dialect as dialect

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "api": "Normalizer normalize",
        "core.dialect": "Dialect",
        "dialects.registry": "DIALECTS dialect",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
