"""A cloud whose credentials are missing: one error in our words, at once, and nothing of LiteLLM's on stderr."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.litellm.errors.table import classify
from llmcore.orchestrator import Orchestrator
from llmcore.types import AuthenticationFailed, FallbackExhausted, InternalError, RemoteServerError
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_failures import Made
from tests.run.support import FAST

CLAUDE = "anthropic.claude-3-5-sonnet-20240620-v1:0"


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")


def bedrock(**settings: str) -> Orchestrator:
    model = {"provider": "bedrock", "model": CLAUDE, "base_url": "http://127.0.0.1:9", **settings}
    return Orchestrator({"models": {"m": model}}, strategies=FAST)


@pytest.mark.anyio
@pytest.mark.parametrize("half", [False, True], ids=["none", "half of them"])
async def test_bedrock_without_credentials_is_not_asked(
    half: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if half:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0123456789012345")
    async with bedrock() as orchestrator:
        with pytest.raises(
            AuthenticationFailed, match="nothing was sent, for want of AWS's credentials: set the variables"
        ) as caught:
            await orchestrator.run("hi")
    assert len(caught.value.attempts) == 1
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.anyio
async def test_bedrock_with_a_token_and_a_dead_port_is_a_failed_connection() -> None:
    async with bedrock(api_key="bearer-0123456789") as orchestrator:
        with pytest.raises(FallbackExhausted) as caught:
            await orchestrator.run("hi")
    assert isinstance(caught.value.__cause__, RemoteServerError)
    assert "m at http://127.0.0.1:9: the connection failed" in str(caught.value.__cause__)


class APIConnectionError(Exception):
    """Named as LiteLLM's, by which it tells what fails beneath it."""


class DefaultCredentialsError(Exception):
    """Named as google-auth's."""


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "claude-sonnet-4-5@20250929"])
@pytest.mark.parametrize("status", [None, 401, 500])
def test_google_without_credentials(model: str, status: int | None) -> None:
    call = call_of(Endpoint(provider="vertex_ai", model=model, alias="v"))
    told = Made("Your default credentials were not found. To set them up, see the documentation", status or 500)
    chained = Made("Something else", status or 500)
    chained.__cause__ = DefaultCredentialsError("File gone.json was not found.")
    for error in (told, chained):
        ours = classify(error, call)
        assert isinstance(ours, AuthenticationFailed)
        assert str(ours).startswith(
            "v at vertex_ai: nothing was sent, for want of Google's default credentials: set the variable"
        )


def _of(module: str, name: str, base: type[Exception] = Exception, **fields: Any) -> type[Exception]:
    return type(name, (base,), {"__module__": module, **fields})


@pytest.mark.parametrize(
    ("beneath", "kind", "words"),
    [
        (_of("google.auth.exceptions", "RefreshError"), AuthenticationFailed, "the sign-in was refused: renew Google's default"),
        (_of("google.auth.exceptions", "RefreshError", retryable=True), RemoteServerError, "could not be asked"),
        (_of("google.auth.exceptions", "TransportError", OSError), RemoteServerError, "could not be asked"),
        (_of("somebody.else", "RefreshError"), InternalError, "invalid_grant"),
    ],
)
def test_a_sign_in_that_fails_is_no_fault_of_the_request(beneath: type[Exception], kind: type[Exception], words: str) -> None:
    error = APIConnectionError("failed to parse: invalid_grant: account not found")
    error.__cause__ = beneath("invalid_grant: account not found")
    ours = classify(error, call_of(Endpoint(provider="vertex_ai", model="gemini-2.5-flash", alias="v")))
    assert type(ours) is kind
    assert words in str(ours)


def test_a_sign_in_of_others_is_none_of_a_provider_with_a_key() -> None:
    error = APIConnectionError("cannot connect")
    error.__cause__ = _of("google.auth.exceptions", "RefreshError")("x")
    assert type(classify(error, call_of(Endpoint(provider="openai", model="gpt-4o")))) is RemoteServerError


def test_a_gateway_without_credentials_of_its_own_is_a_server_that_failed() -> None:
    call = call_of(Endpoint(provider="openai_compatible", model="m", base_url="http://127.0.0.1:9/v1"))
    assert isinstance(classify(Made("Unable to locate credentials", 500), call), RemoteServerError)
