"""Typed output from any text: find the values it holds, bring them into the type's shape, take the one that fits best.

Rules
- Sound JSON that fits is taken as it is; every other step is recorded. `strictness` bounds both the repairs of the
  JSON (off: lossless; safe: coerced too; lenient: guess and truncated too) and the coercion of the value (see
  `coercion`).
- Of several values an array type takes all that fit as its items, any other type the one that the text announces as
  the answer, else the one that can be trusted most, the first of equals; where it is not certain which is meant, that is a
  `guess` (see `choosing`). Reasoning and what stands behind an example's or a denied lead-in are no values (see `candidates`).
- What fits but only repeats the form, or speaks of something else, is a `guess` (see `echoes`).
- Nothing shortens an array: an item that does not fit fails it, two different lists are no one list, and where
  something in the text could not be read, or a value goes on behind its last bracket, no part of it stands for the whole.
- A value is not certain beside the beginning of another that the end of the text broke off (see `begun`): only `lenient`
  takes it, and no array.
- A type that is plain text takes the text as it is, without the reasoning, and without the code fence that is all of
  it. Other scalars may stand in JSON, in a fence or, if lenient, in prose.
- `off` and `safe` refuse a text that ends inside the value. `lenient` closes what is open; `partial` leaves out what is
  not certain, so that no number, enum or literal is ever shown by half.
Deterministic, no I/O; linear in the text but for the budgets of the readers and the validator.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, overload

from typing_extensions import TypeVar

from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.replies.reasoning_spans import reasoning_spans
from llmcore.support.values.copies import made
from llmcore.support.values.narrowing import is_list
from llmcore.types import DEFAULT_LIMITS, CallerError, ConfigError, JsonSchema, OutputParseError, Repair, Safety
from llmcore.types.input.argument_errors import with_readable_errors
from llmcore.validator.coercion.coercer import Strictness, coerce, trust, under_another_name
from llmcore.validator.coercion.conversions import check_strictness
from llmcore.validator.output.begun import Beginnings
from llmcore.validator.output.candidates import MAX_CANDIDATES, Candidate, Found, find_values, only_fence, stands_alone
from llmcore.validator.output.choosing import Fit, doubt_about, preference
from llmcore.validator.output.echoes import echoes_in
from llmcore.validator.output.guessed_keys import without_guessed_keys
from llmcore.validator.output.lead_ins import LeadIn
from llmcore.validator.output.output_types import CompiledOutput, compile_output
from llmcore.validator.output.partial import certain_part, partial_value
from llmcore.validator.output.surroundings import Surroundings
from llmcore.validator.schema.compiled import CompiledSchema
from llmcore.validator.schema.formats import names_one_thing
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, shown_value, summary
from llmcore.validator.schema.unsound import unsound_number
from llmcore.validator.schema.wording import schema_in_words

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # unions and literals are no `type`, but forms of one

__all__ = ["ParseDetail", "json_schema", "parse", "parse_detailed", "whole_text"]

T = TypeVar("T")
V = TypeVar("V", default=Any)

_ADMITTED: dict[str, frozenset[Safety]] = {
    "off": frozenset({"lossless"}),
    "safe": frozenset({"lossless", "coerced"}),
    "lenient": frozenset({"lossless", "coerced", "guess", "truncated"}),
}
_TEXT = frozenset({"string"})
_TEXT_OR_NULL = frozenset({"string", "null"})
_A_GUESS = 100
_QUOTES = ('"', "'", "`")
_CLOSERS = ("}", "]")  # text behind a quote may make the quoted words a part of a longer text
_MAX_FITS = 20
_MAX_FAILURES = 100
"""After so many values that fit or do not, only one that fits as it is is looked for: coercing takes milliseconds each."""


@dataclass(frozen=True, slots=True)
class ParseDetail(Generic[V]):
    """A typed value and how it was come by: what was repaired, and every value that the text held (empty when the text
    itself was the value). `complete` is False when the text ended inside the value. `closed` is True when the value ended
    by a bracket of its own and is all that the text says, reasoning, a fence and words that name it apart: what any other
    was to be, in a reply that a limit ended, nobody knows."""

    value: V
    repairs: list[Repair] = field(default_factory=list[Repair])
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    complete: bool = True
    closed: bool = False


@overload
def parse(text: str, output_type: TypeForm[T], *, strictness: Strictness = "safe", partial: Literal[False] = False) -> T: ...


@overload
def parse(text: str, output_type: JsonSchema | UnionType, *, strictness: Strictness = "safe", partial: bool = False) -> Any: ...


@overload
def parse(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool) -> Any: ...


@with_readable_errors
def parse(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool = False) -> Any:
    """The value of `output_type` that `text` holds.

    `output_type`: anything `pydantic.TypeAdapter` takes, or a JSON Schema dict (then the value is plain JSON data).
    `partial`: the text is still coming; the value holds what is certain (missing keys are left out of dicts, and None
    or their default in models), and is None while nothing is. Raises `OutputParseError` with `problems`, best first;
    `CallerError` for an output type that cannot be used.
    """
    output = _checked(text, output_type, strictness, partial=partial)
    return _partial(text, output, strictness).value if partial else _Parse(text, output, strictness).chosen().value


@overload
def parse_detailed(
    text: str, output_type: TypeForm[T], *, strictness: Strictness = "safe", partial: Literal[False] = False
) -> ParseDetail[T]: ...


@overload
def parse_detailed(
    text: str, output_type: JsonSchema | UnionType, *, strictness: Strictness = "safe", partial: bool = False
) -> ParseDetail: ...


@overload
def parse_detailed(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool) -> ParseDetail: ...


@with_readable_errors
def parse_detailed(text: str, output_type: Any, *, strictness: Strictness = "safe", partial: bool = False) -> ParseDetail:
    """As `parse`, and how the value was come by."""
    output = _checked(text, output_type, strictness, partial=partial)
    return _partial(text, output, strictness) if partial else _Parse(text, output, strictness).run()


def _checked(text: object, output_type: Any, strictness: Strictness, *, partial: object) -> CompiledOutput:
    """The compiled form of the type. Raises `CallerError` and `ConfigError` for what cannot be given."""
    check_strictness(strictness)
    if not isinstance(text, str):
        raise CallerError(f"parse takes a text, got {type(text).__name__}; give the reply's `content`")
    if partial is not True and partial is not False:
        raise ConfigError(f"parse: `partial` must be True or False, not {type(partial).__name__}")
    return compile_output(output_type)


def whole_text(text: str, output_type: Any) -> ParseDetail | None:
    """The text itself, without its reasoning, where the type takes it as it is; None where it does not."""
    fit = _Parse(text, compile_output(output_type), "off").verbatim()
    return None if fit is None else ParseDetail(fit.value, fit.repairs)


@with_readable_errors
def json_schema(output_type: Any) -> JsonSchema:
    """The JSON Schema of an output type, as a model is told it. A dict is its own. Raises `CallerError`."""
    return compile_output(output_type).json_schema


class _Failure(NamedTuple):
    """What keeps a candidate of so many characters from being the value, and the error of the type's own code, if it was
    that."""

    size: int
    problems: Sequence[Problem]
    cause: BaseException | None = None


class _Parse:
    """One text and one type."""

    def __init__(self, text: str, output: CompiledOutput, strictness: Strictness) -> None:
        self.text, self.output = text, output
        self.strictness: Strictness = strictness
        self.schema: CompiledSchema = output.schema
        self.admitted = _ADMITTED[strictness]
        self.problems: list[_Failure] = []
        self.refused: list[Repair] = []
        self.values: list[Fit] = []
        self.members_left = False
        self.found = Found([], [], [])
        self.around = Surroundings(text, output.wanted, strictness)
        self.beginnings = Beginnings(text, self.around)

    def run(self) -> ParseDetail:
        best = self.chosen()
        repairs = [*best.repairs, *self.output.ignored_keys(best.data, best.value)]
        return ParseDetail(best.value, repairs, self.found.values, best.complete, self._is_closed(best))

    def chosen(self) -> Fit:
        """The value that is taken. Raises `OutputParseError`."""
        if (verbatim := self.plain_text()) is not None:
            return verbatim
        found = find_values(self.text, cut=False)
        best = self.best_of(found) or self.verbatim() or self._best([*self.values, *self._of_texts(found)])
        if best is None:
            worst = self._worst()
            raise self._error(found, worst.problems) from worst.cause
        return best

    def _is_closed(self, fit: Fit) -> bool:
        if fit.of is None or (is_list(fit.data) and not is_list(fit.of.value)):  # more items may follow
            return False
        if any(repair.kind == "several_fit" and repair.safety == "truncated" for repair in fit.repairs):
            return False
        is_all = stands_alone(self.text, fit.of.start, fit.of.end)
        return is_all and fit.complete and self.text[fit.of.start : fit.of.end].endswith(_CLOSERS)

    def best_of(self, found: Found) -> Fit | None:
        """The candidate that fits best as the structure it is, or several of them as the items of an array."""
        whole: list[Fit] = []
        self.members_left, self.found = found.members_left, found
        if any(self.around.lists_items(candidate) for candidate in found.values):
            found = found._replace(unread=True)  # values beside a list of items are not all of them
        for candidate in found.values:
            fits = [fit for fit in self._of_value(candidate) if not self._leaves_items_out(fit, candidate, found)]
            self.values += fits
            whole += [fit for fit in fits if isinstance(fit.data, (dict, list)) or not fit.repairs]
        return self._best([*whole, *self._gathered(found)])

    def plain_text(self, *, cut: bool = False) -> Fit | None:
        """The text itself, where text is all that the type admits. `cut`: it may go on."""
        if not self._admits_text_only():
            return None
        fence = None if cut or self.strictness == "off" else only_fence(self.text)
        if fence is not None:
            code = textwrap.dedent(self.text[slice(*fence)]).strip("\n")
            fenced = Repair(kind="code_fence", before=self.text[: fence[0]].strip(), after="", safety="coerced")
            for fit in self._coerced(code, [fenced]):
                return fit
        return self.verbatim()

    # --- the ways to a value ------------------------------------------------------------------------------------------

    def verbatim(self) -> Fit | None:
        """The text itself without its reasoning, where the type admits it."""
        text, repairs = self._without_reasoning()
        if not self.schema.is_valid(text) or self._is_quoted_name(text.strip()):
            return None
        finished = self.output.finish(text)
        return None if finished.problems else Fit(finished.value, text, repairs)

    def _without_reasoning(self) -> tuple[str, list[Repair]]:
        spans = reasoning_spans(self.text)
        starts = [0, *(span.end for span in spans)]
        ends = [*(span.start for span in spans), len(self.text)]
        kept = "".join(self.text[start:end] for start, end in zip(starts, ends, strict=True))
        notes = [Repair(kind="reasoning", before=[span.start, span.end], after=None) for span in spans]
        return (kept.strip() if spans else kept), notes

    def _is_quoted_name(self, text: str) -> bool:
        """Is it in quotes, and the type one of addresses, dates and the like, which stand in none? They are taken off."""
        if text[:1] not in _QUOTES or text[:1] != text[-1:]:
            return False
        views = [view for view in self.output.branches if "string" in view.types or not view.types]
        return all(names_one_thing(view.format) for view in views)

    def _admits_text_only(self) -> bool:
        """Is text all the type admits? A bare `null` is the null of a type that admits it."""
        types = self.output.types
        return types == _TEXT or (types == _TEXT_OR_NULL and self.text.strip() != "null")

    def _of_value(self, candidate: Candidate) -> Iterator[Fit]:
        if self._is_part(candidate):
            self.problems.append(_Failure(candidate.end - candidate.start, [_part_of(candidate, self.text)]))
            return
        first = list(candidate.repairs)
        if not candidate.alone:
            first.insert(0, made(Repair, kind="found_in_text", before=[candidate.start, candidate.end], after=None))
        value, dropped = without_guessed_keys(candidate.value, first, self.schema)
        size = candidate.end - candidate.start
        for fit in self._coerced(value, [*first, *dropped], candidate.complete, size):
            yield fit._replace(of=candidate)

    def _is_part(self, candidate: Candidate) -> bool:
        """Is a part of something taken for the whole, or does a string of it hold what should be members?"""
        around = self.around
        if around.swallows_members(candidate):
            return True
        left = self.members_left and around.wanted.is_recursive
        return not candidate.alone and (left or around.is_inner(candidate) or around.goes_on(candidate))

    def _leaves_items_out(self, fit: Fit, candidate: Candidate, found: Found) -> bool:
        """Is it an array made of one value where the text holds more that are meant as items, or cannot be read?"""
        if self.around.array is None or not is_list(fit.data) or is_list(candidate.value):
            return False
        others = (other for other in found.values if other is not candidate)
        return found.unread or any(self.around.meant_as_item(other.value) for other in others)

    def _coerced(self, value: Any, first: list[Repair], complete: bool = True, size: int = 0) -> Iterator[Fit]:
        """The value brought into shape, if the strictness admits all that it took. `size`: how much of the text it
        is, for telling about the problems of the largest."""
        unfit = [repair for repair in first if repair.safety not in self.admitted]
        if unfit:
            self.refused += unfit
            return
        if self._enough() and not self.schema.is_valid(value):
            return
        settled = coerce(value, self.schema, strictness=self.strictness, wrapper=self.output.name)
        if settled.problems:
            self.problems.append(_Failure(size, settled.problems))
            return
        finished = self.output.finish(settled.value, settled.repairs)
        if finished.problems:
            self.problems.append(_Failure(size, finished.problems, finished.cause))
        else:
            yield from self._trusted(Fit(finished.value, settled.value, [*first, *settled.repairs], complete), size)

    def _trusted(self, fit: Fit, size: int) -> Iterator[Fit]:
        """The value, if the strictness admits what it says as an answer."""
        echoes = echoes_in(fit.data, self.schema)
        if self._admits(echoes):
            yield fit._replace(repairs=[*fit.repairs, *echoes])
            return
        named = under_another_name(fit.data, self.schema, self.schema.schema, ())
        self.problems.append(_Failure(size, [*named, *map(_echo, echoes)]))

    def _gathered(self, found: Found) -> Iterator[Fit]:
        """Several values as the items of an array type: all that fit, none of those meant as items being left out. A
        single one only where that is `lenient`."""
        candidates = _announced(found.values)
        if self.around.array is None or found.unread or len(found.values) >= MAX_CANDIDATES:
            return
        items = [candidate for candidate in candidates if self._fits_item(candidate)]
        if len(items) < (1 if self.strictness == "lenient" else 2):
            return
        taken = set(map(id, items))
        others = [candidate for candidate in found.values if id(candidate) not in taken]
        if any(self.around.meant_as_item(one.value) for one in candidates if id(one) not in taken):
            return  # an item that does not fit fails its array
        if any(self.around.is_inner(item) or self.around.swallows_members(item) for item in items):
            return
        if any(id(one) not in taken and self.beginnings.begins_item(one) for one in found.begun):
            return  # an item that the end broke off
        safety: Safety = "lossless" if not others and len(items) > 1 else "coerced"
        left_out = [[other.start, other.end] for other in others] or None
        places = [[candidate.start, candidate.end] for candidate in items]
        repairs = [repair for candidate in items for repair in candidate.repairs]
        note = Repair(kind="gathered_items", before=places, after=left_out, safety=safety)
        complete = all(candidate.complete for candidate in items)
        yield from self._coerced([candidate.value for candidate in items], [note, *repairs], complete)

    def _fits_item(self, candidate: Candidate) -> bool:
        return self.around.fits_item(candidate.value, strict=len(self.problems) >= _MAX_FAILURES)

    def _of_texts(self, found: Found) -> Iterator[Fit]:
        """The text, or what stands in its fences, read as the one value it says or names."""
        whole, thoughts = self._without_reasoning()
        texts = [(self.text[start:end], (start, end), list[Repair]()) for start, end in found.fences]
        for text, stretch, notes in [*texts, (whole, (0, len(self.text)), thoughts)]:
            stripped = text.strip()
            if stripped.startswith(("{", "[")):
                continue  # what it holds was found already
            reading = read_json(stripped)  # None, .5, 1_000: other notations of one scalar
            alone = len(reading.values) == 1 and reading.end == len(stripped) and reading.complete and not reading.error
            if alone and not isinstance(reading.values[0], (dict, list)) and stripped[0] != "(":  # (5) is -5 in books
                yield from self._coerced(reading.values[0], [*notes, *reading.repairs])
            inner = _unquoted(stripped)
            first = [] if inner == stripped else [Repair(kind="quotes", before=stripped[:1], after="")]
            for fit in self._coerced(inner, [*notes, *first]):
                guessed = any(repair.safety == "guess" for repair in fit.repairs)
                if not guessed or self._in_words(fit.data, found, stretch):
                    yield fit

    def _in_words(self, data: Any, found: Found, stretch: tuple[int, int]) -> bool:
        """Do the words of a stretch say so by themselves, without the values in it? What was taken back, or does not fit, is
        not to be found again piece by piece."""
        if not found.taken:
            return True
        since, end = stretch
        words = ""
        for start, until in sorted([*found.taken, *((span.start, span.end) for span in found.reasoning)]):
            words += self.text[since : max(since, min(start, end))] + " "
            since = max(since, until)
        settled = coerce(_unquoted((words + self.text[since:end]).strip()), self.schema, strictness=self.strictness)
        return not settled.problems and settled.value == data

    def _enough(self) -> bool:
        """Is what was found so good, or was so much tried in vain, that only a value that fits as it is matters now?"""
        found = len(self.values) > _MAX_FITS and min(trust(fit.repairs) for fit in self.values[:_MAX_FITS]) < _A_GUESS
        return found or len(self.problems) >= _MAX_FAILURES

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _best(self, fits: Sequence[Fit]) -> Fit | None:
        admitted = [fit for fit in fits if self._admits(fit.repairs)]
        best = min(admitted, key=preference, default=None)
        if best is None:
            return None
        doubt = doubt_about(best, admitted, self._meant(best.data), self._becoming, self.text)
        if doubt is None:
            return best
        is_array = is_list(best.data) and self.around.array is not None
        none_is_all = is_array and (doubt.others_fit or doubt.is_begun or not best.data)
        if none_is_all:
            self.problems.append(_Failure(len(self.text), [_several_lists(doubt.rivals)]))
        if doubt.is_begun if none_is_all else not self._admits([doubt.note]):
            self.refused.append(doubt.note)
        refused = none_is_all or not self._admits([doubt.note])
        return None if refused else best._replace(repairs=[*best.repairs, doubt.note])

    def _meant(self, data: Any) -> list[Candidate]:
        """What was meant as a value of the type and does not fit, or cannot be read. A part of something was not."""
        fitting = {id(fit.of) for fit in self.values}
        unfit = [one for one in self.found.values if one.complete and id(one) not in fitting and not self._is_part(one)]
        unreadable = [one for one in self.found.unreadable if type(one.value) is type(data) and self.beginnings.could_become(one)]
        return [*(one for one in unfit if self.around.is_meant(one.value, data)), *unreadable]

    @cached_property
    def _becoming(self) -> list[Candidate]:
        return [one for one in self.found.begun if self.beginnings.could_become(one)]

    def _admits(self, repairs: Sequence[Repair]) -> bool:
        return all(repair.safety in self.admitted for repair in repairs)

    def _worst(self) -> _Failure:
        """Of what the largest candidate failed."""
        return max(self.problems, key=lambda failure: failure.size, default=_Failure(0, []))

    def _error(self, found: Found, problems: Sequence[Problem]) -> OutputParseError:
        if self.refused:
            problems = [_refusal(self.refused, self.strictness), *problems]
        elif not found.values and (unsound := unsound_number(self.text)) is not None:
            problems = [unsound, *problems]
        elif found.unread:
            got = "text that begins like a value and cannot be read"
            if found.limit:
                most = getattr(DEFAULT_LIMITS, found.limit)
                got = f"text that is not read, for it is beyond `Limits.{found.limit}` ({most:,})"
            problems = [Problem(kind="untrusted", expected="sound JSON", got=got, message=f"it holds {got}"), *problems]
        if not problems or (self.refused and len(problems) == 1 and not found.values):
            expected = schema_in_words(self.schema.schema, self.schema.resolve)
            got = shown_value(self.text.strip())
            message = f"the text holds no value of the type: expected {expected}, got {got}"
            problems = [*problems, Problem(kind="no_value", expected=expected, got=got, message=message)]
        return OutputParseError(f"no {self._name()} in the text: {summary(problems)}", list(problems[:MAX_PROBLEMS]), self.text)

    def _name(self) -> str:
        return str(self.output.json_schema.get("title") or schema_in_words(self.schema.schema, self.schema.resolve))


def _announced(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Those that the text names the answer; all, where it does not."""
    return [candidate for candidate in candidates if candidate.announced is LeadIn.ANSWER] or candidates


def _several_lists(number: int) -> Problem:
    got = f"{number} different ones"
    return Problem(kind="untrusted", expected="one list", got=got, message=f"it holds {got}, and no one of them is all of it")


def _part_of(candidate: Candidate, text: str) -> Problem:
    got = f"a part of it: {shown_value(text[candidate.start : candidate.end])}"
    return Problem(kind="untrusted", expected="the whole value", got=got, message=f"brackets around it are missing; it is {got}")


_ECHOES = {
    "placeholder": ("a value of its own", "the placeholder {}"),
    "no_known_key": ("an object with keys of the type", "none of its keys: {}"),
    "misspelt_key": ("no such key", "a key of the type that is misspelt, with {}"),
}


def _echo(repair: Repair) -> Problem:
    expected, got = _ECHOES[repair.kind]
    got = got.format(shown_value(repair.before))
    message = f"`{repair.path}` is {got}" if repair.path else f"it is {got}"
    return Problem(kind="untrusted", path=repair.path, expected=expected, got=got, message=message)


def _refusal(refused: Sequence[Repair], strictness: Strictness) -> Problem:
    worst = max(refused, key=lambda repair: trust([repair]))
    kinds = ", ".join(dict.fromkeys(repair.kind.replace("_", " ") for repair in refused))
    if any(repair.kind == "several_fit" for repair in refused) and worst.safety == "truncated":
        got = "several values, the last of which the end of the text broke off"
        return Problem(kind="incomplete", expected="one whole value", got=got, message=f"it is {got}")
    if worst.safety == "truncated":
        got = "text that ends inside the value"
        return Problem(kind="incomplete", path=worst.path, expected="a whole value", got=got, message=f"it is {got}")
    if worst.kind == "several_fit":
        got = "several different ones, of which none is named the answer"
        return Problem(kind="untrusted", expected="one value", got=got, message=f"it holds {got}")
    got = f"JSON that can only be read by a guess ({kinds}), which strictness={strictness!r} does not admit"
    return Problem(kind="untrusted", path=worst.path, expected="sound JSON", got=got, message=f"it is {got}")


def _unquoted(text: str) -> str:
    """A text without the quotes or back-ticks around it."""
    for quote in _QUOTES:
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1]
    return text


# --- partial ----------------------------------------------------------------------------------------------------------


def _partial(text: str, output: CompiledOutput, strictness: Strictness) -> ParseDetail:
    """The first value that is whole and fits; else what is certain of the one that the text ends in."""
    whole = _Parse(text, output, strictness)
    if (verbatim := whole.plain_text(cut=True)) is not None:
        return ParseDetail(verbatim.value, verbatim.repairs, complete=False)
    found = find_values(text, cut=True)
    candidates = found.values
    best = whole.best_of(found._replace(values=[candidate for candidate in candidates if candidate.complete], begun=()))
    if best is not None:
        return ParseDetail(best.value, [*best.repairs, *output.ignored_keys(best.data, best.value)], candidates)
    last = candidates[-1] if candidates else None
    admitted = _ADMITTED[strictness] | {"truncated"}
    if last is None or last.complete or any(repair.safety not in admitted for repair in last.repairs):
        return ParseDetail(None, candidates=candidates, complete=False)
    data = certain_part(last, output.schema, strictness)
    value = None if data is None else partial_value(data, output)
    return ParseDetail(value, list(last.repairs), candidates, complete=False)
