"""What the place of a call makes of it: each row of the table for special tokens, tags and bare forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.types.events import NormalizerEvent, ToolCallFinished, ToolCallStarted
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear
from tests.normalizer.helpers import TOOLS, read_every_way, tool

JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
FORMS = {
    "token": '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>',
    "tag": f"<tool_call>{JSON}</tool_call>",
    "bare": JSON,
}
CALL, GUESS = "call", "guess"


@dataclass(frozen=True)
class Row:
    """`text` with `{}` where the call stands, and what each form is there: a call, a guess, or a near miss's reason ("": none)."""

    text: str
    token: str
    tag: str
    bare: str


def _shown(text: str, reason: str = "quoted") -> Row:
    return Row(text, reason, reason, reason)


TABLE = {
    "in back-ticks": _shown("Write `{}` here."),
    "in two back-ticks": _shown("Write ``{}`` here."),
    "in a fence in a fence": _shown("It is\n~~~\n```\n{}\n```\n~~~\nthere.", "example"),
    "in a fence with other statements": _shown("It is\n```\nThen it says {}\nso.\n```\nthere.", "example"),
    "behind a curly mark on its line": Row("He typed “{}” and left.", CALL, "quoted", "quoted"),
    "in back-ticks, the whole message": Row("`{}`", CALL, CALL, CALL),
    "a block quote": _shown("You wrote:\n\n> {}\n\nand no more."),
    "a block quote that goes on": _shown("> One.\n> {}\n> Two.\n\nAnd?"),
    "an element round it": _shown("It is <code>{}</code> there."),
    "an element whose opener is alone on the line before": _shown("<pre>\n{}\n"),
    "an element whose closer comes much later": _shown("The <samp>first:\n{}\n" + "More of it. " * 400 + "</samp> ends."),
    "an element within another": _shown("<blockquote>\nText <b>bold</b>\n<code>\n{}\n</code>\n</blockquote>"),
    "an element that is closed": Row("The <code>city</code> counts.\n{}", CALL, CALL, CALL),
    "an element that is never closed": Row("The <code>city counts.\n{}", CALL, CALL, CALL),
    "an element named in back-ticks": Row("The `<code>` element counts.\n{}", CALL, CALL, CALL),
    "an element named in a fence": Row("The page:\n~~~~html\n<code>\n~~~~\nThat counts.\n{}\n</code>", CALL, CALL, CALL),
    "in quotation marks": Row('You wrote "{}" there.', CALL, "quoted", "quoted"),
    "in curly marks": Row("You wrote “\n{}” there.", CALL, "quoted", "quoted"),
    "in German marks": Row("Da stand „\n{}“ heute.", CALL, "quoted", "quoted"),
    "in French marks": Row("Il y a «\u00a0\n{}\u00a0» ici.", CALL, "quoted", "quoted"),
    "in corner marks": Row("そこに「\n{}」とある。", CALL, "quoted", "quoted"),
    "in marks over two lines": Row("You wrote “so\n{}\nit is” there.", CALL, "quoted", "quoted"),
    "in single curly marks": Row("It said ‘{}’ and left.", CALL, "quoted", "quoted"),
    "in Swedish marks": Row("Modellen skrev ”{}” och slutade.", CALL, "quoted", "quoted"),
    "in single German marks": Row("Das Modell schrieb ‚{}‘ und hielt an.", CALL, "quoted", "quoted"),
    "in guillemets turned round": Row("Das Modell schrieb »{}« und hielt an.", CALL, "quoted", "quoted"),
    "in Finnish marks": Row("Malli kirjoitti »{}» ja lopetti.", CALL, "quoted", "quoted"),
    "in white corner marks": Row("モデルは『{}』と言った。", CALL, "quoted", "quoted"),
    "in the marks of titles": Row("模型写了《{}》然后停止。", CALL, "quoted", "quoted"),
    "behind words with an apostrophe": Row("The dogs’ turn:\n{}\nIt’s theirs.", CALL, CALL, CALL),
    "in a comment of a line": _shown("x = 1\n// so: {}\ny = 2"),
    "in a comment of several lines": _shown("/* {} */"),
    "behind the sign of a comment": _shown("x = 1\n# {}\n"),
    "in a heading": Row("## Now: {}", CALL, CALL, CALL),
    "in an exception's line": _shown("ValueError: {}"),
    "in a traceback": _shown('Traceback:\n  File "a.py", line 1\n    {}\nValueError: x'),
    "an added line": Row("It is:\n\n-old\n+{}\n old", "quoted", "quoted", ""),
    "a dropped line": Row("-{}\n+new", "quoted", "quoted", ""),
    "behind a list's sign": Row("- {}\n", CALL, CALL, "guess"),
    "in a list that nothing announces": Row("You can:\n- {}\n", CALL, CALL, "mid_line"),
    "in a script": _shown("<script>\n{}\n</script>"),
    "in a text area": _shown("It is <textarea>{}</textarea> there."),
    "in a verbatim environment": _shown("\\begin{verbatim}\n{}\n\\end{verbatim}"),
    "in a listing": _shown("\\begin{lstlisting}[language=xml]\n{}\n\\end{lstlisting}"),
    "behind a verbatim environment": Row("So \\begin{verbatim}x\\end{verbatim}:\n{}", CALL, CALL, CALL),
    "in a cell of a table": _shown("| what | how |\n|---|---|\n| delete | {} |\n| keep | none |"),
    "below a table": Row("| a | b |\n{}", CALL, CALL, CALL),
    "in triple marks": Row("x = '''{}'''", CALL, "quoted", "quoted"),
    "in triple double marks": Row('x = """{}"""', CALL, "quoted", "quoted"),
    "in marks without words outside": Row('"{}"', CALL, CALL, CALL),
    "a mark whose partner never comes": Row("The “ sign:\n{}", CALL, CALL, CALL),
    "a mark whose partner stands in the next paragraph": Row("A mark “yes:\n{}\n\nwell” then.", CALL, CALL, CALL),
    "a mark whose partner came before": Row("The “no” counts:\n{}", CALL, CALL, CALL),
    "an apostrophe before": Row("It's Oslo' turn:\n{}\nLet's see.", CALL, CALL, CALL),
    "a strict lead-in": Row("The syntax is:\n{}", GUESS, "example", "example"),
    "a strict lead-in, fenced": _shown("The syntax is:\n```\n{}\n```", "example"),
    "a prohibition": Row("Do not run this:\n{}", GUESS, "example", "example"),
    "a label": Row("**Example:**\n\n{}", GUESS, "example", "example"),
    "a refusal": Row("I will not call this:\n{}", GUESS, "example", "example"),
    "words that wait for the reader": Row("Once you confirm, I will run this:\n{}", GUESS, "example", "example"),
    "a question": Row("Shall I look?\n{}", CALL, GUESS, GUESS),
    "a question in Chinese": Row("要我查询吗？\n{}", CALL, GUESS, GUESS),
    "a question, fenced": Row("Shall I look?\n```\n{}\n```", GUESS, GUESS, GUESS),
    "an example lead-in": Row("For example:\n{}", CALL, GUESS, GUESS),
    "an example lead-in, fenced": _shown("For example:\n```\n{}\n```", "example"),
    "a retelling": Row("The log says:\n{}", CALL, CALL, CALL),
    "a retelling in quotation marks": Row('The log says "{}" there.', CALL, "quoted", "quoted"),
    "a transcript": Row("User: Delete it.\nAssistant: {}", GUESS, GUESS, GUESS),
    "a transcript that goes on": Row("用户：删除它。\n助手：好的。\n{}", GUESS, GUESS, GUESS),
    "the sign of one speaker": Row("Assistant: {}", CALL, CALL, CALL),
    "what might be done": Row("I would like to look:\n{}", CALL, CALL, CALL),
    "an announcement of an example": Row("I'll fetch the page, for example:\n{}", CALL, CALL, CALL),
    "a lead-in of another language": Row("Das Format ist klar. Exemple :\n{}", GUESS, "example", "example"),
    "two languages, the last one announces": Row("Beispiel: egal. Je vais vérifier :\n{}", CALL, CALL, CALL),
    "a fence with text on both sides": Row("It is\n```\n{}\n```\nthere.", "example", "example", GUESS),
    "a fence that opens the message": Row("```\n{}\n```\nThere.", CALL, CALL, CALL),
    "a fence that ends the message": Row("Here:\n```\n{}\n```", CALL, CALL, CALL),
    "a fence of tildes": Row("It is\n~~~~\n{}\n~~~~\nthere.", "example", "example", GUESS),
    "indented, prose behind": Row("That was it.\n\n    {}\n\nMore prose.", CALL, "example", "example"),
    "indented, nothing behind": Row("That was it.\n\n    {}\n", CALL, "example", CALL),
    "indented by a tab": Row("That was it.\n\n\t{}\n\nMore prose.", CALL, "example", "example"),
    "indented without a blank line": Row("That was it.\n    {}\n\nMore prose.", CALL, CALL, CALL),
    "indented as a list's text is": Row("- That was it.\n\n  {}\n\nMore prose.", CALL, CALL, CALL),
    "indented below a list's text": Row("- That was it.\n\n      {}\n\nMore prose.", CALL, "example", "example"),
    "behind a star and a blank": Row("So:\n* {}\n", CALL, CALL, "mid_line"),
    "behind a space without width": Row("\u200b{}", CALL, CALL, CALL),
    "words on both sides": Row("When {} comes, I wait.", CALL, GUESS, "mid_line"),
    "words before": Row("Now {}\nI wait.", CALL, CALL, "mid_line"),
    "words behind": Row("Now.\n{} I wait.", CALL, CALL, "mid_line"),
    "on a line of its own": Row("That is it.\n{}\nNow I wait.", CALL, CALL, CALL),
    "behind a sentence with a colon": Row("That is it: {}\nNow I wait.", CALL, CALL, CALL),
    "alone": Row("{}", CALL, CALL, CALL),
}


def _found(text: str) -> str:
    envelope = read_every_way(text, chunkings=2)
    if envelope.tool_calls:
        (call,) = envelope.tool_calls
        assert (call.name, call.arguments, call.complete) == ("get_weather", {"city": "Oslo"}, True)
        return GUESS if any(repair.safety == "guess" for repair in call.repairs) else CALL
    assert envelope.content == text
    return ",".join(miss.reason for miss in envelope.near_misses)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", TABLE)
def test_the_table(place: str, form: str) -> None:
    row = TABLE[place]
    assert _found(row.text.replace("{}", FORMS[form])) == getattr(row, form)


_QUOTED_FORMS = [
    *FORMS.values(),
    'get_weather\n{"city": "Oslo"}',
    "get_weather\n<city>Oslo</city>\n</get_weather>",
    'assistant to=functions.get_weather commentary json\n{"city": "Oslo"}',
]


@pytest.mark.parametrize("sign", ["> ", ">", ">\t", "   > ", "\t> ", ">> ", ">>> ", "> > ", "- > ", "1. > ", "- - > ", "* > "])
def test_block_quotes(sign: str) -> None:
    behind = sign if sign.strip()[0] == ">" else " " * (len(sign) - 2) + "> "
    for form in _QUOTED_FORMS:
        first, *rest = form.split("\n")
        quote = "\n".join([sign + "One.", behind + first, *(behind + line for line in rest)])
        assert _found(f"You wrote:\n\n{quote}\n\nand no more.") == "quoted"


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-23T10:00:01Z INFO model said ", "2026-11-23 10:00:01 For example: ", "Nov 23 10:00:01 host app: ", "Nov  3 10:00:01 host ",
        "Mon Nov 23 10:00:01 host: ", "23/Nov/2026:10:00:01 ", "2026/11/23 10:00:01 ", "23.11.2026 10:00: ", "[2026-11-23 10:00:01] ",
        "- 2026-11-23 10:00:01 ", "1. 2026-11-23 10:00:01 said: ", "10:00:01.123 ", "10:00:01 INFO ", "INFO 2026-11-23 ", "INFO: got ",
        "[info] got: ", "[WARN ] got ", "ts=2026-11-23T10:00:01Z got: ", "127.0.0.1 - - [23/Nov/2026:10:00:01 +0000] ",
        "03-12 08:00:01 INFO agent: ", "12.03. 08:00:01 ", "[08:00:01] bot: ", "08:00:01 | worker | ", "8:00:01 AM ", "12 Mar 2026 08:00:01 ",
        "Mar-12 08:00:01 ", "I0312 08:00:01.123456 7 a.cc:1] ", "20260312T080001Z ", "<13>Mar 12 08:00:01 host app: ", "1741766401 agent ",
        "[1741766401.25] ", "[    0.123456] app: ", "+0.25s got: ", "2026年3月12日 08:00:01 ", "[^1]: ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_lines_of_logs(line: str, form: str) -> None:
    for before in ("", "Look:\n"):
        assert _found(f"{before}{line}{FORMS[form]} to me\nSo it was.") == "quoted"


@pytest.mark.parametrize(
    "line",
    [
        "At 10:00:01 I call: ",
        "I info you: ",
        "INFO\n",
        "On 2026-11-23 10:00: ",
        "10:00: ",
        "Nov 23: ",
        "03-12: ",
        "1234567890: ",
        "2026年3月12日: ",
        "[1]: ",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_line_with_a_time_in_it_is_none_of_a_log(line: str, form: str) -> None:
    assert _found(f"{line}{FORMS[form]}\nSo it is.") == CALL


@pytest.mark.parametrize(
    "element", ["xmp", "listing", "pre", "code", "samp", "tt", "example_call", "good-example", "quoted", "transcript"]
)
@pytest.mark.parametrize("form", [*FORMS.values(), 'get_weather(city="Oslo")'])
def test_an_element_of_code_round_the_whole_message(element: str, form: str) -> None:
    for text in (
        f"<{element}>{form}</{element}>",
        f"<{element}>\n{form}\n</{element}>",
        f"So:\n<{element}>{form}</{element}>\nThere.",
    ):
        assert _found(text) == "quoted"


def test_three_signs_before_a_name_are_a_marker() -> None:
    assert _found('>>>get_weather\n{"city": "Oslo"}') == CALL


@pytest.mark.parametrize(
    "form", [JSON, f"[{JSON}]", 'get_weather(city="Oslo")', '[get_weather(city="Oslo")]', 'get_weather{"city": "Oslo"}']
)
def test_a_full_width_colon_is_a_colon(form: str) -> None:
    assert _found(f"Now: {form}") == _found(f"我来查询\uff1a{form}") == _found(f"確認します\uff1a {form}") == CALL
    assert _found(f"格式如下\uff1a{form}") == "example"


def test_a_bare_form_behind_another_full_width_sign_is_a_near_miss() -> None:
    assert _found(f"我来查询\uff0c{JSON}") == "mid_line"
    assert _found(f"我来查询\u3002{JSON}") == "guess"  # a sentence is over


def test_a_list_in_a_block_quote_is_a_near_miss() -> None:
    assert _found(f"So:\n> - {JSON}\n\nand no more.") == "quoted"


@pytest.mark.parametrize(
    "text",
    [
        "When the page\n{}\nis gone, I wait.",  # the sentence goes on
        "Wenn die Seite\n{}\nnoch da ist, warte ich.",
        "这个调用\n{}\n会删除整个网站",
        "When the page\n\n<reply>\n{}\n</reply>\n\nis gone, I wait.",
        "GLM writes its calls in tags.\n\n{}\n\nThe tags hold JSON. That is what tells it apart.",  # it talks of the call
        "The page goes away with one line.\n{}\nThe page would be gone for good.",
        "A slide.\n{}\n**Notes.** Say it slowly.",
        "{}\nAbove stands the shortest form; both fields have to be there.",
        "One line.\n{}\n(not executed)",  # it says what the call is
        "一行。\n{}\n（仅供示例，未执行）",
        "BEGIN EXAMPLE\n{}\nEND EXAMPLE",
        "I'll look it up.\n{}\nNo, hold on. That was the other town, and nobody asked about it.",  # it takes the call back
        "{}\nDisregard the above.",
        "{}\nI won't do it before you say so.",
        "I'll look it up.\n{}\nThat takes a moment. Then I will tell you.",  # it waits
        "{}\n少々お待ちください、結果が分かり次第お知らせいたします。",
        "That is clear.\n{}\n<tool_response>Rain. Wind.</tool_response> It rains. Take a coat.",  # it makes a result up
        "03-12 08:00:01 INFO agent said\n{}",  # a line of a log above decides nothing either
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_text_on_other_lines_changes_nothing(text: str, form: str) -> None:
    assert _found(text.replace("{}", FORMS[form])) == CALL


_REACT_WITH_WORDS = (
    'Weather comes first.\nAction: get_weather\nAction Input: {"city": "Oslo"}\n\nand there it stops. Nobody knows why.'
)


def test_words_behind_a_react_input_are_content() -> None:
    envelope = read_every_way(_REACT_WITH_WORDS)
    (call,) = envelope.tool_calls
    assert (call.arguments, call.repairs) == ({"city": "Oslo"}, [])
    assert envelope.content == "Weather comes first.\n\n\nand there it stops. Nobody knows why."
    fenced = 'Action: get_weather\nAction Input:\n```json\n{"city": "Oslo"}\n```\nOne moment please.'
    assert (read_every_way(fenced).content, read_every_way(fenced).tool_calls[0].repairs) == ("One moment please.", [])


REACT = 'Action: get_weather\nAction Input: {"city": "Oslo"}'


@pytest.mark.parametrize("before", ["That is it.", "I'll look it up."])
def test_a_call_on_a_line_of_its_own_is_finished_when_it_is_closed(before: str) -> None:
    told = _events([f"{before}\n", FORMS["tag"], "\nOops. ", "Two."])
    heard = [[type(event) for event in events if isinstance(event, ToolCallStarted | ToolCallFinished)] for events in told]
    assert heard == [[], [], [ToolCallStarted, ToolCallFinished], [], []]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{}", CALL),
        ("I look.\n{}", CALL),
        ("The “ sign:\n{}", CALL),
        ("For example:\n{}", GUESS),
        ("Example:\n{}", "example"),
        ("> {}", "quoted"),
        ("You wrote “\n{}” there.", "quoted"),
        ("The <code>first:\n{}\n</code> is it.", "quoted"),
        ("<pre>\n{}\n</pre>", "quoted"),
    ],
)
def test_react_steps(text: str, found: str) -> None:
    step = REACT.replace("\n", "\n> ") if text.startswith(">") else REACT
    assert _found(text.replace("{}", step)) == found


@pytest.mark.parametrize("mark", ["<code>{}</code>", "<q>{}</q>", "<example>\n{}\n</example>"])
def test_an_element_named_like_a_tool_is_no_code(mark: str) -> None:
    tools = ToolSet([tool("get_weather", ["city"], city="string"), tool("code"), tool("q"), tool("example")])
    text = f"Now.\n{mark.replace('{}', FORMS['tag'])}"
    envelope = read_every_way(text, tools)
    assert envelope.tool_calls
    assert not envelope.near_misses


def test_calls_behind_an_example_are_content() -> None:
    text = f"Example:\n{FORMS['tag']}\n{FORMS['tag']}, {FORMS['tag']}"
    envelope = read_every_way(text)
    assert not envelope.tool_calls
    assert [miss.reason for miss in envelope.near_misses] == ["example"] * 3
    assert [call.name for call in read_every_way(f"{text}\n\nI'll ask now:\n{FORMS['tag']}").tool_calls] == ["get_weather"]


def test_calls_behind_a_guess_are_guesses() -> None:
    calls = read_every_way(f"For example:\n{FORMS['tag']}\n{FORMS['tag']}").tool_calls
    assert [[repair.kind for repair in call.repairs] for call in calls] == [["example_lead_in"], ["example_lead_in"]]


@pytest.mark.parametrize(("behind", "kinds"), [(" today", ["words_on_both_sides"]), ("\nToday", []), (".", []), ("</s>", [])])
def test_several_calls_on_a_line(behind: str, kinds: list[str]) -> None:
    calls = read_every_way(f"I ask {FORMS['tag']} {FORMS['tag']}{behind}").tool_calls
    assert [[repair.kind for repair in call.repairs] for call in calls] == [kinds, kinds]


@pytest.mark.parametrize(
    ("before", "behind", "kinds"),
    [
        ("The weather, then:", " There.", []),
        ("I looked!", " All set!", []),
        ("The weather, then:", " There", ["words_on_both_sides"]),
        ("The weather, then:", " there and back.", ["words_on_both_sides"]),
        ("The weather, then:", " Deletes the page.", ["words_on_both_sides"]),
        ("The weather, then", " There.", ["words_on_both_sides"]),
    ],
)
def test_a_remark_of_a_word_or_two_is_no_text_around_a_call(before: str, behind: str, kinds: list[str]) -> None:
    calls = read_every_way(f"{before} {FORMS['tag']}{FORMS['tag']}{behind}").tool_calls
    assert [[repair.kind for repair in call.repairs] for call in calls] == [kinds, kinds]


def _events(chunks: list[str]) -> list[list[NormalizerEvent]]:
    normalizer = Normalizer(TOOLS)
    return [*map(normalizer.feed, chunks), normalizer.finish()]


def test_a_call_with_words_before_it_on_its_line_is_finished_with_the_line() -> None:
    told = _events(["I'll look it up ", FORMS["tag"][:50], FORMS["tag"][50:], ".", " ", "\n", "More."])
    kinds = [[type(event) for event in events] for events in told]
    assert [ToolCallStarted in events for events in kinds] == [False, True, False, False, False, False, False, False]
    assert [ToolCallFinished in events for events in kinds] == [False] * 5 + [True, False, False]


def test_a_call_that_may_be_quoted_emits_no_events() -> None:
    told = _events(["You wrote “", FORMS["tag"], " for", "” it.\n\n"])
    assert not any(isinstance(event, ToolCallStarted | ToolCallFinished) for events in told for event in events)
    told = _events(["You wrote “", FORMS["tag"], " for", "\n\nthat."])
    heard = [[type(event) for event in events if isinstance(event, ToolCallStarted | ToolCallFinished)] for events in told]
    assert heard == [[], [], [], [ToolCallStarted, ToolCallFinished], []]


def test_a_quotation_delays_text_only_up_to_a_limit() -> None:
    told = _events(["You wrote “", FORMS["tag"], " for " + "long " * 600, "more"])
    assert any(isinstance(event, ToolCallFinished) for event in told[2])


_FLOODS: dict[str, Callable[[int], str]] = {
    "quoted calls": lambda n: f'so "{FORMS["tag"]} ' * (n // 80),
    "quoted calls on lines": lambda n: f"so “{FORMS['tag']}\n" * (n // 80),
    "calls in a line": lambda n: "so " + FORMS["tag"] * (n // 76),
    "calls behind an open element": lambda n: "a <code>b " + f"{FORMS['tag']}\nx " * (n // 79),
    "open elements": lambda n: "<code>" * (n // 12) + "</pre>" * (n // 12) + FORMS["tag"],
    "elements and calls": lambda n: f"<code>{FORMS['tag']}\n" * (n // 83),
    "block quotes": lambda n: f"> {FORMS['tag']}\n" * (n // 79),
    "a block quote of one line": lambda n: "> {" + "x" * n,
    "block quotes apart": lambda n: f"> {JSON}\n\n" * (n // 58),
    "labels": lambda n: f"Example:\n{FORMS['tag']}\n\n" * (n // 87),
    "mid-line forms": lambda n: f"so {JSON} there " * (n // 64),
    "mid-line forms in an element": lambda n: "a <q>b " + f"so {JSON} there " * (n // 64),
    "marks before sections": lambda n: "so '<function_calls>" * (n // 20),
    "sections in marks": lambda n: f"so '<tool_calls>{FORMS['tag']}</tool_calls>\n" * (n // 102),
    "lists of calls": lambda n: "For example:\n" + f"- {FORMS['tag']}\n" * (n // 79),
    "calls behind reasoning": lambda n: "Example:\n" + f"<think>a</think>\n{FORMS['tag']}\n" * (n // 93),
    "indented forms": lambda n: f"So.\n\n    {JSON}\n" * (n // 64),
    "fences of tildes": lambda n: f"So\n~~~\n{JSON}\n~~~\n" * (n // 66),
    "tildes": lambda n: "~" * n,
    "lines of tildes": lambda n: "~~~\n" * (n // 4),
    "longer fences": lambda n: "".join(f"{'~' * (3 + k % 60)}\n" for k in range(n // 33)),
}


@pytest.mark.parametrize("piece", [64, 1 << 20])
@pytest.mark.parametrize("flood", _FLOODS)
def test_floods_cost_linear_time(flood: str, piece: int) -> None:
    def read(size: int) -> None:
        text = _FLOODS[flood](size)
        if piece > len(text):
            normalize(text, TOOLS)
            return
        normalizer = Normalizer(TOOLS)
        for at in range(0, len(text), piece):
            normalizer.feed(text[at : at + piece])
        normalizer.finish()

    assert_linear(read, 10_000)
