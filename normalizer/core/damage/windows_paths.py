r"""Restore Windows paths whose backslashes were read as escapes.

`{"path": "C:\new\file.txt"}` is valid JSON with a line break in it. JSON does not show what was meant, so only an unmistakable
path is restored: a drive letter, then names without characters that no file name has. If the parameter is about files or
commands, that is enough. Otherwise the value must also hold an escape that nobody means (`\b`, `\f`) or another backslash, or
be a path only and end in a file's name. The repair is always a guess.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair

__all__ = ["with_paths"]

_ESCAPED = {"\a": r"\a", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"}
_CONTROLS = "".join(_ESCAPED)
_LITERALLY = str.maketrans(_ESCAPED)
_DRIVE = ":\\"
"""Every such path holds this text."""
_DRIVE_LETTER = lazy_regex(
    r":\\(?:(?<=\A[A-Za-z]:\\)|(?<=[^A-Za-z0-9][A-Za-z]:\\)|(?<=\\[a-z][A-Za-z]:\\)|(?<=\\[0-7]{3}[A-Za-z]:\\)"
    r"|(?<=\\x[0-9A-Fa-f]{2}[A-Za-z]:\\)|(?<=\\u[0-9A-Fa-f]{4}[A-Za-z]:\\))"
)
"""The same with its drive letter, which follows no letter except an escape's."""
_NAME = r"""[^\x00-\x20"'<>|*?:,;\\/]+"""
_SEPARATOR = rf"(?:\\+|/|[{_CONTROLS}])"
_PATH = lazy_regex(rf"(?<![A-Za-z0-9])[A-Za-z]:(?:{_SEPARATOR}{_NAME})+\\?")
_WHOLE = lazy_regex(rf"""[A-Za-z]:(?:{_SEPARATOR}[^\x00-\x20"<>|*?:\\/][^\x00-\x1f"<>|*?:\\/]*)+\\?""")
_CONTROL = lazy_regex(f"[{_CONTROLS}]")
_NEVER_MEANT = lazy_regex(r"[\a\b\v\f]")
_FILE = lazy_regex(r"\.[A-Za-z]\w{0,5}\Z")
_ABOUT_FILES = lazy_regex(
    r"path|file|dir(?:ectory)?(?:$|_)|folder|location|target|source|src|dest|root|cwd|cmd|command|script|shell|exe",
    re.IGNORECASE,
)


def with_paths(arguments: dict[str, Any], raw: str) -> tuple[dict[str, Any], list[Repair]]:
    """The arguments with such paths restored, and the repairs. `raw` is the text of the arguments."""
    if "\\" not in raw or _DRIVE not in raw or _DRIVE_LETTER.search(raw) is None:  # cheap checks: most arguments hold no path
        return arguments, []
    repairs: list[Repair] = []
    found = {key: _restored(value, key, repairs) for key, value in arguments.items()}
    return (found if repairs else arguments), repairs


def _restored(value: Any, key: str, repairs: list[Repair]) -> Any:
    if is_object(value):
        return {inner: _restored(item, inner, repairs) for inner, item in value.items()}
    if is_list(value):
        return [_restored(item, key, repairs) for item in value]
    if not isinstance(value, str) or _CONTROL.search(value) is None:
        return value
    about_files = _ABOUT_FILES.search(key) is not None
    if _WHOLE.fullmatch(value) is not None and (about_files or _is_plain(value) or _FILE.search(value) is not None):
        after = value.translate(_LITERALLY)
    else:
        after = _PATH.sub(lambda one: one[0].translate(_LITERALLY) if about_files or _is_plain(one[0]) else one[0], value)
    if after != value:
        repairs.append(Repair(kind="windows_path", path=key, before=value, after=after, safety="guess"))
    return after


def _is_plain(path: str) -> bool:
    """Whether the path itself shows that it is one."""
    return _NEVER_MEANT.search(path) is not None or "\\" in path
