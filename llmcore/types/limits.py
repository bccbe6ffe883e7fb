"""All limits of the library, each with what happens when it is exceeded."""

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

_MAX_VALUE = 2_000_000_000
"""Below the bounds of regular expressions (2**32) and of compiled code (2**63)."""
_MAX_DEPTH = 256
"""Some parsers recurse once per level. Python allows about a thousand nested calls, and the small stack of a thread fewer."""
_SIZES = "its sizes are characters and bytes, as numbers"


class _CheckedLimits:
    """A dataclass whose fields are whole numbers from 0 to 2 billion, `depth` up to 256. Raises `ConfigError` for others."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # those that derive from it are dataclasses
            value: object = getattr(self, field.name)
            most = _MAX_DEPTH if field.name == "depth" else _MAX_VALUE
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
                words = f"must be a whole number from 0 to {most}, not {describe_value(value)}"
                raise ConfigError(f"{type(self).__name__}.{field.name} {words}; {_SIZES}")


def check_limits(given: object) -> None:
    """Raises `ConfigError` if `given` is no `Limits`."""
    if not isinstance(given, Limits):
        raise ConfigError(f"`limits` must be llmcore.Limits, as Limits(text=1_000_000), not {describe_value(given)}")


@in_words()
@dataclass(frozen=True, slots=True)
class Limits(_CheckedLimits):
    """Limits on one reply. `body`, `line`, `stream` and `error_body` count bytes after decompression; other sizes are characters.

    | field | what happens beyond it |
    |---|---|
    | `text` | The rest is content and is not searched for calls. One `NearMiss` has the reason `text_limit`. |
    | `arguments` | The call has `arguments=None` and keeps `raw_arguments`. The validator reports it. |
    | `depth` | Arguments that are nested deeper are `arguments=None`. At most 256. |
    | `digits` | An integer of more decimal digits, in any base, makes `arguments=None`. |
    | `calls` | Further calls do not run; each has a repair `calls_limit`. In text they are content and near misses. |
    | `looks` | Brackets or markers are skipped until the budget recovers. One `NearMiss` has the reason `looks_limit`. |
    | `held` | The longest text that a stream withholds before it decides whether the text is a call. |
    | `name` | A longer name is no name, so the candidate is content. |
    | `repairs` | A body that needs more edits cannot be read: `arguments=None`. |
    | `near_misses` | Further near misses are counted, not kept. |
    | `body` | Reading stops, and `RemoteServerError` is raised. |
    | `line` | A longer line or event ends the stream with `RemoteServerError`. |
    | `stream` | A longer stream, or one whose texts alone exceed `body`, ends as for `line`. |
    | `values` | A body or an event with more values, except those under `logprobs`, ends as for `line`. |
    | `error_body` | The rest of an error's body is not read. |
    | `members` | A compressed body of more gzip members ends as for `body`. |
    """

    text: int = 4_000_000
    arguments: int = 1_000_000
    depth: int = 64
    digits: int = 4300
    """CPython's own bound on int/str conversion (`sys.int_info.default_max_str_digits`)."""
    calls: int = 128
    looks: int = 196_608
    """The backtrack budget: the cost of failed look-aheads beyond the length of the text before them. A failed match costs about
    20, a failed look-ahead 48 and its length. Brackets and markers have separate budgets, so text full of brackets loses no
    delimited call. A wrapper that is read by itself (the body of a fence) has an eighth of it, which counts outside too."""
    held: int = 1024
    name: int = 256
    repairs: int = 1000
    near_misses: int = 64
    body: int = 8_000_000
    line: int = 8_000_000
    stream: int = 64_000_000
    """The longest replies have 128,000 tokens. In OpenAI's events of 330 bytes each that is 42 MB."""
    values: int = 65_536
    """A value and its comma are two tokens, so this is about 128,000 tokens, the longest replies there are."""
    error_body: int = 32_768
    members: int = 1000


DEFAULT_LIMITS = Limits()


@in_words()
@dataclass(frozen=True, slots=True)
class FileLimits(_CheckedLimits):
    """Limits on a file that others wrote. The error for an exceeded limit names the limit and the place.

    | field | what it counts |
    |---|---|
    | `size` | bytes of a file that is read whole, of one line, of one decompressed body |
    | `depth` | levels of lists and mappings |
    | `values` | values of one JSON text, one YAML file or one interaction of a cassette |
    | `aliased` | values that YAML aliases repeat, over the whole file |
    | `number` | characters of one number |
    | `members` | gzip members of one body |
    | `encodings` | nested content encodings of one body |
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
class ToolResultLimits(_CheckedLimits):
    """Limits on a tool's result. A result beyond a limit is a tool error that names it.

    Plain text has no limit here: it is cut to `ToolConfig.max_result_chars`, not serialized.

    | field | what it counts |
    |---|---|
    | `values` | values, at all depths |
    | `chars` | characters of all text in it, and digits of all whole numbers |
    | `digits` | digits of one whole number; the time to convert it grows with their square |
    | `depth` | levels |
    """

    values: int = 1_000_000
    chars: int = 64_000_000
    digits: int = 10_000
    depth: int = 200


TOOL_RESULT_LIMITS = ToolResultLimits()
