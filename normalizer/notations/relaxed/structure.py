"""Containers: one state machine for relaxed JSON, brace languages and the arguments of Python calls.

It has a stack of frames and takes one step per token; it does not recurse. The next token alone decides each step, so a text
is read once. Unreadable text raises the internal `Stop`.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.normalizer.notations.refusals import DEPTH_LIMIT, REPAIRS_LIMIT
from llmcore.normalizer.notations.relaxed.closing import assign_value, close_all, close_frame, separator
from llmcore.normalizer.notations.relaxed.lexemes import ABSENT, LITERALS, json_number, read_bare
from llmcore.normalizer.notations.relaxed.state import BRACKETS, COLONS, COMMAS, Ended, Frame, FrameKind, State, Stop
from llmcore.normalizer.notations.relaxed.strings import QUOTES, read_delimited, read_quoted, starts_value
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["read_container", "read_root"]

_OPENED: Any = object()
_CLOSER_OF = {"{": "}", "[": "]", "(": ")"}
_QUOTED_KEY = lazy_regex(r"[" + "".join(QUOTES) + r"]|\\[\"']|[rRuU]{1,2}[\"']")
_PREFIXED = lazy_regex(r"[rRuUbBfF]{1,2}[\"']")
_KEY = lazy_regex(r"""[^\s:=,{}\[\]()"'`\u201c\u201d]{1,256}""")
_KEY_OF_WORDS = lazy_regex(r"([A-Za-z]\w{0,32} [\w -]{1,64})(?=:[ \n])")
_SPACED_KEY = lazy_regex(r"([^\W\d]\w{0,32} [\w -]{1,64})(?=:)")
# Most strings are sound. One token is a key with its colon, or a value before a comma and the next key.
_WHOLE_KEY = {quote: lazy_regex(rf"{quote}([^{quote}\\\x00-\x1f]*+){quote}[ \t\r\n]*+:") for quote in "\"'"}
_WHOLE_VALUE = {
    quote: lazy_regex(
        rf"{quote}([^{quote}\\\x00-\x1f]*+){quote}(?=[ \t\r\n]*+,[ \t\r\n]*+{quote}[^{quote}\\]*+{quote}[ \t\r\n]*+:)"
    )
    for quote in "\"'"
}
_PLAIN = lazy_regex(r"(?:(-?(?:0|[1-9][0-9]{0,15}))|(true|false|null))(?=[ \t\r\n]*+[,}\]])")
_KEYWORD = lazy_regex(r"([A-Za-z_]\w*+)\s*+=\s*+(?![=>])")
_WHOLE_ARGUMENT = {
    quote: lazy_regex(rf"{quote}([^{quote}\\\x00-\x1f]*+){quote}(?=\s*+(?:,\s*+[A-Za-z_]\w*+\s*+=|\)\s*+(?:[\],;]|\Z)))")
    for quote in "\"'"
}
_NEXT_KEY = lazy_regex(r",\s{0,16}[\w-]{1,64}\s{0,16}:")
_SIMPLE = lazy_regex(r"[^,}\]]{0,64}")
_LAYOUT_BEFORE_MARK = 16


def read_root(state: State) -> Any:
    """The value at the position. Raises `Stop` if it is unreadable, and `Ended` for a scalar that was cut."""
    state.skip()
    if state.pos >= state.end:
        raise Stop
    value = _begin(state)
    return _run(state) if value is _OPENED else value


def read_container(state: State, frame: Frame) -> Any:
    """The value of a container whose opening bracket was read."""
    state.frames.append(frame)
    return _run(state)


def _run(state: State) -> Any:
    """Read until the outermost frame is closed, and return its value."""
    root = state.frames[0]
    while state.frames:
        try:
            state.skip()
            if state.pos >= state.end:
                close_all(state)
                break
            frame = state.frames[-1]
            if frame.after_value:
                separator(state, frame)
            else:
                _member(state, frame)
        except Ended:
            state.complete = state.delimited = False
            state.record("cut_member", state.text[max(state.pos, state.end - 40) : state.end], None, "truncated")
            state.pos = state.end
            state.frames[-1].after_value, state.frames[-1].key = False, None
            close_all(state)
    return root.value


# --- members ----------------------------------------------------------------------------------------------------------


def _member(state: State, frame: Frame) -> None:
    """Read one member of the top frame, a surplus comma or a closing bracket."""
    character = state.text[state.pos]
    if character in COMMAS:
        # A gap between two commas may mean null.
        state.record("extra_comma", character, "", "guess" if frame.comma else "lossless")
        state.pos += 1
        frame.comma = True
        return
    if character in BRACKETS:
        close_frame(state, frame, character)
        return
    if frame.kind == "object":
        if not _read_key(state, frame):
            return
    elif frame.kind == "call":
        _read_keyword(state, frame)
    if plain := _PLAIN.match(state.text, state.pos, state.end):
        state.pos, state.delimited = plain.end(), plain[1] is None
        assign_value(state, frame, LITERALS[plain[2]] if plain[1] is None else int(plain[1]))
        return
    if frame.kind != "array" and (whole := _whole(state, _WHOLE_OF[frame.kind])) is not None:
        assign_value(state, frame, whole)
        return
    value = _begin(state)
    if value is _OPENED:
        return
    if frame.kind == "call" and frame.key is None and isinstance(value, str) and _becomes_key(state, frame, value):
        value = _begin(state)
        if value is _OPENED:
            return
    assign_value(state, frame, value)


def _read_key(state: State, frame: Frame) -> bool:
    """Read a key and its colon. False if the braces are a set, whose first item was read."""
    frame.key = None
    if (key := _whole(state, _WHOLE_KEY)) is not None:
        frame.key = key
        _require_value(state)
        return True
    quoted = _QUOTED_KEY.match(state.text, state.pos) is not None or state.text.startswith(state.flavour.delimiters, state.pos)
    key = _key(state)
    state.skip()
    if state.pos >= state.end:
        raise Ended
    if state.text[state.pos] in ",}" and not frame.members and not frame.positional:
        _turn_into_set(state, frame, key, quoted)
        return False
    if not quoted and " " not in key:
        state.note("unquoted_key", key)
    _colon(state, quoted or key.startswith("--"))
    frame.key = key
    _require_value(state)
    return True


def _require_value(state: State) -> None:
    state.skip()
    if state.pos >= state.end:
        raise Ended


def _key(state: State) -> str:
    text, pos = state.text, state.pos
    for delimiter in state.flavour.delimiters:
        if text.startswith(delimiter, pos):
            return read_delimited(state, delimiter)
    if text[pos] in QUOTES or text.startswith(('\\"', "\\'"), pos) or _PREFIXED.match(text, pos, state.end):
        return read_quoted(state, "key")
    found = _KEY.match(text, pos, state.end)
    if found is None:
        raise Stop
    state.pos = found.end()
    if "\\_" in found[0]:
        state.note("markdown_escape", found[0])
    elif phrase := (_SPACED_KEY if state.flavour.spaced_keys else _KEY_OF_WORDS).match(text, pos, state.end):
        state.record("key_of_words", phrase[1], phrase[1], "guess")
        state.pos = phrase.end(1)
        return phrase[1]
    return found[0].replace("\\_", "_")


_WHOLE_OF = {"object": _WHOLE_VALUE, "call": _WHOLE_ARGUMENT}


def _whole(state: State, patterns: dict[str, re.Pattern[str]]) -> str | None:
    """The sound string at the position, if usual text follows it. None if it must be read more closely."""
    quote = state.text[state.pos]
    found = patterns[quote].match(state.text, state.pos, state.end) if quote in patterns else None
    if found is None:
        return None
    state.pos, state.delimited = found.end(), True
    if quote == "'":
        state.note("single_quotes", quote)
    return found[1]


def _turn_into_set(state: State, frame: Frame, first: str, quoted: bool) -> None:
    item: Any = first
    if not quoted:
        state.delimited = False
        item = LITERALS.get(first, json_number(first, state.limits.digits))
        if item is ABSENT:
            raise Stop
    state.note("set")
    frame.kind = "array"
    assign_value(state, frame, item)


def _colon(state: State, quoted: bool) -> None:
    text, pos = state.text, state.pos
    if text[pos] == ":":
        state.pos += 1
        return
    width = 2 if text.startswith("=>", pos) else 1
    if text[pos] in COLONS and not text.startswith("==", pos):
        state.record("key_separator", text[pos : pos + width], ":", "guess")
        state.pos += width
        return
    # If the colon is missing, a value must begin with what no key has.
    if text[pos] in QUOTES or text[pos] in "{[\\" or (quoted and starts_value(text, pos)):
        state.record("missing_colon", "", ":", "guess")
        return
    raise Stop


def _read_keyword(state: State, frame: Frame) -> None:
    """Read `name=` or `name:` before an argument, if there is one."""
    frame.key = None
    text = state.text
    if usual := _KEYWORD.match(text, state.pos, state.end):
        frame.key, state.pos = usual[1], usual.end()
        _require_value(state)
        return
    found = _KEY.match(text, state.pos, state.end)
    if found is None or not (found[0][0].isalpha() or found[0][0] == "_"):
        return
    at = state.peek_past_comments(found.end())
    if at >= state.end:
        if state.cut:
            raise Ended
        return
    if text[at] not in ":=" or text.startswith(("==", "://"), at):
        return
    frame.key = found[0].replace("\\_", "_")
    _keyword_separator(state, at)


def _becomes_key(state: State, frame: Frame, value: str) -> bool:
    """Whether the string is a quoted keyword (`f("city": "Paris")`). If so, it becomes the key."""
    state.skip()
    at = state.pos
    if at >= state.end or state.text[at] not in ":=" or state.text.startswith("==", at):
        return False
    frame.key = value
    state.note("quoted_keyword", value)
    _keyword_separator(state, at)
    return True


def _keyword_separator(state: State, at: int) -> None:
    text = state.text
    if text.startswith("=>", at):
        state.record("key_separator", "=>", "=", "guess")
        state.pos = at + 2
    else:
        if text[at] == ":":
            state.note("keyword_colon", ":", "=")
        state.pos = at + 1
    _require_value(state)


# --- values -----------------------------------------------------------------------------------------------------------


def _begin(state: State) -> Any:
    """The scalar at the position, or `_OPENED` if a container opens, whose frame is pushed."""
    text, pos = state.text, state.pos
    character = text[pos]
    state.delimited = True
    for delimiter in state.flavour.delimiters:
        if text.startswith(delimiter, pos):
            return read_delimited(state, delimiter)
    if character in QUOTES or _PREFIXED.match(text, pos, state.end):
        return _quoted(state)
    if character == "\\":
        if text.startswith(('\\"', "\\'"), pos):
            return read_quoted(state, "value")
        character = text[pos + 1 : pos + 2]
        if character not in _CLOSER_OF:
            raise Stop
        state.note("markdown_escape", text[pos : pos + 2])
        state.pos += 1
    if character in _CLOSER_OF:
        return _open(state, character)
    if state.flavour.delimiters:
        value = _without_opening_delimiter(state)
        if value is not None:
            return value
    return read_bare(state)


def _quoted(state: State) -> str:
    value = read_quoted(state, "value")
    if not state.flavour.python:
        return value
    parts = [value]
    while (at := state.peek_past_comments(state.pos)) < state.end:
        if state.text[at] not in "\"'" and not _PREFIXED.match(state.text, at, state.end):
            break
        if len(parts) > state.limits.repairs:
            raise Stop(REPAIRS_LIMIT)
        state.skip()
        parts.append(read_quoted(state, "value"))  # adjacent literals are one string
    joined = "".join(parts)
    if len(parts) > 1:  # a comma between them may be missing
        state.record("joined_strings", parts[0], joined, "guess")
    return joined


def _open(state: State, opener: str) -> Any:
    if len(state.frames) >= state.limits.depth:
        raise Stop(DEPTH_LIMIT)
    state.pos += 1
    kind: FrameKind = "object" if opener == "{" else "array"
    if opener == "(":
        named = _names_first_member(state)
        kind = "object" if named else "array"
        state.note("parentheses" if named else "tuple", "(")
    state.frames.append(Frame(kind, opener, _CLOSER_OF[opener]))
    return _OPENED


def _names_first_member(state: State) -> bool:
    """Whether `key:` stands behind the parenthesis. If so, the parenthesis stands for a brace."""
    word = _KEY.match(state.text, state.peek_past_comments(state.pos), state.end)
    return word is not None and state.text.startswith(":", state.peek_past_comments(word.end()))


def _without_opening_delimiter(state: State) -> str | None:
    """A delimited string whose opening delimiter is missing. None if it is none."""
    text, pos = state.text, state.pos
    simple = _SIMPLE.match(text, pos, state.end)
    token = simple[0].strip() if simple else ""
    if token in LITERALS or json_number(token, state.limits.digits) is not ABSENT:
        return None
    for delimiter in state.flavour.delimiters:
        close = state.find(delimiter, pos)
        before = text[max(pos, close - _LAYOUT_BEFORE_MARK) : close].rstrip()[-1:]
        if close < 0 or before in {":", "[", "{", "(", ","} or _NEXT_KEY.search(text, pos, close):
            continue
        after = state.peek_past_comments(close + len(delimiter))
        if after >= state.end or text[after] in ",}])":
            state.pos = close + len(delimiter)
            state.record("missing_delimiter", text[pos : state.pos], text[pos:close], "guess")
            return text[pos:close]
    return None
