"""Typed output from text: `llmcore.parse` beside BAML's `parse_llm_response`, offline, on the same replies.

    python -m benchmarks.typed [--rounds 60]

BAML is taken from the environment, or from `benchmarks/.peers`; to install it there:
    pip install --target benchmarks/.peers baml-py
Without it only our own times are printed. The first table has short replies for several types, no two of them alike; the second one
has one reply of 1 KB in several forms. The contenders take turns in one run, so the ratio counts, not the times. A reply that one of
the two reads otherwise than the other is marked with `x` and not in the median.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import llmcore
from benchmarks.texts import sentence, word
from benchmarks.timing import conditions, on_each, ratio, table

__all__ = ["main"]

PEERS = Path(__file__).parent / ".peers"


class Line(BaseModel):
    sku: str
    title: str
    quantity: int
    price: float


class Person(BaseModel):
    name: str
    age: int
    cities: list[str]


class Company(BaseModel):
    title: str
    staff: int
    listed: bool


class Order(BaseModel):
    """The type that the replies of 1 KB are read as: JSON with eight lines."""

    id: int
    customer: str
    express: bool
    note: str
    lines: list[Line]


BAML = """
client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
class Line {
  sku string
  title string
  quantity int
  price float
}
class Order {
  id int
  customer string
  express bool
  note string
  lines Line[]
}
class Person {
  name string
  age int
  cities string[]
}
class Company {
  title string
  staff int
  listed bool
}
"""
_FUNCTION = """
function {name}(text: string) -> {kind} {{
  client Nobody
  prompt #"{{{{ text }}}}"#
}}
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: as Python has it, and as BAML has it, with its function there."""

    ours: Any
    baml: str
    function: str


ORDER = Kind(Order, "Order", "ReadOrder")
PERSON = Kind(Person, "Person", "ReadPerson")
EITHER = Kind(Person | Company, "Person | Company", "ReadEither")
WORDS = Kind(list[str], "string[]", "ReadWords")
PEOPLE = Kind(list[Person], "Person[]", "ReadPeople")
WHOLE = Kind(int, "int", "ReadWhole")
FLOAT = Kind(float, "float", "ReadFloat")
SCALAR = Kind(int | bool, "int | bool", "ReadScalar")
KINDS = (ORDER, PERSON, EITHER, WORDS, PEOPLE, WHOLE, FLOAT, SCALAR)


def _person(draw: random.Random) -> dict[str, Any]:
    return {"name": f"{word(draw).title()} {word(draw).title()}", "age": draw.randint(1, 99), "cities": [word(draw), word(draw)]}


def _company(draw: random.Random) -> dict[str, Any]:
    return {
        "title": f"{word(draw).title()} & {word(draw).title()}",
        "staff": draw.randint(1, 9999),
        "listed": draw.random() < 0.5,
    }


def _words(draw: random.Random) -> list[str]:
    return [word(draw) for _ in range(5)]


def _fenced(value: object) -> str:
    return f"```json\n{json.dumps(value, indent=2)}\n```"


def _in_prose(value: object, draw: random.Random) -> str:
    return f"Here is what you asked me for, {word(draw)}:\n\n{json.dumps(value)}\n\nIs there anything else about {word(draw)}?"


SHORT: dict[str, tuple[Kind, Callable[[random.Random], str]]] = {
    "an object": (PERSON, lambda draw: json.dumps(_person(draw))),
    "an object in prose": (PERSON, lambda draw: _in_prose(_person(draw), draw)),
    "an object in a fence": (PERSON, lambda draw: _fenced(_person(draw))),
    "an object in a fence in prose": (
        PERSON,
        lambda draw: f"{sentence(draw)}\n\n{_fenced(_person(draw))}\n\nIt is {word(draw)}.",
    ),
    "an object with a trailing comma": (PERSON, lambda draw: json.dumps(_person(draw)).replace("]}", "],}")),
    "a number as text in it": (PERSON, lambda draw: re.sub(r'"age": (\d+)', r'"age": "\1"', json.dumps(_person(draw)))),
    "one of two objects": (EITHER, lambda draw: json.dumps(_company(draw))),
    "one of two objects in a fence": (EITHER, lambda draw: _fenced(_person(draw) if draw.random() < 0.5 else _company(draw))),
    "a list": (WORDS, lambda draw: json.dumps(_words(draw))),
    "a list in prose": (WORDS, lambda draw: _in_prose(_words(draw), draw)),
    "a list in a fence": (WORDS, lambda draw: _fenced(_words(draw))),
    "a list of objects in a fence": (PEOPLE, lambda draw: _fenced([_person(draw), _person(draw)])),
    "a whole number": (WHOLE, lambda draw: str(draw.randint(10, 99999))),
    "a whole number in prose": (WHOLE, lambda draw: f"The answer is {draw.randint(10, 99999)}."),
    "a fraction in a fence": (FLOAT, lambda draw: f"```json\n{draw.randint(10, 9999) / 8}\n```"),
    "a number or a truth value": (SCALAR, lambda draw: str(draw.randint(10, 99999)) if draw.random() < 0.5 else "true"),
}
"""Short replies: the type, and what makes one that none was before."""


def replies() -> dict[str, str]:
    """The same order as models answer it."""
    lines = [
        {
            "sku": f"A-{number:04d}",
            "title": f"Part number {number} of the kit, in grey",
            "quantity": number + 1,
            "price": 9.25 + number,
        }
        for number in range(8)
    ]
    order = {"id": 9007199254740993, "customer": "Ann Example", "express": True, "note": "Ring twice.", "lines": lines}
    text = json.dumps(order, indent=1)
    fence = f"```json\n{text}\n```"
    return {
        "bare": text,
        "fenced": fence,
        "in prose": f"Here is the order you asked for:\n\n{fence}\n\nIs there anything else?",
        "compact": json.dumps(order, separators=(",", ":")),
        "numbers as text": text.replace('"quantity": 3', '"quantity": "3"').replace('"express": true', '"express": "true"'),
        "trailing commas": text.replace("\n  }", ",\n  }"),
        "single quotes": text.replace('"', "'"),
        "no closers": text.rstrip("}] \n"),
    }


Reader = Callable[[str], Any]


def baml_readers() -> dict[str, Reader] | None:
    """BAML's readers by their functions, or None when BAML is not installed."""
    sys.path.append(str(PEERS))
    try:
        baml = importlib.import_module("baml_py")
    except ImportError:
        return None
    finally:
        sys.path.remove(str(PEERS))
    functions = "".join(_FUNCTION.format(name=kind.function, kind=kind.baml) for kind in KINDS)
    runtime = baml.BamlRuntime.from_files("baml", {"types.baml": BAML + functions}, {})
    context = runtime.create_context_manager()
    types = sys.modules[__name__]

    def reader(function: str) -> Reader:
        return lambda text: runtime.parse_llm_response(function, text, types, types, types, False, context, None, None, {})

    return {kind.function: reader(kind.function) for kind in KINDS}


def ours(kind: Kind) -> Reader:
    return lambda text: llmcore.parse(text, kind.ours, strictness="lenient")


def _equal(text: str, readers: Sequence[Reader]) -> bool:
    """Does each read the same in it, of the same type?"""
    values: list[Any] = []
    for read in readers:
        try:
            values.append(read(text))
        except Exception as error:
            values.append(type(error))
    return all(type(value) is type(values[0]) and value == values[0] for value in values)


def _table(cases: Mapping[str, tuple[Kind, Callable[[], str]]], baml: Mapping[str, Reader] | None, rounds: int) -> str:
    """A row for each case: its type, and what makes its replies."""
    rows: list[list[str]] = []
    fair: list[float] = []
    for name, (kind, fresh) in cases.items():
        readers = {"ours": ours(kind)} | ({} if baml is None else {"baml": baml[kind.function]})
        equal = all(_equal(fresh(), [*readers.values()]) for _ in range(8))
        taken = on_each(readers, fresh, rounds)
        row = [name, str(len(fresh())), f"{min(taken['ours']) * 1e6:.0f}"]
        if baml is not None:
            factor = ratio(taken["ours"], taken["baml"])
            fair += [factor] if equal else []
            row += [f"{min(taken['baml']) * 1e6:.0f}", f"{factor:.2f}{'' if equal else ' x'}"]
        rows.append(row)
    head = ["reply", "characters", "ours us"] + (["baml us", "ratio"] if baml is not None else [])
    summary = f"\nmedian ratio {statistics.median(fair):.2f}, worst {max(fair):.2f} (bar 1.3 at the median)" if fair else ""
    return table(head, rows) + summary


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=60)
    rounds = arguments.parse_args().rounds
    baml = baml_readers()
    print(conditions(), end="\n\n")
    if baml is None:
        print("baml-py is not installed: our own times only (pip install --target benchmarks/.peers baml-py)")
    draw = random.Random(14)  # reproducible, no secret
    short = {name: (kind, partial(make, draw)) for name, (kind, make) in SHORT.items()}
    print(_table(short, baml, rounds), end="\n\n", flush=True)
    print(_table({name: (ORDER, partial(str, text)) for name, text in replies().items()}, baml, rounds))


if __name__ == "__main__":
    main()
