"""The form of a row of the provider table: everything in which providers differ, as data.

A provider is a row, never a subclass. A limit is `verified` if the provider's specification or its recorded errors confirm
it. Verified limits are enforced before sending; the others only warn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from llmcore.adapters.base import Capabilities

__all__ = ["CHAT_MEDIA", "IMAGES_ALONE", "IdRule", "MediaRule", "ModelRule", "NameRule", "Provider", "ProviderLimits"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which tool names the wire format accepts: all characters are in `characters`, and at most `length` of them."""

    characters: str = "A-Za-z0-9_-"
    length: int = 64
    first: str | None = None
    """Characters with which the name may start, if these are fewer."""
    source: str = ""

    def fits(self, name: str) -> bool:
        start = f"(?=[{self.first}])" if self.first else ""
        return re.fullmatch(f"{start}[{self.characters}]{{1,{self.length}}}", name) is not None


@dataclass(frozen=True, slots=True)
class IdRule:
    """Which call ids the wire format accepts in the history."""

    characters: str = "A-Za-z0-9_-"
    length: int = 64
    exact: bool = False
    """Whether the id must have exactly `length` characters (Mistral)."""
    source: str = ""

    def fits(self, call_id: str) -> bool:
        least = self.length if self.exact else 1
        return re.fullmatch(f"[{self.characters}]{{{least},{self.length}}}", call_id) is not None


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Limits on the tools of one request. None means unknown. `source` names where the figures come from."""

    max_tools: int | None = None
    max_tools_bytes: int | None = None
    verified: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class MediaRule:
    """How a provider takes one kind of media.

    `by_url`: by any URL. Elsewhere LiteLLM would fetch it, or send the URL as data. `own_urls`: beginnings of URLs that it takes
    nevertheless, such as those of its own storage. `in_results`: also in a tool's result.
    `types`: the media types that it takes; empty if it takes each type of the kind, or decides by the model.
    """

    by_url: bool = False
    own_urls: tuple[str, ...] = ()
    in_results: bool = False
    types: frozenset[str] = frozenset()

    def takes_url(self, url: str) -> bool:
        return self.by_url or url.startswith(("data:", *self.own_urls))


CHAT_MEDIA: Mapping[str, MediaRule] = {
    "image": MediaRule(by_url=True),
    "file": MediaRule(),
    "audio": MediaRule(),
}
"""OpenAI's chat completions: `image_url` takes a URL or data, `file` and `input_audio` take data."""
IMAGES_ALONE: Mapping[str, MediaRule] = {"image": MediaRule(by_url=True)}


@dataclass(frozen=True, slots=True)
class ModelRule:
    """What the models matching `pattern` (a glob for the name in lower case) can do beyond their provider's row.

    `changes` are fields of `Provider` that differ for them, if one provider serves several families.
    """

    pattern: str
    capabilities: Capabilities
    source: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def matches(self, model: str) -> bool:
        return fnmatchcase(model.lower(), self.pattern)


@dataclass(frozen=True, slots=True)
class Provider:
    """One row: how LiteLLM reaches a provider, what the provider can do, and its peculiarities."""

    name: str
    prefix: str
    """LiteLLM's routing prefix: the model is sent as `prefix/model`."""
    route: str = ""
    """A prefix before the model's name. Without it, LiteLLM looks the route up in a list that lacks new models."""
    own_routes: tuple[str, ...] = ()
    """Patterns of names that contain their route, or use another one."""
    wire: str | None = "openai-chat"
    """The format of its raw reply body, by the normalizer's name."""
    default_path: str = ""
    """Appended to a base URL without a path."""
    appended_path: str = ""
    """Removed from the end of a base URL, since LiteLLM appends it."""
    api_key_variable: str | None = None
    """The environment variable with the key. None if the provider needs no key or takes it from elsewhere."""
    sources: tuple[str, ...] = ()
    """The pages and notes from which this row was made. The rows of models name their own."""
    hosts: tuple[str, ...] = ()
    """The provider's own domains."""
    needs_package: str = ""
    """The module with which LiteLLM signs in here but which it does not install, and the package to install: `a.b (c)`."""
    credentials: str = ""
    """What signs requests instead of a key, and where it comes from, in words. Empty if a key is used."""
    token_variable: str = ""
    """The environment variable with a token that LiteLLM sends by itself."""
    sends_token: bool = False
    """Whether LiteLLM sends a token that it signs in for, whatever key it receives."""
    needs_url: str = ""
    """An example of the base URL, if there is no usual one and the user must give it."""
    url_variable: str = ""
    """The environment variable from which LiteLLM takes a missing base URL."""
    model_names: tuple[str, ...] = ()
    """Globs (lower case) of its models' names. Empty if it serves models with any name."""
    capabilities: Capabilities = field(default_factory=Capabilities)
    models: tuple[ModelRule, ...] = ()
    """The first row that matches counts."""
    schema_flag: str | None = None
    """The key in LiteLLM's table that decides whether LiteLLM sends a response schema."""
    schema_dialect: str = "json_schema"
    """The rule set of `schemas` for tool parameters."""
    output_dialect: str = "json_schema"
    """The rule set of `schemas` for the schema in `response_format`."""
    strict_tools: bool = False
    """Whether it accepts `strict` with a tool. If LiteLLM omits it nevertheless, that is recorded."""
    names: NameRule | None = None
    ids: IdRule | None = None
    limits: tuple[ProviderLimits, ...] = ()
    dropped: frozenset[str] = frozenset()
    """Request parameters that LiteLLM refuses or drops silently here. They are never sent; the run enforces those that
    matter."""
    thinking: str | None = None
    """How `Request.thinking` is sent: `anthropic` (token budget), `effort` (`reasoning_effort`), or `effort if known` (the
    same, if the model is known or configured to reason)."""
    thinks_by_default: bool | None = None
    """Whether models think without a request to. None: those known to reason do. For a user's own server: any model may."""
    efforts: tuple[tuple[int, str], ...] = ((2048, "low"), (8192, "medium"))
    """The words of an effort, each with its greatest budget. A larger budget is `high`."""
    forces_while_thinking: bool = True
    """Whether it accepts a forced call with a thinking budget."""
    thinks_after_unsigned_calls: bool = True
    """Whether it accepts a thinking budget if the last calls lack the signed reasoning that led to them."""
    sampling_while_thinking: tuple[tuple[str, float, float], ...] = ()
    """Parameters whose range a thinking budget restricts: name, least and greatest value."""
    needs_max_tokens: bool = False
    """Whether the wire format requires `max_tokens` (LiteLLM would send its table's maximum)."""
    searches_by: str = "web_search_options"
    """How native web search is requested: LiteLLM's parameter, `body` (the same, if LiteLLM refuses it), `plugin`
    (OpenRouter's `web`), or `responses` (the tool of OpenAI's Responses endpoint, to which the request is then sent).
    Empty if the wire format has no search."""
    searches_beside_tools: bool = True
    """Whether it accepts native web search together with tools. If not, LiteLLM omits the search silently."""
    returns_refusals: bool = False
    """Whether a refusal of an earlier turn is sent back in the field `refusal`. Elsewhere its words become the message's
    text."""
    returns_reasoning: bool = False
    """Whether reasoning of a turn with calls is sent back as `reasoning_content`."""
    prompt_cache: bool = False
    """Whether it accepts `cache_control` marks on content."""
    media: Mapping[str, MediaRule] = field(default_factory=lambda: CHAT_MEDIA, hash=False)
    """The media that its messages may hold, by `MediaKind.type`. A kind without a rule is not sent: the wire format has no part
    for it, or LiteLLM omits it."""
    declares_called_tools: bool = False
    """Whether it refuses calls in the history of a request without tools. LiteLLM would invent a tool, or refuse the request
    itself."""
    one_system_message: bool = False
    """Whether system messages have only one place, at the start (chat templates of local servers, and formats in which they
    are no messages). A later one moves there, which is recorded."""
    tokenizes_words: bool = False
    """Whether the server tokenizes special tokens in a message's words. They are then broken in requests and restored in
    replies."""
    takes_system_messages: bool = True
    """Whether it accepts system messages at all. Elsewhere their text begins the first user message."""
    raw_body: frozenset[str] = frozenset()
    """Parameters that the provider accepts but LiteLLM would change or drop. They are sent unchanged through `extra_body`."""
    extra_body: str = "litellm"
    """How `extra_body` is sent: by LiteLLM's parameter of that name; by the `transport`, which adds it to LiteLLM's body, if
    LiteLLM would send a field of that name; or as separate `arguments`, if the body is also signed."""
    reports_cost: bool = False
    """Whether `usage.cost` of a reply is the provider's charge in US dollars. Elsewhere LiteLLM computes it. LiteLLM requests
    it by `usage` without being asked to."""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def has_responses(self) -> bool:
        """Whether it has OpenAI's Responses endpoint, which accepts reasoning with tools if chat completions do not."""
        return self.searches_by == "responses"

    def row(self, model: str) -> ModelRule | None:
        return next((row for row in self.models if row.matches(model)), None)

    def serving(self, model: str) -> Provider:
        """This row with the changes for the family of one model."""
        row = self.row(model)
        return replace(self, **row.changes) if row is not None and row.changes else self

    def routed(self, model: str) -> str:
        """The model's name for LiteLLM."""
        return f"{self.prefix}/{_by_route(self.route, self.own_routes, model) if self.route else model}"

    def may_serve(self, model: str) -> bool:
        """Whether the model's name may be one of its own."""
        name = model.lower()
        return not self.model_names or any(fnmatchcase(name, pattern) for pattern in self.model_names)


@lru_cache(maxsize=1024)
def _by_route(route: str, own_routes: tuple[str, ...], model: str) -> str:
    return model if any(fnmatchcase(model.lower(), pattern) for pattern in own_routes) else f"{route}/{model}"
