"""Code is content, read at once or as it comes."""

from __future__ import annotations

import json

import pytest

from llmcore.normalizer.bare.fences import without_code
from tests.normalizer.helpers import TOOLS, read_every_way

NAMES = TOOLS.names


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See `a[0]` and `{x}`.", "See ' and '."),
        ("So:\n```python\nx = {'a': f(1)}\n```\nDone.", "So:\n'\nDone."),
        ('So:\n```json\n{"a": `b`}\n``` done', "So:\n' done"),
        ("So:\n```\n<b>never closed", "So:\n```\n<b>never closed"),  # a call may have begun in it
        ("Two: ``a`` and `b`.", "Two: ``a`` and '."),
        ("So:\n```tool_call\nx()\n```\n", "So:\n```tool_call\nx()\n```\n"),  # the engine must look
        ("  ```\nfirst of all\n```", None),
        ("A tool: `ping`.", None),
        ("An escape: `get\\_weather`.", None),
        ('In it: `{"toolCalls": []}`', None),
    ],
)
def test_code_that_calls_nothing_is_taken_out(text: str, left: str | None) -> None:
    assert without_code(text, NAMES) == left


@pytest.mark.parametrize(
    "text",
    [
        "See `<tool_call>` and `{x}`.",
        "See `a` `<|im_end|>`",
        "So:\n```\n<tool_call>\n```\nand\n\n```python\nprint([1])\n```\nend",
        "So:\n```\n[TOOL_CALLS] never closed",
        "A `line\nbreak` and `<think>`.",
        "  - x:\n    ```\n    <think>\n    ```\n",
    ],
)
@pytest.mark.parametrize("told", ["told", "none"])
def test_markers_in_code_are_content(text: str, told: str) -> None:
    envelope = read_every_way(text, TOOLS if told == "told" else None)
    assert envelope.content == text
    assert not envelope.tool_calls


@pytest.mark.parametrize("word", ["json", "tool_call"])
def test_a_fence_may_open_behind_a_sentence(word: str) -> None:
    envelope = read_every_way(f'I will look. ```{word}\n{{"name": "ping", "arguments": {{}}}}\n```')
    assert [call.name for call in envelope.tool_calls] == ["ping"]
    assert envelope.content == "I will look."


@pytest.mark.parametrize(
    "text", ["a```\nb", "a ```tool_call", 'See ```json\n{"name": "ping", "arguments": {}}\n``` for how it is done.']
)
def test_other_back_ticks_in_a_line_open_none(text: str) -> None:
    envelope = read_every_way(text)
    assert not envelope.tool_calls
    assert envelope.content == text


@pytest.mark.parametrize("word", ["json", "tool_call", ""])
@pytest.mark.parametrize("city", ["<pre>```js\nf()\n```</pre>", "```</think>x", "``` </b>", "```x```"])
def test_back_ticks_before_a_tag_in_a_value_do_not_end_the_fence(word: str, city: str) -> None:
    body = json.dumps({"name": "get_weather", "arguments": {"city": city}})
    for text in (f"```{word}\n{body}\n```", f"```{word}\n{body}```</tool_call>"):
        envelope = read_every_way(text)
        assert [call.arguments for call in envelope.tool_calls] == [{"city": city}]


@pytest.mark.parametrize("closer", ["```</tool_call>", " \t ``` </tool_call>", "\n```</tool_call>"])
def test_back_ticks_before_a_tag_end_a_fence_behind_the_last_bracket(closer: str) -> None:
    call = '{"name": "ping", "arguments": {}}'
    envelope = read_every_way(f"```json\n{call}{closer}\n```json\n[{call}]{closer}")
    assert [call.name for call in envelope.tool_calls] == ["ping", "ping"]


def test_a_value_that_ends_the_fence_is_read_the_same_however_it_comes() -> None:
    body = json.dumps({"name": "get_weather", "arguments": {"city": "f() {}```</pre>"}})
    envelope = read_every_way(f"```json\n{body}\n```")
    assert [call.complete for call in envelope.tool_calls] == [False]


PING = '{"name": "ping", "arguments": {}}'


@pytest.mark.parametrize(
    "text",
    [
        f"~~~json\n{PING}\n~~~",
        f"~~~~json\n{PING}\n~~~~",
        f"````json\n{PING}\n````",
        f"I will ask.\n\n~~~json\n{PING}\n~~~",
        f"~~~json title=`x`\n{PING}\n~~~\nI asked.",
        f"~~~\n<tool_call>{PING}</tool_call>\n~~~",
        f"~~~\n{PING}\n~~~~~",
        f"~~~\n{PING}",
        f"Two:\n~~~\n{PING}\n~~~\n```\n{PING}\n```",
        f"About ~5 or ~~six~~:\n{PING}",
        f"a ~~~ b\n{PING}",
    ],
)
def test_fences_of_tildes_and_of_more_signs_hold_calls(text: str) -> None:
    envelope = read_every_way(text)
    assert {call.name for call in envelope.tool_calls} == {"ping"}
    assert len(envelope.tool_calls) == text.count(PING)


@pytest.mark.parametrize(
    "text",
    [
        f"So:\n````\n```json\n{PING}\n```\n````\nThat is it.",
        f"So:\n~~~\n```json\n{PING}\n```\n~~~\nThat is it.",
        f"So:\n```\n~~~json\n{PING}\n~~~\n```\nThat is it.",
        f"So:\n~~~~\n~~~\n{PING}\n~~~\n~~~~\nThat is it.",
        f"So:\n~~~md `x`\n<tool_call>{PING}</tool_call>\n~~~\nThat is it.",
        f"So:\n~~~\n`\n<tool_call>{PING}</tool_call>\n`\n~~~ no closer\n~~~\nThat is it.",
        f"So:\n~~~\ncurl -d '{PING}'\n~~~\nThat is it.",
    ],
)
@pytest.mark.parametrize("told", ["told", "none"])
def test_a_fence_within_the_other_kind_is_text(text: str, told: str) -> None:
    envelope = read_every_way(text, TOOLS if told == "told" else None)
    assert not envelope.tool_calls
    assert envelope.content == text


def test_back_ticks_in_fences_of_tildes_hide_no_call() -> None:
    text = f"A ~ sign.\n~~~md\n```\n~~~\n\n<tool_call>{PING}</tool_call>\n\n~~~md\n```\n~~~\nDone."
    assert [call.name for call in read_every_way(text, None).tool_calls] == ["ping"]


def test_code_in_the_middle_of_a_line_is_content() -> None:
    """Nobody is asked what was meant by a line of a script."""
    envelope = read_every_way(f"So:\n```sh\ncurl -d '{PING}'\n```\nThat is it.")
    assert [miss.reason for miss in envelope.near_misses] == ["example"]


@pytest.mark.parametrize("text", ["```python\n \n```", "``` \n\n\n```\n", "```" + " " * 500])
@pytest.mark.parametrize("told", ["told", "not told"])
def test_a_fence_of_white_space_is_content(text: str, told: str) -> None:
    envelope = read_every_way(text, TOOLS if told == "told" else None)
    assert envelope.content == text


INFOS = ['json title="a"', "json main.json", "xml {.numberLines}", "{.json .numberLines}", "python{1,3}", "json // the call"]


@pytest.mark.parametrize("sign", ["```", "~~~"])
@pytest.mark.parametrize("body", [PING, f"<tool_call>{PING}</tool_call>"])
@pytest.mark.parametrize("info", INFOS)
@pytest.mark.parametrize("before", ["", "I look.\n\n"])
def test_a_first_line_of_several_words_says_what_a_fence_holds(before: str, info: str, body: str, sign: str) -> None:
    (call,) = read_every_way(f"{before}{sign}{info}\n{body}\n{sign}", chunkings=2).tool_calls
    assert (call.name, call.complete, [repair.safety for repair in call.repairs]) == ("ping", True, [])


@pytest.mark.parametrize("sign", ["```", "~~~"])
@pytest.mark.parametrize("line", ["import tools", "x = 1", "x += 1", "for a in b:", "ping title='a'", 'json {"a": 1}', "Text: a"])
def test_a_first_line_that_is_code_is_a_part_of_what_a_fence_holds(line: str, sign: str) -> None:
    envelope = read_every_way(f"{sign}{line}\nping()\n{sign}", chunkings=2)
    assert not envelope.tool_calls
    assert [miss.reason for miss in envelope.near_misses] == ["example"]


def test_a_call_on_the_first_line_of_a_fence_is_read() -> None:
    for text in (
        '```json {"name": "ping",\n"arguments": {}}\n```',
        "```python ping()\n```",
        "```Action: ping\nAction Input: {}\n```",
    ):
        assert [call.name for call in read_every_way(text, chunkings=2).tool_calls] == ["ping"]


def test_a_label_stands_alone_on_its_line() -> None:
    value = "a\nEND_ARG here\nBEGIN_ARG: x y\nb"
    (call,) = read_every_way(f"```tool\nTOOL_NAME: read_file\nBEGIN_ARG: path\n{value}\nEND_ARG\n```", chunkings=2).tool_calls
    assert (call.arguments, call.complete) == ({"path": value}, True)


_LABELS = "TOOL_NAME: read_file\nBEGIN_ARG: path\na.txt\nEND_ARG"


@pytest.mark.parametrize(("text", "complete"), [(f"```\n{_LABELS}", False), (_LABELS, False), (f"```\n{_LABELS}\n```", True)])
def test_a_length_limit_may_have_cut_more_arguments_off_a_fence_that_is_open(text: str, complete: bool) -> None:
    (call,) = read_every_way(text, chunkings=2, finish_reason="length").tool_calls
    assert (call.arguments, call.complete) == ({"path": "a.txt"}, complete)
