"""The history of a run: assistant messages made from envelopes, results added, always valid for the next request.

- Each call in the history has a unique id. Once its turn is over, it has exactly one result, in call order, directly after it.
- A call stands in the history as it ran: with the validated name and arguments.
- Opaque parts keep their places.
- A reply is made encodable before anything else reads it (`encodable_reply`), and so are validated calls (`encodable_call`).
"""

from __future__ import annotations

import operator
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

from llmcore.adapters.request.conversation.history import is_sendable_id
from llmcore.run.results.boundary_copies import damage_repairs, encodable_copy, is_encodable
from llmcore.support.values.copies import copied, made, updated
from llmcore.types import (
    Block,
    Envelope,
    Message,
    Repair,
    TextBlock,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = [
    "assistant_message",
    "encodable_call",
    "encodable_reply",
    "ids_in",
    "in_call_order",
    "last_calls",
    "open_calls",
    "use_block",
    "with_call",
    "with_unique_ids",
]

_MAX_ID_SHOWN = 40


def encodable_reply(envelope: Envelope) -> Envelope:
    """The reply with encodable text and sendable ids. Each change is a repair of the call or the envelope. If nothing changes,
    returns the same object."""
    if is_encodable(envelope) and all(map(_has_sendable_id, envelope.tool_calls)):
        return envelope
    ids = _fresh_ids(envelope.tool_calls)
    calls = [_with_id(encodable_call(call), ids.get(call.id, call.id)) for call in envelope.tool_calls]
    rest, found = encodable_copy(updated(envelope, {"tool_calls": []}))
    if not found and all(map(operator.is_, calls, envelope.tool_calls)):
        return envelope
    encodable = updated(rest, {"tool_calls": calls, "repairs": [*rest.repairs, *damage_repairs(found)]})
    return encodable.attach(envelope.source, lambda: envelope.segments, lambda: _encodable_blocks(envelope.blocks, ids))


def encodable_call(call: ToolCall) -> ToolCall:
    """The call with an encodable name and arguments. If nothing changes, returns the same object."""
    if is_encodable(call):
        return call
    encodable, found = encodable_copy(call)
    return updated(encodable, {"repairs": [*encodable.repairs, *damage_repairs(found)]}) if found else call


def _fresh_ids(calls: Sequence[ToolCall]) -> dict[str, str]:
    """A new id for each id that cannot be sent: it is too long, or has unprintable characters."""
    used = {call.id for call in calls}
    fresh: dict[str, str] = {}
    for number, call in enumerate(calls):
        if call.id not in fresh and not _has_sendable_id(call):
            fresh[call.id] = _free_id(f"call_{number}", used)
            used.add(fresh[call.id])
    return fresh


def _has_sendable_id(call: ToolCall) -> bool:
    return not call.id or is_sendable_id(call.id)


def _with_id(call: ToolCall, wanted: str) -> ToolCall:
    if call.id == wanted:
        return call
    shown = ascii(call.id[:_MAX_ID_SHOWN])
    before = f"{shown} ({len(call.id)} characters)"
    repair = Repair(kind="call_id", path="id", before=before, after=wanted)
    return updated(call, {"id": wanted, "repairs": [*call.repairs, repair]})


def _encodable_blocks(blocks: Sequence[Block], ids: Mapping[str, str]) -> list[Block]:
    renamed = [
        updated(block, {"id": ids.get(block.id, block.id)}) if isinstance(block, ToolUseBlock) else block for block in blocks
    ]
    return encodable_copy(renamed)[0]


def ids_in(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in a history."""
    return {use.id for message in messages for use in message.tool_uses}


def with_unique_ids(calls: Sequence[ToolCall], used: set[str]) -> list[ToolCall]:
    """The calls with ids that no other call has; the ids are added to `used`. An unused id is kept."""
    renamed: list[ToolCall] = []
    for call in calls:
        unique = _free_id(call.id or "call_0", used)
        used.add(unique)
        renamed.append(call if unique == call.id else updated(call, {"id": unique}))
    return renamed


def _free_id(wanted: str, used: set[str]) -> str:
    if wanted not in used:
        return wanted
    stem = wanted.rpartition("_")[0] if wanted.startswith("call_") else wanted
    number = len(used)
    while f"{stem}_{number}" in used:
        number += 1
    return f"{stem}_{number}"


def assistant_message(envelope: Envelope, before: Sequence[ToolCall], calls: Sequence[ToolCall]) -> Message | None:
    """The reply as a message of the history; None if it holds nothing.

    `calls` are the calls for the history. `before` are the same calls as the envelope's blocks have them. Each call block is
    replaced by its call, blocks of dropped calls are removed, and calls without a block come last.
    """
    if envelope.is_calls_alone:
        return made(Message, role="assistant", content=[use_block(call, None) for call in calls]) if calls else None
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for index, call in enumerate(before):
        waiting[call.id].append(index)
    blocks: list[Block] = []
    placed: set[int] = set()
    for block in envelope.blocks or ([TextBlock(text=envelope.content)] if envelope.content else []):
        if not isinstance(block, ToolUseBlock):
            blocks.append(copied(block))
        elif waiting[block.id]:
            index = waiting[block.id].popleft()
            placed.add(index)
            blocks.append(use_block(calls[index], block))
    if len(placed) < len(calls):
        blocks += [use_block(call, None) for index, call in enumerate(calls) if index not in placed]
    return made(Message, role="assistant", content=blocks) if blocks else None


def use_block(call: ToolCall, block: ToolUseBlock | None) -> ToolUseBlock:
    """The call as a block of the history, in place of `block` if there was one."""
    arguments = copied(call.arguments)
    return made(
        ToolUseBlock,
        id=call.id,
        name=call.name,
        input=arguments,
        raw_input=call.raw_arguments if arguments is None else "",
        cache_control=block.cache_control if block else None,
    )


def with_call(message: Message, call: ToolCall) -> Message:
    """The message with this call in place of the one with its id."""
    blocks = (use_block(call, old) if isinstance(old, ToolUseBlock) and old.id == call.id else old for old in message.content)
    return Message(role=message.role, content=[*blocks])


def open_calls(messages: Sequence[Message]) -> list[ToolUseBlock]:
    """The calls of the last assistant turn that have no result yet."""
    answered: set[str] = set()
    for message in reversed(messages):
        for result in message.tool_results:
            answered.add(result.tool_use_id)
        if message.role == "assistant":
            return [use for use in message.tool_uses if use.id not in answered]
    return []


def last_calls(messages: Sequence[Message]) -> list[ToolUseBlock]:
    """The calls of the last assistant turn."""
    for message in reversed(messages):
        if message.role == "assistant":
            return message.tool_uses
    return []


def in_call_order(messages: Sequence[Message], results: Sequence[ToolResultBlock]) -> list[ToolResultBlock]:
    """The results in the order of the last turn's calls. Corrections may have reordered them."""
    if len(results) < 2:
        return [*results]
    places = {use.id: place for place, use in enumerate(last_calls(messages))}
    return sorted(results, key=lambda result: places.get(result.tool_use_id, len(places)))
