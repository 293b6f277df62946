"""Bodies that a route reads itself, for they may be a form or JSON: the one file of a form, and JSON of one shape.

The one rule: what is wrong with them is told as everywhere.
"""

from __future__ import annotations

from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile

from citewell.errors import InvalidInput
from citewell.interfaces.http.errors import Refused

Body = TypeVar("Body", bound=BaseModel)


def one_file(form: FormData, largest: int, hint: str = "") -> UploadFile:
    """The file of a form, whatever its field is called. Raises InvalidInput where there is none or several, Refused where it is
    larger than `largest` bytes.
    """
    files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
    if len(files) != 1:
        raise InvalidInput(f"the form holds {len(files)} files", hint=hint or "send one file, as a part with a file name")
    if (files[0].size or 0) > largest:
        raise Refused(413, "too_large", f"the file is larger than the {largest:,} bytes allowed", "raise ingest.max_bytes")
    return files[0]


def checked(kind: type[Body], given: bytes | dict[str, str]) -> Body:
    """JSON, or the fields of a form, as that kind. Raises RequestValidationError, as a body that FastAPI reads does."""
    try:
        return kind.model_validate_json(given) if isinstance(given, bytes) else kind.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in faults]) from None
