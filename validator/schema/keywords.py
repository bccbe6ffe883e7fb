"""jsonschema's Draft 2020-12 keywords, hardened against hostile schemas and values.

- References lead only within the document, through a table made when the schema is compiled. Nothing is fetched.
- Patterns run with a timeout. After a timeout, the pattern is not tried again in this validation.
- `uniqueItems` hashes, `multipleOf` computes exactly, and `format` checks the formats in `formats`.
- No error quotes the instance. jsonschema's messages contain its whole repr for every failing alternative.
- Every visit of a subschema counts in a budget. So exponential growth through anyOf and recursion ends in `TooMuchWork`.

One validation uses one `KeywordRun`, held in a context variable, since jsonschema passes keywords no further arguments. An
error's `message` holds only what its other fields do not (the missing key, the extra key). `wording.explain` writes the final
message.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, cast

from jsonschema import Draft202012Validator
from jsonschema import validators as jsonschema_validators
from jsonschema.exceptions import ValidationError

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.support.values.numbers import whole
from llmcore.types import JsonSchema
from llmcore.validator.schema.formats import fits_format
from llmcore.validator.schema.patterns import MAX_MATCHED, matches
from llmcore.validator.schema.problems import LEAVE_OUT, NO_FIT
from llmcore.validator.schema.quick import Checks

__all__ = ["HardenedValidator", "KeywordRun", "TooMuchWork", "Validator", "current_run", "json_key"]


def _is_integer(_: object, value: object) -> bool:
    """Whether the value is an integer. A float counts only if it is exact: 9007199254740992.0 also stands for its neighbours."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and whole(value) is not None


_TYPE_CHECKER = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)


class TooMuchWork(Exception):
    """The budget of subschema visits is spent."""


Errors = Iterator[ValidationError]


class Validator(Protocol):
    """The methods of a jsonschema validator that are used. Its own stubs leave the parameters of `evolve` unknown."""

    def evolve(self, *, schema: Any) -> Validator: ...
    def iter_errors(self, instance: Any) -> Errors: ...


@dataclass(slots=True)
class KeywordRun:
    """The state of one validation: its budget, the targets of references, and the validators of subschemas."""

    budget: int
    target: Callable[[str], Any]
    validators: dict[int, Validator]
    checks: Checks
    slow_patterns: set[str] = field(default_factory=set[str])

    def visit(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise TooMuchWork

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern matches. None if the text is too long or the pattern too slow."""
        self.visit()
        if len(text) > MAX_MATCHED or pattern in self.slow_patterns:
            return None
        try:
            return matches(pattern, text)
        except TimeoutError:
            self.slow_patterns.add(pattern)
            return None


_CONTAINERS = frozenset({dict, list})

current_run: ContextVar[KeywordRun] = ContextVar("current_run")


def _descend(validator: Validator, instance: Any, schema: Any, step: str | int | None = None) -> Errors:
    """Like `validator.descend`, but each subschema's validator is made once."""
    run = current_run.get()
    run.visit()
    if instance.__class__ not in _CONTAINERS and (quick := run.checks.of(schema)) is not None and quick(instance):
        return  # containers are checked once, not at every level
    child = run.validators.get(id(schema))
    if child is None:
        child = run.validators[id(schema)] = validator.evolve(schema=schema)
    for error in child.iter_errors(instance):
        if step is not None:
            error.path.appendleft(step)
        yield error


def _fits(validator: Validator, instance: Any, schema: Any) -> bool:
    return next(_descend(validator, instance, schema), None) is None


def _ref(validator: Validator, reference: str, instance: Any, schema: JsonSchema) -> Errors:
    return _descend(validator, instance, current_run.get().target(reference))


def _all_of(validator: Validator, branches: list[Any], instance: Any, schema: JsonSchema) -> Errors:
    for branch in branches:
        yield from _descend(validator, instance, branch)


def _any_of(validator: Validator, branches: list[Any], instance: Any, schema: JsonSchema) -> Errors:
    if not any(_fits(validator, instance, branch) for branch in branches):
        yield ValidationError(NO_FIT)


def _one_of(validator: Validator, branches: list[Any], instance: Any, schema: JsonSchema) -> Errors:
    fitting = [branch for branch in branches if _fits(validator, instance, branch)]
    if len(fitting) != 1:
        yield ValidationError(f"{len(fitting)} alternatives fit" if fitting else NO_FIT)


def _not(validator: Validator, refused: Any, instance: Any, schema: JsonSchema) -> Errors:
    if _fits(validator, instance, refused):
        yield ValidationError("a value that the schema refuses")


def _if(validator: Validator, condition: Any, instance: Any, schema: JsonSchema) -> Errors:
    branch = schema.get("then" if _fits(validator, instance, condition) else "else", True)
    yield from _descend(validator, instance, branch)


def _properties(validator: Validator, properties: JsonSchema, instance: Any, schema: JsonSchema) -> Errors:
    if is_object(instance):
        for key, subschema in properties.items():
            if key in instance:
                errors = _descend(validator, instance[key], subschema, key)
                optional = instance[key] is None and key not in schema.get("required", ())
                yield from map(_with_leave_out_hint, errors) if optional else errors


def _with_leave_out_hint(error: ValidationError) -> ValidationError:
    """The error of a null for an optional key, with the advice to leave the key out."""
    error.message = LEAVE_OUT
    return error


def _pattern_properties(validator: Validator, patterns: JsonSchema, instance: Any, schema: JsonSchema) -> Errors:
    if not is_object(instance):
        return
    run = current_run.get()
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            found = run.matches(pattern, key)
            if found is None:
                yield ValidationError(f"the key could not be matched against {pattern!r} in time", path=[key])
            elif found:
                yield from _descend(validator, value, subschema, key)


def _additional_properties(validator: Validator, allowed: Any, instance: Any, schema: JsonSchema) -> Errors:
    if not is_object(instance):
        return
    known, patterns, run = schema.get("properties", {}), schema.get("patternProperties", {}), current_run.get()
    for key, value in instance.items():
        if key in known or any(run.matches(pattern, key) is not False for pattern in patterns):
            continue
        if allowed is False:
            yield ValidationError(key)
        else:
            yield from _descend(validator, value, allowed, key)


def _property_names(validator: Validator, names: Any, instance: Any, schema: JsonSchema) -> Errors:
    if is_object(instance):
        for key in instance:
            yield from _descend(validator, key, names)


def _required(validator: Validator, names: list[str], instance: Any, schema: JsonSchema) -> Errors:
    if is_object(instance):
        for name in names:
            if name not in instance:
                yield ValidationError(name)


def _dependent_required(validator: Validator, dependencies: JsonSchema, instance: Any, schema: JsonSchema) -> Errors:
    if is_object(instance):
        for key, names in dependencies.items():
            if key in instance:
                yield from _required(validator, names, instance, schema)


def _dependent_schemas(validator: Validator, dependencies: JsonSchema, instance: Any, schema: JsonSchema) -> Errors:
    if is_object(instance):
        for key, subschema in dependencies.items():
            if key in instance:
                yield from _descend(validator, instance, subschema)


def _items(validator: Validator, items: Any, instance: Any, schema: JsonSchema) -> Errors:
    if not is_list(instance):
        return
    values = instance
    for index in range(len(schema.get("prefixItems", ())), len(values)):
        yield from _descend(validator, values[index], items, index)


def _prefix_items(validator: Validator, schemas: list[Any], instance: Any, schema: JsonSchema) -> Errors:
    if is_list(instance):
        for index, (value, subschema) in enumerate(zip(instance, schemas, strict=False)):
            yield from _descend(validator, value, subschema, index)


def _contains(validator: Validator, wanted: Any, instance: Any, schema: JsonSchema) -> Errors:
    if not is_list(instance):
        return
    found = sum(_fits(validator, value, wanted) for value in instance)
    if not schema.get("minContains", 1) <= found <= schema.get("maxContains", found):
        yield ValidationError(f"{found} items fit `contains`")


def _unique_items(validator: Validator, wanted: bool, instance: Any, schema: JsonSchema) -> Errors:
    if wanted and is_list(instance):
        values = instance
        if len({json_key(value) for value in values}) != len(values):
            yield ValidationError("items are repeated")


def json_key(value: Any) -> Any:
    """A hashable key that is equal exactly for JSON-equal values: 1 == 1.0, but True != 1."""
    if value is None or isinstance(value, bool):
        return (type(value).__name__, value)
    if isinstance(value, (int, float)):
        return ("number", value)
    if is_list(value):
        return ("array", tuple(map(json_key, value)))
    if is_object(value):
        return ("object", frozenset((key, json_key(item)) for key, item in value.items()))
    return ("string", value)


def _pattern(validator: Validator, pattern: str, instance: Any, schema: JsonSchema) -> Errors:
    if isinstance(instance, str):
        found = current_run.get().matches(pattern, instance)
        if found is None:
            yield ValidationError("it could not be matched in time")
        elif not found:
            yield ValidationError("it does not match")


def _type(validator: Validator, names: str | list[str], instance: Any, schema: JsonSchema) -> Errors:
    if not any(_TYPE_CHECKER.is_type(instance, name) for name in ([names] if isinstance(names, str) else names)):
        yield ValidationError("wrong type")


def _enum(validator: Validator, allowed: list[Any], instance: Any, schema: JsonSchema) -> Errors:
    if isinstance(instance, str):
        found = instance in allowed
    else:
        key = json_key(instance)
        found = any(json_key(value) == key for value in allowed)
    if not found:
        yield ValidationError("not one of them")


def _const(validator: Validator, wanted: Any, instance: Any, schema: JsonSchema) -> Errors:
    return _enum(validator, [wanted], instance, schema)


def _bound(applies: Callable[[Any], bool], holds: Callable[[Any, Any], bool]) -> Callable[..., Errors]:
    """A keyword that compares: `holds(instance, bound)` for instances to which it applies."""

    def keyword(validator: Validator, bound: Any, instance: Any, schema: JsonSchema) -> Errors:
        if applies(instance) and not holds(instance, bound):
            yield ValidationError("out of bounds")

    return keyword


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_BOUNDS: dict[str, Callable[..., Errors]] = {
    "maxItems": _bound(is_list, lambda value, bound: len(value) <= bound),
    "maxLength": _bound(_is_text, lambda value, bound: len(value) <= bound),
    "maxProperties": _bound(is_object, lambda value, bound: len(value) <= bound),
    "maximum": _bound(_is_number, operator.le),
    "minItems": _bound(is_list, lambda value, bound: len(value) >= bound),
    "minLength": _bound(_is_text, lambda value, bound: len(value) >= bound),
    "minProperties": _bound(is_object, lambda value, bound: len(value) >= bound),
    "minimum": _bound(_is_number, operator.ge),
    "exclusiveMaximum": _bound(_is_number, operator.lt),
    "exclusiveMinimum": _bound(_is_number, operator.gt),
}


def _multiple_of(validator: Validator, step: float, instance: Any, schema: JsonSchema) -> Errors:
    if _is_number(instance) and (_fraction(instance) / _fraction(step)).denominator != 1:
        yield ValidationError("not a multiple")


def _fraction(number: float) -> Fraction:
    """The number by its decimal digits, so that 0.3 is a multiple of 0.1."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _format(validator: Validator, name: str, instance: Any, schema: JsonSchema) -> Errors:
    if isinstance(instance, str) and not fits_format(name, instance):
        yield ValidationError("not in that format")


def _count_visit(schema: Any) -> Iterable[tuple[str, Any]]:
    """Count a visit. jsonschema calls this when it makes a validator for a subschema itself (`unevaluated*`)."""
    run = current_run.get(None)
    if run is not None:
        run.visit()
    items: Iterable[tuple[str, Any]] = schema.items()
    return items


# Any: the stubs demand parameters of any JSON type, but each keyword has a narrower one.
_KEYWORDS: dict[str, Any] = {
    **Draft202012Validator.VALIDATORS,
    **_BOUNDS,
    "$ref": _ref,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "const": _const,
    "contains": _contains,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "enum": _enum,
    "format": _format,
    "if": _if,
    "items": _items,
    "multipleOf": _multiple_of,
    "not": _not,
    "oneOf": _one_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "prefixItems": _prefix_items,
    "properties": _properties,
    "propertyNames": _property_names,
    "required": _required,
    "type": _type,
    "uniqueItems": _unique_items,
}

HardenedValidator: Callable[..., Validator] = cast("Any", jsonschema_validators).create(
    meta_schema=Draft202012Validator.META_SCHEMA,
    validators=_KEYWORDS,
    type_checker=_TYPE_CHECKER,
    applicable_validators=_count_visit,
)
