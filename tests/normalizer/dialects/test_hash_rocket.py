"""Hash rockets: options told as they come."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import Normalizer
from llmcore.types.events import ArgumentsDelta
from tests.normalizer.helpers import TOOLS, read_every_way


def written(options: str) -> str:
    return f'[TOOL_CALL]\n{{tool => "get_weather", args => {{\n{options}}}}}\n[/TOOL_CALL]'


def test_deltas_join_to_the_arguments() -> None:
    """Asserted by the helper for every cut."""
    envelope = read_every_way(written('--city "Oslo \\"S\\" \\u00e5"\n--days 3\n--tags [1, {"a": "b"}]\n--more two words\n'))
    assert [call.arguments for call in envelope.tool_calls] == [
        {"city": 'Oslo "S" å', "days": 3, "tags": [1, {"a": "b"}], "more": "two words"}
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ('--city "Osl', ', "city": "Osl'),
        ('--city "Oslo"', ', "city": "Oslo"'),
        ("--days 3", ""),  # the line goes on
        ("--days 3\n", ', "days": 3'),
        ('--days 3\n--tags {"a": ', ', "days": 3'),
    ],
)
def test_certain_text_is_emitted_at_once(options: str, told: str) -> None:
    normalizer = Normalizer(TOOLS)
    text = written(f'--more "{"x" * 64}"\n{options}').removesuffix("}}\n[/TOOL_CALL]")
    events = [event for character in text for event in normalizer.feed(character)]
    heard = "".join(event.json for event in events if isinstance(event, ArgumentsDelta))
    assert heard.removeprefix(f'{{"more": "{"x" * 64}"') == told


def test_an_option_given_twice_is_recorded() -> None:
    (call,) = read_every_way(written('--city "Oslo"\n--city "Bergen"\n')).tool_calls
    assert call.arguments == {"city": "Bergen"}
    assert [repair.kind for repair in call.repairs] == ["parameter_repeated"]
