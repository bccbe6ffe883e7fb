"""Parts of all readers of JSON bodies: where a body ends, which calls it holds, and closers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from llmcore.normalizer.bodies.preview import BodyPreview, Preview
from llmcore.normalizer.calls.call_messages import CallMessage, calls_of, is_no_call, without_last
from llmcore.normalizer.calls.call_objects import LIST_KEYS, CallObject, arguments_of, default_arguments
from llmcore.normalizer.calls.repeated_keys import all_in_arrays
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.names import holds_calls
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.notations.extent import Extent, delimiters_of
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.notations.refusals import clipped
from llmcore.normalizer.notations.strict import sound_object
from llmcore.normalizer.scanning.source import Steps, match_within, past, wait_for_one, wait_while
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, BLANKS, TURN_TOKENS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair

__all__ = [
    "QUICK",
    "Body",
    "Levels",
    "add_calls",
    "arguments_body",
    "body_extent",
    "closing",
    "extra_closers",
    "marker_stands",
    "named_call",
    "quick_body",
    "read_body",
    "swallow",
    "to_closer",
]

_HEAD = lazy_regex(r'\{\s*"name"\s*:\s*"([^"\\]{1,256})"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)')
_ARGUMENTS = lazy_regex(r'"([^"\\]{1,256})"\s*:\s*(?=\{)')
_NAME = lazy_regex(r'["\'](?:name|tool_name|function|tool)["\']\s*:\s*["\'](?=\s{0,64}[^"\'\\\s])([^"\'\\]{1,256})["\']')
_QUOTE = lazy_regex(r"[\[{(\s]*(\\?['\"])")
_FIRST_QUOTE = 64
_QUOTES = {"'": "'\"", '\\"': ""}  # by the first one; an escaped one belongs to a body that is encoded twice and ends no string
_OPENING = 8  # characters that tell an opener from text in a body
_LEFT_OVER = 512  # characters behind a body's object that may belong to it
_OVER = lazy_regex(r"\n[ \t]*+\r?\n|<[|｜][^<>\s]{1,60}[|｜]>|</(?:\w{1,16}:)?think")
"""A new paragraph, a token, or the end of reasoning."""
_NAMED = lazy_regex(r"(?<![^\s<>{}()\[\]\"',:])([^\s<>{}()\[\]\"',:]{1,256}+)\s{0,16}+\{")
"""A possible name of another call, before its arguments."""
_BEGUN = lazy_regex(r"(?:<[|｜][^<>\s]{0,61}+|(?<![^\s<>{}()\[\]\"',:])[^\s<>{}()\[\]\"',:]{1,256}+\s{0,16}+)\Z")
"""The beginning of a match of `_OVER` or `_NAMED`, at the text's end."""
_MEMBER = lazy_regex(r"""[ \t]*+(?:,\s*+["']?[\w.-]{1,64}+["']?|["'][\w.-]{1,64}+["']|[\w.-]{1,64}+(?=:<\|))\s*+:""")
"""A member of an object: a comma or a quotation mark, a key, a colon."""
_MEMBER_BEGUN = lazy_regex(r"""[ \t]*+(?:(?:,\s*+["']?[\w.-]{0,64}+["']?|["'][\w.-]{0,64}+["']?)\s*+)?\Z""")
"""The beginning of a member at the text's end, nothing included: then the reader waits for more."""
_EXTRA = lazy_regex(rf"[{BLANKS}}}\])]*")
_SPACE = lazy_regex(rf"[{BLANKS}]*")
_LONGEST_CLOSER = 64
_STRAY = 4  # fewer characters than this at the text's end may be surplus brackets
_SPACED_CLOSER = lazy_regex(r"</ {0,4}([^\s<>]{0,48}+) {0,4}")
_TURN_TOKENS = frozenset(TURN_TOKENS)
_LAYOUT = lazy_regex(r"[\s,]*")
_TAG = lazy_regex(r"<[^\s<>=/]{1,64}+[=>]?+")
_HEAD_LENGTH = 640  # characters before a body that hold its opener
QUICK = 16_384  # characters: a longer body is scanned for its end before it is parsed


Levels = tuple[tuple[str, ...], ...]
"""The elements that end with a call, each as its alternative closers."""


class Body:
    """A stretch of JSON, `start:end`.

    `cut`: the text ended inside. `closed`: it ended by its own bracket. `again`: the opener that stands before it also stands
    where it should be closed.
    """

    __slots__ = ("again", "closed", "cut", "end", "lost", "read", "start")

    def __init__(self, start: int, end: int, *, cut: bool = False, closed: bool = True, again: bool = False) -> None:
        self.start, self.end, self.cut, self.closed, self.again = start, end, cut, closed, again
        self.read: CallMessage | None = None
        """Its message, if finding its end has read it already."""
        self.lost = False
        """Whether the cut part did not yet name what it calls. The calls before that part are complete."""


def body_extent(reading: Reading, start: int, closers: tuple[str, ...], preview: BodyPreview | None = None) -> Steps[Body]:
    """Find where the bracketed value at `start` ends: by its own bracket, else by a closer or another marker, else cut."""
    src = reading.src
    quote = yield from match_within(src, _QUOTE, start, _FIRST_QUOTE)
    quotes = _QUOTES.get(quote[1], '"') if quote is not None else '"'
    extent = Extent(start, quotes=quotes, delimiters=delimiters_of(closers))
    while True:
        end = extent.scan(src.text, src.final)
        if end >= 0:
            if preview is not None:
                preview.advance()
            return Body(start, end)
        if extent.stopped >= 0:
            stands = yield from marker_stands(reading, extent.stopped, closers)
            if stands and not (yield from _is_stray_closer(reading, extent.stopped, closers)):
                return Body(start, extent.stopped, closed=False, again=_opens_again(reading, start, extent.stopped))
            extent.position, extent.stopped = extent.stopped + 1, -1
            continue
        if src.final:
            break
        if preview is not None:
            preview.advance()
        yield preview.skim if preview is not None and preview.sleeps() else None
    return _unclosed(reading, start, extent, closers)


def _opens_again(reading: Reading, start: int, at: int) -> bool:
    """Whether the opener at `at` also stands before the body at `start`."""
    opener = _TAG.match(reading.src.text, at)
    return opener is not None and reading.src.text.find(opener[0], max(0, start - _HEAD_LENGTH), start) >= 0


def marker_stands(reading: Reading, at: int, closers: tuple[str, ...]) -> Steps[bool]:
    """Whether a closer or another marker stands at the `<` at `at`. If so, no value goes on there."""
    src = reading.src
    while True:
        rest = src.text[at : at + 64]
        if rest.startswith(closers):
            return True
        stands = reading.has_marker(at)
        partial = not src.final and len(rest) < 64 and any(closer.startswith(rest) for closer in closers)
        if stands is not None and not partial:
            return stands
        yield None


def _is_stray_closer(reading: Reading, at: int, closers: tuple[str, ...]) -> Steps[bool]:
    """Whether another form's closer stands at `at`, followed by a member of the body."""
    src = reading.src
    if src.text.startswith(closers, at) or not src.text.startswith("</", at):
        return False
    yield from wait_for_one(src, at, _LONGEST_CLOSER, ">")
    end = src.text.find(">", at, at + _LONGEST_CLOSER) + 1
    return end > 0 and (yield from _member_follows(reading, end))


def _member_follows(reading: Reading, at: int) -> Steps[bool]:
    """Whether a member of an object stands directly behind `at`."""
    yield from wait_while(reading.src, _MEMBER_BEGUN, at)
    return _MEMBER.match(reading.src.text, at) is not None


def _unclosed(reading: Reading, start: int, extent: Extent, closers: tuple[str, ...]) -> Body:
    """The body at the text's end. A closer of several characters in a string that never closed ends it; otherwise it is cut."""
    text = reading.src.text
    reading.failed(len(text) - start)
    if extent.string_start >= 0 and closers:
        hits = [hit for closer in closers if len(closer) > 1 and (hit := text.find(closer, extent.string_start)) >= 0]
        if hits:
            return Body(start, min(hits), closed=False)
    return Body(start, len(text), cut=True, closed=False)


def read_body(reading: Reading, body: Body, *, keyed: bool = False) -> tuple[list[CallMessage], list[Repair], bool]:
    """(messages, repairs, complete) of a body. If nothing in it is a call, there are no messages."""
    if body.read is not None:
        return [body.read], [], True
    text = reading.src.text[body.start : body.end]
    if "{" not in text and "]" not in text:
        body.lost = body.cut
        return [], [], not body.cut
    head = _HEAD.match(text) if not keyed else None
    if head is not None and not body.cut and (quick := _quick(reading, text, head)) is not None:
        return [quick], [], True
    parsed = read_json(text, limits=reading.limits, cut=body.cut)
    messages = [message for value in parsed.values if (message := calls_of(value, reading.tools, keyed=keyed)) is not None]
    unread = len(messages) < len(parsed.values) or (bool(messages) and messages[-1].unread > 0)
    if body.cut and unread and (rest := without_last(parsed.values[-1])) is not None:
        whole = calls_of(rest, reading.tools, keyed=keyed)
        if whole is not None and whole.calls:
            body.lost = True
            return [*messages[: len(parsed.values) - 1], whole], parsed.repairs, True
    if len(messages) == 1 and not parsed.repairs:
        _keep_written(messages[0], text)
    if not messages and (name := _NAME.search(text)) is not None and (parsed.error or body.cut):
        call = CallObject(name[1], None, True, raw=text)
        return [CallMessage([call])], parsed.repairs, not body.cut
    body.lost = body.cut and not messages
    if body.cut and len(parsed.values) == 1 and _is_cut_behind_calls(text, parsed.values[0]):
        body.lost = True
        return messages, [repair for repair in parsed.repairs if repair.safety != "truncated"], True
    return messages, parsed.repairs, parsed.complete and (parsed.delimited or not body.again)


_LISTED = lazy_regex(rf'"({"|".join(LIST_KEYS)})"\s*+:\s*+(?=[\[{{])')


def _is_cut_behind_calls(text: str, value: Any) -> bool:
    """Whether an object that lists calls is cut off behind the last of them, each closed by its own bracket."""
    found = _LISTED.search(text)
    listed: Any = value.get(found[1]) if found is not None and is_object(value) else None
    if found is None or not listed:
        return False
    end = Extent(found.end()).scan(text, True)
    if end >= 0:
        return read_json(text[found.end() : end]).values == [listed]
    at, whole = found.end() + 1, list[Any]()
    while at > 0 and (opened := past(_LAYOUT, text, at)) < len(text) and text[opened] == "{":
        at = Extent(opened).scan(text, True)
        whole += read_json(text[opened:at]).values if at > 0 else []
    return is_list(listed) and whole == listed


def quick_body(reading: Reading, start: int, end: int) -> Body | None:
    """`start:end` as a body, if it is one sound JSON value that holds calls. None if not."""
    text = reading.src.text[start:end]
    if not text.endswith(("}", "]")):
        return None
    head = _HEAD.match(text)
    message = _quick(reading, text, head) if head is not None else _plain(reading, text)
    if message is None:
        return None
    body = Body(start, end)
    body.read = message
    return body


def _plain(reading: Reading, text: str) -> CallMessage | None:
    parsed = read_json(text, limits=reading.limits)
    if parsed.repairs or parsed.error or len(parsed.values) != 1 or parsed.end != len(text):
        return None
    message = calls_of(parsed.values[0], reading.tools)
    if message is not None:
        _keep_written(message, text)
    return message


def _keep_written(message: CallMessage, text: str) -> None:
    """Set the raw arguments of a lone call to its text. If that text is not certain, they stay unset."""
    if len(message.calls) != 1 or message.calls[0].repairs or message.calls[0].arguments is None:
        return
    call = message.calls[0]
    for found in _ARGUMENTS.finditer(text):
        if found[1] in ARGUMENT_KEYS or found[1] == call.name:
            end = Extent(found.end()).scan(text, True)
            written = text[found.end() : end]
            if end > 0 and read_json(written).values == [call.arguments]:
                call.raw = written
            return


def _quick(reading: Reading, text: str, head: re.Match[str]) -> CallMessage | None:
    """The message of `{"name": ..., "arguments": {...}}` exactly: only the arguments are parsed. None if it is anything else."""
    if not text.endswith("}") or holds_calls(head[1], reading.tools):
        return None
    written = text[head.end() : -1].rstrip()
    value = sound_object(written, reading.limits)
    if value is None or "properties" in value or value.get("type") == "object":
        return None
    return CallMessage([CallObject(head[1], value, True, raw=written)])


def add_calls(
    reading: Reading,
    span: tuple[int, int],
    calls: list[CallObject],
    dialect: str,
    *,
    complete: bool = True,
    repairs: list[Repair] | None = None,
    drafts: Iterable[Draft] = (),
) -> None:
    """Enter calls that share a span.

    `complete` and `repairs` are those of their common text; only the last call may be cut. `drafts` are the calls that were
    begun already, in order.
    """
    start, end = span
    begun = iter(drafts)
    for k, call in enumerate(calls):
        if is_no_call(call.name, reading.tools):
            continue
        draft = next(begun, None)
        if len(reading.drafts) >= reading.limits.calls and draft is None:
            reading.miss(start, end, call.name, "calls_limit")
            reading.text(start)
            reading.take("content", end)
            continue
        last = k == len(calls) - 1
        arguments = call.arguments if call.given else default_arguments(call.name, reading.tools)
        found, tool = [*(repairs or ()), *call.repairs], reading.tool(call.name)
        if found and arguments and tool is not None:
            found = all_in_arrays(arguments, found, tool)
        raw = call.raw if call.raw is not None else ("" if arguments is None else as_json(arguments))
        entry = draft or reading.begin(start, call.name, dialect, call.id)
        entry.name, entry.id, entry.start = call.name, call.id or entry.id, start
        reading.end(entry, end, arguments, raw, complete=complete or not last, repairs=found)
    if beside := "\n\n".join(call.beside for call in calls if call.beside):
        reading.markup(end)  # in case all of them call nothing
        reading.replace(start, end, beside)


def _past_closer(text: str, at: int, closers: tuple[str, ...]) -> int:
    """Past the closer at `at`, which may hold blanks; `at` if there is none."""
    for closer in closers:
        if text.startswith(closer, at):
            return at + len(closer)
    spaced = _SPACED_CLOSER.match(text, at)
    if spaced is None or not text.startswith(">", spaced.end()) or f"</{spaced[1]}>" not in closers:
        return at
    return spaced.end() + 1


def swallow(reading: Reading, at: int, closers: tuple[str, ...], *, extra: str = "}]") -> Steps[tuple[int, bool, list[Repair]]]:
    """Skip closers that follow `at`, repeated ones too, with white space between and stray brackets before them.

    `extra` are the brackets that are also stray at the end of the text; "" allows none.

    Returns (where they end, whether there was one, the repair of stray brackets). White space that no closer follows is not
    skipped.
    """
    src = reading.src
    closed, stray = False, ""
    while closers and not (src.final and at == len(src.text)):
        ahead = at if src.text.startswith(closers, at) else past(_EXTRA if extra else _SPACE, src.text, at)
        if (end := _past_closer(src.text, ahead, closers)) > ahead:
            stray += src.text[at:ahead]
            at, closed = end, True
            continue
        rest = _SPACED_CLOSER.sub(r"</\1", src.text[ahead : ahead + 64])
        undecided = len(src.text) - ahead < 64 and any(closer.startswith(rest) for closer in closers)
        if undecided and src.final and len(rest) > 1:
            reading.cut_off()
            return len(src.text), closed, extra_closers(stray + src.text[at:ahead])
        if src.final or not undecided:
            break
        yield None
    while extra and not src.final and len(src.text) - at < _STRAY and _is_stray(src.text[at:], extra):
        yield None
    end = len(src.text) if extra and src.final and len(src.text) - at < _STRAY and _is_stray(src.text[at:], extra) else at
    end = end if src.text[at:end].strip() else at
    return end, closed, extra_closers(stray + src.text[at:end])


def _is_stray(text: str, extra: str) -> bool:
    """Whether the text is only white space and these brackets."""
    return not text.strip().strip(extra)


def extra_closers(passed: str) -> list[Repair]:
    """The repair of stray brackets, from a text of white space and such brackets."""
    brackets = "".join(char for char in passed if char in "}])")
    return [Repair(kind="extra_closer", before=clipped(brackets), after="")] if brackets else []


def closing(
    reading: Reading, start: int, closers: tuple[str, ...], *, levels: Levels | None = None, extra: str = "}]"
) -> Steps[tuple[int, list[Repair]]]:
    """Skip closers as `swallow` does, and record a missing one. `levels` is needed if `closers` close different elements."""
    end, _, found = yield from swallow(reading, start, closers, extra=extra)
    return end, [*found, *_missing(reading.src.text[start:end], (closers,) if levels is None else levels)]


def _missing(passed: str, levels: Levels) -> list[Repair]:
    """The repair of a call with an unclosed element. A turn token may be missing, because servers cut such tokens off."""
    passed = "".join(passed.split())
    for closers in levels:
        wanted = bool(closers) and _TURN_TOKENS.isdisjoint(closers)
        if wanted and not any("".join(closer.split()) in passed for closer in closers):
            return [Repair(kind="closer_missing")]
    return []


def to_closer(
    reading: Reading, at: int, start: int, closers: tuple[str, ...], levels: Levels | None = None
) -> Steps[tuple[int, list[Repair]]]:
    """Skip the closers of the call at `at`, whose body ended at `start`, as `closing` does.

    Text before the closers was meant for the call: it is recorded as dropped.
    """
    wanted = (closers,) if levels is None else levels
    end, closed, found = yield from swallow(reading, start, closers)
    stop = -1 if closed or not closers else (yield from _left_over(reading, at, end, closers))
    if stop < 0:
        if not closed and (yield from _member_follows(reading, end)):  # the member stays in the text
            found.append(Repair(kind="extra_closer", before=reading.src.text[end - 1], after="", safety="guess"))
        return end, [*found, *_missing(reading.src.text[start:end], wanted)]
    dropped = Repair(kind="text_dropped", before=reading.src.text[end:stop].strip(), after=None, safety="guess")
    end, _, extra = yield from swallow(reading, stop, closers)
    return end, [*found, dropped, *extra, *_missing(reading.src.text[stop:end], wanted)]


def _left_over(reading: Reading, at: int, end: int, closers: tuple[str, ...]) -> Steps[int]:
    """Where the closer stands behind the rest of a body that ended at `end`.

    -1 if a paragraph, the opener of another call or a token comes first, or no closer is near.
    """
    src, opener = reading.src, reading.src.text[at : at + _OPENING]
    while True:
        rest = src.text[end : end + _LEFT_OVER]
        hits = [hit for closer in closers if (hit := rest.find(closer)) >= 0]
        over = _OVER.search(rest)
        again = -1 if opener.startswith(("<|", "<｜")) else rest.find(opener)  # closers of tokens begin like openers
        named = next((one.start() for one in _NAMED.finditer(rest) if reading.tool(one[1]) is not None), -1)
        stops = [found for found in (over.start() if over is not None else -1, again, named) if found >= 0]
        is_all = src.final or len(rest) == _LEFT_OVER
        begun = _BEGUN.search(rest) if hits and not is_all else None
        if begun is None or begun.start() >= min(hits):
            if hits and min(hits) <= min(stops, default=len(rest)):
                return end + min(hits)
            if stops or is_all:
                return -1
        yield None


def arguments_body(reading: Reading, body: Body) -> tuple[list[CallObject], list[Repair], bool]:
    """The arguments object of a body, as a call object without a name. The name stood before the body.

    Several objects one after the other give several.
    """
    text = reading.src.text[body.start : body.end]
    parsed = read_json(text, limits=reading.limits, cut=body.cut)
    found: list[CallObject] = []
    for value in parsed.values:
        arguments, _, repairs = arguments_of(value)
        found.append(CallObject("", arguments, True, "", repairs, raw=text if len(parsed.values) == 1 else None))
    if not found:
        found.append(CallObject("", None, True, raw=text))
    whole = parsed.complete and (parsed.delimited or not body.again)
    return found, parsed.repairs, whole and not (body.cut and not parsed.values)


def _sound_arguments(reading: Reading, start: int, closers: tuple[str, ...]) -> tuple[CallObject, int] | None:
    """The object at `start` and its end, if it is sound and its closer (or the end of the text) stands right behind it."""
    text = reading.src.text
    end = text.find(closers[0], start, start + QUICK) if closers else -1
    if end < 0:
        if not reading.src.final or closers or len(text) - start > QUICK:
            return None
        end = len(text)
    while end > start and text[end - 1].isspace():
        end -= 1
    written = text[start:end]
    value = sound_object(written, reading.limits)
    return None if value is None else (CallObject("", value, True, raw=written), end)


def named_call(
    reading: Reading,
    at: int,
    name: str,
    start: int,
    dialect: str,
    closers: tuple[str, ...],
    *,
    id: str = "",
    repairs: tuple[Repair, ...] = (),
    levels: Levels | None = None,
) -> Steps[bool]:
    """Read the JSON object at `start`, which holds the arguments of `name`, and its closers (see `closing`). Enter the call."""
    quick = _sound_arguments(reading, start, closers)
    if quick is not None:
        call, end = quick
        call.name, call.id = name, id
        end, missing = yield from closing(reading, end, closers, levels=levels)
        add_calls(reading, (at, end), [call], dialect, repairs=[*repairs, *missing])
        return _marked(reading, at, end)
    preview = None
    is_call = not is_no_call(name, reading.tools) and not holds_calls(name, reading.tools)
    if reading.listening and reading.src.text.startswith("{", start) and is_call:
        preview = Preview(reading, at, start, dialect, closers)
        preview.start(name, start, id)
    body = yield from body_extent(reading, start, closers, preview)
    begun = preview.drafts if preview is not None else ()
    end, dropped = (body.end, list[Repair]()) if body.cut else (yield from to_closer(reading, at, body.end, closers, levels))
    calls, found, complete = arguments_body(reading, body)
    for call in calls:
        call.name, call.id = name, id
    add_calls(reading, (at, end), calls, dialect, complete=complete, repairs=[*repairs, *found, *dropped], drafts=begun)
    return _marked(reading, at, end)


def _marked(reading: Reading, at: int, end: int) -> bool:
    """Classify the rest of a form that calls nothing as markup. Returns True."""
    reading.text(at)
    reading.markup(end)
    return True
