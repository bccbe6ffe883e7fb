"""Who is charged for a request. If two models share an account and its quota is spent, it is spent for both."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers import canonical, is_host_of, provider_of

__all__ = ["account_of"]


def account_of(endpoint: Endpoint) -> tuple[str, int]:
    """Return a value that is equal for two endpoints of one account: the server, and a hash of the key.

    A server at another URL is a separate account, whatever its provider's name. The key is the one that is sent, even if it
    comes from the environment.
    """
    row = provider_of(endpoint)
    url = urlsplit(endpoint.base_url or "")
    host = (url.hostname or "").lower()
    at_home = not host or any(is_host_of(host, domain) for domain in row.hosts)
    where = canonical(row.name) if at_home else f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}".lower()
    variable = row.api_key_variable if at_home else None
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else os.environ.get(variable or "", "")
    return where, hash(key)
