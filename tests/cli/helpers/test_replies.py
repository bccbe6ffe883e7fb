"""The form of a reply is told alike however its text is cut, and as early as it can be."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from llmcore import Normalizer
from llmcore.cli.helpers.replies import ReplyReader
from llmcore.types import Envelope, NormalizerEvent
from tests.transcripts.runs import TOOLS, chat, hermes, sse

STREAM = sse({"content": hermes()[:20]}, {"content": hermes()[20:]})
LINES = "\n".join(line.removeprefix("data: ") for line in STREAM.splitlines() if "{" in line) + "\n"
REPLIES = {
    "text": f"Hello. {hermes()}",
    "short text": "Hi",
    "text that begins with a bracket": "{no} [json]",
    "a body": json.dumps(chat()),
    "a body over several lines": json.dumps(chat(), indent=2),
    "bodies in an array": json.dumps([chat()], indent=1),
    "events": STREAM,
    "events after blank lines": f"\r\n\n{STREAM}",
    "events with a byte order mark": f"\ufeff{STREAM}",
    "event lines": LINES,
    "a call as JSON": json.dumps({"name": "get_weather", "arguments": {"city": "Paris"}}, indent=1),
    "nothing": "",
    "blanks": " \n ",
}


def envelope(chunks: list[str]) -> Envelope:
    normalizer = Normalizer(TOOLS)
    reader = ReplyReader(normalizer)
    for chunk in chunks:
        list(reader.feed(chunk))
    list(reader.finish())
    return normalizer.envelope


@pytest.mark.parametrize("name", REPLIES)
def test_cuts_change_nothing(name: str) -> None:
    text = REPLIES[name]
    whole = envelope([text])
    rng = random.Random(name)
    assert envelope(list(text)) == whole
    for _ in range(5):
        cuts = sorted(rng.sample(range(len(text) + 1), min(len(text), 9)))
        assert envelope([text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]) == whole


@pytest.mark.parametrize("begin", ["Hello, I am here.", STREAM[: STREAM.index("\n\n") + 2], LINES[: LINES.index("\n") + 1]])
def test_what_is_told_is_handed_on_at_once(begin: str) -> None:
    fed: list[object] = []

    class Noting(Normalizer):
        def feed(self, part: Any) -> list[NormalizerEvent]:
            fed.append(part)
            return super().feed(part)

    list(ReplyReader(Noting(TOOLS)).feed(begin))
    assert len(fed) == 1


def test_a_long_text_without_lines_is_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = 0

    def count(begin: str) -> str:
        nonlocal joined
        joined += len(begin)
        return "auto"

    monkeypatch.setattr("llmcore.cli.helpers.replies._form_of", count)
    reader = ReplyReader(Normalizer(TOOLS))
    for _ in range(10_000):
        list(reader.feed("{"))
    assert joined < 1000
