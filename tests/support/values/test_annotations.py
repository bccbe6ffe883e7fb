"""What an annotation is known by: the same for those that mean the same, and for no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, List, Literal, NewType, Optional, Union  # noqa: UP035  (as users write them)

import pytest
from annotated_types import Ge, Len
from pydantic import AfterValidator, Field, StrictInt, create_model

from llmcore import json_schema
from llmcore.support.values.annotations import type_key, undefined_in
from llmcore.tools import Tool
from llmcore.types import CallerError, ToolDefinitionError


class One: ...


Other: Any = type("One", (), {"__qualname__": "One", "__module__": One.__module__})
Number = NewType("Number", int)
LIST: Any = list  # as checkers are not told: what stands in the brackets is made at run time


class Likeable:
    """Compares as it likes, and cannot be hashed."""

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("hint", "same"),
    [
        (int, int),
        (list[One], list[One]),
        (List[int], list[int]),  # noqa: UP006  (as users write them)
        (Optional[One], Union[One, None]),  # noqa: UP007, UP045  (as users write them)
        (One | None, Optional[One]),  # noqa: UP045  (as users write them)
        (dict[str, tuple[One, ...]], dict[str, tuple[One, ...]]),
        (Annotated[int, Field(gt=0, description="d")], Annotated[int, Field(gt=0, description="d")]),
        (list[Annotated[str, Len(1, 2)]], list[Annotated[str, Len(1, 2)]]),
        (Annotated[StrictInt, Ge(3)], Annotated[StrictInt, Ge(3)]),
        (Literal["a", 1], Literal["a", 1]),
        (Callable[[int], One], Callable[[int], One]),
        (list[Number], list[Number]),
    ],
)
def test_what_means_the_same_has_one_key(hint: Any, same: Any) -> None:
    assert type_key(hint) == type_key(same)
    assert hash(type_key(hint)) == hash(type_key(same))


@pytest.mark.parametrize(
    ("hint", "other"),
    [
        (One, Other),
        (list[One], LIST[Other]),
        (One | None, Other | None),
        (dict[str, tuple[One, ...]], dict[str, tuple[Other, ...]]),
        (Callable[[One], int], Callable[[Other], int]),
        (int | str, str | int),
        (list[int], tuple[int]),
        (list[Number], LIST[NewType("Number", int)]),
        (Literal[1], Literal[True]),
        (Literal["1"], Literal[1]),
        (Annotated[int, Field(gt=0)], Annotated[int, Field(gt=1)]),
        (Annotated[int, Field(gt=0)], Annotated[int, Field(gt=0, strict=True)]),
        (Annotated[float, Field(gt=0.0)], Annotated[float, Field(gt=-0.0)]),
        (Annotated[int, "1"], Annotated[int, 1]),
        (Annotated[int, Likeable()], Annotated[int, Likeable()]),
        (Annotated[int, AfterValidator(lambda n: n)], Annotated[int, AfterValidator(lambda n: n)]),
    ],
)
def test_what_differs_has_another_key(hint: Any, other: Any) -> None:
    assert type_key(hint) != type_key(other)
    assert type_key(hint) == type_key(hint)
    assert hash(type_key(hint)) == hash(type_key(hint))


def test_the_name_that_a_model_lacks() -> None:
    make: Any = create_model  # to checkers a text is no type
    lacking = make("Lacking", n=("Missing", ...))
    outer = make("Outer", one=(lacking, ...))
    assert [undefined_in(hint) for hint in (lacking, outer, LIST[lacking])] == ["Missing"] * 3
    assert [undefined_in(hint) for hint in (One, int, LIST[int])] == [None] * 3
    with pytest.raises(ToolDefinitionError, match="refers to 'Missing', which is not defined"):
        Tool(_taking(lacking))
    with pytest.raises(CallerError, match="refers to 'Missing', which is not defined"):
        json_schema(lacking)


def _taking(hint: Any) -> Callable[..., Any]:
    def work(given: Any) -> Any:
        return given

    work.__annotations__ = {"given": hint}
    return work
