"""The tool parser for vLLM, under the parser that vLLM's serving layer uses."""

from __future__ import annotations

import importlib
import json
import logging
import uuid
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.servers.sources import FOLDER, stand_in
from tests.wire.support import ARGUMENTS, CALL, TOOLS, TWELVE, pieces, written

pytestmark = pytest.mark.skipif(
    not (FOLDER / "vllm").is_dir(), reason="no sources of vLLM: python -m tests.integrations.servers.sources"
)

_REAL = [
    *("vllm.envs", "vllm.exceptions", "vllm.parser.abstract_parser", "vllm.parser.utils"),
    *("vllm.entrypoints.generate.base.protocol", "vllm.entrypoints.serve.engine.protocol"),
    *("vllm.entrypoints.openai.chat_completion.protocol", "vllm.entrypoints.openai.responses.protocol"),
    *("vllm.tool_parsers.abstract_tool_parser", "vllm.tool_parsers.tool_strict_level", "vllm.tool_parsers.utils"),
    *("vllm.utils.collection_utils", "vllm.utils.import_utils"),
]
OFFERED = [{"type": "function", "function": tool.model_dump(include={"name", "parameters"})} for tool in TOOLS]
TWO = written("hermes", ("get_weather", ARGUMENTS), ("get_weather", {"city": "Rome", "days": 1}))


def module(name: str) -> Any:
    return importlib.import_module(name)


def _new_id() -> str:
    return uuid.uuid4().hex


@pytest.fixture(scope="module")
def vllm() -> Generator[Any]:
    with stand_in("vllm", _REAL):
        module("vllm.logger").init_logger = logging.getLogger
        module("vllm.utils").random_uuid = _new_id
        module("vllm.renderers.chat_utils").make_tool_call_id = _new_id
        module("vllm.renderers.chat_utils").get_tool_call_id_type = str
        manager = module("vllm.tool_parsers.abstract_tool_parser").ToolParserManager
        manager.import_tool_parser("llmcore.integrations.servers.vllm")
        parsers = module("vllm.parser.abstract_parser")
        protocol = module("vllm.entrypoints.openai.chat_completion.protocol")
        fields = {"tool_parser_cls": manager.get_tool_parser("llmcore"), "reasoning_parser_cls": None}
        yield SimpleNamespace(parser=type("Parser", (parsers.DelegatingParser,), fields), request=protocol.ChatCompletionRequest)


def asked(vllm: Any, **fields: Any) -> Any:
    told = [{"role": "user", "content": "Hi."}]
    return vllm.request(**{"model": "m", "messages": told, "tools": OFFERED, "tool_choice": "auto", **fields})


def whole(vllm: Any, text: str, **fields: Any) -> tuple[str | None, list[tuple[str, Any]]]:
    request = asked(vllm, **fields)
    parser = vllm.parser(None, request.tools)
    _, content, calls = parser.parse(text, parser.adjust_request(request), enable_auto_tools=True)
    return content, [(call.name, json.loads(call.arguments)) for call in calls or ()]


def streamed(vllm: Any, text: str, size: int = 5, *, finished: bool = True, **fields: Any) -> SimpleNamespace:
    request = asked(vllm, **fields)
    parser = vllm.parser(None, request.tools)
    request = parser.adjust_request(request)
    deltas, parts = list[Any](), pieces(text, size)
    for n, part in enumerate(parts):
        delta = parser.parse_delta(part, [], request, [1], finished=finished and n + 1 == len(parts))
        deltas += [delta] if delta is not None else []
    calls: list[Any] = [call for delta in deltas for call in delta.tool_calls]
    assert [call.index for call in calls] == [*range(len(calls))]
    assert len({call.id for call in calls}) == len(calls)
    return SimpleNamespace(
        content="".join(delta.content or "" for delta in deltas),
        reasoning="".join(delta.reasoning or "" for delta in deltas),
        calls=[(call.function.name, json.loads(call.function.arguments)) for call in calls],
    )


@pytest.mark.parametrize("dialect", TWELVE)
def test_calls_of_each_dialect_are_found_without_its_name(vllm: Any, dialect: str) -> None:
    text = written(dialect)
    assert whole(vllm, text)[1] == [("get_weather", ARGUMENTS)]
    assert streamed(vllm, text).calls == [("get_weather", ARGUMENTS)]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_two_calls_behind_words(vllm: Any, size: int) -> None:
    calls = [("get_weather", ARGUMENTS), ("get_weather", {"city": "Rome", "days": 1})]
    assert whole(vllm, f"I look. {TWO}") == ("I look.", calls)
    found = streamed(vllm, f"I look. {TWO}", size)
    assert (found.content.strip(), found.calls) == ("I look.", calls)


def test_text_about_a_call_is_text(vllm: Any) -> None:
    text = f"For example:\n{CALL}\nis a call."
    assert whole(vllm, text) == (text, [])
    assert (streamed(vllm, text).content, streamed(vllm, text).calls) == (text, [])


def test_reasoning_is_told_apart(vllm: Any) -> None:
    text = f"<think>Hm. {CALL}</think>I look. {CALL}"
    content, calls = whole(vllm, text)
    assert content == f"<think>Hm. {CALL}</think>I look."
    found = streamed(vllm, text)
    assert (found.reasoning, found.content.strip()) == (f"Hm. {CALL}", "I look.")
    assert found.calls == calls == [("get_weather", ARGUMENTS)]


def test_a_stream_without_its_end_hands_out_no_call(vllm: Any) -> None:
    assert streamed(vllm, CALL, finished=False).calls == []


def test_no_call_is_read_if_the_request_forbids_calls(vllm: Any) -> None:
    assert whole(vllm, CALL, tool_choice="none") == (CALL, [])
    assert (streamed(vllm, CALL, tool_choice="none").content, streamed(vllm, CALL, tool_choice="none").calls) == (CALL, [])


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_forced_calls_are_read_in_the_models_own_form(vllm: Any, choice: Any) -> None:
    assert whole(vllm, CALL, tool_choice=choice)[1] == [("get_weather", ARGUMENTS)]
    assert streamed(vllm, CALL, tool_choice=choice).calls == [("get_weather", ARGUMENTS)]


def test_special_tokens_stay_only_if_calls_may_come(vllm: Any) -> None:
    parser = vllm.parser(None, None)
    assert parser.adjust_request(asked(vllm)).skip_special_tokens is False
    assert parser.adjust_request(asked(vllm, tool_choice="none")).skip_special_tokens is not False


class _Thinking:
    """A reasoning parser of the older kind: it finds the end of the reasoning by its token, here 7."""

    engine_based_streaming = False

    def __init__(self, *_: Any, **__: Any) -> None:
        self.ended = False

    def extract_reasoning(self, text: str, request: Any) -> tuple[str, str]:
        reasoning, _, content = text.partition("</think>")
        return reasoning, content

    def extract_reasoning_streaming(self, previous_text: str, current_text: str, delta_text: str, *_: Any) -> Any:
        protocol = module("vllm.entrypoints.generate.base.protocol")
        reasoning, __, content = delta_text.partition("</think>")
        return protocol.DeltaMessage(reasoning=reasoning or None, content=content or None)

    def is_reasoning_end(self, ids: list[int]) -> bool:
        return 7 in ids

    def is_reasoning_end_streaming(self, ids: list[int], delta_ids: list[int]) -> bool:
        return 7 in delta_ids

    def extract_content_ids(self, ids: list[int]) -> list[int]:
        return ids[ids.index(7) + 1 :]

    def set_prompt_token_ids(self, ids: list[int]) -> None: ...

    def adjust_initial_state_from_prompt(self, ids: list[int]) -> None: ...


def test_a_reasoning_parser_runs_first(vllm: Any) -> None:
    both = SimpleNamespace(parser=type("Parser", (vllm.parser,), {"reasoning_parser_cls": _Thinking}), request=vllm.request)
    request = asked(both)
    parser = both.parser(None, request.tools)
    assert parser.parse(f"Hm.</think>I look. {CALL}", request, enable_auto_tools=True)[:2] == ("Hm.", "I look.")
    parser = both.parser(None, request.tools)
    parts = ["Hm.", "</think>I lo", "ok. ", *pieces(CALL, 4)]
    deltas: list[Any] = [
        parser.parse_delta(part, [7 if "</think>" in part else 1], request, [1], finished=n + 1 == len(parts))
        for n, part in enumerate(parts)
    ]
    told = [delta for delta in deltas if delta is not None]
    assert "".join(delta.reasoning or "" for delta in told) == "Hm."
    assert "".join(delta.content or "" for delta in told).strip() == "I look."
    assert [call.function.name for delta in told for call in delta.tool_calls] == ["get_weather"]
