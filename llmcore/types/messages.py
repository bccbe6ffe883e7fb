"""Messages and their content blocks: the history that goes to a model and comes back from it.

Rules: every type is a frozen pydantic model told apart by its `type`, which comes from a closed set (no class paths, so a
stored history is plain data). A history round-trips through JSON unchanged. Whatever this library does not understand
travels as a `ProviderBlock` and returns to the provider it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator

from llmcore.support.values.copies import Value
from llmcore.support.values.json_data import JsonObject, JsonText

__all__ = [
    "Block",
    "CacheControl",
    "ImageBlock",
    "Message",
    "ProviderBlock",
    "RedactedThinkingBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
]

Role = Literal["system", "user", "assistant", "tool"]


class _Frozen(Value):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CacheControl(_Frozen):
    """A prompt-cache mark, in Anthropic's form: `{"type": "ephemeral", "ttl": "5m" | "1h"}`."""

    type: Literal["ephemeral"] = "ephemeral"
    ttl: Literal["5m", "1h"] | None = None


class _Block(_Frozen):
    cache_control: CacheControl | None = None
    """Where the provider's prompt cache may end a prefix; ignored by providers that have none."""


class TextBlock(_Block):
    """Plain text."""

    type: Literal["text"] = "text"
    text: JsonText


class ImageBlock(_Block):
    """An image, by URL or as base64 data with its media type; exactly one of `url` and `data` is set."""

    type: Literal["image"] = "image"
    url: str | None = None
    data: str | None = Field(default=None, repr=False)
    """Base64, without a `data:` prefix."""
    media_type: str | None = None
    """For example `image/png`; required with `data`."""
    detail: str | None = None
    """How closely OpenAI's models are to look (`low`, `high`, `auto`); other wires do not have it."""

    def model_post_init(self, context: Any, /) -> None:
        if (self.url is None) == (self.data is None):
            raise ValueError("an image block holds either `url` or `data` (base64), not both and not neither")
        if self.data is not None and self.media_type is None:
            raise ValueError("an image block with `data` also needs `media_type`, for example 'image/png'")
        if self.data is not None and self.data.startswith("data:"):
            raise ValueError("an image block's `data` is base64 alone; give a data URL as `url`")


class ToolUseBlock(_Block):
    """A call the model made, as it stands in the history.

    `input` is None when the arguments could not be read; then `raw_input` holds what the model wrote, and the adapters render
    a valid stand-in (`{"INVALID_JSON": raw}`), so that a poisoned call never makes the history unsendable.
    """

    type: Literal["tool_use"] = "tool_use"
    id: JsonText
    name: JsonText
    input: JsonObject | None
    raw_input: JsonText = ""


class ToolResultBlock(_Block):
    """The answer to one `ToolUseBlock`, found by `tool_use_id`."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: JsonText
    content: list[TextBlock | ImageBlock] = Field(default_factory=list[TextBlock | ImageBlock])
    is_error: bool = False
    name: JsonText | None = None
    """The tool's name: some wires (Gemini, Ollama) answer by name as well as by id."""

    @field_validator("content", mode="before")
    @classmethod
    def _text_is_one_block(cls, value: Any) -> Any:
        return [TextBlock(text=value)] if isinstance(value, str) else value

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


class ThinkingBlock(_Block):
    """Reasoning with its signature. The text may be empty while the signature is not; both must be sent back unchanged."""

    type: Literal["thinking"] = "thinking"
    thinking: JsonText
    signature: JsonText | None = None


class RedactedThinkingBlock(_Block):
    """Reasoning that the provider encrypted."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str = Field(repr=False)


class ProviderBlock(_Block):
    """A part only its own provider understands: Gemini thought signatures, Responses reasoning items, citations, refusals,
    documents, audio, server-side tools. It stays in the history. What `provider`'s wire takes of it goes back there, and
    nowhere else.
    """

    type: Literal["provider"] = "provider"
    provider: str
    """The wire it came by: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock-converse`, ..."""
    data: JsonObject


Block = Annotated[
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock | RedactedThinkingBlock | ProviderBlock,
    Field(discriminator="type"),
]


_KEYS = ("role", "content")


class Message(_Frozen):
    """One turn. `content` may be given as a str, which becomes one `TextBlock`.

    Tool results stand in a message of role `tool` (or `user`, as Anthropic has it); the adapters render either for each wire.
    """

    role: Role
    content: list[Block]

    if TYPE_CHECKING:  # content may be given as a str

        def __init__(self, *, role: Role, content: str | Sequence[Block]) -> None: ...

    @field_validator("content", mode="before")
    @classmethod
    def _text_is_one_block(cls, value: Any) -> Any:
        return [TextBlock(text=value)] if isinstance(value, str) else value

    def __getitem__(self, key: str) -> Any:
        """`role` and `content`, as the dicts of other libraries have them: content that is nothing but text is a text, any
        other a list of dicts."""
        if key == "role":
            return self.role
        if key != "content":
            raise KeyError(key)
        return (
            self.text
            if all(isinstance(block, TextBlock) for block in self.content)
            else [one.model_dump() for one in self.content]
        )

    def keys(self) -> tuple[str, ...]:
        """As of such a dict, so that `{**message}` is one."""
        return _KEYS

    def get(self, key: str, default: Any = None) -> Any:
        """As of such a dict."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return key in _KEYS

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    @property
    def tool_uses(self) -> list[ToolUseBlock]:
        return [block for block in self.content if isinstance(block, ToolUseBlock)]

    @property
    def tool_results(self) -> list[ToolResultBlock]:
        return [block for block in self.content if isinstance(block, ToolResultBlock)]
