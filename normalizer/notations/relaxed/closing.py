"""The end of a member and of a container: separators, and brackets that are right, wrong, missing or surplus."""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.notations.relaxed.state import BRACKETS, COMMAS, Frame, State, Stop
from llmcore.normalizer.notations.relaxed.strings import QUOTES, starts_member

__all__ = ["assign_value", "close_all", "close_frame", "separator"]

_GAP = 64  # white space between two records without a comma


def assign_value(state: State, frame: Frame, value: Any) -> None:
    if frame.key is None:
        frame.positional.append(value)
    else:
        if frame.key in frame.members:
            before = frame.members[frame.key]
            same = type(before) is type(value) and before == value
            state.record("duplicate_key", before, value, "lossless" if same else "guess")
        frame.members[frame.key] = value
    frame.after_value, frame.comma = True, False


def separator(state: State, frame: Frame) -> None:
    """Read what stands after a member: a comma, a closing bracket or, if the comma is missing, the next member."""
    text, pos = state.text, state.pos
    character = text[pos]
    if character in COMMAS + ";":
        if character != ",":
            state.record("comma", character, ",", "guess")
        state.pos += 1
        frame.after_value, frame.comma, frame.key = False, True, None
        frame.commas += 1
    elif character in BRACKETS:
        close_frame(state, frame, character)
    elif _comma_is_missing(state, frame):
        between_records = len(state.frames) == 1 and character == "{" and text[max(0, pos - _GAP) : pos].rstrip().endswith("}")
        state.record("missing_comma", "", ",", "lossless" if between_records else "guess")
        frame.after_value, frame.key = False, None
        frame.commas += 1
    else:
        raise Stop


def _comma_is_missing(state: State, frame: Frame) -> bool:
    """Whether a new member certainly begins: behind a value that shows its own end, or behind white space."""
    text, pos = state.text, state.pos
    if not (state.delimited or text[pos - 1].isspace()):
        return False
    if frame.kind == "array":
        return text[pos] in QUOTES or text[pos] in "{[" or text.startswith(state.flavour.delimiters, pos)
    return starts_member(state, pos, Frame("object", "{", frame.closer), strict=True)


def close_frame(state: State, frame: Frame, character: str) -> None:
    """Close the top frame by its own bracket, or repair another one."""
    if frame.comma:
        state.note("trailing_comma", "," + character, character)
    after = state.peek_past_comments(state.pos + 1)
    comma = after < state.end and state.text[after] in COMMAS
    if character == frame.closer:
        if comma and len(state.frames) == 1 and frame.kind == "object" and state.bounded and _key_follows(state, after):
            _drop_closer(state, frame, character)
        else:
            state.pos += 1
            _pop(state)
    elif frame.kind == "call":
        if character != "]":
            raise Stop
        state.record("missing_closer", "", ")")  # the bracket closes the list of calls
        state.closed = False
        _pop(state)
    else:
        key = comma and _key_follows(state, after)
        ends_call = character == ")" and state.frames[0].kind == "call" and not key
        if comma and not ends_call and frame.kind == ("object" if key else "array"):
            _drop_closer(state, frame, character)
        else:
            _close_by_other(state, frame, character, comma, ends_call)


def _key_follows(state: State, comma: int) -> bool:
    return starts_member(state, comma + 1, Frame("object", "{", "}"), strict=True)


def _drop_closer(state: State, frame: Frame, character: str) -> None:
    """Drop a surplus bracket: members of the same frame follow."""
    state.record("extra_closer", character, "", "guess")
    state.pos += 1
    frame.after_value, frame.comma = True, False


def _close_by_other(state: State, frame: Frame, character: str, comma: bool, ends_call: bool) -> None:
    """Handle a wrong bracket: it replaces the right one, or closes an outer frame whose inner brackets are missing."""
    depth = next((at for at in range(len(state.frames) - 2, -1, -1) if state.frames[at].closer == character), -1)
    if depth >= 0 and (ends_call or not comma) and _closers_ahead(state) < len(state.frames):
        missing = "".join(inner.closer for inner in reversed(state.frames[depth + 1 :]))
        state.record("missing_closer", "", missing, "guess" if comma else "lossless")
        while len(state.frames) > depth + 1:
            _pop(state)
        return
    state.record("wrong_closer", character, frame.closer, "guess" if comma else "lossless")
    state.pos += 1
    _pop(state)


def _closers_ahead(state: State) -> int:
    count, at = 0, state.pos
    while count < len(state.frames) and at < state.end and state.text[at] in BRACKETS:
        count += 1
        at = state.peek_past_comments(at + 1)
    return count


def _pop(state: State) -> None:
    value = state.frames.pop().value
    state.delimited = True
    if state.frames:
        assign_value(state, state.frames[-1], value)


def close_all(state: State) -> None:
    """Close all frames at the text's end: their brackets are missing."""
    frame = state.frames[-1]
    state.delimited = frame.after_value and state.delimited
    missing = "".join(frame.closer for frame in reversed(state.frames))
    if state.cut or not state.complete:
        state.complete = False
        state.record("missing_closer", "", missing, "truncated")
    else:
        state.record("missing_closer", "", missing, "guess" if frame.comma else "lossless")
    delimited = state.delimited
    while state.frames:
        _pop(state)
    state.delimited, state.closed = delimited, False
