"""Makes all parts of a reply or an outcome agree after a hook changed some, so that nothing that the hook removed is sent, stored
or recorded.

A part that the hook changed is kept. A part that it left follows the changed ones. The parts of a reply are its text,
reasoning, calls and blocks; those of an outcome are its content, value and error. What cannot follow is removed: the source
text, spans, signatures, and the values in repairs.
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
    NearMiss,
    ProviderBlock,
    RedactedThinkingBlock,
    Repair,
    ResultBlock,
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
    "consistent_outcome",
    "consistent_reply",
    "outcome_of_block",
    "rebuilt_envelope",
    "same_call",
    "without_model_text",
    "without_values",
]

# --- replies ----------------------------------------------------------------------------------------------------------


def consistent_reply(before: Envelope, changed: Envelope, blocks: Sequence[Block]) -> Envelope:
    """The reply `before` as a hook returned it: its fields are in `changed`, its blocks in `blocks`."""
    changed = _following_blocks(before, changed, blocks)
    calls = [call if _is_one_of(call, before.tool_calls) else without_model_text(call) for call in changed.tool_calls]
    content, reasoning = _changed_text(before.content, changed.content), _changed_text(before.reasoning, changed.reasoning)
    if content is None and reasoning is None and calls == before.tool_calls and _json(blocks) == _json(before.blocks):
        return changed.attach(before.source, lambda: before.segments, blocks)
    made, dropped = _consistent_blocks(
        _with_valid_signatures(blocks, before.blocks),
        None if _wrote_into_blocks(_text_in, content, blocks, before) else content,
        None if _wrote_into_blocks(_thinking_in, reasoning, blocks, before) else reasoning,
        calls,
    )
    if before.tool_calls and not calls and before.needs_more_work == changed.needs_more_work:
        changed = updated(changed, {"needs_more_work": None})  # it was True because of the calls
    notes = [Repair(kind="opaque_parts_dropped", before=dropped)] if dropped else []
    return rebuilt_envelope(changed, calls, made, notes)


def rebuilt_envelope(
    envelope: Envelope, calls: Sequence[ToolCall], blocks: Sequence[Block], notes: Iterable[Repair] = ()
) -> Envelope:
    """The envelope with these calls and blocks, and without other traces of its old ones."""
    source = envelope.content
    end = len(source)
    changes: dict[str, Any] = {
        "tool_calls": [updated(call, {"span": None}) for call in calls],
        "near_misses": [NearMiss(span=(end, end), name=miss.name, reason=miss.reason) for miss in envelope.near_misses],
        "repairs": [*without_values(envelope.repairs), *notes],
    }
    segments = [Segment(0, end, "content")] if source else []
    return updated(envelope, changes).attach(source, segments, blocks)


def _changed_text(before: str, after: str) -> str | None:
    return None if before == after else after


def _wrote_into_blocks(
    text_in: Callable[[Iterable[Block]], str], words: str | None, blocks: Sequence[Block], before: Envelope
) -> bool:
    """Whether the hook wrote this text into the blocks itself."""
    written = text_in(blocks)
    return words == written and written != text_in(before.blocks)


def _text_in(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


def _thinking_in(blocks: Iterable[Block]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, ThinkingBlock))


_BLOCK_TEXT: dict[str, Callable[[Iterable[Block]], str]] = {"content": _text_in, "reasoning": _thinking_in}


def _following_blocks(before: Envelope, changed: Envelope, blocks: Sequence[Block]) -> Envelope:
    """The fields. Those that the hook left follow the blocks that it changed."""
    changes: dict[str, Any] = {
        field: text_in(blocks)
        for field, text_in in _BLOCK_TEXT.items()
        if getattr(changed, field) == getattr(before, field) and text_in(blocks) != text_in(before.blocks)
    }
    uses, shown = _uses(blocks), _uses(before.blocks)
    if _json(uses) != _json(shown) and _shown_calls(changed.tool_calls) == _shown_calls(before.tool_calls):
        changes["tool_calls"] = _calls_of(uses, changed.tool_calls, {use.id for use in shown})
    return updated(changed, changes) if changes else changed


def _uses(blocks: Iterable[Block]) -> list[ToolUseBlock]:
    return [block for block in blocks if isinstance(block, ToolUseBlock)]


def _calls_of(uses: Sequence[ToolUseBlock], calls: Sequence[ToolCall], had_blocks: set[str]) -> list[ToolCall]:
    """The calls as these blocks have them, then the calls that never had a block."""
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


def _json(blocks: Iterable[Block | ResultBlock]) -> str:
    """Distinguishes values that Python calls equal (1, 1.0 and True)."""
    return json.dumps([block.model_dump() for block in blocks])


def _shown_calls(calls: Iterable[ToolCall]) -> str:
    return json.dumps([[call.id, call.name, call.arguments] for call in calls])


def _with_valid_signatures(blocks: Sequence[Block], before: Sequence[Block]) -> list[Block]:
    """The blocks. A signature is removed if its text changed."""
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
    """Whether name and arguments are the same. Distinguishes values that Python calls equal (1, 1.0 and True)."""
    return json.dumps([call.name, call.arguments]) == json.dumps([other.name, other.arguments])


def without_model_text(call: ToolCall) -> ToolCall:
    """The call without the raw text and the repair values that show what the model wrote."""
    raw = call.raw_arguments if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return updated(call, {"raw_arguments": raw, "span": None, "repairs": without_values(call.repairs)})


def without_values(repairs: Iterable[Repair]) -> list[Repair]:
    return [updated(repair, {"before": None, "after": None}) for repair in repairs]


def _consistent_blocks(
    blocks: Sequence[Block], content: str | None, reasoning: str | None, calls: Sequence[ToolCall]
) -> tuple[list[Block], int]:
    """The blocks with new text and reasoning (None: unchanged) and with exactly these calls, and the number of dropped opaque
    parts.

    Opaque parts of removed calls are dropped. If text or reasoning changed, so are those that belong to no call: they may
    repeat it.
    """
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
    """The parts of an outcome before a hook saw it. `value` is its JSON, because values need not be comparable."""

    content: str
    value: str
    error: tuple[str, str] | None
    ended: TerminateLoop | None

    @classmethod
    def of(cls, outcome: Outcome, max_chars: int) -> OutcomeBefore:
        """Raises `UnwritableResult` if the value cannot be written as text, unless it belongs to a `TerminateLoop`: the caller
        gets that value as it is."""
        error = (outcome.error.type, outcome.error.message) if outcome.error is not None else None
        try:
            value = _json(rendered(outcome.value, max_chars))
        except UnwritableResult as unwritable:
            if outcome.ended is None:
                raise
            value = f"{unwritable} ({id(outcome.value)})"
        return cls(_json(outcome.content), value, error, outcome.ended)


def consistent_outcome(before: OutcomeBefore, given: Outcome, max_chars: int) -> Outcome:
    """A copy of the outcome as a hook returned it. Raises `UnwritableResult` if its value cannot be written as text."""
    after = OutcomeBefore.of(given, max_chars)
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


def outcome_of_block(outcome: Outcome, block: ToolResultBlock, max_chars: int) -> Outcome:
    """The outcome as its block in the history states it, which a hook may have changed."""
    try:
        before = OutcomeBefore.of(outcome, max_chars)
    except UnwritableResult:  # the value changes with each read
        before = OutcomeBefore("", "", None, outcome.ended)
    error = outcome.error
    if block.is_error != (error is not None):
        error = _failure(outcome.call, block.text, "execution") if block.is_error else None
    given = replace(outcome, content=list(block.content), error=error)
    return consistent_outcome(before, given, max_chars)


def _failure(call: ToolCall, message: str, kind: Any) -> ToolError:
    return ToolError(message, tool_name=call.name, tool_id=call.id, type=kind)
