"""Blocks of media: from bytes, files and URLs, and never shown."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from llmcore import AudioBlock, CallerError, FileBlock, ImageBlock, Message, RunResult
from llmcore.types import MediaBlock

SECRET = b"\x00a picture of nobody\x00"
SHOWN = b64encode(SECRET).decode()


@pytest.mark.parametrize(
    ("kind", "data", "media_type"),
    [
        (ImageBlock, b"\x89PNG\r\n\x1a\nIHDR", "image/png"),
        (ImageBlock, b"\xff\xd8\xff\xe0", "image/jpeg"),
        (ImageBlock, b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (FileBlock, b"%PDF-1.7", "application/pdf"),
        (AudioBlock, b"RIFF\x10\x00\x00\x00WAVEfmt ", "audio/wav"),
        (AudioBlock, b"ID3\x04", "audio/mpeg"),
        (AudioBlock, b"\xff\xfb\x90\x64", "audio/mpeg"),
        (AudioBlock, b"OggS", "audio/ogg"),
    ],
)
def test_the_format_of_bytes_is_recognised(kind: type[MediaBlock], data: bytes, media_type: str) -> None:
    block = kind.from_bytes(data)
    assert (block.media_type, block.data) == (media_type, b64encode(data).decode())
    assert kind.kind.recognised(block.data or "") == media_type


def test_a_file_is_read_with_its_name_and_its_ending_counts_if_the_bytes_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "sums.csv").write_bytes(b"a,b\n1,2\n")
    plan, sums = (FileBlock.from_path(tmp_path / name) for name in ("plan.pdf", "sums.csv"))
    assert (plan.name, plan.media_type, plan.base64) == ("plan.pdf", "application/pdf", "JVBERi0xLjc=")
    assert (sums.name, sums.media_type) == ("sums.csv", "text/csv")


def test_what_cannot_be_read_is_an_error_that_names_the_fix(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    with pytest.raises(CallerError, match=r"FileBlock\.from_path: .*gone\.pdf' cannot be read: No such file"):
        FileBlock.from_path(tmp_path / "gone.pdf")
    with pytest.raises(CallerError, match=r"the 0 bytes are in no known format \(pdf\)"):
        FileBlock.from_path(tmp_path / "empty.pdf")
    with pytest.raises(CallerError, match=r"the 5 bytes are in no known format \(wav, mpeg, flac, ogg\); give `media_type`"):
        AudioBlock.from_bytes(b"hello")
    with pytest.raises(CallerError, match=r"an audio block with `data` also needs `media_type`, for example 'audio/wav'"):
        AudioBlock(data="aGk=")
    with pytest.raises(CallerError, match="a file block holds either `url` or `data`"):
        FileBlock()


@pytest.mark.parametrize("kind", [ImageBlock, FileBlock, AudioBlock])
def test_no_data_is_shown_and_all_of_it_is_saved(kind: type[MediaBlock]) -> None:
    for block in (
        kind(data=SHOWN, media_type="application/pdf"),
        kind(url=f"data:application/pdf;base64,{SHOWN}"),
    ):
        message = Message(role="user", content=[block])
        shown = f"{block!r} {block} {message!r} {RunResult(messages=[message])!r}"
        assert SHOWN not in shown
        assert SHOWN[:12] not in shown
        assert (block.base64, block.known_type) == (SHOWN, "application/pdf")
        assert Message.model_validate_json(message.model_dump_json()) == message
