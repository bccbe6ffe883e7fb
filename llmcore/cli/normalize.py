"""`llmcore normalize`: reads one reply from a file or standard input, and prints its envelope, its events as they
arrive, or an explanation."""

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
    from llmcore import Normalizer
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
    stream: Annotated[bool, typer.Option("--stream", help="Print events as the input arrives, as JSON lines.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the envelope as JSON (default).")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Instead of JSON, say why each call was accepted or not.")] = False,
    form: Annotated[
        _Form,
        typer.Option("--as", help="What the input is: a model's text, a provider's JSON body, or a stream's events."),
    ] = _Form.auto,
    dialect: Annotated[list[str] | None, typer.Option(help="Read only this dialect. You may repeat it.")] = None,
    finish_reason: Annotated[str | None, typer.Option(help="The provider's word for why the model stopped.")] = None,
    reasoning_open: Annotated[bool, typer.Option("--reasoning-open", help="The prompt opened the reasoning.")] = False,
    forced_tool: Annotated[str | None, typer.Option(help="The forced tool: bare arguments are its call.")] = None,
    text_calls: Annotated[
        _TextCalls,
        typer.Option(help="Which calls in text count: by the rules, only if the reply has no other text, or none."),
    ] = _TextCalls.standard,
    openai: Annotated[
        bool, typer.Option("--openai", help="The input is a chat log in JSON lines: print it with native calls instead of text.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="With --openai: a file for what was repaired, in JSON lines.", metavar="FILE")
    ] = None,
) -> None:
    """Turn a model's reply into one envelope. Its shape shows whether it is a body, a stream or plain text.

    With --openai, repair a chat log: calls that models wrote as text become native calls.

    Exit code 0, even if no call was found; 1: a line of a log cannot be read, and was printed as it came; 2: the input or the
    tools cannot be read.
    """
    forms = (("--json", as_json), ("--stream", stream), ("--explain", explain), ("--openai", openai))
    chosen = [name for name, given in forms if given]
    if len(chosen) > 1:
        exit_with_error(f"{' and '.join(chosen)} cannot be used together")
    of_logs = (("--report", report),)
    of_replies = (("--as", form is not _Form.auto), ("--finish-reason", finish_reason), ("--forced-tool", forced_tool))
    if unfit := [name for name, given in (of_replies if openai else of_logs) if given]:
        exit_with_error(f"{unfit[0]} {'is for a single reply; it cannot be used with --openai' if openai else 'needs --openai'}")
    from llmcore import Normalizer
    from llmcore.cli.helpers.tool_files import load_tools

    offered = load_tools(tools) if tools is not None else None
    if openai:
        from llmcore.cli.helpers.log_repair import repair_log
        from llmcore.wire import RewriteSettings

        settings = RewriteSettings(offered or (), dialects=dialect, reasoning_open=reasoning_open, text_calls=text_calls.value)
        with _opened(file) as source:
            repair_log(source, settings, report)
        return
    if forced_tool is not None and offered is not None and forced_tool not in offered:
        exit_with_error(
            f"--forced-tool {forced_tool!r} is not a tool; there are: {', '.join(tool.name for tool in offered) or 'none'}"
        )
    normalizer = Normalizer(
        offered, dialects=dialect, reasoning_open=reasoning_open, forced_tool=forced_tool, text_calls=text_calls.value
    )
    _read_reply(file, normalizer, form, finish_reason, stream)
    if stream:
        write(as_json_text({"type": "envelope", **normalizer.envelope.model_dump()}))
    elif explain:
        from llmcore.cli.explaining.envelopes import explanation

        write(explanation(normalizer.envelope, offered))
    else:
        write(as_json_text(normalizer.envelope.model_dump(), indent=2))


def _read_reply(file: Path, normalizer: Normalizer, form: _Form, finish_reason: str | None, shows_events: bool) -> None:
    from llmcore.cli.helpers.replies import ReplyReader
    from llmcore.transcripts.errors import OverLimit

    reply = ReplyReader(normalizer, form.value)
    name = "standard input" if str(file) == "-" else str(file)
    try:
        with _opened(file) as source:
            for chunk in _texts(source, name):
                _show(reply.feed(chunk), shows_events)
        _show(reply.finish(finish_reason), shows_events)
    except OverLimit as error:
        exit_with_error(f"{name}: {error}")


def _show(events: Iterable[NormalizerEvent], wanted: bool) -> None:
    """Consumes the events, and prints them if they are wanted."""
    for event in events:
        if wanted:
            write(_line(event))


def _line(event: NormalizerEvent) -> str:
    from llmcore.run.streaming.event_json import event_type  # loads the modules of runs, so only if events are printed

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
    """The text as it arrives. A character cut in two waits for its rest."""
    from llmcore.types.limits import RECORDING_LIMITS

    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    done = 0  # decoded bytes, without those that the decoder still buffers
    while True:
        chunk = _read(source)
        buffered = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            exit_with_error(f"{name}: not UTF-8 near byte {done + error.start}")
        done += buffered + len(chunk) - len(decoder.getstate()[0])
        if done > RECORDING_LIMITS.size:
            exit_with_error(f"{name}: a reply of more than {RECORDING_LIMITS.size} bytes")
        yield text
        if not chunk:
            return


def _read(source: BinaryIO) -> bytes:
    """The available bytes, without waiting for more."""
    read1 = getattr(source, "read1", source.read)
    data: bytes = read1(_CHUNK)
    return data
