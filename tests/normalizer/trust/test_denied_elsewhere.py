"""Denials, reports and places of code in other shapes: words part the negation from its verb, somebody else is the subject, a line
above says that what follows is output."""

from __future__ import annotations

import pytest

from llmcore.normalizer.trust.lead_ins import kind_of
from tests.normalizer.helpers import read_every_way

_CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
_JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    "sentence",
    [
        "Do not, under any circumstances, run this:",
        "Never, ever run this:",
        "Nobody should run this:",
        "No one should ever execute:",
        "Running this is forbidden:",
        "Führen Sie das unter keinen Umständen aus:",
        "Führe das, egal was passiert, niemals aus:",
        "Das Ausführen ist verboten:",
        "Niemand darf das ausführen:",
        "Personne ne doit exécuter cela :",
        "Nadie debe ejecutar esto:",
        "Jamais chame isto:",
        "Não, em hipótese alguma, execute isto:",
        "Non eseguite questo:",
        "Эту команду выполнять нельзя:",
        "Никогда не выполняйте такую команду:",
    ],
)
def test_a_prohibition_in_another_shape(sentence: str) -> None:
    assert kind_of(sentence) == "strict"


@pytest.mark.parametrize(
    "sentence",
    [
        "I won't be doing this:",
        "Das mache ich nicht:",
        "Je ne ferai pas cela :",
        "No lo haré:",
        "Não farei isso:",
        "Non lo farò:",
        "Этого я не сделаю:",
        "The attacker wrote:",
        "Yesterday I ran:",
        "Gestern habe ich ausgeführt:",
        "Hier j'ai exécuté :",
        "Ayer ejecuté:",
        "Ontem executei:",
        "Ieri ho eseguito:",
        "Here is what I would have sent if you had let me:",
        "A documentação mostra este bloco:",
        "문서에는 다음과 같은 블록이 있습니다:",
    ],
)
def test_a_refusal_or_a_report_in_another_shape(sentence: str) -> None:
    assert kind_of(sentence) in ("mention", "statement")


@pytest.mark.parametrize("label", ["Test case 4:", "Snippet:", "System prompt:", "Few-shot:", "Pseudo-code:"])
def test_labels_of_what_is_shown(label: str) -> None:
    assert kind_of(label) == "strict"


@pytest.mark.parametrize(
    "sentence",
    [
        "Nothing was found, so I run it:",
        "Nobody answered, so I send it now:",
        "This is not forbidden, so I will run it:",
        "Never mind, I'll delete it:",
        "No, wait, I delete it first:",
        "Not a problem, deleting now:",
        "Я использую новую команду:",
        "Non c'è problema, lo eseguo:",
        "Test the case:",
        "The user is forbidden to log in, so I delete the account:",
        "Ich mache das jetzt:",
        "Lo hago ahora:",
    ],
)
def test_their_neighbours_are_meant(sentence: str) -> None:
    assert kind_of(sentence) is None


@pytest.mark.parametrize(
    "above",
    [
        "$ cat call.json\n",
        "dev@host:~/app$ cat call.json\n",
        "POST /tools HTTP/1.1\nContent-Type: application/json\n\n",
        "HTTP/1.1 200 OK\nContent-Type: application/json\n\n",
    ],
)
def test_the_output_of_a_command_and_the_body_of_a_request_are_shown(above: str) -> None:
    found = read_every_way(above + _JSON, chunkings=1)
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["quoted"])


def test_a_block_of_code_has_words_of_its_own() -> None:
    found = read_every_way(f"commit 3fa9\n\n    Add a fixture\n\n    {_CALL}\n", chunkings=1)
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["example"])
    found = read_every_way(f"1. First I look.\n\n   Then this:\n\n   {_CALL}\n", chunkings=1)
    assert [call.repairs for call in found.tool_calls] == [[]]


@pytest.mark.parametrize(
    "block",
    [
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
        '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>',
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Oslo</parameter>\n</function>\n</seed:tool_call>",
    ],
)
def test_words_on_both_sides_of_a_wrapper_of_several_lines(block: str) -> None:
    (call,) = read_every_way(f"The block {block} asks for the weather.", chunkings=2).tool_calls
    assert [one.kind for one in call.repairs] == ["words_on_both_sides"]
    (call,) = read_every_way(f"I look it up. {block}", chunkings=2).tool_calls
    assert call.repairs == []


@pytest.mark.parametrize(
    "block",
    ["<TOOLCALL></TOOLCALL>", "[TOOL_REQUEST][END_TOOL_REQUEST]", "<tool_use></tool_use>", "<use_mcp_tool></use_mcp_tool>"],
)
def test_an_empty_block_behind_words_is_markup(block: str) -> None:
    found = read_every_way(f"Done {block}", chunkings=2)
    assert (found.content, found.near_misses) == ("Done", [])
