"""The parameters of a request that a refusal in unknown words names: the first suspects, left out before anything else."""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.listed_names import one_by_one
from llmcore.adapters.litellm.refused_parameters import is_held, parameters_named
from llmcore.adapters.request.additions import NATIVE_SEARCH, STREAMING, additions
from llmcore.types.late import late

__all__ = ["listed_in", "named_in", "parameters_sent"]

_SENT = ("temperature", "top_p", "stop", "parallel_tool_calls", "thinking", "usage")
_WORDS = {
    STREAMING: late(r"(?<![a-z_])stream(?:s|ed|ing)?(?![a-z_])"),
    "stream_options": late(r"\b(?:stream_options|include_usage)\b"),
    "system_message": late(
        r"\bsystem[ _-]?(?:message|prompt|role|instruction|turn|text|nachricht|rolle|anweisung)s?\b|['\"`]system['\"`]"
        r"|\brole system\b|\broles\b|\.role\b|\b(?:de |del |du |di )(?:sistema|système)\b|系统|系統|システム|시스템"
    ),
    NATIVE_SEARCH: late(r"\b(?:web|live|google)[ _-]?search|\bsearch(?:ing)?\b|\bground(?:ed|ing)\b|\bplugins?\b"),
}
"""How servers speak of what we add to a request."""


def parameters_sent(call: ModelCall, can: Capabilities) -> list[str]:
    """The parameters that the request holds, the caller's and the `usage` that asks for a cost, and the endpoint is not known to
    refuse."""
    found = [name for name in _SENT if is_held(name, call)]
    if call.request.max_tokens is not None:
        found.append(_most(can))
    return [name for name in found if name not in can.unsupported_parameters]


def _most(can: Capabilities) -> str:
    """Under which of its two names `max_tokens` goes out."""
    return "max_completion_tokens" if "max_tokens" in can.unsupported_parameters else "max_tokens"


def named_in(words: str, call: ModelCall, can: Capabilities) -> tuple[str, ...]:
    """Those that the server's words (lower case, by our names) name, where they say nothing of a value."""
    said = {"reasoning_effort": "thinking", "max_tokens": _most(can), "max_completion_tokens": _most(can)}
    read = (words, *one_by_one(words))  # in a list a common word names a field
    asked = {said.get(name, name) for one in read for name in parameters_named(one, call)}
    found = [name for name in parameters_sent(call, can) if name in asked]
    return (*found, *(name for name in additions(call, can) if _WORDS[name].search(words)))


_NO_DENIAL = (
    r"(?<!not )(?<!n't )(?<!never )\b(?:use|try|prefer|choose|keep|only|but|when|while|if|unless|with|beside|alongside|given)"
    r" (?:(?:the|a|an|your|parameter|field) ){0,2}['\"`]?"
)
"""Before a name: it is advised, or a condition."""


def listed_in(words: str, named: Collection[str], call: ModelCall, can: Capabilities) -> frozenset[str]:
    """Of what the server's words (as for `named_in`) name, that of which they say the same: the parameters but those that are
    advised or a condition, and whatever stands in one list. Nothing where that is one alone."""
    each = [frozenset(named_in(one, call, can)) for one in one_by_one(words)]
    in_lists = frozenset[str]().union(*each) - frozenset(named).intersection(*each) if each else frozenset[str]()
    sent = parameters_sent(call, can)
    said = [name for name in named if name in sent and not re.search(rf"{_NO_DENIAL}{re.escape(name)}\b", words)]
    found = in_lists.union(said)
    return found if len(found) > 1 else frozenset()
