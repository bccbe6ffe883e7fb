"""Typed output from any text: finds the values in it, converts them to the output type, and returns the best.

Rules
- Valid JSON that fits is used unchanged. Every other step is recorded as a repair. `strictness` bounds the repairs of the JSON
  and the coercion of the value (see `coercion`): `off` admits lossless repairs, `safe` also coerced ones, `lenient` also guesses
  and truncated values.
- If a text holds several values, an array type uses all that fit as its items. Any other type uses the value that the text
  introduces as the answer, else the most trusted one, the first of equals. If the choice is not certain, it is a `guess` (see
  `choosing`). Values in reasoning, and those after a lead-in that denies them or marks an example, do not count (see
  `candidates`).
- A value that fits but only repeats the form, or is about something else, is a `guess` (see `echoes`).
- No array is shortened: if one item does not fit, the array fails. Two different lists never become one list.
- If a stretch cannot be read, or a value continues after its last bracket, no part of it counts as the whole.
- The end of the text may cut off another value that could have fitted (see `unfinished`). Then only `lenient` accepts the
  complete value, and never for an array.
- A plain text type uses the text as it is, without reasoning and without a code fence around all of it. Other scalars may stand
  in JSON, in a fence or, with `lenient`, in prose.
- `off` and `safe` refuse a text that ends inside the value. `lenient` closes what is open. `partial` omits what is not certain,
  so no number, enum or literal appears half.

Parsing is deterministic and does no I/O. It is linear in the text, apart from the budgets of the readers and the validator.
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
from llmcore.validator.coercion.coercer import Strictness, coerce, trust, wrapper_key_problems
from llmcore.validator.coercion.conversions import check_strictness
from llmcore.validator.output.candidates import MAX_CANDIDATES, Candidate, Found, find_values, only_fence, stands_alone
from llmcore.validator.output.choosing import Fit, doubt_about, preference
from llmcore.validator.output.echoes import echoes_in
from llmcore.validator.output.guessed_keys import without_guessed_keys
from llmcore.validator.output.lead_ins import LeadIn
from llmcore.validator.output.output_types import CompiledOutput, compile_output
from llmcore.validator.output.partial import certain_part, partial_value
from llmcore.validator.output.surroundings import Surroundings
from llmcore.validator.output.unfinished import UnfinishedValues
from llmcore.validator.schema.compiled import CompiledSchema
from llmcore.validator.schema.formats import is_identifier_format
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
_GUESS_COST = 100
_QUOTES = ('"', "'", "`")
_CLOSERS = ("}", "]")  # text behind a quote may make the quoted words a part of a longer text
_MAX_FITS = 20
_MAX_FAILURES = 100
"""After so many candidates, only a value that fits unchanged is still considered, since each coercion takes milliseconds."""


@dataclass(frozen=True, slots=True)
class ParseDetail(Generic[V]):
    """A typed value and how it was found.

    `repairs` lists every repair. `candidates` lists every value of the text; it is empty if the text itself is the value.
    `complete` is False if the text ended inside the value. `closed` is True if the value ends with its own bracket and is all
    that the text says, apart from reasoning, a fence and a lead-in. If a limit cut the reply, only a closed value is certain
    to be whole.
    """

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
    """Return the value of `output_type` that `text` holds.

    `output_type` is anything that `pydantic.TypeAdapter` accepts, or a JSON Schema dict, whose value is plain JSON data.

    If `partial`, the text may still be arriving, and the value holds only what is certain. Missing keys are absent from
    dicts, and are None or the default in models. The value is None while nothing is certain.

    Raises `OutputParseError` with `problems`, best candidate first, if no value fits. Raises `CallerError` for an unusable
    output type.
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
    """Do the same as `parse`, and return a `ParseDetail`."""
    output = _checked(text, output_type, strictness, partial=partial)
    return _partial(text, output, strictness) if partial else _Parse(text, output, strictness).run()


def _checked(text: object, output_type: Any, strictness: Strictness, *, partial: object) -> CompiledOutput:
    """The compiled output type. Raises `CallerError` or `ConfigError` for invalid arguments."""
    check_strictness(strictness)
    if not isinstance(text, str):
        raise CallerError(f"parse takes a text, got {type(text).__name__}; give the reply's `content`")
    if partial is not True and partial is not False:
        raise ConfigError(f"parse: `partial` must be True or False, not {type(partial).__name__}")
    return compile_output(output_type)


def whole_text(text: str, output_type: Any) -> ParseDetail | None:
    """The text without its reasoning, if the type accepts it unchanged; else None."""
    fit = _Parse(text, compile_output(output_type), "off").verbatim()
    return None if fit is None else ParseDetail(fit.value, fit.repairs)


@with_readable_errors
def json_schema(output_type: Any) -> JsonSchema:
    """Return the JSON Schema of an output type, as the model receives it. A dict is returned unchanged. Raises `CallerError`."""
    return compile_output(output_type).json_schema


class _Failure(NamedTuple):
    """Why a candidate of `size` characters does not fit. `cause` is the exception of the type's own code, if any."""

    size: int
    problems: Sequence[Problem]
    cause: BaseException | None = None


class _Parse:
    """Parses one text as one type."""

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
        self.around = Surroundings(text, output.shape, strictness)
        self.beginnings = UnfinishedValues(text, self.around)

    def run(self) -> ParseDetail:
        best = self.chosen()
        repairs = [*best.repairs, *self.output.ignored_keys(best.data, best.value)]
        return ParseDetail(best.value, repairs, self.found.values, best.complete, self._is_closed(best))

    def chosen(self) -> Fit:
        """The chosen value. Raises `OutputParseError` if there is none."""
        if (verbatim := self.plain_text()) is not None:
            return verbatim
        found = find_values(self.text, cut=False)
        best = self.best_of(found) or self.verbatim() or self._best([*self.values, *self._fits_of_texts(found)])
        if best is None:
            worst = self._largest_failure()
            raise self._error(found, worst.problems) from worst.cause
        return best

    def _is_closed(self, fit: Fit) -> bool:
        if fit.candidate is None or (is_list(fit.data) and not is_list(fit.candidate.value)):  # more items may follow
            return False
        if any(repair.kind == "several_fit" and repair.safety == "truncated" for repair in fit.repairs):
            return False
        is_alone = stands_alone(self.text, fit.candidate.start, fit.candidate.end)
        return is_alone and fit.complete and self.text[fit.candidate.start : fit.candidate.end].endswith(_CLOSERS)

    def best_of(self, found: Found) -> Fit | None:
        """The best fit among the values, or several values as the items of an array."""
        whole: list[Fit] = []
        self.members_left, self.found = found.members_left, found
        if any(self.around.lists_items(candidate) for candidate in found.values):
            found = found._replace(unread=True)  # values beside a list of items are not all of them
        for candidate in found.values:
            fits = [fit for fit in self._fits_of_value(candidate) if not self._leaves_items_out(fit, candidate, found)]
            self.values += fits
            whole += [fit for fit in fits if isinstance(fit.data, (dict, list)) or not fit.repairs]
        return self._best([*whole, *self._gathered(found)])

    def plain_text(self, *, cut: bool = False) -> Fit | None:
        """The text itself, if the type allows only text. If `cut`, the text may continue."""
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
        """The text itself without its reasoning, if the type accepts it."""
        text, repairs = self._without_reasoning()
        if not self.schema.is_valid(text) or self._is_quoted_name(text.strip()):
            return None
        finished = self.output.finish(text)
        return None if finished.problems else Fit(finished.value, text, repairs)

    def _without_reasoning(self) -> tuple[str, list[Repair]]:
        spans = reasoning_spans(self.text)
        starts = [0, *(span.end for span in spans)]
        ends = [*(span.start for span in spans), len(self.text)]
        text = "".join(self.text[start:end] for start, end in zip(starts, ends, strict=True))
        notes = [Repair(kind="reasoning", before=[span.start, span.end], after=None) for span in spans]
        return (text.strip() if spans else text), notes

    def _is_quoted_name(self, text: str) -> bool:
        """Whether the text is in quotes although the type is an address, a date or the like. The quotes are then removed."""
        if text[:1] not in _QUOTES or text[:1] != text[-1:]:
            return False
        views = [view for view in self.output.branches if "string" in view.types or not view.types]
        return all(is_identifier_format(view.format) for view in views)

    def _admits_text_only(self) -> bool:
        """Whether the type allows only text. A bare `null` is the null of a type that allows it."""
        types = self.output.types
        return types == _TEXT or (types == _TEXT_OR_NULL and self.text.strip() != "null")

    def _fits_of_value(self, candidate: Candidate) -> Iterator[Fit]:
        if self._is_part(candidate):
            self.problems.append(_Failure(candidate.end - candidate.start, [_part_problem(candidate, self.text)]))
            return
        first = list(candidate.repairs)
        if not candidate.alone:
            first.insert(0, made(Repair, kind="found_in_text", before=[candidate.start, candidate.end], after=None))
        value, dropped = without_guessed_keys(candidate.value, first, self.schema)
        size = candidate.end - candidate.start
        for fit in self._coerced(value, [*first, *dropped], candidate.complete, size):
            yield fit._replace(candidate=candidate)

    def _is_part(self, candidate: Candidate) -> bool:
        """Whether the value is only a part of something, or a string in it contains what should be members."""
        around = self.around
        if around.string_holds_members(candidate):
            return True
        left = self.members_left and around.shape.is_recursive
        return not candidate.alone and (left or around.is_nested(candidate) or around.continues_after_end(candidate))

    def _leaves_items_out(self, fit: Fit, candidate: Candidate, found: Found) -> bool:
        """Whether the value became an array of one item although the text holds other items or unreadable stretches."""
        if self.around.array is None or not is_list(fit.data) or is_list(candidate.value):
            return False
        others = (other for other in found.values if other is not candidate)
        return found.unread or any(self.around.is_intended_item(other.value) for other in others)

    def _coerced(self, value: Any, first: list[Repair], complete: bool = True, size: int = 0) -> Iterator[Fit]:
        """The value converted to the type, if the strictness admits every repair.

        `size` is the value's length in the text. The error reports the problems of the largest value.
        """
        unfit = [repair for repair in first if repair.safety not in self.admitted]
        if unfit:
            self.refused += unfit
            return
        if self._is_exhausted() and not self.schema.is_valid(value):
            return
        coerced = coerce(value, self.schema, strictness=self.strictness, wrapper=self.output.name)
        if coerced.problems:
            self.problems.append(_Failure(size, coerced.problems))
            return
        finished = self.output.finish(coerced.value, coerced.repairs)
        if finished.problems:
            self.problems.append(_Failure(size, finished.problems, finished.cause))
        else:
            yield from self._trusted(Fit(finished.value, coerced.value, [*first, *coerced.repairs], complete), size)

    def _trusted(self, fit: Fit, size: int) -> Iterator[Fit]:
        """The fit, if the strictness admits it as an answer although it may be an echo."""
        echoes = echoes_in(fit.data, self.schema)
        if self._admits(echoes):
            yield fit._replace(repairs=[*fit.repairs, *echoes])
            return
        named = wrapper_key_problems(fit.data, self.schema, self.schema.schema, ())
        self.problems.append(_Failure(size, [*named, *map(_echo_problem, echoes)]))

    def _gathered(self, found: Found) -> Iterator[Fit]:
        """Several values as the items of an array type: all that fit, if no intended item is left out."""
        candidates = _announced(found.values)
        if self.around.array is None or found.unread or len(found.values) >= MAX_CANDIDATES:
            return
        items = [candidate for candidate in candidates if self._fits_item(candidate)]
        if len(items) < 2:
            return
        item_ids = set(map(id, items))
        others = [candidate for candidate in found.values if id(candidate) not in item_ids]
        if any(self.around.is_intended_item(one.value) for one in candidates if id(one) not in item_ids):
            return  # an item that does not fit fails its array
        if any(self.around.is_nested(item) or self.around.string_holds_members(item) for item in items):
            return
        if any(id(one) not in item_ids and self.beginnings.could_be_item(one) for one in found.begun):
            return  # the end cut off an item
        safety: Safety = "lossless" if not others and len(items) > 1 else "coerced"
        left_out = [[other.start, other.end] for other in others] or None
        places = [[candidate.start, candidate.end] for candidate in items]
        repairs = [repair for candidate in items for repair in candidate.repairs]
        note = Repair(kind="gathered_items", before=places, after=left_out, safety=safety)
        complete = all(candidate.complete for candidate in items)
        yield from self._coerced([candidate.value for candidate in items], [note, *repairs], complete)

    def _fits_item(self, candidate: Candidate) -> bool:
        return self.around.fits_item(candidate.value, strict=len(self.problems) >= _MAX_FAILURES)

    def _fits_of_texts(self, found: Found) -> Iterator[Fit]:
        """The text, or the text of a fence, as the one value that it states."""
        whole, thoughts = self._without_reasoning()
        texts = [(self.text[start:end], (start, end), list[Repair]()) for start, end in found.fences]
        for text, stretch, notes in [*texts, (whole, (0, len(self.text)), thoughts)]:
            stripped = text.strip()
            if stripped.startswith(("{", "[")):
                continue  # its values were found already
            reading = read_json(stripped)  # None, .5, 1_000: other notations of one scalar
            alone = len(reading.values) == 1 and reading.end == len(stripped) and reading.complete and not reading.error
            if alone and not isinstance(reading.values[0], (dict, list)) and stripped[0] != "(":  # (5) is -5 in books
                yield from self._coerced(reading.values[0], [*notes, *reading.repairs])
            inner = _unquoted(stripped)
            if alone and isinstance(reading.values[0], str) and reading.values[0] != inner:
                continue  # the inner text still has the escapes of JSON
            first = [] if inner == stripped else [Repair(kind="quotes", before=stripped[:1], after="")]
            for fit in self._coerced(inner, [*notes, *first]):
                guessed = any(repair.safety == "guess" for repair in fit.repairs)
                if not guessed or self._in_words(fit.data, found, stretch):
                    yield fit

    def _in_words(self, data: Any, found: Found, stretch: tuple[int, int]) -> bool:
        """Whether the prose of a stretch, without the values in it, states the same value.

        Values that were withdrawn or do not fit must not be found again piece by piece.
        """
        if not found.occupied:
            return True
        since, end = stretch
        words = ""
        for start, until in sorted([*found.occupied, *((span.start, span.end) for span in found.reasoning)]):
            words += self.text[since : max(since, min(start, end))] + " "
            since = max(since, until)
        coerced = coerce(_unquoted((words + self.text[since:end]).strip()), self.schema, strictness=self.strictness)
        return not coerced.problems and coerced.value == data

    def _is_exhausted(self) -> bool:
        """Whether enough good fits or failures were seen, so that only a value that fits unchanged is still considered."""
        found = len(self.values) > _MAX_FITS and min(trust(fit.repairs) for fit in self.values[:_MAX_FITS]) < _GUESS_COST
        return found or len(self.problems) >= _MAX_FAILURES

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _best(self, fits: Sequence[Fit]) -> Fit | None:
        admitted = [fit for fit in fits if self._admits(fit.repairs)]
        best = min(admitted, key=preference, default=None)
        if best is None:
            return None
        doubt = doubt_about(best, admitted, self._intended(best.data), self._unfinished, self.text)
        if doubt is None:
            return best
        is_array = is_list(best.data) and self.around.array is not None
        none_is_all = is_array and (doubt.others_fit or doubt.is_begun or not best.data)
        if none_is_all:
            self.problems.append(_Failure(len(self.text), [_several_lists_problem(doubt.rivals)]))
        if doubt.is_begun if none_is_all else not self._admits([doubt.note]):
            self.refused.append(doubt.note)
        refused = none_is_all or not self._admits([doubt.note])
        return None if refused else best._replace(repairs=[*best.repairs, doubt.note])

    def _intended(self, data: Any) -> list[Candidate]:
        """Values that were meant as values of the type but do not fit or cannot be read. Parts of something do not count."""
        fitting = {id(fit.candidate) for fit in self.values}
        unfit = [one for one in self.found.values if one.complete and id(one) not in fitting and not self._is_part(one)]
        unreadable = [one for one in self.found.unreadable if type(one.value) is type(data) and self.beginnings.could_fit(one)]
        return [*(one for one in unfit if self.around.is_intended(one.value, data)), *unreadable]

    @cached_property
    def _unfinished(self) -> list[Candidate]:
        return [one for one in self.found.begun if self.beginnings.could_fit(one)]

    def _admits(self, repairs: Sequence[Repair]) -> bool:
        return all(repair.safety in self.admitted for repair in repairs)

    def _largest_failure(self) -> _Failure:
        return max(self.problems, key=lambda failure: failure.size, default=_Failure(0, []))

    def _error(self, found: Found, problems: Sequence[Problem]) -> OutputParseError:
        if self.refused:
            problems = [_refusal_problem(self.refused, self.strictness), *problems]
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
    """The candidates that the text introduces as the answer; all, if it introduces none."""
    return [candidate for candidate in candidates if candidate.announced is LeadIn.ANSWER] or candidates


def _several_lists_problem(number: int) -> Problem:
    got = f"{number} different ones"
    return Problem(kind="untrusted", expected="one list", got=got, message=f"it holds {got}, and no one of them is all of it")


def _part_problem(candidate: Candidate, text: str) -> Problem:
    got = f"a part of it: {shown_value(text[candidate.start : candidate.end])}"
    return Problem(kind="untrusted", expected="the whole value", got=got, message=f"brackets around it are missing; it is {got}")


_ECHOES = {
    "placeholder": ("a value of its own", "the placeholder {}"),
    "no_known_key": ("an object with keys of the type", "none of its keys: {}"),
    "misspelt_key": ("no such key", "a key of the type that is misspelt, with {}"),
}


def _echo_problem(repair: Repair) -> Problem:
    expected, got = _ECHOES[repair.kind]
    got = got.format(shown_value(repair.before))
    message = f"`{repair.path}` is {got}" if repair.path else f"it is {got}"
    return Problem(kind="untrusted", path=repair.path, expected=expected, got=got, message=message)


def _refusal_problem(refused: Sequence[Repair], strictness: Strictness) -> Problem:
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
    """The text without quotes or back-ticks around it."""
    for quote in _QUOTES:
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1]
    return text


# --- partial ----------------------------------------------------------------------------------------------------------


def _partial(text: str, output: CompiledOutput, strictness: Strictness) -> ParseDetail:
    """The first complete value that fits, else the certain part of the value in which the text ends."""
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
