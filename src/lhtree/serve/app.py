"""The HTTP application: its OpenAPI description, routes, limits, request ids and the page."""

from __future__ import annotations

import json
import re
import uuid
from functools import partial
from importlib.resources import files
from typing import Any

from .. import __version__
from .._extras import import_extra
from .rows import KINDS, LARGEST, Finding
from .service import MOST_CHANGES, MOST_REASONS, Limits, Loaded, Refused, Service

_MOST_LISTED = 1000  # categories in the schema of a strict service


def describe_api(loaded: Loaded, limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"lhtree: {loaded.name}",
            "version": __version__,
            "description": f"Predictions and explanations of the model {loaded.sha256[:12]}.",
        },
        "paths": {
            "/predict": {"post": _post("predict", "Predict rows", "PredictRequest", "Predictions")},
            "/explain": {"post": _explain()},
            "/health": {
                "get": _get("health", "Whether the service is ready, and with which model", "Health")
            },
            "/model": {
                "get": _get("model", "The model: columns, ranges, categories, classes, versions", "Model")
            },
        },
        "components": {"schemas": _list_schemas(loaded, limits)},
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": _reference(name)}}


def _get(action: str, summary: str, answer: str) -> dict[str, Any]:
    return {
        "operationId": action,
        "summary": summary,
        "responses": {"200": {"description": "The answer.", "content": _content(answer)}},
    }


def _post(action: str, summary: str, request: str, answer: str) -> dict[str, Any]:
    errors = {
        "400": "The body is not JSON.",
        "413": "The request is too large.",
        "422": "Fields are missing or wrong; no row was decided.",
    }
    identifier = {
        "name": "X-Request-ID",
        "in": "header",
        "description": "Up to 128 visible ASCII characters that identify the request in the answer and in the log.",
        "schema": {"type": "string"},
    }
    return {
        "operationId": action,
        "summary": summary,
        "parameters": [identifier],
        "requestBody": {"required": True, "content": _content(request)},
        "responses": {
            "200": {"description": "The answer.", "content": _content(answer)},
            **{code: {"description": text, "content": _content("Errors")} for code, text in errors.items()},
        },
    }


def _explain() -> dict[str, Any]:
    described = _post(
        "explain",
        "Explain the prediction of one row, as JSON or, with Accept: text/plain, as text",
        "ExplainRequest",
        "Explanation",
    )
    described["responses"]["200"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    return described


def _list_schemas(loaded: Loaded, limits: Limits) -> dict[str, Any]:
    label = {"enum": loaded.model.labels} if loaded.model.labels else {"type": "number"}
    target = {"enum": [*(loaded.outputs or loaded.model.labels), None]}
    names = [column["name"] for column in loaded.columns if column["kind"] != "ignored"]
    return {
        "Row": _row_schema(loaded),
        "PredictRequest": {
            "type": "object",
            "required": ["rows"],
            "additionalProperties": False,
            "properties": {
                "rows": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": limits.n_rows,
                    "items": _reference("Row"),
                }
            },
            "examples": [{"rows": [loaded.example]}],
        },
        "ExplainRequest": {
            "type": "object",
            "required": ["row"],
            "additionalProperties": False,
            "properties": {"row": _reference("Row"), **_explain_options(loaded, target, names)},
            **({} if loaded.model.labels else {"dependentRequired": {"counterfactuals": ["to"]}}),
            "examples": [{"row": loaded.example, "reasons": 4}],
        },
        "Predictions": _object(
            {
                "request_id": {"type": "string"},
                "model": {"type": "string"},
                "predictions": {"type": "array", "items": _reference("Prediction")},
            }
        ),
        "Prediction": _prediction_schema(loaded, label),
        "Explanation": _explanation_schema(loaded, label),
        "Finding": _object(
            {
                "row": {"type": ["integer", "null"]},
                "field": {"type": ["string", "null"]},
                "kind": {"enum": list(KINDS), "description": " ".join(f"{k}: {v}" for k, v in KINDS.items())},
                "message": {"type": "string"},
            }
        ),
        "Errors": _object({"detail": {"type": "array", "items": _reference("Finding")}}),
        "Health": _object(
            {"status": {"const": "ok"}, "model": {"type": "string"}, "since": {"type": "string"}}
        ),
        "Model": {
            **_object({"name": {"type": "string"}, "sha256": {"type": "string"}}),
            "examples": [loaded.facts],
        },
    }


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties}


def _row_schema(loaded: Loaded) -> dict[str, Any]:
    columns = [column for column in loaded.columns if column["kind"] != "ignored"]
    return {
        "type": "object",
        "required": [column["name"] for column in columns],
        "additionalProperties": not loaded.is_strict,
        "properties": {
            column["name"]: _column_schema(column, is_strict=loaded.is_strict) for column in columns
        },
        "examples": [loaded.example],
    }


def _column_schema(column: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    if column["kind"] == "number":
        known = "" if column["low"] is None else f"from {column['low']:g} to {column['high']:g} in training; "
        return {
            "type": ["number", "boolean", "null"],
            "minimum": -LARGEST,
            "maximum": LARGEST,
            "description": f"A number, {known}null if it is unknown.",
            "examples": [column["example"]],
        }
    if column["kind"] == "date":
        return {
            "type": ["string", "null"],
            "format": "date",
            "description": f"A date, from {column['low']} to {column['high']} in training; null if it is unknown.",
            "examples": [column["example"]],
        }
    categories = column["categories"]
    types = sorted(
        {"string" if isinstance(one, str) else "number" for one in categories} or {"string", "number"}
    )
    described = {
        "type": [*types, *(["boolean"] if "number" in types else []), "null"],
        "description": f"One of {len(categories):,} categories; null if it is unknown.",
        "examples": [column["example"]],
    }
    if is_strict and len(categories) <= _MOST_LISTED:
        return {"enum": [*categories, None], **{key: described[key] for key in ("description", "examples")}}
    return described


def _explain_options(loaded: Loaded, target: dict[str, Any], names: list[str]) -> dict[str, Any]:
    listed = {"type": "array", "items": {"enum": names}}
    numbers = {
        "type": "array",
        "items": {"enum": [one["name"] for one in loaded.columns if one["kind"] == "number"]},
    }
    options = {
        "reasons": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_REASONS,
            "description": "Number of reasons.",
        },
        "counterfactuals": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_CHANGES,
            "description": "Number of small changes of the row that change its prediction.",
        },
        "features": {**listed, "description": "Columns that may change."},
        "immutable": {**listed, "description": "Columns that nobody can change."},
        "rising": {**numbers, "description": "Numbers that may only rise."},
        "falling": {**numbers, "description": "Numbers that may only fall."},
        "paths": {"type": "boolean", "description": "Whether to list the path through every tree."},
    }
    if loaded.model.labels or loaded.outputs:
        options["target"] = {**target, "description": "The class or output to explain."}
    if loaded.model.labels:
        options["to"] = {
            "enum": [*loaded.model.labels, None],
            "description": "The class that counterfactuals have to reach.",
        }
    else:
        number = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
        either = {**number, "type": ["number", "null"]}
        options["to"] = {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "anyOf": [{"prefixItems": [number, either]}, {"prefixItems": [either, number]}],
            "description": "The range that counterfactuals have to reach: [low, high], with null for no limit.",
        }
    return options


def _shares_schema(loaded: Loaded) -> dict[str, Any]:
    shares = {"type": "number", "minimum": 0, "maximum": 1}
    return _object({str(one): shares for one in loaded.model.labels})


def _prediction_schema(loaded: Loaded, label: dict[str, Any]) -> dict[str, Any]:
    warnings = {"type": "array", "items": _reference("Finding")}
    if loaded.model.labels:
        return _object(
            {"prediction": label, "proba": _shares_schema(loaded), "warnings": warnings}, ("warnings",)
        )
    prediction = _numbers_schema(loaded) if loaded.outputs else label
    return _object({"prediction": prediction, "warnings": warnings}, ("warnings",))


def _numbers_schema(loaded: Loaded) -> dict[str, Any]:
    return _object({name: {"type": "number"} for name in loaded.outputs})


def _explanation_schema(loaded: Loaded, label: dict[str, Any]) -> dict[str, Any]:
    numbers = {"type": "object", "additionalProperties": {"type": "number"}}
    optional = {
        "reasons": {"type": "array", "items": {"type": "object"}},
        "counterfactuals": {"type": "array", "items": {"type": "object"}},
        "no_counterfactuals": {"type": "string", "description": "Why there are no counterfactuals."},
        "paths": {"type": "array", "items": {"type": "object"}},
        "warnings": {"type": "array", "items": _reference("Finding")},
    }
    properties = {
        "request_id": {"type": "string"},
        "model": {"type": "string"},
        "prediction": label,
        **({"proba": _shares_schema(loaded)} if loaded.model.labels else {}),
        **({"predictions": _numbers_schema(loaded)} if loaded.outputs else {}),
        "row": {"type": "object"},
        "base": {"type": "number", "description": "Start of the sum of contributions."},
        "contributions": {**numbers, "description": "What every column adds."},
        "clipped": {"type": "number", "description": "Change by the ranges of linear leaves."},
        "total": {"type": "number", "description": "Sum of base, contributions and clipped."},
        "unit": {"type": "string"},
        "text": {"type": "string"},
    }
    return _object({**properties, **optional}, tuple(optional))


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
