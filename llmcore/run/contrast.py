"""What one turn proves of an endpoint by contrast: it refused or ignored one request, and answered another for the same.
So what only the first one sent is what it does not take, whatever words it found for that. Of several refusals that is the least
that explains them all.

Nothing is learnt of what is known to work, nor from a refusal that speaks of a schema: another schema may do. So may another
prompt where no prompt could be made of this one, unless the words name the part of it that the mode sends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.error_facts import SERVERS_WORDS
from llmcore.adapters.litellm.refusals import CANNOT_BE_MADE, NO_PROMPT, speaks_of_a_part
from llmcore.adapters.request.additions import NATIVE_SEARCH, additions
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types import RemoteServerError, RequestRefused

__all__ = ["Contrast"]

_Place = tuple[str, str]
"""An alias, and the name of a deployment."""
_OF_A_SCHEMA = re.compile(r"\binvalid (?:json )?schema\b|\bschema for (?:function|response_format)\b|\bgrammar could not\b")
_FAULT = 500
_SAYS_NOTHING = re.compile(
    r"(?:\W|\d|an?\b|the|and|error|exception|fault|internal|no|occurred|server|something|unexpected|went|words|wrong)*"
)
"""Words of which a server's "Internal Server Error" is made."""
_LEARNT_AS = {NATIVE_SEARCH: "web_search"}
"""The capability that an addition is, where it is no parameter that is left out by itself."""


class Contrast:
    """What was refused or ignored in this turn, until an answer in another mode proves it."""

    def __init__(self) -> None:
        self._refused: dict[_Place, list[Sequence[str]]] = {}
        self._ignored: set[_Place] = set()
        self._fault: tuple[_Place, str, str] | None = None  # the last one: where, in which mode, in which words

    def __bool__(self) -> bool:
        """Was anything refused or ignored?"""
        return bool(self._refused or self._ignored)

    def refused(self, place: _Place, call: ModelCall, can: Capabilities, error: BaseException) -> None:
        """A request failed; a refusal that was not understood is kept in mind."""
        asked = _decisive(call, can)
        decisive = [asked] if asked and getattr(can, asked, None) is None else []
        if getattr(error, "unexplained", False) or self._is_the_same_fault(place, call, error):
            self._refused.setdefault(place, []).append(decisive)
        if not isinstance(error, RequestRefused) or error.status is None or _is_of_a_schema(error, call):
            return
        error.additions = additions(call, can)
        self._refused.setdefault(place, []).append([*decisive, *error.additions])

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

    def proven(self, place: _Place, call: ModelCall, can: Capabilities, *, obeyed: bool) -> list[str]:
        """The capabilities that the place is now known to lack, since `call` was answered. `obeyed`: by a call, or the typed
        value."""
        taken = {_decisive(call, can), *additions(call, can)}
        found = _causes([name for name in names if name not in taken] for names in self._refused.pop(place, []))
        if place in self._ignored and obeyed and call.mode != "native_tools":
            self._ignored.discard(place)
            found.append("native_tools")
        return list(dict.fromkeys(_LEARNT_AS.get(name, name) for name in found))


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


def _decisive(call: ModelCall, can: Capabilities) -> str | None:
    """The capability that a request rests on: the choice that it holds of its tools, the caller's or ours (that of the output
    tool), else what its mode sends; None for plain text."""
    plan = output_plan(call, can)
    if call.mode in ("json_schema", "json_object"):
        return call.mode
    if call.mode != "native_tools" or not tools_of(call, plan):
        return "json_schema" if plan == "format" else None
    if plan == "format":
        return "schema_with_tools"
    if call.request.parallel_tool_calls is not None and can.parallel_tools is None:
        return "parallel_tools"
    choice = choice_capability(call, can)
    is_open = choice is not None and getattr(can, choice, None) is None  # one that is known to be taken explains nothing
    return choice if is_open else "native_tools"
