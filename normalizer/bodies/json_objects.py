"""JSON call objects between an opener and an optional closer: one, an array, or one after the other.

Values are read one after the other (separated by `;`, `,` or white space), then the closers. The work is linear: the extent of
a value is scanned once. If the closer is already there, one `str.find` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.normalizer.bodies.json_bodies import (
    QUICK,
    Body,
    add_calls,
    body_extent,
    marker_stands,
    quick_body,
    read_body,
    swallow,
    to_closer,
)
from llmcore.normalizer.bodies.preview import Preview
from llmcore.normalizer.calls.call_messages import CallMessage
from llmcore.normalizer.calls.call_objects import CallObject
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Reader
from llmcore.normalizer.scanning.source import Steps, skip_space
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["objects_reader"]


def objects_reader(
    dialect: str, closers: tuple[str, ...] = (), *, skip: tuple[str, ...] = (), keyed: bool = False, is_closed: bool = True
) -> Reader:
    """A reader of JSON values after an opener.

    `skip`: further markers that belong to the opener. `keyed`: see `calls_of`. `is_closed`: a closer is usual, so the text
    before one belongs to the body.
    """

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        src = reading.src
        start = yield from skip_space(src, body)
        for mark in skip:
            while not src.final and len(src.text) - start < len(mark) and mark.startswith(src.text[start:]):
                yield None
            if src.text.startswith(mark, start):
                start = yield from skip_space(src, start + len(mark))
        if start >= len(src.text) or src.text[start] not in "{[":
            return False
        if src.text[start] == "[" and (yield from marker_stands(reading, start, ())):
            return False
        quick = None if keyed else _sound_body(reading, start, closers)
        if quick is not None:
            end, _, extra = yield from swallow(reading, quick.end, closers)  # the closers that stand there
            return _enter(reading, (at, end), [quick], dialect, keyed, None, extra)
        preview = Preview(reading, at, start, dialect, closers, keyed=keyed)
        bodies: list[Body] = []
        while start >= 0:
            found = yield from body_extent(reading, start, closers, preview)
            bodies.append(found)
            start = -1 if found.cut or not found.closed else (yield from _next_value(reading, found.end, closers))
        preview.advance()
        end, dropped = bodies[-1].end, list[Repair]()
        if not bodies[-1].cut:
            if is_closed:
                end, dropped = yield from to_closer(reading, at, end, closers)
            else:
                end, _, dropped = yield from swallow(reading, end, closers)
        return _enter(reading, (at, end), bodies, dialect, keyed, preview, dropped)

    return read


def _sound_body(reading: Reading, start: int, closers: tuple[str, ...]) -> Body | None:
    """The body up to the first closer (or the end), if it is sound JSON. If so, no string holds that closer."""
    text = reading.src.text
    end = text.find(closers[0], start, start + QUICK) if closers else -1
    if end < 0:
        if not reading.src.final or closers or len(text) - start > QUICK:
            return None
        end = len(text)
    while text[end - 1].isspace():
        end -= 1
    return quick_body(reading, start, end)


def _next_value(reading: Reading, end: int, closers: tuple[str, ...]) -> Steps[int]:
    """Where another value starts after one that ended at `end`; -1 if none does."""
    src = reading.src
    ahead = yield from skip_space(src, end)
    if ahead < len(src.text) and src.text[ahead] in ";,":
        ahead = yield from skip_space(src, ahead + 1)
    if ahead >= len(src.text) or src.text[ahead] not in "{[":
        return -1
    while any(len(closer) > len(src.text) - ahead and closer.startswith(src.text[ahead:]) for closer in closers):
        if src.final:  # the text ended within a closer, which may begin with brackets
            return -1
        yield None
    if src.text.startswith(closers, ahead):
        return -1
    if src.text[ahead] == "{":
        return ahead
    inside = yield from skip_space(src, ahead + 1)
    return ahead if src.text[inside : inside + 1] in ("{", "[", "]") else -1


_DEFINES = lazy_regex(r""""(?:input_?[sS]chema"\s*+:|parameters"\s*+:\s*+\{\s*+"(?:type"\s*+:\s*+"object"|properties"))""")
"""The schema of a tool's arguments."""


def _enter(
    reading: Reading,
    span: tuple[int, int],
    bodies: list[Body],
    dialect: str,
    keyed: bool,
    preview: Preview | None,
    dropped: Sequence[Repair] = (),
) -> bool:
    """Enter the calls of these bodies. `dropped` are repairs for the text behind the last one."""
    (at, end), read = span, [read_body(reading, body, keyed=keyed) for body in bodies]
    dropped = [*_unread(reading, bodies, read), *dropped]
    if not (preview is not None and preview.drafts) and not any(messages for messages, _, _ in read):
        defines = _DEFINES.search(reading.src.text, bodies[0].start, end) is not None
        reading.miss(at, end, None, "definition" if defines else "no_call_object")
        if bodies[-1].cut:
            reading.cut_off()
        reading.failed(end - at)
        return False
    reading.text(at)
    if bodies[-1].lost:
        reading.cut_off()
    later: list[tuple[tuple[int, int], list[CallObject], list[Repair]]] = []
    for body, (messages, repairs, complete) in zip(bodies, read, strict=True):
        span = (at, end) if len(bodies) == 1 else (at if body is bodies[0] else body.start, body.end)
        reading.markup(span[0])
        repairs = [*repairs, *dropped]
        drafts = preview.begun_in(body.start, body.end) if preview is not None else []
        begun, calls = iter(drafts), [call for message in messages for call in message.calls]
        if preview is not None and preview.begun_in(body.end, end):
            later.append((span, calls[len(drafts) :], repairs))
            del calls[len(drafts) :]
        add_calls(reading, span, calls, dialect, complete=complete, repairs=repairs, drafts=begun)
        for draft in begun:  # it began like a call and cannot be read
            reading.end(draft, span[1], None, reading.src.text[body.start : body.end], complete=not body.cut)
        _add_content(reading, span, messages)
        if not messages and reading.done < span[1]:
            reading.miss(*span, None, "no_call_object")
            reading.take("content", span[1])
    for span, calls, repairs in later:  # calls behind them were begun already
        add_calls(reading, span, calls, dialect, repairs=repairs)
    reading.take("markup" if reading.done < end and reading.pieces and reading.pieces[-1][2] != "call" else "call", end)
    return True


def _add_content(reading: Reading, span: tuple[int, int], messages: list[CallMessage]) -> None:
    """Make the content of messages, beside their calls or instead of them, content of the reply."""
    for message in messages:
        reading.repaired(*message.repairs)
        if message.content:
            reading.markup(span[1])  # in case it called nothing
            reading.replace(*span, message.content)


def _unread(reading: Reading, bodies: list[Body], read: list[tuple[list[CallMessage], list[Repair], bool]]) -> list[Repair]:
    """Repairs for values in a wrapper of calls that are no calls."""
    text = reading.src.text
    stray = (body for body, (messages, _, _) in zip(bodies, read, strict=True) if not messages and not body.cut)
    return [Repair(kind="text_dropped", before=text[body.start : body.end], after=None, safety="guess") for body in stray]
