"""Errors as OpenAI's servers tell them: `{"error": {"message", "type", "param", "code"}}`. Every
route under `/v1` is an `OpenAIRoute`, so that nothing leaves it in another shape.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from citewell.errors import CitewellError, InvalidInput, NotFound
from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.errors import (
    format_error_place,
    get_current_request_id,
    get_error_headers,
    get_error_status,
    get_redactor,
)
from citewell.interfaces.problem import shorten_text

log = logging.getLogger(__name__)
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
INTERNAL = "internal error; a fault of Citewell: the server's log says where"


class Unsupported(InvalidInput):
    """Something of OpenAI's interface that Citewell does not do; `param` names it."""

    code = "unsupported_parameter"

    def __init__(self, param: str, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.param = param


class UnknownModel(NotFound):
    code = "model_not_found"


class OpenAIRoute(JSONRoute):
    """A route whose failures have OpenAI's shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_errors(request: Request) -> Response:
            try:
                return await handle(request)
            except CitewellError as error:
                return to_error_reply(error, get_redactor(request.app))
            except RequestValidationError as error:
                return to_invalid_body_reply(error)
            except HTTPException as error:
                name = HTTPStatus(error.status_code).name.lower()
                return build_error_reply(
                    error.status_code, str(error.detail), code=name, headers=error.headers
                )
            except Exception:
                log.exception("unexpected")
                return build_error_reply(
                    500, f"{INTERNAL}, at request {get_current_request_id()}", code="internal"
                )

        return handle_errors


def build_error_body(
    status: int, message: str, *, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """The body of an error."""
    kind = TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {
        "error": {
            "message": shorten_text(message),
            "type": kind,
            "param": param,
            "code": CODES.get(status, code),
        }
    }


def build_error_reply(
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    body = build_error_body(status, message, param=param, code=code)
    return JSONResponse(body, status_code=status, headers=dict(headers) if headers else None)


def to_error_reply(error: CitewellError, tell: Callable[[str], str] = str) -> JSONResponse:
    """What we explain: message and hint as one text, since that shape has no place for a hint."""
    status = get_error_status(error)
    param = "model" if isinstance(error, UnknownModel) else getattr(error, "param", None)
    # they say 400 where we say 422
    said = tell(join_hint(error.message, error.hint))
    return build_error_reply(
        400 if status == 422 else status,
        said,
        param=param,
        code=error.code,
        headers=get_error_headers(error),
    )


def to_invalid_body_reply(error: RequestValidationError) -> JSONResponse:
    """A body of the wrong form, told by its first fault. The value itself is not sent back."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return build_error_reply(
            400, "the body is not valid JSON; send one JSON object, in UTF-8", code="invalid_json"
        )
    where = format_error_place(first)
    return build_error_reply(400, f"{where}: {first['msg']}", param=where, code="invalid_value")


def join_hint(message: str, hint: str) -> str:
    return f"{message} ({hint})" if hint else message


def format_data_line(event: str, value: Any) -> bytes:
    """A line of a stream, for `event_stream`: no event has a name; an error has OpenAI's shape."""
    if event == "error":
        inner = value["error"]
        value = build_error_body(
            500, join_hint(str(inner["message"]), str(inner.get("hint", ""))), code=inner["code"]
        )
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {text}\n\n".encode()
