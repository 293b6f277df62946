"""The one table from errors to HTTP statuses, and the handlers that put every failure into the one
error shape.
"""

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
from citewell.instrumentation import now
from citewell.interfaces.problem import Problem, problem, problem_of, shortened
from citewell.runtime.shutdown import BACK
from citewell.service.admin.forbidden_folders import without_folders

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
    errors.SourceUnavailable: 503,
    errors.StorageError: 503,
    errors.Stopped: 503,
    errors.StepLimit: 500,
    errors.CitewellError: 500,
}
HINTS = {
    404: "the paths are listed at /api/openapi.json",
    405: "the paths and their methods are listed at /api/openapi.json",
    413: "send less at a time",
}
GONE = 499  # nobody reads it: the client has left
# where the error that refused a request is in its scope, for those who count
REFUSAL = "citewell.refusal"
MOST_FAULTS = 10  # that are told of one body
LONGEST_FAULT, LONGEST_PLACE = 300, 100  # characters of one of them, and of where it is
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Refused(errors.CitewellError):
    """The HTTP layer itself refuses a request; it knows its status. `limit`: the one of rates.py
    that was reached.
    """

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


def status_of(error: errors.CitewellError) -> int:
    """The status of the nearest class in the table."""
    if isinstance(error, Refused):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def headers_of(error: errors.CitewellError) -> dict[str, str] | None:
    """What goes with its status."""
    if isinstance(error, errors.Stopped):
        return {"Retry-After": str(BACK)}
    return error.headers if isinstance(error, Refused) else None


def reply(status: int, body: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body, status_code=status, headers=headers)


def telling(app: Starlette) -> Callable[[str], str]:
    """What of a text goes to whoever asks: no folders of this machine. The log has them."""
    return partial(without_folders, settings=app.state.citewell.settings)


async def known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.CitewellError)
    request.scope[REFUSAL] = error
    return reply(status_of(error), problem_of(error, telling(request.app)), headers_of(error))


async def http(request: Request, error: Exception) -> JSONResponse:
    """What the framework raises: no such path, wrong method, a body that cannot be read."""
    assert isinstance(error, HTTPException)
    name = HTTPStatus(error.status_code).name.lower()
    headers = (
        {"Allow": _methods(request)} if error.status_code == 405 else dict(error.headers or {})
    )
    return reply(
        error.status_code,
        problem(name, str(error.detail), HINTS.get(error.status_code, "")),
        headers,
    )


def _methods(request: Request) -> str:
    """All that the path can be asked with; the framework names those of its first route only."""
    routes = request.app.routes
    found = [
        way
        for way in METHODS
        if any(route.matches({**request.scope, "method": way})[0] is Match.FULL for route in routes)
    ]
    return ", ".join(found)


async def invalid(request: Request, error: Exception) -> JSONResponse:
    """A body or a parameter of the wrong form. The value itself is not sent back."""
    assert isinstance(error, RequestValidationError)
    told = error.errors()
    faults = [_fault(each) for each in told[:MOST_FAULTS]]
    if any(each["type"] == "json_invalid" for each in told):
        return reply(
            400,
            problem(
                "invalid_json",
                "the body is not valid JSON",
                "send one JSON object, in UTF-8",
                faults,
            ),
        )
    message = "; ".join(f"{each['field']}: {each['message']}" for each in faults)
    if len(told) > MOST_FAULTS:
        message += f"; and {len(told) - MOST_FAULTS:,} more"
    hint = "the form is at /api/openapi.json"
    said = request.headers.get("content-type", "")
    if not said.startswith("application/json") and any(
        each["loc"][:1] == ("body",) for each in told
    ):
        hint = f"send it as JSON with Content-Type: application/json; {hint}"
    return reply(422, problem("invalid_input", message, hint, faults))


def fault(what: str = "") -> Problem:
    """A fault of ours: the log has the traceback, who asked a line, and both the id of the
    request.
    """
    request_id = request_id_now()
    hint = (
        f"a fault of Citewell; the server's log says where, at request {request_id}: please "
        "report it"
    )
    return problem(
        "internal",
        f"internal error: {what}" if what else "internal error",
        hint,
        {"request_id": request_id},
    )


def request_id_now() -> str:
    """Of the request that is being answered."""
    this = now()
    return this.ids.get("request_id", "") if this is not None else ""


def _fault(error: dict[str, Any]) -> dict[str, str]:
    return {"field": place_of(error), "message": shortened(str(error["msg"]), LONGEST_FAULT)}


def place_of(error: dict[str, Any]) -> str:
    """Where in a body or address something is wrong. The names may be whoever's who sent it, so
    they are cut.
    """
    return (
        shortened(".".join(str(part) for part in error["loc"] if part != "body"), LONGEST_PLACE)
        or "body"
    )


HANDLERS: dict[int | type[Exception], Callable[[Request, Exception], Any]] = {
    errors.CitewellError: known,
    HTTPException: http,
    RequestValidationError: invalid,
}
