"""What a provider differs in, as data: the shape of a row of the provider table.

A provider is a row, never a subclass. Marks of a limit's source follow the project's notes: `verified` figures come
from a provider's published specification or its recorded errors and are enforced before sending; the others only warn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from llmcore.adapters.base import Capabilities

__all__ = ["IdRule", "Limits", "ModelRow", "NameRule", "Provider"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which tool names the wire takes: every character must match `characters`, at most `length` of them."""

    characters: str = "A-Za-z0-9_-"
    length: int = 64
    first: str | None = None
    """Characters the name may start with, where that is a smaller set."""

    def fits(self, name: str) -> bool:
        start = f"(?=[{self.first}])" if self.first else ""
        return re.fullmatch(f"{start}[{self.characters}]{{1,{self.length}}}", name) is not None


@dataclass(frozen=True, slots=True)
class IdRule:
    """Which call ids the wire takes back in the history."""

    characters: str = "A-Za-z0-9_-"
    length: int = 64
    exact: bool = False
    """The id must have exactly `length` characters (Mistral)."""

    def fits(self, call_id: str) -> bool:
        least = self.length if self.exact else 1
        return re.fullmatch(f"[{self.characters}]{{{least},{self.length}}}", call_id) is not None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the tools of one request; None = no figure is known, and none is invented. `source` says where it is
    from."""

    max_tools: int | None = None
    max_tools_bytes: int | None = None
    verified: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What the models matching `pattern` (a glob on the model's name, lower case) can do beyond their provider's
    row."""

    pattern: str
    capabilities: Capabilities

    def matches(self, model: str) -> bool:
        return fnmatchcase(model.lower(), self.pattern)


@dataclass(frozen=True, slots=True)
class Provider:
    """One row: how a provider is reached through LiteLLM, what it can do, and where it is peculiar."""

    name: str
    prefix: str
    """LiteLLM's routing prefix: the model goes out as `prefix/model`."""
    wire: str | None = "openai-chat"
    """The shape of its raw reply body (the normaliser's name for it)."""
    default_path: str = ""
    """Appended to a base URL that has no path of its own."""
    spare_path: str = ""
    """Removed from the end of a base URL, since LiteLLM appends it itself."""
    api_key_variable: str | None = None
    """The environment variable LiteLLM falls back to; None = the provider needs no key."""
    capabilities: Capabilities = field(default_factory=Capabilities)
    models: tuple[ModelRow, ...] = ()
    """The first row that matches counts."""
    schema_flag: str | None = None
    """The key of LiteLLM's table by which it decides whether to send a response schema at all."""
    schema_dialect: str = "json_schema"
    """Rule set of `schemas` for tool parameters."""
    output_dialect: str = "json_schema"
    """Rule set of `schemas` for the schema of `response_format`."""
    strict_tools: bool = False
    """Sends `strict` with a tool whose schema loses nothing by it."""
    names: NameRule | None = None
    ids: IdRule | None = None
    limits: tuple[Limits, ...] = ()
    dropped: frozenset[str] = frozenset()
    """Request parameters LiteLLM refuses or drops silently here: never sent, enforced by the layers above where they
    matter."""
    thinking: str | None = None
    """How `Request.thinking` is asked for: `anthropic` (token budget) or `effort` (`reasoning_effort`)."""
    returns_reasoning: bool = False
    """Reasoning of a turn with calls is sent back as `reasoning_content`."""
    prompt_cache: bool = False
    """Takes `cache_control` marks on content."""
    images_in_results: bool = False
    """A tool's result may hold images."""
    one_system_message: bool = False
    """Takes a system message only at the start (chat templates of local servers)."""
    raw_body: frozenset[str] = frozenset()
    """Parameters LiteLLM would rewrite or drop here and the provider takes: sent through `extra_body` as they are."""
    spreads_extra_body: bool = False
    """LiteLLM sends `extra_body` itself as a field here: its entries are given as plain parameters instead."""
    reports_cost: bool = False
    """`usage.cost` of a reply is what the provider charged, in US dollars; elsewhere it is LiteLLM's own sum."""
    headers: tuple[tuple[str, str], ...] = ()

    def row(self, model: str) -> ModelRow | None:
        return next((row for row in self.models if row.matches(model)), None)
