"""Replies whose text holds calls, rewritten on every wire: whole, in any chunks, cut, and about calls."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from llmcore import normalize
from llmcore.normalizer import DIALECTS
from llmcore.wire import openai_chat
from tests.wire.support import ARGUMENTS, CALL, TOOLS, TWELVE, WIRES, Read, Wire, pieces, rewritten, settings, written

LEAD = "Let me check.\n"
TWO = (("get_weather", {"city": "Paris"}), ("get_time", {"zone": "CET"}))
ABOUT_CALLS = {
    "code": f"Use `{CALL}` for it.",
    "example": f"For example:\n{CALL}\nis how you do it.",
    "two examples": f"For example:\n{CALL}\n{CALL}\nThat is all.",
    "prohibition": f"Do not run this:\n{CALL}\n",
    "fence": f"This is the form:\n```xml\n{CALL}\n```\nDo you see?",
    "unknown tool": "I call <tool_call>{" + '"name": "open_door", "arguments": {}}</tool_call>.',
    "no call": 'The tag <tool_call> opens a call; {"name": "x"} is JSON.\n\n  Bye  ',
    "cut": f"Here {CALL[:-20]}",
    "lines without markers": LEAD + written("labelled_lines"),
}
GUESSES = {"labelled_lines"}
"""The dialects whose calls are guesses wherever they stand."""
wires = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def streamed(wire: Wire, texts: list[str]) -> Read:
    return wire.read_events(rewritten(wire, wire.events(texts))[0])


@wires
@pytest.mark.parametrize("name", [name for name in DIALECTS if name not in GUESSES])
def test_a_call_in_text_becomes_native_in_a_whole_reply(wire: Wire, name: str) -> None:
    text = LEAD + written(name)
    body = wire.body(text)
    report = wire.rewrite(body)
    read = wire.read_body(report.body)
    assert read.calls == [("get_weather", ARGUMENTS)]
    assert read.text == normalize(text, TOOLS).content
    assert read.end == wire.ends[0]
    assert re.fullmatch(wire.id_form, read.ids[0])
    assert [call.id for each in report.reports for call in each.calls] == read.ids
    assert report.body["id"] == body["id"]
    assert read.usage == body["usage"]


@wires
@pytest.mark.parametrize("name", TWELVE)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_call_in_text_becomes_native_in_a_stream(wire: Wire, name: str, size: int) -> None:
    text = LEAD + written(name)
    read = streamed(wire, pieces(text, size))
    assert (read.text, read.calls, read.end) == (normalize(text, TOOLS).content, [("get_weather", ARGUMENTS)], wire.ends[0])
    assert read.usage is not None
    assert re.fullmatch(wire.id_form, read.ids[0])


@wires
@pytest.mark.parametrize("name", ["hermes", "kimi_k2", "mistral_v11"])
def test_two_parallel_calls_have_ids_of_their_own(wire: Wire, name: str) -> None:
    text = written(name, *TWO)
    for read in (wire.read_body(wire.rewrite(wire.body(text)).body), streamed(wire, pieces(text, 9))):
        assert read.calls == [*TWO]
        assert len({*read.ids}) == 2


@wires
def test_two_replies_share_no_id(wire: Wire) -> None:
    first, second = (wire.read_body(wire.rewrite(wire.body(CALL)).body) for _ in range(2))
    assert first.ids != second.ids


@wires
@pytest.mark.parametrize("text", ABOUT_CALLS.values(), ids=ABOUT_CALLS)
def test_text_about_calls_stays_text(wire: Wire, text: str) -> None:
    body = wire.body(text)
    report = wire.rewrite(body)
    assert report.body is body
    assert report.reports[0].calls == []
    for size in (1, 5, 1000):
        read = streamed(wire, pieces(text, size))
        assert (read.text, read.calls, read.end) == (text, [], wire.ends[1])


@wires
def test_why_a_call_is_withheld_is_reported(wire: Wire) -> None:
    _, rewriter = rewritten(wire, wire.events(pieces(ABOUT_CALLS["example"], 6)))
    (report,) = rewriter.reports
    assert [(each.reason, each.detail, each.call.name) for each in report.withheld] == [
        ("guess", "example_lead_in", "get_weather")
    ]
    assert not report.cut


@wires
@pytest.mark.parametrize("text", [LEAD + CALL, LEAD + CALL + "\nAnd more text", "Hello", LEAD + CALL[:40]])
def test_a_cut_stream_hands_out_no_call_and_loses_no_text(wire: Wire, text: str) -> None:
    events = wire.events(pieces(text, 6))
    sent, rewriter = rewritten(wire, events[: -wire.tail], done=False)
    read = wire.read_events(sent)
    assert (read.calls, read.end) == ([], None)
    if text.endswith("more text"):  # the text of a call comes behind the text that was sent before the cut
        assert read.text.split("\n")[-1] == CALL
        assert read.text.removesuffix(CALL).split() == [*LEAD.split(), "And", "more", "text"]
    else:
        assert read.text == text
    assert rewriter.reports[0].cut
    assert {each.reason for each in rewriter.reports[0].withheld} <= {"broken_reply"}


@wires
def test_reasoning_in_the_text_gets_its_own_place(wire: Wire) -> None:
    text = f"<think>Which city?</think>\n\n{LEAD}{CALL}"
    for read in (wire.read_body(wire.rewrite(wire.body(text)).body), streamed(wire, pieces(text, 4))):
        assert (read.reasoning, read.text, len(read.calls)) == ("Which city?", LEAD.strip(), 1)


@wires
def test_a_closer_that_comes_after_the_text_is_reported(wire: Wire) -> None:
    text = f"Which city? </think>{LEAD}{CALL}"
    whole = wire.read_body(wire.rewrite(wire.body(text)).body)
    assert (whole.reasoning.strip(), whole.text, len(whole.calls)) == ("Which city?", LEAD.strip(), 1)
    sent, rewriter = rewritten(wire, wire.events(pieces(text, 6)))
    assert wire.read_events(sent).text == "Which city?" + LEAD.strip()
    assert rewriter.reports[0].reclassified_reasoning == "Which city? "


@wires
@pytest.mark.parametrize("seed", range(8))
def test_the_result_does_not_depend_on_the_chunks(wire: Wire, seed: int) -> None:
    draw = random.Random(seed)  # reproducible cuts, no secret
    parts = draw.choices(["Some words. ", "\n\n", "<think>hm</think>", CALL, *ABOUT_CALLS.values(), "```\ncode\n```\n"], k=5)
    text, whole = "".join(parts), None
    for _ in range(6):
        cuts = sorted(draw.sample(range(1, len(text)), min(12, len(text) - 1)))
        read = streamed(wire, [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)])
        got = (read.text, read.reasoning, read.calls, read.end)
        whole = whole or got
        assert got == whole


@wires
def test_a_stream_without_calls_passes_as_the_same_objects(wire: Wire) -> None:
    events = wire.events(["Hello", " there,", " all", " is", " well."])
    sent, _ = rewritten(wire, events)
    assert sent == events
    texts = [event for event in events if "there" in str(event) and "done" not in str(event.get("type"))]
    assert any(event is texts[0] for event in sent)


@wires
def test_a_body_of_another_kind_stays(wire: Wire) -> None:
    bodies: list[dict[str, Any]]
    bodies = [{"error": {"message": "no"}}, {"object": "list", "data": []}, {"choices": "x", "content": "y", "output": None}]
    for body in bodies:
        assert wire.rewrite(body).body is body
        assert wire.stream().feed(body) == [body]


def test_the_texts_that_stay_have_no_call_that_would_be_offered() -> None:
    """So that the tests above mean something: the normaliser sees calls in some of them, and withholds each."""
    seen = [call for text in ABOUT_CALLS.values() for call in normalize(text, TOOLS).tool_calls]
    assert len(seen) >= 4


@wires
@pytest.mark.parametrize(
    "begun", ['{"name": "get_time", "argu', 'abc ```json\n{"name": "get_time", "argu', 'abc <tool_call>\n{"name": "ge']
)
def test_a_call_that_was_cut_off_before_its_arguments_stays_text(wire: Wire, begun: str) -> None:
    whole = wire.read_body(wire.rewrite(wire.body(begun)).body)
    assert (whole.text, whole.calls) == (begun, [])
    read = streamed(wire, pieces(begun, 5))
    assert (read.text, read.calls) == (begun, [])


@pytest.mark.parametrize("content", ["", None])
@pytest.mark.parametrize(("thought", "calls"), [(f"Maybe `{CALL}` but wait.", 0), (f"First {CALL}\nthen {CALL}", 2)])
def test_the_servers_own_reasoning_stays_as_it_is(content: str | None, thought: str, calls: int) -> None:
    """If the reply has no text, calls may stand in its reasoning."""
    message = {"role": "assistant", "content": content, "reasoning_content": thought}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    written = openai_chat.rewrite(body, settings()).body["choices"][0]["message"]
    assert (written["content"], written["reasoning_content"]) == (content, thought)
    assert len(written.get("tool_calls", ())) == calls
    rewriter = openai_chat.StreamRewriter(settings())
    deltas = [{"reasoning_content": piece} for piece in pieces(thought, 5)]
    events = [rewriter.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    events += [rewriter.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), rewriter.finish(done=True)]
    read = WIRES[0].read_events(event for some in events for event in some)
    assert (read.text, read.reasoning, len(read.calls)) == ("", thought, calls)
