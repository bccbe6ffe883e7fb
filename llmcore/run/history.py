"""The history of a run: assistant turns rebuilt from envelopes, results added, and always valid for the next request.

Rules: every call in the history has an id of its own and, once its turn is over, exactly one result, in call order,
directly after. A call stands in the history as it ran: with the validated name and arguments. Opaque parts keep their
places.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from llmcore.types import (
    Block,
    Envelope,
    Message,
    TextBlock,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["assistant_message", "ids_in", "open_calls", "with_unique_ids"]


def ids_in(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in a history."""
    return {use.id for message in messages for use in message.tool_uses}


def with_unique_ids(calls: Sequence[ToolCall], taken: set[str]) -> list[ToolCall]:
    """The calls with ids that no other call has; they are added to `taken`. An id that is free is kept verbatim."""
    renamed: list[ToolCall] = []
    for call in calls:
        unique = _free(call.id or "call_0", taken)
        taken.add(unique)
        renamed.append(call if unique == call.id else call.model_copy(update={"id": unique}))
    return renamed


def _free(wanted: str, taken: set[str]) -> str:
    if wanted not in taken:
        return wanted
    stem = wanted.rpartition("_")[0] if wanted.startswith("call_") else wanted
    number = len(taken)
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def assistant_message(envelope: Envelope, before: Sequence[ToolCall], calls: Sequence[ToolCall]) -> Message | None:
    """The reply as a turn of the history, None when it holds nothing.

    `calls` are the calls that stand in the history, `before` the same ones as the envelope's blocks know them: each
    block of a call is replaced by its call, blocks of calls that were dropped go, and calls without a block come
    last.
    """
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for index, call in enumerate(before):
        waiting[call.id].append(index)
    blocks: list[Block] = []
    placed: set[int] = set()
    for block in envelope.blocks or _text(envelope):
        if not isinstance(block, ToolUseBlock):
            blocks.append(block)
        elif waiting[block.id]:
            index = waiting[block.id].popleft()
            placed.add(index)
            blocks.append(_use(calls[index], block))
    blocks += [_use(call, None) for index, call in enumerate(calls) if index not in placed]
    return Message(role="assistant", content=blocks) if blocks else None


def _text(envelope: Envelope) -> list[Block]:
    return [TextBlock(text=envelope.content)] if envelope.content else []


def _use(call: ToolCall, block: ToolUseBlock | None) -> ToolUseBlock:
    return ToolUseBlock(
        id=call.id,
        name=call.name,
        input=call.arguments,
        raw_input="" if call.arguments is not None else call.raw_arguments,
        cache_control=block.cache_control if block else None,
    )


def open_calls(messages: Sequence[Message]) -> list[ToolUseBlock]:
    """The calls of the last assistant turn that have no result yet."""
    answered: set[str] = set()
    for message in reversed(messages):
        answered |= {result.tool_use_id for result in message.tool_results}
        if message.role == "assistant":
            return [use for use in message.tool_uses if use.id not in answered]
    return []


def results_message(blocks: Sequence[ToolResultBlock]) -> Message:
    return Message(role="tool", content=list(blocks))
