"""Validation of a call's arguments: `llmcore.validate` with a warm cache, beside a bare `iter_errors` and `jsonschema.validate`.

    python -m benchmarks.validate [--rounds 25]

`bare` is `list(validator.iter_errors(arguments))` of jsonschema's own Draft 2020-12 validator, made once: what any use of that
library costs at least. `each time` is `jsonschema.validate`, which checks the schema on every call.
"""

from __future__ import annotations

import argparse
from typing import Any

import jsonschema

import llmcore
from benchmarks.timing import best_of, conditions, table
from llmcore.types import Envelope, ToolCall, ToolDefinition, ToolSet
from llmcore.validator import compile_schema, validate_calls

__all__ = ["main"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
GOOD: dict[str, Any] = {"city": "Rome", "days": 3, "unit": "celsius", "tags": ["a", "b"], "place": None}
COERCED: dict[str, Any] = {**GOOD, "days": "3", "unit": "Celsius"}
BAD: dict[str, Any] = {"days": 0, "unit": "kelvin", "tags": "a", "place": 5, "Town": "Rome"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=25)
    rounds = arguments.parse_args().rounds
    stock: Any = jsonschema.Draft202012Validator(SCHEMA)
    tools = ToolSet([ToolDefinition(name="get_weather", parameters=SCHEMA)])
    compiled = compile_schema(SCHEMA)
    rows: list[list[str]] = []
    for name, given in {"valid": GOOD, "coerced": COERCED, "invalid": BAD}.items():
        envelope = Envelope(toolCalls=[ToolCall(id="call_0", name="get_weather", arguments=given)])
        contenders: dict[str, Any] = {
            "validate": lambda envelope=envelope: validate_calls(envelope, tools),
            "schema only": lambda given=given: compiled.problems(given),
            "bare": lambda given=given: list(stock.iter_errors(given)),
        }
        if name == "valid":
            contenders["each time"] = lambda given=given: jsonschema.validate(given, SCHEMA)
        best = best_of(contenders, rounds)
        each_time = f"{best['each time'] * 1e6:.0f}" if "each time" in best else "-"
        micro = [f"{best[key] * 1e6:.0f}" for key in ("validate", "schema only", "bare")]
        rows.append([name, *micro, each_time, f"{best['validate'] / best['bare']:.2f}"])
    print(f"{conditions()} · llmcore {llmcore.__version__}")
    print(table(["arguments", "validate us", "schema only us", "bare us", "each time us", "validate / bare"], rows))


if __name__ == "__main__":
    main()
