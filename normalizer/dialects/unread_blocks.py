"""Wrappers of calls that no row can read: their text stays, and what may be meant is recorded.

If a wrapper names a known tool first, it is a call without readable arguments. If its body is a CDATA section, that text is
read as the body. Any other wrapper is content and a near miss. These rows come last. A wrapper must begin its line, and its
closer must be near.
"""

from __future__ import annotations

from llmcore.normalizer.bare.verdicts import leads_in
from llmcore.normalizer.bodies.tagged.cdata import CDATA, joined_literals
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, Reader
from llmcore.normalizer.scanning.source import Steps
from llmcore.normalizer.scanning.words import OWN_SIGNS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["MARKERS"]

_REACH = 400
_NEAR = 1024  # characters that must hold the closer
_PAIRS = (("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>"), ("<TOOLCALL>", "</TOOLCALL>"))
_NAME = lazy_regex(r"\s*+([^\s<>{}()\[\]\"'=:,]{1,256}+)(?=\s)")
_ATTRIBUTE = lazy_regex(r"\s*+[\w.-]{1,64}\s*=")
_BRACKETS = ("[", "{", *OWN_SIGNS)
_OPENER = lazy_regex("<(?=[A-Za-z|｜])")


def _unread(opener: str, closer: str) -> Reader:
    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        if reading.nested or not leads_in(reading.line_before(at, _REACH)):
            return False
        src = reading.src
        while (stop := src.text.find(closer, body, body + _NEAR)) < 0:
            if src.final or len(src.text) - body >= _NEAR or _may_be_another(src.text, body):
                return False
            yield None
        inner, end = src.text[body:stop], stop + len(closer)
        if reading.near_misses and reading.near_misses[-1].span[0] == at:  # another row has recorded it
            return False
        if _may_be_another(src.text[:stop], body) or not inner.strip() or inner.lstrip().startswith(_BRACKETS):
            return False
        if inner.lstrip().startswith(CDATA):
            nested = reading.nest(f"{opener}{joined_literals(inner.strip())}{closer}")
            if nested.drafts and not nested.has_content:
                reading.adopt(nested, at, end)
                return True
        named = _NAME.match(inner)
        if named is not None and is_known(named[1], reading.tools) and _ATTRIBUTE.match(inner, named.end()) is not None:
            reading.miss(at, end, named[1], "unknown_parameter")
            return False
        if named is not None and is_known(named[1], reading.tools):
            draft = reading.begin(at, named[1], "hermes")
            reading.end(draft, end, None, inner[named.end() :].strip())
            return True
        reading.miss(at, end, None, "no_call_object")
        return False

    return read


def _may_be_another(text: str, body: int) -> bool:
    """Whether a tag opens in it. If so, other readers decide."""
    return _OPENER.search(text, body, body + _NEAR) is not None


MARKERS = tuple(Marker(_unread(opener, closer), (opener,), order=90, calls=True, dialect="") for opener, closer in _PAIRS)
