"""The gateway as a Starlette application: routes, and the course of one request.

An endpoint is a plain ASGI callable: Starlette's `BaseHTTPMiddleware` would hide that a client left.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llmcore.adapters.base import Adapter
from llmcore.gateway.admission import Admission
from llmcore.gateway.orchestrated import Orchestrated
from llmcore.gateway.pass_through import Asked, PassThrough
from llmcore.gateway.receiving import ClientGoneError, read_request, receive_body, unless_client_leaves
from llmcore.gateway.sending import Sender
from llmcore.gateway.settings import GatewaySettings, load_configuration, settings_of
from llmcore.gateway.telemetry import Metrics, RequestRecord
from llmcore.gateway.upstreams import upstream_of
from llmcore.gateway.wires import ANTHROPIC, COUNT_TOKENS, WIRES, ClientWire, GatewayError, error_wire
from llmcore.models import ModelConfig, ModelRegistry
from llmcore.models.reading import gateway_section
from llmcore.types import ConfigError, ModelNotFound
from llmcore.types.logs import failure_name, logger
from llmcore.types.shared.rates import RateLimit
from llmcore.warming import warm_up
from llmcore.wire.ids import random_id

__all__ = ["Configuration", "create_app"]

_log = logger("gateway")
Configuration = ModelRegistry | Mapping[str, Any] | str | os.PathLike[str]


def create_app(
    configuration: Configuration,
    settings: GatewaySettings | Mapping[str, Any] | None = None,
    *,
    adapter: Adapter | Mapping[str, Adapter] | None = None,
    rate_limit: RateLimit | None = None,
) -> Starlette:
    """The gateway for a configuration: a registry, its data, or the path of its YAML file or folder.

    `settings`: the section `gateway`; by default that of the configuration. `adapter`: who makes the requests of orchestrated
    models, as of an `Orchestrator`. `rate_limit`: counts the requests of each key, instead of `limits.requests_per_minute`
    (docs/fleet.md). Requests may come only while the application's lifespan runs.

    Raises `ConfigError` for a configuration that cannot be served, with the key and the fix.
    """
    registry, found = _read(configuration)
    if settings is not None:
        found = settings if isinstance(settings, GatewaySettings) else settings_of(settings, registry.aliases)
    for config in registry:
        if found.of(config.alias).mode == "pass_through":
            for place in config.places:
                upstream_of(config.at(place))
    return _Gateway(registry, found, adapter, rate_limit).app


def _read(configuration: Configuration) -> tuple[ModelRegistry, GatewaySettings]:
    if isinstance(configuration, ModelRegistry):
        return configuration, GatewaySettings()
    if isinstance(configuration, Mapping):
        registry = ModelRegistry.from_dict(configuration)
        section = gateway_section(configuration, "the given settings", os.environ)
        return registry, settings_of(section, registry.aliases)
    return load_configuration(configuration)


class _Gateway:
    """What the endpoints share."""

    def __init__(self, registry: ModelRegistry, settings: GatewaySettings, adapter: Any, rate_limit: RateLimit | None) -> None:
        self.registry, self.settings = registry, settings
        self.admission = Admission(settings, rate_limit)
        self.metrics = Metrics()
        self.orchestrated = Orchestrated(registry, settings, adapter)
        self._loads_layers = adapter is None and any(settings.of(config.alias).mode == "orchestrated" for config in registry)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=256)
        self._client = httpx.AsyncClient(limits=limits, follow_redirects=False)
        self.pass_through = PassThrough(self._client)
        self.app = Starlette(
            routes=[
                Route("/", _hello, methods=["GET", "HEAD"]),
                Route("/health", _health, methods=["GET", "HEAD"]),
                Route("/metrics", self._show_metrics, methods=["GET"]),
                Route("/v1/models", self._list_models, methods=["GET"]),
                Route("/v1/models/{alias:path}", self._show_model, methods=["GET"]),
                *(Route(f"/v1{wire.path}", _Endpoint(self, wire), methods=["POST"]) for wire in WIRES),
                Route(f"/v1{COUNT_TOKENS}", _Endpoint(self, replace(ANTHROPIC, name="count-tokens")), methods=["POST"]),
            ],
            exception_handlers={HTTPException: _of_routing},
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        if self._loads_layers:
            await warm_up()
        try:
            yield
        finally:
            await self._client.aclose()
            await self.orchestrated.close()
            self.metrics.close()

    async def _show_metrics(self, request: Request) -> Response:
        return Response(self.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _list_models(self, request: Request) -> Response:
        try:
            self.admission.client(request.headers)
        except GatewayError as error:
            return _error_response(error, _asked_wire(request))
        models = [_model(config) for config in self.registry]
        ends = {"first_id": models[0]["id"], "last_id": models[-1]["id"], "has_more": False}
        return JSONResponse({"object": "list", "data": models, **ends})

    async def _show_model(self, request: Request) -> Response:
        try:
            self.admission.client(request.headers)
            return JSONResponse(_model(self.model(request.path_params["alias"])))
        except GatewayError as error:
            return _error_response(error, _asked_wire(request))

    def model(self, alias: str) -> ModelConfig:
        """The model of an alias. Raises `GatewayError` (404)."""
        try:
            return self.registry.get(alias)
        except ModelNotFound as error:
            raise GatewayError(404, str(error), code="model_not_found") from None


def _model(config: ModelConfig) -> dict[str, Any]:
    """A model in the forms of OpenAI and Anthropic at once."""
    openai = {"object": "model", "created": 0, "owned_by": config.provider}
    return {"id": config.alias, **openai, "type": "model", "display_name": config.alias, "created_at": "1970-01-01T00:00:00Z"}


def _asked_wire(request: Request) -> ClientWire:
    """The wire of a client that asks for models: Anthropic's SDK names its version."""
    return ANTHROPIC if "anthropic-version" in request.headers else error_wire(request.url.path)


async def _hello(request: Request) -> Response:
    """Coding agents ask `HEAD /` to see whether the server is there."""
    return JSONResponse({"name": "llmcore gateway"})


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _error_response(error: GatewayError, wire: ClientWire) -> Response:
    return JSONResponse(wire.error(error), error.status)


async def _of_routing(request: Request, error: Exception) -> Response:
    """An unknown path, or a method that a path does not have."""
    assert isinstance(error, HTTPException)
    words = f"the gateway has no {request.method} {request.url.path[:200]}"
    return _error_response(GatewayError(error.status_code, words), error_wire(request.url.path))


class _Endpoint:
    """`POST` to one wire."""

    def __init__(self, gateway: _Gateway, wire: ClientWire) -> None:
        self._gateway, self._wire = gateway, wire

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        record = RequestRecord(self._wire.name, random_id("req_"))
        sender = Sender(send, self._wire, record.request_id)
        metrics = self._gateway.metrics
        metrics.began()
        try:
            await self._answered(Request(scope), receive, sender, record)
        finally:
            record.status, record.size = record.status or sender.status, sender.size
            record.first_byte = sender.first_byte
            metrics.ended(record)

    async def _answered(self, request: Request, receive: Any, sender: Sender, record: RequestRecord) -> None:
        admission, limits = self._gateway.admission, self._gateway.settings.limits
        try:
            record.client = admission.client(request.headers)
            async with admission.admitted(record.client):
                body = await receive_body(receive, limits, request.headers.get("content-length"))
                await unless_client_leaves(receive, self._reply(request, body, sender, record))
        except ClientGoneError:
            record.left()
        except GatewayError as error:
            record.problem = error.kind
            await sender.error(error)
        except Exception as error:
            record.problem = failure_name(error)
            frames = "".join(traceback.format_tb(error.__traceback__))  # the message may quote a client or a model
            _log.error("a request failed: %s\n%s", record.problem, frames)
            await sender.error(GatewayError(500, "the gateway failed; its log has the reason", kind=record.problem))

    async def _reply(self, request: Request, body: bytes, sender: Sender, record: RequestRecord) -> None:
        gateway = self._gateway
        headers = [(name, value) for name, value in request.headers.items()]
        content = read_request(body, self._wire, gateway.settings.limits)
        asked = Asked(self._wire, content, headers, request.url.query)
        config = gateway.model(content["model"])
        settings = gateway.settings.of(config.alias)
        record.model, record.mode = config.alias, settings.mode
        try:
            if request.url.path.endswith(COUNT_TOKENS):
                await self._count(asked, config, sender)
            elif settings.mode == "pass_through":
                await gateway.pass_through.answer(asked, config, settings, sender, record)
            else:
                await gateway.orchestrated.answer(asked, config, settings, sender, record)
        except ConfigError as error:  # the registry was changed
            raise GatewayError(500, str(error), kind="ConfigError") from error

    async def _count(self, asked: Asked, config: ModelConfig, sender: Sender) -> None:
        settings = self._gateway.settings.of(config.alias)
        if settings.mode == "pass_through":
            await self._gateway.pass_through.count_tokens(asked, config, settings, sender)
        else:
            await self._gateway.orchestrated.count_tokens(asked, sender)
