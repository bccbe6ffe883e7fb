"""What several layers promise together, through the public API alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

import llmcore
from llmcore import FakeModel, ModelRegistry, Orchestrator
from tests.helpers.wire_server import WireServer

INVOKED = """<function_calls>
<invoke name="read_file">
<parameter name="path">/etc/hosts</parameter>
</invoke>
</function_calls>"""
LISTED = """<function_calls>
[{"name": "read_file", "arguments": {"path": "/etc/hosts"}}]
</function_calls>"""
MARKED = """<|tool_calls_section_begin|>
<|tool_call_begin|>read_file<|tool_call_end|>
<|tool_calls_section_end|>"""
MARKED_WHOLE = MARKED.replace("read_file", 'read_file<|tool_call_argument_begin|>{"path": "/etc/hosts"}')
SAME = {"path": "/etc/hosts"}


@llmcore.tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"what stands in {path}"


def _fed(chunks: Iterable[str]) -> llmcore.Envelope:
    normalizer = llmcore.Normalizer(tools=[read_file])
    for chunk in chunks:
        normalizer.feed(chunk)
    normalizer.finish()
    return normalizer.envelope


@pytest.mark.parametrize("text", [INVOKED, LISTED, MARKED_WHOLE], ids=["invoked", "listed", "marked"])
def test_the_documents_forms_are_one_envelope_whole_and_streamed(text: str) -> None:
    for envelope in (llmcore.normalize(text, [read_file]), _fed(text)):
        assert [(call.name, call.arguments) for call in envelope.tool_calls] == [("read_file", SAME)]
        assert (envelope.content, envelope.needs_more_work) == ("", True)


def test_a_form_that_holds_no_argument_is_a_call_of_which_a_report_shows_what_is_missing() -> None:
    envelope = llmcore.normalize(MARKED, [read_file])
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [("read_file", {})]
    assert envelope.needs_more_work
    result = Orchestrator(FakeModel(MARKED, INVOKED, "Done."), [read_file]).run_sync("Read it")
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
    assert "path" in result.attempts[1].detail
    assert [record.arguments for record in result.tool_results if record.ran] == [SAME]


def _native(content: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    told = [
        {"id": f"c{at}", "type": "function", "function": {"name": "read_file", "arguments": json.dumps(call)}}
        for at, call in enumerate(calls)
    ]
    return {
        "choices": [{"message": {"role": "assistant", "content": content, "tool_calls": told}, "finish_reason": "tool_calls"}]
    }


def test_native_calls_stand_before_json_before_markup_before_text() -> None:
    native = llmcore.normalize(_native("I read it.", SAME), [read_file])
    assert [(call.arguments, call.dialect) for call in native.tool_calls] == [(SAME, "native")]
    quoting = {"toolCalls": [{"name": "read_file", "arguments": SAME}], "content": INVOKED.replace("hosts", "passwd")}
    assert [call.arguments for call in llmcore.normalize(json.dumps(quoting), [read_file]).tool_calls] == [SAME]
    both = f"{INVOKED}\n{LISTED.replace('hosts', 'fstab')}"
    assert [call.arguments for call in llmcore.normalize(both, [read_file]).tool_calls] == [SAME, {"path": "/etc/fstab"}]
    assert llmcore.normalize("Just words.", [read_file]).content == "Just words."


def test_the_envelope_is_written_with_the_documents_words() -> None:
    written = json.loads(llmcore.normalize(f"Let me look.\n{INVOKED}", [read_file]).model_dump_json(by_alias=True))
    assert (written["toolCalls"][0]["name"], written["content"], written["needsMoreWork"]) == ("read_file", "Let me look.", True)


class Model(BaseModel):
    n: int


@dataclass
class Plain:
    n: int


class Typed(TypedDict):
    n: int


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        (Model, Model(n=3)),
        (Plain, Plain(n=3)),
        (Typed, {"n": 3}),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"n": 3}),
        (Model | Plain, Model(n=3)),
    ],
    ids=["model", "dataclass", "typed dict", "schema", "union"],
)
def test_a_typed_answer_of_every_kind(wanted: Any, value: Any) -> None:
    assert Orchestrator(FakeModel('{"n": 3}')).execute_sync("Which?", wanted) == value
    assert Orchestrator(FakeModel('{"result": 3}')).execute_sync("Which?", int) == 3


def test_settings_for_all_models_stand_below_particular_ones() -> None:
    models = {"a": {"provider": "custom", "model": "a"}, "b": {"provider": "custom", "model": "b"}}
    overrides = {"*": {"max_retries": 1, "expect_xml": True}, "b": {"force_text_mode": True, "expect_xml": False}}
    a, b = ModelRegistry.from_dict({"models": models, "overrides": overrides})
    assert (a.max_retries, a.expect_xml, a.modes[0]) == (1, True, "native_tools")
    assert (b.max_retries, b.expect_xml, b.modes) == (1, False, ("text",))


def test_one_client_serves_many_runs_from_many_threads() -> None:
    with WireServer(["Hello."]) as server:
        at = {"provider": "openai_compatible", "model": "m", "base_url": server.base_url("openai"), "api_key": "k"}
        orchestrator = Orchestrator({"models": {"m": at}})
        for _ in range(3):
            orchestrator.run_sync("Hi")
        assert len({seen.peer for seen in server.requests}) == 1
        said: list[str] = []
        threads = [threading.Thread(target=lambda: said.append(orchestrator.run_sync("Hi").content)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert said == ["Hello."] * 8
        assert len({seen.peer for seen in server.requests}) <= 8
