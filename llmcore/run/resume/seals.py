"""The digest over the calls of a saved run that are open: whoever resumes it runs the calls that it was saved with.

A plain digest tells a file that was damaged or edited. Whoever can edit a file can also compute it. A signing key makes it a
protection: the digest is an HMAC then, and without the key nobody can make one.
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

__all__ = ["SigningKey", "check_seal", "signed_result", "signing_key_of"]

_LEAST = 16
"""Bytes of a key."""
_PLAIN, _SIGNED = "sha256:", "hmac-sha256:"


class SigningKey:
    """The bytes of a key, which no `repr`, copy or pickle shows."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, data: bytes) -> str:
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()

    def __deepcopy__(self, memo: object) -> SigningKey:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a signing key cannot be pickled")


def signing_key_of(given: object) -> SigningKey | None:
    """The option as a key. Raises `ConfigError`, which does not show it."""
    if given is None or isinstance(given, SigningKey):
        return given
    if not isinstance(given, str | bytes):
        raise ConfigError(f"signing_key must be a text or bytes, not {type(given).__name__}")
    key = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
    if len(key) < _LEAST:
        raise ConfigError(f"signing_key must have at least {_LEAST} bytes: make one by secrets.token_bytes(32)")
    remember([key.decode("utf-8", "ignore"), key.hex()])
    return SigningKey(key)


def signed_result(result: RunResult[Any], key: SigningKey | None) -> RunResult[Any]:
    """The result with the digest over its open calls, where it has any or goes on."""
    if result.ended and not result.pending and not result.open_calls:
        return result
    return updated(result, {"digest": _digest(result, key)})


def check_seal(saved: RunResult[Any], key: SigningKey | None) -> None:
    """Raises `CallerError` where the calls of a result that a run goes on from are not those that it was saved with.

    A result without a digest, as earlier releases saved it, passes where no key is given.
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
    """What the digest is over, in a form that is the same for all writings of the same JSON."""
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
    """`exact`: each digit of a number counts. Else the nearest float's, for other programs round what is shown of a call."""
    return _form(json_data(value), exact)


def _form(value: Any, exact: bool) -> Any:
    if is_object(value):
        return {key: _form(item, exact) for key, item in value.items()}
    if is_list(value):
        return [_form(item, exact) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [_number(value, exact)]
    return value if value is None or isinstance(value, bool) else f"={value}"


def _number(value: float, exact: bool) -> str:
    """`1`, `1.0` and `1e0` are one number."""
    if not exact:
        with suppress(OverflowError):  # an integer beyond every float
            value = float(value)
    sign, digits, exponent = Decimal(value if isinstance(value, int) else repr(value)).as_tuple()
    written = "".join(map(str, digits))
    short = written.rstrip("0")
    return (
        f"{'-' if sign and short else ''}{short.lstrip('0') or '0'}e{int(exponent) + len(written) - len(short) if short else 0}"
    )
