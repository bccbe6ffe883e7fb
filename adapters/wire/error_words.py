"""Extracts the message from the body of an error response, in any form.

Servers send an object or a text under `error`, FastAPI's list of details, another list, a web page, plain text, or JSON
inside one of these. This reads the original bytes, since clients change them in different ways. Linear in the body.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object, objects_in

__all__ = ["ErrorWords", "all_texts", "error_words", "fault_in", "words_in"]

_WORDS = (
    *("title", "error", "Error", "fault", "message", "Message", "error_message", "error_msg", "errorMessage", "status_msg"),
    *("errmsg", "msg", "detail", "error_description", "description", "reason", "errors", "issues", "text", "metadata", "raw"),
)
"""Fields that hold messages, or objects with messages. The general fields come first, in the order shown."""
_ABOUT = ("loc", "field", "path", "param", "parameter", "property", "pointer")
"""Fields that name the part of the request that a list's entry is about."""
_TOO_MANY = ("additionalProperty", "unevaluatedProperty", "propertyName")
"""Fields of AJV's `params` that name an unexpected property. Its own messages do not
(https://ajv.js.org/api.html#error-parameters)."""
_ECHOES = frozenset({"input", "ctx", "url", "request", "request_body", "payload", "body", "failed_generation", "doc_url"})
"""Fields that repeat the request or the model's words, not the server's."""
_MAX_ENTRIES = 20
"""The most entries of a list that are read."""
_MAX_DEPTH = 8
"""How deep messages are searched."""
_TEXT_SEPARATOR = ";\n"
"""Separates two texts, so that no sentence continues across it, even if white space is collapsed."""
_TAG = lazy_regex(r"<[^<>]*>")
_UNSHOWN = ("script", "style")
_PAGE = lazy_regex(r"\s*(?:<\?xml|<!doctype|<html|<head|<body|<(?:h1|p|div|center|title|pre)\b)", re.IGNORECASE)
_SPACES = lazy_regex(r"\s+")


@dataclass(frozen=True, slots=True)
class ErrorWords:
    """The message of an error body.

    `fault` is its error object, empty without one. `words` is the message for a person. `all_text` holds every text, one per
    line, without what repeats the request.
    """

    fault: dict[str, Any] = field(repr=False)
    words: str = field(repr=False)
    all_text: str = field(repr=False)
    is_cut: bool = False


def error_words(body: bytes) -> ErrorWords:
    """Return the message of an error body, which may be cut at its end."""
    text = body.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    document = _json(text)
    if document is None:
        return ErrorWords({}, words := words_in(text), words)
    return ErrorWords(fault_in(document), words_in(document), all_texts(document), is_cut=_whole_json(text) is None)


def fault_in(document: object) -> dict[str, Any]:
    """Return the object that describes an error: the one under `error` if present, also in the first item of a list."""
    body = next(iter(objects_in(document)), None) if is_list(document) else document
    for _ in range(_MAX_DEPTH):
        inner = body.get("error") if is_object(body) else None
        if not is_object(inner):
            break
        body = inner
    return body if is_object(body) else {}


def words_in(value: object) -> str:
    """Return the message for a person. JSON without a known field is returned as text."""
    words = _words(value, 0)
    return words if words or not value or isinstance(value, str) else _as_text(value)


def all_texts(value: object) -> str:
    """Return all texts, one per line. A text from an unknown field begins with the field's name."""
    return _TEXT_SEPARATOR.join(_texts(value, 0))


def _words(value: object, depth: int) -> str:
    if isinstance(value, str):
        document = _json(value)
        inner = _words(document, depth + 1) if document is not None and depth < _MAX_DEPTH else ""
        return inner or (_page_words(value) if _PAGE.match(value) else value.strip())
    if depth >= _MAX_DEPTH:
        return ""
    if is_list(value):
        return "; ".join(_distinct(_words(item, depth + 1) for item in value[:_MAX_ENTRIES]))
    if not is_object(value):
        return ""
    words = ": ".join(_distinct(_words(value.get(key), depth + 1) for key in _WORDS))
    about = _about(value)
    return f"{about}: {words}" if about and words and about not in words else words


def _distinct(texts: Iterable[str]) -> list[str]:
    """The texts that are not part of another."""
    found: list[str] = []
    for text in filter(None, texts):
        if not any(text in other for other in found):
            found = [*(other for other in found if other not in text), text]
    return found


def _about(entry: dict[str, Any]) -> str:
    place = next((entry[key] for key in _ABOUT if entry.get(key)), "")
    parts = place if is_list(place) else [place]
    pointer: object = entry.get("instancePath") or entry.get("dataPath")
    if isinstance(pointer, str):
        parts = pointer.strip("/.").split("/")
    params = entry.get("params")
    if is_object(params) and (name := next((params[key] for key in _TOO_MANY if params.get(key)), "")):
        parts = [*parts, name]
    return ".".join(str(part) for part in parts if part != "" and isinstance(part, str | int))


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        document = _json(value)
        if document is not None and depth < _MAX_DEPTH:
            yield from _texts(document, depth + 1)
        elif value.strip():
            yield _page_words(value) if _PAGE.match(value) else value
    elif depth >= _MAX_DEPTH:
        return
    elif is_list(value):
        for item in value:
            yield from _texts(item, depth + 1)
    elif is_object(value):
        about = _about(value)
        for key, item in value.items():
            if key in _ECHOES:
                continue
            name = "" if key in _WORDS else key
            for text in _texts(item, depth + 1):
                yield f"{about}: {text}" if about and not name else f"'{name}': {text}" if name else text


def _json(text: str) -> Any:
    """The JSON object or list in a text; of a cut one, what was received. None if it is no JSON."""
    if text[:1] not in ("{", "["):
        return None
    whole = _whole_json(text)
    if whole is not None:
        return whole
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None


def _whole_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return ""


def _page_words(page: str) -> str:
    """The text of a web page, with its title first."""
    for name in _UNSHOWN:
        page = _without_element(page, name)
    lower = page.lower()
    start, end = lower.find("<title"), lower.find("</title")
    title, rest = (page[start:end], page[:start] + page[end:]) if 0 <= start < end else ("", page)
    shown, heading = (_SPACES.sub(" ", html.unescape(_TAG.sub(" ", part))).strip() for part in (rest, title))
    return ": ".join(_distinct((heading, shown)))


def _without_element(page: str, name: str) -> str:
    parts: list[str] = []
    lower, at = page.lower(), 0
    while (start := lower.find(f"<{name}", at)) >= 0:
        parts.append(page[at:start])
        end = lower.find(f"</{name}", start)
        if end < 0:
            return "".join(parts)
        at = end
    return "".join((*parts, page[at:]))
