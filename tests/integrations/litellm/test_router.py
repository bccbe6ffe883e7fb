"""`litellm.Router` under `wrap`: it looks LiteLLM's functions up when it calls them, and wraps their streams itself."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.integrations.litellm import wrap
from llmcore.wire import ReplyReport
from tests.helpers.wire_server import Failure, Raw, WireServer
from tests.integrations.litellm.support import LEAD, asked, gathered, litellm, read, read_stream, served
from tests.integrations.litellm.test_streams import DATA, END
from tests.wire.support import CALL

pytestmark = pytest.mark.anyio


def router(*servers: WireServer) -> Any:
    """A router with a model on each server: `m0`, and the others as its fallbacks."""
    models = [
        {
            "model_name": f"m{n}",
            "litellm_params": {"model": "openai/m", "api_base": server.base_url("openai"), "api_key": "k", "max_retries": 0},
        }
        for n, server in enumerate(servers)
    ]
    others = [model["model_name"] for model in models[1:]]
    return litellm.Router(model_list=models, fallbacks=[{"m0": others}] if others else [], num_retries=0)


def question(server: WireServer, **options: Any) -> dict[str, Any]:
    given = asked(server, **options)
    return {"model": "m0", "messages": given["messages"], "tools": given["tools"], **options}


def test_a_sync_router() -> None:
    wrap()
    with WireServer(served(LEAD + CALL)) as server:
        routed = router(server)
        assert read(routed.completion(**question(server))).names == ["get_weather"]
        assert read_stream(routed.completion(**question(server, stream=True))).names == ["get_weather"]


async def test_an_async_router(closed_clients: None) -> None:
    wrap()
    with WireServer(served(LEAD + CALL)) as server:
        routed = router(server)
        assert read(await routed.acompletion(**question(server))).names == ["get_weather"]
        stream = await routed.acompletion(**question(server, stream=True))
        assert isinstance(stream, litellm.CustomStreamWrapper)
        assert read_stream(await gathered(stream)).names == ["get_weather"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_its_fallbacks_are_rewritten_once(streamed: bool, closed_clients: None) -> None:
    reports: list[ReplyReport] = []
    wrap(on_reply=reports.append)
    failing = Failure(500, {"error": {"message": "no"}})
    with WireServer([failing]) as first, WireServer(served(LEAD + CALL)) as second:
        reply = await router(first, second).acompletion(**question(first, stream=streamed))
        assert (read_stream(await gathered(reply)) if streamed else read(reply)).names == ["get_weather"]
    assert len(reports) == 1


async def test_it_falls_back_in_a_stream_that_breaks_before_its_first_chunk(closed_clients: None) -> None:
    wrap()
    broken = Raw([b": hello\n\n"], "text/event-stream", ending="dropped")
    with WireServer([broken]) as first, WireServer(served(LEAD + CALL)) as second:
        stream = await router(first, second).acompletion(**question(first, stream=True))
        assert read_stream(await gathered(stream)).names == ["get_weather"]


async def test_a_cut_stream_hands_out_no_call(closed_clients: None) -> None:
    wrap()
    with WireServer([Raw([DATA[:END]], "text/event-stream")]) as server:
        stream = await router(server).acompletion(**question(server, stream=True))
        assert read_stream(await gathered(stream)) == (LEAD + CALL, [], "stop")
