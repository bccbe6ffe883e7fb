"""Balance over pieces, in whatever pieces it comes. Which call a delta belongs to: test_openai_chat.py."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.native.identity import CallIdentity


def begins_another(pieces: list[str]) -> bool:
    """Does a further delta with the same name start a call after these pieces of arguments?"""
    identity = CallIdentity()
    keys = {identity.key(0, "", "f", piece) for piece in pieces}
    return identity.key(0, "", "f", "{}") not in keys


def test_only_whole_objects_end_a_call() -> None:
    assert begins_another(['{"a": "}"}'])
    assert begins_another(['{"a": "\\"}"', "}"])
    assert not begins_another(['{"a": "}'])
    assert not begins_another(['{"a": "\\"}'])
    assert not begins_another(["12"])


@given(st.text(alphabet='{}[]"\\a', max_size=20), st.integers(0, 20))
def test_the_cut_does_not_matter(text: str, at: int) -> None:
    identity, cut = CallIdentity(), CallIdentity()
    identity.key(0, "", "f", text)
    for piece in (text[:at], text[at:]):
        cut.key(0, "", "", piece) if piece else None
    whole = identity.key(0, "", "f", "{}") == 1
    cut.key(0, "", "f", "")
    assert (cut.key(0, "", "f", "{}") == 1) == whole
