"""What the place of a call makes of it: meant, doubtful, or only shown.

One place decides it for every dialect. A call in a quotation, in an element or a block of code, or behind words that introduce
an example is shown: content, and a near miss that says why. One that may be meant and is risky is a guess. Most calls stand
behind no words at all or behind an announcement, and cost a look at the sentence before.

Two facts decide beside the place. How a form is written: nobody types special tokens (`token`), tags and fences are typed in
documentation too (`tag`), and a form without any marker (`bare`) is least certain. And what stands behind the call, where that
matters: the partner of a quotation mark, the closer of an element, words on its line. A `Standing` names what must be looked for;
the walk waits for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from llmcore.normalizer.scanning.source import Source, Steps, skip_space
from llmcore.normalizer.scanning.words import FACES, OWN_SIGNS
from llmcore.normalizer.trust.lead_ins import LeadIn, kind_of, sentence_before
from llmcore.normalizer.trust.line_signs import is_sign
from llmcore.normalizer.trust.lines_of_code import in_line_of_code
from llmcore.normalizer.trust.listed_calls import goes_on_as_list
from llmcore.normalizer.trust.told_results import told_as_result
from llmcore.types.late import late

__all__ = [
    "CERTAIN",
    "LED_IN",
    "MARKS",
    "Form",
    "Quotation",
    "Standing",
    "Surroundings",
    "ends_sentence",
    "form_of",
    "has_words",
    "is_certain",
    "is_closed",
    "is_remark",
    "prose_follows",
    "words_follow",
]

Form = Literal["token", "tag", "bare"]
_TOKENS = ("<|", "<｜", "<‖", "]<]", "[TOOL_CALLS]", *OWN_SIGNS)
_WORD = re.compile(r"\w")
_PARAGRAPH = 2048
"""Characters before a call in which a quotation may have begun, and behind it in which it may end."""
_PARTNERS = {
    '"': '"', "'": "'", "“": "”", "”": "”", "„": '“”"', "‘": "’", "‚": "‘’", "«": "»", "»": "«»", "‹": "›", "›": "‹›",
    "「": "」", "『": "』", "《": "》", "〈": "〉",
}  # fmt: skip
_TRIPLES = ("'''", '"""')
_MARK = late('["“”„‘’‚«»‹›「」『』《》〈〉]')
_UNSPACED = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
"""Letters and signs of languages that put no space before a quotation mark."""
_UNSPACED_LETTER = late(f"[{_UNSPACED}]")
_OPENS_QUOTATION = late(rf"[\s(\[{{<>=:,;/|*_—–{_UNSPACED}-]")
_CODE = late(
    r"(?P<run>`{3,}|~{3,}).*?(?:(?P=run)|\Z)|`[^`\n]+`|(?P<comment><!--)|(?P<over>-->)"
    r"|\\(?:begin|(?P<ends>end))\{(?P<verbatim>verbatim|lstlisting|minted|alltt)\*?\}"
    r"|<(?P<closes>/?)(?P<name>code|pre|kbd|samp|tt|xmp|listing|plaintext|noscript|textarea|script|blockquote|q|template|"
    r"(?:[a-z]+[_-])?(?:examples?|samples?)(?:[_-][a-z]+)?|transcripts?|quot(?:e|ed|ation)|illustration|documentation)\b[^<>]{0,256}>",
    re.IGNORECASE | re.DOTALL,
)
_CODE_SIGNS = [(sign[0], sign) for sign in ("<", "`", "~~~", "\\begin{")] + [(">", "-->")]
_COMMENT = "!--"
_CLOSERS = {_COMMENT: "-->"} | {name: rf"\end{{{name}" for name in ("verbatim", "lstlisting", "minted", "alltt")}
"""Of what is no element: a comment, the environments of LaTeX for code."""
_BLANKS = (" ", "\t")
_SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "：")
_REMARK = late(r"[ \t]*[^\W_]+(?:['’-][^\W_]+)*(?:,?[ \t]+[^\W_]+(?:['’-][^\W_]+)*)?[.!…。！]{1,3}[\"'”’»)*_`]*[ \t\r]*")
"""A sentence of one word or two, to its line's end."""
_CLOSES_SENTENCE = ")\"'”’»`*_ \t\r\n"
_HEADERS = ("to=", "assistant", "commentary", "analysis")
"""What a header of Harmony's begins with whose tokens are lost: no words of a sentence."""
_ENDED = late(
    r"""(?:(?:[^\W\d_]{2}|[)\]])[.!?…。！？]{1,3}["'”’»)*_]{0,4}|"""
    rf"""[^\W\d_]["'”’»)*_.!?…:。！？：]{{0,4}}[ \t]*[{FACES}]{{1,8}})[ \t]*\Z"""
)
_SENTENCE_END = 64  # characters: so far back the last word, what closes it and a face behind it stand
_ONLY_OPENERS = late(r"\s*(?:(?:<[A-Za-z][\w-]*+[^<>]{0,256}>|\\begin\{[a-z]{1,16}\*?\}(?:[\[{][^\]}\n]{0,99}[\]}])*)\s*)+\Z")
_LIST_SIGN = late(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_CLOSING_MARK = {mark: late(rf"(?<![\s({{\[:,]){mark}(?=[\s.;!?)…{_UNSPACED}]|,\s{{1,8}}(?:\w|\Z)|\Z)") for mark in "\"'’"}
_LONGEST_CLOSER = 16
_ENDS_SECTION = (">", "]", "}")
_DEEP = 4
MARKS = frozenset(f"<[]{OWN_SIGNS}")
"""What markers begin with."""
_REST_OF_LINE = 256
_LINE = 512  # characters of the lines above that are looked at


@dataclass(frozen=True, slots=True)
class Quotation:
    """What has been opened before a call and, if it is closed behind it, makes it a quotation. `closers`: any of them; `direct`:
    only right behind the call; `within`: the stretch in which it may stand; `needs_words`: only with words behind it as well."""

    closers: tuple[str, ...]
    direct: bool = False
    within: Literal["paragraph", "text"] = "paragraph"
    needs_words: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What the text before a call makes of it. `shown`: a near miss's reason. `doubt`: the kind of a guess, `words` those that
    cause it. `quotation`: what to look for behind. `in_line`: words stand before it on its line."""

    shown: str = ""
    doubt: str = ""
    words: str = ""
    quotation: Quotation | None = None
    in_line: bool = False
    behind_sentence: bool = False
    """A sentence ends right before it on its line: a remark of a word or two (`Done.`) is no text behind it."""
    deep: bool = False
    """Indented like code; a bare form is shown if prose at the margin follows."""

    def decided(self) -> Standing:
        """What is left of it when the rest of its line has been looked at and what was opened before it."""
        return Standing(doubt=self.doubt, words=self.words)


CERTAIN = Standing()
LED_IN = "example_lead_in"
"""The doubt about a call behind words that may introduce an example."""
_IN_LINE = {ended: Standing(in_line=True, behind_sentence=ended) for ended in (False, True)}
"""By whether the sentence before it is over."""
_IN_TABLE = Standing(quotation=Quotation(("|",)), in_line=True)
_BEHIND_A_RESULT = Standing(doubt="after_invented_result")
_QUOTED, _EXAMPLE = Standing(shown="quoted"), Standing(shown="example")


def form_of(opener: str) -> Form:
    """How a form with this opener is written, if it has a marker."""
    return "token" if opener.startswith(_TOKENS) else "tag"


def has_words(text: str) -> bool:
    return _WORD.search(text) is not None


def ends_sentence(before: str) -> bool:
    """Does this beginning of a line end with a sentence? A number and a point are a list's sign."""
    said = before.rstrip(" \t")
    return _ENDED.search(said, max(0, len(said) - _SENTENCE_END)) is not None


def words_follow(text: str, at: int) -> bool | None:
    """Do words stand behind a call on its line? None: the text's end, or a marker, must tell."""
    for char in text[at : at + _REST_OF_LINE]:
        if char == "\n":
            return False
        if char.isalnum():
            return True
        if char in MARKS:
            return None
    return None if len(text) - at > _REST_OF_LINE else False


def is_remark(said: str) -> bool:
    """Is this rest of a line a sentence of a word or two, and nothing more?"""
    return _REMARK.fullmatch(said) is not None


def is_certain(standing: Standing, text: str, end: int) -> bool:
    """Is a call that ends at `end` meant, whatever else follows its line?"""
    return standing is CERTAIN or (standing in _IN_LINE.values() and words_follow(text, end) is False)


def is_closed(src: Source, quotation: Quotation, start: int) -> Steps[bool]:
    """Is what was opened before a call closed behind it? The call ends at `start`. A mark that closes it right behind a call may
    stand behind a section of them: behind the last call, or the closer of what holds it."""
    if (yield from _is_closed(src, quotation, start)):
        return True
    if not quotation.direct or (behind := src.text[(yield from skip_space(src, start)) :][:1]) not in MARKS or not behind:
        return False
    closers = tuple(end + mark for mark in quotation.closers for end in _ENDS_SECTION)
    return (yield from _is_closed(src, replace(quotation, closers=closers, direct=False), start))


def _is_closed(src: Source, quotation: Quotation, start: int) -> Steps[bool]:
    sought = start
    while True:
        text = src.text
        farthest = start + _PARAGRAPH if quotation.within == "paragraph" else len(text) + 1
        over = text.find("\n\n", max(start, sought - 1), farthest) if quotation.within == "paragraph" else -1
        if over < 0 and len(text) >= farthest:
            over = farthest
        stop = len(text) if over < 0 else over
        told = stop if over >= 0 or src.final else stop - _LONGEST_CLOSER  # what may be a partner depends on what follows it
        reach = min(told, start + 1) if quotation.direct else told
        within = reach + _LONGEST_CLOSER if over < 0 else over  # what follows in another paragraph is not looked at
        closed = min((hit for one in quotation.closers if (hit := _partner(src, one, sought, reach, within)) >= 0), default=-1)
        if closed >= 0 and (not quotation.needs_words or has_words(text[closed + 1 : stop])):
            return True
        if over >= 0 or src.final or (quotation.direct and closed < 0 and reach > start):
            return False
        sought = max(start, closed if closed >= 0 else reach - _LONGEST_CLOSER)
        del text
        yield None


def _partner(src: Source, closer: str, start: int, stop: int, within: int) -> int:
    """Where the partner of an opened quotation stands: a quotation mark that does not belong to JSON, as what follows tells up to
    `within`, or a closing tag."""
    if closer in _TRIPLES:
        return start if src.text.startswith(closer, start) else -1
    if (mark := _CLOSING_MARK.get(closer)) is not None:
        found = mark.search(src.text, start, within)
        return -1 if found is None or found.start() >= stop else found.start()
    if len(closer) == 1:
        return src.text.find(closer, start, stop)
    tag = _closing_tag(closer)
    if src.absent.get(tag, start + 1) <= start:
        return -1
    found = tag.search(src.text, start, stop)
    at = -1 if found is None else found.start()
    if at < 0 and src.final and stop == len(src.text):  # a flood of calls behind one opener seeks it once
        src.absent[tag] = start
    return at


@cache
def _closing_tag(closer: str) -> re.Pattern[str]:
    return re.compile(re.escape(closer), re.IGNORECASE)


def prose_follows(src: Source, start: int) -> Steps[bool]:
    """Do words at the margin follow what is indented and ends at `start`, a line break between?"""
    line = src.text.find("\n", start)
    while line < 0 and not src.final:
        yield None
        line = src.text.find("\n", start)
    if line < 0:
        return False
    while True:
        rest = src.text[line : line + _LINE]
        words = rest.lstrip()
        if words or src.final or len(rest) == _LINE:
            indent = rest[: len(rest) - len(words)]
            return words.lstrip("*_#-+ ")[:1].isalnum() and _columns(indent[indent.rfind("\n") + 1 :]) < _DEEP
        yield None


class Surroundings:
    """Judges places in one text, from left to right. `names`: the tools told; an element of such a name is no code."""

    __slots__ = ("_depths", "_names", "_open", "_scanned", "_shown_to")

    def __init__(self, names: frozenset[str] | None) -> None:
        self._names = names or frozenset[str]()
        self._scanned = 0
        self._open: list[str] = []  # names of elements of code, the outermost first,
        self._depths: dict[str, int] = {}  # and how many of each
        self._shown_to: tuple[int, str] = (-1, "")

    def shown(self, end: int, reason: str) -> None:
        """A call that ends here was only shown: so is one right behind it."""
        self._shown_to = (end, reason)

    def standing(self, text: str, at: int, start: int, line: int, form: Form, *, fenced: bool = False) -> Standing:
        """What stands before `at` makes of a call there. `start`: where the text begins that no call or markup has
        interrupted; `line`: where its line begins; `fenced`: all of a fence is the call."""
        if at == line and text[at : at + 1] in _BLANKS:
            at += len(text[at : at + _LINE]) - len(text[at : at + _LINE].lstrip(" \t"))
        shown_to, reason = self._shown_to
        if shown_to >= start and _shows_too(reason, text[shown_to:at]):
            return Standing(shown=reason)
        if (enclosed := self._enclosed(text, at, start, line)) is not None:
            return enclosed
        before = text[max(start, line, at - _PARAGRAPH) : at]
        if in_line_of_code(text, line, before):
            return _QUOTED
        if as_result := told_as_result(text, at, start):
            return _QUOTED if as_result == "held" else _BEHIND_A_RESULT
        if before and before.lstrip(" \t").startswith("|"):
            return _IN_TABLE
        quotation = _open_quotation(text, at, start) if form != "token" else None
        sentence = sentence_before(text, start, at)
        kind = kind_of(sentence)
        if kind is not None and (kind == "strict" or form != "token" or fenced):
            led = _led_in(kind, form, sentence, fenced=fenced)
            return led if led.shown or quotation is None else replace(led, quotation=quotation)
        if quotation is not None:
            return Standing(quotation=quotation, in_line=form == "tag")
        if form != "token" and not fenced and _is_deep(text, at, start, line):
            return _EXAMPLE if form == "tag" else Standing(deep=True)
        if not before or form == "token":
            return CERTAIN
        if form == "bare" and is_sign(before):
            return Standing(doubt="behind_a_sign", words=before.strip())
        if not has_words(before):
            return CERTAIN
        if form == "tag":
            return _IN_LINE[before.rstrip(_CLOSES_SENTENCE).endswith(_SENTENCE_ENDS)]
        if ends_sentence(before) and not text.startswith(_HEADERS, at + (text[at : at + 1] == " ")):
            return Standing(doubt="behind_a_sentence", words=sentence)
        return CERTAIN

    def within_code(self, text: str, at: int, line: int) -> Standing:
        """As `standing`, where nothing but an element of code decides."""
        return self._enclosed(text, at, 0, line) or CERTAIN

    def _enclosed(self, text: str, at: int, start: int, line: int) -> Standing | None:
        """Is an element of code open at `at`?"""
        if start > self._scanned:
            self._open.clear()
            self._depths.clear()
            self._scanned = start
        before = text[self._scanned : at]
        for mark, sign in _CODE_SIGNS:  # a look at each costs less than one by the expression, and least for a character
            if mark in before and sign in before:
                self._scan(text, at)
                break
        if at > self._scanned:
            self._scanned = at
        if not self._open:
            return None
        first = max(start, line - _LINE)
        above = text[max(first, text.rfind("\n", first, max(first, line - 1)) + 1) : line]
        if _ONLY_OPENERS.match(above) is not None and not text[line:at].strip():
            return _QUOTED
        closers = tuple(_CLOSERS.get(name) or f"</{name}>" for name, depth in self._depths.items() if depth)
        return Standing(quotation=Quotation(closers, within="text"))

    def _scan(self, text: str, at: int) -> None:
        """Open and close the elements of code up to `at`."""
        for found in _CODE.finditer(text, self._scanned, at):
            name = _COMMENT if found["comment"] or found["over"] else (found["name"] or found["verbatim"] or "").lower()
            if not name or name in self._names:
                continue
            if not (found["closes"] or found["over"] or found["ends"]):
                self._open.append(name)
                self._depths[name] = self._depths.get(name, 0) + 1
            elif self._depths.get(name, 0) > 0:
                closed = ""
                while closed != name:
                    closed = self._open.pop()
                    self._depths[closed] -= 1


def _shows_too(reason: str, between: str) -> bool:
    """Is a call only shown for what made the one before it an example, or for standing right behind one that is quoted?"""
    return goes_on_as_list(between) if reason == _EXAMPLE.shown else not between.strip(" \t\r\n,;")


def _open_quotation(text: str, at: int, start: int) -> Quotation | None:
    """A quotation that has begun in the paragraph and is still open at `at`."""
    begin = max(start, at - _PARAGRAPH)
    blank = text.rfind("\n\n", begin, at)
    begin = begin if blank < 0 else blank + 2
    if begin == at:
        return None
    if (triple := text[at - 3 : at]) in _TRIPLES and at - 3 >= begin:
        return Quotation((triple,), direct=True, needs_words=not has_words(text[begin : at - 3]))
    if text[at - 1] == "'" and (at - 1 == begin or _OPENS_QUOTATION.match(text, at - 2)):
        return Quotation(("'",), direct=True, needs_words=not has_words(text[begin : at - 1]))
    opened, closers = -1, ""
    for mark in _MARK.finditer(text, begin, at):
        char, where = mark[0], mark.start()
        if opened >= 0 and char in closers:
            opened = -1
        elif opened < 0 and char in _PARTNERS and _begins_quotation(text, where, begin, at):
            opened, closers = where, _PARTNERS[char]
    if opened < 0:
        return None
    return Quotation(tuple(closers), needs_words=not has_words(text[begin:opened]))


def _begins_quotation(text: str, mark: int, begin: int, at: int) -> bool:
    """Does a quotation mark stand at the start of a word?"""
    behind_space = mark == begin or _OPENS_QUOTATION.match(text, mark - 1) is not None or text[mark] in "„‚「『《〈"
    return behind_space and (
        mark + 1 == at or not text[mark + 1].isspace() or text[mark] in "“„«‹「『《〈"
    )  # French puts a space behind it


def _led_in(kind: LeadIn, form: Form, sentence: str, *, fenced: bool) -> Standing:
    """What a lead-in of this kind makes of a form."""
    if kind != "question" and (fenced or (kind == "strict" and form != "token")):
        return _EXAMPLE
    return Standing(doubt=LED_IN, words=sentence)


def _is_deep(text: str, at: int, start: int, line: int) -> bool:
    """Is the line indented as code is: deeper than the prose above, a blank line between?"""
    if line <= start or line == at or text[line:at].strip():
        return False
    first = max(start, line - _LINE)
    above, columns = text[first:line].rstrip(" \t\r\n"), _columns(text[line:at])
    blank = text.count("\n", first + len(above), line) > 1
    last = above[above.rfind("\n") + 1 :]
    while above and columns and _LIST_SIGN.match(last) is None and _columns(_indent(last)) >= columns:  # words of the same block
        rest = above[: -len(last)].rstrip(" \t\r\n")
        blank, above = "\n\n" in above[len(rest) : len(above) - len(last)].replace("\r", ""), rest
        last = above[above.rfind("\n") + 1 :]
    if not above or not blank:
        return False
    sign = _LIST_SIGN.match(last)
    margin = _columns(last[: sign.end()] if sign is not None else _indent(last))
    return columns >= margin + _DEEP


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_DEEP))
