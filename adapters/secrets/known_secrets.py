"""The secrets this process knows of: keys and headers that were configured, those of requests, and those of its environment.

What is written down (a log line, an error, a recording, a `repr`) may hold a key other than that of its own request: the
fallback model's, or one that a prompt quotes. So every text is scrubbed of all of them, and whole, before anything is taken
for a key by its look: half a key that is left over is no known one any more. The environment is read each time.
"""

from __future__ import annotations

import os
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from weakref import WeakKeyDictionary

from llmcore.adapters.secrets.scrubber import Scrubber, is_placeholder, is_secret_name
from llmcore.adapters.secrets.spellings import Words
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH
from llmcore.types.errors import LLMCoreError

__all__ = ["hide_in_error", "process_scrubber", "remember"]

_KEPT = 4096
"""Secrets that are remembered, the latest ones: some 8 MB. Those of the environment are not among them."""
_ENCODED = 128
"""Of these the latest, which are also known when they are encoded as a whole (Base64, hexadecimal): some 12 MB more."""

_lock = ForkSafeLock()
_remembered: OrderedDict[str, None] = OrderedDict()
_encoded: OrderedDict[str, None] = OrderedDict()
_of_environment: frozenset[str] = frozenset()
_known = Words()
"""Both of them."""


_looked_through: WeakKeyDictionary[LLMCoreError, int] = WeakKeyDictionary()
"""The `id` of what an error is chained to, where that showed no key: to print a traceback takes milliseconds."""


def remember(secrets: Iterable[str | None]) -> None:
    """From now on these are secrets of the process. Placeholders are not remembered."""
    fresh = [secret for secret in secrets if secret and not is_placeholder(secret)]
    with _lock:
        for secret in fresh:
            _known.add(secret)
            _enter(secret, _encoded, _ENCODED, _known.discard_encodings)
            _enter(secret, _remembered, _KEPT, _known.discard)


def _enter(secret: str, latest: OrderedDict[str, None], most: int, discard: Callable[[str], None]) -> None:
    latest[secret] = None
    latest.move_to_end(secret)
    while len(latest) > most:
        oldest, _ = latest.popitem(last=False)
        if oldest not in _of_environment:
            discard(oldest)


def process_scrubber(secrets: Iterable[str | None] = ()) -> Scrubber:
    """One that takes out everything that is known, and these."""
    global _of_environment
    with _lock:
        environment = frozenset(secret for secret in _environment() if not is_placeholder(secret))
        if environment != _of_environment:
            for gone in _of_environment - environment:
                if gone not in _remembered:
                    _known.discard(gone)
                elif gone not in _encoded:
                    _known.discard_encodings(gone)
            for secret in environment:
                _known.add(secret)
            _of_environment = environment
    return Scrubber([secret for secret in secrets if secret and secret not in _known], shared=_known)


def hide_in_error(error: LLMCoreError) -> None:
    """Take what is known out of the error's words, and out of those of the errors of ours beneath it. They may quote a model,
    which may quote a key; what the error carries as data (`partial`, `text`) stays as the model said it. An exception of others
    (a tool's, a client's) is theirs and stays as it is, chained only if printing it shows no key."""
    waiting: list[LLMCoreError] = [error]
    seen: set[int] = set()
    scrubber = process_scrubber()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        part.set_message(*(scrubber.text(arg) if isinstance(arg, str) else arg for arg in part.args))
        for link in ("__cause__", "__context__"):
            beneath: BaseException | None = getattr(part, link)
            if isinstance(beneath, LLMCoreError):
                waiting.append(beneath)
            elif beneath is not None and _looked_through.get(part) != id(beneath):
                if _shows_a_secret(beneath, scrubber):
                    setattr(part, link, None)
                else:
                    _looked_through[part] = id(beneath)


def _shows_a_secret(error: BaseException, scrubber: Scrubber) -> bool:
    """Would printing it, and all that it is chained to, show one? What is too long to look through may."""
    try:
        shown = "".join(traceback.format_exception(error))
    except Exception:  # an exception of others that cannot be printed
        return True
    return len(shown) > MAX_LOOKED_THROUGH or scrubber.text(shown) != shown


def _environment() -> Iterator[str]:
    """The values of variables that are called like keys (`OPENAI_API_KEY`, `HF_TOKEN`, ...), but for the paths of files. One
    that was read from a file ends in a line break, which is no part of the key; of several lines each may be one."""
    for name in filter(_is_called_like_a_key, os.environ):  # values are decoded when they are read
        value = os.environ.get(name, "")
        if value and not os.path.isabs(value):
            yield value.strip()
            yield from (line for line in map(str.strip, value.splitlines()) if len(line.split()) == 1)


@lru_cache(maxsize=1024)
def _is_called_like_a_key(name: str) -> bool:
    return is_secret_name(name, in_text=True) or name.upper().endswith(("_KEY", "_TOKEN"))
