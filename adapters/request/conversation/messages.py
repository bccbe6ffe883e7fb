"""Our message history as LiteLLM takes it: OpenAI-style dicts, with what each provider adds to them.

Every history goes through `sound_history` first. Native mode keeps calls and results structured; the prompted modes
write them as text. Provider parts (`ProviderBlock`, thinking with signatures) return only to the provider they came
from. Nothing given is modified. O(length of the history).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, cast

from llmcore.adapters.base import ModelCall
from llmcore.adapters.providers import Provider
from llmcore.adapters.request.conversation.history import as_one_text, sound_history
from llmcore.adapters.request.conversation.prompting import write_calls, write_result
from llmcore.adapters.request.conversation.twin_calls import marked_twins
from llmcore.adapters.request.conversation.unsendable import MESSAGE_FIELDS
from llmcore.adapters.request.names import IdMap, NameMap
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, object_in
from llmcore.types import (
    Block,
    ImageBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

__all__ = ["IMAGE_NOTE", "render_messages"]

Rendered = dict[str, Any]
IMAGE_NOTE = "Image returned by the tool"
"""How the text before an image begins that a tool returned, where a wire takes images only from the user."""


def render_messages(call: ModelCall, provider: Provider, names: NameMap, instructions: str = "") -> list[Rendered]:
    """The messages of a call, its system prompt first. `instructions` (what a prompted mode teaches) end the system
    prompt."""
    turns = _rendered(call, provider, names, instructions)
    if provider.wire == "ollama" or provider.loses_images:  # LiteLLM writes the texts of a message one behind the other there
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
    said: list[Rendered] = [{**message, "role": "user"} for message in opening]
    return [*_merged([*said, *turns[:1]]), *turns[1:]]


def _leading_system(history: Sequence[Message], everywhere: bool) -> tuple[list[TextBlock], list[Message]]:
    """The text of the system messages that open the history (or of all of them), and the history without those."""
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


def _part(block: TextBlock | ImageBlock, provider: Provider) -> Rendered:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text, **_cached(block, provider)}
    url = block.url if block.url is not None else f"data:{block.media_type};base64,{block.data}"
    detail = {"detail": block.detail} if block.detail and provider.wire == "openai-chat" else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}, **_cached(block, provider)}


def _content(blocks: Iterable[Block], provider: Provider, *, given: bool = True) -> str | list[Rendered]:
    """Text as one str, unless an image or a cache mark asks for parts. `given`: the parts were made by somebody who meant them
    apart; a model's own are pieces of one text."""
    shown = [block for block in blocks if isinstance(block, TextBlock | ImageBlock)]
    parts = [_part(block, provider) for block in shown]
    if all(part["type"] == "text" and "cache_control" not in part for part in parts):
        return as_one_text(part["text"] for part in parts) if given else "".join(part["text"] for part in parts)
    return parts


def _result_text(block: ToolResultBlock) -> str:
    text = as_one_text(part.text for part in block.content if isinstance(part, TextBlock))
    return f"Error: {text}" if block.is_error and not text.lower().startswith("error") else text


def _images(block: ToolResultBlock) -> list[ImageBlock]:
    return [part for part in block.content if isinstance(part, ImageBlock)]


class _Native:
    """Calls and results as the wire's own structures."""

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
        """One tool message a result. Images go along where the wire takes them, else in a user message after the
        results."""
        rendered: list[Rendered] = []
        shown: list[Rendered] = []
        for block in blocks:
            text, images = _result_text(block), [_part(image, self._provider) for image in _images(block)]
            content: str | list[Rendered] = text
            if images and self._provider.images_in_results:
                content = [{"type": "text", "text": text}, *images] if text else images
            elif images:
                shown += [{"type": "text", "text": f"{IMAGE_NOTE} {block.name}:"}, *images]
            head = {
                "role": "tool",
                "tool_call_id": self._ids.sent(block.tool_use_id),
                "name": self._names.sent(block.name or ""),
            }
            rendered.append({**head, "content": content, **_cached(block, self._provider)})
        return [*rendered, {"role": "user", "content": shown}] if shown else rendered

    def _assistant(self, message: Message) -> Rendered:
        said = message.content if self._provider.returns_refusals else _with_refusal_text(message.content)
        rendered: Rendered = {"role": "assistant", "content": _content(said, self._provider, given=False) or None}
        calls = list(self._calls(message.content))
        if calls:
            rendered["tool_calls"] = marked_twins(calls) if self._provider.wire == "gemini" else calls
        _RETURNED.get(self._provider.wire or "", _nothing)(rendered, said)
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
        """What the opaque parts after a call say of it: Gemini's thought signature (as its own wire or as LiteLLM has it), and
        `extra_content`, in which OpenAI-compatible servers carry the same."""
        for block in following:
            data = block.data if isinstance(block, ProviderBlock) else {}
            told = {**object_in(data.get("provider_specific_fields")), **data}
            signature = told.get("thoughtSignature") or told.get("thought_signature")
            if signature and self._provider.wire == "gemini":
                return {"provider_specific_fields": {"thought_signature": signature}}
            if "extra_content" in data and self._provider.wire == "openai-chat":
                return {"extra_content": copy.deepcopy(data["extra_content"])}
        return {}


def _with_refusal_text(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks, and the words of a refusal as a paragraph behind them, for a wire that has no part of its own for it."""
    told = (block.data.get("refusal") for block in blocks if isinstance(block, ProviderBlock))
    refusals = [str(words) for words in told if words]
    if not refusals:
        return blocks
    is_more = any(isinstance(block, TextBlock) and block.text for block in blocks)
    return [*blocks, TextBlock(text="\n\n".join([*([""] if is_more else []), *refusals]))]


def _nothing(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """A wire that takes no opaque parts back."""


def _return_openai_parts(rendered: Rendered, blocks: Sequence[Block]) -> None:
    for block in blocks:
        if isinstance(block, ProviderBlock) and block.provider == "openai-chat":
            rendered |= {key: copy.deepcopy(value) for key, value in block.data.items() if key in MESSAGE_FIELDS}


def _return_thinking(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """Thinking with its signature goes before everything else."""
    thinking = [_thinking(block) for block in blocks if isinstance(block, ThinkingBlock | RedactedThinkingBlock)]
    signed = [part for part in thinking if part]
    if signed:
        rendered["thinking_blocks"] = signed


def _return_anthropic_parts(rendered: Rendered, blocks: Sequence[Block]) -> None:
    """The provider's own tool parts keep their place in the text, and a text what it cites."""
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


_RETURNED = {
    "openai-chat": _return_openai_parts,
    "anthropic": _return_anthropic_parts,
    "bedrock-converse": _return_thinking,
}
"""How opaque parts and thinking go back on each wire."""


class _Prompted:
    """Calls and results as text, in the form the prompt teaches."""

    def __init__(self, call: ModelCall, provider: Provider) -> None:
        self._call = call
        self._provider = provider

    def render(self, message: Message) -> list[Rendered]:
        if message.role == "tool":
            results = [block for block in message.content if isinstance(block, ToolResultBlock)]
            text = "\n".join(write_result(self._call, block.name or "", _result_text(block)) for block in results)
            images: list[Block] = [image for block in results for image in _images(block)]
            return [{"role": "user", "content": _content([TextBlock(text=text), *images], self._provider)}]
        if message.role == "assistant":
            uses = [(block.name, block.input or {}) for block in message.tool_uses]
            words = "".join(block.text for block in _with_refusal_text(message.content) if isinstance(block, TextBlock))
            text = write_calls(self._call, words, uses)
            return [{"role": "assistant", "content": text}] if text else []
        content = _content(message.content, self._provider)
        return [{"role": message.role, "content": content}] if content else []


def _merged(turns: Iterable[Rendered]) -> list[Rendered]:
    """Neighbours of one role as one message: chat templates of local servers want strict alternation."""
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
    return [*_parts_of(first), *_parts_of(second)]


def _parts_of(content: str | list[Rendered]) -> list[Rendered]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
