"""Replies as models write them, each judged by hand: the value under `safe` in a whole reply, and whether a cut one gives it.

None: refused, so that the model is asked again. No row may give another value than the one here.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from llmcore.types import OutputParseError
from llmcore.validator import parse_detailed


class Person(BaseModel):
    name: str
    age: int


class Task(BaseModel):
    title: str = ""
    done: bool = False


Colour = Literal["red", "blue"]
ANN, BOB = '{"name": "Ann", "age": 30}', '{"name": "Bob", "age": 31}'
ann, bob = Person(name="Ann", age=30), Person(name="Bob", age=31)
SCHEMA = '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}'
FORM = '{"name": "string", "age": "integer"}'

# type, text, the value in a whole reply, whether a cut one gives it too
ROWS: list[tuple[Any, str, Any, bool]] = [
    # nothing but the answer
    (Person, ANN, ann, True),
    (Person, f"\n\n  {ANN}  \n", ann, True),
    (Person, f"```json\n{ANN}\n```", ann, True),
    (Person, f"~~~\n{ANN}\n~~~", ann, True),
    (Person, f"```json\n{ANN}", ann, True),
    (Person, f"`{ANN}`", ann, True),
    (Person, f"`{ANN}", ann, False),
    (Person, f"**{ANN}**", ann, True),
    (Person, f"<think>Bob? No, {BOB} is the other one.</think>\n{ANN}", ann, True),
    (Person, f"<answer>{ANN}</answer>", ann, True),
    # words that name it
    (Person, f"Sure! Here is the JSON:\n\n```json\n{ANN}\n```", ann, True),
    (Person, f"Here you go:\n{ANN}", ann, True),
    (Person, f"**Final answer:** {ANN}", ann, True),
    (Person, f"The answer is {ANN}", ann, True),
    (Person, f"The answer is {ANN}.", ann, False),
    (Person, f"Antwort: {ANN}", ann, True),
    (Person, f"Voici le résultat :\n{ANN}", ann, True),
    (Person, f"答案是\uff1a{ANN}", ann, True),
    # words before
    (Person, f"Based on the text, the person mentioned is Ann.\n\n{ANN}", ann, False),
    (Person, f"I looked at the three documents you gave me and found this: {ANN}", ann, False),
    (Person, f"Let me think step by step.\n1. The name is Ann.\n2. She is 30.\n\nResult:\n{ANN}", ann, False),
    (Person, f"I apologize for the confusion. Here is the correct JSON:\n{ANN}", ann, False),
    (Person, f"Es handelt sich um Ann.\n```json\n{ANN}\n```", ann, False),
    (Person, f"根据文本\uff0c这个人是安。\n{ANN}", ann, False),
    (Person, f"Step 1 gives 30 years.\n{ANN}", ann, False),
    (Person, f"# Result\n\n{ANN}", ann, False),
    (Person, f"- {ANN}", ann, False),
    (Person, f"> {ANN}", ann, False),
    (Person, f"1. {ANN}", ann, False),
    (Person, f"| field | value |\n|---|---|\n| name | Ann |\n| age | 30 |\n\n{ANN}", ann, False),
    (Person, f"```python\nprint({ANN})\n```", ann, False),
    (Person, f"```js\nconst p = {ANN};\n```", ann, False),
    (Person, f"Person = {ANN}", ann, False),
    # words behind
    (Person, f"{ANN}\n\nI hope this helps! Let me know if anything is wrong.", ann, False),
    (Person, f"```json\n{ANN}\n```\n\nNote that the age was not given exactly.", ann, False),
    (Person, f"{ANN}\nThis is not an official record.", ann, False),
    (Person, f"{ANN}\n\nExplanation: the text says that Ann turned 30.", ann, False),
    (Person, f"{ANN}</s>", ann, True),
    # words that take a value back decide nothing
    (Person, f"{ANN}\nWait, that is wrong.", ann, False),
    (Person, f"{ANN}\n\nHmm, that's not right. She is 31.", ann, False),
    (Person, f"I rejected {ANN} because of the age.", ann, False),
    (Person, f"{ANN}\nWait, that is wrong: {BOB}", None, False),
    (Person, f"{ANN}\nI apologize, it is {BOB}", None, False),
    (Person, f"{ANN}\nActually, {BOB}", None, False),
    (Person, f"{ANN}\nNein, das ist falsch. {BOB}", None, False),
    (Person, f"{ANN}\nNon, c'est faux. {BOB}", None, False),
    (Person, f"{ANN}\n不对\uff0c应该是 {BOB}", None, False),
    (Person, f"{ANN}\nThis is wrong: {BOB}", None, False),
    (Person, f"Final answer: {ANN}. Hmm, on reflection: {BOB}", None, False),
    # the last of several that are named the answer
    (Person, f"{ANN}\nOops, I made a mistake. Corrected:\n{BOB}", bob, False),
    (Person, f"{ANN}\nCorrection: {BOB}", bob, False),
    (Person, f"The answer is {ANN}. Wait, no. The answer is {BOB}", bob, False),
    # several
    (Person, f"{ANN}\n{BOB}", None, False),
    (Person, f"{ANN}, {BOB}", None, False),
    (Person, f"1. {ANN}\n2. {BOB}", None, False),
    (Person, f"Option A: {ANN}\nOption B: {BOB}", None, False),
    (Person, f"Either {ANN} or {BOB}", None, False),
    (Person, f"The possible answers are {ANN} and {BOB}", None, False),
    (Person, f"```json\n{ANN}\n```\nor\n```json\n{BOB}\n```", None, False),
    (Person, f"<option>{ANN}</option><option>{BOB}</option>", None, False),
    (Person, f"| {ANN} | {BOB} |", None, False),
    (Person, f"{ANN}\nThe expected output was {BOB}", None, False),
    (Person, f"{ANN}\n\nOr, as JSON:\n```json\n{ANN}\n```", ann, False),
    (Person, f"Draft: {ANN}\nFinal: {BOB}", bob, False),
    (Person, f"First attempt:\n{ANN}\n\nRevised version:\n{BOB}", bob, False),
    (Person, f"Entwurf: {ANN}\nEndgültig: {BOB}", bob, False),
    (Person, f"The old record was {ANN}. Here is the updated record: {BOB}", None, False),
    # the form, an example, a quotation
    (Person, f"The schema is {SCHEMA}\n\n{ANN}", ann, False),
    (Person, f"You want the form {FORM}. {ANN}", None, False),
    (Person, f"For example: {BOB}. Here is yours: {ANN}", ann, False),
    (Person, SCHEMA, None, False),
    (Person, '{"name": "...", "age": 0}', None, False),
    (Person, '{"name": "<full name>", "age": 30}', None, False),
    (Person, f'The form is {{"name": "...", "age": 0}}. So:\n{ANN}', None, False),
    (Person, f'The user wrote "{BOB}" but the right one is:\n{ANN}', None, False),
    (Person, '{"name": Ann}\n' + ANN, None, False),
    (Person, '{"name": get("n"), "age": 1 +}\n' + ANN, None, False),
    (Person, '{"name": "Ann"}\n' + BOB, None, False),
    (Person, '{"name": "Ann"} ' + BOB, None, False),
    (Person, f"{ANN} {BOB}", ann, False),
    # open things that a cut reply may be in the midst of
    (Person, f"<scratchpad>{ANN}", ann, False),
    (Person, f"<!-- {ANN}", ann, False),
    (Person, f"({ANN}", ann, False),
    (Person, f'"{ANN}', ann, False),
    (Person, f"<draft>{ANN}</draft>", ann, False),
    (Person, f"My first thought was {ANN}", ann, False),
    (Person, f"# Draft\n{ANN}", ann, False),
    (Person, f"Attempt 1:\n```json\n{ANN}\n```", ann, False),
    (Person, f"{ANN}\n```", ann, False),
    (Person, f"{ANN}\n\nCorr", ann, False),
    # fields that fit by nothing but their defaults
    (Task, '{"error": "no task found"}', None, False),
    (Task, '{"Title": "Shop"}', None, False),
    (Task, '{"title": "Shop", "Done": true}', None, False),
    (Task, "{}", Task(), True),
    (Task, '{"title": "Shop", "more": 1}', Task(title="Shop"), True),
    (list[Task], '[{"title": "a"}, {"error": 1}]', None, False),
    # lists, maps, scalars
    (list[str], '["a", "b"]', ["a", "b"], True),
    (list[str], '["a", "..."]', None, False),
    (list[int], '["a"]\n[1]', None, False),
    (list[int], "See [1].\n[1]", [1], False),
    (set[int], '["a"]\n[1]', None, False),
    (tuple[int, int], '["a", "b"]\n[1, 2]', None, False),
    (list[Person], f"[{ANN}]\n[3]", [ann], False),
    (dict[str, int], '{"a": "x"}\n{}', None, False),
    (dict[str, int], '{"a": 1}\n{"a": 2}', None, False),
    (dict[str, int], "Totals:\n```json\n" + '{"a": 1}\n```', {"a": 1}, False),
    (int, "12", 12, False),
    (int, "12 kg", None, False),
    (int, "```\n5\n```\n```\n6\n```", None, False),
    (int, "about 12", None, False),
    (Colour, '"red"', "red", False),
    (Colour, "red or blue", None, False),
]


def _read(text: str, output_type: Any) -> Any:
    try:
        return parse_detailed(text, output_type)
    except OutputParseError:
        return None


@pytest.mark.parametrize(("output_type", "text", "value", "cut"), ROWS, ids=str)
def test_a_text_gives_the_value_that_it_means_or_none(output_type: Any, text: str, value: Any, cut: bool) -> None:
    detail = _read(text, output_type)
    assert (detail.value if detail else None) == value
    assert bool(detail and detail.closed) is cut
