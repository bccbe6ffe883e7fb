"""What one turn proves of an endpoint by contrast: it refused or ignored one request, and answered another for the same.
So what only the first one sent is what it does not take, whatever words it found for that. Of several refusals that is the least
that explains them all.

What is known to work, by a table or since it was seen, is not lost by one such refusal: that is a doubt, which the same words
confirm when they refuse it in another turn, unless it was answered meanwhile. Nothing is learnt from a refusal that speaks of a
schema: another schema may do. So may another prompt where no prompt could be made of this one, unless the words name the part of
it that the mode sends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.error_facts import SERVERS_WORDS
from llmcore.adapters.litellm.fields import in_our_names
from llmcore.adapters.litellm.named_tools import names_one_tool, offered_names
from llmcore.adapters.litellm.quotations import own_words
from llmcore.adapters.litellm.refusals import CANNOT_BE_MADE, NO_PROMPT, says_it_passes, speaks_of_a_part, without_tool_names
from llmcore.adapters.litellm.refused_parts import parts_named
from llmcore.adapters.litellm.suspects import named_in, parameters_sent
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.additions import NATIVE_SEARCH, additions
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types import RemoteServerError, RequestRefused

__all__ = ["LEARNT_AS", "Contrast", "Doubt", "Proof", "explained", "rests_on"]

_Place = tuple[str, str]
"""An alias, and the name of a deployment."""
_OF_A_SCHEMA = re.compile(r"\binvalid (?:json )?schema\b|\bschema for (?:function|response_format)\b|\bgrammar could not\b")
_FAULT = 500
_SAYS_NOTHING = re.compile(
    r"(?:\W|\d|an?\b|the|and|error|exception|fault|internal|no|occurred|server|something|unexpected|went|words|wrong)*"
)
"""Words of which a server's "Internal Server Error" is made."""
LEARNT_AS = {NATIVE_SEARCH: "web_search", "parallel_tool_calls": "parallel_tools", "thinking": "reasoning"}
"""The capability that an addition is, where it is no parameter that is left out by itself."""


class Doubt(NamedTuple):
    """What a refused request held of what is known to work, the most particular first, and the words that refused it."""

    capabilities: Sequence[str]
    words: str


class Proof(NamedTuple):
    """What a place is now known to lack, and what is doubted of it."""

    lacks: list[str]
    doubts: list[Doubt]


class Contrast:
    """What was refused or ignored in this turn, until an answer in another mode proves it."""

    def __init__(self) -> None:
        self._refused: dict[_Place, list[Sequence[str]]] = {}
        self._doubted: dict[_Place, list[tuple[Doubt, Sequence[str]]]] = {}  # with what else may explain it
        self._ignored: set[_Place] = set()
        self._fault: tuple[_Place, str, str] | None = None  # the last one: where, in which mode, in which words

    def __bool__(self) -> bool:
        """Was anything refused or ignored?"""
        return bool(self._refused or self._ignored)

    def refused(self, place: _Place, call: ModelCall, can: Capabilities, error: BaseException) -> None:
        """A request failed; a refusal that was not understood is kept in mind."""
        is_same = self._is_the_same_fault(place, call, error) or getattr(error, "unexplained", False)
        is_refusal = isinstance(error, RequestRefused) and error.status is not None and not _is_of_a_schema(error, call)
        if not (is_same or is_refusal):
            return
        words = _own_words(error, call)
        asked = _suspects(call, can, words)
        if says_it_passes(words) or _is_of_one(words, call) or _names_one_tool(error, call, can):
            asked = []
        decisive = asked[:1] if _is_open(asked, can) else []
        held: Sequence[str] = ()
        if isinstance(error, RequestRefused):
            error.named = named_in(words, call, can)
            ours = [name for name in additions(call, can) if name not in error.named]
            held = error.additions = (*error.named, *ours)
        self._refused.setdefault(place, []).append([*decisive, *held])
        doubt = Doubt([name for name in asked if name not in decisive], words)
        self._doubted.setdefault(place, []).append((doubt, held))

    def _is_the_same_fault(self, place: _Place, call: ModelCall, error: BaseException) -> bool:
        """Did the server fail (500) as it did before, in the same mode and the same words, which say more than that it failed? A
        fault that passes seldom does."""
        if not isinstance(error, RemoteServerError) or error.status != _FAULT:
            self._fault = None
            return False
        words = str(error).partition(SERVERS_WORDS)[2].lower()
        before, self._fault = self._fault, (place, call.mode, words)
        return before == self._fault and _SAYS_NOTHING.fullmatch(words) is None

    def ignored(self, place: _Place) -> None:
        """Words came where a native call was required: a tool's, or that of the output tool."""
        self._ignored.add(place)

    def proven(self, place: _Place, call: ModelCall, can: Capabilities, *, obeyed: bool) -> Proof:
        """What is now known, or doubted, of the place, since `call` was answered. `obeyed`: by a call, or the typed value."""
        taken = {*rests_on(call, can), *additions(call, can), *parameters_sent(call, can)}
        found = _causes([name for name in names if name not in taken] for names in self._refused.pop(place, []))
        if place in self._ignored and obeyed and call.mode != "native_tools":
            self._ignored.discard(place)
            found.append("native_tools")
        left = [
            Doubt([name for name in doubt.capabilities if name not in taken], doubt.words)
            for doubt, held in self._doubted.pop(place, [])
            if not set(found).intersection(held)
        ]
        doubts = [doubt for doubt in left if doubt.capabilities]
        return Proof(list(dict.fromkeys(LEARNT_AS.get(name, name) for name in found)), doubts)


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


_OF_ONE = re.compile(
    r"\b(?:tools?|functions?)(?:\[\d|\.\d)"
    r"|\b(?:keywords?|propert(?:y|ies)|additionalproperties|anyof|oneof|allof|enum|unions?|nest(?:ed|ing)|recursi\w+|in grammar"
    r"|duplicate\w*|unique|characters?|too (?:many|deep|large|complex|long)|must (?:match|not contain)|failed to parse)\b"
    r"|\$(?:ref|defs)\b"
    r"|\b(?:when|while|unless|together with|alongside|with (?:an? )?(?:images?|audio|files?|streaming|thinking))\b"
)
"""Words about what is wrong with one tool or one schema, or about a condition."""
_ONE_TOOL = re.compile(r"\b(?:tool|function)s?:? ['\"`]?it\b")
"""What `without_tool_names` leaves of a tool that is named."""


def _is_of_one(words: str, call: ModelCall) -> bool:
    """Do the words speak of what one tool or schema of the request is like, or make a condition? Other requests may be taken."""
    return _OF_ONE.search(words) is not None or (bool(call.tools) and _ONE_TOOL.search(words) is not None)


def _is_of_a_schema(error: RequestRefused, call: ModelCall) -> bool:
    """Did the server stumble over this schema or prompt, so that another may do?"""
    words = (str(error).partition(SERVERS_WORDS)[2] or str(error)).lower()
    if _OF_A_SCHEMA.search(words):
        return True
    found = [part for part in CANNOT_BE_MADE if part in words] if error.status == _FAULT else []
    return bool(found) and not (set(found) <= set(NO_PROMPT) and _has_no_branch(words, call))


def _has_no_branch(words: str, call: ModelCall) -> bool:
    """Does a chat template that failed lack what the mode sends, by the server's words? Once there are calls in the history it
    may be their order that it does not take."""
    return speaks_of_a_part(words, call) and not any(message.tool_uses for message in call.request.messages)


def _causes(refused: Iterable[Sequence[str]]) -> list[str]:
    """The fewest names of which each refused request held one: first those that alone explain one, then what explains most."""
    left: list[Sequence[str]] = [names for names in refused if names]
    found = list[str]()
    while left:
        alone = next((names[0] for names in left if len(names) == 1), None)
        cause = alone or Counter(name for names in left for name in names).most_common(1)[0][0]
        found.append(cause)
        left = [names for names in left if cause not in names]
    return found


def explained(doubts: Sequence[Doubt]) -> list[str]:
    """The fewest capabilities by which all doubts are explained."""
    return _causes(doubt.capabilities for doubt in doubts)


def rests_on(call: ModelCall, can: Capabilities) -> list[str]:
    """The capabilities that a request rests on, the most particular first: the choice that it holds of its tools, the caller's or
    ours (that of the output tool), before the tools themselves; nothing for plain text."""
    plan = output_plan(call, can)
    if call.mode in ("json_schema", "json_object"):
        return [call.mode]
    if call.mode != "native_tools" or not tools_of(call, plan):
        return ["json_schema"] if plan == "format" else []
    named = call.request.parallel_tool_calls is not None and can.parallel_tools is not False
    found = ["schema_with_tools", "json_schema"] if plan == "format" else []
    found += ["parallel_tools"] if named else []
    found += [choice] if (choice := choice_capability(call, can)) else []
    found += ["tool_results"] if any(message.tool_results for message in call.request.messages) else []
    return [*found, "native_tools"]


_BY_PART = {
    "tools": ("native_tools", "tool_results"),
    "tool_choice": ("tool_choice_required", "tool_choice_named", "tool_choice"),
    "parallel_tool_calls": ("parallel_tools",),
    "response_format": ("schema_with_tools", "json_schema", "json_object"),
}


def _suspects(call: ModelCall, can: Capabilities, words: str) -> list[str]:
    """What a refusal may be of: what the request rests on; where the words name a part of it, that alone."""
    asked = rests_on(call, can)
    named = {name for part in parts_named(words) for name in _BY_PART.get(part, ())}
    return [name for name in asked if name in named] or asked


def _is_open(asked: Sequence[str], can: Capabilities) -> bool:
    """Is the first suspect to be believed at once: nobody knows of it, or it is a choice of tools of which nobody knows whether
    they are taken?"""
    if not asked:
        return False
    first, of_tools = asked[0], asked[-1] == "native_tools" and can.native_tools is None
    return first != "tool_results" and (getattr(can, first, None) is None or of_tools)
