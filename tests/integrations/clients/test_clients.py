"""Each client gets what the model wrote: calls as native calls, text about calls as text, and nothing of a cut reply."""

from __future__ import annotations

import re

import pytest

from tests.helpers.wire_server import Turn
from tests.integrations.clients.frameworks import FRAMEWORKS, Framework
from tests.integrations.clients.sdks import SDKS, Sdk
from tests.integrations.clients.support import (
    DIALECTS,
    DONE,
    Answer,
    Sample,
    cut_reply,
    failure_of,
    ids_of_results,
    sample,
    serving,
)

pytestmark = pytest.mark.anyio
clients = pytest.mark.parametrize("client", [*SDKS, *FRAMEWORKS], ids=lambda client: client.name)
dialects = pytest.mark.parametrize("dialect", DIALECTS)
streamed = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


async def answer_of(client: Sdk | Framework, given: Sample, streamed: bool) -> Answer:
    """What the client gets for this text. Usage and ids are checked: they are the same for all replies."""
    answer = Answer()
    with serving(Turn(given.text)) as server:
        await client.ask(server, given, streamed, answer)
        turns = 2 if client.runs_tools and given.calls else 1
        assert len(server.requests) == turns
        if turns == 2:
            answer.ids, results = ids_of_results(server.requests[1].body)
            assert results == answer.ids
    assert answer.usage == (21 * turns, 9 * turns)
    assert len({*answer.ids}) == len(given.calls)
    assert all(re.fullmatch(client.ids, call_id) for call_id in answer.ids)
    assert (answer.id, answer.end) == (client.reply_ids[streamed], client.ends[0 if given.calls else 1])
    return answer


@clients
@dialects
@streamed
async def test_a_call_in_text_is_a_native_call(client: Sdk | Framework, dialect: str, streamed: bool) -> None:
    given = sample("written", dialect, "sentence_before")
    answer = await answer_of(client, given, streamed)
    assert answer.calls == given.calls
    assert answer.text.strip() == (DONE if client.runs_tools else given.content)


@clients
@dialects
@streamed
async def test_parallel_calls(client: Sdk | Framework, dialect: str, streamed: bool) -> None:
    given = sample("written", dialect, "two_calls")
    answer = await answer_of(client, given, streamed)
    assert len(answer.calls) == 2
    assert sorted(answer.calls, key=str) == sorted(given.calls, key=str)  # an agent may run them at once


@clients
@dialects
@streamed
async def test_text_about_calls_is_text(client: Sdk | Framework, dialect: str, streamed: bool) -> None:
    given = sample("shown", dialect, "element_of_code")
    answer = await answer_of(client, given, streamed)
    assert (answer.calls, answer.text) == ([], given.text)


@clients
@dialects
@pytest.mark.parametrize("ending", ["chunked", "dropped"])
async def test_a_cut_stream_hands_out_nothing(client: Sdk | Framework, dialect: str, ending: str) -> None:
    given, answer = sample("written", dialect, "sentence_before"), Answer()
    with serving(cut_reply(given.text, ending)) as server:
        failure = await failure_of(client.ask(server, given, True, answer))
        assert server.requests
    assert not isinstance(failure, TypeError | AttributeError), failure  # of the test itself
    assert (answer.calls, answer.ids) == ([], [])
    if failure is None and ending == "chunked":
        assert answer.text.startswith(given.content)
        assert "get_weather" in answer.text  # the text of the call; tags of a section around it are markup
