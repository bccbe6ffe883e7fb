"""A default is told where it is what arrives when a model sends it; what raises where a schema is made is named."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from datetime import date, timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AfterValidator,
    Base64Bytes,
    BaseModel,
    Field,
    PlainSerializer,
    Secret,
    SecretBytes,
    SecretStr,
    field_serializer,
)
from typing_extensions import TypedDict

from llmcore import CallerError, FakeModel, Orchestrator, json_schema, parse, tool
from llmcore.types import ToolDefinitionError


class Login(BaseModel):
    password: SecretStr = SecretStr("hush")
    name: str = "ann"


class Sealed(BaseModel):
    token: SecretStr

    @field_serializer("token")
    def _shown(self, token: SecretStr) -> str:
        return token.get_secret_value()


@dataclasses.dataclass
class Kept:
    token: SecretStr = dataclasses.field(default_factory=lambda: SecretStr("hush"))


class Masked(BaseModel):
    code: Annotated[str, PlainSerializer(lambda code: "*" * len(code))] = "hush"


class Node(BaseModel):
    inner: Node | None = None
    login: Login = Login()


class Whole(BaseModel):
    day: date = date(2024, 1, 2)


class Odd(BaseModel):
    key: bytes = b"\xff"


_LOOP: list[Any] = []
_LOOP.append(_LOOP)


class Raises(BaseModel):
    a: int = 1

    @field_serializer("a")
    def _fails(self, a: int) -> int:
        raise OSError("no")


def same(value: Any) -> Any:
    return value


def by_number(part: Any) -> str:
    """Not by what it is, which may hold an address."""
    return "part"


SECRETS: list[tuple[Any, Any]] = [
    (SecretStr, SecretStr("hush")),
    (SecretBytes, SecretBytes(b"hush")),
    (Secret[str], Secret[str]("hush")),
    (SecretStr | None, SecretStr("hush")),
    (list[SecretStr], [SecretStr("hush")]),
    (dict[str, SecretStr], {"a": SecretStr("hush")}),
    (tuple[SecretStr, int], (SecretStr("hush"), 1)),
    (Annotated[SecretStr, AfterValidator(same)], SecretStr("hush")),
    (Any, SecretStr("hush")),
    (Any, [{"a": (SecretStr("hush"),)}]),
    (Login, Login()),
    (list[Login], [Login()]),
    (Sealed, Sealed(token=SecretStr("hush"))),
    (Kept, Kept()),
    (Node, Node()),
]
LOST: list[tuple[Any, Any]] = [
    (Masked, Masked()),
    (Base64Bytes, b"hush"),
    (bytes, b"\xff"),
    (list[bytes], [b"\xff"]),
    (Any, b"\xff"),
    (list[Any], _LOOP),
    (Odd, Odd()),
    (Raises, Raises()),
    (Annotated[int, Field(ge=1)], 0),
    (object, object()),
]
TOLD: list[tuple[Any, Any, Any]] = [
    (int, 5, 5),
    (float, 5, 5),
    (str | None, None, None),
    (Literal["a"], "a", "a"),
    (date, date(2024, 1, 2), "2024-01-02"),
    (timedelta, timedelta(days=5), "P5D"),
    (bytes, b"hi", "hi"),
    (tuple[int, int], (1, 2), [1, 2]),
    (Whole, Whole(), {"day": "2024-01-02"}),
    (Node | None, None, None),
    (Annotated[int, AfterValidator(same)], 5, 5),
    (Any, {"a": [1]}, {"a": [1]}),
]


def schemas(kind: Any, default: Any) -> list[dict[str, Any]]:
    """A parameter's, a field's of a model, and a field's of a model that is a parameter."""

    def take(it: Any = default) -> None: ...

    take.__annotations__["it"] = kind
    model = type("Model", (BaseModel,), {"__annotations__": {"it": kind}, "it": default})

    def take_model(model: Any) -> None: ...

    take_model.__annotations__["model"] = model
    parameters = tool(take_model).definition.parameters
    of_model = json_schema(model)
    return [
        tool(take).definition.parameters["properties"]["it"],
        (of_model.get("properties") or of_model["$defs"]["Model"]["properties"])["it"],
        parameters["$defs"]["Model"]["properties"]["it"],
    ]


@pytest.mark.parametrize(("kind", "default"), [*SECRETS, *LOST], ids=by_number)
def test_a_default_that_would_not_arrive_is_not_told(kind: Any, default: Any) -> None:
    for schema in schemas(kind, default):
        assert "default" not in schema
        assert "*" not in str(schema)


@pytest.mark.parametrize(("kind", "default", "told"), TOLD, ids=by_number)
def test_a_default_that_would_arrive_is_told(kind: Any, default: Any, told: Any) -> None:
    for schema in schemas(kind, default):
        assert schema["default"] == told


@pytest.mark.parametrize(("kind", "default"), [*SECRETS, *LOST], ids=by_number)
def test_left_out_it_arrives(kind: Any, default: Any) -> None:
    got: list[Any] = []

    def take(it: Any = default) -> None:
        got.append(it)

    take.__annotations__["it"] = kind
    run = Orchestrator(FakeModel().tool_call("take", {}).text("done"), [tool(take)]).run_sync("?")
    assert run.tool_results[0].error is None
    assert repr(got) == repr([default])


def test_code_of_the_types_own_does_not_run_to_tell_a_default() -> None:
    ran: list[Any] = []

    def look(value: Any) -> Any:
        ran.append(value)
        return value

    def take(it: Any = date(2024, 1, 2)) -> None: ...

    take.__annotations__["it"] = Annotated[date, AfterValidator(look)]
    assert tool(take).definition.parameters["properties"]["it"]["default"] == "2024-01-02"
    assert ran == []


# --- what raises ------------------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    ODD = b"\xff"


class Coloured(BaseModel):
    colour: Colour


class Around(BaseModel):
    inner: list[Coloured]


class Row(TypedDict):
    around: Around


@dataclasses.dataclass
class Line:
    row: Row


NAMED: list[tuple[Any, str]] = [
    (Coloured, "field 'colour' raises UnicodeDecodeError"),
    (Around, "field 'inner.colour' raises UnicodeDecodeError"),
    (Row, "field 'around.inner.colour' raises UnicodeDecodeError"),
    (Line, "field 'row.around.inner.colour' raises UnicodeDecodeError"),
    (Colour, "it raises UnicodeDecodeError"),
    (list[Literal[b"\xff"]], "it raises UnicodeDecodeError"),
    (Annotated[Literal["x"], Field(strict=True)], "it raises RuntimeError"),
]


@pytest.mark.parametrize(("kind", "said"), NAMED, ids=by_number)
def test_what_raises_where_a_schema_is_made_is_an_error_that_names_it(kind: Any, said: str) -> None:
    def take(other: int, it: Any) -> None: ...

    take.__annotations__["it"] = kind
    orchestrator = Orchestrator(FakeModel("{}"))
    asked: list[Callable[[], Any]] = [lambda: json_schema(kind), lambda: parse("{}", kind)]
    asked.append(lambda: orchestrator.execute_sync("?", kind))
    for ask in asked:
        with pytest.raises(CallerError, match=said):
            ask()
    with pytest.raises(ToolDefinitionError, match=rf"(?s)parameter 'it' .*{said}"):
        tool(take)
