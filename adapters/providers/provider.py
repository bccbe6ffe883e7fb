"""What a provider differs in, as data: the shape of a row of the provider table.

A provider is a row, never a subclass. A limit is `verified` where it comes from a provider's published specification or its
recorded errors; it is enforced before sending. The others only warn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from llmcore.adapters.base import Capabilities

__all__ = ["IdRule", "ModelRow", "NameRule", "Provider", "ProviderLimits"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which tool names the wire takes: every character must match `characters`, at most `length` of them."""

    characters: str = "A-Za-z0-9_-"
    length: int = 64
    first: str | None = None
    """Characters the name may start with, where that is a smaller set."""
    source: str = ""

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
    source: str = ""

    def fits(self, call_id: str) -> bool:
        least = self.length if self.exact else 1
        return re.fullmatch(f"[{self.characters}]{{{least},{self.length}}}", call_id) is not None


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Bounds on the tools of one request; None = no figure is known, and none is invented. `source` says where it is
    from."""

    max_tools: int | None = None
    max_tools_bytes: int | None = None
    verified: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What the models matching `pattern` (a glob on the model's name, lower case) can do beyond their provider's
    row. `changes`: fields of `Provider` that differ for them, where one provider serves several families."""

    pattern: str
    capabilities: Capabilities
    source: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def matches(self, model: str) -> bool:
        return fnmatchcase(model.lower(), self.pattern)


@dataclass(frozen=True, slots=True)
class Provider:
    """One row: how a provider is reached through LiteLLM, what it can do, and where it is peculiar."""

    name: str
    prefix: str
    """LiteLLM's routing prefix: the model goes out as `prefix/model`."""
    route: str = ""
    """What stands before a model's name of which LiteLLM would else look up the way in a list, which lacks new ones."""
    own_routes: tuple[str, ...] = ()
    """Patterns of the names that say their way themselves, or go by another."""
    wire: str | None = "openai-chat"
    """The shape of its raw reply body (the normaliser's name for it)."""
    default_path: str = ""
    """Appended to a base URL that has no path of its own."""
    spare_path: str = ""
    """Removed from the end of a base URL, since LiteLLM appends it itself."""
    api_key_variable: str | None = None
    """The environment variable that holds the key; None = the provider needs no key, or takes it from elsewhere."""
    sources: tuple[str, ...] = ()
    """The pages and notes that this row was made from. The rows of models name their own."""
    hosts: tuple[str, ...] = ()
    """The provider's own domains."""
    needs_package: str = ""
    """The module that LiteLLM signs in with here, which it does not bring along, and what to install for it: `a.b (c)`."""
    credentials: str = ""
    """What signs requests in place of a key, and where it is taken from, in words; empty = a key does."""
    token_variable: str = ""
    """The environment variable with a token that LiteLLM sends by itself."""
    sends_token: bool = False
    """LiteLLM sends a token that it signs in for, whatever key it is given."""
    needs_url: str = ""
    """An example of the base URL, where there is no usual one, so that the user must give it."""
    url_variable: str = ""
    """The environment variable LiteLLM takes the base URL from where none is given."""
    names_of_models: tuple[str, ...] = ()
    """Globs (lower case) one of which each of its models' names fits; empty = it serves models of any name."""
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
    """Takes `strict` with a tool; where LiteLLM leaves it out of the body nevertheless, that is recorded."""
    names: NameRule | None = None
    ids: IdRule | None = None
    limits: tuple[ProviderLimits, ...] = ()
    dropped: frozenset[str] = frozenset()
    """Request parameters LiteLLM refuses or drops silently here: never sent, enforced by the layers above where they
    matter."""
    thinking: str | None = None
    """How `Request.thinking` is asked for: `anthropic` (token budget), `effort` (`reasoning_effort`), or `effort if known` (the
    same, where the model is known, or told, to reason)."""
    thinks_unasked: bool | None = None
    """Does a model think where nobody asks it to? None = one that is known to reason does; of a user's own server any may."""
    efforts: tuple[tuple[int, str], ...] = ((2048, "low"), (8192, "medium"))
    """The words of an effort, each with the greatest budget that it stands for; above them it is `high`."""
    forces_while_thinking: bool = True
    """Takes a forced call beside a thinking budget."""
    thinks_after_unsigned_calls: bool = True
    """Takes a thinking budget while the last calls stand without the signed reasoning that led to them."""
    sampling_while_thinking: tuple[tuple[str, float, float], ...] = ()
    """Parameters that it takes beside a thinking budget only within a range: name, least and greatest value."""
    needs_max_tokens: bool = False
    """The wire requires `max_tokens` (LiteLLM would put in its table's maximum)."""
    searches_by: str = "web_search_options"
    """How native web search is asked for: LiteLLM's parameter, `body` (the same, where LiteLLM refuses it), `plugin`
    (OpenRouter's `web`), or `responses` (the tool of OpenAI's other endpoint, to which the request then goes); empty where there
    is no word for it on the wire, whatever a registry says of the model."""
    searches_beside_tools: bool = True
    """Takes native web search in one request with tools; LiteLLM leaves the search out without a word where it does not."""
    returns_refusals: bool = False
    """A refusal of an earlier turn goes back in the field `refusal`; elsewhere its words are the message's text."""
    returns_reasoning: bool = False
    """Reasoning of a turn with calls is sent back as `reasoning_content`."""
    prompt_cache: bool = False
    """Takes `cache_control` marks on content."""
    images_in_results: bool = False
    """A tool's result may hold images."""
    images_by_url: bool = True
    """Takes an image by its URL; elsewhere LiteLLM would fetch it, or send the URL as if it were data."""
    own_image_urls: tuple[str, ...] = ()
    """How the URLs begin that it takes nevertheless: those of its own storage."""
    declares_called_tools: bool = False
    """Refuses calls in the history of a request that offers no tools; LiteLLM would invent one, or refuse it itself."""
    loses_images: bool = False
    """LiteLLM sends only the text of a message here: an image in it is left out."""
    one_system_message: bool = False
    """Has one place for system messages, at the start (chat templates of local servers, and the wires where they are no
    messages): a later one goes there, which is recorded."""
    tokenises_words: bool = False
    """A special token in a message's words is taken for one: those are broken on the way out, and restored in replies."""
    takes_system_messages: bool = True
    """Has a place for them at all; elsewhere their text opens the first message of the user's."""
    raw_body: frozenset[str] = frozenset()
    """Parameters LiteLLM would rewrite or drop here and the provider takes: sent through `extra_body` as they are."""
    extra_body: str = "litellm"
    """How `extra_body` goes out: by LiteLLM's parameter of that name; by the `transport`, which adds it to LiteLLM's body, where
    LiteLLM would send a field of that name; as `arguments` of their own, where in addition the body is signed."""
    reports_cost: bool = False
    """`usage.cost` of a reply is what the provider charged, in US dollars; elsewhere it is LiteLLM's own sum. LiteLLM asks for it
    by `usage`, unasked."""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def has_responses(self) -> bool:
        """Is there OpenAI's other endpoint, which takes reasoning beside tools where chat completions do not?"""
        return self.searches_by == "responses"

    def row(self, model: str) -> ModelRow | None:
        return next((row for row in self.models if row.matches(model)), None)

    def serving(self, model: str) -> Provider:
        """This row as it stands for one model: with what differs for the family behind it."""
        row = self.row(model)
        return replace(self, **row.changes) if row is not None and row.changes else self

    def routed(self, model: str) -> str:
        """The model as LiteLLM is asked for it."""
        return f"{self.prefix}/{_by_route(self.route, self.own_routes, model) if self.route else model}"

    def may_serve(self, model: str) -> bool:
        """Can the model be one of its own, by its name?"""
        name = model.lower()
        return not self.names_of_models or any(fnmatchcase(name, pattern) for pattern in self.names_of_models)


@lru_cache(maxsize=1024)
def _by_route(route: str, own_routes: tuple[str, ...], model: str) -> str:
    return model if any(fnmatchcase(model.lower(), pattern) for pattern in own_routes) else f"{route}/{model}"
