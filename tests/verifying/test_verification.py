"""A verification over a real socket: a sound server keeps every rule, and each fault is named by the rule that it breaks."""

from __future__ import annotations

import json

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.models import ModelConfig, ModelRegistry
from llmcore.verifying import VerifyReport, request_count, time_limit, verify
from llmcore.verifying.rules import RULES
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.verifying.server import FAULTS, sound, with_fault

KEY = "sk-very-secret-key-0123456789"


def model_at(server: WireServer) -> ModelConfig:
    settings = {"provider": "openai_compatible", "model": "m", "base_url": f"{server.root}/v1", "api_key": KEY}
    return ModelRegistry.from_dict({"models": {"m": settings}}).get("m")


async def verified(server: WireServer, reference: WireServer | None = None) -> VerifyReport:
    adapter = LiteLLMAdapter()
    other = None if reference is None else (model_at(reference), adapter)
    try:
        return await verify(model_at(server), adapter, reference=other)
    finally:
        await adapter.close()


@pytest.mark.anyio
async def test_a_sound_server_keeps_every_rule() -> None:
    with WireServer(sound) as server:
        report = await verified(server)
    assert report.broken == []
    assert list(report.rules) == list(RULES)
    assert report.error_counts == dict.fromkeys(("invalid_json", "unknown_name", "schema_mismatch"), (0, 0))
    assert (len(server.requests), report.requests, report.trigger) == (request_count(), request_count(), None)
    assert sum(seen.streaming for seen in server.requests) == request_count() / 2
    assert time_limit() < 600


def test_there_is_a_fault_for_each_rule() -> None:
    assert FAULTS.keys() == RULES.keys()


ALSO = {"known_name": {"tool_choice"}}
"""Rules that a fault breaks besides its own."""


@pytest.mark.anyio
@pytest.mark.parametrize("rule", FAULTS)
async def test_a_fault_is_named(rule: str) -> None:
    with WireServer(with_fault(FAULTS[rule])) as server:
        report = await verified(server)
    assert set(report.broken) == {rule, *ALSO.get(rule, set())}
    assert report.rules[rule].example


@pytest.mark.anyio
async def test_the_rates_are_raw_and_as_repaired() -> None:
    with WireServer(with_fault(FAULTS["valid_json"])) as server:
        report = await verified(server)
    raw, repaired = report.error_counts["invalid_json"]
    assert raw == report.calls
    assert repaired == 0


@pytest.mark.anyio
async def test_the_trigger_score_is_against_the_reference() -> None:
    with WireServer(with_fault(FAULTS["native_calls"])) as server, WireServer(sound) as reference:
        report = await verified(server, reference)
    assert report.trigger == (0.0, 1.0)
    with WireServer(with_fault(FAULTS["no_needless_call"])) as server, WireServer(sound) as reference:
        report = await verified(server, reference)
    assert report.trigger is not None
    assert report.trigger[0] == report.trigger[1] == pytest.approx(32 / 36)


@pytest.mark.anyio
async def test_the_report_holds_every_reply_and_no_secret() -> None:
    def echoing(seen: Seen) -> Step:
        return Failure(500, {"error": {"message": f"the key was {KEY}"}}) if seen.streaming else sound(seen)

    with WireServer(echoing) as server:
        report = await verified(server)
    data = json.dumps(report.as_data())
    assert KEY not in data
    assert data.count('"case"') == request_count()
    assert "get_weather" in data
    assert report.as_data()["rules"]["answered"]["streamed"]["kept"] == 0
