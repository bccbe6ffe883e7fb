"""What one turn proves of an endpoint by contrast: it refused or ignored one request, and answered another for the same.
So what only the first one sent is what it does not take, whatever words it found for that. The same words (and status) again are
of the same cause: what one of the requests that they refused did not hold is innocent. Of refusals in several words that is the
least that explains them all. Where several parts are left that may be it, none is learnt: they are doubted, and told apart by
requests of this turn or another (`comparing`). Where the words are those of an earlier run, and the request was answered only
without several parts, all of them are learnt, until they are tried again: no run after that is refused for them.

What is known to work, by a table or since it was seen, is not lost by one such refusal: that is a doubt, which the same words
confirm when they refuse it in another turn, unless it was answered meanwhile. Nothing is learnt from a refusal that speaks of a
schema: another schema may do. So may another prompt where no prompt could be made of this one, unless the words name the part of
it that the mode sends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.capabilities.facts import same_words
from llmcore.adapters.litellm.error_facts import SERVERS_WORDS
from llmcore.adapters.litellm.fields import in_our_names
from llmcore.adapters.litellm.named_tools import names_one_tool, offered_names, without_tool_names
from llmcore.adapters.litellm.passing_words import says_it_passes
from llmcore.adapters.litellm.quotations import own_words
from llmcore.adapters.litellm.refusals import CANNOT_BE_MADE, NO_PROMPT, is_within_a_schema, speaks_of_a_part
from llmcore.adapters.litellm.refused_parameters import is_of_a_value
from llmcore.adapters.litellm.refused_parts import is_of_one_image, parts_named
from llmcore.adapters.litellm.suspects import listed_in, named_in
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.additions import additions
from llmcore.run.comparing import Refusal, compare
from llmcore.run.parts import IMAGES, LEARNT_AS, asked_for, left_out_of_any, parts_of
from llmcore.types import RemoteServerError, RequestRefused

__all__ = ["IGNORED", "Contrast", "Doubt", "Proof"]

_Place = tuple[str, str]
"""An alias, and the name of a deployment."""
_OF_A_SCHEMA = re.compile(r"\binvalid (?:json )?schema\b|\bschema for (?:function|response_format)\b|\bgrammar could not\b")
_FAULT = 500
_SAYS_NOTHING = re.compile(
    r"(?:\W|\d|an?\b|the|and|error|exception|fault|internal|no|occurred|server|something|unexpected|went|words|wrong)*"
)
"""Words of which a server's "Internal Server Error" is made."""
IGNORED = "words in place of what was required"
"""By these it is filed that a place ignored what it is known to heed, as a refusal by its own words."""
_NEVER_AT_ONCE = frozenset({"tool_results", IMAGES})
"""What may be refused for what it holds: that is never learnt from one refusal."""


class Doubt(NamedTuple):
    """One of these a refused request held and the endpoint does not take, and the words that refused it."""

    capabilities: Sequence[str]
    words: str


class Proof(NamedTuple):
    """What a place is now known to lack, and what is doubted of it. `met`: in which words it refused what it lacks; `left_out`:
    what the requests that it refused in words of an earlier run held and the one that was answered did not; `on_purpose`: of that
    what was left out in order to compare."""

    lacks: list[str]
    met: list[Doubt]
    doubts: list[Doubt]
    left_out: set[str]
    on_purpose: set[str]


class Contrast:
    """What was refused or ignored in this turn, until an answer in another mode proves it."""

    def __init__(self) -> None:
        self._refused: dict[_Place, list[Refusal]] = {}
        self._ignored: dict[_Place, tuple[str, bool]] = {}  # what of its request, and whether it is known to heed that
        self._fault: tuple[_Place, str, str] | None = None  # the last one: where, in which words, in which mode

    def __bool__(self) -> bool:
        """Was anything refused or ignored?"""
        return bool(self._refused or self._ignored)

    def refused(
        self,
        place: _Place,
        call: ModelCall,
        can: Capabilities,
        error: BaseException,
        *,
        without: frozenset[str] = frozenset(),
        doubted: Callable[[str], Collection[str]] = lambda words: (),
        may_compare: bool = True,
        again: bool = False,
    ) -> None:
        """A request failed; a refusal that was not understood is kept in mind, and told what may be left out to understand it.

        `without`: what was left out of the request in order to compare. `doubted`: what was doubted before in the same words.
        `again`: it was not sent, since it would have been the one that was refused before.
        """
        times = self._faults(place, call, error)
        is_same = times > 0 or getattr(error, "unexplained", False)
        is_answered = again or getattr(error, "status", None) is not None
        is_refusal = isinstance(error, RequestRefused) and is_answered and not _is_of_a_schema(error, call)
        if not (is_same or is_refusal):
            return
        words = _own_words(error, call)
        asked = _suspects(call, can, words)
        if says_it_passes(words) or _is_of_one(words, call) or _names_one_tool(error, call, can):
            asked = []
        held: list[str] = []
        if isinstance(error, RequestRefused):
            error.named = named_in(words, call, can)
            error.listed = listed_in(words, error.named, call, can)
            most = () if is_of_a_value(words) else left_out_of_any(call, can)
            held = list(dict.fromkeys((*error.named, *additions(call, can), *most)))
        mine = {name for name in (*asked, *held) if name in held or _is_open(name, asked, can)}
        if _is_of_any_prompt(words, error, call):
            mine.clear()
        parts = parts_of(call, can)
        fixed = [IMAGES] if IMAGES in parts and IMAGES not in (*asked, *held) and not is_of_one_image(words) else []
        refusals = self._refused.setdefault(place, [])
        key = same_words(words)
        refusals.append(
            Refusal(
                key,
                words,
                call.mode,
                (*asked, *held, *fixed),
                parts=frozenset(parts).union(held),
                open=frozenset(mine),
                said=_named_parts(words).union(getattr(error, "named", ())),
                named=frozenset(getattr(error, "named", ())),
                listed=frozenset(getattr(error, "listed", ())),
                without=without,
                doubted=(known := frozenset(doubted(words))),
                is_known=bool(known),
                times=0 if again else max(times, 1),
            )
        )
        if isinstance(error, RequestRefused):
            same = [one for one in refusals if one.key == key]
            compare(error, same, held, refusals[-1].doubted, may_compare=may_compare)

    def _faults(self, place: _Place, call: ModelCall, error: BaseException) -> int:
        """How many times in this mode did the server fail (500) in the words that it failed in before, which say more than that?
        A fault that passes seldom does. 0 where it did not fail so before."""
        if not isinstance(error, RemoteServerError) or error.status != _FAULT:
            self._fault = None
            return 0
        words = str(error).partition(SERVERS_WORDS)[2].lower()
        before, self._fault = self._fault, (place, words, call.mode)
        if before is None or before[:2] != (place, words) or _SAYS_NOTHING.fullmatch(words) is not None:
            return 0
        return 1 + (before == self._fault)

    def ignored(self, place: _Place, what: str = "native_tools", *, is_known: bool = False) -> None:
        """Words came where a native call was required (a tool's, or that of the output tool), or a format was asked for beside
        tools. `is_known`: such are known to be given there, by a table or since one was."""
        self._ignored[place] = (what, is_known)

    def proven(
        self, place: _Place, call: ModelCall, can: Capabilities, *, obeyed: bool, without: frozenset[str] = frozenset()
    ) -> Proof:
        """What is now known, or doubted, of the place, since `call` was answered. `obeyed`: by a call, or the typed value;
        `without`: what was left out of it in order to compare."""
        refusals = self._refused.pop(place, [])
        causes, unclear = _explained(refusals, frozenset(parts_of(call, can)))
        at_once = [name for name, refusal in causes if _is_plain(name, refusal, refusals)]
        doubts = [Doubt([name], refusal.words) for name, refusal in causes if name not in at_once]
        found = [*at_once]
        if place in self._ignored and obeyed and call.mode != "native_tools":
            what, is_known = self._ignored.pop(place)
            found += [] if is_known else [what]
            doubts += [Doubt([what], IGNORED)] if is_known else []
        lacks = list(dict.fromkeys(LEARNT_AS.get(name, name) for name in found))
        doubts += [Doubt(names, refusal.words) for names, refusal in unclear]
        met = [Doubt([name], refusal.words) for name, refusal in causes if name in at_once]
        return Proof(lacks, met, doubts, *_left_out(refusals, frozenset(parts_of(call, can)), without))

    def blind(self, answering: _Place) -> list[tuple[_Place, Doubt]]:
        """The places that refused the request in whatever was left out of it, so that nothing is left but its images, since
        another one answered it."""
        found: list[tuple[_Place, Doubt]] = []
        for place, refusals in self._refused.items():
            if place != answering and len({one.key for one in refusals}) == 1 and _common(refusals) == [IMAGES]:
                found.append((place, Doubt([IMAGES], refusals[0].words)))
        return found


def _is_plain(name: str, refusal: Refusal, refusals: Sequence[Refusal]) -> bool:
    """Is it to be believed at once: do the words say it, or was it in two requests that they refused, or did they refuse
    another in an earlier run? One refusal in words that nobody knows may have been a passing thing."""
    again = sum(one.times for one in refusals if one.key == refusal.key and name in one.parts) > 1
    return name in refusal.open and (name in refusal.said or again or refusal.is_known)


def _common(refusals: Sequence[Refusal], taken: Collection[str] = ()) -> list[str]:
    """What each of these refused requests held and may have been refused for; of that what was doubted before in the same words
    (what they name was compared then), and what the words name, if any of it is."""
    first = refusals[0]
    found = [name for name in first.suspects if name not in taken and all(name in one.parts for one in refusals)]
    found = [name for name in found if LEARNT_AS.get(name, name) in first.doubted] or found
    return [name for name in found if name in first.named] or found


def _left_out(refusals: Sequence[Refusal], taken: Collection[str], without: Collection[str]) -> tuple[set[str], set[str]]:
    """What was refused in words of an earlier run held and the request that was taken did not, by the capabilities that it is; of
    that what was left out on purpose (`without`), and was doubted then if any of it was."""
    again = [one for one in refusals if one.is_known]
    held = {LEARNT_AS.get(name, name) for one in again for name in one.parts.difference(taken)}
    suspected = frozenset[str]().union(*(one.doubted or held for one in again))
    return held, held & suspected & {LEARNT_AS.get(name, name) for name in without}


_Explanandum = tuple[list[str], Refusal]


def _explained(refusals: Sequence[Refusal], taken: Collection[str]) -> tuple[list[tuple[str, Refusal]], list[_Explanandum]]:
    """The causes of the refusals, each with one that it explains, and those of which several may be the cause."""
    sets: list[_Explanandum] = []
    is_one_each = True
    for key in dict.fromkeys(one.key for one in refusals):
        same = [one for one in refusals if one.key == key]
        common = _common(same, taken)
        if common:
            listed = same[0].listed.issuperset(common)
            sets += [([name], same[0]) for name in common] if listed else [(common, same[0])]
            continue
        if named := _named(same, taken):
            sets += named
            continue
        if narrowed := _narrowed(same, taken):
            sets += narrowed
            continue
        for mode in dict.fromkeys(one.mode for one in same):  # the same words for several causes
            in_mode = [one for one in same if one.mode == mode]
            common = _common(in_mode, taken)
            is_one_each = is_one_each and bool(common)
            each = [(common, in_mode[0])] if common else [(_common([one], taken), one) for one in in_mode]
            sets += [(names, one) for names, one in each if names]
    return _least(sets, guesses=not is_one_each)


def _named(same: Sequence[Refusal], taken: Collection[str]) -> list[_Explanandum]:
    """What the words name of each of these, where that explains them all: what else they held is innocent, for the same words
    came without it."""
    each = [([name for name in one.suspects if name in one.named and name not in taken], one) for one in same]
    return each if all(names for names, _ in each) else []


def _narrowed(same: Sequence[Refusal], taken: Collection[str]) -> list[_Explanandum]:
    """What each of these may have been refused for, of that which the one that held least may: the words were said of no more,
    so what the others held beside it is innocent, as long as the rest explains each of them. Nothing where it does not."""
    each = [(_common([one], taken), one) for one in same]
    least = min((names for names, _ in each), key=len)
    narrowed = [([name for name in names if name in least], one) for names, one in each]
    return narrowed if all(names for names, _ in narrowed) else []


def _least(sets: Sequence[_Explanandum], *, guesses: bool) -> tuple[list[tuple[str, Refusal]], list[_Explanandum]]:
    """The fewest names of which each set holds one: first those that stand alone in one, then what stands in most. Where more
    than one name does and could be left out by itself, nothing tells which it is, unless `guesses`."""
    left: list[_Explanandum] = list(sets)
    found: list[tuple[str, Refusal]] = []
    while left:
        cause = next((names[0] for names, _ in left if len(names) == 1), None) or _most_frequent(left, guesses=guesses)
        if cause is None:
            break
        found.append((cause, next(refusal for names, refusal in left if cause in names)))
        left = [(names, refusal) for names, refusal in left if cause not in names]
    return found, left


def _most_frequent(sets: Iterable[_Explanandum], *, guesses: bool) -> str | None:
    counted = Counter(name for names, _ in sets for name in names).most_common()
    first, most = counted[0]
    is_clear = guesses or len(counted) == 1 or counted[1][1] < most or {name for name, _ in counted} <= _HEADS
    return first if is_clear else None


_HEADS = frozenset({"tool_results", "native_tools"})
"""What no request of the same mode can do without: the more particular one is the cause."""


def _own_words(error: BaseException, call: ModelCall) -> str:
    """The server's words in small letters, our names in them, without what they quote of the request."""
    words = str(error).partition(SERVERS_WORDS)[2].lower()
    return in_our_names(without_tool_names(own_words(words, call, bool), call), provider_of(call.endpoint).wire)


def _names_one_tool(error: BaseException, call: ModelCall, can: Capabilities) -> bool:
    """Do the server's words name an offered tool? A name alone is no quotation of the request."""
    names = offered_names(call, can)
    small = {name.lower() for name in names}
    words = str(error).partition(SERVERS_WORDS)[2].lower()
    return names_one_tool(own_words(words, call, lambda quoted: quoted.strip("'\"` .,:") not in small), names)


_OF_ONE_ENTRY = re.compile(r"\b(?:tools?|functions?)(?:\[\d|\.\d|['\"]?, \d)")
_OF_ONE = re.compile(
    r"\b(?:keywords?|propert(?:y|ies)|additionalproperties|anyof|oneof|allof|enum|unions?|nest(?:ed|ing)|recursi\w+|in grammar"
    r"|duplicate\w*|unique|characters?|too (?:many|deep|large|complex|long)|must (?:match|not contain)|failed to parse)\b"
    r"|\$(?:ref|defs)\b"
    r"|\b(?:when|while|unless|together with|alongside|with (?:an? )?(?:images?|audio|files?|streaming|thinking))\b"
)
"""Words about what is wrong with one tool or one schema, or about a condition."""
_KEY_OF_A_BODY = r"(?:tools|tool_choice|parallel_tool_calls|response_format|stream_options)\b(?![.\[]\d)"
_OF_THE_BODY = re.compile(
    r"\b(?:keywords?|propert(?:y|ies)|additional ?propert(?:y|ies))\W{1,6}(?:(?:unexpected|in (?:the )?(?:body|request))\W{1,4})?"
    rf"{_KEY_OF_A_BODY}"
    r"|(?:^|\bbody|\brequest|\bdata)\W{0,4}(?:must|should) not have (?:additional|unevaluated|unknown) properties"
    rf"|\b{_KEY_OF_A_BODY}\W{{1,4}}(?:is )?(?:an? )?(?:unexpected|unknown) (?:keyword|property)"
)
"""Words of a framework's validator, which calls a part of the request itself a property or a keyword."""
_OF_A_VALUE_OF_IT = re.compile(r"\benum (?:class|constant|type|value|field|variant)\b|\bfor (?:the )?enum\b|\boneof\W? tag\b")
"""A value of the request's own is none of those there are, as servers in statically typed languages say it."""
_OF_SOME_SCHEMA = re.compile(r"\b(?:schemas?|parameters|propert(?:y|ies))\b")
_ONE_TOOL = re.compile(r"\b(?:tool|function)s?:? ['\"`]?it\b")
"""What `without_tool_names` leaves of a tool that is named."""


def _is_of_one(words: str, call: ModelCall) -> bool:
    """Do the words speak of what one tool or schema of the request is like, or make a condition? Other requests may be taken."""
    of_a_value = _OF_A_VALUE_OF_IT.search(words) is not None and _OF_SOME_SCHEMA.search(words) is None
    of_one = _OF_ONE.search(words) is not None and not of_a_value and _OF_THE_BODY.search(words) is None
    of_one = of_one or _OF_ONE_ENTRY.search(words) is not None or is_within_a_schema(words)
    return of_one or (bool(call.tools) and _ONE_TOOL.search(words) is not None)


def _is_of_a_schema(error: RequestRefused, call: ModelCall) -> bool:
    """Did the server stumble over this schema or prompt, so that another may do?"""
    words = (str(error).partition(SERVERS_WORDS)[2] or str(error)).lower()
    if _OF_A_SCHEMA.search(words):
        return True
    found = {part for part in CANNOT_BE_MADE if part in words} if error.status == _FAULT else set[str]()
    has_calls = any(message.tool_uses for message in call.request.messages)  # whose order a template may not take
    return bool(found) and not (found <= set(NO_PROMPT) and not has_calls)


def _is_of_any_prompt(words: str, error: BaseException, call: ModelCall) -> bool:
    """Did a chat template fail (500) over something that its words do not name? Then it may be this prompt."""
    of_a_template = any(part in words for part in NO_PROMPT) and getattr(error, "status", None) == _FAULT
    return of_a_template and not speaks_of_a_part(words, call)


_BY_PART = {
    "tools": ("native_tools", "tool_results"),
    "tool_choice": ("tool_choice_required", "tool_choice_named", "tool_choice"),
    "parallel_tool_calls": ("parallel_tools",),
    "response_format": ("schema_with_tools", "json_schema", "json_object"),
}


def _suspects(call: ModelCall, can: Capabilities, words: str) -> list[str]:
    """What a refusal may be of: what the request rests on; where the words name a part of it, that alone."""
    asked, named = asked_for(call, can), _named_parts(words)
    return [name for name in asked if name in named] or asked


def _named_parts(words: str) -> frozenset[str]:
    return frozenset(name for part in parts_named(words) for name in _BY_PART.get(part, ()))


def _is_open(name: str, asked: Sequence[str], can: Capabilities) -> bool:
    """Is it to be believed at once that this is not taken: nobody knows of it, or it is beside tools of which nobody knows
    whether they are taken?"""
    of_tools = asked[-1] == "native_tools" and can.native_tools is None
    return name not in _NEVER_AT_ONCE and (getattr(can, name, None) is None or of_tools)
