"""Who is charged for a request: what two models share when the quota of one being spent means that the other's is, too."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers import canonical, is_host_of, provider_of

__all__ = ["account_of"]


def account_of(endpoint: Endpoint) -> tuple[str, int]:
    """The same for two endpoints of one account: where it is held, and by which key, as a number that tells nothing of it.

    A server at a URL of its own is an account by itself, whatever the provider is called: two servers have two owners, or
    two quotas. The key is the one that is sent, also where it comes from the environment.
    """
    row = provider_of(endpoint)
    url = urlsplit(endpoint.base_url or "")
    host = (url.hostname or "").lower()
    at_home = not host or any(is_host_of(host, domain) for domain in row.hosts)
    where = canonical(row.name) if at_home else f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}".lower()
    variable = row.api_key_variable if at_home else None
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else os.environ.get(variable or "", "")
    return where, hash(key)
