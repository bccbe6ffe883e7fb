"""A call that is written twice in two forms, one of several versions, and one within the steps of instructions, are
shown rather than made."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import TOOLS, read_every_way

JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
HERMES = f"<tool_call>\n{JSON}\n</tool_call>"
QWEN = "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
PYTHON = 'get_weather(city="Oslo")'


def _doubts(text: str) -> list[list[str]]:
    return [
        [repair.kind for repair in call.repairs if repair.safety == "guess"] for call in read_every_way(text, TOOLS).tool_calls
    ]


@pytest.mark.parametrize("second", [QWEN, PYTHON, f"[TOOL_CALLS][{JSON}]"])
@pytest.mark.parametrize(("one", "other"), [("Hermes:", "Qwen:"), ("Erstens:", "Zweitens:"), ("Hermes：", "另一种：")])  # noqa: RUF001
def test_one_call_in_two_forms_is_a_guess(second: str, one: str, other: str) -> None:
    assert _doubts(f"{one}\n{HERMES}\n\n{other}\n{second}") == [["two_forms"], ["two_forms"]]


@pytest.mark.parametrize(
    "text",
    [
        f"First:\n{HERMES}\n\nAgain:\n{HERMES}",
        f"First:\n{HERMES}\n\nThen:\n{QWEN.replace('Oslo', 'Paris')}",
        f"{HERMES}\n{QWEN}",
    ],
)
def test_calls_in_one_form_or_of_other_arguments_or_in_a_row_are_calls(text: str) -> None:
    assert _doubts(text) == [[], []]


def test_a_call_in_three_forms_is_a_guess_each_time() -> None:
    text = f"- Hermes:\n  {HERMES}\n- Qwen:\n  {QWEN}\n- JSON:\n  {JSON}"
    assert _doubts(text) == [["two_forms"]] * 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Before:", "After:"), ("**Old**", "**New**"), ("Option A:", "Option B:"), ("### Version 1", "### Version 2"),
        ("Vorher:", "Nachher:"), ("Alte Schreibweise:", "Neue Schreibweise:"), ("Avant :", "Après :"), ("Antes:", "Después:"),
        ("Antes:", "Depois:"), ("Prima:", "Dopo:"), ("Было:", "Стало:"), ("修改前：", "修改后："), ("方案一：", "方案二："),  # noqa: RUF001
        ("変更前：", "変更後："), ("변경 전:", "변경 후:"), ("Correct:", "Right:"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_versions_of_a_call_are_guesses(one: str, other: str) -> None:
    text = f"{one}\n{HERMES}\n\n{other}\n{HERMES.replace('Oslo', 'Paris')}"
    assert _doubts(text) == [["example_lead_in"], ["example_lead_in"]]


@pytest.mark.parametrize("said", ["New data is in:", "Right, looking it up:", "After that, the weather:", "Option A it is:"])
def test_words_of_versions_in_a_sentence_are_none(said: str) -> None:
    assert _doubts(f"{said}\n{HERMES}") == [[]]


STEPS = [
    ("1. Open the chat.\n2. Paste", "3. Press enter."),
    ("- Open the chat.\n- Paste", "- Press enter."),
    ("* Öffne den Chat.\n* Füge ein:", "* Drücke Enter."),
    ("Schritt 1: Öffne den Chat.\nSchritt 2: Füge ein", "Schritt 3: Drücke Enter."),
    ("### Step 2\n\nOpen the chat and paste.", "### Step 3\n\nPress enter."),
    ("**1.** Abrir.\n**2.** Pegar", "**3.** Enviar."),
    ("第一步：打开聊天。\n第二步：粘贴", "第三步：按回车。"),  # noqa: RUF001
    ("手順1：開く\n手順2：貼り付ける", "手順3：送信"),  # noqa: RUF001
    ("① Ouvrir\n② Coller", "③ Valider"),
    ("Paso 1 de 4: abra\nPaso 2 de 4: pegue", "Paso 3 de 4: pulse"),
    ("Step 1/3: open\nStep 2/3: paste", "Step 3/3: press"),
    ("1) Открыть.\n2) Вставить", "3) Нажать."),
]


@pytest.mark.parametrize("form", [HERMES, QWEN, JSON])
@pytest.mark.parametrize(("above", "behind"), STEPS)
def test_a_call_between_steps_is_a_guess(form: str, above: str, behind: str) -> None:
    indented = form.replace("\n", "\n   ")
    assert _doubts(f"{above}\n\n   {indented}\n\n{behind}") == [["between_sentences"]]


def test_a_call_between_steps_is_a_guess_with_words_behind_it() -> None:
    assert _doubts(f"1. Open.\n2. Paste\n   {HERMES}\n   and wait.\n3. Press enter.") == [["between_sentences"]]


@pytest.mark.parametrize(
    "text",
    [
        f"My plan:\n1. I'll look it up:\n{HERMES}\n2. Then I tell you.",
        f"2. Weather\n{HERMES}\n",
        f"2. Weather\n{HERMES}\n7. Rain",
        f"My plan:\n- weather\n- rain\n\n{HERMES}",
    ],
)
def test_an_announced_step_or_another_number_is_none(text: str) -> None:
    assert _doubts(text) == [[]]


@pytest.mark.parametrize("signs", [("1.", "2."), ("-", "-"), ("Step 1:", "Step 2:")])
def test_a_plan_with_a_call_for_each_step_is_carried_out(signs: tuple[str, str]) -> None:
    one, two = signs
    assert _doubts(f"{one} Weather of Oslo\n{HERMES}\n{two} Weather of Paris\n{HERMES.replace('Oslo', 'Paris')}\n") == [[], []]


DIALOGUES = [
    ("Host: rain?\nBot: ", "Host: wow\nBot: It rains."),
    ("**Anna:** Regen?\n**Gerät:** ", "**Anna:** Danke."),
    ("客人：下雨吗？\n机器人：", "客人：谢谢。"),  # noqa: RUF001
    ("Agent 1: go on\nAgent 2:\n", "Agent 1: fine"),
]


@pytest.mark.parametrize("form", [HERMES, QWEN, JSON])
@pytest.mark.parametrize(("above", "behind"), DIALOGUES)
def test_a_call_in_a_dialogue_is_a_guess(form: str, above: str, behind: str) -> None:
    (kinds,) = _doubts(f"{above}{form}\n{behind}")
    assert kinds


@pytest.mark.parametrize("text", [f"Note: rain\nOslo: {HERMES}\nParis: sun", f"Thought: rain\nPlan:\n{HERMES}\nThought: done"])
def test_other_labels_are_no_dialogue(text: str) -> None:
    assert _doubts(text) == [[]]


@pytest.mark.parametrize(
    "said",
    [
        "The following format is no longer supported.",
        "This syntax is deprecated:",
        "Die folgende Schreibweise ist veraltet:",
        "Dieses Format wird nicht mehr unterstützt.",
        "Le format suivant n'est plus pris en charge :",
        "La siguiente sintaxis ya no se admite.",
        "O formato seguinte não é mais suportado:",
        "Il formato seguente non è più supportato:",
        "Следующий формат больше не поддерживается:",
        "从 2.0 起，不再支持下列格式。",  # noqa: RUF001
        "次の形式は廃止されました。",
        "다음 형식은 더 이상 지원되지 않습니다.",
        "Quien tenga permiso usaría esto:",
        "Whoever may do it sends this:",
        "Wer darf, schickt folgenden Aufruf:",
        "Quem pode enviaria isto:",
        "Chi può userebbe questo:",
    ],
)
def test_forms_that_are_not_valid_any_more_and_what_others_would_do(said: str) -> None:
    assert _doubts(f"{said}\n\n{HERMES}") == [["example_lead_in"]]


@pytest.mark.parametrize(
    "said", ["The old link is no longer valid.", "Your format is deprecated, so I'll use mine:", "Who knows."]
)
def test_what_is_gone_and_is_no_form_leads_to_calls(said: str) -> None:
    assert _doubts(f"{said}\n\n{HERMES}") == [[]]
