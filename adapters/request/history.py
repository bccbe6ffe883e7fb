"""A history that every provider takes: the one sanitiser all requests go through.

Rules, each of which some provider answers with a 400, and several of which make every later request fail:
- arguments are a JSON object; a call that could not be read carries `{"INVALID_JSON": raw}`;
- every call has exactly one result, directly after it, in the order of the calls; a missing one is made up;
- a result without a call becomes text, for nothing may vanish;
- empty text and empty messages go.

Input messages are never modified; a sound history comes back with the same blocks. O(length).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from llmcore.types import Block, Message, TextBlock, ToolResultBlock, ToolUseBlock
from llmcore.types.copies import updated

__all__ = ["NO_RESULT", "sound_history"]

_MAX_ID_SHOWN = 64
NO_RESULT = "No result: this call was not run, or was cancelled before it finished."

_Position = tuple[int, int]


def sound_history(messages: Sequence[Message]) -> list[Message]:
    """`messages` with every rule above kept; tool results stand in messages of role `tool` of their own."""
    results, paired = _pair(messages)
    sound: list[Message] = []
    for at, message in enumerate(messages):
        spoken: list[Block] = []
        answers: list[Block] = []
        for number, block in enumerate(message.content):
            if isinstance(block, ToolUseBlock):
                spoken.append(_readable(block))
                answers.append(_answer(block, results.get((at, number))))
            elif isinstance(block, ToolResultBlock):
                if (at, number) not in paired:
                    spoken.append(_as_text(block))
            elif not (isinstance(block, TextBlock) and not block.text):
                spoken.append(block)
        if spoken:
            role = "user" if message.role == "tool" else message.role
            sound.append(Message(role=role, content=spoken))
        if answers:
            sound.append(Message(role="tool", content=answers))
    return sound


def _pair(messages: Sequence[Message]) -> tuple[dict[_Position, ToolResultBlock], set[_Position]]:
    """The result of each call, by the call's position, and the positions of those results. An id that occurs twice is
    answered in order."""
    open_calls: defaultdict[str, deque[_Position]] = defaultdict(deque)
    results: dict[_Position, ToolResultBlock] = {}
    paired: set[_Position] = set()
    for at, message in enumerate(messages):
        for number, block in enumerate(message.content):
            if isinstance(block, ToolUseBlock):
                open_calls[block.id].append((at, number))
            elif isinstance(block, ToolResultBlock) and open_calls[block.tool_use_id]:
                results[open_calls[block.tool_use_id].popleft()] = block
                paired.add((at, number))
    return results, paired


def _answer(call: ToolUseBlock, result: ToolResultBlock | None) -> ToolResultBlock:
    if result is None:
        return ToolResultBlock(tool_use_id=call.id, name=call.name, content=[TextBlock(text=NO_RESULT)], is_error=True)
    return result if result.name else updated(result, {"name": call.name})


def _readable(call: ToolUseBlock) -> ToolUseBlock:
    return call if call.input is not None else updated(call, {"input": {"INVALID_JSON": call.raw_input}})


def _as_text(block: ToolResultBlock) -> TextBlock:
    text = "".join(part.text for part in block.content if isinstance(part, TextBlock))
    return TextBlock(text=f"Result of the tool call {block.tool_use_id[:_MAX_ID_SHOWN]!r}: {text}")
