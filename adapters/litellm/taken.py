"""What LiteLLM itself does not take, told before anything is sent: such a parameter is left out, and recorded.

LiteLLM knows models whose servers refuse a parameter (a temperature beside reasoning, thinking where there is none), and raises
instead of sending; which ones, and by which values, changes with each of its versions. So there is no table of them here: what it
raises before any request went out names the parameter, and the request is made anew as if the endpoint were known to refuse it.
No attempt is spent by that, for no server was asked. What decides the output mode (tools, formats) is not left out: the next
mode is the fallback's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.request.parameters import Prepared, prepare

__all__ = ["ask", "not_taken"]

_KIND = "UnsupportedParamsError"
_OF_THE_MODE = ("tools", "functions", "response_format")
_CAN_DO_WITHOUT = (
    *("temperature", "top_p", "stop", "parallel_tool_calls", "thinking", "reasoning_effort"),
    *("web_search_options", "tool_choice", "stream_options"),
)
"""In the order in which they are left out, where LiteLLM names several: what it says of one may rest on another."""


def not_taken(error: Exception, prepared: Prepared, *, streamed: bool) -> str | None:
    """The parameter to leave out after LiteLLM's own refusal `error`; None when it is no such refusal, or names nothing that was
    sent and can be done without."""
    if _KIND not in {kind.__name__ for kind in type(error).__mro__}:
        return None
    text = str(error)
    sent = {**prepared.arguments, **(prepared.streamed if streamed else {})}

    def is_named(name: str) -> bool:
        return name in sent and re.search(rf"\b{name}\b", text) is not None

    if any(map(is_named, _OF_THE_MODE)):
        return None
    return next(filter(is_named, _CAN_DO_WITHOUT), None)


def _without(call: ModelCall, prepared: Prepared, name: str) -> Prepared:
    """The call prepared anew, as if its endpoint were known to refuse the parameter `name`."""
    names = {"thinking", name} if name == "reasoning_effort" else {name}
    refused = prepared.known.unsupported_parameters | names
    return prepare(call, prepared.known.model_copy(update={"unsupported_parameters": refused}))


async def ask(
    call: ModelCall,
    prepared: Prepared,
    send: Callable[[], Awaitable[Any]],
    *,
    streamed: bool,
    was_sent: Callable[[], bool],
    changed: Callable[[], None],
) -> Any:
    """What `send` gives. While LiteLLM itself refuses a parameter (`was_sent` says that no server was asked), `prepared` becomes
    the request without it, `changed` is told, and it is sent again."""
    for _ in _CAN_DO_WITHOUT:
        try:
            return await send()
        except Exception as error:
            name = None if was_sent() else not_taken(error, prepared, streamed=streamed)
            if name is None:
                raise
        prepared.become(_without(call, prepared, name))
        changed()
    return await send()
