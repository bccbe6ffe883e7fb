"""Layer 3: validates tool calls and typed output against JSON Schemas, repairs them, and asks the model again.

Validation and repair are deterministic and do no I/O. The re-ask loop calls a function that its caller passes; it imports no
adapter. Names are imported lazily, so that `import llmcore` does not load jsonschema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_dir, lazy_names

if TYPE_CHECKING:
    from llmcore.validator.coercion.coercer import Strictness as Strictness
    from llmcore.validator.correction.loop import Correction as Correction
    from llmcore.validator.correction.loop import CorrectionLoop as CorrectionLoop
    from llmcore.validator.correction.loop import CorrectionResult as CorrectionResult
    from llmcore.validator.correction.loop import correct as correct
    from llmcore.validator.names import resolve_name as resolve_name
    from llmcore.validator.output.parsing import ParseDetail as ParseDetail
    from llmcore.validator.output.parsing import json_schema as json_schema
    from llmcore.validator.output.parsing import parse as parse
    from llmcore.validator.output.parsing import parse_detailed as parse_detailed
    from llmcore.validator.report import ValidationReport as ValidationReport
    from llmcore.validator.report import validate as validate
    from llmcore.validator.schema.compiled import CompiledSchema as CompiledSchema
    from llmcore.validator.schema.compiled import check_tool_schema as check_tool_schema
    from llmcore.validator.schema.compiled import compile_schema as compile_schema
    from llmcore.validator.schema.problems import Problem as Problem
    from llmcore.validator.schema.problems import ProblemKind as ProblemKind

_LAZY = {
    "CompiledSchema": "schema.compiled",
    "Correction": "correction.loop",
    "CorrectionLoop": "correction.loop",
    "CorrectionResult": "correction.loop",
    "ParseDetail": "output.parsing",
    "Problem": "schema.problems",
    "ProblemKind": "schema.problems",
    "Strictness": "coercion.coercer",
    "ValidationReport": "report",
    "check_tool_schema": "schema.compiled",
    "compile_schema": "schema.compiled",
    "correct": "correction.loop",
    "json_schema": "output.parsing",
    "parse": "output.parsing",
    "parse_detailed": "output.parsing",
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _LAZY), lazy_dir(__name__, _LAZY)
