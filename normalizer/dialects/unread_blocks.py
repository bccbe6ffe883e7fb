"""Wrappers of calls that no row can read: their text stays, and what may be meant is recorded.

If a wrapper names a known tool first, it is a call without readable arguments. If its body is a CDATA section, that text is
read as the body. Any other wrapper is content and a near miss. These rows come last. A wrapper must begin its line, and its
closer must be near.
"""

from __future__ import annotations

from llmcore.normalizer.bare.verdicts import leads_in
from llmcore.normalizer.bodies.tagged.cdata import CDATA, joined_literals
from llmcore.normalizer.bodies.tagged.parameters import only_parameter
from llmcore.normalizer.calls.typed_values import typed_by
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
_SHORTHAND = lazy_regex(r"\s*+([^\s<>{}()\[\]\"'=:,]{1,256}+)>\s*+([^<>{}\[\]\n]{1,512}?)\s*+")
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
        if _enter_shorthand(reading, at, inner, end) or _enter_behind_words(reading, at, body, stop, end):
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


def _enter_shorthand(reading: Reading, at: int, inner: str, end: int) -> bool:
    """Enter `<tool_call>f>A-7</tool_call>` as a guess: the value of the tool's one required parameter. Returns whether it did."""
    found = _SHORTHAND.fullmatch(inner)
    tool = reading.tool(found[1]) if found is not None and is_known(found[1], reading.tools) else None
    if found is None or tool is None or len(tool.required) != 1:
        return False
    (key,) = tool.required
    value, repairs = typed_by(found[2], tool.types(key), path=key, limits=reading.limits)
    repairs = [*repairs, only_parameter(key, inner, value)]
    reading.end(reading.begin(at, found[1], "hermes"), end, {key: value}, found[2], repairs=repairs)
    return True


def _enter_behind_words(reading: Reading, at: int, body: int, stop: int, end: int) -> bool:
    """Enter the call object of a known tool that words precede in the element. The words are content. Returns whether it did."""
    text = reading.src.text
    brace = text.find("{", body, body + _REACH)
    if brace < 0 or not text[body:brace].strip():
        return False
    inner = reading.nest(text[brace:stop])
    if not inner.drafts or inner.has_content or not all(is_known(draft.name, reading.tools) for draft in inner.drafts):
        return False
    reading.text(at)
    reading.markup(body)
    reading.text(brace)
    reading.adopt(inner, brace, end, "hermes")
    return True


def _may_be_another(text: str, body: int) -> bool:
    """Whether a tag opens in it. If so, other readers decide."""
    return _OPENER.search(text, body, body + _NEAR) is not None


MARKERS = tuple(Marker(_unread(opener, closer), (opener,), order=90, calls=True, dialect="") for opener, closer in _PAIRS)
