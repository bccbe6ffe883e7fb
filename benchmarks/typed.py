"""Typed output from text: `llmcore.parse` beside BAML's `parse_llm_response`, offline, on the same replies.

    python -m benchmarks.typed [--rounds 25]

BAML is taken from the environment, or from `benchmarks/.peers`; to install it there:
    pip install --target benchmarks/.peers baml-py
Without it only our own times are printed. Each row is one reply for the same type; the contenders take turns in one run, so the
ratio counts, not the times. A reply that one of the two reads otherwise than the other is marked with `x` and not in the median.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import llmcore
from benchmarks.timing import best_of, conditions, table

__all__ = ["main"]

PEERS = Path(__file__).parent / ".peers"


class Line(BaseModel):
    sku: str
    title: str
    quantity: int
    price: float


class Order(BaseModel):
    """The type that all replies are read as; about 1 KB of JSON with eight lines."""

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
function Read(text: string) -> Order {
  client Nobody
  prompt #"{{ text }}"#
}
"""


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


def baml_reader() -> Callable[[str], Any] | None:
    """BAML's reader of an `Order`, or None when BAML is not installed."""
    sys.path.append(str(PEERS))
    try:
        baml = importlib.import_module("baml_py")
    except ImportError:
        return None
    finally:
        sys.path.remove(str(PEERS))
    runtime = baml.BamlRuntime.from_files("baml", {"order.baml": BAML}, {})
    context = runtime.create_context_manager()
    types = sys.modules[__name__]

    def read(text: str) -> Any:
        return runtime.parse_llm_response("Read", text, types, types, types, False, context, None, None, {})

    return read


def ours(text: str) -> Order:
    value: Order = llmcore.parse(text, Order, strictness="lenient")
    return value


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=25)
    rounds = arguments.parse_args().rounds
    baml = baml_reader()
    print(conditions())
    if baml is None:
        print("baml-py is not installed: our own times only (pip install --target benchmarks/.peers baml-py)")
    rows: list[list[str]] = []
    fair: list[float] = []
    for name, text in replies().items():
        contenders: dict[str, Callable[[], object]] = {"ours": lambda text=text: ours(text)}  # type: ignore[misc]  # binds the loop's value
        if baml is not None:
            contenders["baml"] = lambda text=text, baml=baml: baml(text)  # type: ignore[misc]  # the same
        best = best_of(contenders, rounds)
        row = [name, str(len(text)), f"{best['ours'] * 1e6:.0f}"]
        if baml is not None:
            equal = ours(text) == baml(text)
            ratio = best["ours"] / best["baml"]
            fair += [ratio] if equal else []
            row += [f"{best['baml'] * 1e6:.0f}", f"{ratio:.2f}{'' if equal else ' x'}"]
        rows.append(row)
    head = ["reply", "characters", "ours us"] + (["baml us", "ratio"] if baml is not None else [])
    print(table(head, rows))
    if fair:
        print(f"median ratio {statistics.median(fair):.2f}, worst {max(fair):.2f} (bar 1.5, stretch 0.8)")


if __name__ == "__main__":
    main()
