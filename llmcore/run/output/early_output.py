"""What is certain about text that the normaliser withholds: the answer in it, and the `content` of llmcore's envelope.

The normaliser withholds text that may turn out to be a call. If a typed value or the envelope of the JSON modes was asked for,
more is known about the text. Then a certain part can be shown before the reply ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container
from typing import Any, NamedTuple

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.normalizer.calls.call_objects import BESIDE_CALLS, CALL_KEYS, LIST_KEYS, NAME_KEYS
from llmcore.normalizer.core.names import is_known, peel
from llmcore.normalizer.scanning.words import ID_KEYS
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import Event, JsonSchema, TextDelta, ToolSet

__all__ = ["AnswerKeys", "EnvelopeContent", "certain_answer"]

_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "prefixItems")
_KINDS = ("type", "kind")
_KIND_OF_CALL = re.compile(r"function|tool|call|message|assistant|response", re.IGNORECASE)
_BESIDE_A_CALL = frozenset((*BESIDE_CALLS, *ID_KEYS))
"""Keys of a call object that do not make an object a call."""

_ARGUMENTS = re.compile(rf'"{FINAL_RESULT}"\s*,\s*"(?:arguments|parameters|args|input)"\s*:\s*(?={{)')
_CONTENT_BEGIN = re.compile(
    r"""\s*(?:```\w*\s*)?\{\s*(?:"toolCalls"\s*:\s*\[\s*\]\s*,\s*)?(?:"needsMoreWork"\s*:\s*(?:true|false|null)\s*,\s*)?"""
    r""""content"\s*:\s*\""""
)
_HEAD = 200  # characters in which the envelope's content must begin
_PROSE = re.compile(r"\s*[^\W_]+[,;.!]?[ \n]+[^\W_]+[ ,;.!?:\n]")
"""Two words of prose. A text that begins so is not a call as a whole."""
_NOT_A_NAME = re.compile(rf"[^(<\[{{]{{{_HEAD}}}|[^(<\[{{]*[，。！？；、…]")  # noqa: RUF001  (the signs of prose without spaces)
"""Text that is longer than any tool name, or holds a character that no name has, before a call's bracket."""
_PIECE = re.compile(r'(?:[^"\\]|\\(?:[^u]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}))*')
"""Whole characters of a JSON string."""


class AnswerKeys:
    """The keys of the answer's objects where a call could stand: at the root, in lists, and in each alternative."""

    def __init__(self, schema: JsonSchema) -> None:
        self._named: set[str] = set()
        self._takes_any = False
        waiting: list[Any] = [schema]
        seen: set[int] = set()
        while waiting:
            part = waiting.pop()
            if not is_object(part) or id(part) in seen:
                continue
            seen.add(id(part))
            properties = object_in(part.get("properties"))
            self._named |= properties.keys()
            self._takes_any |= not properties and is_object(part.get("additionalProperties"))
            waiting.append(_referred(part.get("$ref"), schema))
            waiting += (each for key in _ALTERNATIVES if is_list(part.get(key)) for each in part[key])
            waiting.append(part.get("items"))

    def __contains__(self, key: object) -> bool:
        return self._takes_any or key in self._named


def _referred(reference: Any, root: JsonSchema) -> Any:
    from llmcore.validator.schema.references import resolve_pointer

    try:
        return resolve_pointer(root, reference) if isinstance(reference, str) else None
    except LookupError:
        return None


def certain_answer(text: str, tools: ToolSet, fields: Container[str]) -> str | None:
    """The part of an incomplete text that is certain to be the answer or the arguments of `final_result`; None while it may be a
    call.

    `fields`: the keys of the answer's objects (`AnswerKeys`).
    """
    from llmcore.validator.output.candidates import find_values

    values = find_values(text, cut=True).values
    if not values:
        return None
    value, at, follows = values[-1].value, "", False
    cut = {repair.path for repair in values[-1].repairs if repair.kind == "cut_string"}
    is_nested = False
    while is_list(value):
        is_nested, follows, at = bool(at), follows or len(value) > 1, f"{at}[0]"
        value = value[0] if value else None
    if at and not is_object(value):
        return text if _is_no_call(value, at in cut) and not (is_nested and is_known(str(value), tools)) else None
    seen = _SeenObject(value if is_object(value) else {}, {path.removeprefix(f"{at}." if at else "") for path in cut}, tools)
    keys = list(seen.value)
    if not keys:
        return None
    if keys[0] not in CALL_KEYS and not is_known(keys[0], tools):
        return text
    calls: Any = next((seen.value[key] for key in LIST_KEYS if key in seen.value), None)
    if is_list(calls):
        return _arguments(text) if calls and _name_in(calls[0]) == FINAL_RESULT else None
    names = [seen.value[key] for key in NAME_KEYS if isinstance(seen.value.get(key), str) and key not in seen.cut]
    if names and not any(is_known(name, tools) for name in names):
        return text
    if names:
        return _arguments(text) if peel(names[0], tools) == FINAL_RESULT else None
    is_answer = (follows and seen.value.keys() <= _BESIDE_A_CALL) or any(seen.marks_answer(key) for key in keys if key in fields)
    return text if is_answer else None


class _SeenObject(NamedTuple):
    """The part of an object that came, the paths of its incomplete texts, and the tools that it may call."""

    value: dict[str, Any]
    cut: Collection[str]
    tools: ToolSet

    def marks_answer(self, key: str) -> bool:
        """Whether this key of the answer's type shows that the object is no call."""
        if key in _KINDS:
            kind = self.value[key]
            return isinstance(kind, str) and key not in self.cut and _KIND_OF_CALL.search(kind) is None
        if key in BESIDE_CALLS:
            return all(tool.name == FINAL_RESULT for tool in self.tools)
        return key not in CALL_KEYS and not is_known(key, self.tools)


def _is_no_call(item: Any, is_cut: bool) -> bool:
    """Whether a list with this first item is no list of calls. A text that begins like prose is no `name(...)`."""
    if not isinstance(item, str):
        return item is not None
    is_prose = _PROSE.match(item) is not None or _NOT_A_NAME.match(item) is not None
    return is_prose or ("(" not in item and not is_cut)


def _name_in(call: Any) -> Any:
    return call.get("name") if is_object(call) else None


def _arguments(text: str) -> str | None:
    found = _ARGUMENTS.search(text)
    if found is None:
        return None
    try:
        end = json.JSONDecoder(strict=False).raw_decode(text, found.end())[1]
    except (ValueError, RecursionError):  # incomplete or damaged
        end = len(text)
    return text[found.end() : end]


class EnvelopeContent:
    """Emits the `content` of a withheld envelope while it comes, then removes that text from the final event. Each character is
    read once, so the cost is linear."""

    def __init__(self) -> None:
        # The position of the next character in the withheld text; -1 before the content begins, -2 after its end.
        self._at = -1
        self._raw = ""  # JSON text that came and was not emitted
        self._emitted = ""
        self._has_begun = False

    def new_content(self, withheld: Any) -> TextDelta | None:
        """The content that came since the last call. `withheld(start)` returns the withheld text from `start` on."""
        if self._at == -1:
            head: str = withheld(0)
            found = _CONTENT_BEGIN.match(head[:_HEAD])
            if found is None:
                self._at = -1 if len(head) < _HEAD else -2
                return None
            self._at = found.end()
        if self._at < 0:
            return None
        more: str = withheld(self._at)
        self._at += len(more)
        self._raw += more
        whole = _PIECE.match(self._raw)
        assert whole is not None  # it also matches the empty text
        if not self._has_begun and _PROSE.match(whole[0]) is None:
            self._at = -2 if len(self._raw) > _HEAD else self._at
            return None
        piece, self._raw, self._has_begun = whole[0], self._raw[whole.end() :], True
        if self._raw.startswith('"') or len(self._raw) > len(r"\ud83d\ude00"):
            self._at = -2
        return self._delta(piece)

    def _delta(self, piece: str) -> TextDelta | None:
        try:
            text: str = json.loads(f'"{piece}"', strict=False)
        except ValueError:  # an invalid escape: the normaliser decides what it means
            self._at = -2
            return None
        self._emitted += text
        return TextDelta(text) if text else None

    def without_emitted(self, event: Event) -> Event | None:
        """The event without the text that was emitted already; None if nothing is left."""
        if not self._emitted or not isinstance(event, TextDelta):
            return event
        emitted, self._emitted, self._at = self._emitted, "", -2
        rest = event.text.removeprefix(emitted)
        return TextDelta(rest) if rest else None
