"""The HTTP application: routes, limits, request ids and the page."""

from __future__ import annotations

import json
import re
import uuid
from functools import partial
from importlib.resources import files
from typing import Any

from .._extras import import_extra
from .rows import Finding
from .schema import describe_api
from .service import Refused, Service

_ID = re.compile(r"[\x21-\x7e]{1,128}")
_QUICK_ROWS = 64  # more are scored in a thread, so that other requests do not wait
_ASSETS = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; "
    "style-src 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class BadBody(Exception):  # noqa: N818
    """A body that is too large, or not JSON."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def build_app(service: Service) -> Any:
    """Return the FastAPI application of a service.

    Parameters
    ----------
    service : Service
        The model, its limits and its log.

    Returns
    -------
    fastapi.FastAPI
        ``POST /predict`` and ``/explain``, ``GET /health``, ``/model``, ``/openapi.json`` and the page at ``/``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import lhtree
    >>> from lhtree.serve import Service, build_app
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> lhtree.save(lhtree.LHTClassifier().fit(X, y), "wine.lht")
    >>> app = build_app(Service("wine.lht"))
    >>> sorted(app.openapi()["paths"])
    ['/explain', '/health', '/model', '/predict']
    """
    fastapi = import_extra("fastapi", "serve")
    concurrency = import_extra("starlette.concurrency", "serve")
    responses = import_extra("starlette.responses", "serve")
    app = fastapi.FastAPI(title="lhtree", docs_url=None, redoc_url=None)
    app.openapi = lambda: describe_api(service.loaded, service.limits)

    def respond(content: Any, request_id: str, status: int = 200) -> Any:
        body = json.dumps(content, allow_nan=False, separators=(",", ":"))
        return responses.Response(body, status, {"X-Request-ID": request_id}, "application/json")

    async def answer(request: Any, action: str) -> Any:
        request_id = _choose_id(request.headers.get("x-request-id"))
        try:
            body = _parse(await _read_body(request, service.limits.n_bytes))
            if action == "predict" and len(_list_rows(body)) <= _QUICK_ROWS:
                found = service.answer(action, body, request_id)
            else:
                found = await concurrency.run_in_threadpool(service.answer, action, body, request_id)
        except BadBody as error:
            finding = Finding(None, None, "invalid", str(error))
            return respond({"detail": [finding._asdict()]}, request_id, error.status)
        except Refused as error:
            return respond({"detail": error.to_list()}, request_id, 422)
        if action == "explain" and _wants_text(request.headers.get("accept", "")):
            return responses.PlainTextResponse(f"{found['text']}\n", 200, {"X-Request-ID": request_id})
        return respond({"request_id": request_id, **found}, request_id)

    async def health(request: Any) -> Any:
        loaded = service.loaded
        return responses.JSONResponse({"status": "ok", "model": loaded.sha256, "since": loaded.since})

    async def model(request: Any) -> Any:
        return responses.JSONResponse(service.loaded.facts)

    for path, method, endpoint in (
        ("/predict", "POST", partial(answer, action="predict")),
        ("/explain", "POST", partial(answer, action="explain")),
        ("/health", "GET", health),
        ("/model", "GET", model),
    ):
        app.add_route(path, endpoint, methods=[method])
    folder = files(__package__) / "assets"
    for path, (name, kind) in _ASSETS.items():
        content = (folder / name).read_bytes()
        app.add_route(path, _serve_asset(responses.Response(content, 200, _HEADERS, kind)), methods=["GET"])
    return app


def _serve_asset(response: Any) -> Any:
    async def asset(request: Any) -> Any:
        return response

    return asset


def _choose_id(given: str | None) -> str:
    """Return the id of a request: the caller's, if it is short and printable, else a new one."""
    return given if given is not None and _ID.fullmatch(given) else uuid.uuid4().hex


async def _read_body(request: Any, most: int) -> bytes:
    too_large = BadBody(413, f"the request is larger than {most:,} bytes: pass fewer rows at a time.")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise too_large
    parts, n_bytes = [], 0
    async for part in request.stream():
        n_bytes += len(part)
        if n_bytes > most:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _parse(body: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON: pass null for a missing value")

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise BadBody(400, f"the body is not valid JSON ({error}): pass an object.") from None


def _list_rows(body: Any) -> list[Any]:
    rows = body.get("rows") if isinstance(body, dict) else None
    return rows if isinstance(rows, list) else []


def _wants_text(accept: str) -> bool:
    """Whether text is preferred: it is named, and JSON is not."""
    return "text/plain" in accept and "json" not in accept
