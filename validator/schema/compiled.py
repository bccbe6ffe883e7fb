"""Compiled JSON Schemas. Validation returns problems and never raises because of a value.

`compile_schema` converts and checks a schema (see `drafts`) and caches it by content. A `CompiledSchema` validates any value
within a budget: NaN, recursion, exponential growth and slow patterns become problems. `survey` first measures the value.
Nothing recurses into a value deeper than `Limits.depth`.
"""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any

from cachetools import LRUCache
from jsonschema.exceptions import ValidationError
from referencing.jsonschema import EMPTY_REGISTRY

from llmcore.support.values.narrowing import is_object
from llmcore.types import CompiledTool, JsonSchema, ToolDefinition, ToolDefinitionError
from llmcore.types.schemas.schema_shape import check_schema_shape
from llmcore.validator.schema.drafts import MAX_SCHEMA_CHARACTERS, convert
from llmcore.validator.schema.keywords import HardenedValidator, KeywordRun, TooMuchWork, Validator, current_run
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, shown_value
from llmcore.validator.schema.quick import Checks
from llmcore.validator.schema.references import resolve_pointer
from llmcore.validator.schema.survey import survey
from llmcore.validator.schema.wording import explain

__all__ = [
    "ALIASES",
    "BASE_BUDGET",
    "MAX_ERRORS",
    "CompiledSchema",
    "check_tool",
    "check_tool_schema",
    "compile_schema",
]

ALIASES = "x-llmcore-aliases"
"""A keyword beside a property: the paths from which pydantic reads it. See `aliases`."""
BASE_BUDGET = 20_000
"""Subschema visits that any validation may make. Each node of the value adds `_VISITS_PER_NODE`."""
_VISITS_PER_NODE = 12
MAX_ERRORS = 64
"""The most errors that are compared to choose the best."""
_MAX_REASONS = 16
"""The most errors of each union alternative that are compared."""
_CACHED_SCHEMAS = 1024

_FAULTS = (RecursionError, ArithmeticError, TypeError, ValueError)
"""What jsonschema's own keywords raise on unexpected values."""

_cache: LRUCache[bytes, CompiledSchema] = LRUCache(_CACHED_SCHEMAS)


def compile_schema(schema: JsonSchema) -> CompiledSchema:
    """Return the compiled form of a schema, from the cache if equal content was compiled before. The schema is not changed.

    Raises `ToolDefinitionError`, which names the place and the fix.
    """
    text = _as_json(schema)
    key = sha256(text.encode("utf-8", "surrogatepass")).digest()
    compiled = _cache.get(key)
    if compiled is None:
        compiled = _cache[key] = CompiledSchema(convert(json.loads(text)), has_aliases=f'"{ALIASES}"' in text)
    return compiled


def check_tool_schema(schema: JsonSchema, name: str = "") -> CompiledSchema:
    """Check a tool's parameters and return them compiled. The schema must allow an object.

    Raises `ToolDefinitionError`, which names the tool, the place and the fix.
    """
    where = f"tool {name!r}: parameters: " if name else "parameters: "
    try:
        compiled = compile_schema(schema)
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"{where}{error}") from error
    declared = compiled.resolve(compiled.schema).get("type", "object")
    if declared != "object" and "object" not in declared:
        raise ToolDefinitionError(f"{where}must be of type object, got {shown_value(declared)}")
    return compiled


def check_tool(tool: ToolDefinition) -> CompiledSchema:
    """Do the same as `check_tool_schema`, and validate the tool's examples."""
    compiled = check_tool_schema(tool.parameters, tool.name)
    admitted = CompiledTool(tool).types_of(tool.parameters)  # also by `anyOf` and `enum`
    if admitted and "object" not in admitted:
        raise ToolDefinitionError(f"tool {tool.name!r}: parameters: must admit an object, and admits {', '.join(admitted)}")
    for number, example in enumerate(tool.example_arguments):
        if problems := compiled.problems(example):
            raise ToolDefinitionError(f"tool {tool.name!r}: example {number} does not fit its schema: {problems[0].message}")
    return compiled


def _as_json(schema: JsonSchema) -> str:
    if not is_object(schema):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise ToolDefinitionError(f"a JSON Schema must be an object, got {shown_value(schema)}")
    check_schema_shape(schema)
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolDefinitionError(f"the schema is not JSON: {error}") from None
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise ToolDefinitionError(f"the schema is too large: {len(text)} characters, at most {MAX_SCHEMA_CHARACTERS}")
    return text


class CompiledSchema:
    """A converted schema that validates values. `schema` is Draft 2020-12 with local references only; do not change it."""

    __slots__ = ("_checks", "_root", "_targets", "_validators", "has_aliases", "schema", "views")

    def __init__(self, converted: JsonSchema, *, has_aliases: bool = False) -> None:
        self.schema, self.has_aliases = converted, has_aliases
        self._checks = Checks(self.target)
        self.views: dict[int, Any] = {}
        """The cache of `view_of`, by the identity of a subschema."""
        self._targets: dict[str, Any] = {}
        self._root = HardenedValidator(converted, registry=EMPTY_REGISTRY)
        self._validators: dict[int, Validator] = {id(converted): self._root}

    def resolve(self, schema: Any) -> Any:
        """Follow a subschema's `$ref`s. `convert` refused loops, so this ends."""
        while is_object(schema) and isinstance(reference := schema.get("$ref"), str):
            schema = self.target(reference)
        return schema

    def target(self, reference: str) -> Any:
        """The subschema to which a converted reference leads."""
        if reference not in self._targets:
            self._targets[reference] = resolve_pointer(self.schema, reference)
        return self._targets[reference]

    def problems(self, value: Any, *, most: int = MAX_PROBLEMS, at: Any = None) -> list[Problem]:
        """Return the problems of the value, best first, at most `most`. Empty if it fits. `at` is a subschema to use instead
        of the root."""
        found = survey(value)
        if found.problem is not None:
            return [found.problem]
        run = self.new_run(found.nodes)
        errors, fault = self._errors(value, self.schema if at is None else at, MAX_ERRORS, run)
        reasons = partial(self._reasons, run)
        problems = [problem for error in errors for problem in explain(error, self.resolve, reasons)]
        problems += [fault] if fault is not None else []
        return sorted({str(problem): problem for problem in problems}.values(), key=_rank)[:most]

    def _reasons(self, run: KeywordRun, value: Any, alternative: Any) -> list[ValidationError]:
        """Why an alternative does not accept the value. Empty if the budget is spent."""
        run.budget -= 1
        return self._errors(value, alternative, _MAX_REASONS, run)[0] if run.budget > 0 else []

    def is_valid(self, value: Any, *, at: Any = None) -> bool:
        """Whether the value fits. False also if this could not be determined."""
        found = survey(value)
        return found.problem is None and self.fits(value, self.schema if at is None else at, self.new_run(found.nodes))

    def new_run(self, nodes: int) -> KeywordRun:
        """A budget for values with so many nodes in total."""
        return KeywordRun(BASE_BUDGET + _VISITS_PER_NODE * nodes, self.target, self._validators, self._checks)

    def fits(self, value: Any, subschema: Any, run: KeywordRun) -> bool:
        """Do the same as `is_valid` for a surveyed value and one subschema, with a budget that several checks share."""
        if isinstance(subschema, bool):
            return subschema
        return self.surely_fits(value, subschema) or self._errors(value, subschema, 1, run) == ([], None)

    def surely_fits(self, value: Any, subschema: Any) -> bool:
        """Whether the quick check accepts the surveyed value. False if the subschema has no quick check."""
        try:
            quick = self._checks.of(subschema)
            return quick is not None and quick(value)
        except RecursionError:
            return False  # the caller's stack is deep: the keywords decide

    def _errors(self, value: Any, subschema: Any, most: int, run: KeywordRun) -> tuple[list[ValidationError], Problem | None]:
        validator = self._validators.get(id(subschema))
        if validator is None:
            validator = self._validators[id(subschema)] = self._root.evolve(schema=subschema)
        token = current_run.set(run)
        try:
            return list(islice(validator.iter_errors(value), most)), None
        except TooMuchWork:
            return [], _not_checked("comparing it with the schema takes too many steps")
        except _FAULTS as error:
            return [], _not_checked(f"the schema cannot be applied to it ({type(error).__name__})")
        finally:
            current_run.reset(token)


def _not_checked(reason: str) -> Problem:
    return Problem(kind="schema", expected="a value that can be checked", message=f"the value could not be checked: {reason}")


_KINDS_IN_ORDER = ("missing", "type", "value", "unexpected", "schema")


def _rank(problem: Problem) -> tuple[int, int]:
    """Problems near the root come first; there missing keys, then wrong values, then unexpected keys."""
    levels = problem.path.count(".") + problem.path.count("[")
    return levels, _KINDS_IN_ORDER.index(problem.kind) if problem.kind in _KINDS_IN_ORDER else len(_KINDS_IN_ORDER)
