"""Folders that are looked at the moment something in them changes, while a server runs. This only
makes a run come sooner. Without the library, or where the system has no more notices to give, the
schedule does it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from citewell.errors import CitewellError, NotFound
from citewell.runtime.app import App
from citewell.service.sync.places import FOLDER
from citewell.service.sync.sync_places import submit_sync

log = logging.getLogger(__name__)
LOOK = 5.0  # seconds between two looks at which folders are watched
REST = 2_000  # milliseconds for changes that come together
AGAIN = 300.0  # seconds until the system is asked again that had no more notices


async def watch_folders_forever(app: App) -> None:
    """Those that have a schedule. Ends where watchfiles is not there."""
    try:
        import watchfiles  # noqa: F401 - only whether it is there
    except ImportError:
        log.info("folders are looked at by their schedules alone; citewell[sync] brings watchfiles")
        return
    watching = _Watching(app)
    while True:
        try:
            await watching.watch_once()
        except CitewellError as error:
            log.warning("folders are not watched: %s", error.message)
        except (OSError, RuntimeError) as error:
            log.warning("folders are looked at by their schedules alone: %s", error)
            await asyncio.sleep(AGAIN)
        except Exception:
            log.exception("folders are not watched")
        await asyncio.sleep(LOOK)


class _Watching:
    """`_changed`: places to be run, once the run that is under way has ended."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._changed: set[str] = set()

    async def watch_once(self) -> None:
        """Until other folders are to be watched. Raises OSError where the system refuses."""
        folders = await self._list_folders()
        stop = asyncio.Event()
        watcher = asyncio.create_task(self._follow(folders, stop)) if folders else None
        try:
            while await self._list_folders() == folders:
                await self._start_changed()
                if watcher is not None and watcher.done():
                    watcher.result()  # raises what ended it
                    return
                await asyncio.sleep(LOOK)
        finally:
            stop.set()
            if watcher is not None:
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)

    async def _list_folders(self) -> dict[str, str]:
        """Path by id, of those that are there."""
        syncs = await self._app.syncs.list_syncs()
        return {
            sync.sync_id: str(Path(sync.place).resolve())  # noqa: ASYNC240 - a few, of local disks
            for sync in syncs
            if sync.kind == FOLDER and sync.every and Path(sync.place).is_dir()  # noqa: ASYNC240
        }

    async def _follow(self, folders: dict[str, str], stop: asyncio.Event) -> None:
        from watchfiles import awatch

        async for changes in awatch(
            *sorted(set(folders.values())), stop_event=stop, debounce=REST, recursive=True
        ):
            paths = [Path(path) for _, path in changes]
            self._changed |= {
                sync_id
                for sync_id, folder in folders.items()
                if any(path.is_relative_to(folder) for path in paths)
            }
            await self._start_changed()

    async def _start_changed(self) -> None:
        """A run that is under way may have passed the change already, so another one follows."""
        for sync_id in list(self._changed):
            with suppress(NotFound):  # it was removed meanwhile
                sync = await self._app.syncs.get(sync_id)
                if await self._is_running(sync.job_id):
                    continue
                await submit_sync(self._app, sync_id)
            self._changed.discard(sync_id)

    async def _is_running(self, job_id: str) -> bool:
        with suppress(NotFound):  # there was none yet, or it ended long ago
            return (await self._app.jobs.get(job_id)).state == "running"
        return False
