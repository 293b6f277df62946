"""Bodies of requests: JSON for all routes, and bodies that may be a form or JSON, which a route
reads itself. Their size is limited before they are read. JSON is Unicode text (half characters
are none) and holds at most `MOST_VALUES` values, so that no more can be wrong with it; a large one
is read beside the event loop.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

import anyio.to_thread
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from citewell.errors import InvalidInput, StorageError
from citewell.interfaces.http.errors import Refused
from citewell.messages import Text

# in one body, lists and objects counted too: 200 claims with 100 passages each are 21,000
MOST_VALUES = 25_000
LARGE = 65_536  # bytes that are read in a thread
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}  # full, read-only, or no larger file
_NOWHERE = "No usable temporary directory"  # says `tempfile` where it is first asked on a full disk
Body = TypeVar("Body", bound=BaseModel)
NO_FIELDS: Final[Mapping[str, Any]] = {}
ONE_FILE: Final = {"type": "string", "format": "binary"}
FILES: Final = {"type": "array", "items": ONE_FILE}


class Closed(BaseModel):
    """A body in which unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def describe_upload(
    fields: Mapping[str, Any] = NO_FIELDS, *, file: dict[str, Any] = ONE_FILE, url: bool = True
) -> dict[str, Any]:
    """For the API's description: a body that is a form with `file` or, where `url`, JSON with an
    address; either has `fields` too.
    """

    def describe_object(name: str, kind: dict[str, Any], *, required: bool = True) -> Any:
        schema = {"type": "object", "properties": {name: kind, **fields}}
        return {"schema": schema | ({"required": [name]} if required else {})}

    content = {"multipart/form-data": describe_object("file", file, required=file is ONE_FILE)}
    if url:
        content["application/json"] = describe_object("url", {"type": "string"})
    return {"requestBody": {"required": True, "content": content}}


class JSONRoute(APIRoute):
    """A route whose body is bounded JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_bounded(request: Request) -> Response:
            try:
                return await handle(_Bounded(request.scope, request.receive))
            except OSError as error:
                if (refusal := _to_storage_error(error)) is None:
                    raise
                raise refusal from error

        return handle_bounded


def _to_storage_error(error: OSError) -> StorageError | None:
    """A disk that takes no temporary file, as large forms are read to; None for other errors. It
    names no folder.
    """
    if error.errno in _DISK:
        why = error.strerror
    elif _NOWHERE in str(error):
        why = Text("no folder for them takes any")
    else:
        return None
    hint = Text("see that the disk of temporary files (TMPDIR) has room and can be written to")
    return StorageError(Text("temporary files cannot be written: {why}", why=why), hint=hint)


class _Bounded(Request):
    async def json(self) -> Any:
        return await read_json(await self.body())


async def read_json(data: bytes) -> Any:
    """Raises JSONDecodeError (no UTF-8 JSON), HTTPException (413) for too many values."""
    return (
        await anyio.to_thread.run_sync(_parse_json, data)
        if len(data) > LARGE
        else _parse_json(data)
    )


def _parse_json(data: bytes) -> Any:
    try:
        value = from_json(data.removeprefix(BYTE_ORDER_MARK))
    except ValueError as error:
        raise json.JSONDecodeError(str(error), "", 0) from None
    left, inner = MOST_VALUES, [value]
    while inner:
        each = inner.pop()
        if isinstance(each, dict | list):
            left -= len(each)
            if left < 0:
                raise HTTPException(
                    413,
                    detail=Text(
                        "the body holds more than {most_values:,} values", most_values=MOST_VALUES
                    ),
                )
            inner.extend(each.values() if isinstance(each, dict) else each)
    return value


def get_single_file(form: FormData, largest: int, hint: str = "") -> UploadFile:
    """The file of a form, whatever its field is called. Raises InvalidInput where there is none or
    several, Refused where it is larger than `largest` bytes.
    """
    files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
    if len(files) != 1:
        raise InvalidInput(
            Text("the form holds {files} files", files=len(files)),
            hint=hint or Text("send one file, as a part with a file name"),
        )
    if (files[0].size or 0) > largest:
        raise Refused(
            413,
            "too_large",
            Text("the file is larger than the {largest:,} bytes allowed", largest=largest),
            Text("raise ingest.max_bytes"),
        )
    return files[0]


async def validate_json_body(kind: type[Body], request: Request) -> Body:
    """The body as that kind. Raises RequestValidationError, as a body that FastAPI reads does."""
    try:
        return validate_body(kind, await read_json(await request.body()))
    except json.JSONDecodeError as error:
        raise RequestValidationError(
            [{"type": "json_invalid", "loc": ("body", error.pos), "msg": error.msg}]
        ) from None


def validate_body(kind: type[Body], given: Any) -> Body:
    """JSON that was read, or the fields of a form, as that kind. Raises RequestValidationError."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise RequestValidationError(
            [{**fault, "loc": ("body", *fault["loc"])} for fault in faults]
        ) from None
