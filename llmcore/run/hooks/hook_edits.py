"""What a hook changed, and all that repeats it made to agree: so that nothing it took out is sent, stored or recorded.

Rule: a part that the hook changed counts; a part that it left follows the ones that it changed. Of a reply the parts are
its text, reasoning, calls and blocks; of an outcome its content, value and error. What cannot follow goes: the source
text, spans, signatures, the values in repairs.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llmcore.run.results.history import use_block
from llmcore.support.values.copies import copied, updated
from llmcore.tools.results.outcome import Outcome
from llmcore.tools.results.rendering import UnwritableResult, rendered
from llmcore.types import (
    Block,
    Envelope,
    ImageBlock,
    NearMiss,
    ProviderBlock,
    RedactedThinkingBlock,
    Repair,
    Segment,
    TerminateLoop,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = [
    "OutcomeBefore",
    "answered",
    "consistent_outcome",
    "consistent_reply",
    "rebuilt_envelope",
    "restated",
    "same_call",
    "without_values",
]

# --- replies ----------------------------------------------------------------------------------------------------------


def consistent_reply(before: Envelope, changed: Envelope, blocks: Sequence[Block]) -> Envelope:
    """The reply `before` as a hook left it: its fields in `changed`, its blocks in `blocks`."""
    changed = _following(before, changed, blocks)
    calls = [call if _is_one_of(call, before.tool_calls) else restated(call) for call in changed.tool_calls]
    content, reasoning = _to_say(before.content, changed.content), _to_say(before.reasoning, changed.reasoning)
    if content is None and reasoning is None and calls == before.tool_calls and _data(blocks) == _data(before.blocks):
        return changed.attach(before.source, lambda: before.segments, blocks)
    made, dropped = _consistent_blocks(
        _honest(blocks, before.blocks),
        None if _wrote_into_blocks(_text_in, content, blocks, before) else content,
        None if _wrote_into_blocks(_thoughts_in, reasoning, blocks, before) else reasoning,
        calls,
    )
    if before.tool_calls and not calls and before.needs_more_work == changed.needs_more_work:
        changed = updated(changed, {"needs_more_work": None})  # it was so for the sake of the calls
    notes = [Repair(kind="opaque_parts_dropped", before=dropped)] if dropped else []
    return rebuilt_envelope(changed, calls, made, notes)


def rebuilt_envelope(
    envelope: Envelope, calls: Sequence[ToolCall], blocks: Sequence[Block], notes: Iterable[Repair] = ()
) -> Envelope:
    """The envelope with these calls and blocks, and without what else told of those that it had."""
    source = envelope.content
    end = len(source)
    changes: dict[str, Any] = {
        "tool_calls": [updated(call, {"span": None}) for call in calls],
        "near_misses": [NearMiss(span=(end, end), name=miss.name, reason=miss.reason) for miss in envelope.near_misses],
        "repairs": [*without_values(envelope.repairs), *notes],
    }
    segments = [Segment(0, end, "content")] if source else []
    return updated(envelope, changes).attach(source, segments, blocks)


def _to_say(before: str, after: str) -> str | None:
    return None if before == after else after


def _wrote_into_blocks(
    said_in: Callable[[Iterable[Block]], str], words: str | None, blocks: Sequence[Block], before: Envelope
) -> bool:
    """Did the hook write these words into the blocks itself?"""
    said = said_in(blocks)
    return words == said and said != said_in(before.blocks)


def _text_in(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


def _thoughts_in(blocks: Iterable[Block]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, ThinkingBlock))


_SAID_IN: dict[str, Callable[[Iterable[Block]], str]] = {"content": _text_in, "reasoning": _thoughts_in}


def _following(before: Envelope, changed: Envelope, blocks: Sequence[Block]) -> Envelope:
    """The fields, those that were left as the changed blocks have them."""
    changes: dict[str, Any] = {
        field: said_in(blocks)
        for field, said_in in _SAID_IN.items()
        if getattr(changed, field) == getattr(before, field) and said_in(blocks) != said_in(before.blocks)
    }
    uses, shown = _uses(blocks), _uses(before.blocks)
    if _data(uses) != _data(shown) and _shown_calls(changed.tool_calls) == _shown_calls(before.tool_calls):
        changes["tool_calls"] = _calls_of(uses, changed.tool_calls, {use.id for use in shown})
    return updated(changed, changes) if changes else changed


def _uses(blocks: Iterable[Block]) -> list[ToolUseBlock]:
    return [block for block in blocks if isinstance(block, ToolUseBlock)]


def _calls_of(uses: Sequence[ToolUseBlock], calls: Sequence[ToolCall], had_blocks: set[str]) -> list[ToolCall]:
    """The calls as these blocks have them, and those that never had one."""
    waiting: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
    for call in calls:
        waiting[call.id].append(call)
    made: list[ToolCall] = []
    for use in uses:
        fields = {"name": use.name, "arguments": use.input, "raw_arguments": use.raw_input}
        call = waiting[use.id].popleft() if waiting[use.id] else ToolCall(id=use.id, name="", arguments=None)
        same = (call.name, call.arguments) == (use.name, use.input) and same_call(call, updated(call, fields))
        made.append(call if same else updated(call, fields))
    return [*made, *(call for left in waiting.values() for call in left if call.id not in had_blocks)]


def _data(blocks: Iterable[Block | TextBlock | ImageBlock]) -> str:
    """Tells apart also what Python takes for equal (1, 1.0 and True)."""
    return json.dumps([block.model_dump() for block in blocks])


def _shown_calls(calls: Iterable[ToolCall]) -> str:
    return json.dumps([[call.id, call.name, call.arguments] for call in calls])


def _honest(blocks: Sequence[Block], before: Sequence[Block]) -> list[Block]:
    """The blocks; a signature stays only with the words that it signs."""
    signed = {block.signature: block.thinking for block in before if isinstance(block, ThinkingBlock)}
    return [
        updated(block, {"signature": None})
        if isinstance(block, ThinkingBlock) and signed.get(block.signature, block.thinking) != block.thinking
        else block
        for block in blocks
    ]


def _is_one_of(call: ToolCall, calls: Sequence[ToolCall]) -> bool:
    return any(call.id == one.id and same_call(call, one) for one in calls)


def same_call(call: ToolCall, other: ToolCall) -> bool:
    """Told apart are also what Python takes for equal (1, 1.0 and True)."""
    return json.dumps([call.name, call.arguments]) == json.dumps([other.name, other.arguments])


def restated(call: ToolCall) -> ToolCall:
    """A call whose raw text and repairs say nothing of what the model had written."""
    raw = call.raw_arguments if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return updated(call, {"raw_arguments": raw, "span": None, "repairs": without_values(call.repairs)})


def without_values(repairs: Iterable[Repair]) -> list[Repair]:
    return [updated(repair, {"before": None, "after": None}) for repair in repairs]


def _consistent_blocks(
    blocks: Sequence[Block], content: str | None, reasoning: str | None, calls: Sequence[ToolCall]
) -> tuple[list[Block], int]:
    """The blocks with new text and new reasoning (None: as they were) and with just these calls, and how many opaque
    parts had to go: those of calls that went, and where text or reasoning changed all that belong to no call, since
    they may repeat it."""
    spoken = [TextBlock(text=content)] if content and content.strip() else []
    thoughts = [ThinkingBlock(thinking=reasoning)] if reasoning and reasoning.strip() else []
    waiting: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
    for call in calls:
        waiting[call.id].append(call)
    made: list[Block] = []
    opaque_stay = repeats_nothing = content is None and reasoning is None
    dropped = 0
    for block in blocks:
        if isinstance(block, ProviderBlock):
            made += [block] if opaque_stay else []
            dropped += not opaque_stay
            continue
        opaque_stay = repeats_nothing
        if isinstance(block, ToolUseBlock):
            opaque_stay = bool(waiting[block.id])
            made += [use_block(waiting[block.id].popleft(), block)] if opaque_stay else []
        elif isinstance(block, TextBlock) and content is not None:
            made += spoken
            spoken = []
        elif isinstance(block, ThinkingBlock | RedactedThinkingBlock) and reasoning is not None:
            made += thoughts
            thoughts = []
        else:
            made.append(block)
    first_call = next((index for index, block in enumerate(made) if isinstance(block, ToolUseBlock)), len(made))
    made = [*thoughts, *made[:first_call], *spoken, *made[first_call:]]
    return [*made, *(use_block(call, None) for left in waiting.values() for call in left)], dropped


# --- outcomes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutcomeBefore:
    """What an outcome said before a hook saw it. `value` as it is shown, since values need not compare."""

    content: str
    value: str
    error: tuple[str, str] | None
    ended: TerminateLoop | None

    @classmethod
    def by(cls, outcome: Outcome, max_chars: int) -> OutcomeBefore:
        """Raises `UnwritableResult` when the value cannot be written as text, but for that of a `TerminateLoop`: the caller is
        given it as it is."""
        error = (outcome.error.type, outcome.error.message) if outcome.error is not None else None
        try:
            value = _data(rendered(outcome.value, max_chars))
        except UnwritableResult as unwritable:
            if outcome.ended is None:
                raise
            value = f"{unwritable} ({id(outcome.value)})"
        return cls(_data(outcome.content), value, error, outcome.ended)


def consistent_outcome(before: OutcomeBefore, given: Outcome, max_chars: int) -> Outcome:
    """The outcome as a hook left it, as a copy. Raises `UnwritableResult` when its value cannot be written as text."""
    after = OutcomeBefore.by(given, max_chars)
    content, value, error, ended = given.content, given.value, given.error, given.ended
    new_content, new_value = after.content != before.content, after.value != before.value
    new_error = after.error != before.error
    if new_content:
        text = given.text
        value = value if new_value or value is None else text
        if error is not None and not new_error:
            error = _failure(given.call, text, error.type)
    elif new_error and error is not None:
        content = [TextBlock(text=error.message)]
        value = value if new_value else None
    elif error is None and (new_error or new_value):
        content = rendered(value, max_chars)
    if ended is not None and ended is before.ended and ended.value is not None and after != before:
        ended = TerminateLoop(value)
    return replace(given, content=copied(content), value=copied(value), error=error, ended=ended)


def answered(outcome: Outcome, block: ToolResultBlock, max_chars: int) -> Outcome:
    """The outcome as its block in the history tells it, which a hook may have changed."""
    try:
        before = OutcomeBefore.by(outcome, max_chars)
    except UnwritableResult:  # its value is another one at each look
        before = OutcomeBefore("", "", None, outcome.ended)
    error = outcome.error
    if block.is_error != (error is not None):
        error = _failure(outcome.call, block.text, "execution") if block.is_error else None
    given = replace(outcome, content=list(block.content), error=error)
    return consistent_outcome(before, given, max_chars)


def _failure(call: ToolCall, message: str, kind: Any) -> ToolError:
    return ToolError(message, tool_name=call.name, tool_id=call.id, type=kind)
