"""Layer 3: validates tool calls and typed output against JSON Schemas, repairs them, and asks the model again.

Validation and repair are deterministic and do no I/O. The re-ask loop calls a function that its caller passes; it imports no
adapter. Names are imported lazily, so that `import llmcore` does not load jsonschema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.validator.coercion.coercer import Strictness as Strictness
    from llmcore.validator.correction.loop import Correction as Correction
    from llmcore.validator.correction.loop import CorrectionLoop as CorrectionLoop
    from llmcore.validator.correction.loop import CorrectionResult as CorrectionResult
    from llmcore.validator.names import resolve_name as resolve_name
    from llmcore.validator.output.parsing import ParseDetail as ParseDetail
    from llmcore.validator.output.parsing import json_schema as json_schema
    from llmcore.validator.output.parsing import parse as parse
    from llmcore.validator.output.parsing import parse_detailed as parse_detailed
    from llmcore.validator.report import ValidationReport as ValidationReport
    from llmcore.validator.report import validate_calls as validate_calls
    from llmcore.validator.schema.compiled import CompiledSchema as CompiledSchema
    from llmcore.validator.schema.compiled import check_tool_schema as check_tool_schema
    from llmcore.validator.schema.compiled import compile_schema as compile_schema
    from llmcore.validator.schema.problems import Problem as Problem
    from llmcore.validator.schema.problems import ProblemKind as ProblemKind

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "coercion.coercer": "Strictness",
        "correction.loop": "Correction CorrectionLoop CorrectionResult",
        "names": "resolve_name",
        "output.parsing": "ParseDetail json_schema parse parse_detailed",
        "report": "ValidationReport validate_calls",
        "schema.compiled": "CompiledSchema check_tool_schema compile_schema",
        "schema.problems": "Problem ProblemKind",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
