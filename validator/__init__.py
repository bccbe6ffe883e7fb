"""Layer 3: calls and typed output against their JSON Schemas, deterministic repair, and the re-ask loop.

The deterministic part calls no model and is sans-IO. The re-ask loop is given a callable; it imports no adapter.
Names are imported when first asked for: `import llmcore` must not load jsonschema.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmcore.validator.coercion import Strictness as Strictness
    from llmcore.validator.correction import Correction as Correction
    from llmcore.validator.correction import CorrectionLoop as CorrectionLoop
    from llmcore.validator.correction import CorrectionResult as CorrectionResult
    from llmcore.validator.correction import correct as correct
    from llmcore.validator.names import resolve_name as resolve_name
    from llmcore.validator.output import ParseDetail as ParseDetail
    from llmcore.validator.output import json_schema as json_schema
    from llmcore.validator.output import parse as parse
    from llmcore.validator.output import parse_detailed as parse_detailed
    from llmcore.validator.problems import Problem as Problem
    from llmcore.validator.problems import ProblemKind as ProblemKind
    from llmcore.validator.report import ValidationReport as ValidationReport
    from llmcore.validator.report import validate as validate
    from llmcore.validator.schema import CompiledSchema as CompiledSchema
    from llmcore.validator.schema import check_tool_schema as check_tool_schema
    from llmcore.validator.schema import compile_schema as compile_schema

_LAZY = {
    "CompiledSchema": "schema",
    "Correction": "correction",
    "CorrectionLoop": "correction",
    "CorrectionResult": "correction",
    "ParseDetail": "output",
    "Problem": "problems",
    "ProblemKind": "problems",
    "Strictness": "coercion",
    "ValidationReport": "report",
    "check_tool_schema": "schema",
    "compile_schema": "schema",
    "correct": "correction",
    "json_schema": "output",
    "parse": "output",
    "parse_detailed": "output",
    "resolve_name": "names",
    "validate": "report",
}

__all__ = [
    "CompiledSchema",
    "Correction",
    "CorrectionLoop",
    "CorrectionResult",
    "ParseDetail",
    "Problem",
    "ProblemKind",
    "Strictness",
    "ValidationReport",
    "check_tool_schema",
    "compile_schema",
    "correct",
    "json_schema",
    "parse",
    "parse_detailed",
    "resolve_name",
    "validate",
]


def __getattr__(name: str) -> object:
    if name in _LAZY:
        value: object = getattr(import_module(f"llmcore.validator.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
