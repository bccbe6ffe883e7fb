"""Names and ids as wires take them, one to one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.providers import IdRule, NameRule
from llmcore.adapters.providers.table import PROVIDERS
from llmcore.adapters.request.names import IdMap, NameMap

NAME_RULES = [provider.names for provider in PROVIDERS.values() if provider.names]
ID_RULES = [provider.ids for provider in PROVIDERS.values() if provider.ids]


def test_a_name_that_fits_is_left_alone() -> None:
    names = NameMap(["get_weather", "a-b"], NameRule())
    assert not names
    assert names.sent("get_weather") == "get_weather"


@given(st.lists(st.text(min_size=1), unique=True), st.sampled_from(NAME_RULES))
def test_every_name_fits_and_comes_back(given_names: list[str], rule: NameRule) -> None:
    names = NameMap(given_names, rule)
    sent = [names.sent(name) for name in given_names]
    assert all(rule.fits(name) for name in sent)
    assert len(set(sent)) == len(given_names)
    assert [names.original(name) for name in sent] == given_names


def test_a_stand_in_is_readable_and_steady() -> None:
    one, other = NameMap(["maps.geo/lookup"], NameRule()), NameMap(["x", "maps.geo/lookup"], NameRule())
    assert one.sent("maps.geo/lookup").startswith("maps_geo_lookup_")
    assert one.sent("maps.geo/lookup") == other.sent("maps.geo/lookup")


def test_a_name_of_another_turn_passes() -> None:
    assert NameMap(["a.b"], NameRule()).sent("not_offered") == "not_offered"


def test_no_rule_maps_nothing() -> None:
    assert NameMap(["a.b/é"], None).sent("a.b/é") == "a.b/é"


@given(st.text(min_size=1), st.sampled_from(ID_RULES))
def test_every_id_fits(call_id: str, rule: IdRule) -> None:
    assert rule.fits(IdMap(rule).sent(call_id))


@pytest.mark.parametrize("call_id", ["call_abc", "a" * 40])
def test_mistral_ids_have_nine_characters(call_id: str) -> None:
    rule = PROVIDERS["mistral"].ids
    assert re.fullmatch(r"[A-Za-z0-9]{9}", IdMap(rule).sent(call_id))
    assert IdMap(rule).sent("abcDEF123") == "abcDEF123"
