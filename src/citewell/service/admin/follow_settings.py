"""What is changed on the Settings page of one server is in force on the others within seconds: they
look whether the file of their home has changed, or the database has another one for it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio.to_thread

from citewell.config import PAGE_SETTINGS, read_page_settings, replace_settings
from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.service.admin.page_settings import find_fixed
from citewell.store.users.shared_home import fetch_home_files

LOOK = 5.0  # seconds between two looks
log = logging.getLogger(__name__)


async def follow_page_settings(app: App) -> None:
    """For ever. A file that cannot be read, or that says what cannot be, changes nothing here."""
    # one that came with the database was not read at the start
    before = None if app.settings.home_is_cache else await _read_kept(app)
    while True:
        await asyncio.sleep(LOOK)
        now = await _read_kept(app)
        if now is None or now == before:
            continue
        try:
            app.use_settings(replace_settings(app.settings, _list_free(now)))
        except CitewellError as error:
            log.warning("what another server's page has set is not in force: %s", error.message)
        before = now


async def _read_kept(app: App) -> dict[str, Any] | None:
    try:
        if app.settings.home_is_cache:
            await fetch_home_files(app.db)
        return await anyio.to_thread.run_sync(read_page_settings, app.settings.home)
    except CitewellError as error:
        log.warning("%s", error.message)
        return None


def _list_free(kept: dict[str, Any]) -> dict[str, Any]:
    """Without what the environment or the settings file of this machine says."""
    free = {name for part, names in PAGE_SETTINGS.items() if not find_fixed(part) for name in names}
    return {name: value for name, value in kept.items() if name in free}
