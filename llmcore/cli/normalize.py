"""`llmcore normalize`: one reply, from a file or standard input, as an envelope, as events while it comes, or
explained."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from llmcore.cli.output import as_json_text, exit_with_error, write

if TYPE_CHECKING:
    from llmcore.types import NormalizerEvent

__all__ = ["normalize_command"]

_CHUNK = 64 * 1024


class _TextCalls(StrEnum):
    standard = "standard"
    alone = "alone"
    off = "off"


class _Form(StrEnum):
    auto = "auto"
    text = "text"
    json = "json"
    events = "events"


def normalize_command(
    file: Annotated[Path, typer.Argument(help="The reply; `-` is standard input.", metavar="[FILE]", allow_dash=True)] = Path(
        "-"
    ),
    tools: Annotated[
        str | None,
        typer.Option(help="The tools that were offered: a JSON file, or MODULE:OBJECT.", metavar="FILE|MODULE:OBJECT"),
    ] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Print events, one JSON object a line, as input comes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the envelope as JSON; that is the default.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each call was taken or not, instead of JSON.")] = False,
    form: Annotated[
        _Form,
        typer.Option("--as", help="What the input is: a model's text, a provider's JSON body, or a stream's events."),
    ] = _Form.auto,
    dialect: Annotated[list[str] | None, typer.Option(help="Read only this dialect; may be repeated.")] = None,
    finish_reason: Annotated[str | None, typer.Option(help="The provider's word for why the model stopped.")] = None,
    reasoning_open: Annotated[bool, typer.Option("--reasoning-open", help="The prompt had opened the reasoning.")] = False,
    forced_tool: Annotated[str | None, typer.Option(help="The tool that was forced: bare arguments belong to it.")] = None,
    text_calls: Annotated[
        _TextCalls,
        typer.Option(help="Which calls in text count: by the rules, only if the reply says nothing else, or none."),
    ] = _TextCalls.standard,
) -> None:
    """Turn a model's reply into one envelope: a body, a stream or plain text, told apart by its shape.

    Exit code 0, also when no call was found; 2: the input or the tools cannot be read.
    """
    chosen = [name for name, given in (("--json", as_json), ("--stream", stream), ("--explain", explain)) if given]
    if len(chosen) > 1:
        exit_with_error(f"{' and '.join(chosen)} cannot be used together")
    from llmcore import Normalizer
    from llmcore.cli.replies import ReplyReader
    from llmcore.cli.tool_files import load_tools
    from llmcore.transcripts.errors import OverLimit

    offered = load_tools(tools) if tools is not None else None
    if forced_tool is not None and offered is not None and forced_tool not in offered:
        exit_with_error(
            f"--forced-tool {forced_tool!r} is none of the tools: {', '.join(tool.name for tool in offered) or 'there are none'}"
        )
    normalizer = Normalizer(
        offered, dialects=dialect, reasoning_open=reasoning_open, forced_tool=forced_tool, text_calls=text_calls.value
    )
    reply = ReplyReader(normalizer, form.value)
    name = "standard input" if str(file) == "-" else str(file)
    try:
        with _opened(file) as source:
            for chunk in _texts(source, name):
                _show(reply.feed(chunk), stream)
        _show(reply.finish(finish_reason), stream)
    except OverLimit as error:
        exit_with_error(f"{name}: {error}")
    if stream:
        write(as_json_text({"type": "envelope", **normalizer.envelope.model_dump()}))
    elif explain:
        from llmcore.cli.explaining import explanation

        write(explanation(normalizer.envelope, offered))
    else:
        write(as_json_text(normalizer.envelope.model_dump(), indent=2))


def _show(events: Iterable[NormalizerEvent], wanted: bool) -> None:
    """Reads the reply on, and prints its events if they are wanted."""
    for event in events:
        if wanted:
            write(_line(event))


def _line(event: NormalizerEvent) -> str:
    from llmcore.run.streaming.event_json import event_type  # loads what runs need: only where events are printed

    return as_json_text({"type": event_type(type(event)), **{field.name: getattr(event, field.name) for field in fields(event)}})


@contextmanager
def _opened(file: Path) -> Generator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        with file.open("rb") as handle:
            yield handle
    except OSError as error:
        exit_with_error(f"{file}: {error.strerror or error}")


def _texts(source: BinaryIO, name: str) -> Iterator[str]:
    """The text as it comes; a character cut in two waits for its rest."""
    from llmcore.types.limits import RECORDING_LIMITS

    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    done = 0  # bytes that are decoded; what the decoder holds back is not among them
    while True:
        chunk = _read(source)
        held = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            exit_with_error(f"{name}: not UTF-8 near byte {done + error.start}")
        done += held + len(chunk) - len(decoder.getstate()[0])
        if done > RECORDING_LIMITS.size:
            exit_with_error(f"{name}: a reply of more than {RECORDING_LIMITS.size} bytes")
        yield text
        if not chunk:
            return


def _read(source: BinaryIO) -> bytes:
    """What is there, without waiting for more."""
    read1 = getattr(source, "read1", source.read)
    data: bytes = read1(_CHUNK)
    return data
