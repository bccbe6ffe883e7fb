"""W2: items, and a stream that says everything several times."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import Envelope, ProviderBlock, TextBlock

Json = dict[str, Any]


def response(*items: Json, status: str = "completed", **more: Any) -> Json:
    return {"object": "response", "status": status, "output": [*items], **more}


def message(*parts: Json) -> Json:
    return {"type": "message", "id": "m1", "role": "assistant", "content": [*parts]}


def text(value: str) -> Json:
    return {"type": "output_text", "text": value, "annotations": []}


def fed(*events: Json) -> Envelope:
    normalizer = Normalizer()
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    return normalizer.envelope


def test_the_id_to_answer_is_call_id() -> None:
    item: Json = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_9",
        "name": "f",
        "arguments": "{}",
        "namespace": "ns",
    }
    envelope = normalize(response(item))
    assert envelope.tool_calls[0].id == "call_9"
    assert envelope.tool_calls[0].name == "f"
    assert envelope.blocks[1] == ProviderBlock(provider="openai-responses", data={"namespace": "ns"})


def test_custom_tools_take_text() -> None:
    item: Json = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "run", "input": "{raw"}
    assert normalize(response(item)).tool_calls[0].arguments == {"input": "{raw"}


def test_streamed_custom_tools_take_text() -> None:
    item: Json = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "run", "input": ""}
    envelope = fed(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "item_id": "ct_1", "delta": "ls "},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "item_id": "ct_1", "delta": "-l"},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "input": "ls -l"}},
    )
    assert [(call.name, call.arguments, call.complete) for call in envelope.tool_calls] == [("run", {"input": "ls -l"}, True)]


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_call",
        "code_interpreter_call",
        "file_search_call",
        "mcp_call",
        "image_generation_call",
        "mcp_list_tools",
    ],
)
def test_server_tools_are_no_calls_but_are_kept(kind: str) -> None:
    item: Json = {"type": kind, "id": "x1", "name": "search", "arguments": "{}"}
    envelope = normalize(response(item, message(text("A"))))
    assert not envelope.tool_calls
    assert envelope.blocks == [ProviderBlock(provider="openai-responses", data=item), TextBlock(text="A")]


def test_a_reasoning_item_goes_back_as_it_came() -> None:
    item: Json = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"text": "One."}, {"text": "Two."}],
        "encrypted_content": "e",
    }
    envelope = normalize(response(item, message(text("A"))))
    assert envelope.reasoning == "One.Two."
    assert envelope.blocks == [ProviderBlock(provider="openai-responses", data=item), TextBlock(text="A")]


def test_a_reasoning_item_without_text_goes_back_too() -> None:
    item: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
    envelope = normalize(response(item, message(text("A"))))
    assert envelope.reasoning == ""
    assert envelope.blocks[0] == ProviderBlock(provider="openai-responses", data=item)


def test_open_weight_servers_put_the_reasoning_into_content() -> None:
    item: Json = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Think."}],
    }
    assert normalize(response(item)).reasoning == "Think."


def test_a_refusal_is_content() -> None:
    envelope = normalize(response(message({"type": "refusal", "refusal": "No."})))
    assert envelope.content == "No."
    assert envelope.blocks == [ProviderBlock(provider="openai-responses", data={"type": "refusal", "refusal": "No."})]


def test_annotations_are_kept_with_their_text() -> None:
    annotation = {"type": "url_citation", "url": "https://example.org"}
    envelope = normalize(response(message({**text("A"), "annotations": [annotation]})))
    assert envelope.blocks == [
        TextBlock(text="A"),
        ProviderBlock(provider="openai-responses", data={"annotations": [annotation]}),
    ]


@pytest.mark.parametrize(
    ("status", "details", "reason", "word"),
    [
        ("completed", None, "stop", "completed"),
        ("incomplete", {"reason": "max_output_tokens"}, "length", "max_output_tokens"),
        ("incomplete", {"reason": "content_filter"}, "content_filter", "content_filter"),
        ("failed", None, "error", "failed"),
        ("queued", None, None, "queued"),
        ("cancelled", None, "error", "cancelled"),
    ],
)
def test_why_it_ended(status: str, details: Json | None, reason: str | None, word: str) -> None:
    envelope = normalize(response(message(text("A")), status=status, incomplete_details=details, error=None))
    assert (envelope.finish_reason, envelope.finish_word) == (reason, word)


def test_a_stream_cut_before_its_last_event_is_read() -> None:
    envelope = fed(
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "item_id": "m1", "content_index": 0, "delta": "Hel"},
    )
    assert envelope.content == "Hel"
    assert envelope.finish_reason is None


def test_a_stream_of_nothing_but_its_last_event_is_read() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    envelope = fed({"type": "response.completed", "response": response(message(text("A")), call)})
    assert envelope.content == "A"
    assert envelope.tool_calls[0].arguments == {"a": 1}


def test_texts_without_deltas_are_taken_from_what_tells_them_first() -> None:
    where = {"output_index": 0, "item_id": "m1", "content_index": 0}
    done = {"type": "response.output_text.done", **where, "text": "Hello"}
    item_done = {"type": "response.output_item.done", "output_index": 0, "item": message(text("Hello"))}
    completed = {"type": "response.completed", "response": response(message(text("Hello")))}
    assert fed(done, item_done, completed).content == "Hello"
    assert fed(item_done, completed).content == "Hello"


def test_ids_that_change_between_events_do_not_double_a_call() -> None:
    item: Json = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    envelope = fed(
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "id": "tmp", "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "id": "tmp2"}},
        {"type": "response.completed", "response": response({**item, "id": "final"})},
    )
    assert len(envelope.tool_calls) == 1


def test_events_without_a_position_go_by_item_id() -> None:
    item: Json = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": ""}
    envelope = fed(
        {"type": "response.output_item.added", "item": item},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '{"a": 1}'},
        {"type": "response.completed", "response": response({**item, "arguments": '{"a": 1}'})},
    )
    assert [call.arguments for call in envelope.tool_calls] == [{"a": 1}]


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
def test_an_item_that_is_not_whole_makes_the_reply_incomplete(status: str) -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    words = [
        normalize({"object": "response", "status": "completed", "output": [{**item, "status": said}]}).finish_word
        for said in (status, "completed")
    ]
    assert words == ["incomplete", "completed"]
