"""`llmcore verify`."""

from __future__ import annotations

import json

from llmcore.verifying import request_count
from llmcore.verifying.rules import RULES
from tests.cli.conftest import ROOT, Invoke
from tests.helpers.wire_server import Failure, WireServer
from tests.verifying.server import FAULTS, sound, with_fault


def test_a_sound_endpoint(invoke: Invoke) -> None:
    with WireServer(sound) as server:
        result = invoke("verify", f"m@{server.root}/v1")
    assert result.exit_code == 0
    assert result.stderr == f"{request_count()} requests to {server.root}/v1 m, 9 minutes at most\n"
    assert "broken: nothing\n" in result.stdout


def test_the_page_says_how_many_requests_are_sent_and_names_every_rule() -> None:
    page = " ".join((ROOT / "docs" / "cli.md").read_text("utf-8").split())
    assert f"how many requests it sends ({request_count()} for one endpoint)" in page
    assert [name for name in RULES if f"`{name}`" not in page] == []


def test_a_broken_rule_is_named_and_exits_1(invoke: Invoke) -> None:
    with WireServer(with_fault(FAULTS["valid_json"])) as server, WireServer(sound) as reference:
        result = invoke("verify", f"m@{server.root}/v1", "--reference", f"m@{reference.root}/v1")
    assert result.exit_code == 1
    assert f"{2 * request_count()} requests to " in result.stderr
    for words in ("broken: valid_json\n", "InvalidJson", "(100%)", "trigger F1 against the reference: 1.00 raw"):
        assert words in result.stdout


def test_as_json(invoke: Invoke) -> None:
    with WireServer(with_fault(FAULTS["call_ids"])) as server:
        result = invoke("verify", f"m@{server.root}/v1", "--json")
    data = json.loads(result.stdout)
    assert [name for name, rule in data["rules"].items() if not rule["holds"]] == ["call_ids"]
    assert len(data["observations"]) == request_count()


def test_what_cannot_be_asked_ends_at_the_first_request(invoke: Invoke) -> None:
    refusing = [Failure(401, {"error": {"message": "Incorrect API key provided."}})]
    with WireServer(refusing) as server:
        result = invoke("verify", f"m@{server.root}/v1")
        assert len(server.requests) == 1
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cannot be asked: AuthenticationFailed" in result.stderr
    with WireServer([]) as closed:
        url = closed.root
    result = invoke("verify", f"m@{url}/v1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cannot be asked: RemoteServerError" in result.stderr
    assert invoke("verify", "nothing-of-the-kind").exit_code == 2
