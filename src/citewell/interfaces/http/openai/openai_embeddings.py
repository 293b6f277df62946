"""`POST /v1/embeddings`: texts to the vectors of the configured embedder. Uploads and these take
turns, so that neither holds up the other.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from citewell.errors import InvalidInput
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.openai.openai_errors import OpenAIRoute, UnknownModel, Unsupported
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.models.base import Vector
from citewell.models.builtin.lanes import use_background_priority
from citewell.runtime.app import App
from citewell.text.language import count_tokens
from citewell.text.sanitize import replace_unsafe_chars

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)
MOST_TEXTS = 512
# characters of one text; what its model has no room for is left out of its vector
LONGEST = 100_000
AT_A_TIME = 16  # texts between which others get their turn


class EmbeddingRequest(BaseModel):
    """`input`: a text or several. `input_type`: what they are for, where the model tells apart."""

    model: str
    input: str | list[Any]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    input_type: Literal["passage", "document", "query"] = "passage"


@router.post(
    "/v1/embeddings",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
    operation_id="create_embedding",
)
async def embeddings(
    request: Request, body: EmbeddingRequest, app: Citewell, _: Asking
) -> Response:
    """Unit vectors, in the order of the texts."""
    if body.model != app.embedder.name:
        raise UnknownModel(
            f"the model {body.model!r} does not exist",
            hint=f"the embedder here is {app.embedder.name}",
        )
    texts = _validate_texts(body.input)
    _check_size(app, body.dimensions)
    vectors = await run_while_connected(
        request, _embed_texts(app, texts, is_query=body.input_type == "query")
    )
    _check_size(app, body.dimensions)  # an embedder elsewhere tells with its first reply
    tokens = sum(count_tokens(text) for text in texts)
    return JSONResponse(
        {
            "object": "list",
            "data": [
                {
                    "object": "embedding",
                    "index": at,
                    "embedding": _encode_vector(vector, body.encoding_format),
                }
                for at, vector in enumerate(vectors)
            ],
            "model": body.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


def _check_size(app: App, wanted: int | None) -> None:
    """Raises Unsupported for a size that is not the model's own, as far as that is known."""
    size = app.embedder.dim
    if wanted is not None and size and wanted != size:
        raise Unsupported(
            "dimensions", f"{app.embedder.name} has {size} dimensions", hint="leave dimensions out"
        )


def _validate_texts(given: str | list[Any]) -> list[str]:
    """Raises InvalidInput, Unsupported."""
    texts = [given] if isinstance(given, str) else given
    if texts and not all(isinstance(text, str) for text in texts):
        hint = (
            "tokens are each model's own: send text (langchain: check_embedding_ctx_length=False)"
        )
        raise Unsupported("input", "input is not text", hint=hint, code="unsupported_value")
    if not texts or not all(text.strip() for text in texts):
        raise InvalidInput("input: an empty text has no embedding", hint="leave it out")
    if len(texts) > MOST_TEXTS:
        raise InvalidInput(
            f"input: {len(texts)} texts, {MOST_TEXTS} are allowed",
            hint="send them in several requests",
        )
    longest = max(len(text) for text in texts)
    if longest > LONGEST:
        raise InvalidInput(
            f"input: a text of {longest:,} characters, {LONGEST:,} are allowed",
            hint="cut it into parts",
        )
    return [replace_unsafe_chars(text) for text in texts]


async def _embed_texts(app: App, texts: list[str], *, is_query: bool) -> Vector:
    """Questions one by one, ahead of uploads; passages a few at a time, in turn with them."""
    if is_query:
        return np.stack([await app.embedder.query(text) for text in texts])
    found: list[Vector] = []
    for at in range(0, len(texts), AT_A_TIME):
        async with app.turns.embed:
            with use_background_priority():
                found += list(await app.embedder.passages(texts[at : at + AT_A_TIME]))
    return np.stack(found)


def _encode_vector(vector: Vector, form: Literal["float", "base64"]) -> list[float] | str:
    """Numbers, or their float32 bytes, little end first."""
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(number) for number in vector]
