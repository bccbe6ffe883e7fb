"""Coerces values to their schema, and records each step.

Rules
- A value that fits is not changed, at any strictness. So coercion is idempotent. The only exception: 5.0 becomes 5 if an
  integer is required, since it is the same number.
- Unions are tried without changes first, then by best fit: the alternative with the fewest and most trusted steps.
- A value that cannot fit stays unchanged. Nothing is dropped, apart from duplicates in a set. No default is invented, unless
  the table says so.

The table is `conversions.CONVERSIONS`, with the object and array rules below. Each row has the least strictness that allows
it and its safety. The validator's budget of schema visits bounds the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from llmcore.normalizer.notations.json import read_json
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.support.values.numbers import whole
from llmcore.types import Repair, Safety
from llmcore.validator.coercion.aliases import with_schema_names
from llmcore.validator.coercion.conversions import CHOICE_MATCHERS, CONVERSIONS, FORMAT_CONVERSIONS, Strictness
from llmcore.validator.coercion.text_lists import items_of_text, may_be_one_item
from llmcore.validator.coercion.views import View, json_kinds, view_of
from llmcore.validator.schema.compiled import MAX_ERRORS, CompiledSchema
from llmcore.validator.schema.keywords import KeywordRun, TooMuchWork, json_key
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, join_path, shown_value, type_name
from llmcore.validator.schema.survey import survey

__all__ = ["Coerced", "CoercedValue", "Strictness", "admits", "coerce", "spelling", "trust", "wrapper_key_problems"]

_LEVELS: dict[str, int] = {"off": 0, "safe": 1, "lenient": 2}
_TRUST: dict[Safety, int] = {"lossless": 0, "coerced": 1, "truncated": 10, "guess": 100}

MAX_CHANGED = 20_000
"""The most values that one coercion changes. A value that needs more stays unchanged."""
_CHOICES_A_VISIT = 16
"""How many comparisons with allowed values cost as much of the budget as one schema visit."""

Path = tuple[str | int, ...]


def admits(strictness: Strictness, needed: Strictness) -> bool:
    return _LEVELS[strictness] >= _LEVELS[needed]


def trust(repairs: list[Repair]) -> int:
    """The cost of a list of repairs. 0 is the most trusted."""
    return sum(_TRUST[repair.safety] for repair in repairs)


class Coerced(NamedTuple):
    """A value and its repairs."""

    value: Any
    repairs: list[Repair]
    fits: bool = True


class CoercedValue(NamedTuple):
    """A value after coercion, its repairs, and its remaining problems."""

    value: Any
    repairs: list[Repair]
    problems: list[Problem]


def coerce(
    value: Any,
    schema: CompiledSchema,
    *,
    strictness: Strictness = "safe",
    wrapper: str | None = None,
    at: Any = None,
) -> CoercedValue:
    """Validate `value`, and if it does not fit, coerce it to `schema` as far as `strictness` allows. Never raises because of
    a value.

    `wrapper` is a key (the tool's name) that may wrap the whole object, like `arguments`, `properties` and the schema's
    title. `at` is a subschema of `schema` to use in place of its root.
    """
    root = schema.schema if at is None else at
    found = survey(value)
    if found.problem is not None:
        return CoercedValue(value, [], [found.problem])
    value, moves = with_schema_names(value, schema, root)
    fits = schema.surely_fits(value, root) or schema.fits(value, root, schema.new_run(found.nodes))
    may_change = not fits or _may_be_wrapped(value, wrapper, view_of(schema, root))
    if not (may_change and admits(strictness, "safe")) and not (fits and found.whole_floats):
        return CoercedValue(value, moves, [] if fits else schema.problems(value, at=root))
    coercer = _Coercer(schema, strictness, schema.new_run(found.nodes), found.whole_floats)
    made = coercer.coerced(value, root, wrapper)
    problems = [] if fits and not made.repairs else schema.problems(made.value, at=root)
    if problems and coercer.parsed_texts:
        problems = schema.problems(_with_parsed_texts(made.value, coercer.parsed_texts), at=root)
    if problems:
        problems = [*wrapper_key_problems(made.value, schema, root, ()), *problems][:MAX_PROBLEMS]
    return CoercedValue(made.value, [*moves, *made.repairs], problems)


def _may_be_wrapped(value: Any, wrapper: str | None, view: View) -> bool:
    return is_object(value) and len(value) == 1 and (bool({*value} & {*_WRAPPERS, wrapper}) or _is_type_name(view, *value))


def wrapper_key_problems(value: Any, schema: CompiledSchema, subschema: Any, path: Path) -> Iterator[Problem]:
    """A problem for each unknown key that is the only one of its object and wraps a value of the wanted type."""
    view = view_of(schema, subschema)
    if is_list(value):
        for index, item in enumerate(value[:MAX_PROBLEMS]):
            yield from wrapper_key_problems(item, schema, view.item_schema(index), (*path, index))
    for key, item in value.items() if is_object(value) else ():
        if key in view.properties:
            yield from wrapper_key_problems(item, schema, view.properties[key], (*path, key))
        elif len(value) == 1 and (keys := _wrapping_keys(item, view)) is not None:
            named = join_path((*path, key, *keys))
            message = f"`{named}` stands around the value that is wanted; leave the key out"
            yield Problem(
                kind="unexpected", path=named, expected="no such key around the value", got=shown_value(item), message=message
            )
    for branch in (each for alternatives in view.alternatives for each in alternatives):
        yield from wrapper_key_problems(value, schema, branch, path)


def _wrapping_keys(value: Any, view: View) -> list[str] | None:
    """The keys, outer ones first, that wrap a value of the view's type. None without such a value."""
    keys: list[str] = []
    known = {spelling(name) for name in (*view.properties, *view.item_names)}
    while not _matches_view(value, view, known):
        if not is_object(value) or len(value) != 1:
            return None
        keys.append(next(iter(value)))
        value = value[keys[-1]]
    return keys


def _matches_view(value: Any, view: View, known: set[str]) -> bool:
    if is_object(value):
        return any(spelling(key) in known for key in value)
    kinds = {type_name(value)} | ({"number"} if isinstance(value, int) and not isinstance(value, bool) else set[str]())
    return "object" not in view.types and not kinds.isdisjoint(view.types)


_WRAPPERS = frozenset({"arguments", "properties"})


class _Coercer:
    def __init__(self, schema: CompiledSchema, strictness: Strictness, run: KeywordRun, floats: bool) -> None:
        self.schema, self.run, self.floats = schema, run, floats
        self.strictness: Strictness = strictness
        self.changed = 0
        self.wrapping = False
        self.is_mapping_value = False
        """Whether the value stands under a key that the model chose. Then its keys are data too."""
        self.parsed_texts: dict[Path, Any] = {}
        """JSON parsed from strings where containers are required, if it does not fit. The problems then describe it."""
        self.listing = False
        """Whether the value is a list that another alternative accepts."""

    def fits(self, value: Any, subschema: Any) -> bool:
        return self.schema.fits(value, subschema, self.run)

    def may(self, needed: Strictness) -> bool:
        return admits(self.strictness, needed)

    def coerced(self, value: Any, root: Any, wrapper: str | None) -> Coerced:
        try:
            peeled = self._peeled(value, root, wrapper)
            fixed = self.fixed(peeled.value, root, ())
        except (TooMuchWork, RecursionError):
            return Coerced(value, [])
        return Coerced(fixed.value, peeled.repairs + fixed.repairs)

    def _peeled(self, value: Any, root: Any, wrapper: str | None) -> Coerced:
        """The value inside a wrapper: `{"arguments": {...}}`, `{"properties": {...}}`, or the tool's or type's name as the
        only key.

        The schema must not have such a key, and the inner keys must belong to it.
        """
        ((key, inner),) = value.items() if is_object(value) and len(value) == 1 else (("", 0),)
        if not isinstance(key, str) or not is_object(inner) or not self.may("safe"):
            return Coerced(value, [])
        view = view_of(self.schema, root)
        known = {spelling(name) for name in view.properties}
        inside = {spelling(name) for name in inner}
        is_wrapper = key in {*_WRAPPERS, wrapper} and spelling(key) not in known and inside <= known
        if not is_wrapper and not (_is_type_name(view, key) and inside & known):
            return Coerced(value, [])
        return Coerced(inner, [_repair("peeled_wrapper", (), {key: inner}, inner)])

    def fixed(self, value: Any, subschema: Any, path: Path) -> Coerced:
        """`value` if it fits; else the best result of the rules; else the value with those parts fixed that can be."""
        self.run.visit()
        if subschema is True or self.fits(value, subschema):
            return self._with_integers(value, subschema, path) if self.floats else Coerced(value, [])
        view = view_of(self.schema, subschema)
        nearer = self._with_fixed_parts(value, view, path)
        candidates = (nearer, *self._branches(value, view, path), *self._converted(value, view, path))
        fitting = [made for made in candidates if made.repairs and self.fits(made.value, subschema)]
        if not fitting and (reshaped := [*self._reshaped(value, subschema, view, path)]):
            fitting = [made for made in reshaped if self.fits(made.value, subschema)]
            if not fitting and reshaped[0].repairs[0].kind == "parsed_json":
                self.parsed_texts[path] = reshaped[0].value
        best = _best(fitting)
        if best is None:
            return Coerced(nearer.value, nearer.repairs, fits=False)
        self.changed += 1
        if self.changed > MAX_CHANGED:
            raise TooMuchWork
        return best

    def _with_integers(self, value: Any, subschema: Any, path: Path) -> Coerced:
        """A fitting value in which floats such as 5.0 become integers where integers are required.

        It is the same number, so this happens at every strictness. Pydantic would round large ones.
        """
        view = view_of(self.schema, subschema)
        if isinstance(value, float):
            integer = whole(value) if "integer" in view.types else None
            made = (
                Coerced(value, [])
                if integer is None
                else Coerced(integer, [_repair("whole_number", path, value, integer, "lossless")])
            )
        elif is_object(value):
            items = {key: self._with_integers(item, view.value_schema(key), (*path, key)) for key, item in value.items()}
            made = _joined({key: item.value for key, item in items.items()}, items.values(), value)
        elif is_list(value):
            parts = [self._with_integers(item, view.item_schema(index), (*path, index)) for index, item in enumerate(value)]
            made = _joined([item.value for item in parts], parts, value)
        else:
            return Coerced(value, [])
        tried = [self._with_integers(made.value, branch, path) for branch in view.branches if self.fits(value, branch)]
        fewest = min(tried, key=lambda one: len(one.repairs), default=Coerced(made.value, []))
        return Coerced(fewest.value, [*made.repairs, *fewest.repairs])

    def _branches(self, value: Any, view: View, path: Path) -> list[Coerced]:
        """The value coerced to each alternative."""
        before = self.listing
        self.listing = is_list(value) and "array" in json_kinds(self.schema, view)
        made = [self.fixed(value, branch, path) for branch in view.branches]
        self.listing = before
        return made

    def _converted(self, value: Any, view: View, path: Path) -> Iterator[Coerced]:
        """The results of the conversion table for the types that the schema allows."""
        if view.allowed is not None:
            yield from self._allowed(value, view.allowed, view.names, path)
            return
        for name in view.types:
            for row in (*CONVERSIONS.get(name, ()), *(FORMAT_CONVERSIONS.get(view.format, ()) if name == "string" else ())):
                if self.may(row.strictness) and (made := row.convert(value)) is not None:
                    yield Coerced(made, [_repair(row.kind, path, value, made, row.safety)])

    def _allowed(self, value: Any, allowed: list[Any], names: list[str], path: Path) -> Iterator[Coerced]:
        """The one allowed value that matches the value, directly or by its enum member's name."""
        self.run.budget -= len(allowed) // _CHOICES_A_VISIT
        for needed, meant, safety in CHOICE_MATCHERS:
            if not self.may(needed):
                continue
            if len(found := meant(value, allowed)) == 1:
                yield Coerced(found[0], [_repair("allowed_value", path, value, found[0], safety)])
                return
            named = [] if found or len(names) != len(allowed) else [value] if value in names else meant(value, names)
            if len(named) == 1:
                member = allowed[names.index(named[0])]
                yield Coerced(member, [_repair("named_value", path, value, member, safety)])
                return

    def _with_fixed_parts(self, value: Any, view: View, path: Path) -> Coerced:
        """The same container with its parts fixed. Other values stay unchanged."""
        if is_object(value) and (not view.types or "object" in view.types):
            return self._object(value, view, path)
        if is_list(value) and (not view.types or "array" in view.types):
            return self._array(value, view, path)
        return Coerced(value, [])

    # --- containers ---------------------------------------------------------------------------------------------------

    def _object(self, value: dict[str, Any], view: View, path: Path) -> Coerced:
        keys, repairs = self._keys(value, view, path)
        result: dict[str, Any] = {}
        unfit = 0
        for key, item in value.items():
            name = keys.get(key, key)
            if unfit >= MAX_ERRORS:
                result[name] = item
                continue
            is_mapping_value, self.is_mapping_value = self.is_mapping_value, name not in view.properties
            fixed = self.fixed(item, view.value_schema(name), (*path, name))
            self.is_mapping_value = is_mapping_value
            unfit += not fixed.fits
            result[name] = fixed.value
            repairs += fixed.repairs
        for name in view.required if self.may("lenient") else ():
            if name not in result and (empty := self._empty(view.properties.get(name))) is not None:
                result[name] = empty
                repairs.append(_repair("empty_default", (*path, name), None, empty, "guess"))
        return Coerced(result, repairs) if repairs else Coerced(value, [])

    def _keys(self, value: dict[str, Any], view: View, path: Path) -> tuple[dict[str, str], list[Repair]]:
        """Unknown keys that differ from a missing one only by case, `-`, `_` or camelCase, if the match is unique."""
        missing = [name for name in view.properties if name not in value and (view.closed or name in view.required)]
        unknown = [key for key in value if key not in view.properties]
        by_spelling: dict[str, list[str]] = {}
        for key in unknown if missing else ():
            by_spelling.setdefault(spelling(key), []).append(key)
        keys: dict[str, str] = {}
        for name in missing:
            meant = by_spelling.get(spelling(name), [])
            if len(meant) == 1 and sum(spelling(other) == spelling(name) for other in missing) == 1:
                keys[meant[0]] = name
        return keys, [_repair("renamed_key", (*path, name), key, name) for key, name in keys.items()]

    def _empty(self, subschema: Any) -> list[Any] | dict[str, Any] | None:
        view = view_of(self.schema, subschema)
        if view.types == ("array",):
            return []
        return {} if view.types == ("object",) and not view.properties else None

    def _array(self, value: list[Any], view: View, path: Path) -> Coerced:
        items: list[Coerced] = []
        unfit = 0
        for index, item in enumerate(value):
            items.append(self.fixed(item, view.item_schema(index), (*path, index)))
            unfit += not items[-1].fits
            if unfit >= MAX_ERRORS:  # it cannot fit, so the rest is not coerced
                break
        made = _joined([*(item.value for item in items), *value[len(items) :]], items, value)
        return self._without_repeats(made, path) if view.unique and self.may("safe") else made

    def _without_repeats(self, made: Coerced, path: Path) -> Coerced:
        """A set's values without duplicates."""
        once: dict[Any, Any] = {}
        for item in made.value:
            once.setdefault(json_key(item), item)
        if len(once) == len(made.value) or any(repair.kind == "peeled_wrapper" for repair in made.repairs):
            return made  # equal data under several names are no duplicates
        return Coerced([*once.values()], [*made.repairs, _repair("repeats_dropped", path, made.value, [*once.values()])])

    # --- other shapes -------------------------------------------------------------------------------------------------

    def _reshaped(self, value: Any, subschema: Any, view: View, path: Path) -> Iterator[Coerced]:
        """The value in another form: a container from its JSON text, or a list, object or scalar from one of the others."""
        if isinstance(value, str):
            yield from self._parsed(value, view, path)
        elif is_object(value):
            yield from self._by_names(value, view, path)
            yield from self._without_type_name(value, view, path)
        if not self.may("lenient"):
            return
        if is_list(value):
            if not self.listing and "array" not in json_kinds(self.schema, view):
                yield from self._only_item(value, subschema, path)
        elif value is not None:
            yield from self._wrapped(value, view, path)
        if is_object(value):
            yield from self._only_value(value, subschema, view, path)

    def _by_names(self, value: dict[str, Any], view: View, path: Path) -> Iterator[Coerced]:
        """The items of a named tuple, in its order, from an object. The last items may be missing."""
        names = view.item_names[: len(value)]
        if names and {*value} == {*names}:
            items = [value[name] for name in names]
            yield self._with_first_step(items, view, path, _repair("items_by_name", path, value, items))

    def _without_type_name(self, value: dict[str, Any], view: View, path: Path) -> Iterator[Coerced]:
        """The value under its type's name as the only key: `{"City": {...}}` for a `City`.

        Within a value, only objects and named tuples are unwrapped so. The title of anything else is that of a field.
        """
        is_named = view.properties or view.item_names or not path
        if len(value) == 1 and is_named and _is_type_name(view, key := next(iter(value))):
            first = _repair("peeled_wrapper", path, value, inner := value[key])
            yield self._with_first_step(inner, view, path, first)
            for made in self._by_names(inner, view, path) if is_object(inner) else ():
                yield Coerced(made.value, [first, *made.repairs])

    def _parsed(self, text: str, view: View, path: Path) -> Iterator[Coerced]:
        kind = {"{": "object", "[": "array"}.get(text.lstrip()[:1])
        if kind not in view.types:
            return
        reading = read_json(text)
        if len(reading.values) != 1 or not reading.complete or any(r.safety != "lossless" for r in reading.repairs):
            return
        if reading.error or text[reading.end :].strip():
            return  # the text after it would be lost
        made = reading.values[0]
        found = survey(made)
        if found.problem is None and type_name(made) == kind:
            self.run.budget += found.nodes
            self.floats = self.floats or found.whole_floats
            yield self._with_first_step(made, view, path, _repair("parsed_json", path, text, made))

    def _with_first_step(self, value: Any, view: View, path: Path, first: Repair) -> Coerced:
        rest = self._with_fixed_parts(value, view, path)
        return Coerced(rest.value, [first, *rest.repairs])

    def _wrapped(self, value: Any, view: View, path: Path) -> Iterator[Coerced]:
        """The items of a list written as text, a list around a single value, or an object with one field around a scalar.

        These are not combined. A string that is the whole answer becomes a list item only if it is a single word.
        """
        if self.wrapping:
            return
        self.wrapping = True
        if "array" in view.types and isinstance(value, str) and (items := items_of_text(value)):
            yield self._with_first_step(items, view, path, _repair("items_of_text", path, value, items))
        elif "array" in view.types and self._may_be_only_item(value, view, path):
            yield self._with_first_step([value], view, path, _repair("wrapped_in_list", path, value, [value]))
        if "object" in view.types and len(view.properties) == 1 and _is_token(value):
            made = {next(iter(view.properties)): value}
            yield self._with_first_step(made, view, path, _repair("wrapped_in_object", path, value, made, "guess"))
        self.wrapping = False

    def _may_be_only_item(self, value: Any, view: View, path: Path) -> bool:
        """Whether the value may become a list of one item.

        If any string is a valid item, a text alone would become one, whatever it says. So would a text in an object that the
        items do not admit: first the text is taken out of the object, then it is judged.
        """
        item = view_of(self.schema, view.item_schema(0))
        kinds = json_kinds(self.schema, item) or {"string", "object"}
        if item.allowed is not None or "string" not in kinds:
            return True
        return _is_one_item(value, path) if isinstance(value, str) else "object" in kinds or not is_object(value)

    def _only_item(self, values: list[Any], subschema: Any, path: Path) -> Iterator[Coerced]:
        """The only item of a list that fits. It is not wrapped in a new list, which would drop the other items."""
        before, self.wrapping = self.wrapping, True
        items = [self.fixed(value, subschema, path) for value in values]
        self.wrapping = before
        fitting = [made for made in items if self.fits(made.value, subschema)]
        if len(fitting) == 1:
            safety: Safety = "coerced" if len(values) == 1 else "guess"
            first = _repair("only_item", path, values, fitting[0].value, safety)
            yield Coerced(fitting[0].value, [first, *fitting[0].repairs])

    def _only_value(self, value: dict[str, Any], subschema: Any, view: View, path: Path) -> Iterator[Coerced]:
        """The scalar in an object with one key, if no object is allowed; one level deep. A mapping is not unwrapped: its key
        is data."""
        (inner,) = value.values() if len(value) == 1 else (None,)
        if (
            self.is_mapping_value
            or inner is None
            or is_object(inner)
            or is_list(inner)
            or "object" in json_kinds(self.schema, view)
        ):
            return
        made = self.fixed(inner, subschema, path)
        yield Coerced(made.value, [_repair("unwrapped_object", path, value, inner, "guess"), *made.repairs])


def _with_parsed_texts(value: Any, inside: dict[Path, Any], path: Path = ()) -> Any:
    """A copy in which parsed JSON replaces its strings."""
    if isinstance(value, str) and path in inside:
        return _with_parsed_texts(inside[path], inside, path)
    if is_object(value):
        return {key: _with_parsed_texts(item, inside, (*path, key)) for key, item in value.items()}
    return [_with_parsed_texts(item, inside, (*path, at)) for at, item in enumerate(value)] if is_list(value) else value


def _joined(made: Any, parts: Iterable[Coerced], value: Any) -> Coerced:
    """A container of fixed parts, or the value itself if no part changed."""
    repairs = [repair for part in parts for repair in part.repairs]
    return Coerced(made, repairs) if repairs else Coerced(value, [])


def _best(fitting: list[Coerced]) -> Coerced | None:
    """The most trusted candidate, the first of equals. None if two different guesses are equally trusted."""
    best = min(fitting, key=lambda made: trust(made.repairs), default=None)
    if best is None or trust(best.repairs) < _TRUST["guess"]:
        return best
    rivals = [made for made in fitting if trust(made.repairs) == trust(best.repairs)]
    return best if all(json_key(made.value) == json_key(best.value) for made in rivals) else None


def _repair(kind: str, path: Path, before: Any, after: Any, safety: Safety = "coerced") -> Repair:
    return Repair(kind=kind, path=join_path(path), before=before, after=after, safety=safety)


def _is_token(value: Any) -> bool:
    """Whether the value is a bare number, boolean or word, not prose."""
    if is_object(value):
        return False
    return not isinstance(value, str) or (0 < len(value) <= 64 and len(value.split()) == 1)


def _is_one_item(text: str, path: Path) -> bool:
    """Whether a text may become a list of one item. A text that is the whole answer must be a single word."""
    is_word = _is_token(text) and text[0].isalnum() and text[-1].isalnum()
    return may_be_one_item(text) and (is_word or bool(path))


def _is_type_name(view: View, key: str) -> bool:
    """Whether the key is the type's name, and no property has that name."""
    name = spelling(view.title)
    return name != "" and spelling(key) == name and all(spelling(known) != name for known in view.properties)


def spelling(key: str) -> str:
    """The key in a form that is equal for keys that differ only by case, `-`, `_`, spaces or camelCase."""
    return key.replace("_", "").replace("-", "").replace(" ", "").casefold()
