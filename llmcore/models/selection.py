"""Selects the model that answers a request: the first of the registry that meets its needs. If none does, the error
says what each lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from llmcore.adapters.base import Capabilities
from llmcore.models.config import ModelConfig
from llmcore.types import ImageBlock, Message, ModelNotFound, Request, TextBlock, ToolResultBlock

__all__ = ["Needs", "missing_capabilities", "needs_of", "select"]

_CHARACTERS_PER_TOKEN = 4
"""A rough rule for English. It only excludes models whose window is clearly too small."""
_TOKENS_PER_IMAGE = 1000
_SMALLEST_WINDOW = 1000
"""Every model's window has so many tokens unless the registry says otherwise, so smaller inputs need no look-up."""
_NO_TOOLS = "tools (supports_tools)"


@dataclass(slots=True)  # not frozen: each run creates one, and freezing triples its cost
class Needs:
    """What a request needs from a model. `tokens` estimates its input."""

    tools: bool = False
    web_search: bool = False
    images: bool = False
    tokens: int = 0


def needs_of(request: Request, *, tools: bool) -> Needs:
    """Read a request's needs. O(size of the history)."""
    images, characters = 0, len(str(request.system or ""))
    for message in request.messages:
        found, length = _measured(message)
        images, characters = images + found, characters + length
    tokens = characters // _CHARACTERS_PER_TOKEN + images * _TOKENS_PER_IMAGE
    return Needs(tools, request.allow_web_search, images > 0, tokens)


def _measured(message: Message) -> tuple[int, int]:
    images, characters = 0, 0
    for block in message.content:
        for part in block.content if isinstance(block, ToolResultBlock) else (block,):
            if isinstance(part, TextBlock):
                characters += len(part.text)
            elif isinstance(part, ImageBlock):
                images += 1
    return images, characters


def missing_capabilities(config: ModelConfig, needs: Needs, capabilities: Callable[[ModelConfig], Capabilities]) -> list[str]:
    """The needs that the model does not meet, in words. Unknown counts as able, except for web search, which few
    models have.

    A model without native tools still accepts tools (the prompt teaches them) unless the registry says
    `supports_tools: false`.
    """
    least = min(config.context_window or _SMALLEST_WINDOW, _SMALLEST_WINDOW)
    if not (needs.web_search or needs.images or needs.tokens > least):  # nothing needs to be looked up
        return [_NO_TOOLS] if needs.tools and config.supports_tools is False else []
    can = capabilities(config)
    window = config.context_window or can.context_window
    checks = (
        (needs.web_search and can.web_search is not True, "web search (supports_web_search)"),
        (needs.tools and config.supports_tools is False, _NO_TOOLS),
        (needs.images and can.images is False, "images (supports_images)"),
        (
            window is not None and needs.tokens > window,
            f"context (about {needs.tokens} tokens are needed, its context_window is {window})",
        ),
    )
    return [word for fails, word in checks if fails]


def select(models: Iterable[ModelConfig], needs: Needs, capabilities: Callable[[ModelConfig], Capabilities]) -> ModelConfig:
    """The first model that meets the needs. Raises `ModelNotFound` that says what each lacks."""
    reasons: list[str] = []
    for config in models:
        missing = missing_capabilities(config, needs, capabilities)
        if not missing:
            return config
        reasons.append(f"{config.alias} lacks {' and '.join(missing)}")
    raise ModelNotFound("no model of the registry fits the request: " + ("; ".join(reasons) or "the registry is empty"))
