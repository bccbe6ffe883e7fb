"""A URL that holds a secret is refused, and no URL is shown with one."""

from __future__ import annotations

import pytest

from llmcore.adapters.secrets.scrubber import HIDDEN
from llmcore.adapters.secrets.urls import checked_url, shown_url
from llmcore.types import ConfigError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host:8000/v1", "https://host:8000/v1"),
        ("https://ann:pw@host:8000/v1", "https://host:8000/v1"),
        ("https://host/v1?api-version=1&tenant=abc#x", f"https://host/v1?api-version=1&tenant={HIDDEN}"),
        ("https://host/sk-abcdefgh12/v1", f"https://host/{HIDDEN}/v1"),
        ("ann:pw@host:8000/v1", "host:8000/v1"),
        ("host:8000/v1", "host:8000/v1"),
        ("http://[half", HIDDEN),
    ],
)
def test_a_url_is_shown_without_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "http:/u:Secret12PASS@h",
        "http://u%3ASecret12PASS%40h/v1",
        "http://h/v1;key=Secret12PASS",
        "http://h/v1%3Bkey%3DSecret12PASS",
        "http://h/v1?Secret12PASSword34",
        "http://h/v1?a=1%26api_key%3DSecret12PASS",
        "http://h/http://u:Secret12PASS@other/v1",
        "http://h/v1#key=Secret12PASS",
        "h:8000/v1;token=Secret12PASS",
    ],
)
def test_a_url_with_a_secret_anywhere_is_refused_and_shown_without(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_url(url)
    assert "Secret12PASS" not in str(caught.value) + shown_url(url)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "https://[::1]:8/v1", "https://host/v1?api-version=2024-01-01", "http://h/models/c@2024"]
)
def test_an_ordinary_url_is_taken_and_shown_as_it_is(url: str) -> None:
    assert shown_url(checked_url(url)) == url
