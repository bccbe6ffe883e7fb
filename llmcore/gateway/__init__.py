"""The gateway: any client of OpenAI's or Anthropic's API gets native calls from models that write text (docs/gateway.md).

    app = create_app("llm.yaml")          # an ASGI application; `llmcore serve llm.yaml` runs it

Needs the extra `llmcore-engine[gateway]`. If a package is missing, `ConfigError` names it.
"""

from __future__ import annotations

from llmcore.types import ConfigError

try:
    import httpx
    import prometheus_client
    import starlette
    import uvicorn
except ImportError as error:
    raise ConfigError(f"the gateway needs {error.name}: pip install 'llmcore-engine[gateway]'") from error

from llmcore.gateway.app import create_app
from llmcore.gateway.settings import GatewayLimits, GatewaySettings, ModelSettings

__all__ = ["GatewayLimits", "GatewaySettings", "ModelSettings", "create_app"]

del httpx, prometheus_client, starlette, uvicorn
