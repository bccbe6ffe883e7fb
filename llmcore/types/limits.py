"""Every limit of the library in one place, each with its recorded outcome. Nothing here raises by itself."""

from __future__ import annotations

from dataclasses import dataclass, fields

from llmcore.support.code.suggestions import describe_value
from llmcore.types.errors import ConfigError
from llmcore.types.input.argument_errors import in_words

__all__ = [
    "DEFAULT_LIMITS",
    "RECORDING_LIMITS",
    "REGISTRY_LIMITS",
    "TOOL_RESULT_LIMITS",
    "FileLimits",
    "Limits",
    "ToolResultLimits",
    "check_limits",
]

_LARGEST = 2_000_000_000
"""What regular expressions count to is 2**32, and what compiled code counts to 2**63."""
_DEEPEST = 256
"""Some readers make a call for each level: Python allows about a thousand within one another, a thread's small stack fewer."""
_SIZES = "its sizes are characters and bytes, as numbers"


class _Counts:
    """A dataclass whose fields are whole numbers from 0 to 2 billion, a `depth` to 256. Raises `ConfigError`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # those that derive from it are dataclasses
            value: object = getattr(self, field.name)
            most = _DEEPEST if field.name == "depth" else _LARGEST
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
                words = f"must be a whole number from 0 to {most}, not {describe_value(value)}"
                raise ConfigError(f"{type(self).__name__}.{field.name} {words}; {_SIZES}")


def check_limits(given: object) -> None:
    """Raises `ConfigError` for what are no `Limits`."""
    if not isinstance(given, Limits):
        raise ConfigError(f"`limits` must be llmcore.Limits, as Limits(text=1_000_000), not {describe_value(given)}")


@in_words()
@dataclass(frozen=True, slots=True)
class Limits(_Counts):
    """Bounds on what one reply may hold. Sizes are in characters; those of what a server sends in bytes, unpacked.

    | field | outcome when exceeded |
    |---|---|
    | `text` | what follows is content, unsearched; one `NearMiss` with reason `text_limit` |
    | `arguments` | `arguments=None`, `raw_arguments` kept; the call is reported by the validator |
    | `depth` | nested deeper: `arguments=None`; 256 at most |
    | `digits` | an integer of more decimal digits, in whatever base it is written: `arguments=None` |
    | `calls` | further calls do not run, a repair `calls_limit` tells each; in text they are content and near misses |
    | `looks` | brackets (or markers) are passed over until the text has caught up; one `NearMiss` with reason `looks_limit` |
    | `held` | the longest text withheld from a listener in prefix-decided forms |
    | `name` | a longer name is no name: the candidate is content |
    | `repairs` | a body that needs more edits cannot be read: `arguments=None` |
    | `near_misses` | further ones are counted, not kept |
    | `body` | a whole body of more bytes is broken off: `RemoteServerError` |
    | `line` | a line (an event) of a stream of more bytes: the stream is broken off, `RemoteServerError` |
    | `stream` | a stream of more bytes in all, or whose texts alone are more than `body`: as for `line` |
    | `values` | a body, or an event of a stream, of more values (those under `logprobs` apart): as for `line` |
    | `error_body` | the rest of an error's body is left unread |
    | `members` | a compressed body of more parts (gzip members): as for `body` |
    """

    text: int = 4_000_000
    arguments: int = 1_000_000
    depth: int = 64
    digits: int = 4300
    """CPython's own bound on int/str conversion (`sys.int_info.default_max_str_digits`)."""
    calls: int = 128
    looks: int = 196_608
    """What looks that came to nothing may cost beyond the text that stands before them: some 20 for a glance, 48 and its length
    for a look-ahead. Brackets and markers have accounts of their own, so text full of brackets loses no delimited call. A wrapper
    that is read by itself (a fence's body) has an eighth, and what it spends counts outside as well."""
    held: int = 1024
    name: int = 256
    repairs: int = 1000
    near_misses: int = 64
    body: int = 8_000_000
    line: int = 8_000_000
    stream: int = 64_000_000
    """128,000 tokens, the longest replies there are, in events of 330 bytes each, as OpenAI sends them, are 42 MB."""
    values: int = 65_536
    """128,000 tokens, the longest replies there are, are about as many: a value and its comma are two."""
    error_body: int = 32_768
    members: int = 1000


DEFAULT_LIMITS = Limits()


@in_words()
@dataclass(frozen=True, slots=True)
class FileLimits(_Counts):
    """Bounds on what a file that others wrote may hold. What exceeds one is refused with the limit and the place.

    | field | what |
    |---|---|
    | `size` | bytes of a file that is held whole, of one line, of one unpacked body |
    | `depth` | levels of lists and mappings |
    | `values` | values of one JSON text, one YAML file or one interaction of a cassette |
    | `aliased` | values that YAML aliases repeat, over the whole file |
    | `number` | characters of one number |
    | `members` | gzip members of one body |
    | `encodings` | content encodings of one body, one around the other |
    | `events` | events of one recorded stream, and a quarter of its lines |
    | `exchanges` | exchanges of one run, interactions of one cassette |
    """

    size: int = 64 * 1024 * 1024
    depth: int = 200
    values: int = 2_000_000
    aliased: int = 200_000
    number: int = 1000
    members: int = 10_000
    encodings: int = 4
    events: int = 500_000
    exchanges: int = 50_000


RECORDING_LIMITS = FileLimits()
"""For transcripts, cassettes and recorded replies."""

REGISTRY_LIMITS = FileLimits(size=1024 * 1024, depth=32, values=50_000, aliased=20_000)
"""For the files of a model registry."""


@in_words()
@dataclass(frozen=True, slots=True)
class ToolResultLimits(_Counts):
    """Bounds on what a tool may return. What exceeds one is a tool error that names it; text that a tool returns as it is
    has none but the memory, for it is cut and not written anew (`ToolConfig.max_result_chars`).

    | field | what |
    |---|---|
    | `values` | values, at all depths |
    | `chars` | characters of all text in it, and digits of all whole numbers |
    | `digits` | digits of one whole number, which takes time that grows with their square |
    | `depth` | levels |
    """

    values: int = 1_000_000
    chars: int = 64_000_000
    digits: int = 10_000
    depth: int = 200


TOOL_RESULT_LIMITS = ToolResultLimits()
