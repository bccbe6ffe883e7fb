"""Python statements beside a bare call: the text is then a program as an example, and no call.

The first line above and the first line below the call are checked that are neither blank, a comment nor a call. The work is
linear: at most `_REACH` characters are read on each side. A stream waits for one line.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Steps
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["among_statements", "defines"]

_REACH = 1024
_LINE = 256
_NAME = r"[A-Za-z_]\w{0,64}"
_PLACE = rf"{_NAME}(?:\.{_NAME}|\[[^\]\n]{{0,64}}\])*+"
_VALUE = r"(?:not )?[\w.()\[\]'\"]+"
_TEST = rf"{_VALUE}(?:\s*(?:==|!=|[<>]=?|\b(?:in|is|and|or)\b).*)?"
_END = r"\s*(?:#.*)?\Z"
_STATEMENT = lazy_regex(
    "|".join(
        (
            rf"import {_PLACE}(?: as {_NAME})?(?:, *{_PLACE})*{_END}",
            rf"from \.*{_PLACE} import [\w(*]",
            rf"{_PLACE}(?:, *{_PLACE})*(?:: *{_PLACE})? *(?:[-+*/%|&^]|//|\*\*)?=(?!=)",
            rf"(?:async )?for {_NAME}(?:, *{_NAME})* in [^\s:]+(?:\(.*\))?:{_END}",
            rf"(?:(?:el)?if|while) {_TEST}:{_END}",
            rf"(?:async )?(?:def {_NAME}\(|with \S.*:{_END}|class {_NAME}[(:])",
            rf"(?:else|try|finally|except(?: \S+(?: as {_NAME})?)?):{_END}",
            rf"(?:return|raise|assert|del|yield|await) {_VALUE}{_END}",
            rf"(?:pass|break|continue|return){_END}",
            rf"@{_PLACE}(?:\(.*\))?{_END}",
            r"print\(\s*+(?!default_api\.)(?P<printed>[\w.]*)",
        )
    )
)
_DEFINITION = lazy_regex(
    r"^[ \t]*(?:(?:export |public |static |async )*(?:def|function|func|fn)[ \t]+(?P<function>\w+)[ \t]*\("
    r"|(?:(?:const|let|var)[ \t]+)?(?P<variable>\w+)[ \t]*=[ \t]*(?:lambda\b|function\b|async\b|\([^()\n]{0,128}\)[ \t]*=>))",
    re.MULTILINE,
)
_DEFINED_WITHIN = 8192
"""The number of characters before a call that are searched for a definition of its function."""
_PASSED_OVER = lazy_regex(r"(?!print\()[A-Za-z_][\w.]{0,128}\(.*\)[\s;]*(?:#.*)?\Z|#|\Z")
"""A line that is a call, a comment or blank."""
_BEGINS = lazy_regex(r"[A-Za-z_@#]")


def among_statements(reading: Reading, begin: int, end: int) -> Steps[bool]:
    """Whether `begin:end` is a line of a program with other statements."""
    text = reading.src.text
    above = text[max(reading.done, begin - _REACH) : begin]
    if "\n" in above and _is_any_statement(reading, above.rpartition("\n")[0].splitlines()[::-1]):
        return True
    return (yield from _below(reading, end))


def defines(text: str, at: int, names: Collection[str]) -> bool:
    """Whether the text before `at` defines a function of one of these names. If so, a call of it is code."""
    begin = max(0, at - _DEFINED_WITHIN)
    if not any(text.find(name, begin, at) >= 0 for name in names):
        return False
    return any((found["function"] or found["variable"]) in names for found in _DEFINITION.finditer(text, begin, at))


def _is_any_statement(reading: Reading, lines: list[str]) -> bool:
    """Whether the first of these lines that is not skipped is a statement."""
    first = next((line for line in lines if _PASSED_OVER.match(line.strip()) is None), "")
    return _is_statement(reading, first.strip())


def _is_statement(reading: Reading, line: str) -> bool:
    """Whether the line is a statement that is no call. In a fence, Gemini prints the calls that it makes."""
    found = _STATEMENT.match(line)
    return found is not None and not (reading.nested and found["printed"] and is_known(found["printed"], reading.tools))


def _below(reading: Reading, end: int) -> Steps[bool]:
    src, begun = reading.src, end
    while begun - end < _REACH:
        stop = src.text.find("\n", begun, begun + _LINE)
        line = src.text[begun : stop if stop >= 0 else begun + _LINE].strip()
        if begun > end and line and _BEGINS.match(line) is None:
            return False
        if stop < 0 and not src.final and len(src.text) - begun < _LINE:
            yield None
            continue
        if begun > end and _PASSED_OVER.match(line) is None:
            return _is_statement(reading, line)
        if stop < 0:
            return False
        begun = stop + 1
    return False
