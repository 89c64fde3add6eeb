"""``lhtree serve``: a model behind HTTP; ``lhtree replay``: the decisions of its log, repeated."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any

import typer

from .._extras import import_extra
from ..serve.service import DecisionLog, Limits, Service, load_model
from ..serve.service import replay as repeat
from ._errors import ExitCode, Problem, describe, reading
from ._options import Json, ModelFile, Quiet
from ._show import note, show_json

EXAMPLES = (
    "lhtree serve model.lht",
    "lhtree serve model.lht --port 8080 --log decisions.jsonl",
    "lhtree replay decisions.jsonl model.lht",
)


def serve(
    model: ModelFile,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; with 0, the system chooses one.")
    ] = 8000,
    log: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Append every decision to this file, as JSON lines; - is stdout."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Unknown fields and unseen categories are errors, not warnings.")
    ] = False,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum rows of a request.")] = Limits().n_rows,
    max_bytes: Annotated[int, typer.Option(min=1, help="Maximum bytes of a request.")] = Limits().n_bytes,
    quiet: Quiet = False,
) -> None:
    """Serve predictions and explanations of a model over HTTP, with a page at /.

    POST /predict and /explain, GET /health, /model and /openapi.json. SIGHUP reads the model file again and
    opens the log anew, while requests are answered; a bad file changes nothing.
    """
    uvicorn = import_extra("uvicorn", "serve")
    from ..serve.app import build_app

    with ExitStack() as closing:
        decisions = _open_log(log)
        if decisions is not None:
            closing.callback(decisions.close)
        with reading(model):
            service = Service(model, Limits(max_bytes, max_rows), is_strict=strict, log=decisions)
        app = build_app(service)
        listener = closing.enter_context(_listen(host, port))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
        chosen = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        note(f"{model} ({service.loaded.sha256[:12]}) is served at http://{shown}:{chosen}", quiet=quiet)
        with _handle_signals(service, quiet=quiet):
            server.run(sockets=[listener])


def replay(
    log: Annotated[str, typer.Argument(metavar="LOG", help="Log written by lhtree serve --log.")],
    model: ModelFile,
    is_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the decisions of a log and compare the answers; exit with code 1 if one differs."""
    n_decisions, n_other = 0, 0
    differing: list[dict[str, Any]] = []
    with reading(model):
        loaded = load_model(model, n_rows=sys.maxsize)  # the service may have had any limit
    with reading(log):
        for one in repeat(log, loaded):
            n_decisions += 1
            n_other += not one.is_same_model
            if not one.is_same:
                differing.append(
                    {
                        "request_id": one.request_id,
                        "action": one.action,
                        "before": one.before,
                        "after": one.after,
                    }
                )
    if is_json:
        show_json({"n_decisions": n_decisions, "n_other_model": n_other, "differing": differing})
    else:
        for each in differing:
            note(f"request {each['request_id']} ({each['action']}) has another answer", quiet=quiet)
        print(f"{n_decisions:,} decisions, {n_decisions - len(differing):,} with the same answer")
        if n_other:
            print(f"{n_other:,} were made by another model file")
    if differing:
        raise typer.Exit(ExitCode.DATA)


def _open_log(log: str | None) -> DecisionLog | None:
    if log is None:
        return None
    try:
        return DecisionLog(log)
    except OSError as error:
        raise Problem(f"--log {log}: {error.strerror}", ExitCode.WRITE) from None


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise Problem(
            f"--host {host} --port {port}: {error.strerror or error}; pass another port, or 0 for a free one",
            ExitCode.USAGE,
        ) from None


@contextmanager
def _handle_signals(service: Service, *, quiet: bool) -> Iterator[None]:
    """Reload the model on SIGHUP, in a thread."""

    def reload() -> None:
        try:
            loaded = service.reload()
        except (ValueError, OSError) as error:
            note(f"lhtree: the model was not reloaded: {describe(error)}")
        else:
            note(f"{loaded.name} ({loaded.sha256[:12]}) was reloaded", quiet=quiet)

    # The server raises SIGINT and SIGTERM again after it has stopped, when nothing is left to do.
    handlers: dict[str, Callable[..., Any]] = {
        "SIGINT": lambda *_: None,
        "SIGTERM": lambda *_: None,
        "SIGHUP": lambda *_: threading.Thread(target=reload).start(),  # Windows lacks it
    }
    numbers = {getattr(signal, name): handler for name, handler in handlers.items() if hasattr(signal, name)}
    before = {number: signal.signal(number, handler) for number, handler in numbers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
