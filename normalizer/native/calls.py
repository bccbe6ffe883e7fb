"""Native calls put together: the pieces of a reply's calls in, `ToolCall`s out.

What a wire's numbering means was settled by its reader; here a key is one call. A call without a name cannot be run
and is recorded as a near miss (an empty one, as some servers send with every text, is none).
`multi_tool_use.parallel` unfolds."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import chain, repeat

from llmcore.normalizer.native.arguments import (
    Arguments,
    Ending,
    free_text_arguments,
    no_arguments,
    object_arguments,
    text_arguments,
)
from llmcore.normalizer.native.leaks import calls_in_name, switched_arguments
from llmcore.normalizer.native.pieces import CallStart
from llmcore.normalizer.native.shape import as_dict, as_list, as_text, json_text
from llmcore.types.envelope import Repair, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["PARALLEL", "CallAssembly", "NativeCall", "Reading", "read_call"]

PARALLEL = "multi_tool_use.parallel"
_ABSENT = object()


@dataclass(slots=True)
class NativeCall:
    """One call while it is put together.

    `position` counts the native calls of the reply. `index` numbers the call for listeners, -1 until they heard of
    it; `told`: they heard of its arguments. `read` is what it became, once nothing that may follow can change that.
    """

    key: Hashable
    position: int
    id: str = ""
    name: str = ""
    free_text: bool = False
    pieces: list[str] = field(default_factory=list[str])
    value: object = _ABSENT
    whole: bool = False
    index: int = -1
    told: bool = False
    read: list[ToolCall] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def given(self) -> object:
        """The arguments where they came as a value, else None."""
        return None if self.value is _ABSENT else self.value

    def says_nothing(self) -> bool:
        return not self.id and not self.name and not self.given and not self.text.strip()


@dataclass(frozen=True, slots=True)
class Reading:
    """What must be known to read a call: the tools, the limits, and whether and how the reply ended."""

    tools: ToolSet | None
    limits: Limits
    ended_by_itself: bool
    ended_by_length: bool


class CallAssembly:
    """The native calls of one reply, in the order in which they began."""

    __slots__ = ("_open", "calls")

    def __init__(self) -> None:
        self.calls: list[NativeCall] = []
        self._open: dict[Hashable, NativeCall] = {}

    def start(self, piece: CallStart) -> tuple[NativeCall, bool]:
        """The call that the piece belongs to, and whether it is new."""
        call = self._open.get(piece.key)
        is_new = call is None
        if call is None:
            call = self._begin(piece.key)
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        call.free_text = call.free_text or piece.free_text
        return call, is_new

    def arguments(self, key: Hashable, value: object) -> tuple[NativeCall, bool]:
        """The call that got more arguments, and whether it is new: a server may forget to start it."""
        call = self._open.get(key)
        is_new = call is None
        if call is None:
            call = self._begin(key)
        if isinstance(value, str):
            call.pieces.append(value)
        elif value is not None:
            call.value = value
        return call, is_new

    def end(self, key: Hashable) -> NativeCall | None:
        call = self._open.pop(key, None)
        if call is not None:
            call.whole = True
        return call

    def _begin(self, key: Hashable) -> NativeCall:
        call = self._open[key] = NativeCall(key, len(self.calls))
        self.calls.append(call)
        return call


def read_call(call: NativeCall, reading: Reading, is_last: bool) -> list[ToolCall]:
    """The calls that a native call is: one; several when arguments were concatenated or calls folded; none without a
    name.

    Ids that the reply does not give are "".
    """
    if leaked := calls_in_name(call.name, reading.tools, reading.limits):
        return leaked
    if not call.name or len(call.name) > reading.limits.name:
        return []
    tool = None if reading.tools is None else reading.tools.get(call.name)
    ending = Ending(reading.ended_by_itself, reading.ended_by_length and is_last)
    text = call.text
    if call.free_text:
        found = [free_text_arguments(text, call.whole or reading.ended_by_itself)]
    elif text.strip() and text.strip() != "null":
        found = text_arguments(text, ending, reading.limits)
    elif call.value is not _ABSENT:
        found = [object_arguments(call.value, tool, ending, reading.limits)]
    else:
        found = [no_arguments(tool, (call.whole or reading.ended_by_itself) and not ending.at_call)]
    if not _sound(found) and (switched := switched_arguments(call.name, text, reading.tools, reading.limits)):
        found = [switched]
    named = [(call.name, arguments) for arguments in found]
    if call.name == PARALLEL:
        named = _unfold(found) or named
    ids = chain([call.id], repeat(""))
    return [_tool_call(name, id, arguments, reading) for (name, arguments), id in zip(named, ids, strict=False)]


def _sound(found: list[Arguments]) -> bool:
    return len(found) == 1 and found[0].value is not None and found[0].complete and not found[0].repairs


def _tool_call(name: str, id: str, arguments: Arguments, reading: Reading) -> ToolCall:
    return ToolCall(
        id=id,
        name=name,
        arguments=arguments.value,
        raw_arguments=arguments.raw,
        complete=arguments.complete,
        known=None if reading.tools is None else name in reading.tools.names,
        repairs=arguments.repairs,
    )


def _unfold(found: list[Arguments]) -> list[tuple[str, Arguments]]:
    """The calls in `{"tool_uses": [{"recipient_name": "functions.f", "parameters": {...}}]}`; [] when it is not
    that."""
    unfolded: list[tuple[str, Arguments]] = []
    for folded in found:
        for use in map(as_dict, as_list((folded.value or {}).get("tool_uses"))):
            name = as_text(use.get("recipient_name")).removeprefix("functions.")
            if not name:
                return []
            value = as_dict(use.get("parameters")) if isinstance(use.get("parameters"), dict) else None
            raw = json_text(use["parameters"]) if "parameters" in use else ""
            repairs = [Repair(kind="unfolded", before=PARALLEL, after=name), *folded.repairs]
            unfolded.append((name, Arguments(value, raw, repairs=repairs)))
        if unfolded:
            unfolded[-1][1].complete = folded.complete
    return unfolded
