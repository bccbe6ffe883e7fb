"""`wrap`: an SDK whose client stands on httpx or httpx2 gets calls in text as native calls.

    client = llmcore.integrations.httpx.wrap(openai.OpenAI(base_url=...))

This module imports neither library: it works with the one that the client stands on.
"""

from llmcore.integrations.httpx.clients import wrap_client as wrap

__all__ = ["wrap"]
