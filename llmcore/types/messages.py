"""Messages and their content blocks: the history of a conversation with a model.

Every type is a frozen pydantic model. Its `type` is one of a closed set and no class path, so a stored history is plain data. A
history round-trips through JSON unchanged. What llmcore does not understand stays a `ProviderBlock`, which goes back only to the
provider that it came from.
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
    """Marks the end of a prefix for the provider's prompt cache. Providers without such marks ignore it."""


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
    """The resolution for OpenAI's models (`low`, `high`, `auto`). Other providers have no such field."""

    def model_post_init(self, context: Any, /) -> None:
        if (self.url is None) == (self.data is None):
            raise ValueError("an image block holds either `url` or `data` (base64), not both and not neither")
        if self.data is not None and self.media_type is None:
            raise ValueError("an image block with `data` also needs `media_type`, for example 'image/png'")
        if self.data is not None and self.data.startswith("data:"):
            raise ValueError("an image block's `data` is base64 alone; give a data URL as `url`")


class ToolUseBlock(_Block):
    """A tool call in the history.

    If the arguments could not be read, `input` is None and `raw_input` has the model's text. The adapters then send a valid
    replacement (`{"INVALID_JSON": raw}`), so that such a call never makes the history unsendable.
    """

    type: Literal["tool_use"] = "tool_use"
    id: JsonText
    name: JsonText
    input: JsonObject | None
    raw_input: JsonText = ""


class ToolResultBlock(_Block):
    """The answer to the `ToolUseBlock` whose id is `tool_use_id`."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: JsonText
    content: list[TextBlock | ImageBlock] = Field(default_factory=list[TextBlock | ImageBlock])
    is_error: bool = False
    name: JsonText | None = None
    """The tool's name, which some providers (Gemini, Ollama) need beside the id."""

    @field_validator("content", mode="before")
    @classmethod
    def _text_is_one_block(cls, value: Any) -> Any:
        return [TextBlock(text=value)] if isinstance(value, str) else value

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


class ThinkingBlock(_Block):
    """Reasoning with its signature. Both must be sent back unchanged. The text may be empty although there is a signature."""

    type: Literal["thinking"] = "thinking"
    thinking: JsonText
    signature: JsonText | None = None


class RedactedThinkingBlock(_Block):
    """Reasoning that the provider encrypted."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str = Field(repr=False)


class ProviderBlock(_Block):
    """A part that only its own provider understands: Gemini's thought signatures, reasoning items of OpenAI's Responses API,
    citations, refusals, documents, audio, server-side tools.

    It stays in the history. Requests to `provider` send the parts of it that the provider accepts; other requests omit it.
    """

    type: Literal["provider"] = "provider"
    provider: str
    """The API that it came from: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock-converse`, ..."""
    data: JsonObject


Block = Annotated[
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock | RedactedThinkingBlock | ProviderBlock,
    Field(discriminator="type"),
]


_KEYS = ("role", "content")


class Message(_Frozen):
    """One message. `content` may be given as a str, which becomes one `TextBlock`.

    Tool results belong in a message of role `tool`, or `user` as in Anthropic's API. The adapters convert either for each API.
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
        """`role` or `content`, as in the dicts of other libraries: content of only text is a str, any other a list of dicts."""
        if key == "role":
            return self.role
        if key != "content":
            raise KeyError(key)
        return (
            self.text
            if all(isinstance(block, TextBlock) for block in self.content)
            else [block.model_dump() for block in self.content]
        )

    def keys(self) -> tuple[str, ...]:
        """The keys of such a dict, so that `{**message}` makes one."""
        return _KEYS

    def get(self, key: str, default: Any = None) -> Any:
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
