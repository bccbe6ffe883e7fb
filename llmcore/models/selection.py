"""Selects the model that answers a request: the first of the registry that meets its needs. If none does, the error
says what each lacks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from llmcore.adapters.base import NOTHING_SENT, Capabilities
from llmcore.models.config import ModelConfig
from llmcore.support.values.media_kinds import MEDIA_PARTS
from llmcore.types import MediaBlock, ModelNotFound, Request, TextBlock, ToolResultBlock

__all__ = ["Needs", "check_media_needs", "missing_capabilities", "needs_of", "select"]

_CHARACTERS_PER_TOKEN = 4
"""A rough rule for English. It only excludes models whose window is clearly too small."""
_SMALLEST_WINDOW = 1000
"""Every model's window has so many tokens unless the registry says otherwise, so smaller inputs need no look-up."""
_NO_TOOLS = "tools (supports_tools)"


@dataclass(slots=True)  # not frozen: each run creates one, and freezing triples its cost
class Needs:
    """What a request needs from a model.

    `media`: what its messages hold beside text (`images`, `files`, `audio`). `result_media`: what its tools' results hold, which
    a note may replace. `tokens` estimates its input.
    """

    tools: bool = False
    web_search: bool = False
    media: frozenset[str] = frozenset()
    result_media: frozenset[str] = frozenset()
    tokens: int = 0

    @property
    def all_media(self) -> frozenset[str]:
        return self.media | self.result_media


def needs_of(request: Request, *, tools: bool) -> Needs:
    """Read a request's needs. O(size of the history)."""
    characters, tokens, media, result_media = len(str(request.system or "")), 0, set[str](), set[str]()
    for message in request.messages:
        for block in message.content:
            is_result = isinstance(block, ToolResultBlock)
            for part in block.content if isinstance(block, ToolResultBlock) else (block,):
                if isinstance(part, TextBlock):
                    characters += len(part.text)
                elif isinstance(part, MediaBlock):
                    tokens += part.kind.tokens
                    (result_media if is_result else media).add(part.kind.part)
    tokens += characters // _CHARACTERS_PER_TOKEN
    return Needs(tools, request.allow_web_search, frozenset(media), frozenset(result_media), tokens)


def check_media_needs(alias: str, request: Request, can: Capabilities) -> None:
    """Raises `ModelNotFound` if a message holds media that the model is known not to take.

    Media in a tool's result raise nothing: the adapter sends words in their place.
    """
    refused = {part for part in MEDIA_PARTS if getattr(can, part) is False}
    for number, message in enumerate(request.messages if refused else ()):
        for place, block in enumerate(message.content):
            if isinstance(block, MediaBlock) and (part := block.kind.part) in refused:
                what = f"{block.kind.noun} ({block.known_type or 'by URL'})"
                raise ModelNotFound(
                    f"the model {alias!r} takes no {part}, and part {place} of message {number} is {what}: ask another model, "
                    f"leave the part out, or set supports_{part}: true if this model takes it; {NOTHING_SENT}"
                )


def missing_capabilities(config: ModelConfig, needs: Needs, capabilities: Callable[[ModelConfig], Capabilities]) -> list[str]:
    """The needs that the model does not meet, in words. Unknown counts as able, except for web search, which few
    models have.

    A model without native tools still accepts tools (the prompt teaches them) unless the registry says
    `supports_tools: false`.
    """
    least = min(config.context_window or _SMALLEST_WINDOW, _SMALLEST_WINDOW)
    if not (needs.web_search or needs.all_media or needs.tokens > least):  # nothing needs to be looked up
        return [_NO_TOOLS] if needs.tools and config.supports_tools is False else []
    can = capabilities(config)
    window = config.context_window or can.context_window
    checks = (
        (needs.web_search and can.web_search is not True, "web search (supports_web_search)"),
        (needs.tools and config.supports_tools is False, _NO_TOOLS),
        *((getattr(can, part) is False, f"{part} (supports_{part})") for part in sorted(needs.all_media)),
        (
            window is not None and needs.tokens > window,
            f"context (about {needs.tokens} tokens are needed, its context_window is {window})",
        ),
    )
    return [word for fails, word in checks if fails]


def select(models: Collection[ModelConfig], needs: Needs, capabilities: Callable[[ModelConfig], Capabilities]) -> ModelConfig:
    """The first model that meets the needs; if there is none, the first that meets those besides `result_media`.

    Raises `ModelNotFound` that says what each lacks.
    """
    reasons: list[str] = []
    for config in models:
        missing = missing_capabilities(config, needs, capabilities)
        if not missing:
            return config
        reasons.append(f"{config.alias} lacks {' and '.join(missing)}")
    if needs.result_media:
        return select(models, replace(needs, result_media=frozenset()), capabilities)
    if not reasons:
        raise ModelNotFound("no model of the registry fits the request: the registry is empty")
    fix = "ask a model that has it, or correct the setting in parentheses"
    raise ModelNotFound(f"no model of the registry fits the request: {'; '.join(reasons)}: {fix}")
