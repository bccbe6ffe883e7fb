"""Bare calls behind a list sign, an arrow or a sentence, and objects whose tool the sentence above names, are guesses.

Behind other words they are content. So are items of a list that no sentence announces.
"""

from __future__ import annotations

import pytest

from llmcore.types.envelope import Envelope
from tests.normalizer.helpers import read_every_way

_PYTHON = 'get_weather(city="Oslo")'
_FORMS = [_PYTHON, '{"name": "get_weather", "arguments": {"city": "Oslo"}}']
_OBJECT = '{"city": "Oslo"}'


def _guesses(found: Envelope) -> list[list[str]]:
    return [[repair.kind for repair in call.repairs if repair.safety == "guess"] for call in found.tool_calls]


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize(
    "sign",
    ["- ", "* ", "• ", "1. ", "2) ", "a) ", "– ", "— ", "→ ", "-> ", "=> ", "👉 "],
)
def test_behind_a_sign_that_is_all_before_it_it_is_a_guess(sign: str, form: str) -> None:
    assert _guesses(read_every_way(sign + form, chunkings=2)) == [["behind_a_sign"]]


@pytest.mark.parametrize("before", ["I will do this now:\n", "Ich sehe nach:\n\n", "我来查询：\n", "Je vais vérifier :\n"])
def test_items_of_a_list_that_is_announced_are_guesses(before: str) -> None:
    assert _guesses(read_every_way(f"{before}- {_PYTHON}\n- ping()", chunkings=2)) == [["behind_a_sign"]] * 2


@pytest.mark.parametrize("before", ["Options:\n", "You can:\n", "The tools:\n\n", "Delete it ", "使い方：\n", "Sure.\n"])
@pytest.mark.parametrize("sign", ["- ", "→ ", "1. "])
def test_items_of_another_list_are_content(before: str, sign: str) -> None:
    found = read_every_way(f"{before}{sign}{_PYTHON}\n{sign}ping()", chunkings=2)
    assert (found.tool_calls, len(found.near_misses)) == ([], 2)


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("word", ["Ok ", "Sure, ", "Klar – ", "D'accord, ", "**Vale** ", "好的，", "はい、", "네, ", "Хорошо → "])
def test_behind_a_word_without_an_end_it_is_content(word: str, form: str) -> None:
    found = read_every_way(word + form, chunkings=2)
    assert (found.tool_calls, found.content) == ([], word + form)


@pytest.mark.parametrize("text", [f"```\n- {_PYTHON}\n```\n", f"Ok {_PYTHON} is it.", f"Oslo, {_PYTHON}"])
def test_a_sign_in_a_fence_and_other_words_are_content(text: str) -> None:
    found = read_every_way(text, chunkings=2)
    assert (found.tool_calls, bool(found.content)) == ([], True)


@pytest.mark.parametrize("before", ["Sure. ", "**Of course.** "])
def test_a_name_behind_a_sentence_with_its_object_below_is_a_guess(before: str) -> None:
    found = read_every_way(f"{before}get_weather\n{_OBJECT}", chunkings=2)
    assert _guesses(found) == [["behind_a_sentence"]]
    assert found.content == before.strip()


@pytest.mark.parametrize(
    "before",
    [
        "I will call get_weather:\n",
        "I'll use the get_weather tool now.\n\n",
        "Calling get_weather...\n",
        "Rufe get_weather auf\n",
        "Voy a llamar a `get_weather`:\n",
        "我来调用 get_weather：\n",
        "get_weatherを呼び出します：\n",
        "Вызываю **get_weather**\n",
    ],
)
def test_arguments_below_an_announcement_of_their_tool_are_a_guess(before: str) -> None:
    found = read_every_way(before + _OBJECT, chunkings=2)
    assert _guesses(found) == [["named_in_a_sentence"]]
    assert [call.arguments for call in found.tool_calls] == [{"city": "Oslo"}]
    assert found.content == before.strip()


@pytest.mark.parametrize(
    "text",
    [
        f"You can call get_weather:\n{_OBJECT}",
        f"Never call get_weather:\n{_OBJECT}",
        f"I will show how I call get_weather:\n{_OBJECT}",
        f"I will call get_weather or ping:\n{_OBJECT}",
        'I will call get_weather:\n{"town": "Oslo"}',
        'I will call get_weather:\n{"days": 3}',
        f"I will call get_weather:\n{_OBJECT} for you.",
        f"The word is get_weather\n{_OBJECT}",
        f"I will look.\n{_OBJECT}",
    ],
)
def test_other_objects_below_a_sentence_are_content(text: str) -> None:
    found = read_every_way(text, chunkings=2)
    assert (found.tool_calls, found.content) == ([], text)
