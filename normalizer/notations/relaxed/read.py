"""Read broken JSON: one pass, linear, every edit recorded, nothing invented.

It reads single quotes, back-ticks, smart quotes, unquoted keys, Python literals, tuples, sets, comments, surplus and missing
commas, `=` for `:`, raw line breaks, invalid escapes, over-escaped text, inner quotes, wrong, missing and surplus brackets,
arithmetic and other notations of numbers. Text without a safe reading is refused.

The kinds of `Repair` of this reader and of its callers:
- lossless, a notation, recorded once per text: single_quotes back_ticks triple_quotes string_prefix unquoted_key markdown_escape
  python_literal tuple set parentheses comment white_space escaped_white_space over_escaped trailing_comma control_character
  keyword_colon quoted_keyword
- lossless, each time: invalid_escape extra_comma missing_closer wrong_closer extra_closer number_notation, duplicate_key of one
  value twice, double_encoded code_fence byte_order_mark
- coerced: arithmetic leading_zero rounded_number
- guess: inner_quotes smart_quotes missing_comma missing_colon key_separator comma bare_word bare_text key_of_words joined_strings
  literal windows_path escaped_closer missing_quote missing_delimiter code_block code_block_words omission; also extra_comma
  between two others, duplicate_key of two values, wrong_closer and extra_closer where members follow, number_notation with a plus
  sign
- truncated: cut_member cut_string missing_closer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llmcore.normalizer.notations.refusals import ARGUMENTS_LIMIT, UNREADABLE
from llmcore.normalizer.notations.relaxed.plain import plain_braces
from llmcore.normalizer.notations.relaxed.state import Ended, Flavour, State, Stop
from llmcore.normalizer.notations.relaxed.structure import read_root
from llmcore.normalizer.notations.strict import sound_container
from llmcore.types.envelope import Repair
from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = ["Relaxed", "read_relaxed", "repaired"]

_JSON = Flavour()
_BRACE_LANGUAGE = frozenset({"unquoted_key"})


@dataclass(slots=True)
class Relaxed:
    """The result of reading `text[start:end]`.

    - `end`: just past the value.
    - `complete`: False if the text ended inside the value, even if `cut` was not set. `value` then holds its complete parts.
    - `delimited`: False if closing brackets are missing and the last value does not show its own end: a number, an open string,
      or nothing after a comma.
    - `error`: why nothing could be read: `unreadable`, `nested_call`, `arguments_limit`, `depth_limit`, `digits_limit`,
      `repairs_limit`.
    """

    value: Any = None
    end: int = 0
    repairs: list[Repair] = field(default_factory=list[Repair])
    complete: bool = True
    error: str | None = None
    delimited: bool = True


def read_relaxed(
    text: str,
    start: int = 0,
    end: int | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    cut: bool = False,
    string_delimiters: tuple[str, ...] = (),
) -> Relaxed:
    """The value at `start`. Never raises.

    - `end`: the slice holds only the value, layout and stray brackets. If it is None, anything may follow the value.
    - `cut`: the reply ended inside the slice. Missing brackets are then "truncated", and a number, a bare word or a part of a
      literal at the very end is left out.
    - `string_delimiters`: they open and close raw strings without escapes (`<escape>`, `<|"|>`). Keys are unquoted in such text.
    """
    if end is not None and not cut:
        written = text[start:end]
        value = plain_braces(written, string_delimiters[0], limits) if string_delimiters else sound_container(written, limits)
        if value is not None:
            return Relaxed(value, start + len(written))
    return repaired(text, start, end, limits=limits, cut=cut, string_delimiters=string_delimiters)


def repaired(
    text: str,
    start: int = 0,
    end: int | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    cut: bool = False,
    string_delimiters: tuple[str, ...] = (),
    spaced_keys: bool = False,
) -> Relaxed:
    """As `read_relaxed`, for callers that have tried a strict reader. `spaced_keys`: unquoted keys may hold blanks."""
    whole = len(text) if end is None else min(end, len(text))
    last = min(whole, start + limits.arguments + 1)
    delimiters = tuple(filter(None, string_delimiters))
    flavour = Flavour(_BRACE_LANGUAGE, delimiters, spaced_keys=spaced_keys) if string_delimiters else _JSON
    state = State(text, start, last, limits=limits, cut=cut, flavour=flavour, bounded=end is not None)
    try:
        value = read_root(state)
        error = None
    except Stop as stop:
        value, error = None, stop.reason
    except Ended:
        value, error, state.complete = None, UNREADABLE, False
    if state.pos - start > limits.arguments:
        value, error = None, ARGUMENTS_LIMIT
    repairs = [] if error else state.repairs
    return Relaxed(value, state.pos, repairs, state.complete, error, state.delimited)
