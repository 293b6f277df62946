"""`/api/models`: the built-in embedder and reader of this server for other servers
(`models/remote.py`). A client that leaves stops the work.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.errors import NotFound
from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.messages import Text
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.builtin.lanes import choose_priority
from citewell.models.builtin.reader import BuiltinReader, Task
from citewell.models.remote import RELEASE, encode_result, encode_vectors
from citewell.release import __version__

router = APIRouter(prefix="/api/models", tags=["models"], route_class=JSONRoute)
MOST = 512  # texts or tasks of a request
LONGEST = 100_000  # characters of one
Words = Annotated[str, Field(max_length=LONGEST)]


class VectorsRequest(BaseModel):
    """`texts` begin with what they are for: "query: " or "passage: ". `background`: whether they
    give way to what somebody waits for.
    """

    texts: list[Words] = Field(min_length=1, max_length=MOST)
    background: bool = False


class VectorsReply(BaseModel):
    """`vectors`: rows of float32, little end first, in base64."""

    vectors: str


class ReadingTask(BaseModel):
    """`kind`: 0 a question and a passage, 1 a claim and its evidence, 2 two questions. `heading`:
    what the second text stands under.
    """

    kind: int = Field(ge=0, le=2)
    first: Words
    second: Words
    heading: Words = ""


class ReadingsRequest(BaseModel):
    """`background`: as for vectors."""

    tasks: list[ReadingTask] = Field(min_length=1, max_length=MOST)
    background: bool = False


class ReadingsReply(BaseModel):
    """One result for each task, in order: a reading, a judgement, or `{"same": probability}`."""

    results: list[dict[str, Any]]


@router.post("/vectors")
async def embed_texts(
    request: Request, response: Response, body: VectorsRequest, app: Citewell, _: Asking
) -> VectorsReply:
    """Unit vectors of the built-in embedder."""
    if not isinstance(app.embedder, BuiltinEmbedder):
        raise NotFound(
            Text("this server does not run the built-in embedder"), hint=Text("see its embedder")
        )
    response.headers[RELEASE] = __version__
    with choose_priority(background=body.background):
        vectors = await run_while_connected(request, app.embedder.embed_prefixed(body.texts))
    return VectorsReply(vectors=encode_vectors(np.stack(vectors)))


@router.post("/readings")
async def read_pairs(
    request: Request, response: Response, body: ReadingsRequest, app: Citewell, _: Asking
) -> ReadingsReply:
    """What the built-in reader says of pairs of texts."""
    if not isinstance(app.reader, BuiltinReader):
        raise NotFound(
            Text("this server does not run the built-in reader"), hint=Text("see its reader")
        )
    response.headers[RELEASE] = __version__
    tasks = [Task(**task.model_dump()) for task in body.tasks]
    with choose_priority(background=body.background):
        results = await run_while_connected(request, app.reader.run_tasks(tasks))
    return ReadingsReply(results=[encode_result(result) for result in results])
