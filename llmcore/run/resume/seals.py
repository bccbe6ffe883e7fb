"""The digest of a saved run's open calls, so that whoever resumes it runs the calls that it was saved with.

A plain digest detects a damaged or edited file, but whoever edits the file can compute it. With a signing key the digest is an
HMAC, which nobody can make without the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

from llmcore.adapters.request.conversation.history import last_open_turn
from llmcore.adapters.secrets.known_secrets import remember
from llmcore.run.results.history import open_calls
from llmcore.run.results.result import RunResult
from llmcore.support.values.copies import updated
from llmcore.support.values.json_data import json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import CallerError, ConfigError

__all__ = ["SigningKey", "as_signing_key", "check_seal", "signed_result"]

_MIN_BYTES = 16
"""The shortest key, in bytes."""
_PLAIN, _SIGNED = "sha256:", "hmac-sha256:"


class SigningKey:
    """The bytes of a key. No `repr`, copy or pickle shows them."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, data: bytes) -> str:
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()

    def __deepcopy__(self, memo: object) -> SigningKey:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a signing key cannot be pickled")


def as_signing_key(given: object) -> SigningKey | None:
    """The option `signing_key` as a key. Raises `ConfigError`, which does not show the key."""
    if given is None or isinstance(given, SigningKey):
        return given
    if not isinstance(given, str | bytes):
        raise ConfigError(f"signing_key must be a text or bytes, not {type(given).__name__}")
    key = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
    if len(key) < _MIN_BYTES:
        raise ConfigError(f"signing_key must have at least {_MIN_BYTES} bytes: make one by secrets.token_bytes(32)")
    remember([key.decode("utf-8", "ignore"), key.hex()])
    return SigningKey(key)


def signed_result(result: RunResult[Any], key: SigningKey | None) -> RunResult[Any]:
    """The result with the digest of its open calls, if it has any or has not ended."""
    if result.ended and not result.pending and not result.open_calls:
        return result
    return updated(result, {"digest": _digest(result, key)})


def check_seal(saved: RunResult[Any], key: SigningKey | None) -> None:
    """Raises `CallerError` if a result's open calls are not those that it was saved with.

    Without a key, a result without a digest passes: earlier releases saved such results.
    """
    if not saved.digest and key is None:
        return
    if key is not None and not saved.digest.startswith(_SIGNED):
        raise CallerError(
            "the result is not signed, and `signing_key` is given: go on from one that a run with this key gave or saved; one "
            "that you trust goes on without the key"
        )
    if key is None and saved.digest.startswith(_SIGNED):
        raise CallerError("the result is signed: give the run the `signing_key` that it was saved with")
    if not hmac.compare_digest(saved.digest.encode(), _digest(saved, key).encode()):
        other = ", or signed by another key" if key is not None else ""
        raise CallerError(
            f"the result's open calls were changed since it was saved{other}: its digest tells others. Go on from the file as it "
            "was saved; other arguments go into Approve(arguments={...})"
        )


def _digest(result: RunResult[Any], key: SigningKey | None) -> str:
    data = json.dumps(_digested(result), sort_keys=True).encode()
    return f"{_PLAIN}{hashlib.sha256(data).hexdigest()}" if key is None else f"{_SIGNED}{key.sign(data)}"


def _digested(result: RunResult[Any]) -> dict[str, Any]:
    """The data that the digest covers, in a form that does not depend on how the JSON was written."""
    at = last_open_turn(result.messages)
    uses = [] if at is None else open_calls(result.messages[: at + 2])
    return {
        "run": result.id,
        "saved_as": result.saved_as,
        "ended": result.ended,
        "calls": [_canonical([use.id, use.name, use.raw_input if use.input is None else use.input], exact=True) for use in uses],
        "pending": [_canonical([one.id, one.name, one.arguments]) for one in result.pending],
        "open": [_canonical([one.id, one.name, one.arguments, one.stage, one.approved]) for one in result.open_calls],
        "within": [[run.parent_call, _digested(run)] for run in result.runs if run.pending or not run.ended],
    }


def _canonical(value: Any, *, exact: bool = False) -> Any:
    """If `exact`, each digit of a number counts. Otherwise its nearest float counts, because other programs round numbers."""
    return _canonical_data(json_data(value), exact)


def _canonical_data(value: Any, exact: bool) -> Any:
    if is_object(value):
        return {key: _canonical_data(item, exact) for key, item in value.items()}
    if is_list(value):
        return [_canonical_data(item, exact) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [_number(value, exact)]
    return value if value is None or isinstance(value, bool) else f"={value}"


def _number(value: float, exact: bool) -> str:
    """One form for all writings of a number: `1`, `1.0` and `1e0` are equal."""
    if not exact:
        with suppress(OverflowError):  # an integer larger than any float
            value = float(value)
    sign, digits, exponent = Decimal(value if isinstance(value, int) else repr(value)).as_tuple()
    written = "".join(map(str, digits))
    short = written.rstrip("0")
    return (
        f"{'-' if sign and short else ''}{short.lstrip('0') or '0'}e{int(exponent) + len(written) - len(short) if short else 0}"
    )
