"""Renders the message history for LiteLLM: dicts in OpenAI's format, with what each provider adds.

Every history passes through `sound_history` first. In native mode, calls and results are structures; in prompted modes they
are text. Provider-specific parts (`ProviderBlock`, signed thinking) return only to their own provider. Inputs are not
modified. O(length of the history).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, cast

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.adapters.request.conversation.history import as_one_text, sound_history
from llmcore.adapters.request.conversation.media import MEDIA_NOTES, media_part, refused_media
from llmcore.adapters.request.conversation.prompting import write_calls, write_result
from llmcore.adapters.request.conversation.twin_calls import marked_twins
from llmcore.adapters.request.conversation.unsendable import MESSAGE_FIELDS
from llmcore.adapters.request.names import IdMap, NameMap
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, object_in
from llmcore.types import (
    Block,
    MediaBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["render_messages"]

Rendered = dict[str, Any]


def render_messages(call: ModelCall, provider: Provider, names: NameMap, instructions: str = "") -> list[Rendered]:
    """Return the messages of a call, with the system prompt first. `instructions` (of a prompted mode) end the system prompt."""
    turns = _rendered(call, provider, names, instructions)
    if provider.wire == "ollama" or not provider.media:  # there, LiteLLM joins the texts of a message without a separator
        return [{**turn, "content": _one_text_first(turn.get("content"))} for turn in turns]
    return turns


def _one_text_first(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = cast("list[Rendered]", content)
    text = as_one_text(part["text"] for part in parts if part["type"] == "text")
    return [*([{"type": "text", "text": text}] if text else []), *(part for part in parts if part["type"] != "text")]


def _rendered(call: ModelCall, provider: Provider, names: NameMap, instructions: str) -> list[Rendered]:
    history = sound_history(call.request.messages)
    leading, history = _leading_system(history, everywhere=provider.one_system_message)
    renderer = _Native(provider, names) if call.mode == "native_tools" else _Prompted(call, provider)
    turns = [rendered for message in history for rendered in renderer.render(message)]
    if call.mode != "native_tools":
        turns = _merged(turns)
    system = [*_system_blocks(call.request.system), *leading]
    if instructions:
        system.append(TextBlock(text=instructions))
    opening = _system_message(system, provider)
    if provider.takes_system_messages:
        return [*opening, *turns]
    opening_turns: list[Rendered] = [{**message, "role": "user"} for message in opening]
    return [*_merged([*opening_turns, *turns[:1]]), *turns[1:]]


def _leading_system(history: Sequence[Message], everywhere: bool) -> tuple[list[TextBlock], list[Message]]:
    """The texts of the system messages at the start of the history (or everywhere), and the history without them."""
    texts: list[TextBlock] = []
    rest: list[Message] = []
    for message in history:
        if message.role == "system" and (everywhere or not rest):
            texts += [block for block in message.content if isinstance(block, TextBlock)]
        else:
            rest.append(message)
    return texts, rest


def _system_blocks(system: str | list[TextBlock] | None) -> list[TextBlock]:
    if isinstance(system, str):
        return [TextBlock(text=system)] if system else []
    return list(system or [])


def _system_message(blocks: Sequence[TextBlock], provider: Provider) -> list[Rendered]:
    if not blocks:
        return []
    if provider.prompt_cache and any(block.cache_control for block in blocks):
        return [{"role": "system", "content": [_part(block, provider) for block in blocks]}]
    return [{"role": "system", "content": "\n\n".join(block.text for block in blocks)}]


def _cached(block: Block, provider: Provider) -> Rendered:
    if block.cache_control is None or not provider.prompt_cache:
        return {}
    return {"cache_control": block.cache_control.model_dump(exclude_none=True)}


def _part(block: ResultBlock, provider: Provider) -> Rendered:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text, **_cached(block, provider)}
    return {**media_part(block, provider), **_cached(block, provider)}


def _content(blocks: Iterable[Block], provider: Provider, *, separate: bool = True) -> str | list[Rendered]:
    """Text as one str, or parts if there are media or a cache mark.

    `separate`: the parts were written as separate texts. A model's own parts are pieces of one text.
    """
    shown = [block for block in blocks if isinstance(block, TextBlock | MediaBlock)]
    parts = [_part(block, provider) for block in shown]
    if all(part["type"] == "text" and "cache_control" not in part for part in parts):
        return as_one_text(part["text"] for part in parts) if separate else "".join(part["text"] for part in parts)
    return parts


def _result_text(block: ToolResultBlock) -> str:
    text = as_one_text(part.text for part in block.content if isinstance(part, TextBlock))
    return f"Error: {text}" if block.is_error and not text.lower().startswith("error") else text


def _media(block: ToolResultBlock) -> list[MediaBlock]:
    return [part for part in block.content if isinstance(part, MediaBlock)]


class _Native:
    """Renders calls and results as structures of the wire format."""

    def __init__(self, provider: Provider, names: NameMap) -> None:
        self._provider = provider
        self._names = names
        self._ids = IdMap(provider.ids)

    def render(self, message: Message) -> list[Rendered]:
        if message.role == "tool":
            return self._results([block for block in message.content if isinstance(block, ToolResultBlock)])
        if message.role == "assistant":
            rendered = self._assistant(message)
            return [rendered] if rendered["content"] != "" or self._provider.wire == "openai-chat" else []
        content = _content(message.content, self._provider)
        turn: Rendered = {"role": message.role, "content": content}
        if self._provider.wire == "openai-chat":
            _return_openai_parts(turn, message.content)
        return [turn] if content else []

    def _results(self, blocks: Iterable[ToolResultBlock]) -> list[Rendered]:
        """One tool message for each result. Media follow in a user message, if the wire format does not accept them in
        results."""
        rendered: list[Rendered] = []
        shown: list[Rendered] = []
        for block in blocks:
            text, inside, after = _result_text(block), list[MediaBlock](), list[MediaBlock]()
            for part in _media(block):
                rule = self._provider.media.get(part.kind.type)
                is_inside = rule is None or rule.in_results or refused_media(part, self._provider)
                (inside if is_inside else after).append(part)
            content: str | list[Rendered] = text
            if inside:
                parts = [_part(part, self._provider) for part in inside]
                content = [{"type": "text", "text": text}, *parts] if text else parts
                if all(part["type"] == "text" for part in parts):
                    content = as_one_text(part["text"] for part in content)
            if after:
                note = {"type": "text", "text": f"{MEDIA_NOTES[after[0].kind.type]} {block.name}:"}
                shown += [note, *(_part(part, self._provider) for part in after)]
            head = {
                "role": "tool",
                "tool_call_id": self._ids.sent(block.tool_use_id),
                "name": self._names.sent(block.name or ""),
            }
            rendered.append({**head, "content": content, **_cached(block, self._provider)})
        return [*rendered, {"role": "user", "content": shown}] if shown else rendered

    def _assistant(self, message: Message) -> Rendered:
        blocks = message.content if self._provider.returns_refusals else _with_refusal_text(message.content)
        rendered: Rendered = {"role": "assistant", "content": _content(blocks, self._provider, separate=False) or None}
        calls = list(self._calls(message.content))
        if calls:
            rendered["tool_calls"] = marked_twins(calls) if self._provider.wire == "gemini" else calls
        _RETURN_PARTS.get(self._provider.wire or "", _return_nothing)(rendered, blocks)
        if not self._provider.returns_refusals:
            rendered.pop("refusal", None)
        if self._provider.returns_reasoning and calls:
            thoughts = "".join(block.thinking for block in message.content if isinstance(block, ThinkingBlock))
            rendered |= {"reasoning_content": thoughts} if thoughts else {}
        if rendered["content"] is None and not calls and len(rendered) == 2:
            rendered["content"] = ""
        return rendered

    def _calls(self, blocks: Sequence[Block]) -> Iterable[Rendered]:
        for at, block in enumerate(blocks):
            if isinstance(block, ToolUseBlock):
                arguments = as_json(block.input or {})
                function = {"name": self._names.sent(block.name), "arguments": arguments}
                call = {"id": self._ids.sent(block.id), "type": "function", "function": function}
                annotations = takewhile(lambda part: isinstance(part, ProviderBlock), blocks[at + 1 :])
                yield {**call, **_cached(block, self._provider), **self._annotated(annotations)}

    def _annotated(self, following: Iterable[Block]) -> Rendered:
        """What provider-specific blocks after a call add to it: Gemini's thought signature, and `extra_content` of
        OpenAI-compatible servers."""
        for block in following:
            data = block.data if isinstance(block, ProviderBlock) else {}
            fields = {**object_in(data.get("provider_specific_fields")), **data}
            signature = fields.get("thoughtSignature") or fields.get("thought_signature")
            if signature and self._provider.wire == "gemini":
                return {"provider_specific_fields": {"thought_signature": signature}}
            if "extra_content" in data and self._provider.wire == "openai-chat":
                return {"extra_content": copy.deepcopy(data["extra_content"])}
        return {}


def _with_refusal_text(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks with a refusal's words as a last paragraph, for wire formats without a field for it."""
    texts = (block.data.get("refusal") for block in blocks if isinstance(block, ProviderBlock))
    refusals = [str(words) for words in texts if words]
    if not refusals:
        return blocks
    is_more = any(isinstance(block, TextBlock) and block.text for block in blocks)
    return [*blocks, TextBlock(text="\n\n".join([*([""] if is_more else []), *refusals]))]


def _return_nothing(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """For wire formats that accept no provider-specific parts."""


def _return_openai_parts(rendered: Rendered, blocks: Sequence[Block]) -> None:
    for block in blocks:
        if isinstance(block, ProviderBlock) and block.provider == "openai-chat":
            rendered |= {key: copy.deepcopy(value) for key, value in block.data.items() if key in MESSAGE_FIELDS}


def _return_thinking(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """Put signed thinking before everything else."""
    thinking = [_thinking(block) for block in blocks if isinstance(block, ThinkingBlock | RedactedThinkingBlock)]
    signed = [part for part in thinking if part]
    if signed:
        rendered["thinking_blocks"] = signed


def _return_anthropic_parts(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """Put the provider's own tool parts at their place in the text, and citations at their text."""
    _return_thinking(rendered, blocks)
    own = [block for block in blocks if isinstance(block, ProviderBlock) and block.provider == "anthropic"]
    parts: list[Rendered] = []
    for block in blocks:
        if isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
        elif block in own and "type" in block.data:
            parts.append(copy.deepcopy(block.data))
        elif block in own and parts and parts[-1]["type"] == "text" and is_list(cited := block.data.get("citations")):
            parts[-1]["citations"] = copy.deepcopy(cited)
    if any(part["type"] != "text" or "citations" in part for part in parts):
        rendered["content"] = parts


def _thinking(block: Block) -> Rendered:
    if isinstance(block, RedactedThinkingBlock):
        return {"type": "redacted_thinking", "data": block.data}
    if isinstance(block, ThinkingBlock) and block.signature:
        return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
    return {}


_RETURN_PARTS = {
    "openai-chat": _return_openai_parts,
    "anthropic": _return_anthropic_parts,
    "bedrock-converse": _return_thinking,
}
"""How provider-specific parts and thinking return in each wire format."""


class _Prompted:
    """Renders calls and results as text, in the form that the prompt describes."""

    def __init__(self, call: ModelCall, provider: Provider) -> None:
        self._call = call
        self._provider = provider

    def render(self, message: Message) -> list[Rendered]:
        if message.role == "tool":
            results = [block for block in message.content if isinstance(block, ToolResultBlock)]
            text = "\n".join(write_result(self._call, block.name or "", _result_text(block)) for block in results)
            media = [part for block in results for part in _media(block)]
            return [{"role": "user", "content": _content([TextBlock(text=text), *media], self._provider)}]
        if message.role == "assistant":
            uses = [(block.name, block.input or {}) for block in message.tool_uses]
            words = "".join(block.text for block in _with_refusal_text(message.content) if isinstance(block, TextBlock))
            text = write_calls(self._call, words, uses)
            return [{"role": "assistant", "content": text}] if text else []
        content = _content(message.content, self._provider)
        return [{"role": message.role, "content": content}] if content else []


def _merged(turns: Iterable[Rendered]) -> list[Rendered]:
    """Merge neighbouring messages of one role. Chat templates of local servers require strict alternation."""
    merged: list[Rendered] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            merged[-1] = {"role": turn["role"], "content": _joined(merged[-1]["content"], turn["content"])}
        else:
            merged.append(turn)
    return merged


def _joined(first: str | list[Rendered], second: str | list[Rendered]) -> str | list[Rendered]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: str | list[Rendered]) -> list[Rendered]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
