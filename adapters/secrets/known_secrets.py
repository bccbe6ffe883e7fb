"""The secrets that this process knows: configured keys and headers, those of requests, and those of its environment.

A log line, an error, a recording or a `repr` may hold another key than that of its own request: the fallback model's, or one
that a prompt quotes. So every text is scrubbed of all known secrets first, and of what only looks like a key afterwards. In
the other order, a partly removed key would no longer be recognized. The environment is read each time.
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

_MAX_REMEMBERED = 4096
"""How many secrets are remembered, the latest ones: about 8 MB. Those of the environment do not count."""
_MAX_ENCODED = 128
"""How many of these are also recognized if encoded as a whole (Base64, hexadecimal), the latest ones: about 12 MB more."""

_lock = ForkSafeLock()
_remembered: OrderedDict[str, None] = OrderedDict()
_encoded: OrderedDict[str, None] = OrderedDict()
_environment_secrets: frozenset[str] = frozenset()
_known = Words()
"""The remembered secrets and those of the environment."""


_checked_causes: WeakKeyDictionary[LLMCoreError, int] = WeakKeyDictionary()
"""For each error, the `id` of a chained exception that shows no secret. Printing a traceback takes milliseconds."""


def remember(secrets: Iterable[str | None]) -> None:
    """Remember these as secrets of the process. Placeholders are ignored."""
    fresh = [secret for secret in secrets if secret and not is_placeholder(secret)]
    with _lock:
        for secret in fresh:
            _known.add(secret)
            _enter(secret, _encoded, _MAX_ENCODED, _known.discard_encodings)
            _enter(secret, _remembered, _MAX_REMEMBERED, _known.discard)


def _enter(secret: str, latest: OrderedDict[str, None], most: int, discard: Callable[[str], None]) -> None:
    latest[secret] = None
    latest.move_to_end(secret)
    while len(latest) > most:
        oldest, _ = latest.popitem(last=False)
        if oldest not in _environment_secrets:
            discard(oldest)


def process_scrubber(secrets: Iterable[str | None] = ()) -> Scrubber:
    """Return a scrubber for everything known and for these secrets."""
    global _environment_secrets
    with _lock:
        environment = frozenset(secret for secret in _environment() if not is_placeholder(secret))
        if environment != _environment_secrets:
            for removed in _environment_secrets - environment:
                if removed not in _remembered:
                    _known.discard(removed)
                elif removed not in _encoded:
                    _known.discard_encodings(removed)
            for secret in environment:
                _known.add(secret)
            _environment_secrets = environment
    return Scrubber([secret for secret in secrets if secret and secret not in _known], shared=_known)


def hide_in_error(error: LLMCoreError) -> None:
    """Remove known secrets from the error's message, and from those of chained errors of llmcore.

    A message may quote a model, which may quote a key. Data of the error (`partial`, `text`) stays as the model wrote it.
    Other exceptions (a tool's, a client's) are not changed; they stay chained only if printing them shows no secret.
    """
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
            elif beneath is not None and _checked_causes.get(part) != id(beneath):
                if _shows_a_secret(beneath, scrubber):
                    setattr(part, link, None)
                else:
                    _checked_causes[part] = id(beneath)


def _shows_a_secret(error: BaseException, scrubber: Scrubber) -> bool:
    """Whether printing the error and its chain might show a secret. A text that is too long to search might."""
    try:
        shown = "".join(traceback.format_exception(error))
    except Exception:  # another library's exception may not be printable
        return True
    return len(shown) > MAX_LOOKED_THROUGH or scrubber.text(shown) != shown


def _environment() -> Iterator[str]:
    """The values of variables with names like keys (`OPENAI_API_KEY`, `HF_TOKEN`, ...), except file paths.

    A value read from a file ends in a line break, which is not part of the key. Of several lines, each may be a key.
    """
    for name in filter(_is_key_variable, os.environ):  # reading decodes a value
        value = os.environ.get(name, "")
        if value and not os.path.isabs(value):
            yield value.strip()
            yield from (line for line in map(str.strip, value.splitlines()) if len(line.split()) == 1)


@lru_cache(maxsize=1024)
def _is_key_variable(name: str) -> bool:
    return is_secret_name(name, in_text=True) or name.upper().endswith(("_KEY", "_TOKEN"))
