"""Turns jsonschema's errors into problems that a model can act on: what was expected, what it gave, and allowed values.

`_WORDS` has one row per keyword. Of a union, the alternative that fits best is explained. If none fits best, one line lists
all of them. Neither values nor schemas are quoted whole.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

from jsonschema.exceptions import ValidationError

from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.validator.schema.problems import LEAVE_OUT, NO_FIT, Problem, ProblemKind, cut, join_path, shown_value

__all__ = ["close_to", "explain", "schema_in_words"]

_MAX_CHOICES = 20
_MAX_PATTERN = 120
_OF_UNIONS = {"anyOf", "oneOf", "discriminator", "title", "description", "default", "examples"}
"""The keywords of a schema that is only a union."""

Path = tuple[str | int, ...]
Resolve = Callable[[Any], Any]
Reasons = Callable[[Any, Any], list[ValidationError]]


def explain(error: ValidationError, resolve: Resolve, reasons: Reasons, base: Path = (), chosen: str = "") -> list[Problem]:
    """Return the problems that one error stands for, at least one.

    `resolve` follows a schema's `$ref`. `reasons` returns the errors of a value and one alternative; it is empty if the
    alternative fits or cannot be checked. `chosen` says which alternative of the innermost union the value's tag names.
    """
    path = (*base, *error.path)
    if error.message == NO_FIT:
        return _explain_alternatives(error, resolve, reasons, path, chosen)
    return [_with_suffix(_explain_one(error, resolve, path), chosen)]


def _explain_one(error: ValidationError, resolve: Resolve, path: Path) -> Problem:
    keyword = str(error.validator)
    if keyword in ("required", "dependentRequired"):
        return _missing(error, resolve, path)
    if keyword == "additionalProperties" or error.schema is False:
        return _unexpected(error, resolve, path)
    kind, expected = _WORDS.get(keyword, _other)(error)
    return _problem(kind, path, expected, _got(error), choices=_choices(error))


def _with_suffix(problem: Problem, chosen: str) -> Problem:
    return updated(problem, {"expected": problem.expected + chosen, "message": problem.message + chosen}) if chosen else problem


def _problem(kind: ProblemKind, path: Path, expected: str, got: str, choices: Sequence[str] = ()) -> Problem:
    where = join_path(path)
    message = f"{f'`{where}` must be' if where else 'must be'} {expected}, but it is {got}"
    return Problem(kind=kind, path=where, expected=expected, got=got, message=message, choices=list(choices))


def _got(error: ValidationError) -> str:
    if error.message == LEAVE_OUT:
        return f"null ({LEAVE_OUT})"
    instance: Any = error.instance
    if error.validator in ("minLength", "maxLength"):
        return f"{len(instance)} characters"
    if error.validator in ("uniqueItems", "contains", "multipleOf", "format", "pattern") and error.message.startswith(
        ("it could", "items", "1", "0")
    ):
        return f"{shown_value(instance)} ({error.message})"
    return shown_value(instance)


def _missing(error: ValidationError, resolve: Resolve, path: Path) -> Problem:
    name, given = error.message, _instance(error)
    properties = _properties_of(error)
    wanted = resolve(properties.get(name, {}))
    where = join_path((*path, name))
    near = close_to(name, [key for key in given if key not in properties])
    hint = f" (you gave `{near[0]}`)" if near else ""
    return Problem(
        kind="missing",
        path=where,
        expected=schema_in_words(wanted, resolve),
        got=f"nothing{hint}",
        message=f"`{where}` is required and missing{hint}",
    )


def _unexpected(error: ValidationError, resolve: Resolve, path: Path) -> Problem:
    if error.validator != "additionalProperties":
        where = join_path(path)
        got = shown_value(error.instance)
        return Problem(kind="unexpected", path=where, expected="nothing here", got=got, message=f"`{where}` is not allowed")
    key, given = error.message, _instance(error)
    where = join_path((*path, key))
    near = close_to(key, [name for name in _properties_of(error) if name not in given])
    hint = f", did you mean `{near[0]}`?" if near else ""
    return Problem(
        kind="unexpected",
        path=where,
        expected=f"no such key{hint}",
        got=shown_value(given[key]),
        message=f"`{where}` is not allowed{hint}",
        choices=near,
    )


def _instance(error: ValidationError) -> dict[str, Any]:
    instance: object = error.instance
    return instance if is_object(instance) else {}


def _properties_of(error: ValidationError) -> dict[str, Any]:
    schema: object = error.schema
    properties = schema.get("properties") if is_object(schema) else None
    return properties if is_object(properties) else {}


def close_to(word: str, words: Iterable[str]) -> list[str]:
    """Return those of `words` that `word` may mean, nearest first. Only the first 100 characters count."""
    short = {name.lower(): name for name in words if len(name) <= 100}
    return [short[near] for near in difflib.get_close_matches(word[:100].lower(), list(short)[:500], 3, 0.6)]


# --- a row per keyword ------------------------------------------------------------------------------------------------


def _literal(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False, default=str), 60)


def _keyword_value(error: ValidationError) -> Any:
    return error.validator_value


def _choices(error: ValidationError) -> list[str]:
    if error.validator != "enum":
        return []
    return [str(value) for value in _keyword_value(error)[:_MAX_CHOICES]]


def _one_of(values: Sequence[Any]) -> str:
    listed = ", ".join(_literal(value) for value in values[:_MAX_CHOICES])
    more = len(values) - _MAX_CHOICES
    return f"one of {listed}{f' and {more} more' if more > 0 else ''}" if len(values) != 1 else listed


def _types(error: ValidationError) -> tuple[ProblemKind, str]:
    declared = _keyword_value(error)
    return "type", declared if isinstance(declared, str) else " or ".join(declared)


def _enum(error: ValidationError) -> tuple[ProblemKind, str]:
    return "value", _one_of(_keyword_value(error))


def _template(template: str, plural: str = "") -> Callable[[ValidationError], tuple[ProblemKind, str]]:
    def words(error: ValidationError) -> tuple[ProblemKind, str]:
        value = cut(str(error.validator_value), _MAX_PATTERN)
        return "value", template.format(value) + (plural if error.validator_value != 1 else "")

    return words


def _other(error: ValidationError) -> tuple[ProblemKind, str]:
    return "value", cut(f"a value that satisfies `{error.validator}`", _MAX_PATTERN)


_WORDS: dict[str, Callable[[ValidationError], tuple[ProblemKind, str]]] = {
    "type": _types,
    "enum": _enum,
    "const": lambda error: ("value", _literal(error.validator_value)),
    "minimum": _template("at least {}"),
    "maximum": _template("at most {}"),
    "exclusiveMinimum": _template("more than {}"),
    "exclusiveMaximum": _template("less than {}"),
    "multipleOf": _template("a multiple of {}"),
    "minLength": _template("at least {} character", "s"),
    "maxLength": _template("at most {} character", "s"),
    "minItems": _template("at least {} item", "s"),
    "maxItems": _template("at most {} item", "s"),
    "minProperties": _template("at least {} key", "s"),
    "maxProperties": _template("at most {} key", "s"),
    "pattern": _template("text that matches the pattern {}"),
    "format": _template("text in the format {}"),
    "uniqueItems": lambda error: ("value", "items that all differ"),
    "contains": lambda error: ("value", "the items that `contains` asks for"),
    "not": lambda error: ("value", "a value that the schema does not exclude"),
    "oneOf": lambda error: ("value", "a value that fits exactly one of the alternatives"),
}


# --- alternatives -----------------------------------------------------------------------------------------------------


def _explain_alternatives(error: ValidationError, resolve: Resolve, reasons: Reasons, path: Path, chosen: str) -> list[Problem]:
    """The problems of the alternative that is meant, or of the tag that selects it; else one problem that lists the
    alternatives."""
    alternatives = [*_flat(_keyword_value(error), resolve)]
    meant, tags = alternatives, list[str]()
    if is_object(error.instance):
        given = _instance(error)
        meant = [branch for branch in alternatives if _takes_objects(branch)]
        while tag := _tag_of(meant, given, resolve):
            name, values, literal = tag
            if literal not in map(_literal, values):
                kind: ProblemKind = "value" if literal else "missing"
                got = shown_value(given[name]) if literal else "nothing"
                choices = [str(value) for value in values[:_MAX_CHOICES]]
                return [_with_suffix(_problem(kind, (*path, name), _one_of(values), got, choices), chosen)]
            meant = [branch for branch in meant if literal in map(_literal, _values_at(branch, name, resolve))]
            tags.append(f"`{name}` is {literal}")
            chosen = f" (as {' and '.join(tags)})"
    found = [reasons(error.instance, branch) for branch in meant]
    ranked = sorted(found, key=_misfit)
    if all(found) and (len(found) == 1 or (found and _misfit(ranked[0]) < _misfit(ranked[1]) and _misfit(ranked[0])[0] == 0)):
        return [problem for inner in ranked[0] for problem in explain(inner, resolve, reasons, path, chosen)]
    values = [value for branch in alternatives for value in _constants(branch)]
    if values and all(map(_constants, alternatives)):
        choices = [str(value) for value in values[:_MAX_CHOICES]]
        return [_with_suffix(_problem("value", path, _one_of(values), shown_value(error.instance), choices), chosen)]
    forms = list(dict.fromkeys(schema_in_words(branch, resolve) for branch in alternatives))[:6]
    return [_with_suffix(_problem("type", path, " or ".join(forms), shown_value(error.instance)), chosen)]


def _flat(branches: Iterable[Any], resolve: Resolve) -> Iterator[Any]:
    """The alternatives, where nested unions are replaced by their own. Compiled schemas have no endless unions."""
    for branch in map(resolve, branches):
        inner = (branch.get("anyOf") or branch.get("oneOf")) if is_object(branch) and branch.keys() <= _OF_UNIONS else None
        if inner:
            yield from _flat(inner, resolve)
        else:
            yield branch


def _takes_objects(schema: Any) -> bool:
    return is_object(schema) and not _constants(schema) and "object" in schema.get("type", "object")


def _values_at(schema: dict[str, Any], name: str, resolve: Resolve) -> list[Any]:
    return _constants(resolve(schema.get("properties", {}).get(name)))


def _tag_of(alternatives: Sequence[Any], given: dict[str, Any], resolve: Resolve) -> tuple[str, list[Any], str] | None:
    """A key whose value selects an alternative: the key, its allowed values, and the literal given.

    If some alternatives do not have the key, it counts only if the object's value is one that the others allow.
    """
    for name in dict.fromkeys(name for branch in alternatives for name in branch.get("properties", {})):
        tag_values = [_values_at(branch, name, resolve) for branch in alternatives]
        admitted = {_literal(value): value for values in tag_values for value in values}
        groups = {frozenset(map(_literal, values)) for values in tag_values}
        if len(groups) == 1 or sum(map(len, groups)) != len(admitted):
            continue
        chosen = _literal(given[name]) if name in given else ""
        is_free = any(
            not values and name in branch.get("properties", {}) for values, branch in zip(tag_values, alternatives, strict=True)
        )
        if all(tag_values) or (chosen in admitted and not is_free):
            return name, list(admitted.values()), chosen
    return None


def _misfit(errors: Sequence[ValidationError]) -> tuple[int, int, int]:
    """How far a value is from an alternative: wrong at its root (type, const) counts most, then a wrong tag, then the number
    of errors."""
    at_root = any(not error.path and error.validator in ("type", "enum", "const") for error in errors)
    wrong_tag = any(len(error.path) == 1 and error.validator in ("const", "enum") for error in errors)
    return int(at_root), int(wrong_tag), len(errors)


def _constants(schema: Any) -> list[Any]:
    if not is_object(schema):
        return []
    return [schema["const"]] if "const" in schema else schema.get("enum", [])


def schema_in_words(schema: Any, resolve: Resolve) -> str:
    """A schema in a few words: `string`, `object with city, unit`, `array of integer`, `one of "a", "b"`."""
    schema = resolve(schema)
    if not is_object(schema):
        return "any value"
    if values := _constants(schema):
        return _one_of(values)
    branches: list[Any] = schema.get("anyOf") or schema.get("oneOf") or []
    if branches:
        parts = [_brief(resolve(branch)) for branch in branches[:6]]
        return " or ".join(dict.fromkeys(parts))
    return _brief(schema, resolve)


def _brief(schema: Any, resolve: Resolve | None = None) -> str:
    if not is_object(schema):
        return "any value"
    if values := _constants(schema):
        return _one_of(values[:6])
    declared = schema.get("type", "object" if "properties" in schema else "any value")
    names = cast("list[str]", declared) if is_list(declared) else [cast("str", declared)]
    text = " or ".join(names)
    if names == ["object"] and schema.get("properties"):
        keys = list(schema["properties"])
        return f"object with {', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}"
    if names == ["array"] and resolve is not None and "items" in schema:
        return f"array of {_brief(resolve(schema['items']))}"
    return f"{text} ({schema['format']})" if isinstance(schema.get("format"), str) else text
