"""`wrap` and the functions to import: what comes out native, what passes, and what is restored."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from functools import partial, wraps
from typing import Any

import pytest

from llmcore import ModelRegistry, Orchestrator
from llmcore.integrations.litellm import acompletion, completion, unwrap, wrap
from llmcore.types import ConfigError, ToolCallFinished
from llmcore.wire import ReplyReport
from tests.helpers.wire_server import Failure, WireServer
from tests.integrations.litellm.support import LEAD, asked, gathered, litellm, read, read_stream, served, two_choices
from tests.wire.support import CALL, TWELVE, written

pytestmark = pytest.mark.anyio

ABOUT = f"For example:\n{CALL}\nis a call."


def _first(reply: Any, **_: Any) -> Any:
    """A function of LiteLLM that gives this reply."""
    return reply


@pytest.mark.parametrize("dialect", TWELVE)
def test_calls_in_text_are_native_calls(dialect: str) -> None:
    wrap()
    with WireServer(served(LEAD + written(dialect))) as server:
        whole = read(litellm.completion(**asked(server)))
        streamed = read_stream(litellm.completion(**asked(server, stream=True)))
    assert (whole.names, whole.end) == (["get_weather"], "tool_calls")
    assert (streamed.names, streamed.end, streamed.text) == (["get_weather"], "tool_calls", whole.text)


@pytest.mark.parametrize("dialect", TWELVE)
async def test_the_async_function_gives_them_too(dialect: str, closed_clients: None) -> None:
    wrap()
    with WireServer(served(LEAD + written(dialect))) as server:
        whole = read(await litellm.acompletion(**asked(server)))
        streamed = read_stream(await gathered(await litellm.acompletion(**asked(server, stream=True))))
    assert (whole.names, whole.end) == (["get_weather"], "tool_calls")
    assert (streamed.names, streamed.end, streamed.text) == (["get_weather"], "tool_calls", whole.text)


def test_the_function_to_import_needs_no_wrap() -> None:
    with WireServer(served(LEAD + CALL)) as server:
        assert read(completion(**asked(server))).names == ["get_weather"]
        assert read_stream(completion(**asked(server, stream=True))).names == ["get_weather"]
        assert read(litellm.completion(**asked(server))).names == []


async def test_the_async_function_to_import_needs_no_wrap(closed_clients: None) -> None:
    with WireServer(served(LEAD + CALL)) as server:
        assert read(await acompletion(**asked(server))).names == ["get_weather"]
        assert read_stream(await gathered(await acompletion(**asked(server, stream=True)))).names == ["get_weather"]


def test_the_functions_have_the_signatures_of_litellm() -> None:
    assert inspect.signature(completion) == inspect.signature(litellm.completion)
    assert inspect.signature(acompletion) == inspect.signature(litellm.acompletion)
    assert inspect.iscoroutinefunction(acompletion)


def test_the_options_of_wrap_count_for_imported_functions() -> None:
    wrap(text_calls="off")
    with WireServer(served(CALL)) as server:
        assert read(completion(**asked(server))).text == CALL


@pytest.mark.parametrize("streamed", [False, True])
def test_text_about_calls_stays_text(streamed: bool) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)
    with WireServer(served(ABOUT)) as server:
        reply = litellm.completion(**asked(server, stream=streamed))
        assert (read_stream(reply) if streamed else read(reply)) == (ABOUT, [], "stop")
    assert [(each.call.name, each.reason) for each in reports[0].withheld] == [("get_weather", "guess")]
    assert reports[0].calls == []


@pytest.mark.parametrize("streamed", [False, True])
def test_two_parallel_calls(streamed: bool) -> None:
    wrap()
    with WireServer(served(CALL + CALL.replace("Paris", "Rome"))) as server:
        reply = litellm.completion(**asked(server, stream=streamed))
        got = read_stream(reply) if streamed else read(reply)
    assert [json.loads(arguments)["city"] for _, _, arguments in got.calls] == ["Paris", "Rome"]
    assert len({call_id for call_id, _, _ in got.calls}) == 2


@pytest.mark.parametrize("streamed", [False, True])
def test_several_choices(streamed: bool) -> None:
    wrap()
    with WireServer(two_choices) as server:
        reply = litellm.completion(**asked(server, stream=streamed, n=2))
        chunks = [*reply] if streamed else []
    got = [read_stream(chunks, n) if streamed else read(reply, n) for n in (0, 1)]
    assert [json.loads(each.calls[0][2])["city"] for each in got] == ["Paris", "Rome"]
    assert [each.end for each in got] == ["tool_calls"] * 2


def test_ids_usage_and_hidden_params_are_kept() -> None:
    with WireServer(served(LEAD + CALL)) as server:
        plain = litellm.completion(**asked(server))
        wrap()
        reply = litellm.completion(**asked(server))
    assert (reply.id, reply.model, reply.usage, type(reply)) == (plain.id, plain.model, plain.usage, type(plain))
    assert {*plain._hidden_params} <= {*reply._hidden_params}
    assert reply._hidden_params["api_base"] == plain._hidden_params["api_base"]
    assert reply._response_headers == plain._response_headers or reply._response_headers is not None


def test_a_reply_without_tools_is_the_object_that_litellm_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    replies: list[Any] = []
    original = litellm.completion

    def kept(*args: Any, **kwargs: Any) -> Any:
        replies.append(original(*args, **kwargs))
        return replies[-1]

    with monkeypatch.context() as patch, WireServer(served(CALL)) as server:
        patch.setattr(litellm, "completion", kept)
        wrap()
        cases: list[dict[str, Any]] = [{"tools": None}, {"tools": []}, {"tool_choice": "none"}, {"tools": None, "stream": True}]
        for options in cases:
            assert litellm.completion(**asked(server, **options)) is replies[-1]
        unwrap()


def test_a_reply_that_need_not_change_is_the_same_object(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = litellm.ModelResponse(choices=[{"message": {"content": "It is sunny."}}])
    with monkeypatch.context() as patch, WireServer([""]) as server:
        patch.setattr(litellm, "completion", partial(_first, reply))
        wrap()
        assert litellm.completion(**asked(server)) is reply
        unwrap()


def test_arguments_by_position_are_read() -> None:
    wrap()
    with WireServer(served(CALL)) as server:
        options = asked(server)
        signature = inspect.signature(litellm.completion)
        place = [*signature.parameters].index("tools")
        head = [options.pop("model"), options.pop("messages"), *([None] * (place - 2)), options.pop("tools")]
        assert read(litellm.completion(*head, **options)).names == ["get_weather"]


def test_wrong_arguments_are_refused_by_litellm() -> None:
    wrap()
    with pytest.raises(TypeError):
        litellm.completion("m", [], 1, model="m", tools=[])


def test_to_wrap_twice_rewrites_once_with_the_second_options() -> None:
    first: list[ReplyReport] = []
    second: list[ReplyReport] = []
    wrap(on_reply=first.append)
    wrapped = litellm.completion
    wrap(on_reply=second.append)
    assert litellm.completion is wrapped
    with WireServer(served(CALL)) as server:
        assert len(read(litellm.completion(**asked(server))).calls) == 1
    assert (len(first), len(second)) == (0, 1)


async def test_a_coroutine_of_completion_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM's `acompletion` calls `completion(acompletion=True)`, which returns a coroutine."""
    reply = litellm.ModelResponse(choices=[{"message": {"content": CALL}}])

    async def pending() -> Any:
        return reply

    with monkeypatch.context() as patch, WireServer([""]) as server:
        patch.setattr(litellm, "completion", partial(_first, pending()))
        wrap()
        assert await litellm.completion(**asked(server), acompletion=True) is reply
        unwrap()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_within_a_call_is_rewritten_once(streamed: bool, closed_clients: None) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)
    with WireServer(served(LEAD + CALL)) as server:
        options = asked(server, stream=streamed)
        failing = {**options, "api_base": server.root + "/nothing", "model": "openai/other"}
        reply = await litellm.acompletion(**failing, fallbacks=[{"model": "openai/m", "api_base": options["api_base"]}])
        assert (read_stream(await gathered(reply)) if streamed else read(reply)).names == ["get_weather"]
    assert len(reports) == 1


def test_unwrap_restores() -> None:
    before = (litellm.completion, litellm.acompletion)
    wrap()
    assert litellm.completion is not before[0]
    assert litellm.acompletion is not before[1]
    unwrap()
    unwrap()
    assert (litellm.completion, litellm.acompletion) == before
    with WireServer(served(CALL)) as server:
        assert read(litellm.completion(**asked(server))).text == CALL


def test_a_wrapper_of_another_library_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    original = litellm.completion
    wrap()
    inner = litellm.completion

    @wraps(inner)
    def instrumented(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    with WireServer(served(CALL)) as server:
        litellm.completion = instrumented
        unwrap()
        assert litellm.completion is instrumented
        assert read(litellm.completion(**asked(server))).text == CALL
        wrap()
        assert litellm.completion is instrumented
        assert read(litellm.completion(**asked(server))).names == ["get_weather"]
        litellm.completion = original


@pytest.mark.parametrize("streamed", [False, True])
def test_errors_of_litellm_pass_unchanged(streamed: bool) -> None:
    wrap()
    failing = Failure(400, {"error": {"message": CALL}})
    with WireServer([failing]) as server, pytest.raises(litellm.BadRequestError, match="get_weather"):
        litellm.completion(**asked(server, stream=streamed))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text_calls": "some"}, "wrap: `text_calls`"),
        ({"dialects": ["nothing"]}, "nothing"),
        ({"on_reply": "print"}, "on_reply"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_changes(options: dict[str, Any], words: str) -> None:
    before = litellm.completion
    with pytest.raises(ConfigError, match=words):
        wrap(**options)
    assert litellm.completion is before


def test_options_decide_what_counts() -> None:
    with WireServer(served("I look. " + CALL)) as server:
        cases: list[tuple[dict[str, Any], bool]]
        cases = [({"text_calls": "alone"}, False), ({"dialects": ["glm45"]}, False), ({"dialects": ["hermes"]}, True)]
        for options, found in cases:
            wrap(**options)
            assert bool(read(litellm.completion(**asked(server))).calls) is found


def test_ids_have_the_form_of_mistral() -> None:
    wrap()
    with WireServer(served(CALL)) as server:
        ((call_id, _, _),) = read(litellm.completion(**asked(server, model="mistral/m"))).calls
    assert len(call_id) == 9


async def test_llmcores_own_adapter_sees_replies_as_they_came(closed_clients: None) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)

    def get_weather(city: str, days: int = 1) -> str:
        return f"{city}: sunny for {days} days"

    def script(seen: Any) -> Any:
        return served("It is sunny." if len(server.requests) % 2 == 0 else CALL)(seen)

    registry: dict[str, Any] = {"provider": "openai_compatible", "model": "m"}
    with WireServer([""]) as server:
        server.script = script
        registry["base_url"] = server.base_url("openai")
        orchestrator = Orchestrator(ModelRegistry.from_dict({"llm": {"models": {"m": registry}}}), [get_weather])
        assert (await orchestrator.run("How is the weather?")).envelope.content == "It is sunny."
        events = [event async for event in orchestrator.stream("How is the weather?")]
    assert [event.call.dialect for event in events if isinstance(event, ToolCallFinished)] == ["hermes"]
    assert len(server.requests) == 4
    assert reports == []


def test_litellm_is_imported_at_the_first_name() -> None:
    code = "import sys, llmcore.integrations.litellm as l; print('litellm' in sys.modules, dir(l)[-1], *l.__all__)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.split()[0] == "False"
