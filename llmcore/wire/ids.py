"""Unique ids of calls and replies, in each wire's own form.

llmcore numbers the calls of a reply that have no id (`call_0`), so that the envelope does not depend on chance. In a conversation
such ids collide, and some servers refuse a repeated one.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable
from typing import Literal

from llmcore.support.values.copies import updated
from llmcore.types import ToolCall

__all__ = ["IdForm", "new_id", "random_id", "with_new_ids"]

IdForm = Literal["openai", "anthropic", "mistral"]
"""The form of a call's id: `call_` and 24 characters, `toolu_` and 24 characters, or 9 characters, which Mistral requires."""
_FORMS: dict[str, tuple[str, int]] = {"openai": ("call_", 24), "anthropic": ("toolu_", 24), "mistral": ("", 9)}
_BY_POSITION = re.compile(r"call_[0-9]{1,4}")
"""The ids that llmcore gives to calls without one."""
_CHARACTERS = string.ascii_letters + string.digits


def new_id(form: IdForm = "openai") -> str:
    """A new id of a call. It does not repeat."""
    return random_id(*_FORMS[form])


def random_id(prefix: str, length: int = 24) -> str:
    """A random text of `length` letters and digits behind the prefix."""
    return prefix + "".join([secrets.choice(_CHARACTERS) for _ in range(length)])


def with_new_ids(calls: Iterable[ToolCall], form: IdForm = "openai") -> list[ToolCall]:
    """The calls, each with an id of its own. A native call keeps the id that its server gave it.

    Calls in text get new ids, because the ids that models write (`functions.get_weather:0`) repeat in later turns. A native call
    gets a new one if its server gave it none, or gave it to an earlier call of the reply.
    """
    used = set[str]()
    result: list[ToolCall] = []
    for call in calls:
        if not call.id or call.dialect != "native" or call.id in used or _BY_POSITION.fullmatch(call.id):
            call = updated(call, {"id": new_id(form)})
        used.add(call.id)
        result.append(call)
    return result
