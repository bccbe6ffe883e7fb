"""The application behind the page. It answers only to this machine."""

from __future__ import annotations

import json
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from llmcore.cli.output import as_json_text
from llmcore.cli.playing.views import reading
from llmcore.support.values.narrowing import is_object
from llmcore.types import CallerError

__all__ = ["MAX_BODY", "play_app"]

MAX_BODY = 2_000_000
"""The most bytes of a reply with its tools."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def play_app() -> Starlette:
    """The application. Other host names are refused, so that no foreign page can reach it by a name of its own."""
    routes = [Route("/", _page), Route("/read", _read, methods=["POST"])]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=routes, middleware=[hosts])


def _page(request: Request) -> Response:
    return HTMLResponse(files("llmcore.cli.playing").joinpath("page.html").read_text("utf-8"), headers=_HEADERS)


async def _read(request: Request) -> Response:
    if request.headers.get("content-type") != "application/json":  # a foreign page can send only others without being asked
        return _error("the body must be application/json", 415)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return _error(f"a reply of more than {MAX_BODY} bytes", 413)
    try:
        data = json.loads(body)
    except ValueError:
        return _error("the body is no JSON", 400)
    reply, tools, size = (data.get(name) for name in ("reply", "tools", "size")) if is_object(data) else (None, None, None)
    if not (isinstance(reply, str) and isinstance(tools, str) and isinstance(size, int)):
        return _error("the body needs `reply` and `tools` as text, and `size` as a number", 400)
    try:
        found = await run_in_threadpool(reading, reply, tools, size)
    except CallerError as error:
        return _error(str(error), 400)
    return Response(as_json_text(found), media_type="application/json")  # with escapes for what UTF-8 cannot encode


def _error(message: str, status: int) -> Response:
    return Response(as_json_text({"error": message}), status, media_type="application/json")
