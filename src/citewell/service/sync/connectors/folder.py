"""A folder of this machine, under the addresses that `citewell add` gives its files. A link that
leads out of the folder is not followed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from pathlib import Path

import anyio.to_thread

from citewell.config import Settings
from citewell.errors import PermanentError, TransientError, UnreadableFile
from citewell.fetch.service_client import ITEM_MISSING
from citewell.messages import Text
from citewell.service.library.expand_paths import (
    Gathered,
    describe_path_error,
    to_display_name,
    to_uri,
    walk_folder,
)
from citewell.service.library.read_file import read_file
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.places import Place

_AT_ONCE = 500  # files looked at before others have their turn


class Folder:
    mark = ""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:  # noqa: ARG002 - the protocol's form
        self._top = Path(place.address)
        self._most = settings.ingest.max_bytes

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:  # noqa: ARG002 - all are listed
        found = Gathered()
        items = await anyio.to_thread.run_sync(self._list_files, found)
        while batch := await anyio.to_thread.run_sync(lambda: list(islice(items, _AT_ONCE))):
            for item in batch:
                yield item
        if found.found:  # a folder inside that cannot be looked into: what is in it is not gone
            first = found.found[0]
            raise TransientError(
                Text("{uri}: {reason}", uri=first.uri, reason=first.reason),
                hint=Text("what is in there stays as it was"),
            )

    def _list_files(self, found: Gathered) -> Iterator[Item]:
        top = self._top.resolve()
        if not top.is_dir():
            raise PermanentError(
                Text("{address}: no such folder", address=to_uri(self._top)),
                hint=Text("is its disk there? what was read of it stays as it was"),
            )
        return self._build_items(top, found)

    @staticmethod
    def _build_items(top: Path, found: Gathered) -> Iterator[Item]:
        for path, size in walk_folder(top, found, links=False):
            try:
                status = path.stat()
            except OSError:
                continue  # it went just now
            version = f"{size}-{status.st_mtime_ns}-{status.st_ino}"
            yield Item(
                to_uri(path), to_display_name(path), version, size, status.st_mtime, str(path)
            )

    async def read_item(self, item: Item) -> bytes:
        try:
            return (await anyio.to_thread.run_sync(read_file, Path(item.key), self._most)).data
        except FileNotFoundError:
            raise PermanentError(
                Text("{uri}: no such file", uri=item.uri), code=ITEM_MISSING
            ) from None
        except OSError as error:
            raise UnreadableFile(describe_path_error(error)) from None

    async def close(self) -> None:
        """Nothing is held open."""
