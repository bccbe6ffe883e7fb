"""What can be said of text that the normaliser still holds back: the answer in it, and the words of the library's envelope.

The normaliser tells nothing of what may turn out to be a call. Who asked for a typed value, or for the envelope of the JSON
modes, knows more of the text than it does, and need not wait for the end of an answer that is certain to be one.
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

__all__ = ["AnswerKeys", "EnvelopeWords", "answer_in"]

_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "prefixItems")
_KINDS = ("type", "kind")
_KIND_OF_CALL = re.compile(r"function|tool|call|message|assistant|response", re.IGNORECASE)
_BESIDE_A_CALL = frozenset((*BESIDE_CALLS, *ID_KEYS))
"""Keys that stand in a call object, and make none by themselves."""

_ARGUMENTS = re.compile(rf'"{FINAL_RESULT}"\s*,\s*"(?:arguments|parameters|args|input)"\s*:\s*(?={{)')
_WORDS_BEGIN = re.compile(
    r"""\s*(?:```\w*\s*)?\{\s*(?:"toolCalls"\s*:\s*\[\s*\]\s*,\s*)?(?:"needsMoreWork"\s*:\s*(?:true|false|null)\s*,\s*)?"""
    r""""content"\s*:\s*\""""
)
_HEAD = 200  # of the text, in which the envelope's words must begin
_SAYS = re.compile(r"\s*[^\W_]+[,;.!]?[ \n]+[^\W_]+[ ,;.!?:\n]")
"""Two words of prose: what begins so holds no call that is all of it."""
_NO_NAME = re.compile(rf"[^(<\[{{]{{{_HEAD}}}|[^(<\[{{]*[，。！？；、…]")  # noqa: RUF001  (the signs of prose without spaces)
"""Longer than any name before a call's bracket, or with a sign that no name has."""
_PIECE = re.compile(r'(?:[^"\\]|\\(?:[^u]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}))*')
"""Whole characters of a JSON string."""


class AnswerKeys:
    """The keys that objects of the answer have where a call would stand: at its root, in its lists, in each of its forms."""

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


def answer_in(text: str, tools: ToolSet, fields: Container[str]) -> str | None:
    """The part of a text that is still coming which is certain to be the answer, or the arguments of `final_result`; None while
    it may be a call. `fields`: the keys of the answer's objects, `AnswerKeys`."""
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
    seen = _Seen(value if is_object(value) else {}, {path.removeprefix(f"{at}." if at else "") for path in cut}, tools)
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


class _Seen(NamedTuple):
    """What came of an object, which texts in it are still coming, and the tools that it may be a call of."""

    value: dict[str, Any]
    cut: Collection[str]
    tools: ToolSet

    def marks_answer(self, key: str) -> bool:
        """Does this key of the answer's type say that the object is no call?"""
        if key in _KINDS:
            kind = self.value[key]
            return isinstance(kind, str) and key not in self.cut and _KIND_OF_CALL.search(kind) is None
        if key in BESIDE_CALLS:
            return all(tool.name == FINAL_RESULT for tool in self.tools)
        return key not in CALL_KEYS and not is_known(key, self.tools)


def _is_no_call(item: Any, is_cut: bool) -> bool:
    """Is a list with this first item no list of calls? A text is none of `name(...)` as soon as it begins like prose."""
    if not isinstance(item, str):
        return item is not None
    is_prose = _SAYS.match(item) is not None or _NO_NAME.match(item) is not None
    return is_prose or ("(" not in item and not is_cut)


def _name_in(call: Any) -> Any:
    return call.get("name") if is_object(call) else None


def _arguments(text: str) -> str | None:
    found = _ARGUMENTS.search(text)
    if found is None:
        return None
    try:
        end = json.JSONDecoder(strict=False).raw_decode(text, found.end())[1]
    except (ValueError, RecursionError):  # still coming, or damaged
        end = len(text)
    return text[found.end() : end]


class EnvelopeWords:
    """Tells the words under `content` of an envelope that is held back, as they come; then of the event that tells all of them
    what is left. Linear: each character is looked at once."""

    def __init__(self) -> None:
        # Where the next character of the words is, in the held text; -1 until they begin, -2 when there are no more.
        self._at = -1
        self._raw = ""  # what came of them and was not told
        self._told = ""
        self._begun = False

    def coming(self, held: Any) -> TextDelta | None:
        """`held(start)` gives what is held back from there on."""
        if self._at == -1:
            head: str = held(0)
            found = _WORDS_BEGIN.match(head[:_HEAD])
            if found is None:
                self._at = -1 if len(head) < _HEAD else -2
                return None
            self._at = found.end()
        if self._at < 0:
            return None
        more: str = held(self._at)
        self._at += len(more)
        self._raw += more
        whole = _PIECE.match(self._raw)
        assert whole is not None  # it matches nothing, too
        if not self._begun and _SAYS.match(whole[0]) is None:
            self._at = -2 if len(self._raw) > _HEAD else self._at
            return None
        said, self._raw, self._begun = whole[0], self._raw[whole.end() :], True
        if self._raw.startswith('"') or len(self._raw) > len(r"\ud83d\ude00"):
            self._at = -2
        return self._tell(said)

    def _tell(self, said: str) -> TextDelta | None:
        try:
            text: str = json.loads(f'"{said}"', strict=False)
        except ValueError:  # an escape that is none: the normaliser decides what it means
            self._at = -2
            return None
        self._told += text
        return TextDelta(text) if text else None

    def left_of(self, event: Event) -> Event | None:
        """The event without what was told of it already; None where nothing is left."""
        if not self._told or not isinstance(event, TextDelta):
            return event
        told, self._told, self._at = self._told, "", -2
        rest = event.text.removeprefix(told)
        return TextDelta(rest) if rest else None
