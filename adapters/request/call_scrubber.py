"""The scrubber of one model call: removes the process's known secrets and those of this call."""

from __future__ import annotations

from llmcore.adapters.base import ModelCall
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.secrets.scrubber import Scrubber

__all__ = ["call_scrubber"]


def call_scrubber(call: ModelCall) -> Scrubber:
    """Return a scrubber for all secrets that the process knows and for those sent with this call."""
    endpoint, request = call.endpoint, call.request
    sent = {
        "api_key": endpoint.api_key.get_secret_value() if endpoint.api_key is not None else None,
        "base_url": endpoint.base_url,
        "extra_headers": {**endpoint.extra_headers, **(request.extra_headers or {})},
        "extra_body": request.extra_body,
    }
    return process_scrubber(secrets_in(sent))
