"""`GET /v1/models`: every agent is a model, and so is an agent with a collection, a site or tables
of its own. A name that is listed can be asked as it stands; more names can be (`citewell/paper`
with a session).
"""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.openai.openai_errors import OpenAIRoute, UnknownModel
from citewell.interfaces.http.openai.openai_messages import PREFIX, parse_model_name
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import list_agent_names
from citewell.service.library.collections import list_collections
from citewell.service.sites.sites import list_sites
from citewell.service.tables.sources import list_sources
from citewell.store.library.collection_rows import CONFIRMED

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)
OF_A_SESSION = {"paper"}  # agents that answer only in a session made elsewhere
MOST = 500  # names
STARTED = int(time.time())


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = STARTED
    owned_by: str = "citewell"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


@router.get("/v1/models")
async def list_models(app: Citewell, _: Asking) -> ModelList:
    """Agents, `citewell/qa:COLLECTION`, `citewell/website:SITE`, `citewell/data:SOURCE`, and the
    model that embeds.
    """
    return ModelList(data=[Model(id=name) for name in (await _list_model_names(app))[:MOST]])


@router.get("/v1/models/{model:path}")
async def get_model(model: str, app: Citewell, _: Asking) -> Model:
    """One of them."""
    if model in await _list_model_names(app):
        return Model(id=model)
    if parse_model_name(model)[1]:
        raise UnknownModel(
            f"the model {model!r} does not exist", hint="GET /v1/models lists those there are"
        )
    return Model(id=model)


async def _list_model_names(app: App) -> list[str]:
    sites = {site.collection: site.pages for site in await list_sites(app)}
    found = [info for info in await list_collections(app) if info.name != CONFIRMED]
    collections = [
        info.name for info in found if info.name not in sites or info.documents > sites[info.name]
    ]
    return [
        *(
            PREFIX + name
            for name in sorted(list_agent_names(), key=lambda name: name != "auto")
            if name not in OF_A_SESSION
        ),
        app.embedder.name,
        *(f"{PREFIX}qa:{name}" for name in collections),
        *(f"{PREFIX}website:{name}" for name in sorted(sites)),
        *(f"{PREFIX}data:{source.name}" for source in await list_sources(app)),
    ]
