"""Find placeholder values: `...`, `<your city>`, `YOUR_CITY`, `{city}` for a parameter `city`.

A call with a placeholder may be an example, so it is a guess.
"""

from __future__ import annotations

from typing import Any, Final

from llmcore.normalizer.scanning.words import HTML_NAMES
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list
from llmcore.types.envelope import Repair

__all__ = ["holds_placeholders", "is_placeholder_value", "placeholders_in"]

_BRACKETED: Final = lazy_regex(r"\s*(?:[<＜][^\W\d_][\w .,:'’|()-]{0,80}[>＞]|\.\.\.|…)\s*\Z")  # noqa: RUF001 # full-width signs are intended
_ELEMENT: Final = lazy_regex(r"\s*<([A-Za-z][A-Za-z0-9]{0,9})>\s*\Z")
_LONGEST: Final = 120
_SIGNS: Final = frozenset("<＜.…{[%_ \t\r\n")  # noqa: RUF001 # as above
"""What a placeholder begins with, if it is not in capitals."""
_SHOUTED: Final = 4  # letters: a longer name in capitals is no HTML element
_YOURS: Final = lazy_regex(
    r"(?:YOUR|VOTRE|DEINE?|IHRE?|ВАША?|ВАШЕ|ТВОЙ|ТВОЯ|ТВОЁ)[ _-]\w[\w -]*|(?:TON|TU|SU|SEU|SUA|TUO|TUA|INSERT|REPLACE)_\w+"
    r"|\w[\w -]*_(?:HERE|PLACEHOLDER|HIER|ICI|AQUÍ|AQUI|QUI|ЗДЕСЬ)"
)
"""Placeholders in capitals that address the reader, such as `YOUR_CITY` or `PATH_HERE`."""
_NAMED: Final = lazy_regex(r"(?P<opens><|\{\{?|\[|%|__?)?\s*+(?P<name>[^\W\d_][\w -]{0,60})(?:>|\}\}?|\]|%)?\Z")
_WORDS: Final = lazy_regex(r"[^\W_]+")
_HUMP: Final = lazy_regex(r"(?<=[a-z\d])(?=[A-Z])")


def is_placeholder_value(value: Any, key: str = "") -> bool:
    """Whether the value of the parameter `key` is a placeholder. So is the parameter's own name, in brackets or capitals."""
    if is_list(value):
        return bool(value) and all(isinstance(item, str) and is_placeholder_value(item, key) for item in value)
    if not isinstance(value, str) or not value or len(value) > _LONGEST:
        return False
    shouted = value.isupper()
    if not shouted and value[0] not in _SIGNS:
        return False
    if _BRACKETED.match(value) is not None:
        element = _ELEMENT.match(value)
        return element is None or element[1].lower() not in HTML_NAMES or (shouted and len(element[1]) >= _SHOUTED)
    if shouted and _YOURS.fullmatch(value.strip("[]{}()% \t\r\n")) is not None:
        return True
    return bool(key) and _names(value, key, shouted)


def _names(value: str, key: str, shouted: bool) -> bool:
    """Whether `value` is the parameter's name with at most one more word."""
    named = _NAMED.match(value.strip())
    if named is None or not (shouted or named["opens"]):
        return False
    written, words = _WORDS.findall(named["name"].lower()), _WORDS.findall(_HUMP.sub(" ", key).lower())
    return len(written) <= len(words) + 1 and all(word in written for word in words) and any(len(word) > 1 for word in words)


def holds_placeholders(arguments: dict[str, Any]) -> bool:
    """Whether a value of these arguments is a placeholder."""
    for key, value in arguments.items():
        written: object = value[0] if type(value) is list and value else value  # pyright: ignore[reportUnknownVariableType]  # as it came
        if not isinstance(written, str):
            continue
        if (written[:1] in _SIGNS or written.isupper()) and is_placeholder_value(value, key):  # cheap check: few texts pass it
            return True
    return False


def placeholders_in(arguments: dict[str, Any]) -> list[Repair]:
    """A guess for each argument that is a placeholder."""
    return [
        Repair(kind="placeholder", path=key, before=value, after=value, safety="guess")
        for key, value in arguments.items()
        if is_placeholder_value(value, key)
    ]
