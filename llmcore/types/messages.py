"""Messages and their content blocks: the history of a conversation with a model.

Every type is a frozen pydantic model. Its `type` is one of a closed set and no class path, so a stored history is plain data. A
history round-trips through JSON unchanged. What llmcore does not understand stays a `ProviderBlock`, which goes back only to the
provider that it came from.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator

from llmcore.support.values.copies import Value
from llmcore.support.values.json_data import JsonObject, JsonText
from llmcore.support.values.media_kinds import AUDIO, FILE, IMAGE, MediaKind, split_data_url

__all__ = [
    "AudioBlock",
    "Block",
    "CacheControl",
    "FileBlock",
    "ImageBlock",
    "MediaBlock",
    "Message",
    "ProviderBlock",
    "RedactedThinkingBlock",
    "ResultBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
]

Role = Literal["system", "user", "assistant", "tool"]
_MAX_SHOWN = 60


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


class _Media(_Block):
    """The base of images, files and audio: by URL, or as base64 data with its media type. One of `url` and `data` is set.

    `from_bytes` and `from_path` make a block of bytes or of a file on this machine. A `repr` shows no data.
    """

    kind: ClassVar[MediaKind]
    url: str | None = None
    data: str | None = Field(default=None, repr=False)
    """Base64, without a `data:` prefix."""
    media_type: str | None = None
    """For example `image/png`; required with `data`."""

    def model_post_init(self, context: Any, /) -> None:
        what = f"an {self.kind.type} block" if self.kind.type != "file" else "a file block"
        if (self.url is None) == (self.data is None):
            raise ValueError(f"{what} holds either `url` or `data` (base64), not both and not neither")
        if self.data is not None and self.media_type is None:
            example = next(iter(self.kind.signatures))
            raise ValueError(f"{what} with `data` also needs `media_type`, for example {example!r}")
        if self.data is not None and self.data.startswith("data:"):
            raise ValueError(f"{what}'s `data` is base64 alone; give a data URL as `url`")

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str | None = None, **fields: Any) -> Self:
        """A block of these bytes.

        The format is recognised if `media_type` is None. `fields` are other fields of the block.
        Raises `CallerError` for no bytes, and for bytes of an unknown format.
        """
        found = media_type or cls.kind.recognised(data)
        if not data or found is None:
            raise cls.raises(
                f"{cls.__name__}.from_bytes: the {len(data)} bytes are in no known format ({cls.kind.formats}); give `media_type`"
            )
        return cls(data=b64encode(data).decode(), media_type=found, **fields)

    @classmethod
    def from_path(cls, path: str | PathLike[str], media_type: str | None = None, **fields: Any) -> Self:
        """A block of a file, which is read at once.

        If `media_type` is None, the bytes decide, and then the name's ending. Raises `CallerError` for a file that cannot be
        read, is empty, or has an unknown format.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise cls.raises(f"{cls.__name__}.from_path: {str(path)!r} cannot be read: {error.strerror or error}") from error
        from mimetypes import guess_type  # only here: few programs read files

        guessed = media_type or cls.kind.recognised(data) or guess_type(str(path))[0]
        if "name" in cls.model_fields:
            fields = {"name": Path(path).name, **fields}
        return cls.from_bytes(data, guessed, **fields)

    @property
    def data_url(self) -> str:
        """The `url`, or the data as a URL of the form `data:image/png;base64,...`."""
        return self.url if self.url is not None else f"data:{self.media_type};base64,{self.data}"

    @property
    def base64(self) -> str | None:
        """The base64 of `data`, or of a `data:` URL; None for any other URL."""
        found = split_data_url(self.url) if self.url is not None else None
        return found[1] if found else self.data

    @property
    def known_type(self) -> str | None:
        """The `media_type`, or that of a `data:` URL; None if neither says one."""
        found = split_data_url(self.url) if self.url is not None and self.media_type is None else None
        return found[0] if found else self.media_type

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            is_data = name == "url" and isinstance(value, str) and value.startswith("data:")
            yield name, f"{value.partition(',')[0][:_MAX_SHOWN]},... ({len(value)} characters)" if is_data else value


class ImageBlock(_Media):
    """An image, by URL or as base64 data with its media type."""

    kind = IMAGE
    type: Literal["image"] = "image"
    detail: str | None = None
    """The resolution for OpenAI's models (`low`, `high`, `auto`). Other providers have no such field."""


class FileBlock(_Media):
    """A document, such as a PDF, by URL or as base64 data with its media type."""

    kind = FILE
    type: Literal["file"] = "file"
    name: str | None = None
    """The file's name, for providers that show it to the model."""


class AudioBlock(_Media):
    """An audio recording, by URL or as base64 data with its media type."""

    kind = AUDIO
    type: Literal["audio"] = "audio"


MediaBlock = ImageBlock | FileBlock | AudioBlock
"""A block of any kind of media."""
ResultBlock = TextBlock | MediaBlock
"""What a tool's result may hold."""


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
    content: list[ResultBlock] = Field(default_factory=list[ResultBlock])
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
    citations, refusals, spoken answers, server-side tools.

    It stays in the history. Requests to `provider` send the parts of it that the provider accepts; other requests omit it.
    """

    type: Literal["provider"] = "provider"
    provider: str
    """The API that it came from: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock-converse`, ..."""
    data: JsonObject


Block = Annotated[
    ResultBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock | RedactedThinkingBlock | ProviderBlock,
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
