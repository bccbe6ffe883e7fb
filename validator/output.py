"""Typed output from any text: find the values it holds, bring them into the type's shape, take the one that fits best.

Rules
- Sound JSON that fits is taken as it is; every other step is recorded. `strictness` bounds both the repairs of the
  JSON (off: lossless; safe: coerced too; lenient: guess and truncated too) and the coercion of the value (see
  `coercion`).
- Of several values an array type takes all that fit as its items, any other type the one that can be trusted most,
  the first of equals. An item that does not fit fails its array.
- A type that is plain text takes the text as it is. Other scalars may stand in JSON, in a fence or, if lenient, in
  prose.
- `off` and `safe` refuse a text that ends inside the value. `lenient` closes what is open; `partial` leaves out what is
  not certain, so that no number, enum or literal is ever shown by half.
Deterministic, no I/O; linear in the text but for the budgets of the readers and the validator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from llmcore.normalizer.readers.json import read_json
from llmcore.types import CallerError, JsonSchema, OutputParseError, Repair, Safety
from llmcore.types.narrowing import is_list
from llmcore.validator.candidates import MAX_CANDIDATES, Candidate, fenced, find_values
from llmcore.validator.coercion import Strictness, settle, trust
from llmcore.validator.guessed_keys import without_guessed_keys
from llmcore.validator.output_types import CompiledOutput, compile_output
from llmcore.validator.partial import certain_part, partial_value
from llmcore.validator.problems import MAX_PROBLEMS, Problem, shown, summary
from llmcore.validator.schema import CompiledSchema
from llmcore.validator.views import kinds_of, view_of
from llmcore.validator.wording import described

__all__ = ["ParseDetail", "json_schema", "parse", "parse_detailed"]

_ADMITTED: dict[str, frozenset[Safety]] = {
    "off": frozenset({"lossless"}),
    "safe": frozenset({"lossless", "coerced"}),
    "lenient": frozenset({"lossless", "coerced", "guess", "truncated"}),
}
_A_GUESS = 100
_MAX_FITS = 20
_MAX_FAILURES = 100
"""After so many values that fit or do not, only one that fits as it is is looked for: coercing takes milliseconds each."""


@dataclass(frozen=True, slots=True)
class ParseDetail:
    """A typed value and how it was come by: what was repaired, and every value that the text held (empty when the text
    itself was the value). `complete` is False when the text ended inside the value."""

    value: Any
    repairs: list[Repair] = field(default_factory=list[Repair])
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    complete: bool = True


def parse(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool = False) -> Any:
    """The value of `output_type` that `text` holds.

    `output_type`: anything `pydantic.TypeAdapter` takes, or a JSON Schema dict (then the value is plain JSON data).
    `partial`: the text is still coming; the value holds what is certain (missing keys are left out of dicts, and None
    or their default in models), and is None while nothing is. Raises `OutputParseError` with `problems`, best first;
    `CallerError` for an output type that cannot be used.
    """
    return parse_detailed(text, output_type, strictness=strictness, partial=partial).value


def parse_detailed(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool = False) -> ParseDetail:
    """As `parse`, and how the value was come by."""
    if strictness not in _ADMITTED:
        raise CallerError(f'strictness must be "off", "safe" or "lenient", got {strictness!r}')
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise CallerError(f"parse takes a text, got {type(text).__name__}; give the reply's `content`")
    output = compile_output(output_type)
    if partial:
        return _partial(text, output, strictness)
    return _Parse(text, output, strictness).run()


def json_schema(output_type: Any) -> JsonSchema:
    """The JSON Schema of an output type, as a model is told it. A dict is its own. Raises `CallerError`."""
    return compile_output(output_type).json_schema


class _Fit(NamedTuple):
    """A candidate brought into shape: the typed value, everything that was done, and whether the text ended inside
    it."""

    value: Any
    data: Any
    repairs: list[Repair]
    complete: bool = True


class _Parse:
    """One text and one type."""

    def __init__(self, text: str, output: CompiledOutput, strictness: Strictness) -> None:
        self.text, self.output = text, output
        self.strictness: Strictness = strictness
        self.schema: CompiledSchema = output.schema
        self.admitted = _ADMITTED[strictness]
        self.problems: list[tuple[int, list[Problem]]] = []
        self.refused: list[Repair] = []
        self.values: list[_Fit] = []

    def run(self) -> ParseDetail:
        if (verbatim := self.plain_text()) is not None:
            return ParseDetail(verbatim.value, verbatim.repairs)
        candidates = find_values(self.text, cut=False)
        best = self.best_of(candidates) or self._verbatim() or self._best([*self.values, *self._of_texts()])
        if best is None:
            raise self._error(candidates)
        return ParseDetail(best.value, best.repairs, candidates, best.complete)

    def best_of(self, candidates: Sequence[Candidate]) -> _Fit | None:
        """The candidate that fits best as the structure it is, or several of them as the items of an array."""
        whole: list[_Fit] = []
        for fit in (fit for candidate in candidates for fit in self._of_value(candidate)):
            self.values.append(fit)
            if isinstance(fit.data, (dict, list)) or not fit.repairs:
                whole.append(fit)
                if trust(fit.repairs) == 0:
                    return fit  # none can be better, and the first of equals is taken
        return self._best([*whole, *self._gathered(candidates)])

    def plain_text(self) -> _Fit | None:
        """The text itself, where text is all that the type admits."""
        return self._verbatim() if self._admits_text_only() else None

    # --- the ways to a value ------------------------------------------------------------------------------------------

    def _verbatim(self) -> _Fit | None:
        """The text itself, where the type admits it."""
        if not self.schema.is_valid(self.text):
            return None
        value, problems = self.output.finish(self.text)
        return None if problems else _Fit(value, self.text, [])

    def _admits_text_only(self) -> bool:
        """Is text all the type admits? A bare `null` is the null of a type that admits it."""
        alternatives = view_of(self.schema, self.schema.schema).alternatives
        branches = [branch for each in alternatives for branch in each] or [self.schema.schema]
        types = {name for branch in branches for name in view_of(self.schema, branch).types}
        return types == {"string"} or (types == {"string", "null"} and self.text.strip() != "null")

    def _of_value(self, candidate: Candidate) -> Iterator[_Fit]:
        first = list(candidate.repairs)
        if not candidate.alone:
            first.insert(0, Repair(kind="found_in_text", before=[candidate.start, candidate.end], after=None))
        value, dropped = without_guessed_keys(candidate.value, first, self.schema)
        yield from self._settled(value, [*first, *dropped], candidate.complete, candidate.end - candidate.start)

    def _settled(self, value: Any, first: list[Repair], complete: bool = True, size: int = 0) -> Iterator[_Fit]:
        """The value brought into shape, if the strictness admits all that it took. `size`: how much of the text it
        is, for telling about the problems of the largest."""
        unfit = [repair for repair in first if repair.safety not in self.admitted]
        if unfit:
            self.refused += unfit
            return
        if self._enough() and not self.schema.is_valid(value):
            return
        settled = settle(value, self.schema, strictness=self.strictness)
        problems = settled.problems
        made = None
        if not problems:
            made, problems = self.output.finish(settled.value)
        if problems:
            self.problems.append((size, problems))
        else:
            yield _Fit(made, settled.value, [*first, *settled.repairs], complete)

    def _gathered(self, candidates: Sequence[Candidate]) -> Iterator[_Fit]:
        """Several values as the items of an array type: all that fit. A single one only where that is `lenient`."""
        view = view_of(self.schema, self.schema.schema)
        if view.types != ("array",) or view.prefix or len(candidates) >= MAX_CANDIDATES:
            return
        items = [candidate for candidate in candidates if self._fits_item(candidate, view.items)]
        if len(items) < (1 if self.strictness == "lenient" else 2):
            return
        safety: Safety = "lossless" if len(items) == len(candidates) > 1 else "coerced"
        places = [[candidate.start, candidate.end] for candidate in items]
        repairs = [repair for candidate in items for repair in candidate.repairs]
        note = Repair(kind="gathered_items", before=places, after=None, safety=safety)
        complete = all(candidate.complete for candidate in items)
        yield from self._settled([candidate.value for candidate in items], [note, *repairs], complete)

    def _fits_item(self, candidate: Candidate, item: Any) -> bool:
        """Is the value an item? A list is none, where items are no lists: one of its own items would stand for all."""
        if (
            is_list(candidate.value)
            and not isinstance(item, bool)
            and "array" not in kinds_of(self.schema, view_of(self.schema, item))
        ):
            return False
        if len(self.problems) >= _MAX_FAILURES:
            return self.schema.is_valid(candidate.value, at=item)
        return not settle(candidate.value, self.schema, strictness=self.strictness, at=item).problems

    def _of_texts(self) -> Iterator[_Fit]:
        """The text, or what stands in its fences, read as the one value it says or names."""
        texts = [self.text[start:end] for start, end in fenced(self.text)] + [self.text]
        for stripped in (text.strip() for text in texts):
            if stripped.startswith(("{", "[")):
                continue  # what it holds was found already
            reading = read_json(stripped)  # None, .5, 1_000: other notations of one scalar
            if len(reading.values) == 1 and reading.end == len(stripped) and reading.complete and not reading.error:
                yield from self._settled(reading.values[0], reading.repairs)
            inner = _unquoted(stripped)
            first = [] if inner == stripped else [Repair(kind="quotes", before=stripped[:1], after="")]
            yield from self._settled(inner, first)

    def _enough(self) -> bool:
        """Is what was found so good, or was so much tried in vain, that only a value that fits as it is matters now?"""
        found = len(self.values) > _MAX_FITS and min(trust(fit.repairs) for fit in self.values[:_MAX_FITS]) < _A_GUESS
        return found or len(self.problems) >= _MAX_FAILURES

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _best(self, fits: Sequence[_Fit]) -> _Fit | None:
        admitted = [fit for fit in fits if all(repair.safety in self.admitted for repair in fit.repairs)]
        return min(admitted, key=lambda fit: trust(fit.repairs), default=None)

    def _error(self, candidates: Sequence[Candidate]) -> OutputParseError:
        problems = max(self.problems, key=lambda found: found[0])[1] if self.problems else []
        if self.refused:
            problems = [_refusal(self.refused, self.strictness), *problems]
        if not problems or (self.refused and len(problems) == 1 and not candidates):
            expected = described(self.schema.schema, self.schema.resolve)
            got = shown(self.text.strip())
            message = f"the text holds no value of the type: expected {expected}, got {got}"
            problems = [*problems, Problem(kind="no_value", expected=expected, got=got, message=message)]
        return OutputParseError(f"no {self._name()} in the text: {summary(problems)}", problems[:MAX_PROBLEMS], self.text)

    def _name(self) -> str:
        return str(self.output.json_schema.get("title") or described(self.schema.schema, self.schema.resolve))


def _refusal(refused: Sequence[Repair], strictness: Strictness) -> Problem:
    worst = max(refused, key=lambda repair: trust([repair]))
    kinds = ", ".join(dict.fromkeys(repair.kind.replace("_", " ") for repair in refused))
    if worst.safety == "truncated":
        got = "text that ends inside the value"
        return Problem(kind="incomplete", path=worst.path, expected="a whole value", got=got, message=f"it is {got}")
    got = f"JSON that can only be read by a guess ({kinds}), which strictness={strictness!r} does not admit"
    return Problem(kind="untrusted", path=worst.path, expected="sound JSON", got=got, message=f"it is {got}")


def _unquoted(text: str) -> str:
    """A text without the quotes or back-ticks around it."""
    for quote in ('"', "'", "`"):
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1]
    return text


# --- partial ----------------------------------------------------------------------------------------------------------


def _partial(text: str, output: CompiledOutput, strictness: Strictness) -> ParseDetail:
    """The first value that is whole and fits; else what is certain of the one that the text ends in."""
    whole = _Parse(text, output, strictness)
    if (verbatim := whole.plain_text()) is not None:
        return ParseDetail(verbatim.value, verbatim.repairs, complete=False)
    candidates = find_values(text, cut=True)
    found = whole.best_of([candidate for candidate in candidates if candidate.complete])
    if found is not None:
        return ParseDetail(found.value, found.repairs, candidates)
    last = candidates[-1] if candidates else None
    admitted = _ADMITTED[strictness] | {"truncated"}
    if last is None or last.complete or any(repair.safety not in admitted for repair in last.repairs):
        return ParseDetail(None, candidates=candidates, complete=False)
    data = certain_part(last, output.schema, strictness)
    value = None if data is None else partial_value(data, output)
    return ParseDetail(value, list(last.repairs), candidates, complete=False)
