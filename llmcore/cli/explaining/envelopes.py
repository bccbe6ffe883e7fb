"""Explains an envelope: the place, dialect and repairs of each call, and the reason of each near miss."""

from __future__ import annotations

from collections.abc import Iterator

from llmcore.cli.output import as_json_text, shortened_line
from llmcore.normalizer.trust.lead_ins import kind_of, sentence_before
from llmcore.types import Envelope, NearMiss, Repair, ToolCall, ToolSet
from llmcore.types.near_misses import near_miss_sentence

__all__ = ["explanation", "repair_line"]

_EXCERPT = 160


def explanation(envelope: Envelope, tools: ToolSet | None) -> str:
    """The explanation, several lines. If the tools are known, it includes the validator's verdict."""
    lines: list[str] = []
    for index, call in enumerate(envelope.tool_calls):
        lines += [f"call {index}: {shortened_line(call.name)} {shortened_line(call.arguments)}", *_about(call, envelope.source)]
    if not envelope.tool_calls:
        lines.append("no call")
    for miss in envelope.near_misses:
        lines += _about_miss(miss, envelope.source)
    if tools is not None and envelope.tool_calls:
        lines += _about_validation(envelope, tools)
    lines += [f"repair of the reply: {repair_line(repair)}" for repair in envelope.repairs]
    return "\n".join([*lines, *_about_the_rest(envelope)])


def _about_validation(envelope: Envelope, tools: ToolSet) -> Iterator[str]:
    from llmcore.validator import validate_calls

    report = validate_calls(envelope, tools)
    for index, (written, call) in enumerate(zip(envelope.tool_calls, report.calls, strict=True)):
        found = [str(problem) for problem in report.problems if problem.call == index]
        verdict = "may not run" if found else "may run"
        yield f"validation of call {index}: {verdict}"
        yield from (f"  problem     {shortened_line(problem)}" for problem in found)
        yield from (f"  repair      {repair_line(repair)}" for repair in call.repairs[len(written.repairs) :])
        if (call.name, call.arguments) != (written.name, written.arguments):
            yield f"  runs as     {shortened_line(call.name)} {shortened_line(call.arguments)}"


def _about(call: ToolCall, source: str) -> Iterator[str]:
    yield f"  dialect     {call.dialect}{_place(call.span)}"
    yield f"  known tool  {_yes_no(call.known)}"
    if not call.complete:
        yield "  complete    no: the input ended inside, so it never runs"
    if call.arguments is None:
        yield f"  arguments   could not be read from {shortened_line(call.raw_arguments, _EXCERPT)}"
    yield from (f"  repair      {repair_line(repair)}" for repair in call.repairs)
    if call.span is not None:
        yield f"  excerpt     {_excerpt(source, call.span)}"


def _about_miss(miss: NearMiss, source: str) -> Iterator[str]:
    name = shortened_line(miss.name or "no name")
    yield f"near miss: {name}: {shortened_line(miss.reason)}{_place(miss.span)}; kept as content"
    yield f"  why         {shortened_line(near_miss_sentence(miss.reason), _EXCERPT)}"
    if words := _deciding(miss, source):
        yield f"  words       {shortened_line(words, _EXCERPT)}"
    yield f"  excerpt     {_excerpt(source, miss.span)}"


def _deciding(miss: NearMiss, source: str) -> str:
    """The words that made it a near miss, if any: the sentence before it, the text before it on its line, or, if it is
    quoted, the line above."""
    start = miss.span[0]
    if miss.reason == "example":
        words = sentence_before(source, 0, start)
        return words if kind_of(words) is not None else ""
    if miss.reason not in ("quoted", "mid_line"):
        return ""
    line = source[source.rfind("\n", 0, start) + 1 : start].strip()
    above = source[:start].rstrip().rpartition("\n")[2].strip()
    return line or (above if miss.reason == "quoted" else "")


def _about_the_rest(envelope: Envelope) -> Iterator[str]:
    yield f"content: {len(envelope.content)} characters, reasoning: {len(envelope.reasoning)}"
    if envelope.finish_reason or envelope.finish_word:
        word = shortened_line(envelope.finish_word or "none")
        yield f"finish reason: {envelope.finish_reason or 'none'} (the provider's word: {word})"
    if envelope.truncated:
        yield "truncated: the reply ended inside a call"


def repair_line(repair: Repair) -> str:
    """A repair in one line: its kind, safety and place, and what changed."""
    where = f" at {shortened_line(repair.path)}" if repair.path else ""
    change = ""
    if repair.before is not None or repair.after is not None:
        change = f": {_quoted(repair.before)} -> {_quoted(repair.after)}"
    return f"{repair.kind} ({repair.safety}){where}{change}"


def _quoted(value: object) -> str:
    """The value as JSON, so that the text "3" differs from the number."""
    return shortened_line(as_json_text(value), _EXCERPT)


def _place(span: tuple[int, int] | None) -> str:
    return f", characters {span[0]}-{span[1]}" if span else ""


def _excerpt(source: str, span: tuple[int, int]) -> str:
    return shortened_line(source[span[0] : span[1]], _EXCERPT)


def _yes_no(known: bool | None) -> str:
    return "unknown: no tools were given" if known is None else "yes" if known else "no"
