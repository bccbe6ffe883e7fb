"""Detect lines that are not prose: of a log, of code, of a diff. A call in such a line is content.

A line is recognised by its beginning. For most lines, one regular expression is tried.
"""

from __future__ import annotations

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["in_line_of_code"]

_LIST_SIGN = r"(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_LEVEL = "(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)"
_CLOCK = r"\d{1,2}:\d\d:\d\d"
_TIMES = (
    r"\d{4}([-/.])\d\d\1\d\d[T _]\d\d:\d\d",
    r"\d\d([-/.])\d\d\2\d{4},?[T _]\d\d:\d\d",
    rf"\d\d[-/.]\d\d(?:\.?,?[ ]|T){_CLOCK}",  # without a year, like the next two
    rf"\d\d([-/.])\d\d\3\d\d,?[ ]{_CLOCK}",
    rf"[IWEFD]\d{{4}}[ ]{_CLOCK}",  # glog
    rf"\d{{8}}[T _-](?:\d{{6}}|{_CLOCK})",
    r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d",
    rf"\d{{1,2}}[ -]{_MONTH}(?:[ -]\d{{2,4}})?,?[ ]{_CLOCK}",
    rf"(?:[A-Z][a-z]{{2}},?[ ])?{_MONTH}[ -]{{1,2}}\d{{1,2}}(?:,?[ ]\d{{4}})?,?[ ]{_CLOCK}",
    rf"{_CLOCK}(?:[.,]\d{{1,9}})?(?:Z|[ ]?[AP]M)?[\]) |]",
    r"\d{4}年\d{1,2}月\d{1,2}日[ ]?\d{1,2}(?::\d\d|[时時点])",
    r"1[4-9]\d{8}(?:\d{3}|\.\d{1,9})?[\]) |:,]",  # seconds since 1970
    r"[ ]{0,5}\d{1,7}\.\d{6}[\]]",  # the kernel's seconds since boot
    r"\+\d{1,6}(?:\.\d{1,6})?m?s\b",
)
_LOG = (
    rf"(?:<\d{{1,3}}>(?:1[ ])?)?[\[(]?(?:{'|'.join(_TIMES)})",  # syslog begins with a priority
    r"\d{1,3}(?:\.\d{1,3}){3}[ ]\S{1,64}[ ]\S{1,64}[ ]\[",  # a web server's access log
    rf"\[(?:{_LEVEL}|{_LEVEL.lower()})[ ]?\]",
    rf"{_LEVEL}(?=[: |-])",
    "(?:ts|time|timestamp|level)=",
)
_CODE = (
    r"//(?!/)|/\*",
    r"#[ \t]*\Z",  # with words it may be a heading
    r"[A-Za-z_][\w.]{0,64}(?:Error|Exception):",
    r"\[\^[\w-]{1,32}\]:",  # a footnote
)
_SIMPLE = r"(?:not )?[\w.()\[\]'\"]+(?:\s*(?:==|!=|[<>]=?|\b(?:in|is|and|or)\b).*)?"
_STATEMENT = lazy_regex(
    rf"[ \t]*(?:(?:async )?for \w+(?:, *\w+)* in \S+|(?:(?:el)?if|while) {_SIMPLE}|(?:async )?def \w+\(.*\)(?:\s*->\s*\S+)?"
    rf"|(?:async )?with [\w.()\[\]'\"]+(?: as \w+)?|class \w+(?:\(.*\))?"
    r"|lambda(?: \w+(?:, *\w+)*)?|(?:case|match|except) \S+(?: as \w+)?"
    r"|try|else|finally|except|In \[\d+\]|#[ \t]*(?:TODO|FIXME|XXX|HACK|NOTE)\b.*):[ \t]*\Z"
)
"""The head of a statement, a prompt, or a note in a comment, up to its colon."""
_BEGINS = lazy_regex(rf"\s*(?:{_LIST_SIGN}(?:{'|'.join(_LOG)})|{'|'.join(_CODE)})")
_CHANGES = ("+", "-")
"""Signs of a diff, directly before a call. A list sign has a blank behind it."""
_IN_TRACEBACK = lazy_regex(r'[ \t]*File "[^"\n]{1,256}", line \d')
_COMMAND = lazy_regex(r"(?:\A|\n)[ \t]*(?:[\w.@~:/-]{0,40})?\$ \S[^\n]*\n\Z")
"""A command behind a shell prompt, whose output follows."""
_REQUEST = lazy_regex(r"(?:\A|\n)(?:[A-Z]{3,7} \S+ HTTP/\d[^\n]*|HTTP/\d\S* \d{3}[^\n]*)\n(?:[\w-]+:[^\n]*\n)*[ \t\r]*\n?\Z")
"""The head of an HTTP request or response, whose body follows."""
_FILE = 'File "'
_ABOVE = 512


def in_line_of_code(text: str, line: int, before: str) -> bool:
    """Whether a call stands in such a line. The line begins at `line`; `before` is the line's text before the call."""
    if before and before.strip(" \t"):
        return before in _CHANGES or _BEGINS.match(before) is not None or _STATEMENT.match(before) is not None
    if line < 1:
        return False
    lines = text[max(0, line - _ABOVE) : line]
    is_output = "$" in lines and "$ " in lines and _COMMAND.search(lines) is not None  # one character is found faster than two
    if is_output or ("/" in lines and "HTTP/" in lines and _REQUEST.search(lines) is not None):
        return True
    if '"' not in lines or _FILE not in lines:
        return False
    above = text.rfind("\n", max(0, line - _ABOVE), line - 1) + 1
    return _IN_TRACEBACK.match(text, above) is not None
