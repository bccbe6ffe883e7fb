"""The words right behind a value: do they take it back?

What counts is how the first sentence behind the value begins, interjections apart, and marks that strike the value out. The
tables are by language; a new way to take something back is one more entry. A sentence with an `if` only offers to change
something (`I will redo it if you like`), and one about something else (`Nothing else is wrong.`) begins with other words.
"""

from __future__ import annotations

import re
from itertools import islice

from llmcore.types.late import late
from llmcore.types.retraction_words import HESITATIONS, INTERJECTIONS, NOES, REPLACING, any_of
from llmcore.validator.output.retraction_sentences import BEGINNINGS, ENDS, VALUE, VERDICTS
from llmcore.validator.output.said_before import may_be_of_the_next

__all__ = [
    "HESITATION",
    "INSTEAD",
    "NO",
    "PAUSE",
    "RETRACTING",
    "retracts_either",
    "struck_until",
    "taken_back",
    "takes_something_back",
]

_FLAGS = re.IGNORECASE | re.VERBOSE
_LOOKED_AT = 160

NO = f"(?:{any_of(NOES)}|{any_of(INTERJECTIONS)})"
HESITATION = f"(?:{any_of(HESITATIONS)})"
INSTEAD = f"(?:{any_of(REPLACING)})"
_STOP = r"""(?: wait | hold\son | hang\son | hm+ | warte | halt | moment | attends | attendez | espera | espere | aspetta
            | aspetti | стой
    | подожди(?:те)? | погоди(?:те)? | 等等 | 等一下 | 待って | 잠깐 )"""
PAUSE = r"[\s,.!:;\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]"
RETRACTING = rf"""(?: (?:{HESITATION}{PAUSE}+){{1,3}} {NO} | {NO}{PAUSE}+{_STOP} | (?:{any_of(INTERJECTIONS)}){PAUSE}+{NO}
    | o+ps | whoops | hoppla | oups | or\srather | 应该是 )"""
"""Words with which somebody takes back what they have just said. `No` alone says less, and so does `wait`."""

# --- in the same sentence ---------------------------------------------------------------------------------------------

_TAKEN_BACK = late(
    r"""[\s)\]"'`*_]{0,8}+ (?:
        ,? \s* (?:(?:which|that)\s+)? (?: (?:is|was|are|were|would\sbe|ist|war|est|es|está|è|era|é) \s+ (?:\w+\s+)?
            (?: not | no\slonger | wrong | incorrect | invalid | outdated | obsolete | superseded | false | mistaken
              | falsch | nicht | faux | pas | incorrect[oa] | equivocad[oa] | sbagliat[oa] | errat[oa] | errad[oa]
            | incorret[oa] )
          | (?:is|was|are|were)n['\u2019]t | cannot | can['\u2019]t )
      | (?<!\n)(?:before|previously|formerly|earlier|until\snow|at\sfirst)
        (?= \s*(?:[.,;!?)\u2014-]|\n|\Z) | \s(?:but|and|now|though|however)\b )
    ) \b
      | 是?(?:错误|不对|不正确)
    """,
    _FLAGS,
)
_MARKS = re.compile(
    r"""[ \t)\]"'`*_]{0,8} (?:
        \s*</(?:del|strike)\s*> | ~~(?!~) | [\u274c\u274e\u2716\u2717\u2718\U0001f6ab\U0001f44e]
            | \s*[\u274c\u274e\u2717\u2718]\s*\Z
      | \s* (?: // | \# | -- | /\* | <!-+ | <-+ | \u2190 | [(\[] ) \s* (?:this\sis\s|that\sis\s|is\s)?
        (?: old | previous | wrong | incorrect | invalid | outdated | obsolete | not | rejected | retracted | example
            | false | mistake
          | nope | falsch | alt | faux | erreur | incorrecto | sbagliato | errado | неверно | ошибка | 错误 | 错了 | 間違い
            | 틀림 ) \b
    )""",
    _FLAGS,
)
"""A value that is struck out, or that a comment calls wrong."""

# --- as the next sentence ---------------------------------------------------------------------------------------------

_OPENERS = rf"""(?: (?: {HESITATION}(?!\w) [\s,.;:!?\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]*
    | (?:o+ps|whoops|no|nope|nein|non|nee|não|нет|ой|不|いや|아니요?) [,.;:!?\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]+ \s*
    | (?:but|and|so|please|however|ok|okay|yes|though|just|or|also|now|note|attention|aber|bitte|doch|mais|pero|por\sfavor|ma
            |mas|per\sfavore
        |s['\u2019]il\s(?:te|vous)\spla[iî]t|но|а|пожалуйста|but\salso) (?!\w) [\s,:]*
    | (?:I|we)\s(?:think|believe|see|fear|(?:just\s)?(?:notice|realiz|realis)ed?)(?:\snow)?(?:\sthat)? \s
    | 请 | 請 | 但是? | 其实 | でも )){{0,4}}"""
_IF = r"""(?! [^.!?\n]{0,60} \b (?:if|unless|in\scase|should\syou|falls|wenn|если) \b )"""
_OTHER = r"""(?:-?[$\u20ac\u00a3]?\d[\d.,]*%?|true|false|null|["\u201c][^"\u201d\n]{0,60}["\u201d])
    \s* (?:です|でした|입니다|이에요|예요)? (?:[.!]\s|[.!\u3002]?\s*(?:\Z|\n)|\u3002)"""
_BEHIND = r"""[\s)\]"'`*_.~(,;>\u2013\u2014\u3002\uff0c-]{0,12}+(?:</\w{1,20}>\s{0,8})?"""
_SECOND_THOUGHT = late(
    rf"""{_BEHIND} (?:
        {_OPENERS} {_IF} (?: (?: {"|".join(VERDICTS.values())} ) {ENDS} | {"|".join(BEGINNINGS.values())} )
      | {RETRACTING} (?={PAUSE}|\Z)
      | {_OPENERS} (?: (?:{any_of(INTERJECTIONS)}) (?=\s*[,.!\u2013\u2014\u2026\u3001\u3002\uff01\uff0c-]|[ \t]*\n|\s*\Z)
            | (?:{any_of(NOES)}) (?=\s*[!\u2013\u2014\u2026\u3002\uff01]|\s*\.(?!\s?(?:of\b|\d))|[ \t]*\n|\s*\Z)
            | {INSTEAD} [,:\uff0c\u3001]?\s* (?:{VALUE}|[.!\u2026\u3002]|\Z) )
      | (?:(?:{HESITATION}|{NO}|{INSTEAD}|instead){PAUSE}+){{1,3}} {_OTHER}
      | (?: but | actually | rather | instead | (?:(?:{HESITATION}|{NO}){PAUSE}+){{1,3}} ) [,:]?\s*
            (?:I\s(?:think|believe)\s)? (?:it|that|the\s(?:right|correct
            |real|actual|true)\s\w+)
        (?:['\u2019]s|\sis|\sshould\sbe)\s (?:{VALUE}|(?=really|actually))
      | {_STOP} [\s.!?\u2026]*\Z
    )""",
    _FLAGS,
)
"""What follows a value at once, or as the next sentence."""


_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f]?(?=\s{0,8}\n)|[.!?](?=\s)|[\u3002\uff01\uff1f]")
_MOST_SENTENCES = 50
_ENDED = re.compile(r"[.!?\u2026](?=\s)|[.!?\u2026\u3002\uff01\uff1f\n]")
_BETWEEN = " \t\r\n)]\"'`*_.~(,;>\u2013\u2014\u3002\uff0c-"
_DECORATION = " \t\r\n*_>#([\"'`~"


def taken_back(text: str, end: int, following: int | None = None) -> bool:
    """Do the words right behind a value say that it is none? `{"a": 1} is wrong`, `{"a": 1}. Wait, that is wrong`.
    `following`: where the next value begins, of which they may speak instead."""
    until = min(len(text), end + _LOOKED_AT)
    if text[end:until].lstrip(" \t\r\n,")[:1] in ("", "{"):
        return False
    if any(words.match(text, end, until) is not None for words in (_TAKEN_BACK, _MARKS)):
        return True
    return _SECOND_THOUGHT.match(text, end, until) is not None and not _is_of_the_next(text, end, following)


def retracts_either(text: str, end: int, following: int) -> bool:
    """Do the words between two values take one of them back, and do not tell which? `{1}. My first answer was wrong: {2}`"""
    if not _is_of_the_next(text, end, following):
        return False
    return _SECOND_THOUGHT.match(text, end, min(len(text), end + _LOOKED_AT)) is not None


def _is_of_the_next(text: str, end: int, following: int | None) -> bool:
    """May the sentence behind a value speak of the next one, to which it leads without an end?"""
    if following is None or following - end > _LOOKED_AT:
        return False
    said = text[end:following].lstrip(_BETWEEN).rstrip(_DECORATION)
    return bool(said) and _ENDED.search(said) is None and may_be_of_the_next(said)


def takes_something_back(text: str) -> bool:
    """Does a sentence of the text take back what a sentence before it says? Looked for behind the first sentences."""
    ends = islice(_SENTENCE_ENDS.finditer(text), _MOST_SENTENCES)
    return any(taken_back(text, end.start()) for end in ends)


def struck_until(text: str, end: int) -> int:
    """Where a mark ends that strikes out the value which ends at `end`; `end` where there is none."""
    mark = _MARKS.match(text, end, min(len(text), end + _LOOKED_AT))
    return mark.end() if mark else end
