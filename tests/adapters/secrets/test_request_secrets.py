"""Where the secrets of a request stand."""

from __future__ import annotations

import base64

import pytest

from llmcore.adapters.secrets.request_secrets import header_secrets, secrets_in


def test_the_secrets_of_a_request() -> None:
    login = base64.b64encode(b"ann:passWord1").decode()
    arguments = {
        "api_key": "keySecret1",
        "api_base": "https://ann:urlSecret1@host/v1?api-version=2024-01-01&code=urlSecret2",
        "extra_headers": {"X-Gate": "gateSecret", "User-Agent": "my-program/1.0", "Authorization": f"Basic {login}"},
        "extra_body": {"guard": [{"service": {"auth": {"token": "bodySecret1"}}}], "user": "someone-else"},
        "vault_password": "bodySecret2",
        "messages": [{"role": "user", "content": "hello there", "key": "noSecretAtAll"}],
        "max_tokens": 5,
    }
    found = set(secrets_in(arguments))
    wanted = {"keySecret1", "urlSecret1", "urlSecret2", "gateSecret", login, "passWord1", "bodySecret1", "bodySecret2"}
    assert wanted <= found
    assert not found & {"my-program/1.0", "someone-else", "noSecretAtAll", "2024-01-01", "host"}


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ("partSecret1", {"partSecret1"}),
        ("Bearer partSecret1", {"partSecret1"}),
        ("session=partSecret1", {"session=partSecret1", "partSecret1"}),
        ("session=partSecret1; path=partSecret2", {"partSecret1", "partSecret2"}),
        ("session=partSecret1;path=partSecret2", {"partSecret1", "partSecret2"}),
        ('session="partSecret1"', {"partSecret1"}),
        ('Token token="partSecret1", id=partSecret2', {"partSecret1", "partSecret2"}),
        ("partSecret1,partSecret2", {"partSecret1", "partSecret2"}),
        ("session=partSecret1==", {"partSecret1=="}),
        ("ann:partSecret1", {"partSecret1"}),
        ('{"token": "partSecret1"}', {"partSecret1"}),
        ("Basic partSecret1 partSecret2", {"partSecret1", "partSecret2"}),
    ],
)
def test_every_part_of_a_header_is_a_secret(value: str, secrets: set[str]) -> None:
    assert secrets <= set(header_secrets({"Cookie": value}))
