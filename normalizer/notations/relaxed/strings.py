"""Quoted strings with errors, and the rule that tells a closing quote from an inner one.

A quote closes a string if the text behind it, after white space, fits. Behind a key, that is `:`. Behind a value, it is a
comma that starts a new member, a closing bracket, or the end. Other quotes are inner ones (a guess). If two strings of one
text have an odd number of inner quotes, they may be one string. Then no reading is safe and none is returned, so that nothing
inside a string becomes a key.

The work is linear: a look-ahead reads at most to the second quote ahead, and no stretch is read again for many quotes.
"""

from __future__ import annotations

from typing import Literal

from llmcore.normalizer.notations.escapes import decode, decode_once
from llmcore.normalizer.notations.fence_languages import LANGUAGES
from llmcore.normalizer.notations.refusals import REPAIRS_LIMIT, clipped
from llmcore.normalizer.notations.relaxed.state import BRACKETS, CLOSERS, COLONS, COMMAS, Ended, Frame, State, Stop
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["QUOTES", "Role", "info_string", "read_delimited", "read_quoted", "starts_member", "starts_value"]

Role = Literal["key", "value"]

QUOTES = frozenset(CLOSERS)
_NOTATION = {"'": "single_quotes", "`": "back_ticks"}
_SEARCHES = {opener: lazy_regex("[" + closers + "]") for opener, closers in CLOSERS.items() if len(closers) > 1}
_CONTROL = lazy_regex(r"[\x00-\x1f]")
_CONTROL_IN_PYTHON = lazy_regex(r"(?<!\\)[\x00-\x1f]")  # a backslash at a line's end joins lines
_PREFIX = lazy_regex(r"[rRuUbBfF]{1,2}(?=[\"'])")
_FIELD = lazy_regex(r"[{}]")
_BARE_KEY = lazy_regex(r"""[^\s:=,{}\[\]()"'`\u201c\u201d]{1,256}""")
_KEYWORD = lazy_regex(r"[A-Za-z_]\w{0,64}=[\"'\[{(\w-]")
_STRUCTURAL = lazy_regex(r"[:=,{}\[\]]")
_CUT_ESCAPE = lazy_regex(r"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2})?\Z")
_INFO_STRING = lazy_regex(r"([\w.+#/:-]+|\{[.#][^{}\n]*\})?([^\n`]*)")
_ATTRIBUTE = r"[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|\{[^{}\n]*\}|[^\s\"'{}\[\]]*)"
_LINES = r"[ \t]*\{[\d,\s-]*\}"
_ATTRIBUTES = lazy_regex(rf"(?:[ \t]+{_ATTRIBUTE}|{_LINES})*[ \t\r]*")
_FILES_AND_ATTRIBUTES = lazy_regex(rf"(?:[ \t]+(?:[\w./\\:+#@%,()-]*[./\\:][\w./\\:+#@%,()-]*|{_ATTRIBUTE})|{_LINES})*[ \t\r]*")
_LONGEST_INFO = 256
_PLAIN_WORDS = lazy_regex(r"[\w \t./\\:+#@%,-]*")
_LITERAL_STARTS = ("true", "false", "null", "True", "False", "None")
_MAX_RESCUES = 4
_MAX_RESCUES_TRIED = 64


# --- reading ----------------------------------------------------------------------------------------------------------


def read_quoted(state: State, role: Role) -> str:
    r"""The string that opens at the position, including over-escaped (`\\"`) and prefixed ones (Python)."""
    text, start = state.text, state.pos
    if text[start] == "\\":
        return _read_over_escaped(state, role)
    if text[start] not in QUOTES and (prefix := _PREFIX.match(text, start, state.end)):
        return _read_prefixed(state, prefix[0].lower(), role)
    return _read_from(state, start, role, raw=False)


def _read_prefixed(state: State, prefix: str, role: Role) -> str:
    start = state.pos + len(prefix)
    if "b" in prefix:  # JSON has no bytes
        raise Stop
    value = _read_from(state, start, role, raw="r" in prefix)
    if "f" in prefix and _FIELD.search(state.text, start, state.pos) is not None:  # it needs evaluation
        raise Stop
    state.note("string_prefix", prefix)
    return value


def _read_from(state: State, start: int, role: Role, raw: bool) -> str:
    opener = state.text[start]
    body = start + 1
    triple = opener * 3
    if state.text.startswith(triple, start) and (state.flavour.python or state.cut or state.find(triple, start + 3) >= 0):
        body, close = start + 3, _triple_closer(state, triple, start + 3)
        inner = apostrophes = 0
        if opener == "`":
            return _code_block(state, body, close)
        if close >= 0:
            state.note("triple_quotes", triple)
    else:
        close, inner, apostrophes = _closer(state, body, opener, role)
        if close >= 0 and state.text[close - 1] == "\\" and _backslashes(state.text, close, body) % 2:
            inner = apostrophes = 0  # an escaped quote closes it, before any inner one
    if close < 0:
        return _unterminated(state, body, opener, role, inner + apostrophes)
    state.pos = close + (body - start)
    if opener in _NOTATION:
        state.note(_NOTATION[opener], opener)
    between = state.text[body:close]
    value = _decoded(state, between, opener, raw, triple=body - start == 3)
    if inner or apostrophes:
        state.record("inner_quotes", between, value, "guess")
    if inner % 2:
        state.odd_strings += 1
        if state.odd_strings > 1:
            raise Stop
    if not opener.isascii():
        state.record("smart_quotes", opener + clipped(between), value, "guess")
    return value


def _decoded(state: State, raw_text: str, opener: str, raw: bool = False, triple: bool = False) -> str:
    if not triple and (_CONTROL_IN_PYTHON if state.flavour.python else _CONTROL).search(raw_text):
        state.note("control_character")
    if raw:
        return raw_text
    # Python puts a string with an apostrophe in double quotes, with Python's escapes.
    style = "'" if opener == '"' and state.noted("single_quotes") else opener
    value, invalid, path = decode(raw_text, style, state.flavour.python)
    if path:
        state.record("windows_path", raw_text, value, "guess")
    elif invalid:
        state.record("invalid_escape", raw_text, value)
    return value


def _code_block(state: State, body: int, close: int) -> str:
    """A value between triple back-ticks, without its info string and the line breaks at the fences."""
    if close < 0:
        raise Ended
    lines = state.text[body:close]
    info, line_break, rest = lines.partition("\n")
    certain = info_string(info) if line_break else None
    state.pos = close + 3
    value = lines if certain is None else rest.removesuffix("\n").removesuffix("\r")
    state.record("code_block" if certain is not False else "code_block_words", lines, value, "guess")
    return value


def info_string(words: str) -> bool | None:
    """Whether the text behind the opening of a code fence is its info string.

    True for a language, alone or with attributes or file names; for any word with attributes; and for nothing. False for other
    words: they are an info string unless the text begins there (`cd /tmp`, `Oslo`). None if the text begins there.
    """
    found = _INFO_STRING.fullmatch(words.lstrip(" \t").rstrip("\r")) if len(words) <= _LONGEST_INFO else None
    if found is None or (found[1] is None and found[2].strip()):
        return None
    word, rest = (found[1] or "").lower(), found[2]
    if word in LANGUAGES and _FILES_AND_ATTRIBUTES.fullmatch(rest):
        return True
    if _ATTRIBUTES.fullmatch(rest) and (not word or word.startswith("{") or rest.strip()):
        return True
    return False if _PLAIN_WORDS.fullmatch(found[2]) else None


def _read_over_escaped(state: State, role: Role) -> str:
    r"""A string between two `\"` in JSON that was escaped once too often. Its text is escaped twice."""
    text, body = state.text, state.pos + 2
    quote = text[state.pos + 1]
    at, run = body - 1, 2
    while run % 4 > 1:
        at = text.find(quote, at + 1, state.end)
        if at < 0:
            return _unterminated(state, body, quote, role, 0)
        run = _backslashes(text, at, body)
    state.note("over_escaped", text[state.pos : state.pos + 2])
    state.pos = at + 1
    return _decoded(state, decode_once(text[body : at - run % 4]), '"')


def _unterminated(state: State, body: int, opener: str, role: Role, inner: int) -> str:
    """A string that never closes: it was cut, or a quote is missing before the last brackets."""
    rest = state.text[body : state.end]
    if role == "key":
        if state.cut or not _STRUCTURAL.search(rest):
            raise Ended
        raise Stop
    if not state.cut:
        value = _without_brackets(state, rest) if inner == 0 and state.bounded else None
        if value is not None:
            state.pos = body + len(value)
            value = _decoded(state, value.rstrip(), opener)
            state.record("missing_quote", rest, value, "guess")
            return value
        if inner:
            raise Stop
    state.complete = state.delimited = False
    state.pos = state.end
    value = _decoded(state, _without_cut_escape(rest), opener)
    state.record("cut_string", rest[-40:], value[-40:], "truncated")
    return value


def _without_brackets(state: State, rest: str) -> str | None:
    """The rest up to the brackets that close all open frames. None if it does not end in exactly these."""
    at = len(rest)
    for frame in state.frames:
        at = len(rest[:at].rstrip()) if rest[at - 1 : at].isspace() else at
        if rest[at - 1 : at] != frame.closer:
            return None
        at -= 1
    return rest[:at] if state.frames else None


def _without_cut_escape(rest: str) -> str:
    """The rest without an incomplete escape or half a surrogate pair at its end."""
    tail = _CUT_ESCAPE.search(rest, max(0, len(rest) - 6))
    if tail and _backslashes(rest, tail.start() + 1, 0) % 2:
        return rest[: tail.start()]
    return rest


def read_delimited(state: State, delimiter: str) -> str:
    """A raw string between two `delimiter`s, the first of which stands at the position. It has no escapes."""
    body = state.pos + len(delimiter)
    close = state.find(delimiter, body)
    if close < 0:
        return _unterminated_delimited(state, body)
    state.pos = close + len(delimiter)
    return state.text[body:close]


def _unterminated_delimited(state: State, body: int) -> str:
    rest = state.text[body : state.end]
    value = None if state.cut else _without_brackets(state, rest)
    if value is not None:
        state.pos = body + len(value)
        state.record("missing_delimiter", rest, value, "guess")
        return value
    state.complete = state.delimited = False
    state.pos = state.end
    state.record("cut_string", rest[-40:], rest[-40:], "truncated")
    return rest


# --- where a string ends ----------------------------------------------------------------------------------------------


def _backslashes(text: str, at: int, first: int) -> int:
    """The number of backslashes directly before `at`, counted back to `first` at most."""
    count = 0
    while at - count > first and text[at - count - 1] == "\\":
        count += 1
    return count


def _triple_closer(state: State, triple: str, body: int) -> int:
    at = state.text.find(triple, body, state.end)
    while at >= 0 and _backslashes(state.text, at, body) % 2:
        at = state.text.find(triple, at + 1, state.end)
    return at


def _closer(state: State, body: int, opener: str, role: Role) -> tuple[int, int, int]:
    """(index of the quote that closes the string, inner quotes, inner apostrophes). The index is -1 if none closes it.

    The string's text begins at `body`.
    """
    inner, apostrophes, first = 0, 0, body
    escaped: list[int] = []
    at = _next_quote(state, opener, body)
    while at >= 0:
        if _backslashes(state.text, at, first) % 2:
            if not inner and len(escaped) < _MAX_RESCUES_TRIED:
                escaped.append(at)
        elif closes(state, at + 1, role, inner % 2 == 1):
            return at, inner, apostrophes
        elif opener == "'" and _is_apostrophe(state, at):
            apostrophes += 1
        else:
            inner += 1
        if inner + apostrophes > state.limits.repairs:
            raise Stop(REPAIRS_LIMIT)
        first = at + 1
        at = _next_quote(state, opener, first)
    return _escaped_closer(state, body, escaped, role), inner, apostrophes


def _escaped_closer(state: State, body: int, escaped: list[int], role: Role) -> int:
    r"""The index of an escaped quote that may close the string (`"C:\\temp\\"`), if no other quote does. -1 if none does."""
    if state.cut or state.rescues >= _MAX_RESCUES:
        return -1
    for at in escaped:
        if state.peek_past_comments(at + 1) < state.end and closes(state, at + 1, role, odd=False):
            state.rescues += 1
            state.record("escaped_closer", state.text[body : at + 1], None, "guess")
            return at
    return -1


def _next_quote(state: State, opener: str, at: int) -> int:
    search = _SEARCHES.get(opener)
    if search is None:
        return state.text.find(CLOSERS[opener], at, state.end)
    found = search.search(state.text, at, state.end)
    return found.start() if found else -1


def _is_apostrophe(state: State, at: int) -> bool:
    return state.text[at - 1].isalnum() and state.text[at + 1 : at + 2].isalnum()


def closes(state: State, after: int, role: Role, odd: bool) -> bool:
    """Whether the text at `after`, just behind a quote, fits the end of a string. `odd`: one of its inner quotes is open."""
    text, end = state.text, state.end
    at = state.peek_past_comments(after, comments=not odd)
    if at >= end or not state.frames:
        return True
    character, frame = text[at], state.frames[-1]
    if role == "key":
        return character in COLONS or (not odd and _fits_after_lone_key(state, at, frame))
    if character in COMMAS:
        return starts_member(state, at + 1, frame)
    if character == frame.closer or character in "}]":
        return _brackets_fit(state, at, odd)
    if character in COLONS:
        return frame.kind == "call"
    if character == "{" and at == after and not odd and _starts_key(state, state.peek_past_comments(at + 1), strict=True):
        raise Stop  # two objects are merged
    if odd or (at == after and not state.flavour.python):
        return False
    return _fits_without_comma(state, after, at, frame)


def _fits_after_lone_key(state: State, at: int, frame: Frame) -> bool:
    """Whether a key without a colon ends here: before a value, or in braces that are a set."""
    character = state.text[at]
    return (character in ",}" and not frame.members) or starts_value(state.text, at)


def starts_value(text: str, at: int) -> bool:
    """Whether a value starts at `at` that cannot be a part of the text before."""
    return text[at] in QUOTES or text[at] in "{[-0123456789" or text.startswith(_LITERAL_STARTS, at)


def _brackets_fit(state: State, at: int, odd: bool) -> bool:
    """Whether the brackets at `at` close open frames, and the text behind them fits as well."""
    text, end = state.text, state.end
    for depth in range(len(state.frames)):
        if at >= end:
            return True
        if text[at] not in BRACKETS:
            return depth > 0 and (not odd or text[at] in COMMAS)
        at = state.peek_past_comments(at + 1, comments=False)
    if at >= end:
        return True
    if odd:
        return text[at] in "}],;<`" or text[at - 1] == "\n"
    return text[at] != '"' or text[at - 1] == "\n"


def _fits_without_comma(state: State, after: int, at: int, frame: Frame) -> bool:
    """Whether the next member follows without a comma, or the other half of a Python string."""
    character = state.text[at]
    if state.flavour.python and (character in "\"'" or _PREFIX.match(state.text, at, state.end)):
        return True
    if at == after:
        return False
    if frame.kind == "call" and _KEYWORD.match(state.text, at, state.end):
        return True
    if frame.kind == "array":
        return character in QUOTES or character in "{["
    new_line = "\n" in state.text[after:at]
    return (character in QUOTES or character == "\\" or new_line) and starts_member(state, at, frame, strict=True)


def starts_member(state: State, at: int, frame: Frame, *, strict: bool = False) -> bool:
    """Whether a new member of `frame` can start at `at`. `strict`: a key needs its colon."""
    at = state.peek_past_comments(at)
    text, end = state.text, state.end
    if at >= end:
        return True
    character = text[at]
    if character in BRACKETS or character in COMMAS:
        return not strict
    if any(text.startswith(delimiter, at) for delimiter in state.flavour.delimiters):
        return True
    if frame.kind == "object":
        return _starts_key(state, at, strict)
    if character in QUOTES or character in "{[(-.0123456789" or text.startswith('\\"', at):
        return True
    word = _BARE_KEY.match(text, at, end)
    following = state.peek_past_comments(word.end()) if word else at
    if following >= end:
        return word is not None
    return word is not None and text[following] in (",])}(=:" if frame.kind == "call" else ",]")


def _starts_key(state: State, at: int, strict: bool) -> bool:
    text, end = state.text, state.end
    if at >= end:
        return False
    escaped = text[at] == "\\" and text[at + 1 : at + 2] in {'"', "'"}
    if escaped or text[at] in QUOTES:
        body = at + 2 if escaped else at + 1
        close = _next_unescaped(state, text[body - 1], body, escaped)
        if close < 0:
            return state.cut
        following = state.peek_past_comments(close + 1)
        if following >= end:
            return state.cut
        return text[following] in COLONS or (not strict and starts_value(text, following))
    word = _BARE_KEY.match(text, at, end)
    if word is None:
        return False
    following = state.peek_past_comments(word.end())
    if following >= end:
        return state.cut
    if text[following] in COLONS:
        return True
    return word[0].startswith("--") and following > word.end()


def _next_unescaped(state: State, quote: str, body: int, escaped: bool) -> int:
    """The next quote without a backslash. In over-escaped text (`escaped`), the next quote."""
    first = body
    at = min((found for closer in CLOSERS[quote] if (found := state.find(closer, first)) >= 0), default=-1)
    while at >= 0 and not escaped and _backslashes(state.text, at, first) % 2:
        first = at + 1
        at = _next_quote(state, quote, first)
    return at
