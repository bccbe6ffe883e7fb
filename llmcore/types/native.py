"""What compiled code needs said, and Python itself does not.

mypyc knows `mypy_extensions.mypyc_attr` by its name when it compiles. It is needed for that only, so what stands here at run time
is our own (docs/compiled.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["mypyc_attr", "raise_from"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**settings: bool) -> Any:
        """A decorator that changes nothing."""
        return lambda kind: kind


def raise_from(error: BaseException, cause: BaseException | None) -> NoReturn:
    """`raise error from cause`, of which compiled code drops the cause (mypyc 2.4.1)."""
    raise error from cause
