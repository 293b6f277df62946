"""`/api/syncs`: places that collections are kept in step with: list, add, run, schedule, remove.
Over the network nobody names a variable or a file of this machine; a password is sent, kept sealed
and never shown.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, SecretStr

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.service.sync import sync_places as service
from citewell.service.sync.places import LONGEST
from citewell.service.sync.sync_report import SyncInfo, SyncRemoved
from citewell.store.job_rows import Job

router = APIRouter(prefix="/api/syncs", tags=["collections"], route_class=JSONRoute)
Every = Annotated[
    float,
    Field(
        ge=0,
        le=service.LONGEST_WAIT,
        description="seconds between two runs, 60 at least; 0: only when asked",
    ),
]


class WatchedPlaces(BaseModel):
    syncs: list[SyncInfo]


class NewPlace(Closed):
    """A folder that the settings list, or an address; its password apart from it."""

    place: str = Field(min_length=1, max_length=LONGEST)
    collection: str = Field(min_length=1)
    every: Every = 3_600.0
    password: SecretStr = SecretStr("")


class PlaceSchedule(Closed):
    every: Every


@router.get("")
async def list_syncs(
    app: Citewell,
    collection: Annotated[str | None, Query(description="Only those of this collection.")] = None,
) -> WatchedPlaces:
    """With the report of the last run of each."""
    return WatchedPlaces(syncs=await service.list_syncs(app, collection))


@router.post("", status_code=201)
async def add_sync(body: NewPlace, app: Citewell, _: Editor) -> SyncInfo:
    """Its first run begins at once, as a job (`job_id`)."""
    info = await service.add_sync(
        app,
        body.place,
        body.collection,
        body.every,
        password=body.password.get_secret_value(),
        remote=True,
    )
    await service.submit_sync(app, info.sync_id)
    return await service.get_sync(app, info.sync_id)


@router.get("/{sync_id}")
async def get_sync(sync_id: str, app: Citewell) -> SyncInfo:
    """One place that is kept up with, and what became of it last."""
    return await service.get_sync(app, sync_id)


@router.patch("/{sync_id}")
async def schedule_sync(sync_id: str, body: PlaceSchedule, app: Citewell, _: Editor) -> SyncInfo:
    """How often it is looked at."""
    return await service.schedule_sync(app, sync_id, body.every)


@router.post("/{sync_id}/run", status_code=202)
async def run_sync(sync_id: str, app: Citewell, _: Editor) -> Job:
    """Look at it now; the job's `result` is the report."""
    return await service.submit_sync(app, sync_id)


@router.delete("/{sync_id}")
async def remove_sync(
    sync_id: str,
    app: Citewell,
    _: Editor,
    documents: Annotated[
        bool, Query(description="Delete the documents that came of it alone, too.")
    ] = False,
) -> SyncRemoved:
    """Look at it no more."""
    return await service.remove_sync(app, sync_id, documents=documents)
