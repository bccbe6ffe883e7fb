"""W5 to W9: Bedrock, Cohere, Ollama, Groq's failed generations, and objects of SDKs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import ProviderBlock, RedactedThinkingBlock, Reply, TextBlock, ThinkingBlock, ToolSet

Json = dict[str, Any]
TOOLS = ToolSet([{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}])
CALL_IN_TEXT = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def converse(*content: Json, stop: str = "end_turn") -> Json:
    return {"output": {"message": {"role": "assistant", "content": [*content]}}, "stopReason": stop}


class TestBedrock:
    def test_server_side_calls_are_kept_but_are_no_calls(self) -> None:
        use = {"toolUse": {"toolUseId": "s1", "name": "search", "input": {"q": "x"}, "type": "server_tool_use"}}
        result = {"toolResult": {"toolUseId": "s1", "content": [{"text": "r"}]}}
        envelope = normalize(converse(use, result, {"text": "A"}))
        assert not envelope.tool_calls
        assert envelope.blocks == [
            ProviderBlock(provider="bedrock-converse", data=use),
            ProviderBlock(provider="bedrock-converse", data=result),
            TextBlock(text="A"),
        ]

    def test_streamed_server_side_calls_are_put_together(self) -> None:
        normalizer = Normalizer()
        use = {"toolUseId": "s1", "name": "search", "type": "server_tool_use"}
        normalizer.feed({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": use}}})
        for piece in ('{"q"', ': "x"}'):
            normalizer.feed({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": piece}}}})
        normalizer.feed({"contentBlockStop": {"contentBlockIndex": 0}})
        normalizer.finish()
        data = {"toolUse": {**use, "input": {"q": "x"}}}
        assert normalizer.envelope.blocks == [ProviderBlock(provider="bedrock-converse", data=data)]
        assert not normalizer.envelope.tool_calls

    def test_reasoning(self) -> None:
        thought = {"reasoningContent": {"reasoningText": {"text": "Think.", "signature": "s"}}}
        hidden = {"reasoningContent": {"redactedContent": "enc"}}
        envelope = normalize(converse(thought, hidden, {"text": "A"}))
        assert envelope.blocks == [
            ThinkingBlock(thinking="Think.", signature="s"),
            RedactedThinkingBlock(data="enc"),
            TextBlock(text="A"),
        ]

    @pytest.mark.parametrize(
        ("word", "reason"),
        [("guardrail_intervened", "content_filter"), ("content_filtered", "content_filter"), ("max_tokens", "length")],
    )
    def test_why_it_ended(self, word: str, reason: str) -> None:
        assert normalize(converse({"text": "A"}, stop=word)).finish_reason == reason

    def test_parts_alone_are_read(self) -> None:
        blocks = [{"text": "A"}, {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]
        message = {"role": "assistant", "content": blocks}
        for part in (blocks, message, {"message": message, "stopReason": "tool_use"}):
            envelope = normalize(part)
            assert (envelope.content, envelope.tool_calls[0].arguments) == ("A", {"a": 1})
        assert normalize([{"text": "A"}]).content == "A"


class TestCohere:
    def test_thinking_and_citations(self) -> None:
        citations = [{"start": 0, "end": 1, "text": "A"}]
        content = [{"type": "thinking", "thinking": "Think."}, {"type": "text", "text": "A"}]
        message = {"role": "assistant", "content": content, "citations": citations}
        envelope = normalize({"message": message, "finish_reason": "COMPLETE"})
        assert (envelope.reasoning, envelope.content, envelope.finish_reason) == ("Think.", "A", "stop")
        assert envelope.blocks[-1] == ProviderBlock(provider="cohere-v2", data={"citations": citations})

    def test_streamed_thinking(self) -> None:
        normalizer = Normalizer()
        normalizer.feed({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "Think."}}}})
        normalizer.feed({"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "A"}}}})
        normalizer.finish()
        assert (normalizer.envelope.reasoning, normalizer.envelope.content) == ("Think.", "A")


class TestOllama:
    def test_calls_under_one_index_are_several(self) -> None:
        calls = [{"function": {"index": 0, "name": "f", "arguments": {"a": n}}} for n in (1, 1, 2)]
        line = {
            "message": {"role": "assistant", "content": "", "tool_calls": calls},
            "done": True,
            "done_reason": "stop",
        }
        envelope = normalize(line, TOOLS)
        assert [call.arguments for call in envelope.tool_calls] == [{"a": 1}, {"a": 1}, {"a": 2}]
        assert envelope.finish_reason == "tool_calls"

    def test_calls_leak_into_the_content(self) -> None:
        line = {"message": {"role": "assistant", "content": '{"name": "f", "parameters": {"a": 1}}'}, "done": True}
        assert normalize(line, TOOLS).tool_calls[0].arguments == {"a": 1}


class TestFailedGeneration:
    @staticmethod
    def error(text: str) -> Json:
        return {
            "error": {
                "message": "Failed",
                "type": "invalid_request_error",
                "code": "tool_use_failed",
                "failed_generation": text,
            }
        }

    def test_a_call_in_it_counts(self) -> None:
        envelope = normalize(self.error(CALL_IN_TEXT), TOOLS)
        assert envelope.tool_calls[0].arguments == {"a": 1}
        assert (envelope.finish_reason, envelope.finish_word) == ("error", "tool_use_failed")

    @pytest.mark.parametrize("text", ["", "maybe"])
    def test_plain_words_are_no_call(self, text: str) -> None:
        envelope = normalize(self.error(text), TOOLS)
        assert not envelope.tool_calls
        assert envelope.content == text

    def test_it_may_end_a_stream_of_any_wire(self) -> None:
        for sent in ("", CALL_IN_TEXT[:12]):
            normalizer = Normalizer(TOOLS)
            normalizer.feed({"choices": [{"index": 0, "delta": {"role": "assistant", "content": sent}}]})
            normalizer.feed(self.error(CALL_IN_TEXT))
            normalizer.finish()
            assert [call.arguments for call in normalizer.envelope.tool_calls] == [{"a": 1}]
            assert normalizer.envelope.content == ""


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")
    role: str = "assistant"


class Completion(BaseModel):
    choices: list[Json]


class TestObjects:
    def test_a_model_is_dumped(self) -> None:
        reply = Completion(choices=[{"index": 0, "message": {"content": "A"}, "finish_reason": "stop"}])
        assert normalize(reply).content == "A"

    def test_models_inside_dicts_and_lists_are_dumped(self) -> None:
        message = Message.model_validate({"content": "A", "tool_calls": []})
        assert normalize({"choices": [{"index": 0, "message": message}]}).content == "A"
        assert normalize([Completion(choices=[{"index": 0, "delta": {"content": "A"}}])]).content == "A"

    def test_an_object_whose_dump_fails_is_text(self) -> None:
        class Broken:
            def model_dump(self) -> Json:
                raise RuntimeError("no")

            def __repr__(self) -> str:
                return "Broken()"

        assert normalize(Broken()).content == '"Broken()"'

    def test_a_reply_brings_its_wire_and_what_the_adapter_knows(self) -> None:
        whole = {"message": {"role": "assistant", "content": "A"}, "finish_reason": "stop", "done": True}
        assert normalize(Reply(raw=whole, wire="openai-chat")).finish_reason == "stop"
        assert normalize(Reply(raw="Think.</think>A", reasoning_open=True)).reasoning == "Think."
        forced = normalize(Reply(raw='{"a": 1}', forced_tool="f"), TOOLS)
        assert [(call.name, call.arguments) for call in forced.tool_calls] == [("f", {"a": 1})]

    def test_an_unknown_wire_name_is_no_obstacle(self) -> None:
        raw = {"choices": [{"index": 0, "message": {"content": "A"}}]}
        assert normalize(Reply(raw=raw, wire="something-else")).content == "A"
