"""The facade: what it takes, what it refuses, and how native calls, text and reasoning become one envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

import llmcore
from llmcore.normalizer import Normalizer, normalize
from llmcore.types import (
    ArgumentsDelta,
    CallerError,
    ConfigError,
    Envelope,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    Reply,
    Segment,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ToolCallFinished,
    ToolCallStarted,
    ToolDefinition,
    ToolSet,
    ToolUseBlock,
)

Json = dict[str, Any]
TOOLS = ToolSet(
    [
        {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        {"name": "g", "input_schema": {"type": "object", "properties": {}}},
    ]
)


def delimited(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def body(content: object, *calls: tuple[str, str], finish: str | None = "tool_calls", **message: Any) -> Json:
    entries = [{"id": f"c{n}", "function": {"name": name, "arguments": text}} for n, (name, text) in enumerate(calls)]
    message = {"role": "assistant", "content": content, "tool_calls": entries, **message}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def chunk(**delta: Any) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def native(index: int, name: str, arguments: str) -> Json:
    return chunk(tool_calls=[{"index": index, "id": f"c{index}", "function": {"name": name, "arguments": arguments}}])


def pairs(envelope: Envelope) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in envelope.tool_calls]


def heard(*parts: object, finish: str | None = None) -> tuple[Envelope, list[NormalizerEvent]]:
    normalizer = Normalizer(TOOLS)
    told = [event for part in parts for event in normalizer.feed(part)]
    told += normalizer.finish(finish)
    return normalizer.envelope, told


class TestFacade:
    def test_text(self) -> None:
        envelope = normalize("Hello.", TOOLS)
        assert (envelope.content, envelope.tool_calls, envelope.needs_more_work) == ("Hello.", [], None)
        assert envelope.blocks == [TextBlock(text="Hello.")]
        assert envelope.source == "Hello."

    def test_nothing(self) -> None:
        for envelope in (normalize(""), heard()[0], heard("")[0]):
            assert envelope == Envelope()
            assert envelope.blocks == []

    def test_fed_in_pieces_it_is_the_same(self) -> None:
        text = "Look.\n" + delimited("f", '{"a": 1}')
        whole = normalize(text, TOOLS)
        for size in (1, 3, 1000):
            envelope, _ = heard(*[text[at : at + size] for at in range(0, len(text), size)])
            assert envelope == whole
            assert (envelope.segments, envelope.blocks) == (whole.segments, whole.blocks)

    @pytest.mark.parametrize("text", ["", "Words.", "Look.\n" + delimited("f", '{"a": 1}'), "<think>Hm.</think>Yes.", '{"a": 1}'])
    def test_as_an_adapter_returns_it_it_is_the_same(self, text: str) -> None:
        asked: list[dict[str, Any]] = [{}, {"forced_tool": "f"}, {"reasoning_open": True}]
        for told in asked:
            assert normalize(Reply(raw=text, **told), TOOLS) == normalize(text, TOOLS, **told)

    def test_blocks_of_text(self) -> None:
        text = "<think>Hm.</think>Look. " + delimited("f", '{"a": 1}') + " And. " + delimited("g", "{}")
        blocks = normalize(text, TOOLS).blocks
        assert [block.type for block in blocks] == ["thinking", "text", "tool_use", "text", "tool_use"]
        assert blocks[0] == ThinkingBlock(thinking="Hm.")
        assert [block.id for block in blocks if isinstance(block, ToolUseBlock)] == ["call_0", "call_1"]

    @pytest.mark.parametrize(
        ("word", "reason"),
        [
            ("stop", "tool_calls"),
            ("end_turn", "tool_calls"),
            ("length", "length"),
            (None, None),
            ("eos", "tool_calls"),
            ("queued", None),
            ("cancelled", "cancelled"),
        ],
    )
    def test_the_callers_finish_word(self, word: str | None, reason: str | None) -> None:
        text = delimited("f", "{}")
        for envelope in (normalize(text, TOOLS, finish_reason=word), heard(text, finish=word)[0]):
            assert (envelope.finish_reason, envelope.finish_word) == (reason, word)

    def test_the_callers_finish_word_goes_before_the_replys(self) -> None:
        assert normalize(body("A", finish="stop"), finish_reason="length").finish_reason == "length"

    def test_more_work_is_what_the_calls_say(self) -> None:
        assert normalize(body("A", ("f", "{}"))).needs_more_work is True
        assert normalize(body("A")).needs_more_work is None

    def test_lists_of_tools_are_refused_with_the_fix(self) -> None:
        wrong: Any = [{"name": "f"}]
        for call in (lambda: normalize("x", wrong), lambda: Normalizer(wrong)):
            with pytest.raises(CallerError, match=r"ToolSet.*list.*llmcore\.normalize"):
                call()

    def test_unknown_dialects_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="no-such-dialect"):
            normalize("x", dialects=["no-such-dialect"])

    def test_its_life_has_an_order(self) -> None:
        normalizer = Normalizer()
        with pytest.raises(CallerError, match="finish"):
            _ = normalizer.envelope
        normalizer.feed("x")
        normalizer.finish()
        assert normalizer.finish() == []
        with pytest.raises(CallerError, match="new one"):
            normalizer.feed("y")
        assert normalizer.envelope.content == "x"

    def test_without_a_listener_no_events_are_built(self) -> None:
        normalizer = Normalizer(TOOLS, listening=False)
        assert normalizer.feed(body("A", ("f", '{"a": 1}'))) == []
        assert normalizer.finish() == []
        assert pairs(normalizer.envelope) == [("f", {"a": 1})]

    @pytest.mark.parametrize("switch", [None, 0, 1, "x"])
    def test_a_switch_may_be_any_value(self, switch: Any) -> None:
        said, meant = Normalizer(listening=switch), Normalizer(listening=bool(switch))
        assert (said.feed("Hello."), said.finish()) == (meant.feed("Hello."), meant.finish())

    def test_text_and_events_may_be_mixed(self) -> None:
        envelope, _ = heard("Hel", chunk(content="lo"), " you", native(0, "f", "{}"))
        assert envelope.content == "Hello you"
        assert pairs(envelope) == [("f", {})]
        assert envelope.blocks[0] == TextBlock(text="Hello you")

    def test_events_that_no_wire_knows_are_passed_over(self) -> None:
        envelope, _ = heard({"type": "keepalive"}, chunk(content="A"), {"llmcore": {"usage": {}}})
        assert envelope.content == "A"

    def test_no_tools_offered_means_no_call_in_text_but_native_ones_stand(self) -> None:
        text = delimited("f", "{}")
        envelope = normalize(body(text, ("f", "{}")), ToolSet([]))
        assert envelope.content == text
        assert [(call.name, call.known) for call in envelope.tool_calls] == [("f", False)]

    def test_reasoning_that_the_prompt_opened(self) -> None:
        assert normalize("Hm.</think>A", reasoning_open=True).reasoning == "Hm."
        envelope = normalize(body("A", finish="stop", reasoning_content="Hm."), reasoning_open=True)
        assert (envelope.reasoning, envelope.content) == ("Hm.", "A"), "the server has taken it out already"


class TestTextBesideNativeCalls:
    def test_an_equal_call_is_dropped_and_recorded(self) -> None:
        text = "Look. " + delimited("f", '{"a": 1}') + " Done."
        envelope = normalize(body(text, ("functions.f", '{"a": 1}')), TOOLS)
        assert [(call.id, call.dialect) for call in envelope.tool_calls] == [("c0", "native")]
        assert [(repair.kind, repair.before) for repair in envelope.repairs] == [
            ("repeated_call", {"name": "f", "arguments": {"a": 1}})
        ]
        assert envelope.content.split() == ["Look.", "Done."]
        assert "call" not in [segment.kind for segment in envelope.segments]

    def test_another_delimited_call_counts_after_the_native_ones(self) -> None:
        envelope = normalize(body(delimited("f", '{"a": 2}'), ("f", '{"a": 1}')), TOOLS)
        assert [(call.id, call.arguments) for call in envelope.tool_calls] == [("c0", {"a": 1}), ("call_1", {"a": 2})]
        assert envelope.tool_calls[1].span is not None
        blocks = [block for block in envelope.blocks if isinstance(block, ToolUseBlock)]
        assert [block.id for block in blocks] == ["call_1", "c0"], "history keeps the order of the reply"

    def test_a_bare_call_stays_content_as_a_near_miss(self) -> None:
        text = 'Look:\n\n{"name": "f", "arguments": {"a": 2}}'
        envelope = normalize(body(text, ("f", '{"a": 1}')), TOOLS)
        assert pairs(envelope) == [("f", {"a": 1})]
        assert envelope.content == text
        (miss,) = envelope.near_misses
        assert (miss.name, miss.reason) == ("f", "bare_call_beside_native")
        assert text[slice(*miss.span)].startswith("{")
        assert {segment.kind for segment in envelope.segments} == {"content"}

    def test_an_equal_bare_call_is_dropped_too(self) -> None:
        envelope = normalize(body('{"name": "f", "arguments": {"a": 1}}', ("f", '{"a": 1}')), TOOLS)
        assert pairs(envelope) == [("f", {"a": 1})]
        assert (envelope.content, envelope.near_misses) == ("", [])
        assert len(envelope.repairs) == 1

    def test_segments_tile_the_text(self) -> None:
        text = "A " + delimited("f", '{"a": 1}') + " B " + delimited("f", '{"a": 2}') + " C"
        envelope = normalize(body(text, ("f", '{"a": 1}')), TOOLS)
        assert envelope.source == text
        ends = [0, *(segment.end for segment in envelope.segments)]
        assert [segment.start for segment in envelope.segments] == ends[:-1]
        assert ends[-1] == len(text)

    def test_listeners_are_told_what_became_of_it(self) -> None:
        text = delimited("f", '{"a": 1}')
        envelope, told = heard(chunk(content=text), native(0, "f", '{"a": 1}'))
        assert pairs(envelope) == [("f", {"a": 1})]
        assert Reclassified(0, len(text), "markup") in told
        bare = '{"name": "f", "arguments": {"a": 2}}'
        _, told = heard(chunk(content=bare), native(0, "f", '{"a": 1}'))
        assert Reclassified(0, len(bare), "content") in told

    def test_one_numbering_for_all_calls(self) -> None:
        _, told = heard(chunk(content=delimited("g", "{}")), native(0, "f", '{"a": 1}'))
        started = {event.index: event.name for event in told if isinstance(event, ToolCallStarted)}
        finished = {event.index: event.call.name for event in told if isinstance(event, ToolCallFinished)}
        assert sorted(started) == [0, 1]
        assert started == finished


class TestNativeReasoning:
    CALL = "I should call it.\n" + delimited("f", '{"a": 1}')

    def test_a_call_counts_when_the_reply_holds_nothing_else(self) -> None:
        for content in (None, "", "\n"):
            envelope = normalize(body(content, finish="stop", reasoning_content=self.CALL), TOOLS)
            assert pairs(envelope) == [("f", {"a": 1})]
            assert envelope.reasoning.strip() == "I should call it."
            assert envelope.content.strip() == ""
            assert envelope.finish_reason == "tool_calls"

    @pytest.mark.parametrize("reply", [body("Answer.", reasoning_content=CALL), body(None, ("g", "{}"), reasoning_content=CALL)])
    def test_it_is_a_thought_when_the_reply_went_on(self, reply: Json) -> None:
        envelope = normalize(reply, TOOLS)
        assert "f" not in [call.name for call in envelope.tool_calls]
        assert envelope.reasoning == self.CALL

    def test_reasoning_without_a_call_is_left_as_it_is(self) -> None:
        text = 'A thought about {"name": "f"} and <b>.'
        assert normalize(body(None, finish="stop", reasoning=text), TOOLS).reasoning == text

    def test_signed_reasoning_goes_back_unchanged_and_a_call_in_it_is_none(self) -> None:
        reply = {
            "type": "message",
            "content": [{"type": "thinking", "thinking": self.CALL, "signature": "s"}],
            "stop_reason": "end_turn",
        }
        assert normalize(reply, TOOLS).blocks == [ThinkingBlock(thinking=self.CALL, signature="s")]

    def test_listeners_hear_of_it_at_the_end(self) -> None:
        envelope, told = heard(*[chunk(reasoning_content=character) for character in self.CALL])
        said = "".join(event.text for event in told if isinstance(event, ReasoningDelta))
        assert said == self.CALL
        at = envelope.tool_calls[0].span
        assert at is not None
        assert Reclassified(*at, "call") in told
        assert [event.call for event in told if isinstance(event, ToolCallFinished)] == envelope.tool_calls
        assert self.CALL[slice(*at)] == self.CALL[self.CALL.index("<") :]

    def test_reasoning_in_the_text_joins_the_native_one(self) -> None:
        envelope = normalize(body("<think>two</think>A", finish="stop", reasoning_content="one "), TOOLS)
        assert (envelope.reasoning, envelope.content) == ("one two", "A")


class TestEvents:
    def test_concatenated_arguments_become_further_calls(self) -> None:
        envelope, told = heard(native(0, "f", '{"a": 1}'), native(0, "f", '{"a": 2}'))
        assert pairs(envelope) == [("f", {"a": 1}), ("f", {"a": 2})]
        finished = [(event.index, event.call.arguments) for event in told if isinstance(event, ToolCallFinished)]
        assert finished == [(0, {"a": 1}), (1, {"a": 2})]

    def test_folded_calls_are_told_unfolded(self) -> None:
        names: list[tuple[str, Json]] = [("f", {"a": 1}), ("g", {})]
        folded = [{"recipient_name": f"functions.{name}", "parameters": given} for name, given in names]
        uses = json.dumps({"tool_uses": folded})
        _, told = heard(native(0, "multi_tool_use.parallel", uses))
        assert [event.name for event in told if isinstance(event, ToolCallStarted)] == ["f", "g"]
        assert [event.json for event in told if isinstance(event, ArgumentsDelta)] == ['{"a": 1}', "{}"]

    def test_ids_in_events_wait_for_what_comes_before(self) -> None:
        entries = [{"function": {"name": "f", "arguments": text}} for text in ('{"a": 1}{"a": 2}', "{}", "{}")]
        envelope, told = heard({"role": "assistant", "content": None, "tool_calls": entries})
        finished = [event.call for event in told if isinstance(event, ToolCallFinished)]
        assert sorted(finished, key=lambda call: call.id) == envelope.tool_calls
        assert [call.id for call in envelope.tool_calls] == ["call_0", "call_1", "call_2", "call_3"]

    def test_a_call_in_text_after_a_native_one_is_numbered_after_it(self) -> None:
        envelope, told = heard(native(0, "f", '{"a": 1}'), chunk(content=delimited("g", "{}")))
        started = [(event.index, event.id) for event in told if isinstance(event, ToolCallStarted)]
        assert started == [(0, "c0"), (1, "call_1")]
        assert [call.id for call in envelope.tool_calls] == ["c0", "call_1"]

    def test_a_custom_tools_text_is_told_as_json(self) -> None:
        def custom(**fields: Any) -> Json:
            return chunk(tool_calls=[{"index": 0, **fields}])

        envelope, told = heard(
            custom(id="c0", type="custom", custom={"name": "run", "input": 'say "'}),
            custom(custom={"input": 'hi"\n'}),
        )
        deltas = "".join(event.json for event in told if isinstance(event, ArgumentsDelta))
        assert json.loads(deltas) == envelope.tool_calls[0].arguments == {"input": 'say "hi"\n'}

    def test_a_late_name_is_waited_for(self) -> None:
        def piece(**function: str) -> Json:
            return chunk(tool_calls=[{"index": 0, "id": "c0", "function": function}])

        _, told = heard(piece(arguments='{"a"'), piece(name="f", arguments=": 1"), piece(arguments="}"))
        kinds = [type(event).__name__ for event in told]
        assert kinds == ["ToolCallStarted", "ArgumentsDelta", "ArgumentsDelta", "ArgumentsDelta", "ToolCallFinished"]

    def test_text_is_told_as_it_comes(self) -> None:
        normalizer = Normalizer(TOOLS)
        assert normalizer.feed(chunk(content="Hello")) == [TextDelta("Hello")]
        assert normalizer.feed("!") == [TextDelta("!")]

    def test_ids_in_events_are_those_of_the_envelope(self) -> None:
        text = delimited("f", '{"a": 1}') + delimited("g", "{}")
        envelope, told = heard(*text)
        started = [event.id for event in told if isinstance(event, ToolCallStarted)]
        finished = [event.call for event in told if isinstance(event, ToolCallFinished)]
        assert started == ["call_0", "call_1"]
        assert finished == envelope.tool_calls


def test_segments_of_a_reply_that_fits_no_wire() -> None:
    envelope, told = heard({"a": 1})
    assert envelope.segments == [Segment(0, 8, "content")]
    assert told == [TextDelta('{"a": 1}')]
    assert envelope.blocks == [TextBlock(text='{"a": 1}')]


def test_what_is_held_back_can_be_looked_at() -> None:
    """Text that may become a call, with the white space before it; nothing once it was told, and nothing when nobody listens."""
    for native in (False, True):
        normalizer = Normalizer(ToolSet([ToolDefinition(name="f", parameters={"type": "object"})]))
        for piece in ("Here:\n", "```json\n", '{"a": 1'):
            normalizer.feed({"choices": [{"delta": {"content": piece}}]} if native else piece)
        assert normalizer.withheld_text() == '\n```json\n{"a": 1'
        assert normalizer.withheld_text(len("\n```json\n")) == '{"a": 1'
        assert normalizer.withheld_text(100) == ""
        normalizer.finish()
    assert Normalizer().withheld_text() == ""


def test_none_is_no_text_and_bytes_are_refused() -> None:
    reader = llmcore.Normalizer([])
    for part in ("a", None, "c"):
        reader.feed(part)
    with pytest.raises(CallerError, match="not bytes: decode them first"):
        reader.feed(b"b")
    reader.finish()
    assert reader.envelope.content == "ac"


@pytest.mark.parametrize("option", ["finish_reason", "forced_tool"])
def test_what_must_be_a_text_is_one(option: str) -> None:
    wrong: dict[str, Any] = {option: 5}
    with pytest.raises(ConfigError, match=f"`{option}` must be a text, not 5"):
        llmcore.normalize("x", [], **wrong)


@pytest.mark.parametrize("strictness", ["strict", None, 5])
def test_a_strictness_that_does_not_exist_is_refused_with_or_without_calls(strictness: Any) -> None:
    with pytest.raises(CallerError, match='strictness must be "off", "safe" or "lenient"'):
        llmcore.validate(llmcore.normalize("x"), [], strictness=strictness)
