"""Whether two sources are the same: same bytes of a file, or one there under another name."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from citewell.disk import compute_sha256
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.file_copies import Stat, fetch_copy
from citewell.service.tables.source_places import UPLOAD
from citewell.store.source_rows import Source


async def warn_of_duplicates(app: App, new: Source) -> list[str]:
    """That the same is there under another name: questions would be asked back which is meant."""
    others = [each for each in await app.sources.list() if each.name != new.name]
    same = [
        each.name
        for each in others
        if each.location == new.location and not new.location.startswith(UPLOAD)
    ]
    if same:
        return [
            (
                Text("the same file is there as {same}", same=", ".join(same))
                if new.is_file
                else Text("the same database is there as {same}", same=", ".join(same))
            )
        ]
    digest = new.stat.get("sha256")
    same = [each.name for each in others if digest and each.stat.get("sha256") == digest]
    return (
        [Text("a file with the same bytes is there as {same}", same=", ".join(same))]
        if same
        else []
    )


async def refresh_if_same(app: App, path: Path, before: Source, stat: Stat) -> Source | None:
    """The source with its new times, where the file's bytes are those that were read."""
    if "log_size" in stat or "log_size" in before.stat or stat["size"] != before.stat.get("size"):
        return None
    if await fetch_copy(app, before.path) is None:
        return None
    digest = await anyio.to_thread.run_sync(compute_sha256, path)
    if digest != before.stat.get("sha256"):
        return None
    return before.model_copy(update={"stat": {**stat, "sha256": digest}, "problem": ""})
