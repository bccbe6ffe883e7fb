"""Each phrase of each language file is found as its kind, and `kind_of` judges it as the kind says."""

from __future__ import annotations

import re

import pytest

from llmcore.normalizer.trust.lead_ins import kind_of, names_answer
from llmcore.normalizer.trust.lexicon import Kind, Language, finds, languages, rows_of
from tests.helpers.growth import assert_linear

VERDICTS: dict[Kind, str | None] = {
    "prohibition": "strict",
    "refusal": "strict",
    "label": "strict",
    "form": "strict",
    "example": "example",
    "announcement": None,
    "answer": None,
}
AMBIGUOUS = {"一个示例"}
"""An example that is a label with its article when it stands alone."""
LANGUAGES = languages()
CELLS = [(name, kind) for name in sorted(LANGUAGES) for kind in VERDICTS]
_PARTS = re.compile(r"\(([^()]*)\)(\?)?|([^()]+)")
_BLANKS = re.compile(r" (?![^(]*\))")
_SIGNS = re.compile(r"(?:[^()|?*$]|\*|\([^()?$]+\)\??)+(?: \$)?")
"""Of a phrase: words, `*`, groups that may be optional, and at its end `$`."""
_VERB_LAST = ("ja", "ko")
_WORDS = 300


def _written(word: str, choice: int, *, optional: bool) -> str:
    """Writes a word of a phrase: of each group the alternative of this number, or the last one."""
    written = ""
    for group, may_miss, plain in _PARTS.findall(word):
        alternatives = (plain or group).split("|")
        if optional or not may_miss:
            written += alternatives[min(choice, len(alternatives) - 1)]
    return written.replace("*", "aba")


def _instances(phrase: str, language: Language) -> list[str]:
    """Sentences that the phrase stands for: every alternative once, with and without what is optional."""
    found: set[str] = set()
    blank = " " if language.is_spaced else ""
    for choice in range(1 + max(group.count("|") for group in [*re.findall(r"\([^()]*\)", phrase), ""])):
        for optional in (False, True):
            for gap in ("", "mio"):
                words = [gap if word == "..." else word for word in _BLANKS.split(phrase) if word != "$"]
                found.add(blank.join(filter(None, (_written(word, choice, optional=optional) for word in words))))
    return sorted(found)


def _all_instances(name: str, kind: Kind) -> list[str]:
    language = LANGUAGES[name]
    return [sentence for phrase in language.phrases[kind] for sentence in _instances(phrase, language)]


def _is_found(sentence: str, kind: Kind, name: str) -> bool:
    said = sentence.lower()
    return finds(kind, frozenset(row for row in rows_of(said) if row.language == name), said)


def test_the_ten_languages_have_phrases_of_each_kind() -> None:
    assert sorted(LANGUAGES) == ["de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"]
    assert all(language.phrases[kind] for language in LANGUAGES.values() for kind in VERDICTS)


@pytest.mark.parametrize("name", LANGUAGES)
def test_phrases_hold_the_documented_signs_only(name: str) -> None:
    language = LANGUAGES[name]
    written = [phrase for phrases in (*language.phrases.values(), language.showing) for phrase in phrases]
    assert [phrase for phrase in written if not _SIGNS.fullmatch(phrase)] == []


def test_instances_of_a_phrase() -> None:
    assert _instances("(a|b c)? d* ... (e|f)g $", LANGUAGES["en"]) == [
        "a daba eg", "a daba mio eg", "b c daba fg", "b c daba mio fg", "daba eg", "daba fg", "daba mio eg", "daba mio fg",
    ]  # fmt: skip
    assert _instances("例(は)? $", LANGUAGES["ja"]) == ["例", "例は"]


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_each_phrase_is_found_as_its_kind(name: str, kind: Kind) -> None:
    missed = [
        sentence
        for one in _all_instances(name, kind)
        for sentence in (one, f"{one.capitalize()}:")
        if not _is_found(sentence, kind, name)
    ]
    assert missed == []


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_the_kind_decides_what_the_sentence_says_of_the_call(name: str, kind: Kind) -> None:
    sentences = [sentence for sentence in _all_instances(name, kind) if sentence not in AMBIGUOUS]
    assert {sentence: kind_of(sentence) for sentence in sentences} == dict.fromkeys(sentences, VERDICTS[kind])
    assert [sentence for sentence in sentences if names_answer(sentence) is not (kind == "answer")] == []


@pytest.mark.parametrize("name", LANGUAGES)
def test_an_article_may_stand_before_a_label_and_a_number_behind_it(name: str) -> None:
    blank = " " if LANGUAGES[name].is_spaced else ""
    labels = _all_instances(name, "label")
    sentences = [f"{article}{blank}{label}:" for article in LANGUAGES[name].article for label in labels]
    sentences += [f"**{label} 2:**" for label in labels]
    assert [sentence for sentence in sentences if kind_of(sentence) != "strict"] == []
    assert [label for label in labels if kind_of(f"{label} 17 Oslo") == "strict"] == []


@pytest.mark.parametrize("name", LANGUAGES)
def test_no_announcement_is_taken_for_another_kind(name: str) -> None:
    for sentence in _all_instances(name, "announcement"):
        rows = rows_of(sentence.lower())
        assert [kind for kind in VERDICTS if finds(kind, rows, sentence.lower())] == ["announcement"], sentence


@pytest.mark.parametrize("name", LANGUAGES)
def test_an_announcement_with_a_verb_of_showing_announces_nothing(name: str) -> None:
    language = LANGUAGES[name]
    announced, blank = _all_instances(name, "announcement")[0], " " if language.is_spaced else ""
    for verb in _instances(language.showing[0], language):
        words = (verb, announced) if name in _VERB_LAST else (announced, verb)
        assert not _is_found(blank.join(words), "announcement", name), words


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_sentence_of_many_words_costs_linear_time(name: str) -> None:
    language = LANGUAGES[name]
    units = [_instances(phrase, language)[0].split() for kind in VERDICTS for phrase in language.phrases[kind]]

    def judge(size: int) -> None:
        for words in units:
            kind_of.__wrapped__(" ".join((words * size)[:size]))

    judge(1)  # compiles the expressions
    assert_linear(judge, _WORDS // 4)
