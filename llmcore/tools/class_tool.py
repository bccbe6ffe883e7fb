"""The type of a tool whose first parameter is a class: below `@classmethod` it is bound to that.

It is for checkers alone: at run time it is a `Tool`, and Python binds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, Generic

from typing_extensions import ParamSpec, TypeVar

from llmcore.tools.tool import Tool

__all__ = ["ClassTool"]

O = TypeVar("O")  # noqa: E741  (the owner)
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)

if TYPE_CHECKING:

    class ClassTool(Tool[Concatenate[type[O], Q], R_co], Generic[O, Q, R_co]):
        def __get__(  # type: ignore[override]  # mypy and pyright: it is bound where any other tool is not
            self, instance: object, owner: type | None = None
        ) -> Tool[Q, R_co]: ...

else:
    ClassTool = Tool
