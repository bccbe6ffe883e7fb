"""Lines that are no prose: of a log, of code, of a list of changes. A call in one is shown.

Told by how the line begins; in most it is one look.
"""

from __future__ import annotations

import re

__all__ = ["in_line_of_code"]

_LIST_SIGN = r"(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_LEVEL = "(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)"
_TIMES = (
    r"\d{4}([-/.])\d\d\1\d\d[T _]\d\d:\d\d",
    r"\d\d([-/.])\d\d\2\d{4},?[T _]\d\d:\d\d",
    r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d",
    rf"(?:[A-Z][a-z]{{2}},?[ ])?{_MONTH}[ ]{{1,2}}\d{{1,2}}[ ]\d\d:\d\d:\d\d",
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[\]) ]",
)
_LOG = (
    rf"[\[(]?(?:{'|'.join(_TIMES)})",
    r"\d{1,3}(?:\.\d{1,3}){3}[ ]\S{1,64}[ ]\S{1,64}[ ]\[",  # a web server's: whom it answered
    rf"\[(?:{_LEVEL}|{_LEVEL.lower()})[ ]?\]",
    rf"{_LEVEL}(?=[: |-])",
    "(?:ts|time|timestamp|level)=",
)
_CODE = (
    r"//(?!/)|/\*",
    r"#[ \t]*\Z",  # with words it may be a heading
    r"[A-Za-z_][\w.]{0,64}(?:Error|Exception):",
)
_BEGINS = re.compile(rf"\s*(?:{_LIST_SIGN}(?:{'|'.join(_LOG)})|{'|'.join(_CODE)})")
_CHANGES = ("+", "-")
"""Directly before a call: a list's sign has a blank behind it."""
_IN_TRACEBACK = re.compile(r'[ \t]*File "[^"\n]{1,256}", line \d')
_ABOVE = 512


def in_line_of_code(text: str, begin: int, line: int, at: int) -> bool:
    """Does a call at `at` stand in such a line? The line begins at `line`, and what of it may be looked at at `begin`."""
    before = text[begin:at]
    if before in _CHANGES or _BEGINS.match(before) is not None:
        return True
    if before.strip(" \t") or line < 1:
        return False
    above = text.rfind("\n", max(0, line - _ABOVE), line - 1) + 1
    return _IN_TRACEBACK.match(text, above) is not None
