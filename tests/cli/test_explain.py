"""`llmcore explain`."""

from __future__ import annotations

import json

from llmcore.cli.explaining.codes import all_explanations
from tests.cli.conftest import Invoke


def test_a_code_is_explained(invoke: Invoke) -> None:
    output = invoke("explain", "trailing_comma").stdout
    assert output.startswith("trailing_comma: a kind of repair\n")
    for words in ("\nWhy\n", '  {"city": "Paris",}\n', 'call: get_weather {"city": "Paris"}', "`Limits(repairs=0)`"):
        assert words in output


def test_as_json(invoke: Invoke) -> None:
    (found,) = json.loads(invoke("explain", "ratelimited", "--json").stdout)
    assert (found["kind"], found["code"], found["after"][:12]) == ("error", "RateLimited", "RateLimited:")


def test_without_a_code_every_code_is_listed(invoke: Invoke) -> None:
    lines = invoke("explain").stdout.splitlines()
    assert len(lines) == len(all_explanations()) + 2
    assert len(json.loads(invoke("explain", "--json").stdout)) == len(all_explanations())


def test_an_unknown_code_is_refused_with_the_nearest_one(invoke: Invoke) -> None:
    result = invoke("explain", "trailing_coma")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "llmcore: error: there is no code 'trailing_coma'; did you mean 'trailing_comma'?\n"
    assert "`llmcore explain` lists them" in invoke("explain", "qqqq").stderr
