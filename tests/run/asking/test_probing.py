"""`await orchestrator.probe(alias)` asks from Python what `llmcore probe` asks."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, ModelNotFound, Orchestrator, ProbeFinding, ProbeReport, RemoteServerError
from tests.helpers.wire_server import Seen, Step, Turn, WireServer
from tests.packaging.tree import ROOT
from tests.run.support import called

pytestmark = pytest.mark.anyio


def able(seen: Seen) -> Step:
    """A server and a model that call the first tool they are offered."""
    names = [tool["function"]["name"] for tool in seen.body.get("tools", [])]
    if names:
        return Turn(calls=[(names[-1], {"city": "Paris"})])
    return '{"capital": "Paris", "letters": 5}' if "response_format" in seen.body else "Hello."


def model_at(server: WireServer, **more: Any) -> dict[str, Any]:
    place = {"base_url": server.base_url("openai_compatible"), "api_key": "sk-test-0123456789abcdef"}
    return {"provider": "openai_compatible", "model": "m", **place, **more}


async def test_a_model_is_probed_by_its_alias_and_nothing_is_learnt_until_it_is_recorded() -> None:
    with WireServer(able) as server:
        orchestrator = Orchestrator({"models": {"m": model_at(server)}})
        report = await orchestrator.probe("m")
        sent = len(server.requests)
    assert isinstance(report, ProbeReport)
    assert all(isinstance(finding, ProbeFinding) for finding in report.findings)
    assert report.requests == sent == 8
    assert report.facts["native_tools"] is report.facts["json_schema"] is True
    assert {"native_tools", "json_schema", "json_object"} <= {*report.modes}
    endpoint = orchestrator.models.get("m").endpoint
    assert orchestrator.capabilities.get(endpoint).tool_choice_named is None
    report.record(orchestrator.capabilities)
    assert orchestrator.capabilities.get(endpoint).tool_choice_named is True


async def test_any_adapter_can_be_probed_with_and_without_a_loop() -> None:
    answers: list[Any] = ["Hello.", called("get_time", {"city": "Paris"}), *["Hello."] * 6]
    report = await Orchestrator(FakeModel(*answers)).probe("fake")
    assert report.facts["native_tools"] is True
    again = await asyncio.to_thread(Orchestrator(FakeModel(*answers)).probe_sync, "fake")
    assert again.findings == report.findings


async def test_the_first_error_is_raised_and_later_ones_stand_in_their_findings() -> None:
    with pytest.raises(RemoteServerError, match="down"):
        await Orchestrator(FakeModel(RemoteServerError("down"))).probe("fake")
    report = await Orchestrator(FakeModel("Hello.", default=RemoteServerError("down"))).probe("fake")
    assert [finding.verdict for finding in report.findings] == ["yes", *["unknown"] * 7]
    assert "down" in report.findings[1].detail


async def test_one_deployment_of_several_is_named() -> None:
    with WireServer(able) as server:
        base = server.base_url("openai_compatible")
        places = [{"name": "here", "base_url": base}, {"name": "there", "base_url": f"{base}/there"}]
        orchestrator = Orchestrator({"models": {"m": model_at(server, deployments=places)}})
        with pytest.raises(ConfigError, match="has the deployments here, there: give `deployment=`"):
            await orchestrator.probe("m")
        with pytest.raises(ConfigError, match="has no deployment 'nowhere'; there are here, there"):
            await orchestrator.probe("m", deployment="nowhere")
        assert server.requests == []
        report = await orchestrator.probe("m", deployment="there")
        assert report.config.base_url == f"{base}/there"
        assert {seen.path for seen in server.requests} == {"/v1/there/chat/completions"}


async def test_what_cannot_be_asked_is_reported_at_once() -> None:
    orchestrator = Orchestrator(FakeModel())
    with pytest.raises(ModelNotFound, match="nobody"):
        await orchestrator.probe("nobody")
    for wrong in (0, -1, "5", True, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="timeout"):
            await orchestrator.probe("fake", timeout=wrong)  # type: ignore[arg-type]


async def test_the_timeout_bounds_each_question() -> None:
    seen: list[float] = []

    class Noting(FakeModel):
        async def complete(self, call: Any) -> Any:
            seen.append(call.timeout)
            return await super().complete(call)

    await Orchestrator(Noting(default="Hello.")).probe("fake", timeout=7)
    assert {*seen} == {7}


_FIRST_ACT = """
import asyncio, json, sys, threading
import llmcore

on_the_loop = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("llmcore.") and threading.current_thread() is threading.main_thread():
            on_the_loop.append(name)

async def main():
    orchestrator = await asyncio.to_thread(lambda: llmcore.Orchestrator(llmcore.FakeModel(default="x")))
    sys.meta_path.insert(0, Finder())
    await orchestrator.probe("fake")

asyncio.run(main())
print(json.dumps(on_the_loop))
"""


def test_the_first_act_of_a_process_imports_nothing_on_the_loop() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_ACT],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
