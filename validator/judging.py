"""Validates the calls of one reply: each call as it may run, and the problems that prevent it."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from llmcore.support.values.copies import updated
from llmcore.types import CompiledTool, Envelope, Repair, ToolCall, ToolSet
from llmcore.types.near_misses import near_miss_sentence
from llmcore.validator.coercion.coercer import Strictness, admits, coerce
from llmcore.validator.coercion.last_resort import repaired_arguments
from llmcore.validator.names import close_names, resolve_name
from llmcore.validator.schema.compiled import CompiledSchema, check_tool_schema
from llmcore.validator.schema.problems import MAX_PROBLEMS, Problem, ProblemKind, cut, shown_value
from llmcore.validator.schema.unsound import unsound_number

__all__ = ["DOUBTFUL_POSITIONS", "CallJudge", "cut_off_problem", "missing_call_problems"]

_MAX_NAMES = 50
_MAX_NEAR_MISSES = 3
DOUBTFUL_POSITIONS = {
    "example_lead_in": "one behind words that introduce an example",
    "words_on_both_sides": "one with words before and behind it on its line",
    "words_behind": "one with words behind it on its line",
    "behind_a_sentence": "one without markers behind a sentence on its line",
    "named_in_a_sentence": "one whose tool is only named in the sentence before it",
    "behind_a_sign": "one without markers behind a list sign, a dash or an arrow",
    "like_html": "one that may be an element of HTML, with words around it",
    "in_a_document": "one that may be an element of an XML document",
    "within_a_sentence": "one within a sentence",
    "two_forms": "one that is written twice, in two formats",
    "between_sentences": "one that the sentences around it talk about",
    "fence_between_sentences": "one in a fence between two texts",
    "in_list_of_tools": "one in the tags that hold a list of tools",
    "within_value": "one that may be what a value of the call before it says",
}
"""Guesses about where the call stands, not about its arguments."""
_GUESS_TEXTS = {
    "parameter_repeated": ("one value", "several: {} was given twice"),
    "duplicate_key": ("one value", "several: {} was given twice"),
    "placeholder": ("a value", "a placeholder: {} was not filled in"),
    "bare_word": ("a literal value", "a word without quotes, perhaps a variable: {}"),
    "only_parameter": ("arguments with their names", "text without a name: it was taken for {}"),
    "expression": ("a literal value", "an expression: {} is not worked out"),
    "joined_strings": ("one text", "texts in a row: {} was joined of them"),
    "positional": ("arguments with their names", "values without names"),
    "assigned": ("a call alone", "one whose result is given a name, as in a program"),
    "after_invented_result": (
        "calls before their results",
        "a call behind a result, or in another speaker's turn, that you made up",
    ),
    "windows_path": ("backslashes written twice", "single ones: {} was taken for a path of Windows"),
    "arguments_renamed": ("arguments under `arguments`", "them under another key"),
    "index_gap": ("items counted without a gap", "a gap: items of {} are missing"),
    "items_of_several_names": ("items of one name", "items of several names in {}"),
    "text_for_yaml": ("YAML", "text that is none: {} was cut at the known keys"),
    "closer_missing": ("a closer behind each value", "none: where {} ends cannot be told"),
    "literal_joined": ("a literal alone", "a literal with markup beside it in {}"),
    "holds_call": ("values without calls", "a whole call in {}"),
    "names_differ": ("one tool's name", "two: the header and the body name different tools"),
    "damaged_markup": ("names and values without markup", "what is left of a tag, a quotation mark or a name in {}"),
    "text_dropped": ("arguments only", "text beside them that belongs to no parameter"),
}
"""For each kind of guess, what was expected and what the model gave. `{}` is the parameter."""


_compiled: WeakKeyDictionary[ToolSet, dict[str, CompiledSchema]] = WeakKeyDictionary()


def _schema_of(tool: CompiledTool, tools: ToolSet) -> CompiledSchema:
    schemas = _compiled.setdefault(tools, {})
    if tool.name not in schemas:
        schemas[tool.name] = check_tool_schema(tool.definition.parameters, tool.name)
    return schemas[tool.name]


class CallJudge:
    """Validates the calls of one reply. It remembers whether `json_repair` was used."""

    def __init__(self, tools: ToolSet | None, strictness: Strictness, *, may_repair: bool) -> None:
        self.tools, self.may_repair = tools, may_repair
        self.strictness: Strictness = strictness

    def call(self, index: int, call: ToolCall) -> tuple[ToolCall, list[Problem]]:
        """Return the call as it may run, and the problems that prevent it."""
        tool = None
        if self.tools is not None:
            call, tool = self._resolved(call, self.tools)
            if tool is None:
                return call, [_unknown_tool_problem(index, call, self.tools)]
        if not call.complete:
            return call, [_problem(index, call, "incomplete", "a whole call", "one that was cut off", "the call was cut off")]
        call = self._with_repaired_arguments(call, tool)
        if call.arguments is None:
            return call, [_unreadable_problem(index, call)]
        problems: list[Problem] = []
        if tool is not None and self.tools is not None:
            call, problems = self._coerced(index, call, tool, _schema_of(tool, self.tools))
        return call, problems or self._trust_problems(index, call, tool)

    def _resolved(self, call: ToolCall, tools: ToolSet) -> tuple[ToolCall, CompiledTool | None]:
        name = call.name if call.name in tools or self.strictness == "off" else resolve_name(call.name, tools.names)
        tool = tools.get(name) if name is not None else None
        if tool is None or tool.name == call.name:
            return call, tool
        repair = Repair(kind="tool_name", before=call.name, after=tool.name, safety="coerced")
        return updated(call, {"name": tool.name, "known": True, "repairs": [*call.repairs, repair]}), tool

    def _with_repaired_arguments(self, call: ToolCall, tool: CompiledTool | None) -> ToolCall:
        """The call with arguments from `json_repair`, if nothing else could be read and a guess may run."""
        if call.arguments is not None or tool is None or not self.may_repair or not self._admits("guess", tool):
            return call
        self.may_repair = False
        found = repaired_arguments(call.raw_arguments, tool)
        if found is None:
            return call
        return updated(call, {"arguments": found[0], "repairs": [*call.repairs, found[1]]})

    def _coerced(self, index: int, call: ToolCall, tool: CompiledTool, schema: CompiledSchema) -> tuple[ToolCall, list[Problem]]:
        coerced = coerce(call.arguments, schema, strictness=self.strictness, wrapper=tool.name)
        if coerced.repairs:
            repairs = [*call.repairs, *_with_doubtful_sums(coerced.repairs, call.repairs)]
            call = updated(call, {"arguments": coerced.value, "repairs": repairs})
        located = [updated(problem, {"call": index, "tool": tool.name}) for problem in coerced.problems]
        return call, located[:MAX_PROBLEMS]

    def _admits(self, safety: str, tool: CompiledTool | None) -> bool:
        if safety == "guess":
            return self.strictness != "off" and tool is not None and tool.definition.read_only
        return safety == "lossless" or (safety == "coerced" and admits(self.strictness, "safe"))

    def _trust_problems(self, index: int, call: ToolCall, tool: CompiledTool | None) -> list[Problem]:
        refused = [repair for repair in call.repairs if not self._admits(repair.safety, tool)]
        if not refused:
            return []
        if refused[0].kind in DOUBTFUL_POSITIONS:
            doubt = DOUBTFUL_POSITIONS[refused[0].kind]
            return [_problem(index, call, "doubtful", "a call that stands alone, if it is meant", doubt, f"it is {doubt}")]
        return [_guess_problem(index, call, refused[0])]


def _with_doubtful_sums(repairs: Sequence[Repair], before: Sequence[Repair]) -> list[Repair]:
    """The repairs, where text made from a computed sum is a guess: the model may have meant `1/2` as it is written."""
    sums = [repair.after for repair in before if repair.kind == "arithmetic"]
    return [
        updated(repair, {"safety": "guess"}) if repair.kind == "text_from_scalar" and repair.before in sums else repair
        for repair in repairs
    ]


def _guess_problem(index: int, call: ToolCall, repair: Repair) -> Problem:
    """Why a repair prevents the call, in words that help the model."""
    parameter = f"`{cut(repair.path, 80)}`" if repair.path else "a parameter"
    if repair.safety == "guess" and repair.kind in _GUESS_TEXTS:
        expected, got = _GUESS_TEXTS[repair.kind]
        got = got.replace("{}", parameter)
        return _problem(index, call, "untrusted", expected, got, f"it gives {got}", repair.path)
    place = f" at {parameter}" if repair.path else ""
    got = f"arguments that had to be repaired: {repair.kind.replace('_', ' ')} ({repair.safety}){place}"
    return _problem(index, call, "untrusted", "arguments that need no guess", got, got, repair.path)


def _problem(index: int, call: ToolCall, kind: ProblemKind, expected: str, got: str, message: str, path: str = "") -> Problem:
    return Problem(kind=kind, path=path, expected=expected, got=got, message=message, call=index, tool=call.name)


def _unreadable_problem(index: int, call: ToolCall) -> Problem:
    got = shown_value(call.raw_arguments) if call.raw_arguments.strip() else "nothing"
    if (unsound := unsound_number(call.raw_arguments)) is not None:
        got = f"{unsound.got} where a finite number must stand{f', at `{unsound.path}`' if unsound.path else ''}"
    message = f"the arguments of `{cut(call.name, 80)}` could not be read as a JSON object: {got}"
    return _problem(index, call, "unreadable_arguments", "arguments that are a JSON object", got, message)


def _unknown_tool_problem(index: int, call: ToolCall, tools: ToolSet) -> Problem:
    names = [tool.name for tool in tools]
    listed = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
    near = close_names(call.name, names)
    hint = f", did you mean `{near[0]}`?" if near else ""
    return Problem(
        kind="unknown_tool",
        expected=f"the name of a tool ({listed})" if names else "no call, for there are no tools",
        got=f"`{cut(call.name, 80)}`{hint}",
        message=f"there is no tool `{cut(call.name, 80)}`{hint}",
        call=index,
        tool=call.name,
        choices=near or names[:_MAX_NAMES],
    )


def cut_off_problem() -> Problem:
    """The problem of a reply that ended inside a call without a known name, or before its answer."""
    got = "a reply that was cut off"
    return Problem(kind="incomplete", expected="a whole reply", got=got, message="the reply was cut off")


def missing_call_problems(envelope: Envelope, expected: str) -> list[Problem]:
    """The problems of a reply without the required call: its near misses, else that there is no call."""
    misses: Sequence[Problem] = [
        Problem(
            kind="near_miss",
            expected=expected,
            got=f"text that looks like one but is none. {near_miss_sentence(miss.reason)}",
            message=f"text that looks like a call is none: {near_miss_sentence(miss.reason)}",
            tool=miss.name,
        )
        for miss in envelope.near_misses[:_MAX_NEAR_MISSES]
    ]
    words = Problem(kind="no_call", expected=expected, got="words only", message="a tool call was required")
    return [*misses] or [words]
