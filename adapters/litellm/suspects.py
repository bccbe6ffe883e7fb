"""The parameters of a request that a refusal in unknown words names: the first suspects, left out before anything else."""

from __future__ import annotations

import re

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.refused_parameters import is_held, parameters_named
from llmcore.adapters.request.additions import NATIVE_SEARCH, STREAMING, additions

__all__ = ["named_in", "parameters_sent"]

_SENT = ("temperature", "top_p", "stop", "parallel_tool_calls", "thinking", "usage")
_WORDS = {
    STREAMING: re.compile(r"(?<![a-z_])stream(?:s|ed|ing)?(?![a-z_])"),
    "stream_options": re.compile(r"\b(?:stream_options|include_usage)\b"),
    "system_message": re.compile(
        r"\bsystem[ _-]?(?:message|prompt|role|instruction|turn|text|nachricht|rolle|anweisung)s?\b|['\"`]system['\"`]"
        r"|\brole system\b|\broles\b|\.role\b|\b(?:de |del |du |di )(?:sistema|système)\b|系统|系統|システム|시스템"
    ),
    NATIVE_SEARCH: re.compile(r"\b(?:web|live|google)[ _-]?search|\bsearch(?:ing)?\b|\bground(?:ed|ing)\b|\bplugins?\b"),
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
    asked = {said.get(name, name) for name in parameters_named(words, call)}
    found = [name for name in parameters_sent(call, can) if name in asked]
    return (*found, *(name for name in additions(call, can) if _WORDS[name].search(words)))
