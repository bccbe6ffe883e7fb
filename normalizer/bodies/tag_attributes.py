"""The attributes of an opening tag, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmcore.normalizer.bodies.entities import decoded
from llmcore.normalizer.scanning.source import Source, Steps
from llmcore.types.late import late

__all__ = ["ATTRIBUTE", "Attributes", "is_cut_tag", "opening_tag"]

ATTRIBUTE = late(
    r"""(?P<key>[A-Za-z_][A-Za-z0-9_:.-]{0,63})[\sĠ]*+=[\sĠ]*+(?:"(?P<dq>[^"]*+)"|'(?P<sq>[^']*+)'|(?P<nq>[^\s"'<>/]++))"""
)
_LONGEST_TAG = 1024
_TAG_REST = r"""(?:[^<>"']++|"[^"]*+"|'[^']*+')*+"""
_TAG_BEGUN = late(rf"""{_TAG_REST}(?:"[^"]*+|'[^']*+)?\Z""")
_LONE_BEGUN = late(rf"""{_TAG_REST}(?:"[^"]*+|'[^']*+|</?[a-z_]{{0,16}})?\Z""")
_TAG_WHOLE = late(f"{_TAG_REST}>")


class Attributes(dict[str, str]):
    """The attributes of a tag. `others`: what stood under a key before its last value. `rest`: what is no attribute."""

    def __init__(self, pairs: Iterable[tuple[str, str]], rest: str = "") -> None:
        super().__init__()
        self.rest = rest
        self.others: dict[str, list[str]] = {}
        for key, text in pairs:
            if key in self:
                self.others.setdefault(key, []).append(self[key])
            self[key] = text


def opening_tag(src: Source, at: int, closer: str = ">") -> Steps[tuple[int, Attributes, bool] | None]:
    """(where it ends, its attributes, is it all of the element) of an opening tag whose name ends at `at`; None: it is none.
    `closer`: what ends it."""
    whole, begun = (_TAG_WHOLE, _TAG_BEGUN) if closer == ">" else (re.compile(_TAG_REST + re.escape(closer)), _LONE_BEGUN)
    while (rest := whole.match(src.text, at, at + _LONGEST_TAG)) is None:
        if src.final or len(src.text) - at >= _LONGEST_TAG or begun.match(src.text, at) is None:
            return None
        yield None
    said = rest[0].removesuffix(closer)
    attributes = Attributes(
        (
            (found["key"], decoded(next(value for value in (found["dq"], found["sq"], found["nq"]) if value is not None)))
            for found in ATTRIBUTE.finditer(said)
        ),
        ATTRIBUTE.sub("", said).strip(" \t\r\n/ĠĊ"),
    )
    return rest.end(), attributes, rest[0].removesuffix(">").rstrip().endswith("/")


def is_cut_tag(src: Source, at: int, closer: str = ">") -> bool:
    """Did the text end in an opening tag whose name ends at `at`?"""
    begun = _TAG_BEGUN if closer == ">" else _LONE_BEGUN
    return src.final and len(src.text) - at < _LONGEST_TAG and begun.match(src.text, at) is not None
