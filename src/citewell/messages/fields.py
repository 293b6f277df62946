"""Fields of pydantic models that hold texts of ours: pydantic makes plain strings of them unless it
is told otherwise. JSON that goes out has them in the language of now (current_language.py), and
JSON that is kept has them whole (`dump_model`).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    PlainSerializer,
    SerializationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from citewell.messages.current_language import show_text, show_texts
from citewell.messages.kept import decode_column, decode_text, decode_texts, encode_texts
from citewell.messages.text import Text

_KEEP = {"citewell_texts": "keep"}


def _take_text(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    found = decode_text(value) if isinstance(value, dict) else value
    if isinstance(found, str):
        found = decode_column(found)
    return found if isinstance(found, Text) else check(value)


def _write_text(value: str, info: SerializationInfo) -> Any:
    return encode_texts(value) if info.context == _KEEP else show_text(value)


def _write_texts(value: Any, info: SerializationInfo) -> Any:
    return encode_texts(value) if info.context == _KEEP else show_texts(value)


AnyText = Annotated[
    str,
    WrapValidator(_take_text),
    PlainSerializer(_write_text, when_used="json"),
    WithJsonSchema({"type": "string"}),
]
AnyTexts = Annotated[
    dict[str, Any],
    PlainSerializer(_write_texts, when_used="json"),
    WithJsonSchema({"type": "object", "additionalProperties": True}),
]


def dump_model(model: BaseModel) -> dict[str, Any]:
    """`model_dump(mode="json")` with its texts left whole, for what is kept or handed on."""
    dumped: dict[str, Any] = decode_texts(model.model_dump(mode="json", context=_KEEP))
    return dumped
