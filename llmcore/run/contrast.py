"""What one turn proves of an endpoint by contrast: it refused or ignored one mode, and answered the same request in another.
So what only the first one sent is what it does not take, whatever words it found for that.

Nothing is learnt of what is known to work, nor from a refusal that speaks of a schema: another schema may do.
"""

from __future__ import annotations

import re

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types import Envelope, RequestRefused
from llmcore.types.narrowing import is_object

__all__ = ["Contrast"]

_Place = tuple[str, str]
"""An alias, and the name of a deployment."""
_AS_IT_IS = frozenset({400, 404, 405, 409, 415, 422, 501})
"""Statuses by which a server refuses a request as it is."""
_OF_A_SCHEMA = re.compile(r"\binvalid (?:json )?schema\b|\bschema for (?:function|response_format)\b|\bgrammar could not\b")


class Contrast:
    """What was refused or ignored in this turn, until an answer in another mode proves it."""

    def __init__(self) -> None:
        self._refused: dict[_Place, list[str]] = {}
        self._ignored: set[_Place] = set()

    def refused(self, place: _Place, call: ModelCall, can: Capabilities, error: BaseException) -> None:
        """A request failed; a refusal that was not understood is kept in mind."""
        if not isinstance(error, RequestRefused) or error.status not in _AS_IT_IS or _OF_A_SCHEMA.search(str(error).lower()):
            return
        asked = _decisive(call, can)
        if asked and getattr(can, asked, None) is None:
            self._refused.setdefault(place, []).append(asked)

    def ignored(self, place: _Place) -> None:
        """Words came where a native call was required."""
        self._ignored.add(place)

    def proven(self, place: _Place, call: ModelCall, can: Capabilities, reply: Envelope) -> list[str]:
        """The capabilities that the place is now known to lack, since `call` was answered."""
        found = [name for name in self._refused.pop(place, []) if name != _decisive(call, can)]
        if place in self._ignored and reply.tool_calls and call.mode != "native_tools":
            self._ignored.discard(place)
            found.append("native_tools")
        return list(dict.fromkeys(found))


def _decisive(call: ModelCall, can: Capabilities) -> str | None:
    """The capability that a request rests on: what the caller chose of it, else what its mode sends; None for plain text."""
    plan = output_plan(call, can)
    if call.mode in ("json_schema", "json_object"):
        return call.mode
    if call.mode != "native_tools" or not tools_of(call, plan):
        return "json_schema" if plan == "format" else None
    if plan == "format":
        return "schema_with_tools"
    if call.request.parallel_tool_calls is not None and can.parallel_tools is None:
        return "parallel_tools"
    if is_object(call.request.tool_choice) and can.tool_choice_named is None:
        return "tool_choice_named"
    return (
        "tool_choice_required" if call.request.tool_choice == "required" and can.tool_choice_required is None else "native_tools"
    )
