"""Places that collections are kept in step with: add, list, run, schedule, remove. A place is found
by who sees its collection. Over the network nobody names a variable or a file of this machine, nor
a folder that the settings do not list.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import anyio.to_thread
from sqlalchemy import Connection

from citewell.errors import InvalidInput, NotAllowed, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.sync.open_connector import CONNECTORS
from citewell.service.sync.place_secrets import LONGEST, check_reference
from citewell.service.sync.places import FOLDER, Place, parse_place
from citewell.service.sync.sync_report import SyncInfo, SyncRemoved, SyncReport
from citewell.store.job_rows import BULK, Job
from citewell.store.library.collection_rows import check_name
from citewell.store.syncs.sync_rows import Sync
from citewell.store.syncs.syncs import MakeJob
from citewell.store.users.sealing import seal_secret

SYNC: Final = "sync"  # a kind of job
SHORTEST: Final = 60.0  # seconds between two runs
LONGEST_WAIT: Final = 366 * 86_400.0


async def add_sync(
    app: App,
    said: str,
    collection: str,
    every: float,
    *,
    secret: str = "",
    password: str = "",
    remote: bool = False,
) -> SyncInfo:
    """Keep a collection in step with a place, from the next run on. `secret`: where its password is
    (`env:NAME`, `file:PATH`); `password`: itself, kept sealed. `remote`: asked for over the
    network. Raises InvalidInput, NotAllowed, Conflict.
    """
    place = parse_place(said)
    check_every(every)
    if len(password) > LONGEST or (password and secret):
        raise InvalidInput(Text("name one secret of at most {longest} characters", longest=LONGEST))
    if remote:
        await _check_remote(app, place, secret)
    if secret:
        secret = check_reference(secret)
    if place.kind == FOLDER and not await anyio.Path(place.address).is_dir():
        raise InvalidInput(
            Text("{address}: no such folder", address=place.address),
            hint=Text("name a folder that is there"),
        )
    CONNECTORS[place.kind](place, "", app.settings)  # raises where its form is wrong
    await ensure_collection(app, check_name(collection))
    home = app.settings.home

    def seal(sync_id: str) -> str:
        return seal_secret(home, password, sync_id) if password else secret

    sync = await app.syncs.add(
        collection, place.kind, place.address, place.options, seal=seal, every=every
    )
    return await _describe(app, sync)


def check_every(every: float) -> float:
    """Raises InvalidInput for a time between two runs that is too short or too long."""
    if every and not SHORTEST <= every <= LONGEST_WAIT:
        raise InvalidInput(
            Text("every {every:g} seconds: not allowed", every=every),
            hint=Text("from a minute to a year, such as 15m, 1h or 1d; 0 for no schedule"),
        )
    return every


async def _check_remote(app: App, place: Place, secret: str) -> None:
    if secret:
        raise NotAllowed(
            Text("over the network no variable or file of this machine can be named"),
            hint=Text("send the password itself, or use `citewell sync add` on the machine"),
        )
    if place.kind != FOLDER:
        return
    roots = app.settings.sync.folders
    path, allowed = await anyio.to_thread.run_sync(
        lambda: (Path(place.address).resolve(), [Path(root).resolve() for root in roots])
    )
    if not any(path.is_relative_to(root) for root in allowed):
        raise NotAllowed(
            Text("this folder cannot be named over the network"),
            hint=Text(
                "use `citewell sync add` on the machine, or list it there in sync.folders "
                "(CITEWELL_SYNC__FOLDERS)"
            ),
        )


async def list_syncs(app: App, collection: str | None = None) -> list[SyncInfo]:
    """Those of a collection, or of all that are seen. Raises NotFound."""
    if collection is not None:
        await app.collections.get(collection)
    syncs = await app.syncs.list_syncs(collection)
    if app.viewer is not None:
        there = {each.name for each in await app.collections.list_all()}
        syncs = [sync for sync in syncs if sync.collection in there]
    return [await _describe(app, sync) for sync in syncs]


async def get_sync(app: App, sync_id: str) -> SyncInfo:
    """Raises NotFound."""
    return await _describe(app, await find_sync(app, sync_id))


async def find_target(app: App, target: str) -> SyncInfo:
    """The one of this id or address, as it is listed or as it was added. Raises NotFound,
    InvalidInput.
    """
    places = await list_syncs(app)
    found = [each for each in places if target in {each.sync_id, each.place}]
    if not found:
        meant = parse_place(target)
        kept = {each.sync_id: each.options for each in await app.syncs.list_syncs(None)}
        found = [
            each
            for each in places
            if (each.place, dict(kept[each.sync_id])) == (meant.address, dict(meant.options))
        ]
    return found[0] if len(found) == 1 else await get_sync(app, target)


async def find_sync(app: App, sync_id: str) -> Sync:
    """As it is kept. Raises NotFound, for one of another user's collection too."""
    sync = await app.syncs.get(sync_id)
    if app.viewer is not None:
        there = {each.name for each in await app.collections.list_all()}
        if sync.collection not in there:
            raise NotFound(
                Text("no watched place {sync_id}", sync_id=sync_id),
                hint=Text("`citewell sync list` shows them and their ids"),
            )
    return sync


async def schedule_sync(app: App, sync_id: str, every: float) -> SyncInfo:
    """Raises NotFound, InvalidInput."""
    await find_sync(app, sync_id)
    return await _describe(app, await app.syncs.set_schedule(sync_id, check_every(every)))


async def submit_sync(app: App, sync_id: str) -> Job:
    """Have the server's worker do a run, or the one waiting or under way. Raises NotFound."""
    await find_sync(app, sync_id)
    job_id = await app.syncs.start(sync_id, make_job_maker(app))
    app.new_job.set()
    return await app.jobs.get(job_id)


def make_job_maker(app: App) -> MakeJob:
    """What makes the job of a run, as part of a transaction."""

    def make_job(connection: Connection, sync: Sync) -> str:
        payload = {"collection": sync.collection, "sync_id": sync.sync_id}
        return app.jobs.create_in(connection, SYNC, payload, BULK).job_id

    return make_job


async def remove_sync(app: App, sync_id: str, *, documents: bool = False) -> SyncRemoved:
    """Stop keeping it in step; `documents`: delete those from it alone. Raises NotFound."""
    sync = await find_sync(app, sync_id)
    deleted = await _delete_documents(app, sync) if documents else 0
    await app.syncs.delete(sync_id)
    return SyncRemoved(sync_id=sync_id, place=sync.place, documents=deleted)


async def _delete_documents(app: App, sync: Sync) -> int:
    there = [item.document for item in (await app.syncs.items(sync.sync_id)).values()]
    others = await app.syncs.list_elsewhere(sync, there)
    ids: list[str] = []
    for uri in there:
        if uri not in others:
            own = await app.catalog.find(sync.collection, uri)
            inside = await app.catalog.members(sync.collection, uri)
            ids += [info.doc_id for info in ([own] if own else []) + inside]
    if ids:
        await app.catalog.delete(*ids)
    return len(ids)


async def _describe(app: App, sync: Sync) -> SyncInfo:
    items, gone = await app.syncs.count_items(sync.sync_id)
    return SyncInfo.of(
        sync,
        next_at=sync.next_at if sync.every else None,
        ran_at=sync.ran_at or None,
        state=await _get_state(app, sync.job_id),
        items=items,
        gone=gone,
        secret=bool(sync.secret),
        report=SyncReport(**sync.report) if sync.report else None,
    )


async def _get_state(app: App, job_id: str) -> Literal["waiting", "running", "idle"]:
    if not job_id:
        return "idle"
    try:
        state = (await app.root.jobs.get(job_id)).state
    except NotFound:
        return "idle"
    states: dict[str, Literal["waiting", "running"]] = {"queued": "waiting", "running": "running"}
    return states.get(state, "idle")
