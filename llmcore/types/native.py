"""Settings of mypyc for one class, which say nothing where Python itself runs the source.

mypyc knows `mypy_extensions.mypyc_attr` by its name when it compiles. It is needed for that only, so what stands here at run time
is our own (docs/compiled.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["mypyc_attr"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**settings: bool) -> Any:
        """A decorator that changes nothing."""
        return lambda kind: kind
