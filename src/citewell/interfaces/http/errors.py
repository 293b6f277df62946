"""The one table from errors to HTTP statuses, and handlers that shape every failure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Match

from citewell import errors
from citewell.instrumentation import get_current_operation
from citewell.interfaces.problem import Problem, build_problem, shorten_text, to_problem
from citewell.messages import Text
from citewell.runtime.shutdown import BACK
from citewell.service.admin.forbidden_folders import redact_folders

STATUS: dict[type[errors.CitewellError], int] = {
    errors.InvalidInput: 422,
    errors.ConfigError: 500,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.UnreadableFile: 422,
    errors.ModelUnavailable: 503,
    errors.TransientError: 503,
    errors.PermanentError: 502,
    errors.StatementFailed: 422,
    errors.SourceUnavailable: 503,
    errors.StorageError: 503,
    errors.Stopped: 503,
    errors.StepLimit: 500,
    errors.CitewellError: 500,
}
HINTS = {
    404: Text("the paths are listed at /api/openapi.json"),
    405: Text("the paths and their methods are listed at /api/openapi.json"),
    413: Text("send less at a time"),
}
GONE = 499  # nobody reads it: the client has left
# where the error that refused a request is in its scope, for those who count
REFUSAL = "citewell.refusal"
MOST_FAULTS = 10  # that are told of one body
LONGEST_FAULT, LONGEST_PLACE = 300, 100  # characters of one of them, and of where it is
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Refused(errors.CitewellError):
    """The HTTP layer refuses a request, with its status. `limit`: of rates.py, if reached."""

    limit = ""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: str = "",
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.status = status
        self.headers = headers


def get_error_status(error: errors.CitewellError) -> int:
    """The status of the nearest class in the table."""
    if isinstance(error, Refused):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def get_error_headers(error: errors.CitewellError) -> dict[str, str] | None:
    """What goes with its status."""
    if isinstance(error, errors.Stopped):
        return {"Retry-After": str(BACK)}
    return error.headers if isinstance(error, Refused) else None


def build_json_reply(
    status: int, body: Problem, headers: dict[str, str] | None = None
) -> JSONResponse:
    return JSONResponse(body, status_code=status, headers=headers)


def get_redactor(app: Starlette) -> Callable[[str], str]:
    """What of a text goes to whoever asks: no folders of this machine. The log has them."""
    return partial(redact_folders, settings=app.state.citewell.settings)


async def handle_known_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.CitewellError)
    request.scope[REFUSAL] = error
    return build_json_reply(
        get_error_status(error),
        to_problem(error, get_redactor(request.app)),
        get_error_headers(error),
    )


async def handle_http_error(request: Request, error: Exception) -> JSONResponse:
    """What the framework raises: no such path, wrong method, a body that cannot be read."""
    assert isinstance(error, HTTPException)
    name = HTTPStatus(error.status_code).name.lower()
    headers = (
        {"Allow": _list_allowed_methods(request)}
        if error.status_code == 405
        else dict(error.headers or {})
    )
    return build_json_reply(
        error.status_code,
        build_problem(name, str(error.detail), HINTS.get(error.status_code, "")),
        headers,
    )


def _list_allowed_methods(request: Request) -> str:
    """All that the path can be asked with; the framework names those of its first route only."""
    routes = request.app.routes
    found = [
        way
        for way in METHODS
        if any(route.matches({**request.scope, "method": way})[0] is Match.FULL for route in routes)
    ]
    return ", ".join(found)


async def handle_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """A body or a parameter of the wrong form. The value itself is not sent back."""
    assert isinstance(error, RequestValidationError)
    told = error.errors()
    faults = [_describe_field_fault(each) for each in told[:MOST_FAULTS]]
    if any(each["type"] == "json_invalid" for each in told):
        return build_json_reply(
            400,
            build_problem(
                "invalid_json",
                Text("the body is not valid JSON"),
                Text("send one JSON object, in UTF-8"),
                faults,
            ),
        )
    message = Text("; ").join(
        Text("{field}: {message}", field=each["field"], message=each["message"]) for each in faults
    )
    if len(told) > MOST_FAULTS:
        message += Text("; and {told:,} more", told=len(told) - MOST_FAULTS)
    hint = Text("the form is at /api/openapi.json")
    said = request.headers.get("content-type", "")
    if not said.startswith("application/json") and any(
        each["loc"][:1] == ("body",) for each in told
    ):
        hint = Text("send it as JSON with Content-Type: application/json; {hint}", hint=hint)
    return build_json_reply(422, build_problem("invalid_input", message, hint, faults))


def build_fault(what: str = "") -> Problem:
    """A fault of ours: the log has the traceback, who asked a line, both the request's id."""
    request_id = get_current_request_id()
    hint = Text(
        "a fault of Citewell; the server's log says where, at request {request_id}: "
        "please report it",
        request_id=request_id,
    )
    return build_problem(
        "internal",
        Text("internal error: {what}", what=what) if what else Text("internal error"),
        hint,
        {"request_id": request_id},
    )


def get_current_request_id() -> str:
    """Of the request that is being answered."""
    this = get_current_operation()
    return this.ids.get("request_id", "") if this is not None else ""


def _describe_field_fault(error: dict[str, Any]) -> dict[str, str]:
    return {
        "field": format_error_place(error),
        "message": shorten_text(str(error["msg"]), LONGEST_FAULT),
    }


def format_error_place(error: dict[str, Any]) -> str:
    """Where in a body or address something is wrong; names of strangers are cut."""
    return (
        shorten_text(".".join(str(part) for part in error["loc"] if part != "body"), LONGEST_PLACE)
        or "body"
    )


HANDLERS: dict[int | type[Exception], Callable[[Request, Exception], Any]] = {
    errors.CitewellError: handle_known_error,
    HTTPException: handle_http_error,
    RequestValidationError: handle_invalid_request,
}
