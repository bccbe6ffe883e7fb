"""Values that say what should stand there, and values that only look so."""

from __future__ import annotations

import json

import pytest

from llmcore.normalizer.core.damage.placeholders import is_placeholder_value
from tests.normalizer.helpers import read_every_way

SHOWN = [
    "...", "…", " ... ", "<your city>", "<your_city>", "<city_1>", "<CITY>", "<ADDRESS>", "<адрес>", "<ВАШ ГОРОД>", "<都市名>", "<도시>", "＜城市＞",  # noqa: RUF001 # the full-width signs are meant
    "<ville (obligatoire)>", "<city: string>", "YOUR_CITY", "YOUR CITY", "VOTRE_VILLE", "IHRE_STADT", "TU_CIUDAD", "SUA_CIDADE", "ВАШ_ГОРОД",
    "CITY_HERE", "INSERT_CITY", "[YOUR CITY]", "CITY", "CITY_NAME", "THE CITY", "{city}", "{{ city }}", "{{city_name}}", "[CITY]", "[city]",
    "%CITY%", "__CITY__",
]  # fmt: skip
MEANT = [
    "", "Oslo", "OSLO", "NEW YORK", "NATO", "DATABASE_URL", "MAX_RETRIES", "YOURS", "TU 154", "HERE", "{}", "[]", "{x}", "[x]", "[TODO]", "$CITY",
    "city", "the city", "<b>", "<h1>", "<BR>", "<address>", "</city>", "<a@b.example>", "<https://a.example>", "CITY OF OSLO IN NORWAY", "...and more",
    "<city>Oslo</city>", "100%", "Quito {city}",
]  # fmt: skip


@pytest.mark.parametrize("value", SHOWN)
def test_placeholders(value: str) -> None:
    assert is_placeholder_value(value, "city")
    assert is_placeholder_value([value], "city")
    arguments = json.dumps({"city": value}, ensure_ascii=False)
    (call,) = read_every_way(
        f'<tool_call>{{"name": "get_weather", "arguments": {arguments}}}</tool_call>', chunkings=1
    ).tool_calls
    assert [(repair.kind, repair.path) for repair in call.repairs if repair.safety == "guess"] == [("placeholder", "city")]


@pytest.mark.parametrize("value", MEANT)
def test_values_that_are_meant(value: str) -> None:
    assert not is_placeholder_value(value, "city")
    assert not is_placeholder_value([value, "..."], "city")
    assert not is_placeholder_value(value)


@pytest.mark.parametrize(
    ("value", "key"),
    [("CITY", "town"), ("{city}", "town"), ("X", "x"), ("COUNTRY", "countryCode"), ("ID", "file_id"), ("KEY", "")],
)
def test_only_the_own_name_of_a_parameter_says_what_should_stand_there(value: str, key: str) -> None:
    assert not is_placeholder_value(value, key)


def test_a_parameters_name_of_several_words() -> None:
    assert is_placeholder_value("COUNTRY_CODE", "countryCode")
    assert is_placeholder_value("{user_id}", "user-id")
