"""W1 and its hosts: where they put reasoning, how they number streamed calls, what else they send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import Envelope, ProviderBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

Json = dict[str, Any]


def body(message: Json, finish: str | None = "stop") -> Json:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]}


def call(arguments: object = "{}", name: str = "f", **more: Any) -> Json:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def streamed(*deltas: Json, finish: str | None = "tool_calls") -> Envelope:
    normalizer = Normalizer()
    for delta in deltas:
        normalizer.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if finish is not None:
        last: Json = {"index": 0, "delta": {}, "finish_reason": finish}
        normalizer.feed({"choices": [last]})
    normalizer.finish()
    return normalizer.envelope


def piece(arguments: str | None = None, *, index: int | None = None, id: str | None = None, name: str | None = None) -> Json:
    """One entry of a delta's `tool_calls`; None leaves the field out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: Json = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {"tool_calls": [{**entry, "function": function}]}


def pairs(envelope: Envelope) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in envelope.tool_calls]


class TestReasoning:
    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    def test_each_host_has_its_field(self, field: str) -> None:
        envelope = normalize(body({field: "Think.", "content": "Answer."}))
        assert (envelope.reasoning, envelope.content) == ("Think.", "Answer.")
        assert envelope.blocks == [ThinkingBlock(thinking="Think."), TextBlock(text="Answer.")]

    def test_fields_that_hold_the_same_text_are_read_once(self) -> None:
        details = [{"type": "reasoning.text", "text": "Think.", "signature": "s", "index": 0}]
        message = {"reasoning": "Think.", "reasoning_content": "Think.", "reasoning_details": details, "content": "A"}
        assert normalize(body(message)).reasoning == "Think."

    def test_reasoning_details_alone_are_read_and_go_back_as_they_came(self) -> None:
        details = [
            {"type": "reasoning.summary", "summary": "Think.", "index": 0},
            {"type": "reasoning.encrypted", "data": "x"},
        ]
        envelope = normalize(body({"reasoning_details": details, "content": "A"}))
        assert envelope.reasoning == "Think."
        assert envelope.blocks == [
            ProviderBlock(provider="openai-chat", data={"reasoning_details": details}),
            TextBlock(text="A"),
        ]

    def test_streamed_reasoning_details_are_put_together(self) -> None:
        def detail(**more: Any) -> Json:
            return {"type": "reasoning.text", "index": 0, **more}

        envelope = streamed(
            {"reasoning": "Thi", "reasoning_details": [detail(text="Thi")]},
            {"reasoning": "nk.", "reasoning_details": [detail(text="nk.")]},
            {"reasoning_details": [detail(text=None, signature="sig")]},
            {"content": "A"},
            finish="stop",
        )
        assert envelope.reasoning == "Think."
        expected = {"reasoning_details": [detail(text="Think.", signature="sig")]}
        assert envelope.blocks[0] == ProviderBlock(provider="openai-chat", data=expected)

    @pytest.mark.parametrize("thinking", ["Think.", [{"type": "text", "text": "Thi"}, {"type": "text", "text": "nk."}]])
    def test_mistral_parts(self, thinking: object) -> None:
        content = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "Answer."}]
        envelope = normalize(body({"content": content}))
        assert (envelope.reasoning, envelope.content) == ("Think.", "Answer.")

    def test_litellm_blocks_keep_their_signatures(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "One.", "signature": "s1"},
            {"type": "redacted_thinking", "data": "enc"},
            {"type": "thinking", "thinking": "Two.", "signature": "s2"},
        ]
        envelope = normalize(body({"reasoning_content": "One.Two.", "thinking_blocks": blocks, "content": "A"}))
        assert envelope.reasoning == "One.Two."
        assert envelope.blocks == [
            ThinkingBlock(thinking="One.", signature="s1"),
            RedactedThinkingBlock(data="enc"),
            ThinkingBlock(thinking="Two.", signature="s2"),
            TextBlock(text="A"),
        ]

    def test_a_signature_closes_its_block(self) -> None:
        blocks = [{"type": "thinking", "thinking": text, "signature": text} for text in ("One.", "Two.")]
        found = normalize(body({"thinking_blocks": blocks, "content": "A"})).blocks
        assert found[:2] == [ThinkingBlock(thinking=text, signature=text) for text in ("One.", "Two.")]

    def test_a_signed_delta_that_repeats_the_text_is_not_read_twice(self) -> None:
        envelope = streamed(
            {"reasoning_content": "Need "},
            {"reasoning_content": "weather."},
            {"thinking_blocks": [{"type": "thinking", "thinking": "Need weather.", "signature": "s"}]},
            {"content": "A"},
            finish="stop",
        )
        assert envelope.reasoning == "Need weather."
        assert envelope.blocks[0] == ThinkingBlock(thinking="Need weather.", signature="s")

    def test_empty_thinking_with_a_signature_is_kept(self) -> None:
        blocks = [{"type": "thinking", "thinking": "", "signature": "s"}]
        assert normalize(body({"thinking_blocks": blocks, "content": "A"})).blocks[0] == ThinkingBlock(thinking="", signature="s")


class TestWholeMessages:
    def test_content_parts_are_joined_with_nothing_between(self) -> None:
        envelope = normalize(body({"content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}))
        assert envelope.content == "a b"

    def test_a_refusal_is_content_and_goes_back_as_one(self) -> None:
        envelope = normalize(body({"content": None, "refusal": "I cannot."}))
        assert envelope.content == "I cannot."
        assert envelope.blocks == [ProviderBlock(provider="openai-chat", data={"type": "refusal", "refusal": "I cannot."})]

    def test_a_refusal_that_ends_a_reply_is_its_reason(self) -> None:
        refused = body({"content": None, "refusal": "I cannot."})
        refused["choices"][0]["finish_reason"] = "stop"
        assert (normalize(refused).finish_reason, normalize(refused).finish_word) == ("content_filter", "stop")
        refused["choices"][0]["message"]["content"] = "Here it is."
        assert normalize(refused).finish_reason == "stop"

    def test_unknown_parts_and_fields_are_kept(self) -> None:
        audio = {"id": "au_1", "data": "b64", "transcript": "hi"}
        part = {"type": "image_url", "image_url": {"url": "data:x"}}
        envelope = normalize(body({"content": [part, {"type": "text", "text": "A"}], "audio": audio}))
        assert envelope.blocks == [
            ProviderBlock(provider="openai-chat", data=part),
            TextBlock(text="A"),
            ProviderBlock(provider="openai-chat", data={"audio": audio}),
        ]

    def test_empty_fields_leave_no_block(self) -> None:
        message: Json = {"content": "A", "audio": {"data": "", "expires_at": 0}, "annotations": [], "images": None}
        assert normalize(body(message)).blocks == [TextBlock(text="A")]

    def test_legacy_function_call(self) -> None:
        envelope = normalize(body({"content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}, "function_call"))
        assert pairs(envelope) == [("f", {"a": 1})]
        assert envelope.tool_calls[0].id == "call_0"
        assert envelope.finish_reason == "tool_calls"

    def test_an_empty_legacy_call_is_none(self) -> None:
        envelope = normalize(body({"content": "A", "function_call": {"name": "", "arguments": ""}}, ""))
        assert not envelope.tool_calls
        assert not envelope.near_misses
        assert envelope.finish_reason is None
        assert envelope.finish_word is None

    def test_a_custom_tool_has_its_text_as_input(self) -> None:
        custom = {"id": "c1", "type": "custom", "custom": {"name": "run", "input": '{"not": parsed'}}
        envelope = normalize(body({"tool_calls": [custom]}, "tool_calls"))
        assert pairs(envelope) == [("run", {"input": '{"not": parsed'})]
        assert envelope.tool_calls[0].complete

    def test_a_custom_stub_beside_a_function_is_ignored(self) -> None:
        entry = call('{"a": 1}', custom={"name": "", "input": ""})
        assert pairs(normalize(body({"tool_calls": [entry]}))) == [("f", {"a": 1})]

    def test_a_call_with_a_signature_keeps_it(self) -> None:
        extra = {"google": {"thought_signature": "sig"}}
        envelope = normalize(body({"tool_calls": [call(extra_content=extra)]}))
        assert envelope.blocks == [
            ToolUseBlock(id="c1", name="f", input={}, raw_input="{}"),
            ProviderBlock(provider="openai-chat", data={"extra_content": extra}),
        ]

    def test_gemini_ids_are_kept_verbatim(self) -> None:
        entry = {**call(), "id": "call_ab__thought__c2ln"}
        assert normalize(body({"tool_calls": [entry]})).tool_calls[0].id == "call_ab__thought__c2ln"

    @pytest.mark.parametrize("id", ["", None])
    def test_a_missing_id_is_numbered_by_position(self, id: str | None) -> None:
        entries = [{**call(), "id": id}, {**call(), "id": "own"}, {**call(), "id": id}]
        envelope = normalize(body({"tool_calls": entries}))
        assert [found.id for found in envelope.tool_calls] == ["call_0", "own", "call_2"]

    def test_only_choice_0_is_read(self) -> None:
        other = {"index": 1, "message": {"content": "other"}, "finish_reason": "length"}
        envelope = normalize({"choices": [other, *body({"content": "first"})["choices"]]})
        assert (envelope.content, envelope.finish_reason) == ("first", "stop")

    def test_a_call_in_content_counts_when_tool_calls_is_empty(self) -> None:
        text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
        for empty in (None, list[Json]()):
            envelope = normalize(body({"content": text, "tool_calls": empty}))
            assert pairs(envelope) == [("f", {"a": 1})]
            assert envelope.finish_reason == "tool_calls"
            assert envelope.content == ""

    def test_a_choice_and_a_message_alone_are_read(self) -> None:
        whole = body({"content": "A", "tool_calls": [call()]}, "tool_calls")
        choice = whole["choices"][0]
        assert normalize(choice) == normalize(whole)
        assert pairs(normalize(choice["message"])) == [("f", {})]

    def test_the_older_completions_endpoint(self) -> None:
        envelope = normalize({"choices": [{"index": 0, "text": "Hello", "finish_reason": "length"}]})
        assert (envelope.content, envelope.finish_reason) == ("Hello", "length")


class TestStreamedCalls:
    def test_one_call_in_pieces(self) -> None:
        envelope = streamed(piece("", index=0, id="c1", name="f"), piece('{"a"', index=0), piece(": 1}", index=0))
        assert pairs(envelope) == [("f", {"a": 1})]

    def test_all_parallel_calls_under_one_index(self) -> None:
        envelope = streamed(
            piece('{"a": 1}', index=0, id="c1", name="f"),
            piece('{"a": 2}', index=0, id="c2", name="f"),
        )
        assert pairs(envelope) == [("f", {"a": 1}), ("f", {"a": 2})]
        assert [call.id for call in envelope.tool_calls] == ["c1", "c2"]

    def test_all_parallel_calls_under_one_index_without_ids(self) -> None:
        envelope = streamed(
            piece('{"a": 1}', index=0, name="f"), piece('{"a": 2}', index=0, name="f"), piece("{}", index=0, name="g")
        )
        assert pairs(envelope) == [("f", {"a": 1}), ("f", {"a": 2}), ("g", {})]

    def test_an_index_bumped_in_the_middle_of_a_call(self) -> None:
        envelope = streamed(
            piece('{"a":', index=0, id="c1", name="f"),
            piece(" 1", index=1),
            piece("}", index=1),
        )
        assert pairs(envelope) == [("f", {"a": 1})]

    def test_no_index_at_all(self) -> None:
        envelope = streamed(
            piece('{"a":', id="c1", name="f"),
            piece(" 1}"),
            piece("{}", id="c2", name="g"),
        )
        assert pairs(envelope) == [("f", {"a": 1}), ("g", {})]

    def test_no_index_and_interleaved_by_id(self) -> None:
        envelope = streamed(
            piece('{"a":', id="c1", name="f"),
            piece('{"b":', id="c2", name="g"),
            piece(" 1}", id="c1"),
            piece(" 2}", id="c2"),
        )
        assert pairs(envelope) == [("f", {"a": 1}), ("g", {"b": 2})]

    def test_several_calls_in_one_delta_without_index_and_id(self) -> None:
        delta = {
            "tool_calls": [
                {"function": {"name": "f", "arguments": '{"a": 1}'}},
                {"function": {"name": "f", "arguments": "{}"}},
            ]
        }
        assert pairs(streamed(delta)) == [("f", {"a": 1}), ("f", {})]

    def test_the_name_repeated_in_every_chunk(self) -> None:
        for id in ("c1", None):
            pieces = [piece(text, index=0, id=id, name="f") for text in ('{"a"', ": ", "1}", "")]
            assert pairs(streamed(*pieces)) == [("f", {"a": 1})]

    def test_name_and_arguments_in_different_chunks(self) -> None:
        envelope = streamed(piece(index=0, id="c1"), piece(index=0, name="f"), piece("{}", index=0))
        assert pairs(envelope) == [("f", {})]

    def test_arguments_before_the_name(self) -> None:
        envelope = streamed(piece('{"a"', index=0, id="c1"), piece(": 1}", index=0, name="f"))
        assert pairs(envelope) == [("f", {"a": 1})]

    def test_an_id_that_comes_late(self) -> None:
        envelope = streamed(piece('{"a"', index=0, name="f"), piece(": 1}", index=0, id="c1"))
        assert [(call.id, call.arguments) for call in envelope.tool_calls] == [("c1", {"a": 1})]

    def test_a_whole_call_sent_again_collapses(self) -> None:
        again = piece('{"a": 1}', index=0, id="c1", name="f")
        envelope = streamed(again, again)
        assert pairs(envelope) == [("f", {"a": 1})]
        assert "repeated_arguments" in [repair.kind for repair in envelope.tool_calls[0].repairs]

    def test_a_legacy_call_in_pieces(self) -> None:
        envelope = streamed(
            {"function_call": {"name": "f", "arguments": ""}},
            {"function_call": {"arguments": '{"a"'}},
            {"function_call": {"arguments": ": 1}"}},
            finish="function_call",
        )
        assert pairs(envelope) == [("f", {"a": 1})]

    def test_a_custom_call_in_pieces(self) -> None:
        envelope = streamed(
            {"tool_calls": [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "run", "input": "ls "}}]},
            {"tool_calls": [{"index": 0, "custom": {"input": '-l "x"'}}]},
        )
        assert pairs(envelope) == [("run", {"input": 'ls -l "x"'})]

    def test_arguments_cut_although_the_finish_says_tool_calls(self) -> None:
        envelope = streamed(piece('{"path": "/tmp/x', index=0, id="c1", name="f"))
        assert not envelope.tool_calls[0].complete
        assert envelope.truncated

    def test_other_choices_are_left_alone(self) -> None:
        normalizer = Normalizer()
        for index, text in ((0, "a"), (1, "x"), (0, "b"), (1, "y")):
            normalizer.feed({"choices": [{"index": index, "delta": {"content": text}}]})
        normalizer.finish()
        assert normalizer.envelope.content == "ab"

    def test_a_whole_message_after_its_deltas_is_not_read_twice(self) -> None:
        normalizer = Normalizer()
        normalizer.feed({"choices": [{"index": 0, "delta": {"content": "Hello"}}]})
        normalizer.feed(body({"content": "Hello"}))
        normalizer.finish()
        assert (normalizer.envelope.content, normalizer.envelope.finish_reason) == ("Hello", "stop")


@pytest.mark.parametrize(
    "entry",
    [
        {"function": {"name": "f", "parameters": {"a": 1}}},
        {"function": {"name": "f", "input": '{"a": 1}'}},
        {"function": {"name": "f"}, "arguments": {"a": 1}},
        {"name": "f", "parameters": {"a": 1}},
        {"name": "f", "args": {"a": 1}},
    ],
)
def test_arguments_under_another_name_are_not_lost(entry: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"tool_calls": [{"id": "x", "type": "function", **entry}]}, "finish_reason": "tool_calls"}]}
    assert [(call.name, call.arguments) for call in normalize(body).tool_calls] == [("f", {"a": 1})]


_CALL = {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize(
    ("given", "calls", "content"),
    [
        ({"tool_calls": _CALL}, 1, ""),
        ({"tool_calls": json.dumps([_CALL, _CALL])}, 2, ""),
        ({"tool_calls": "f"}, 0, '"f"'),
        ({"tool_calls": [5, _CALL]}, 1, "5"),
        ({"content": b"caf\xc3\xa9"}, 0, "caf\u00e9"),
    ],
)
def test_what_stands_in_the_place_of_calls_or_words_is_not_lost(given: dict[str, Any], calls: int, content: str) -> None:
    envelope = normalize({"choices": [{"message": {"role": "assistant", **given}}]})
    assert ([call.arguments for call in envelope.tool_calls], envelope.content) == ([{"a": 1}] * calls, content)


@pytest.mark.parametrize(
    ("field", "told", "kept"),
    [
        ("citations", ["https://example.org/a"], {"citations": ["https://example.org/a"]}),
        ("search_results", [{"url": "https://example.org/a"}], {"search_results": [{"url": "https://example.org/a"}]}),
        ("vertex_ai_grounding_metadata", [{"webSearchQueries": ["x"]}], {"groundingMetadata": {"webSearchQueries": ["x"]}}),
        ("vertex_ai_url_context_metadata", [{"urlMetadata": [1]}], {"urlContextMetadata": {"urlMetadata": [1]}}),
        ("vertex_ai_citation_metadata", [{"citations": [1]}], {"citationMetadata": {"citations": [1]}}),
    ],
)
def test_what_was_searched_is_kept_once(field: str, told: object, kept: dict[str, Any]) -> None:
    """Perplexity and xAI tell it beside the choices, in a stream with each chunk; LiteLLM so of Gemini."""
    more = {field: told, "id": "1", "model": "m"}
    whole = {"choices": [{"message": {"role": "assistant", "content": "Noon."}, "finish_reason": "stop"}], **more}
    normalizer = Normalizer()
    for text, word in (("No", None), ("on.", None), ("", "stop")):
        normalizer.feed({"choices": [{"delta": {"content": text}, "finish_reason": word}], **more})
    normalizer.finish()
    for envelope in (normalize(whole), normalizer.envelope):
        assert envelope.blocks == [TextBlock(text="Noon."), ProviderBlock(provider="openai-chat", data=kept)]
